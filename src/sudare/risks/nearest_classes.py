"""The nearest classes of a release: what an intruder takes for a person's where columns are aggregated.

A mean is nobody's own value, so no cell allows or excludes a person by itself. The intruder takes the class whose
numbers are nearest to the known ones, among those whose other cells allow all that is known (distance-based record
linkage). Columns count equally: a difference is measured in standard deviations of the data. Nothing in a release says
whether that class is the right one. It counts as right, so the success of the attack is rather too high.

Reference: Domingo-Ferrer, Torra: Disclosure risk assessment in statistical microdata protection via advanced record
linkage. Statistics and Computing 13, 343-354 (2003).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.risks.class_matches import guess_in_class
from sudare.risks.class_risk import Classes
from sudare.risks.matches import Columns, Floats, Histogram, Ints, Matching
from sudare.risks.released_codes import Cells, ReleasedCodes
from sudare.table import Column, places_of

PAIRS = 1 << 22
"""So many pairs of people and classes are compared at a time."""
EMPTY = 1.0
"""The squared distance of an empty cell, which says nothing, from a value: that of a value from the mean."""


def matching(
    shown: ReleasedCodes, names: Sequence[str], grouped: Classes, columns: Columns, only: Ints | None = None
) -> Matching | NearestClasses:
    """Return how people are found in the classes of a release: by what cells allow, or by the nearest numbers."""
    aggregated = any(name in shown.cells and shown.cells[name].places is not None for name in names)
    return (NearestClasses if aggregated else Matching)(shown, names, grouped, columns, only)


class NearestClasses:
    """Some classes of a release, as far as some columns show them, of which people are in the nearest one.

    Item sets do not take part: they allow whoever holds the items that are shown.
    """

    def __init__(
        self, shown: ReleasedCodes, names: Sequence[str], grouped: Classes, columns: Columns, only: Ints | None = None
    ) -> None:
        first = np.zeros(len(grouped.sizes), dtype=np.int64)
        first[grouped.of_row] = np.arange(shown.rows)
        self.rows = first if only is None else first[only]
        self.count = len(self.rows)
        self.cells = {name: shown.cells[name] for name in names if name in shown.cells}
        self.spread = {name: _spread(columns[name], cells) for name, cells in self.cells.items()}

    def weigh_people(self, columns: Columns, rows: Ints, weight: Floats) -> Floats:
        """Return, for each of some people, the weight of the class that is nearest; 0 if none fits."""
        nearest = self.nearest(columns, rows)
        return np.asarray(np.where(nearest < 0, 0.0, weight[nearest]))

    def weigh_classes(self, columns: Columns, rows: Ints, weight: Floats) -> Floats:
        """Add up, for each class, the weights of the people whose nearest class it is."""
        nearest = self.nearest(columns, rows)
        found = nearest >= 0
        return np.bincount(nearest[found], weight[found], self.count).astype(np.float64)

    def guess(self, columns: Columns, rows: Ints, histogram: Histogram, truth: Ints) -> Floats:
        """Judge the most frequent value of the class that is nearest to each person (see the kernel)."""
        nearest = self.nearest(columns, rows)
        result = np.full((len(rows), 2), -1.0)  # who fits nowhere is left with the prior
        found = np.flatnonzero(nearest >= 0)
        judged = np.zeros((len(found), 2))
        guess_in_class(nearest[found], histogram.arrays, truth[found], judged)
        result[found] = judged
        return result

    def nearest(self, columns: Columns, rows: Ints) -> Ints:
        """Return the class that is nearest to each of some people, the first of several; -1 if none fits."""
        found = np.empty(len(rows), dtype=np.int64)
        block = max(PAIRS // max(self.count, 1), 1)
        for at in range(0, len(rows), block):
            part = rows[at : at + block]
            far = np.zeros((len(part), self.count))
            for name, cells in self.cells.items():
                column = columns[name]
                assert isinstance(column, Column)
                self._add(far, name, cells, column, column.codes[part].astype(np.int64))
            best = far.argmin(axis=1)
            found[at : at + block] = np.where(np.isinf(far[np.arange(len(part)), best]), -1, best)
        return found

    def _add(self, far: Floats, name: str, cells: Cells, column: Column, codes: Ints) -> None:
        """Add what people and classes are apart in one column; infinite where a cell excludes a person."""
        own = cells.of_row[self.rows]
        if cells.places is None:
            far[~_allowed(cells, codes, column.size)[:, own]] = np.inf
            return
        shown, missing = cells.places[own], codes == column.missing_code
        known = np.append(_places(column), 0.0)[codes]
        empty = np.isnan(shown)
        apart: Floats = ((known[:, None] - np.where(empty, 0.0, shown)[None, :]) / self.spread[name]) ** 2
        if column.taxonomy is not None:  # categories are equal or not
            apart = np.where(apart > 0, 2.0, 0.0)
        apart[:, empty] = EMPTY
        apart[missing] = np.where(empty, 0.0, np.inf)  # whoever has no value is where none is shown
        far += apart


def _places(column: Column) -> Floats:
    """Return where the values of a column stand: on its axis, or by their numbers."""
    found = places_of(column)
    return np.arange(len(column.values), dtype=np.float64) if found is None else found


def _spread(column: object, cells: Cells) -> float:
    """Return the standard deviation of an aggregated column in the data."""
    if cells.places is None or not isinstance(column, Column):
        return 1.0
    there = column.codes[column.codes != column.missing_code]
    return float(_places(column)[there].std()) or 1.0 if len(there) else 1.0


def _allowed(cells: Cells, codes: Ints, size: int) -> NDArray[np.bool_]:
    """Return which cells allow which of some codes: a line for each code."""
    found = (cells.low <= codes[:, None]) & (codes[:, None] <= cells.high)
    for number, members in cells.members.items():
        held = np.zeros(size + 1, dtype=np.bool_)
        held[members] = True
        found[:, number] = held[codes]
    return np.asarray(found)
