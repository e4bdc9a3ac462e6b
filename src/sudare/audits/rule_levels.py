"""Hierarchies that follow from a rule: the level of a label, and its height.

The leaves of such a hierarchy are values of the source: bands, prefixes and dates are made from them. So a release does
not show how many leaves a node covers, but it does show its height.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation

from sudare.audits.code_groups import answers, has_short_codes, level_of_group
from sudare.policy import HierarchySpec

ROOT, LEAF, ODD = "*", "leaf", "odd"
"""The levels at both ends, and that of a label which the rule does not make."""
_BAND = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)([])])")
_DATES = {
    "year": re.compile(r"\d{4}"),
    "quarter": re.compile(r"\d{4}-Q[1-4]"),
    "month": re.compile(r"\d{4}-\d\d"),
    "day": re.compile(r"\d{4}-\d\d-\d\d"),
}


def is_written(spec: HierarchySpec) -> bool:
    """Whether a hierarchy is written down, in a file or in the policy, with all its leaves."""
    return spec.file is not None or spec.tree is not None


def level_of(spec: HierarchySpec, label: str) -> str:
    """Return the level of a label if a rule makes it; labels of an explicit hierarchy stay unchanged."""
    if is_written(spec) or label == ROOT:
        return label
    if spec.prefix is not None:
        return _prefix_level(spec.prefix, label)
    if spec.codes is not None:
        return level_of_group(spec.codes, label) or LEAF
    if spec.auto:
        return ODD if _BAND.fullmatch(label) else LEAF  # how high a band stands is not known
    if spec.widths is not None:
        return _band_level(spec.widths, label)
    if spec.dates is not None:
        return next((level for level in spec.dates if _DATES[level].fullmatch(label)), LEAF)
    return LEAF


def heights(spec: HierarchySpec, seen: Iterable[str]) -> list[dict[str, float]]:
    """Return how high each level stands, from 0 for a leaf to 1 for the root.

    That may depend on the source: then there are several answers, one of which is true. ``seen`` are the levels that
    the release shows.
    """
    found = set(seen)
    if spec.prefix is not None:
        return _short_heights([str(length) for length in reversed(spec.prefix[1:])], found)
    if spec.codes is not None:
        possible = [levels for levels in answers(spec.codes) if found <= {ROOT, LEAF, ODD, *levels}]
        made = _short_heights if has_short_codes(spec.codes) else lambda levels, _: [_from_top(levels)]
        return [answer for levels in possible for answer in made(levels, found)]
    if spec.widths is not None:
        return _band_heights(spec.widths, found)
    if spec.dates is not None:
        days: list[str] = [level for level in reversed(spec.dates) if level != "day"]
        if "day" not in spec.dates:
            return [_from_top(days)]
        # above times of day a day is a group of them; where all values are days, it is a value itself
        above = _from_top([*days, "day"])
        return [above] if LEAF in found else [above, _from_top(days) | {"day": 0.0}]
    return [_from_top([])]


def _from_top(groups: list[str]) -> dict[str, float]:
    deepest = len(groups) + 1
    return {ROOT: 1.0, LEAF: 0.0} | {group: 1.0 - depth / deepest for depth, group in enumerate(groups, 1)}


def _short_heights(groups: list[str], seen: set[str]) -> list[dict[str, float]]:
    """Return the heights of groups where some codes, or all, may be too short for the lowest of them."""
    least = max((depth for depth, group in enumerate(groups, 1) if group in seen), default=0)
    depths = range(least + 1, len(groups) + 2)
    return [
        {ROOT: 1.0, LEAF: 0.0} | {group: 1.0 - depth / deepest for depth, group in enumerate(groups[: deepest - 1], 1)}
        for deepest in depths
    ]


def _prefix_level(lengths: list[int], label: str) -> str:
    kept = len(label.rstrip("*"))
    if kept == len(label):
        return LEAF
    return str(kept) if kept in lengths[1:] and len(label) == lengths[0] else ODD


def _band_level(widths: list[float], label: str) -> str:
    band = _BAND.fullmatch(label)
    if band is None:
        return LEAF
    closed = band[3] == "]"
    with suppress(InvalidOperation):
        width = Decimal(band[2]) - Decimal(band[1]) + closed
        if any(width == Decimal(str(each)) for each in widths):
            return _band_name(width, closed)
    return ODD


def _band_name(width: Decimal, closed: bool) -> str:
    return f"{width.normalize():f}{'closed' if closed else 'open'}"


def _band_heights(widths: list[float], seen: set[str]) -> list[dict[str, float]]:
    """Closed bands are of whole numbers; one that is 1 wide is the number itself. Which they are may not be seen."""
    answers = []
    for closed in (True, False):
        wide = [Decimal(str(width)) for width in reversed(widths)]
        names = [_band_name(width, closed) for width in wide if not (closed and width == 1)]
        if not any(level.endswith("open" if closed else "closed") for level in seen):
            answers.append(_from_top(names))
    return answers
