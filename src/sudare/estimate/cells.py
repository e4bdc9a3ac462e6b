"""Columns that stand as they were, divided into what an analyst counts by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.errors import DataError, Problem
from sudare.estimate.questions import By, Question, Range
from sudare.release import plain_type

Ints = NDArray[np.int64]
MOST_CELLS = 10_000_000


@dataclass(frozen=True, eq=False)
class Parts:
    """What a column is divided into: the part of each record, and what each is called (None: the value is missing)."""

    of_record: Ints
    labels: list[Any]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that records fall into: the cell of each record (-1: in none), and what each is called, by column."""

    of_record: Ints
    labels: list[dict[str, Any]]


def parted(name: str, cells: pa.ChunkedArray, by: By) -> Parts:
    """Divide a column into its values, or into bands."""
    if by.width is not None:
        return _banded(name, cells, by.width)
    if by.unit is not None:
        return _by_unit(name, cells, by)
    plain = _typed(name, cells)
    coded = plain.combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    order = pc.array_sort_indices(coded.dictionary).to_numpy()  # nulls last
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    labels = [_plain(coded.dictionary[int(index)].as_py()) for index in order]
    return Parts(place[coded.indices.to_numpy()], labels)


def _typed(name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text that says numbers or dates as such, and any other as it is."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        kind = plain_type(name, cells)
        return cells if kind == cells.type else cells.cast(kind)
    return cells


def numbers_of(name: str, cells: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a column as numbers, not-a-number where a value is missing; raise if it is not one of numbers."""
    plain = _typed(name, cells)
    kind = plain.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        what = f"column '{name}' does not hold numbers, so that it has no bands or ranges."
        raise DataError(Problem("by", what, "count by its values, or by year, month or day if it holds dates."))
    return np.asarray(plain.cast(pa.float64(), safe=False).combine_chunks().to_numpy(zero_copy_only=False))


def band_label(low: float, width: float, whole: bool) -> str:
    """Return what a band is called: with its last whole number, or half open where numbers are not whole."""
    if whole and width == int(width):
        last = int(low + width) - 1
        return f"{int(low)}" if last == int(low) else f"[{int(low)}, {last}]"
    return f"[{_short(low)}, {_short(low + width)})"


def _short(number: float) -> str:
    return f"{number:.12g}"


def _banded(name: str, cells: pa.ChunkedArray, width: float) -> Parts:
    numbers = numbers_of(name, cells)
    missing = np.isnan(numbers)
    band = np.floor(np.where(missing, 0.0, numbers) / width)
    if np.abs(band).max(initial=0.0) > 2**53:
        raise DataError(Problem("by", f"bands of {_short(width)} are too narrow for column '{name}'."))
    whole = bool(np.all(numbers[~missing] == np.floor(numbers[~missing])))
    found, of_record = np.unique(band[~missing], return_inverse=True)
    parts = np.full(len(numbers), len(found), dtype=np.int64)
    parts[~missing] = of_record
    labels: list[Any] = [band_label(each * width, width, whole) for each in found]
    return Parts(parts, [*labels, None] if missing.any() else labels)


def _by_unit(name: str, cells: pa.ChunkedArray, by: By) -> Parts:
    plain = _typed(name, cells)
    if not (pa.types.is_date(plain.type) or pa.types.is_timestamp(plain.type)):
        raise DataError(Problem("by", f"column '{name}' does not hold dates, so that it has no {by.unit}."))
    length = {"year": 4, "month": 7, "day": 10}[str(by.unit)]
    texts = pc.utf8_slice_codeunits(plain.cast(pa.date32()).cast(pa.string()), 0, length)
    return parted(name, pc.cast(texts, pa.string()).dictionary_encode().cast(pa.large_string()), By(name))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value == math.floor(value) and abs(value) < 2**53:
        return int(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def allowed(table: pa.Table, question: Question) -> NDArray[np.bool_]:
    """Return which records the conditions allow."""
    keep = np.ones(table.num_rows, dtype=np.bool_)
    for name, wanted in question.where.items():
        cells = table.column(name)
        if isinstance(wanted, Range):
            keep &= _within(name, cells, wanted)
            continue
        texts = _typed(name, cells).cast(pa.string())
        keep &= pc.is_in(texts, pa.array(wanted, pa.string())).combine_chunks().to_numpy(zero_copy_only=False)
    return keep


def _within(name: str, cells: pa.ChunkedArray, wanted: Range) -> NDArray[np.bool_]:
    plain = _typed(name, cells)
    if pa.types.is_date(plain.type) or pa.types.is_timestamp(plain.type):
        days = plain.cast(pa.date32()).cast(pa.string()).combine_chunks()
        keep = pc.is_valid(days)
        for end, test in ((wanted.low, pc.greater_equal), (wanted.high, pc.less_equal)):
            if end is not None:
                keep = pc.and_(keep, pc.fill_null(test(days, str(end)), False))
        return np.asarray(keep.to_numpy(zero_copy_only=False))
    numbers = numbers_of(name, cells)
    low, high = ends_of(name, wanted)
    return np.asarray((numbers >= low) & (numbers <= high))


def ends_of(name: str, wanted: Range) -> tuple[float, float]:
    """Return the ends of a range as numbers."""
    try:
        low = -math.inf if wanted.low is None else float(wanted.low)
        high = math.inf if wanted.high is None else float(wanted.high)
    except (TypeError, ValueError):
        raise DataError(Problem("where", f"the range of column '{name}' does not have numbers for its ends.")) from None
    return low, high


def cells_of(table: pa.Table, question: Question) -> Cells:
    """Return the cells that a question asks about, those that hold records, in the order of their values."""
    keep = allowed(table, question)
    if not keep.any():
        raise DataError(Problem("where", "no record of this release is in the cells that were asked for."))
    key = np.zeros(table.num_rows, dtype=np.int64)
    parts = [parted(each.column, table.column(each.column), each) for each in question.by]
    room = math.prod(max(len(part.labels), 1) for part in parts)
    if room >= 2**62:
        raise DataError(Problem("by", "there are too many cells.", "count by fewer columns, or in bands."))
    for part in parts:
        key = key * max(len(part.labels), 1) + part.of_record
    found, numbers = np.unique(key[keep], return_inverse=True)
    if len(found) > MOST_CELLS:
        raise DataError(Problem("by", f"there are {len(found)} cells.", "count by fewer columns, or in bands."))
    of_record = np.full(table.num_rows, -1, dtype=np.int64)
    of_record[keep] = numbers
    return Cells(of_record, labelled(found, question, [part.labels for part in parts]))


def labelled(found: Ints, question: Question, labels: list[list[Any]]) -> list[dict[str, Any]]:
    """Return what cells are called, from their numbers: the last column counts fastest."""
    rest, columns = found.copy(), []
    for own in reversed(labels):
        columns.append([own[int(index)] for index in rest % max(len(own), 1)])
        rest //= max(len(own), 1)
    names = [each.column for each in question.by]
    if not names:
        return [{} for _ in found]
    return [dict(zip(names, line, strict=True)) for line in zip(*reversed(columns), strict=True)]
