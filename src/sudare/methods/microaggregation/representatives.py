"""Representatives: what a group shows in place of the values of its records, and how much that keeps of a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.methods.microaggregation.coordinates import axis_of
from sudare.table import Column, Representatives

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Word = Literal["mean", "median", "mode", "medoid"]
DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class Groups:
    """Records by their groups: those of group ``g`` are ``rows[start[g]:start[g + 1]]``."""

    of_row: Ints
    rows: Ints
    start: Ints

    @classmethod
    def of(cls, of_row: Ints) -> Groups:
        """Return the groups, from the number of each record's."""
        rows = np.argsort(of_row, kind="stable")
        return cls(of_row, rows, np.searchsorted(of_row[rows], np.arange(int(of_row.max(initial=-1)) + 2)))

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.start) - 1

    @property
    def sizes(self) -> Ints:
        """The number of records of each group."""
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class Shown:
    """What the groups show of a column: the values, and their places on its axis (not-a-number where one is missing).

    ``places`` is None for a column that has no axis.
    """

    word: Word
    values: Representatives
    places: Reals | None


def word_of(column: Column, asked: Word) -> Word:
    """Return which representative a column has: only numbers, dates and times have means, and what has no order modes.

    A category with an order has a median where others have a mean.
    """
    if column.taxonomy is not None:
        return "medoid" if asked == "medoid" else "mode"
    if column.positions is None:
        return "median" if asked == "mean" else asked
    return asked


def medoids(points: Reals, groups: Groups) -> Ints:
    """Return the record of each group that is nearest to all others: the one nearest to the middle of the group.

    Of several, it is the first.
    """
    sizes = groups.sizes
    middles = np.stack([np.bincount(groups.of_row, each, groups.count) / sizes for each in points.T], axis=1)
    far = np.square(points - middles[groups.of_row]).sum(axis=1)
    order = np.lexsort((np.arange(len(far)), np.round(far, 12), groups.of_row))
    return np.asarray(order[groups.start[:-1]])


def represent(column: Column, groups: Groups, asked: Word, of_group: Ints | None) -> Shown:
    """Return what the groups show of a column; ``of_group`` are their medoids, where these are asked for.

    A group in which a cell is missing, and another one is not, shows nothing: a value would be invented for one record.
    """
    word, codes = word_of(column, asked), column.codes.astype(np.int64)
    places: Reals | None
    axis, lost = axis_of(column), _with_missing(column, groups)
    if word == "mean":
        assert axis is not None
        values, places = _typed_means(column, _means(np.append(axis, 0.0)[codes], groups))
    else:
        chosen = codes[of_group] if word == "medoid" and of_group is not None else _chosen(word, codes, groups)
        texts = pa.array(np.where(lost, -1, chosen), mask=lost)
        values = column.values.take(texts)
        if pa.types.is_floating(values.type):
            values = pa.array(values.to_numpy(zero_copy_only=False) + 0.0, values.type, mask=lost)  # no minus zero
        places = None if axis is None else np.append(axis, np.nan)[chosen]
    if lost.any():
        values = pa.array([None] * len(values), values.type) if lost.all() else _emptied(values, lost)
        places = None if places is None else np.where(lost, np.nan, places)
    return Shown(word, Representatives.of(values), places)


def _emptied(values: pa.Array, lost: NDArray[np.bool_]) -> pa.Array:
    return values.take(pa.array(np.arange(len(values)), mask=lost))


def _with_missing(column: Column, groups: Groups) -> NDArray[np.bool_]:
    lost = (column.codes == column.missing_code).astype(np.float64)
    return np.bincount(groups.of_row, lost, groups.count) > 0


def _means(cells: Reals, groups: Groups) -> Reals:
    """Return the mean of each group: never outside its values, and one value stays as it is."""
    ordered = cells[groups.rows]
    begin, sizes = groups.start[:-1], groups.sizes
    low, high = np.minimum.reduceat(ordered, begin), np.maximum.reduceat(ordered, begin)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.add.reduceat(ordered, begin) / sizes
        parts = np.add.reduceat(ordered / np.repeat(sizes, sizes), begin)  # sums beyond floats
    return np.asarray(np.clip(np.where(np.isfinite(found), found, parts), low, high) + 0.0)


