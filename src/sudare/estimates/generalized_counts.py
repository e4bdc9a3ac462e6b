"""Counts from generalized columns: a record counts in proportion in every cell that its released cell overlaps.

An interval of whole numbers counts for each of them alike (72 to 77 counts 1/6 for 73), any other interval by length, a
month or year for each of its days, a set for each of its members, and a node of a hierarchy for each leaf below it.
``*`` counts for all values: from the smallest to the largest in a column of intervals, otherwise for each value that
the column shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.estimates.axes import Axis, Bins, Wanted, axis_of, ranges
from sudare.estimates.partition import (
    NEAR,
    Coded,
    coded,
    labelled,
    labels_of,
    nobody,
    not_days,
    not_numbers,
    numbered,
    parted,
    too_many,
    within,
)
from sudare.estimates.question import By, Question, Range
from sudare.releases import Anything, Choice, Interval
from sudare.releases.cell_reader import HalfOpen, ReadCell, label_of, read_cells

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Trees = Mapping[str, Mapping[str, Sequence[str]]]
"""For columns with a hierarchy, the leaves below each label."""

LARGEST = 50_000_000
"""Pairs of a class and a cell, at most."""
LONGEST = 5_000_000
"""Pairs of a released cell of one column and what it counts for, at most."""


@dataclass(frozen=True, eq=False)
class Spread:
    """How the records of one column spread: record r has kind ``kind[r]``, and kind i counts ``share[j]`` for part
    ``part[j]``, for each j from ``start[i]`` to ``start[i + 1]``.
    """

    kind: Ints
    start: Ints
    part: Ints
    share: Floats
    labels: list[Any]


@dataclass(frozen=True, eq=False)
class Shares:
    """How classes of records spread over cells: class ``of[j]`` counts ``share[j]`` for cell ``cell[j]``.

    ``kind`` is the class of each record.
    """

    kind: Ints
    of: Ints
    cell: Ints
    share: Floats
    labels: list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Counted:
    """What cells hold: records, and of each value the count, its variance, and what it is at least and at most."""

    records: Floats
    counts: Floats
    variance: Floats
    least: Floats
    most: Floats


def shares_of(table: pa.Table, question: Question, generalized: Sequence[str], trees: Trees) -> Shares:
    """Spread the records of a release over the cells that a question asks about."""
    asked: dict[str, By | None] = {each.column: each for each in question.by}
    asked |= {name: None for name in question.where if name not in asked}
    spreads = {}
    for name, by in asked.items():
        wanted = question.where.get(name)
        if name in generalized:
            spreads[name] = _reaching(name, table.column(name), by, wanted, trees.get(name, {}))
        else:
            spreads[name] = _as_it_is(coded(name, table.column(name)), by, wanted)
    if not spreads:
        none = np.zeros(1, dtype=np.int64)
        return Shares(np.zeros(table.num_rows, dtype=np.int64), none, none, np.ones(1), [{}])
    room = math.prod(max(len(spread.labels), 1) for spread in spreads.values())
    if room >= 2**62:
        raise too_many()
    kind, first = _combined(list(spreads.values()), table.num_rows)
    of, key, share = np.arange(len(first)), np.zeros(len(first), dtype=np.int64), np.ones(len(first))
    for spread in spreads.values():
        own = spread.kind[first[of]]
        length = np.diff(spread.start)[own]
        if int(length.sum()) > LARGEST:
            raise DataError(
                Problem(
                    "by",
                    "released cells overlap too many cells of the question.",
                    "count by fewer columns, or in bands.",
                )
            )
        at = _runs(spread.start[own], length)
        of, key, share = np.repeat(of, length), np.repeat(key, length), np.repeat(share, length)
        key = key * max(len(spread.labels), 1) + spread.part[at]
        share = share * spread.share[at]
    if not len(of):
        raise nobody()
    found, cell = numbered(key, room)
    labels = labelled(found, question, {name: spread.labels for name, spread in spreads.items()})
    return Shares(kind, of, cell, share, labels)


def _runs(start: Ints, length: Ints) -> Ints:
    """Return the places of runs, one run after the other."""
    return np.asarray(np.repeat(start - np.cumsum(length) + length, length) + np.arange(int(length.sum())))


def _combined(spreads: list[Spread], rows: int) -> tuple[Ints, Ints]:
    """Number the combinations of kinds that occur; return that of each record, and one record of each."""
    key, room = np.zeros(rows, dtype=np.int64), 1
    for spread in spreads:
        kinds = len(spread.start)
        if room > 2**62 // kinds:
            found, key = np.unique(key, return_inverse=True)
            room = len(found)
        key, room = key * kinds + spread.kind, room * kinds
    found, numbers = numbered(key, room)
    first = np.zeros(len(found), dtype=np.int64)
    first[numbers] = np.arange(rows)
    return numbers, first


def _as_it_is(column: Coded, by: By | None, wanted: Wanted) -> Spread:
    """Return the spread of an unchanged column: each value counts for itself, or not at all."""
    parts = parted(column, by) if by is not None else None
    part = np.zeros(len(column.values), dtype=np.int64)
    if parts is not None:
        part[column.codes] = parts.of_record
    keep = np.ones(len(part), dtype=np.bool_) if wanted is None else within(column, wanted)
    start = np.concatenate(([0], np.cumsum(keep)))
    return Spread(column.codes, start, part[keep], np.ones(int(keep.sum())), [""] if parts is None else parts.labels)


def _reaching(
    name: str, cells: pa.ChunkedArray, by: By | None, wanted: Wanted, leaves: Mapping[str, Sequence[str]]
) -> Spread:
    """Return the spread of a generalized column."""
    if pa.types.is_nested(cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type):
        raise DataError(Problem("by", f"column '{name}' holds sets of items; counts cannot be grouped by it."))
    column = read_cells(cells).in_order()
    told = [_leaves_in(cell, leaves) for cell in column.cells]
    bands = by is not None and (by.width is not None or by.unit is not None)
    axis = axis_of(told, by, wanted)
    nothing = all(cell is None or isinstance(cell, Anything) for cell in told)
    if nothing and (bands or isinstance(wanted, Range)):
        what = f"column '{name}' shows nothing in this release: all its cells are '*' or missing."
        raise DataError(Problem("by" if bands else "where", what, "count by other columns."))
    if axis is None and bands:
        assert by is not None
        raise not_days(name, by.unit) if by.unit is not None else not_numbers(name, "by")
    if axis is None and isinstance(wanted, Range):
        raise not_numbers(name, "where")
    if axis is not None and (bands or by is None or axis.whole):
        kind, part, share, labels = _by_place(name, axis, told, by, wanted)
    elif axis is not None and any(isinstance(cell, Interval | HalfOpen) for cell in told):
        what = f"column '{name}' shows intervals of fractional numbers."
        raise DataError(Problem("by", what, f"give a band width: {name}:10."))
    else:
        kind, part, share, labels = _by_value(told, leaves, wanted)
    if by is None:
        part, labels = np.zeros_like(part), [""]
    # each pair once: what a cell counts for a part in several ways is one probability
    pairs, own = np.unique(kind * max(len(labels), 1) + part, return_inverse=True)
    total: Floats = np.bincount(own, share, len(pairs)).astype(np.float64)
    start = np.searchsorted(pairs // max(len(labels), 1), np.arange(len(told) + 1))
    return Spread(column.of_row, start, pairs % max(len(labels), 1), np.minimum(total, 1.0), labels)


def _leaves_in(cell: ReadCell, leaves: Mapping[str, Sequence[str]]) -> ReadCell:
    """Return a released cell with a label of a hierarchy, or ``*``, as a choice of the leaves below it."""
    if isinstance(cell, Anything) and leaves:
        return Choice(tuple(dict.fromkeys(leaf for below in leaves.values() for leaf in below)))
    below = leaves.get(label_of(cell) or "", ())
    return Choice(tuple(below)) if len(below) > 1 else cell


# -- numbers and days -------------------------------------------------------------------------------------------------


def _by_place(
    name: str, axis: Axis, told: Sequence[Any], by: By | None, wanted: Wanted
) -> tuple[Ints, Ints, Floats, list[Any]]:
    """Return for which parts of an axis each cell counts, and how much: kinds, parts, shares, and the parts' names."""
    kind, begin, end, weight, missing = _pieces(axis, told)
    bins = Bins(name, axis, by)
    kinds: list[Ints] = []
    found, shares = [], []
    for low, high in ranges(name, axis, wanted):
        first, last = np.maximum(begin, low), np.minimum(end, high)
        if axis.whole:
            first, last = np.ceil(first), np.floor(last)
        inside = np.flatnonzero((first <= last) & ((first < last) | (begin == end) | axis.whole))
        first, last = first[inside], last[inside]
        bottom, top = bins.of(first), bins.of(last)
        length = (top - bottom + 1).astype(np.int64)
        if int(length.sum()) + sum(len(each) for each in kinds) > LONGEST:
            what = f"the cells of column '{name}' cover too many values."
            raise DataError(Problem("by", what, f"give a {'unit' if axis.days else 'width'} that is larger."))
        own = np.repeat(inside, length)
        bin_ = _runs(bottom, length)
        left = np.maximum(np.repeat(first, length), bins.begin(bin_))
        right = np.minimum(np.repeat(last, length), bins.end(bin_))
        if axis.whole:
            part = (right - left + 1) / (end[own] - begin[own] + 1)
        else:
            long = np.where(end[own] > begin[own], end[own] - begin[own], 1.0)
            part = np.where(end[own] > begin[own], (right - left) / long, 1.0)
        some = part > NEAR**2
        kinds.append(kind[own][some])
        found.append(bin_[some])
        shares.append((weight[own] * part)[some])
    all_bins = np.concatenate([np.zeros(0, dtype=np.int64), *found])
    names, number = np.unique(all_bins, return_inverse=True)
    labels = bins.labels(names)
    every_kind = np.concatenate([np.zeros(0, dtype=np.int64), *kinds])
    every_share = np.concatenate([np.zeros(0), *shares])
    if missing and (wanted is None or (isinstance(wanted, tuple) and None in wanted)):
        labels = [*labels, None]
        every_kind = np.append(every_kind, list(missing))
        number = np.append(number, np.full(len(missing), len(names)))
        every_share = np.append(every_share, list(missing.values()))
    return every_kind, number, every_share, labels


