"""Options of methods without effect, because of other options or of the policy's columns: each is an error.

``OPTIONS`` lists the conditions under which an option has an effect. A default value passes. Policies are read as they
were written; malformed parts are reported elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.core.errors import PolicyError, Problem


@dataclass(frozen=True)
class Beside:
    """What stands beside an option: all options, the columns, the promises, and the sets that no class is by."""

    options: Mapping[str, Any]
    columns: Mapping[str, Mapping[str, Any]]
    promises: Sequence[Mapping[str, Any]]
    free: Collection[str]

    def quasi(self) -> Iterator[Mapping[str, Any]]:
        """Yield the quasi-identifiers that take part in the classes."""
        for name, spec in self.columns.items():
            if spec.get("role") == "quasi" and name not in self.free:
                yield spec


@dataclass(frozen=True)
class Needs:
    """What an option needs to have an effect, and what is said if that is not so."""

    holds: Callable[[Beside], bool]
    why: str
    hint: str = "remove it."


NO_SETS = "no quasi-identifier takes part in the classes with item sets"
"""Why options about item sets have no effect, on a policy or on a table."""


def _may_hold_sets(beside: Beside) -> bool:
    """Return whether classes may be by item sets; a column without a kind may hold lists."""
    return any(
        spec.get("kind") in (None, "items")
        and not spec.get("order")
        and not _follows_from_values(spec.get("hierarchy"))
        for spec in beside.quasi()
    )


def _follows_from_values(hierarchy: object) -> bool:
    return isinstance(hierarchy, Mapping) and any(hierarchy.get(key) is not None for key in ("bands", "dates"))


def _some_drawn_alike(beside: Beside) -> bool:
    """Return whether a perturbed column has no matrix of its own."""
    own, strata = beside.options.get("matrices"), beside.options.get("strata")
    drawn = {name for name, spec in beside.columns.items() if spec.get("role") in ("quasi", "sensitive")}
    fixed = set(strata) if isinstance(strata, list | tuple) else set()
    return not isinstance(own, Mapping) or bool(drawn - fixed - set(own))


def _joins_classes(beside: Beside) -> bool:
    """Return whether there are promises that the published clustering knows nothing of, so that classes are joined."""
    diverse = [spec for spec in beside.promises if spec.get("model") == "l-diversity"]
    return len(diverse) > 1 or any(
        spec.get("model") not in ("k-anonymity", "l-diversity")
        or spec.get("count") == "subjects"
        or spec.get("variant", "distinct") != "distinct"
        for spec in beside.promises
    )


def _large_enough(beside: Beside) -> bool:
    """Return whether groups of ``k`` records are no smaller than those that the promises ask for."""
    asked = [spec.get(key) for spec in beside.promises for key in ("k", "l")]
    least = max((number for number in asked if isinstance(number, int | float)), default=0)
    k = beside.options.get("k")
    return not isinstance(k, int) or k >= least


def _some_without_hierarchy(beside: Beside) -> bool:
    """Return whether a column may be aggregated that is no category with a hierarchy: of these only modes are shown."""
    named = beside.options.get("columns")
    if not isinstance(named, list | tuple):
        return True  # columns with a hierarchy are aggregated only where they are named
    return any(not beside.columns.get(name, {}).get("hierarchy") for name in named if isinstance(name, str))


_SETS = Needs(_may_hold_sets, NO_SETS)
_RANKED = Needs(
    lambda beside: beside.options.get("items") != "one-by-one",
    "items: one-by-one makes no choices",
    "remove it, or items: one-by-one.",
)
_BY_CLUSTER = Needs(
    lambda beside: beside.options.get("order") != "global",
    "with order: global the whole table decides which column is next",
    "remove it, or order: global.",
)
_OWN = Needs(_some_drawn_alike, "all perturbed columns have matrices of their own")

OPTIONS: Mapping[tuple[str, str], tuple[Needs, ...]] = {
    ("top-down", "objective"): (_SETS, _BY_CLUSTER),
    ("top-down", "items"): (_SETS,),
    ("top-down", "remainder"): (_SETS, _RANKED),
    ("top-down", "beta"): (_SETS, _RANKED),
    ("top-down", "rank"): (_SETS,),
    ("l-clustering", "loss"): (
        Needs(
            lambda beside: beside.options.get("weights", "domain") == "domain",
            "with weights: 1, differences count in their own units",
            "remove it, or weights: 1.",
        ),
        Needs(
            lambda beside: beside.options.get("variant") != "reference" or _joins_classes(beside),
            "variant: reference has a distance of its own",
            "remove it, or use variant: fast.",
        ),
    ),
    ("microaggregation", "k"): (
        Needs(
            _large_enough,
            "the requirements ask for larger groups",
            "remove it: groups have as many records as they ask for.",
        ),
    ),
    ("microaggregation", "representative"): (
        Needs(
            lambda beside: beside.options.get("representative") == "medoid" or _some_without_hierarchy(beside),
            "all aggregated columns have hierarchies, and show their most frequent value",
            "remove it, or use representative: medoid.",
        ),
    ),
    ("pram", "p"): (_OWN,),
    ("pram", "kind"): (_OWN,),
    ("pram", "weights"): (
        Needs(
            lambda beside: beside.options.get("p") == "per-column",
            "weights belong to p: per-column",
            "remove them, or set p: per-column.",
        ),
    ),
    ("tds", "width"): (
        Needs(
            lambda beside: beside.options.get("search") == "beam",
            "a greedy search follows one path",
            "remove it, or set search: beam.",
        ),
    ),
}
"""For each option of a method that may be without effect, what has to hold."""

_DEFAULTS: Mapping[tuple[str, str], Any] = {
    ("top-down", "objective"): "loss",
    ("top-down", "items"): "rank-choose-split",
    ("top-down", "remainder"): "join",
    ("top-down", "beta"): 0,
    ("top-down", "rank"): "frequency",
    ("l-clustering", "loss"): "gcp",
    ("microaggregation", "representative"): "mean",
    ("pram", "p"): "calibrated",
    ("pram", "kind"): "uniform",
}


def idle_options(method: str, beside: Beside) -> Iterator[Problem]:
    """Yield the options of a method that have no effect, each with the reason and what to do."""
    for (name, key), needs in OPTIONS.items():
        value = beside.options.get(key)
        if name != method or value is None or value == _DEFAULTS.get((name, key)):
            continue
        lacking = next((each for each in needs if not each.holds(beside)), None)
        if lacking is not None:
            yield Problem(f"method.{key}", f"has no effect: {lacking.why}.", lacking.hint)


def check_sets(options: Mapping[str, Any], with_sets: bool) -> None:
    """Raise if options of ``top-down`` have no effect on a table: only the table shows which columns hold lists."""
    problems = [
        Problem(f"method.{key}", f"has no effect on this table: {NO_SETS}.", "remove it.")
        for key in ("objective", "items", "remainder", "beta", "rank")
        if not with_sets and key in options and options[key] != _DEFAULTS["top-down", key]
    ]
    if problems:
        raise PolicyError(problems)