def _typed_means(column: Column, means: Reals) -> tuple[pa.Array, Reals]:
    """Return means as they are released, and where these stand: dates to the day, times to the second."""
    kind = column.values.type
    if not pa.types.is_temporal(kind):
        return pa.array(means), means
    assert column.positions is not None
    whole = np.rint(means)
    if pa.types.is_date(kind):
        return pa.array(whole.astype(np.int32), pa.int32()).cast(pa.date32()), whole
    if pa.types.is_timestamp(kind):
        if not kind.tz and not np.any(column.positions % DAY):
            days = np.rint(means / DAY)
            return pa.array(days.astype(np.int32), pa.int32()).cast(pa.date32()), days * DAY
        return pa.array(whole.astype(np.int64), pa.int64()).cast(pa.timestamp("s", kind.tz)).cast(kind), whole
    if pa.types.is_time(kind):
        return pa.array(whole.astype(np.int32), pa.int32()).cast(pa.time32("s")).cast(kind), whole
    return pa.array(whole.astype(np.int64), pa.int64()).cast(pa.duration("s")).cast(kind), whole


def _chosen(word: Word, codes: Ints, groups: Groups) -> Ints:
    """Return the median or the mode of the codes of each group; of two in the middle the lower, of modes the lowest."""
    order = np.lexsort((codes, groups.of_row))
    begin = groups.start[:-1]
    if word == "median":
        return np.asarray(codes[order[begin + (groups.sizes - 1) // 2]])
    ordered, owner = codes[order], groups.of_row[order]
    first = np.flatnonzero(np.append(True, (np.diff(ordered) != 0) | (np.diff(owner) != 0)))
    often = np.diff(np.append(first, len(ordered)))
    best = np.lexsort((ordered[first], -often, owner[first]))
    starts = np.searchsorted(owner[first][best], np.arange(groups.count))
    return np.asarray(ordered[first][best[starts]])


@dataclass(frozen=True)
class Kept:
    """What groups keep of a column: the share of its squared distances that is lost, and its mean and variance."""

    lost: float
    mean: bool
    variance: float


def kept(column: Column, groups: Groups, shown: Shown) -> Kept | None:
    """Compare a column with what its groups show; None for one without an axis, or with one value."""
    axis = axis_of(column)
    if axis is None or shown.places is None:
        return None
    largest = float(np.abs(axis).max(initial=0.0)) or 1.0
    there = column.codes != column.missing_code
    before = (axis / largest)[column.codes[there]]
    after = (shown.places / largest)[groups.of_row[there]]
    middle = before.mean() if len(before) else 0.0
    total = float(np.square(before - middle).sum())
    if not total > len(before) * ROUNDING**2:
        return None
    empty = np.isnan(after)
    filled = np.where(empty, middle, after)  # an empty cell tells no more than the mean of the column
    published = after[~empty]
    mean = not empty.any() and bool(abs(published.mean() - middle) <= ROUNDING)
    variance = float(published.var() / before.var()) if len(published) else 0.0
    return Kept(float(np.square(before - filled).sum()) / total, mean, variance)


ROUNDING = 1e-12
"""Means that differ by less than this part of the largest number differ by rounding."""


def facts_of(columns: dict[str, Column], groups: Groups, shown: dict[str, Shown]) -> dict[str, Any]:
    """Return what the certificate tells about columns, and the loss of information in percent (100 SSE/SST)."""
    by_column: dict[str, dict[str, Any]] = {}
    lost = []
    for name, column in columns.items():
        by_column[name] = {"representative": shown[name].word}
        found = kept(column, groups, shown[name])
        if found is not None:
            lost.append(found.lost)
            by_column[name] |= {"mean_kept": found.mean, "variance_kept": _rounded(found.variance)}
    told: dict[str, Any] = {"aggregated": by_column}
    return told | {"information_loss": _rounded(100 * float(np.mean(lost)))} if lost else told


def _rounded(figure: float) -> float:
    return round(figure, 4) + 0.0
