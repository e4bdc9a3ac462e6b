"""The frequent combinations of a limited column with others, which a certificate publishes.

Against an intruder who uses all columns (:mod:`sudare.methods.pram.whole_record`), it matters how columns go together
in the table. What is published of this is rounded, and rare combinations are not published at all:

- a combination has its number of records, rounded down to a multiple of a **unit**: ten records, or one ten-thousandth
  of them, if that is more. Combinations of fewer records are absent.
- the columns of the combinations are chosen one by one: each time the one with which the bound of alpha falls most, at
  a fixed p. A column whose combinations are too many to go through is not chosen, nor one that makes most of them rare.
  Of columns that are not chosen, the bound expects the worst.

Cost: for every column that is tried, the records are counted once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.methods.pram.attributes import Layout
from sudare.methods.pram.whole_record import Channel, beliefs

FEWEST = 10
"""Records of a published combination at least: the largest of the usual minimum frequencies, 3 to 10."""
PARTS = 10_000
"""A unit is at least this part of the records: so there are no more combinations than that."""
MOST_CELLS = 1 << 18
"""Values of the limited attribute times combinations that can be shown, at most; the audit allows a few times more."""
MOST_COUNTS = 1 << 24
"""Combinations times strata that are counted, at most."""
TRIED = 0.25
"""The p at which columns are chosen."""
GAIN = 1e-4
"""By how much alpha has to fall for a further column."""
STRATA_TRIED = 20
"""How many strata, the largest ones, choose the columns."""


@dataclass(frozen=True, eq=False)
class Known:
    """The published combinations of an attribute: the ``others`` in them, and the numbers of records in each cell.

    The first axis of ``counts[cell]`` is the attribute, over its domain in the cell; the further ones are the others.
    """

    number: int
    others: tuple[int, ...]
    counts: tuple[NDArray[np.int64], ...]

    def apart(self, attributes: int) -> list[int]:
        """Return the attributes of which nothing is known."""
        return [at for at in range(attributes) if at != self.number and at not in self.others]


def unit(rows: int) -> int:
    """Return the multiple to which the numbers of records are rounded down."""
    return max(FEWEST, math.ceil(rows / PARTS))


def nothing_known(layout: Layout, number: int) -> Known:
    """Return no combinations."""
    return Known(number, (), tuple(np.zeros(len(cell.domains[number]), np.int64) for cell in layout.cells))


def known_combinations(layout: Layout, number: int, parts: Sequence[NDArray[np.int64]]) -> Known:
    """Return the combinations that bound alpha best; ``parts`` are the values of the limited column, by cell."""
    best = nothing_known(layout, number)
    values = layout.attributes[number].size
    largest = sorted(range(len(layout.cells)), key=lambda at: -layout.cells[at].rows)[:STRATA_TRIED]
    figure = _tried(layout, best, parts, largest)
    open_to = [at for at in range(len(layout.attributes)) if at != number]
    while open_to:
        found = []
        for at in open_to:
            others = tuple(sorted((*best.others, at)))
            size = math.prod(layout.attributes[each].size for each in (number, *others))
            if size * values <= MOST_CELLS and size * len(layout.cells) <= MOST_COUNTS:
                made = _counted(layout, number, others)
                found.append((_tried(layout, made, parts, largest), at, made))
        if not found:
            break
        least, at, made = min(found, key=lambda one: one[:2])
        if least > figure - GAIN:
            break
        figure, best = least, made
        open_to.remove(at)
    return best


def _counted(layout: Layout, number: int, others: Sequence[int]) -> Known:
    """Count the combinations of some attributes in every cell, and round them down."""
    axes = [layout.attributes[at] for at in (number, *others)]
    shape = tuple(attribute.size for attribute in axes)
    size = math.prod(shape)
    place = np.zeros(len(axes[0].whole), np.int64)
    if layout.of_row is not None:
        place += layout.of_row
    for attribute in axes:
        place *= attribute.size
        place += attribute.whole.codes
    found = np.bincount(place, minlength=size * len(layout.cells)).reshape(len(layout.cells), *shape)
    counts = []
    for cell, there in zip(layout.cells, found, strict=True):
        inside = there[np.ix_(*(cell.domains[at] for at in (number, *others)))]
        step = unit(cell.rows)
        counts.append(inside // step * step)
    return Known(number, tuple(others), tuple(counts))


def _tried(layout: Layout, known: Known, parts: Sequence[NDArray[np.int64]], cells: Sequence[int]) -> float:
    """Return the largest alpha over some cells, at a fixed p: only to choose, so matrices do not matter."""
    worst = 0.0
    for at in cells:
        cell = layout.cells[at]

        def channel(number: int, domains: Sequence[NDArray[np.int64]] = cell.domains) -> Channel:
            return Channel(len(domains[number]), TRIED)

        total = max(cell.rows, 1)
        counts = cell.counts[known.number]
        made = beliefs(
            counts / max(int(counts.sum()), 1),
            known.counts[at] / total,
            parts[at],
            channel(known.number),
            [channel(each) for each in known.others],
            [channel(each) for each in known.apart(len(layout.attributes))],
        )
        worst = max(worst, made.alpha)
    return worst
