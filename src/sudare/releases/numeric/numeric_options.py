"""How released cells become numbers: what a user can choose, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sudare.core.errors import ParameterError, Problem, did_you_mean

MOST_CATEGORIES = 256
"""The most categories of a column that get a column each, unless the user says otherwise."""
WORDS = {
    "ranges": ("middle", "ends", "draw"),
    "everything": ("share", "missing"),
    "unchanged": ("keep", "encode"),
    "unknown": ("share", "ignore", "error"),
}
"""What each choice may be."""
KINDS = ("numeric", "dates", "categorical", "items")


@dataclass(frozen=True)
class NumericOptions:
    """The choices.

    ``ranges``: an interval is its middle, its two ends, or a number drawn within it. ``everything``: a cell that shows
    nothing is shared among all values, or missing. ``unchanged``: columns that are no quasi-identifiers are kept, or
    encoded, too. ``unknown``: a category that was not there when categories were collected is shared among all, counts
    for none, or is an error. ``most`` categories of a column get a column each. ``kinds`` says what columns hold.
    """

    ranges: str = "middle"
    everything: str = "share"
    unchanged: str = "keep"
    unknown: str = "share"
    most: int = MOST_CATEGORIES
    kinds: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def checked(cls, *, names: Mapping[str, str] | None = None, **given: Any) -> NumericOptions:
        """Return the choices, or raise all problems; ``names`` are what the user calls them, if that differs."""
        called = {"most": "most_categories"} | dict(names or {})
        problems = []
        for key, allowed in WORDS.items():
            got = given.get(key, allowed[0])
            if got not in allowed:
                what = f"got {got!r}. Allowed: {', '.join(allowed)}."
                problems.append(Problem(called.get(key, key), what, did_you_mean(str(got), allowed)))
        most = given.get("most", MOST_CATEGORIES)
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            problems.append(Problem(called["most"], f"must be a whole number from 1; got {most!r}."))
        kinds = given.pop("kinds", None) or {}
        if not isinstance(kinds, Mapping):
            problems.append(Problem("kinds", 'must say what columns hold, such as {"zip": "categorical"}.'))
            kinds = {}
        for name, kind in kinds.items():
            if kind not in KINDS:
                what = f"got {kind!r}. Allowed: {', '.join(KINDS)}."
                problems.append(Problem(f"kinds.{name}", what, did_you_mean(str(kind), KINDS)))
        if problems:
            raise ParameterError(problems)
        return cls(**given, kinds=dict(kinds))
