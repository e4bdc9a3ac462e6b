"""The nearest records of a release: what an intruder takes for a person's where columns were changed at random.

After noise, a swap, a random rounding or a shift of dates, a cell that differs from the known value excludes nobody,
and one that is equal may be somebody else's. So the intruder takes a record that is nearest to what is known: in the
changed columns by the distance from the known value to the cell, in standard deviations of the data; in all others the
cells have to allow it (distance-based record linkage). Among equally near records, each has the same chance.

Nobody can tell from a release whose a record is, not even who made it. A match is counted as right if it *may* be: if
one of the nearest records agrees with the person in all columns that were released without a random change. The
person's own record always does. So the success of the attack is no higher than what is measured.

Reference: Domingo-Ferrer, Torra: Disclosure risk assessment in statistical microdata protection via advanced record
linkage. Statistics and Computing 13, 343-354 (2003).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.risks.class_risk import Classes
from sudare.risks.matches import Columns, Floats, Histogram, Ints, Matching
from sudare.risks.nearest_classes import PAIRS, NearestClasses, matching
from sudare.risks.released_codes import Cells, ReleasedCodes
from sudare.table import Column, places_of

NEAR = 1e9
"""Pairs of a person and a class whose distance is computed at the most; where there are many classes, fewer people."""
DENSE = 1 << 24
"""Numbers in a table of classes and values at the most; beyond that, a guess looks at one of the nearest classes."""
CLOSE = 1e-9
"""Squared distances that differ by no more are equal."""


@dataclass(frozen=True, eq=False)
class Witness:
    """What records show in columns that were released without a random change: equal numbers are equal cells."""

    released: Ints
    data: Ints


def changed(shown: ReleasedCodes) -> list[str]:
    """Return the columns of a release whose cells are only near to what records hold."""
    return [name for name, cells in shown.cells.items() if cells.spans is not None]


def matching_of(
    shown: ReleasedCodes, names: Sequence[str], grouped: Classes, columns: Columns
) -> Matching | NearestClasses:
    """Return how people are found in the classes of a release: by what cells allow, or by what is nearest."""
    if set(changed(shown)) & set(names):
        return NearestRecords(shown, names, grouped, columns)
    return matching(shown, names, grouped, columns)


class NearestRecords(NearestClasses):
    """The classes of a release, of which the nearest ones may be a person's."""

    def __init__(
        self, shown: ReleasedCodes, names: Sequence[str], grouped: Classes, columns: Columns, only: Ints | None = None
    ) -> None:
        super().__init__(shown, names, grouped, columns, only)
        self.class_of_row = grouped.of_row
        self.last: tuple[Columns, Ints, list[tuple[slice, NDArray[np.uint8]]]] | None = None
        for name, cells in self.cells.items():
            if cells.spans is not None:
                self.spread[name] = _spread(columns[name])

    def weigh_people(self, columns: Columns, rows: Ints, weight: Floats) -> Floats:
        """Return, for each of some people, the weight of all classes that are nearest; 0 if none fits."""
        found = np.zeros(len(rows), dtype=np.float64)
        for part, nearest in self.tied(columns, rows):
            found[part] = nearest @ weight
        return found

    def weigh_classes(self, columns: Columns, rows: Ints, weight: Floats) -> Floats:
        """Add up, for each class, the weights of the people of whose nearest classes it is one."""
        found = np.zeros(self.count, dtype=np.float64)
        for part, nearest in self.tied(columns, rows):
            found += weight[part] @ nearest
        return found

    def may_be_right(self, columns: Columns, rows: Ints, witness: Witness) -> Floats:
        """Return 1 for each of some people of whom one of the nearest records may be their own, and else 0."""
        several = int(max(witness.released.max(initial=0), witness.data.max(initial=0))) + 1
        pairs = np.unique(self.class_of_row.astype(np.int64) * several + witness.released)
        found = np.zeros(len(rows), dtype=np.float64)
        for part, nearest in self.tied(columns, rows):
            person, group = np.nonzero(nearest)
            key = group * several + witness.data[rows[part]][person]
            place = np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)
            there = pairs[place] == key if len(pairs) else np.zeros(len(key), dtype=np.bool_)
            found[part] = np.bincount(person[there], minlength=nearest.shape[0]) > 0
        return found

    def guess(self, columns: Columns, rows: Ints, histogram: Histogram, truth: Ints) -> Floats:
        """Judge the most frequent value of the nearest classes; of equally frequent ones, each is taken equally often.

        The second figure, without the person's own record, is not known: nobody knows which one that is.
        """
        result = np.full((len(rows), 2), -1.0)
        size = max(histogram.size, 1)
        if self.count * size > DENSE:
            return super().guess(columns, rows, histogram, truth)
        counts = np.zeros((self.count, size))
        owner = np.repeat(np.arange(self.count), np.diff(histogram.begin))
        counts[owner, histogram.values] = histogram.counts
        for part, nearest in self.tied(columns, rows):
            votes = nearest @ counts
            most = votes.max(axis=1)
            best = votes >= most[:, None] * (1 - 1e-12)
            right = best[np.arange(len(best)), truth[part]] / best.sum(axis=1)
            result[part] = np.where(most > 0, right, -1.0)[:, None]
        return result

    def nearest(self, columns: Columns, rows: Ints) -> Ints:
        """Return one class that is nearest to each of some people, the first of several; -1 if none fits."""
        found = np.empty(len(rows), dtype=np.int64)
        for part, nearest in self.tied(columns, rows):
            found[part] = np.where(nearest.any(axis=1), nearest.argmax(axis=1), -1)
        return found

    def tied(self, columns: Columns, rows: Ints) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
        """Yield some people after the other, and which classes are nearest to each; remember the last answer."""
        if self.last is None or self.last[0] is not columns or self.last[1] is not rows:
            found = [(part, np.packbits(nearest, axis=1)) for part, nearest in self._tied(columns, rows)]
            self.last = columns, rows, found
        for part, bits in self.last[2]:
            yield part, np.unpackbits(bits, axis=1, count=self.count).view(np.bool_)

    def _tied(self, columns: Columns, rows: Ints) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
        block = max(PAIRS // max(self.count, 1), 1)
        for at in range(0, len(rows), block):
            part = slice(at, min(at + block, len(rows)))
            far = np.zeros((part.stop - part.start, self.count))
            for name, cells in self.cells.items():
                column = columns[name]
                assert isinstance(column, Column)
                self._add(far, name, cells, column, column.codes[rows[part]].astype(np.int64))
            least = far.min(axis=1, initial=np.inf)
            yield part, (far <= least[:, None] + CLOSE) & np.isfinite(far)

    def _add(self, far: Floats, name: str, cells: Cells, column: Column, codes: Ints) -> None:
        """Add what people and classes are apart in one column; infinite where a cell excludes a person."""
        if cells.spans is None:
            super()._add(far, name, cells, column, codes)
            return
        places = places_of(column)
        assert places is not None
        low, high = cells.spans[:, 0], cells.spans[:, 1]
        codes, own = np.unique(codes, return_inverse=True)
        empty, anything = np.isnan(low), np.isneginf(low) & np.isposinf(high)
        missing = codes == column.missing_code
        known = np.append(places, 0.0)[codes][:, None]
        apart: Floats = np.maximum(np.maximum(low[None, :] - known, known - high[None, :]), 0.0) / self.spread[name]
        apart = apart**2
        # missing cells stay where they are, whatever is drawn
        apart[:, empty] = np.inf
        apart[missing] = np.where(empty | anything, 0.0, np.inf)
        far += apart[:, cells.of_row[self.rows]][own]


def _spread(column: object) -> float:
    """Return the standard deviation of a column in the data."""
    places = places_of(column) if isinstance(column, Column) else None
    if places is None or not isinstance(column, Column):
        return 1.0
    there = column.codes[column.codes != column.missing_code]
    return float(places[there].std()) or 1.0 if len(there) else 1.0
