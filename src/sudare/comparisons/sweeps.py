"""Parameter sweeps: every combination of given values for parameters of requirements and options of methods.

A key is a parameter of requirements (``k``, ``l``, ``t`` ...), and then stands for all requirements of the policy that
have it; or else an option of methods (``split``), and then concerns those of the compared methods that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from sudare.comparisons.configurations import Configuration, chosen_methods, configuration_of
from sudare.core.errors import ParameterError, PolicyError, Problem, SudareError, did_you_mean
from sudare.methods import METHODS, ColumnName
from sudare.models import Requirements
from sudare.policy import Policy

Sweep = Mapping[str, Sequence[Any]]
MOST_CONFIGURATIONS = 1000
"""The most configurations of one comparison."""


def parse_sweep(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the sweep that is written as ``k=2,5,10``, one text for each key; numbers and truth values are such."""
    found: dict[str, list[Any]] = {}
    problems = []
    for text in texts:
        key, mark, values = (part.strip() for part in text.partition("="))
        if not key or not mark:
            problems.append(Problem("sweep", f"'{text}' is not a sweep.", "write k=2,5,10."))
        elif key in found:
            problems.append(Problem("sweep", f"'{key}' occurs twice.", "write all values after one key."))
        else:
            found[key] = [_value(word.strip()) for word in values.split(",") if word.strip()]
    if problems:
        raise ParameterError(problems)
    return found


def _value(word: str) -> Any:
    for read in (int, float):
        try:
            return read(word)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(word.lower(), word)


def configurations_for(
    policy: Policy,
    target: str | None,
    require: Callable[[Policy], Requirements],
    *,
    asked: Sequence[str] | None = None,
    sweep: Sweep | None = None,
) -> list[Configuration]:
    """Return a configuration for each method and each combination of the swept values.

    Without ``asked`` these are the methods that the policy allows; a requested method that it does not allow becomes a
    configuration with the reason. ``require`` makes requirements of a policy. Raises the problems of the sweep: a key
    that nothing has, or a value that nothing accepts.
    """
    methods, values = _chosen(policy, asked, sweep)
    roles = {name: spec.role for name, spec in policy.columns.items()}
    own, sets = (policy.method.name, policy.method.options), policy.sensitive_sets
    models = [spec.model for spec in policy.require]
    configs: list[Configuration] = []
    refused: dict[tuple[str, int], list[Problem]] = {}
    taken: set[tuple[str, int]] = set()
    for method in methods:
        if asked is None and configuration_of(method, own, target, models=models, roles=roles, sets=sets).problems:
            continue
        keys = [key for key in values if key in policy.parameters or key in METHODS[method].options]
        for places in product(*(range(len(values[key])) for key in keys)):
            swept = {key: values[key][place] for key, place in zip(keys, places, strict=True)}
            changed = {key: value for key, value in swept.items() if key not in policy.parameters}
            config = configuration_of(method, own, target, models=models, roles=roles, sets=sets, changed=changed)
            problems, wrong = list(config.problems), [*METHODS[method].problems(changed)]
            requirements = None
            try:
                requirements = require(policy.asking({key: swept[key] for key in swept if key not in changed}))
            except (PolicyError, ParameterError) as error:
                problems += error.problems
                wrong += error.problems
            for mark in zip(keys, places, strict=True):
                refused.setdefault(mark, []).extend(wrong)
                taken |= set() if wrong else {mark}
            name = ", ".join([method, *(f"{key}={_shown(value)}" for key, value in swept.items())])
            configs.append(Configuration(name, method, config.options, tuple(problems), swept, requirements))
    _raise_if_nobody_takes(values, refused, taken)
    if len(configs) > MOST_CONFIGURATIONS:
        what = f"there are {len(configs):,} combinations; at most {MOST_CONFIGURATIONS:,} can be compared."
        raise ParameterError(Problem("sweep", what, "name fewer values, or fewer methods."))
    return configs


def _chosen(policy: Policy, asked: Sequence[str] | None, sweep: Any) -> tuple[list[str], dict[str, list[Any]]]:
    """Return the methods and the values of the sweep, or raise what is wrong with both at once."""
    problems: list[Problem] = []
    try:
        methods = chosen_methods(policy.method.name, asked)
    except SudareError as error:
        known = [name for name in asked or () if name in METHODS]
        try:  # the sweep is looked at with those that there are, or with all
            _checked(policy, known or list(METHODS), sweep)
        except ParameterError as other:
            problems += other.problems
        if problems:
            raise ParameterError([*error.problems, *problems]) from None
        raise
    return methods, _checked(policy, methods, sweep)


def _checked(policy: Policy, methods: Sequence[str], sweep: Any) -> dict[str, list[Any]]:
    """Return the values of a sweep, each once, or raise what is wrong with its form and its keys."""
    if sweep is None:
        return {}
    if not isinstance(sweep, Mapping):
        what = f"must be a mapping of lists, such as {{'k': [2, 5, 10]}}; got {type(sweep).__name__}."
        raise ParameterError(Problem("sweep", what))
    problems, found = [], {}
    options = [
        key
        for name in methods
        for key, allowed in METHODS[name].options.items()
        if not isinstance(allowed, ColumnName)  # a class to predict is the target of the whole comparison
    ]
    able = list(dict.fromkeys([*policy.parameters, *options]))
    for key, values in sweep.items():
        if key not in able:
            what = f"'{key}' is neither a parameter of a requirement nor an option of a compared method."
            problems.append(Problem("sweep", what, did_you_mean(str(key), able) or f"there are {', '.join(able)}."))
        elif isinstance(values, str) or not isinstance(values, Sequence) or not values:
            problems.append(Problem(f"sweep.{key}", "needs a list of at least one value."))
        else:
            found[key] = list(_once(values))
    if problems:
        raise ParameterError(problems)
    return found


def _once(values: Sequence[Any]) -> Iterator[Any]:
    seen: list[tuple[type, Any]] = []
    for value in values:
        if (type(value), value) not in seen:
            seen.append((type(value), value))
            yield value


def _raise_if_nobody_takes(
    values: Sweep, refused: Mapping[tuple[str, int], Sequence[Problem]], taken: set[tuple[str, int]]
) -> None:
    """Raise if a value is wrong in every combination, or in none: then the request is wrong."""
    problems = []
    for key, each in values.items():
        if not any(mark[0] == key for mark in refused):
            what = f"is not an option of any method that the policy allows, so '{key}' would have no effect."
            problems.append(Problem(f"sweep.{key}", what, "name the methods to see why."))
        for place, value in enumerate(each):
            if (key, place) not in taken and refused.get((key, place)):
                first = refused[key, place][0]
                problems.append(
                    Problem(f"sweep.{key}", f"{_shown(value)} is refused by all methods: {first.what}", first.hint)
                )
    if problems:
        raise ParameterError(problems)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