def _pieces(axis: Axis, told: Sequence[Any]) -> tuple[Ints, Floats, Floats, Floats, dict[int, float]]:
    """Return the intervals that cells consist of, with their weights, and the weight of missing values, by kind."""
    lines: list[tuple[int, float, float, float]] = []
    missing: dict[int, float] = {}
    intervals = any(isinstance(cell, Interval | HalfOpen) for cell in told)
    seen = _seen(told)
    for kind, cell in enumerate(told):
        if isinstance(cell, Interval | HalfOpen):
            lines.append((kind, axis.span(cell.low)[0], axis.span(cell.high)[1], 1.0))
        elif isinstance(cell, Anything) and intervals:
            lines.append((kind, axis.low, axis.high, 1.0))
        else:
            members = _members(cell, seen)
            for each in members:
                if each is None:
                    missing[kind] = missing.get(kind, 0.0) + 1 / len(members)
                else:
                    lines.append((kind, *axis.span(each), 1 / len(members)))
    table = np.array(lines, dtype=np.float64).reshape(-1, 4)
    return table[:, 0].astype(np.int64), table[:, 1], table[:, 2], table[:, 3], missing


def _seen(told: Sequence[Any]) -> tuple[str | None, ...]:
    """Return every value that some cell shows, which is what ``*`` stands for."""
    found: dict[str | None, None] = {}
    for cell in told:
        if isinstance(cell, Choice):
            found.update(dict.fromkeys(cell.members))
        elif not isinstance(cell, Anything | Interval | HalfOpen):
            found[cell] = None
    return tuple(found)


