"""Losses that may be published: relative to the release, not to the source.

The width of a column reveals its extremes. An intruder knows the width of each released cell. From the sum of all
widths they could compute the range of the source, and so the value of a suppressed person. So published losses are
shares of the range, or of the number of categories, that the release itself shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sudare.table import Column, Cover, Generalized, inside_runs


@dataclass(frozen=True, eq=False)
class Extent:
    """What the released cells of a column show: the outermost ends on its axis, or which categories any set names."""

    low: float = np.inf
    high: float = -np.inf
    named: NDArray[np.bool_] | None = None

    def joined(self, other: Extent) -> Extent:
        """Return what this and another part of a release show."""
        named = self.named
        if other.named is not None:
            named = other.named if named is None else named | other.named
        return Extent(min(self.low, other.low), max(self.high, other.high), named)

    def domain(self, column: Column) -> float:
        """Return the width of what is shown: a range, or a number of values."""
        if column.positions is not None:
            return max(self.high - self.low, 0.0)
        if self.named is None:
            return 0.0
        weight = np.ones(len(self.named))
        if column.other is not None:
            weight[column.other[0]] = column.other[1]
        return float(weight[self.named].sum())


def extent_of(cover: Cover, classes: int) -> Extent:
    """Return what the first classes show, as far as they show anything."""
    column = cover.column
    telling = ~cover.everything[:classes]
    if column.positions is not None:
        ends = [each[:classes][telling] for each in cover.ends]
        places = column.positions if column.ends is None else column.ends.positions
        there = [places[each[each < len(places)]] for each in ends]  # not where all values are missing
        return Extent(float(there[0].min(initial=np.inf)), float(there[1].max(initial=-np.inf)))
    named = np.zeros(column.size, dtype=np.bool_)
    shown = np.flatnonzero(telling)
    if cover.shown is not None:
        shown = np.unique(cover.shown[shown])
    named[cover.codes[inside_runs(cover.start[shown], cover.start[shown + 1] - cover.start[shown])]] = True
    return Extent(named=named)


def as_released(given: Generalized) -> Generalized:
    """Return the same release, with shares of what it shows."""
    covers = {
        name: replace(cover, domain=extent_of(cover, len(given.kept)).domain(cover.column))
        if isinstance(cover, Cover) and cover.column.taxonomy is None
        else cover
        for name, cover in given.covers.items()
    }
    return replace(given, covers=covers)
