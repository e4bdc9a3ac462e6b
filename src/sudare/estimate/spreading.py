"""Generalized columns: a record counts in every cell that its released cell reaches into, in proportion.

An interval of whole numbers counts for each of them alike (72 to 77 counts 1/6 for 73), any other interval by length, a
set for each of its members, a node of a hierarchy for each leaf below it, and ``*`` for everything there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.errors import DataError, Problem
from sudare.estimate.cells import band_label, ends_of, parted
from sudare.estimate.questions import By, Question, Range
from sudare.release import Anything, Choice, Interval, parse_cell

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Trees = Mapping[str, Mapping[str, Sequence[str]]]
"""For columns with a hierarchy, the leaves below each label."""

LONGEST = 20_000
"""Whole numbers, or days, that an interval may count for one by one."""
LARGEST = 50_000_000
"""Pairs of a class and a cell, at most."""


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
    """How classes of records spread over cells: class ``of[j]`` counts ``share[j]`` for cell ``cell[j]``."""

    kind: Ints
    of: Ints
    cell: Ints
    share: Floats
    labels: list[dict[str, Any]]


def shares_of(table: pa.Table, question: Question, generalized: Sequence[str], trees: Trees) -> Shares:
    """Spread the records of a release over the cells that a question asks about."""
    asked: dict[str, By | None] = {each.column: each for each in question.by}
    asked |= {name: None for name in question.where if name not in asked}
    spreads = [
        _spread(name, table.column(name), by, question.where.get(name), name in generalized, trees.get(name, {}))
        for name, by in asked.items()
    ]
    if not spreads:
        none = np.zeros(1, dtype=np.int64)
        return Shares(np.zeros(table.num_rows, dtype=np.int64), none, none, np.ones(1), [{}])
    kind, first = _combined(spreads, table.num_rows)
    of, key, share = np.arange(len(first)), np.zeros(len(first), dtype=np.int64), np.ones(len(first))
    for spread in spreads:
        own = spread.kind[first[of]]
        length = np.diff(spread.start)[own]
        if int(length.sum()) > LARGEST:
            raise DataError(Problem("by", "cells reach into too many others.", "count by fewer columns, or in bands."))
        at = np.repeat(spread.start[own] - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        of, key, share = np.repeat(of, length), np.repeat(key, length), np.repeat(share, length)
        key = key * max(len(spread.labels), 1) + spread.part[at]
        share = share * spread.share[at]
    if not len(of):
        raise DataError(Problem("where", "no record of this release is in the cells that were asked for."))
    found, cell = np.unique(key, return_inverse=True)
    names = list(asked)
    labels = []
    for number in found.tolist():
        line = {}
        for name, spread in zip(reversed(names), reversed(spreads), strict=True):
            number, place = divmod(number, max(len(spread.labels), 1))
            line[name] = spread.labels[place]
        labels.append({each.column: line[each.column] for each in question.by})
    return Shares(kind, of, cell, share, labels)


def _combined(spreads: list[Spread], rows: int) -> tuple[Ints, Ints]:
    """Number the combinations of kinds that occur; return that of each record, and one record of each."""
    key = np.zeros(rows, dtype=np.int64)
    for spread in spreads:
        kinds = len(spread.start)
        if int(key.max(initial=0)) > 2**62 // kinds:
            key = np.unique(key, return_inverse=True)[1]
        key = key * kinds + spread.kind
    _, first, numbers = np.unique(key, return_index=True, return_inverse=True)
    return numbers, first


def _spread(
    name: str,
    cells: pa.ChunkedArray,
    by: By | None,
    wanted: Range | tuple[str | None, ...] | None,
    generalized: bool,
    leaves: Mapping[str, Sequence[str]],
) -> Spread:
    texts = cells.cast(pa.string()) if not pa.types.is_string(cells.type) else cells
    coded = texts.combine_chunks().dictionary_encode(null_encoding="encode")
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    kind = coded.indices.to_numpy().astype(np.int64)
    words = coded.dictionary.to_pylist()
    told = [parse_cell(word) for word in words] if generalized else list(words)
    scale = _Scale.of(told)
    spread: Callable[[Any], Mapping[Any, float]]
    if scale is not None and not leaves and (by is None or by.width is not None or by.unit is not None or scale.whole):
        spread = _by_number(name, told, scale, by, wanted)
    elif isinstance(wanted, Range) or (by is not None and (by.width is not None or by.unit is not None)):
        raise DataError(Problem("by", f"column '{name}' does not hold numbers or dates, so that it has no bands."))
    else:
        spread = _by_value(told, leaves, wanted)
    entries = [spread(cell) for cell in told]
    labels = sorted({part for each in entries for part in each}, key=_order)
    if by is None:
        entries, labels = [{"": sum(each.values())} if each else {} for each in entries], [""]
    place = {label: number for number, label in enumerate(labels)}
    start = np.cumsum([0] + [len(each) for each in entries])
    part = np.array([place[label] for each in entries for label in each], dtype=np.int64)
    share = np.array([value for each in entries for value in each.values()], dtype=np.float64)
    return Spread(kind, start, part, share, [label.shown if isinstance(label, _Bin) else label for label in labels])


@dataclass(frozen=True)
class _Bin:
    """A part of an axis; it is called ``shown``, and stands where it begins."""

    begin: float
    shown: Any


def _order(label: Any) -> tuple[int, Any]:
    if label is None:
        return (2, 0)
    return (0, label.begin) if isinstance(label, _Bin) else (1, str(label))


@dataclass(frozen=True)
class _Scale:
    """An axis of numbers or of days: how text becomes a place on it, and where it begins and ends."""

    place: Callable[[str], float]
    low: float
    high: float
    whole: bool
    days: bool

    @classmethod
    def of(cls, told: Sequence[Any]) -> _Scale | None:
        """Return the axis that all cells lie on; None if they are no numbers and no days."""
        ends: list[str] = []
        for cell in told:
            if isinstance(cell, Choice):
                ends += [each for each in cell.members if each is not None]
            elif isinstance(cell, Interval):
                ends += [cell.low, cell.high]
            elif isinstance(cell, str):
                ends.append(cell)
        for place, days in ((float, False), (_day, True)):
            try:
                found = [place(end) for end in ends]
            except ValueError:
                continue
            if found and all(math.isfinite(each) for each in found):
                whole = days or all(each == math.floor(each) for each in found)
                return cls(place, min(found), max(found), whole, days)
        return None

    def ends(self, cell: Any) -> tuple[float, float]:
        """Return where a cell begins and ends."""
        if isinstance(cell, Anything):
            return self.low, self.high
        if isinstance(cell, Interval):
            return self.place(cell.low), self.place(cell.high)
        return self.place(cell), self.place(cell)


def _day(text: str) -> float:
    return float(date.fromisoformat(text[:10]).toordinal())


def _by_number(
    name: str, told: Sequence[Any], scale: _Scale, by: By | None, wanted: Any
) -> Callable[[Any], Mapping[Any, float]]:
    """Return how a cell of numbers or days spreads."""
    low, high = -math.inf, math.inf
    if isinstance(wanted, Range):
        if scale.days:
            low = -math.inf if wanted.low is None else _day(str(wanted.low))
            high = math.inf if wanted.high is None else _day(str(wanted.high))
        else:
            low, high = ends_of(name, wanted)
    values = None
    if isinstance(wanted, tuple):
        values = {None if each is None else scale.place(each) for each in wanted}
    width = None if by is None else by.width
    if width is None and not scale.whole and by is not None:
        raise DataError(Problem("by", f"column '{name}' has intervals of real numbers.", f"give a width: {name}:10."))

    def spread(cell: Any) -> Mapping[Any, float]:
        if cell is None:
            return {None: 1.0} if (wanted is None or (values is not None and None in values)) else {}
        if isinstance(cell, Choice):
            parts: dict[Any, float] = {}
            for each in cell.members:
                for label, share in spread(each).items():
                    parts[label] = parts.get(label, 0.0) + share / len(cell.members)
            return parts
        begin, end = scale.ends(cell)
        if scale.whole and (by is None or width is None or width == int(width)):
            return _of_whole(name, begin, end, low, high, values, by, scale.days)
        return _of_real(begin, end, low, high, values, width)

    return spread


def _of_whole(
    name: str, begin: float, end: float, low: float, high: float, values: Any, by: By | None, days: bool
) -> Mapping[Any, float]:
    total = int(end - begin) + 1
    first, last = max(int(begin), math.ceil(max(low, begin))), min(int(end), math.floor(min(high, end)))
    if last < first:
        return {}
    if values is not None:
        held = sum(1 for each in values if each is not None and first <= each <= last)
        numbers = np.array(sorted(each for each in values if each is not None and first <= each <= last))
        if by is None:
            return {"": held / total} if held else {}
    elif by is None:
        return {"": (last - first + 1) / total}
    elif by.width is not None:
        bands = range(math.floor(first / by.width), math.floor(last / by.width) + 1)
        return {
            _Bin(band * by.width, band_label(band * by.width, by.width, True)): (
                min(last, int((band + 1) * by.width) - 1) - max(first, int(band * by.width)) + 1
            )
            / total
            for band in bands
        }
    else:
        if last - first > LONGEST:
            raise DataError(Problem("by", f"intervals of column '{name}' are long.", f"give a width: {name}:10."))
        numbers = np.arange(first, last + 1)
    parts: dict[Any, float] = {}
    for number in numbers.tolist():
        label = _named(number, by, days)
        parts[label] = parts.get(label, 0.0) + 1 / total
    return parts


def _named(number: float, by: By | None, days: bool) -> _Bin:
    if days:
        length = {"year": 4, "month": 7}.get(str(by.unit) if by is not None else "", 10)
        text = date.fromordinal(int(number)).isoformat()[:length]
        return _Bin(float(date.fromisoformat(f"{text}-01-01"[:10]).toordinal()), text)
    if by is not None and by.width is not None:
        begin = math.floor(number / by.width) * by.width
        return _Bin(begin, band_label(begin, by.width, True))
    return _Bin(number, int(number))


def _of_real(
    begin: float, end: float, low: float, high: float, values: Any, width: float | None
) -> Mapping[Any, float]:
    if values is not None:
        inside = begin == end and begin in values
        return {_real_bin(begin, width): 1.0} if inside else {}
    if begin == end:
        return {_real_bin(begin, width): 1.0} if low <= begin <= high else {}
    first, last = max(begin, low), min(end, high)
    if last <= first:
        return {}
    if width is None:
        return {"": (last - first) / (end - begin)}
    edges = [first, *(band * width for band in range(math.floor(first / width) + 1, math.ceil(last / width))), last]
    return {_real_bin(left, width): (right - left) / (end - begin) for left, right in pairwise(edges)}


def _real_bin(number: float, width: float | None) -> Any:
    if width is None:
        return ""
    begin = math.floor(number / width) * width
    return _Bin(begin, band_label(begin, width, False))


def _by_value(
    told: Sequence[Any], leaves: Mapping[str, Sequence[str]], wanted: tuple[str | None, ...] | None
) -> Callable[[Any], Mapping[Any, float]]:
    """Return how a cell of categories spreads."""
    everything: dict[Any, None] = {}
    for cell in told:
        members = cell.members if isinstance(cell, Choice) else (cell,)
        for each in members:
            if not isinstance(each, Anything | Interval):
                everything.update(dict.fromkeys(leaves.get(str(each), (each,)) if each is not None else (None,)))
    whole = tuple(everything) or (None,)

    def spread(cell: Any) -> Mapping[Any, float]:
        if isinstance(cell, Anything):
            members: Sequence[Any] = whole
        elif isinstance(cell, Choice):
            members = cell.members
        elif isinstance(cell, Interval):
            members = (f"[{cell.low}, {cell.high}]",)
        else:
            members = leaves.get(cell, (cell,)) if cell is not None else (None,)
        parts: dict[Any, float] = {}
        for each in members:
            if wanted is None or each in wanted:
                parts[each] = parts.get(each, 0.0) + 1 / len(members)
        return parts

    return spread


def counted(shares: Shares, of: Ints, values: int) -> tuple[Floats, Floats, Floats]:
    """Return the records of each cell, the counts of each value in them, and their variances.

    A record is in a cell with the probability of its share; that is all the chance there is.
    """
    pairs, n = np.unique(shares.kind * values + of, return_counts=True)
    kinds = pairs // values
    begin = np.searchsorted(kinds, np.arange(int(shares.kind.max(initial=0)) + 2))
    length = np.diff(begin)[shares.of]
    at = np.repeat(begin[shares.of] - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
    share = np.repeat(shares.share, length)
    place = np.repeat(shares.cell, length) * values + pairs[at] % values
    size = len(shares.labels) * values
    shape = (len(shares.labels), values)
    counts: Floats = np.bincount(place, n[at] * share, size).astype(np.float64).reshape(shape)
    spread: Floats = np.bincount(place, n[at] * share * (1 - share), size).astype(np.float64).reshape(shape)
    return counts.sum(axis=1), counts, spread


def plain_values(table: pa.Table, name: str) -> tuple[Ints, list[Any]]:
    """Return a column that stands as it was, as numbers of its values."""
    parts = parted(name, table.column(name), By(name))
    return parts.of_record, parts.labels