def _members(cell: Any, seen: tuple[str | None, ...]) -> tuple[str | None, ...]:
    if isinstance(cell, Anything):
        return seen
    return cell.members if isinstance(cell, Choice) else (cell,)


# -- categories ---------------------------------------------------------------------------------------------------


def _by_value(
    told: Sequence[Any], leaves: Mapping[str, Sequence[str]], wanted: Wanted
) -> tuple[Ints, Ints, Floats, list[Any]]:
    """Return for which values each cell counts, and how much: kinds, parts, shares, and the values."""
    seen = _seen(told)
    seen = seen if any(each is not None for each in seen) else ("*",)  # a column that shows nothing is not missing
    asked = (
        None if not isinstance(wanted, tuple) else {leaf for each in wanted for leaf in leaves.get(str(each), (each,))}
    )
    parts: dict[str | None, int] = {}
    kinds: list[int] = []
    found, shares = [], []
    for kind, cell in enumerate(told):
        shown = cell.text if isinstance(cell, Interval | HalfOpen) else cell
        members = _members(shown, seen)
        if len(kinds) + len(members) > LONGEST:
            raise DataError(Problem("by", "sets have too many members.", "count by fewer columns."))
        for each in members:
            if asked is None or each in asked:
                kinds.append(kind)
                found.append(parts.setdefault(each, len(parts)))
                shares.append(1 / len(members))
    labels = sorted(parts, key=lambda label: (label is None, str(label)))
    place = np.zeros(len(parts), dtype=np.int64)
    place[[parts[label] for label in labels]] = np.arange(len(parts))
    chosen = place[np.array(found, dtype=np.int64)]
    return np.array(kinds, dtype=np.int64), chosen, np.array(shares, dtype=np.float64), list(labels)


def counted(shares: Shares, of: Ints, values: int) -> Counted:
    """Return what the cells hold. A record is in a cell with the probability of its share; that is all the chance."""
    pairs, n = np.unique(shares.kind * values + of, return_counts=True)
    begin = np.searchsorted(pairs // values, np.arange(int(shares.of.max(initial=0)) + 2))
    length = np.diff(begin)[shares.of]
    at = _runs(begin[shares.of], length)
    share, records = np.repeat(shares.share, length), n[at].astype(np.float64)
    place = np.repeat(shares.cell, length) * values + pairs[at] % values
    shape = (len(shares.labels), values)
    # a product of shares that are 1 but for rounding is 1
    share = np.where(share > 1 - NEAR, 1.0, share)

    def total(weights: Floats) -> Floats:
        summed: Floats = np.bincount(place, weights, math.prod(shape)).astype(np.float64).reshape(shape)
        return summed

    counts = total(records * share)
    certain = total(records * (share == 1))
    return Counted(counts.sum(axis=1), counts, total(records * share * (1 - share)), certain, total(records))


def plain_values(table: pa.Table, name: str) -> tuple[Ints, list[Any]]:
    """Return an unchanged column as numbers of its values."""
    column = coded(name, table.column(name), "of")
    return column.codes, labels_of(column)
