"""What is to be compared: which methods, with which options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare.errors import ParameterError, PolicyError, Problem, UnsupportedError, did_you_mean
from sudare.methods import METHODS, ColumnName
from sudare.models import Requirements
from sudare.table import Partition, Table


@dataclass(frozen=True)
class Way:
    """One way to make a release: what it is called, a method and its options; ``problems`` are why it cannot be."""

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def decide(self, table: Table, requirements: Requirements, seed: int | None = None) -> Partition:
        """Return what the method decides for a table."""
        if self.problems:
            raise PolicyError(self.problems)
        found = METHODS[self.method].load()(table, requirements, **self.options, seed=seed)
        assert isinstance(found, Partition), f"{self.method} makes no classes"
        return found


def check_asked(target: object, roles: Mapping[str, Any], folds: object, seed: object) -> None:
    """Raise one error that lists everything wrong with what was asked for."""
    problems = []
    if not isinstance(target, str):
        problems.append(Problem("target", f"is the name of a column; got {type(target).__name__}."))
    else:
        problems += [
            Problem("target", each.what, each.hint) for each in METHODS["tds"].lacking({"target": target}, (), roles)
        ]
    for name, value, least in (("folds", folds, 2), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            problems.append(Problem(name, f"is a whole number from {least}; got {value!r}."))
    if problems:
        raise ParameterError(problems)


def ways_for(
    own: tuple[str, Mapping[str, Any]],
    target: str,
    *,
    models: Collection[object],
    roles: Mapping[str, Any],
    asked: Sequence[str] | None = None,
) -> list[Way]:
    """Return a way for each method that is asked for, or for every one that this policy allows.

    ``own`` is the policy's method with its options; all others have their defaults. ``models`` and ``roles`` are what
    the policy requires, and what its columns are. Of several names of one method the policy's is taken, or the first.
    """
    if asked is None:
        by_function = {(each.module, each.function): name for name, each in reversed(METHODS.items())}
        by_function[METHODS[own[0]].module, METHODS[own[0]].function] = own[0]
        found = [_way(name, own, target, models, roles) for name in METHODS if name in by_function.values()]
        return [way for way in found if not way.problems]
    unknown = [name for name in asked if name not in METHODS]
    if unknown:
        hint = f"use one of {', '.join(METHODS)}."
        raise UnsupportedError(
            [Problem("", f"'{name}' is not a method.", did_you_mean(str(name), METHODS) or hint) for name in unknown]
        )
    return [_way(name, own, target, models, roles) for name in dict.fromkeys(asked)]


def _way(
    name: str, own: tuple[str, Mapping[str, Any]], target: str, models: Collection[object], roles: Mapping[str, Any]
) -> Way:
    options = dict(own[1]) if name == own[0] else {}
    options |= {key: target for key, allowed in METHODS[name].options.items() if isinstance(allowed, ColumnName)}
    problems = METHODS[name].lacking(options, models, roles)
    if METHODS[name].leaves_quasi:
        does = "makes no classes" if METHODS[name].perturbs else "leaves quasi-identifiers as they are"
        what = f"{name} {does}, so that there is nothing to compare classifiers by."
        problems.append(Problem("methods", what))
    return Way(name, name, options, tuple(problems))
