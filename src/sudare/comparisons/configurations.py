"""Configurations: methods with options and requirements, to be compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare.core.errors import ParameterError, PolicyError, Problem, UnsupportedError, did_you_mean
from sudare.methods import METHODS, ColumnName
from sudare.models import Requirements
from sudare.table import Partition, Recoding, Table


@dataclass(frozen=True)
class Configuration:
    """One configuration: a name, a method and its options; ``problems`` are the reasons if it is not possible.

    ``swept`` are the values of a sweep, for parameters of requirements and for options. ``requirements`` are those of
    this configuration, if they differ from the others.
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    swept: Mapping[str, Any] = field(default_factory=dict)
    requirements: Requirements | None = None

    def recode(self, table: Table, requirements: Requirements, seed: int | None = None) -> Recoding:
        """Return the decision of the method for a table, of any kind."""
        if self.problems:
            raise PolicyError(self.problems)
        return METHODS[self.method].load()(table, self.requirements or requirements, **self.options, seed=seed)

    def decide(self, table: Table, requirements: Requirements, seed: int | None = None) -> Partition:
        """Return the classes that the method decides on for a table."""
        if METHODS[self.method].leaves_quasi:
            does = "makes no classes" if METHODS[self.method].perturbs else "keeps quasi-identifiers unchanged"
            what = f"{self.method} {does}, so classifiers cannot be compared."
            raise UnsupportedError([*self.problems, Problem("methods", what)])
        found = self.recode(table, requirements, seed)
        assert isinstance(found, Partition), f"{self.method} makes no classes"
        return found


def check_request(
    target: object,
    roles: Mapping[str, Any],
    folds: object,
    seed: object,
    *,
    queries: object = 0,
    time_limit: object = None,
) -> None:
    """Raise one error that lists all problems of the request."""
    problems = []
    if target is not None and not isinstance(target, str):
        problems.append(Problem("target", f"must be the name of a column; got {type(target).__name__}."))
    elif target is not None:
        problems += [
            Problem("target", each.what, each.hint) for each in METHODS["tds"].lacking({"target": target}, (), roles)
        ]
    for name, value, least in (("folds", folds, 2), ("queries", queries, 0), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            problems.append(Problem(name, f"must be a whole number from {least}; got {value!r}."))
    number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if time_limit is not None and not (number and time_limit > 0):  # type: ignore[operator]
        problems.append(Problem("time_limit", f"must be a number of seconds above 0; got {time_limit!r}."))
    if problems:
        raise ParameterError(problems)


def chosen_methods(own: str, asked: Sequence[str] | None) -> list[str]:
    """Return the requested methods, or all; of several names of one method the policy's, or the first."""
    if asked is None:
        by_function = {(each.module, each.function): name for name, each in reversed(METHODS.items())}
        by_function[METHODS[own].module, METHODS[own].function] = own
        return [name for name in METHODS if name in by_function.values()]
    if isinstance(asked, str):
        raise ParameterError(Problem("methods", "must be a list of names; got one text.", f"write ['{asked}']."))
    unknown = [name for name in asked if name not in METHODS]
    if unknown:
        hint = f"use one of {', '.join(METHODS)}."
        raise UnsupportedError(
            [Problem("", f"'{name}' is not a method.", did_you_mean(str(name), METHODS) or hint) for name in unknown]
        )
    return list(dict.fromkeys(asked))


def configuration_of(
    method: str,
    own: tuple[str, Mapping[str, Any]],
    target: str | None,
    *,
    models: Collection[object],
    roles: Mapping[str, Any],
    sets: Sequence[str] = (),
    changed: Mapping[str, Any] | None = None,
) -> Configuration:
    """Return the configuration of a method with the policy's options, if it is its method, and those ``changed``.

    ``own`` is the policy's method with its options; all others have their defaults. ``models`` are the requirements of
    the policy, ``roles`` the roles of its columns, and ``sets`` those that are sensitive item sets.
    """
    entry = METHODS[method]
    options = dict(own[1]) if method == own[0] else {}
    if target is not None:
        options |= {key: target for key, allowed in entry.options.items() if isinstance(allowed, ColumnName)}
    options |= changed or {}
    problems = [*entry.problems(changed or {}), *entry.lacking(options, models, roles)]
    problems += entry.problems_of_sets(options, sets)
    return Configuration(method, method, options, tuple(problems))
