"""The methods, each in a file of its own, and the registry of them.

A method is a function ``(table, requirements, *, its options, seed=None, progress=None) -> Recoding``. It only
decides: it knows nothing of files, rendering or reports. ``METHODS`` names them all; the modules load when used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sudare.errors import Problem, did_you_mean
from sudare.table import Recoding


@dataclass(frozen=True)
class Share:
    """An option that is a number from 0, below 1."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1

    def __str__(self) -> str:
        return "a number from 0, below 1"


LONGEST = 10**9
"""Seconds: some thirty years."""


@dataclass(frozen=True)
class Seconds:
    """An option that is a number of seconds, above 0."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LONGEST

    def __str__(self) -> str:
        return f"a number of seconds, above 0, {LONGEST:,} at most"


@dataclass(frozen=True)
class Weight:
    """An option that is a number from 0 to 1."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1

    def __str__(self) -> str:
        return "a number from 0 to 1"


@dataclass(frozen=True)
class Whole:
    """An option that is a whole number between two others."""

    least: int
    most: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True)
class Flag:
    """An option that is true or false."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, bool)

    def __str__(self) -> str:
        return "true or false"


@dataclass(frozen=True)
class ColumnName:
    """An option that names a column with one of some roles; it has to be given."""

    roles: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str)

    def __str__(self) -> str:
        return f"the name of a column with role {' or '.join(self.roles)}"


Option = tuple[str | int, ...] | Share | Seconds | Weight | Whole | Flag | ColumnName


@dataclass(frozen=True)
class Method:
    """An entry of the registry: where the function is, what its options may be, and whether it knows item sets.

    ``needs`` is a model that the policy has to ask for. ``recodes_globally`` says that each value shows the same
    everywhere, so that the decision can be saved as a plan. ``leaves_quasi`` says that quasi-identifiers leave as they
    came, and sensitive values are hidden.
    """

    name: str
    summary: str
    module: str
    function: str
    options: Mapping[str, Option] = field(default_factory=dict)
    item_sets: bool = False
    needs: str | None = None
    recodes_globally: bool = False
    leaves_quasi: bool = False

    def load(self) -> Callable[..., Recoding]:
        """Return the function itself."""
        found: Callable[..., Recoding] = getattr(import_module(f"sudare.methods.{self.module}"), self.function)
        return found

    def problems(self, options: Mapping[str, Any]) -> list[Problem]:
        """Return what is wrong with the values of given options (their names were checked with the policy)."""
        problems = []
        for key, value in options.items():
            allowed = self.options.get(key)
            if allowed is None or _fits(value, allowed):
                continue
            words = allowed if isinstance(allowed, tuple) else ()
            what = f"got {value!r}. Allowed: {', '.join(map(str, words)) or allowed}."
            near = did_you_mean(str(value), [word for word in words if isinstance(word, str)])
            problems.append(Problem(f"method.{key}", what, near))
        return problems

    def lacking(
        self, options: Mapping[str, Any], models: Collection[object], roles: Mapping[str, Any]
    ) -> list[Problem]:
        """Return what this method misses in a policy: a model that it needs, a column that an option has to name."""
        problems = []
        if self.needs is not None and self.needs not in models:
            what = f"{self.name} needs a requirement of the model {self.needs}, and there is none."
            hint = "add it, or use full-domain, which takes whatever is required."
            problems.append(Problem("method.name", what, hint))
        if self.leaves_quasi and (others := {str(model) for model in models} - {"l-diversity"}):
            what = f"{self.name} leaves quasi-identifiers as they are, and cannot make {', '.join(sorted(others))}."
            problems.append(Problem("method.name", what, "use top-down or l-clustering, or require l-diversity alone."))
        for key, allowed in self.options.items():
            if not isinstance(allowed, ColumnName) or not isinstance(options.get(key, ""), str):
                continue
            name = options.get(key)
            if name is None:
                problems.append(Problem(f"method.{key}", f"{self.name} needs {allowed} here."))
            elif name not in roles:
                what = f"'{name}' is not a column of this policy."
                problems.append(Problem(f"method.{key}", what, did_you_mean(name, map(str, roles))))
            elif roles[name] not in allowed.roles:
                what = f"'{name}' has role: {roles[name]}; this needs {allowed}."
                problems.append(Problem(f"method.{key}", what))
        return problems

    def columns(self, options: Mapping[str, Any]) -> list[str]:
        """Return the columns that options name."""
        return [options[key] for key, allowed in self.options.items() if isinstance(allowed, ColumnName)]


def _fits(value: object, allowed: Option) -> bool:
    """Say whether an option may have a value; of words and numbers that are listed, true is not 1, nor is 1.0."""
    if isinstance(allowed, tuple):
        return any(type(value) is type(word) and value == word for word in allowed)
    return value in allowed


_LEVELS: Mapping[str, Any] = {
    "module": "full_domain",
    "function": "full_domain",
    "options": {
        "loss": ("arx", "gcp", "discernibility", "class-size", "entropy", "precision"),
        "time_limit": Seconds(),
    },
    "recodes_globally": True,
}

METHODS: dict[str, Method] = {
    "top-down": Method(
        "top-down",
        "each cluster makes the split that leaves the least loss",
        "top_down",
        "top_down",
        {
            "split": ("least-loss", "widest"),
            "order": ("per-cluster", "global"),
            "items": ("rank-choose-split", "one-by-one"),
            "remainder": ("join", "close"),
            "beta": Share(),
            "polish": Flag(),
        },
        item_sets=True,
    ),
    "mondrian": Method(
        "mondrian",
        "each cluster is cut at the median of its widest attribute",
        "mondrian",
        "mondrian",
        {"polish": Flag()},
    ),
    "l-clustering": Method(
        "l-clustering",
        "records that are near each other become a class, the cheapest classes first",
        "l_clustering",
        "l_clustering",
        {"variant": ("fast", "reference"), "weights": ("domain", 1), "loss": ("gcp", "arx")},
    ),
    "three-phase": Method(
        "three-phase",
        "groups of equal records stay as they are, and as few records as possible leave them",
        "three_phase",
        "three_phase",
        {"residue": ("split", "one")},
        needs="l-diversity",
    ),
    "dummies": Method(
        "dummies",
        "sensitive values hide among others drawn at random, and all else stays as it is",
        "dummies",
        "dummies",
        {"frequencies": ("uniform", "observed"), "missing": ("value", "error")},
        needs="l-diversity",
        leaves_quasi=True,
    ),
    "anatomy": Method(
        "anatomy",
        "sensitive values stand in a table of their own, by groups of records, and all else stays as it is",
        "anatomy",
        "anatomy",
        needs="l-diversity",
        leaves_quasi=True,
    ),
    "tds": Method(
        "tds",
        "the values that tell most about a class are shown first, alike everywhere",
        "tds",
        "tds",
        {
            "target": ColumnName(("sensitive", "insensitive")),
            "score": ("table-info", "gain-ratio"),
            "w": Weight(),
            "search": ("greedy", "beam"),
            "width": Whole(2, 64),
        },
    ),
    "full-domain": Method("full-domain", "one level of its hierarchy for each column, with the least loss", **_LEVELS),
    "incognito": Method("incognito", "full-domain generalization under k-anonymity", needs="k-anonymity", **_LEVELS),
    "l-incognito": Method(
        "l-incognito", "full-domain generalization under l-diversity", needs="l-diversity", **_LEVELS
    ),
}
