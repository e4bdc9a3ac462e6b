"""Cells of a question: the values, bands or date units of unchanged columns.

A column is coded once; its type, bands and conditions are then found on its distinct values, of which there are few.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import EXACT
from sudare.estimates.question import By, Question, Range
from sudare.releases import plain_type
from sudare.releases.cell_reader import distinct
from sudare.releases.cell_values import EPOCH, number_in, period

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_CELLS = 10_000_000
ROOM = 1 << 24
"""Cells that there could be, up to which those that there are are found by a table rather than by sorting."""
NEAR = 1e-9
"""A number so little below the edge of a band, in widths, is on it: 0.3 / 0.1 is 2.9999999999999996."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as numbers of its distinct values, which are in order, a missing one last."""

    name: str
    codes: Ints
    values: pa.Array


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


def coded(name: str, cells: pa.ChunkedArray, where: str = "by") -> Coded:
    """Code a column; text that says numbers or dates is taken for these, and not-a-number for missing."""
    if not pa.types.is_dictionary(cells.type):
        _refuse_nested(name, cells.type, where)
        cells = pa.chunked_array([_plain_array(chunk) for chunk in cells.chunks] or [[]])
    codes, values = distinct(cells)
    values = _plain_array(values)
    if pa.types.is_large_string(values.type):
        told = values.drop_null()
        kind = plain_type(name, pa.chunked_array([told])) if len(told) else values.type
        values = values if kind == values.type else values.cast(kind)
    _refuse_nested(name, values.type, where)
    again, values = distinct(values)  # what was written in two ways is one value
    order = pc.array_sort_indices(values).to_numpy()  # nulls last
    place = np.zeros(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Coded(name, place[again[codes]], values.take(pa.array(order)))


def _plain_array(cells: pa.Array) -> pa.Array:
    kind = cells.type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return cells.cast(pa.large_string())
    if pa.types.is_floating(kind):
        wide = cells if not pa.types.is_float16(kind) else cells.cast(pa.float32())
        # not-a-number is a missing value, and minus zero is zero
        return pc.add(pc.if_else(pc.is_nan(wide), pa.scalar(None, wide.type), wide), pa.scalar(0, wide.type))
    return cells


def _refuse_nested(name: str, kind: pa.DataType, where: str) -> None:
    if pa.types.is_nested(kind):
        raise DataError(Problem(where, f"column '{name}' holds sets or structures, which cannot be counted."))


def labels_of(column: Coded) -> list[Any]:
    """Return the values of a column in the types that JSON has."""
    return [plain_value(value) for value in column.values.to_pylist()]


def plain_value(value: Any) -> Any:
    """Return a value in the types that JSON has; a whole number is one, however it was written."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value == math.floor(value) and abs(value) < EXACT else value
    if isinstance(value, datetime) and value.time() == time(0) and value.tzinfo is None:
        return str(value.date())  # midnights are days; some frames have no other way to say so
    return str(value)


def parted(column: Coded, by: By) -> Parts:
    """Divide a column into its values, or into bands."""
    if by.width is not None:
        return _banded(column, by.width)
    if by.unit is not None:
        return _by_unit(column, by)
    return Parts(column.codes, labels_of(column))


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_day(kind: pa.DataType) -> bool:
    """Return whether a column holds dates, or times on dates."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def numbers_of(column: Coded, where: str = "by") -> Floats:
    """Return the values of a column as numbers, not-a-number where one is missing; raise if they are none."""
    if not is_number(column.values.type):
        raise not_numbers(column.name, where)
    wide = column.values.cast(pa.float64(), safe=False)
    return np.asarray(wide.to_numpy(zero_copy_only=False), dtype=np.float64)


def not_numbers(name: str, where: str) -> DataError:
    """Return what to raise about a column that has no bands or ranges."""
    if where == "where":
        what, hint = "holds neither numbers nor dates, so it has no ranges.", f"list its values: {name}=A,B."
    else:
        what = "does not hold numbers, so it has no bands."
        hint = "count by its values, or by year, month or day if it holds dates."
    return DataError(Problem(where, f"column '{name}' {what}", hint))


def not_days(name: str, unit: Any) -> DataError:
    """Return what to raise about a column that has no years, months or days."""
    return DataError(Problem("by", f"column '{name}' does not hold dates, so it has no {unit}."))


def _days(values: pa.Array) -> NDArray[np.datetime64]:
    """Return dates as days; a time with a zone falls on the day that its own clock shows."""
    if pa.types.is_timestamp(values.type) and values.type.tz:
        values = pc.local_timestamp(values)
    return np.asarray(values.to_numpy(zero_copy_only=False)).astype("datetime64[D]")


def band_of(numbers: Floats, width: float) -> Floats:
    """Return the number of the band that each number is in; the one that begins at 0 is 0."""
    places = numbers / width
    nearest = np.round(places)
    return np.where(np.abs(places - nearest) <= NEAR, nearest, np.floor(places)) + 0.0  # no minus zero


def band_label(band: float, width: float, whole: bool) -> Any:
    """Return what a band is called: with its last whole number, or half open where numbers are not whole."""
    if whole and width == int(width):
        low, last = int(band) * int(width), (int(band) + 1) * int(width) - 1
        return low if last == low else f"[{low}, {last}]"
    return f"[{_short(band * width)}, {_short((band + 1) * width)})"


def _short(number: float) -> str:
    return f"{number:.12g}"


def too_narrow(name: str, width: float) -> DataError:
    """Return the error for bands that floats cannot distinguish."""
    return DataError(Problem("by", f"bands of {_short(width)} are too narrow for column '{name}'."))


def _banded(column: Coded, width: float) -> Parts:
    numbers = numbers_of(column)
    there = np.isfinite(numbers)
    if np.any(np.isinf(numbers)):
        raise DataError(Problem("by", f"column '{column.name}' has infinite numbers, which are in no band."))
    bands = band_of(numbers[there], width)
    if np.abs(bands).max(initial=0.0) > EXACT:
        raise too_narrow(column.name, width)
    whole = bool(np.all(numbers[there] == np.floor(numbers[there])))
    found, own = np.unique(bands, return_inverse=True)
    part = np.full(len(numbers), len(found), dtype=np.int64)
    part[there] = own
    labels = [band_label(each, width, whole) for each in found.tolist()]
    return Parts(part[column.codes], labels if there.all() else [*labels, None])


def _by_unit(column: Coded, by: By) -> Parts:
    if not is_day(column.values.type):
        raise not_days(column.name, by.unit)
    days = _days(column.values)
    there = ~np.isnat(days)
    texts = np.datetime_as_string(days[there], unit="D")
    length = {"year": 4, "month": 7, "day": 10}[str(by.unit)]
    found, own = np.unique([text[: len(text) - 10 + length] for text in texts.tolist()], return_inverse=True)
    part = np.full(len(days), len(found), dtype=np.int64)
    part[there] = own
    labels: list[Any] = found.tolist()
    return Parts(part[column.codes], labels if there.all() else [*labels, None])


def within(column: Coded, wanted: Range | tuple[str | None, ...]) -> NDArray[np.bool_]:
    """Return which values of a column a condition allows; raise about a value that the column cannot have.

    A number or a day that no record shows is one that nobody has. A word that no record shows is mostly a slip.
    """
    values, name = column.values, column.name
    missing = values.is_null().to_numpy(zero_copy_only=False)
    allowed: NDArray[np.bool_]
    if isinstance(wanted, Range):
        if is_day(values.type):
            low, high = days_between(name, wanted)
            places = _days(values).astype(np.int64) + EPOCH
        else:
            places = numbers_of(column, "where")  # type: ignore[assignment]
            low, high = ends_of(name, wanted)
        with np.errstate(invalid="ignore"):
            return np.asarray((places >= low) & (places <= high) & ~missing)
    texts = [each for each in wanted if each is not None]
    if is_number(values.type):
        numbers = numbers_of(column)
        _refuse_unknown(name, texts, [text for text in texts if number_in(text) is not None])
        allowed = np.isin(numbers, [number for text in texts if (number := number_in(text)) is not None])
    elif is_day(values.type):
        labels = [str(label) for label in labels_of(column)]
        asked = {text.replace("T", " ") for text in texts}
        _refuse_unknown(name, texts, [text for text in texts if text.replace("T", " ") in labels or period(text)])
        allowed = np.array([label in asked or label[:10] in asked for label in labels], dtype=np.bool_)
    else:
        words = values.cast(pa.large_string())
        asked_for = pa.array([text.lower() for text in texts] if pa.types.is_boolean(values.type) else texts)
        asked_for = asked_for.cast(pa.large_string())
        there = pc.is_in(asked_for, words).to_pylist()
        _refuse_unknown(name, texts, [text for text, known in zip(texts, there, strict=True) if known])
        allowed = pc.is_in(words, asked_for).to_numpy(zero_copy_only=False)
    return np.asarray((allowed & ~missing) | (missing & (None in wanted)))


def _refuse_unknown(name: str, texts: list[str], known: list[str]) -> None:
    """Raise about the first text that is not known; blanks around one are of no matter, and nothing is missing."""
    plain = {"", *(text.strip() for text in known)}
    unknown = next((text for text in texts if text.strip() not in plain), None)
    if unknown is not None:
        what = f"'{unknown.strip()}' is not a value of column '{name}' in this release."
        raise DataError(Problem("where", what, "values are compared exactly, with upper and lower case."))


def ends_of(name: str, wanted: Range) -> tuple[float, float]:
    """Return the ends of a range as numbers."""
    try:
        low = -math.inf if wanted.low is None else float(wanted.low)
        high = math.inf if wanted.high is None else float(wanted.high)
    except (TypeError, ValueError, OverflowError):
        low = high = math.nan
    if math.isnan(low) or math.isnan(high):
        what = f"the range of column '{name}' must have numbers as its ends."
        raise DataError(Problem("where", what, f"write {name}=20..39, {name}=20.. or {name}=..39."))
    return low, high


def days_between(name: str, wanted: Range) -> tuple[float, float]:
    """Return the ends of a range as days; a year or a month means all its days: ..1999 ends on its last day."""
    spans = [None if end is None else period(str(end)) for end in (wanted.low, wanted.high)]
    if any(span is None and end is not None for span, end in zip(spans, (wanted.low, wanted.high), strict=True)):
        what = f"the range of column '{name}' must have dates as its ends."
        raise DataError(Problem("where", what, f"write {name}=1990..1999, or {name}=1990-02-01..1990-02-28."))
    low, high = spans
    return -math.inf if low is None else low[0], math.inf if high is None else high[1]


def cells_of(table: pa.Table, question: Question) -> Cells:
    """Return the cells that a question asks about, those that hold records, in the order of their values."""
    names = dict.fromkeys([*(each.column for each in question.by), *question.where])
    columns = {name: coded(name, table.column(name)) for name in names}
    keep = np.ones(table.num_rows, dtype=np.bool_)
    for name, wanted in question.where.items():
        keep &= within(columns[name], wanted)[columns[name].codes]
    if not keep.any():
        raise nobody()
    parts = [parted(columns[each.column], each) for each in question.by]
    room = math.prod(max(len(part.labels), 1) for part in parts)
    if room >= 2**62:
        raise too_many()
    key = np.zeros(table.num_rows, dtype=np.int64)
    for part in parts:
        key = key * max(len(part.labels), 1) + part.of_record
    found, numbers = numbered(key if keep.all() else key[keep], room)
    if len(found) > MOST_CELLS:
        raise too_many()
    of_record = np.full(table.num_rows, -1, dtype=np.int64)
    of_record[keep] = numbers
    labels = {each.column: part.labels for each, part in zip(question.by, parts, strict=True)}
    return Cells(of_record, labelled(found, question, labels))


def numbered(keys: Ints, room: int) -> tuple[Ints, Ints]:
    """Return the different keys, all below ``room``, in ascending order, and the place of each key among them."""
    if room > ROOM:
        found, numbers = np.unique(keys, return_inverse=True)
        return found, numbers
    seen = np.zeros(room, dtype=np.bool_)
    seen[keys] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]


def nobody() -> DataError:
    """Return the error for a question without records."""
    return DataError(Problem("where", "no record of this release is in the requested cells."))


def too_many() -> DataError:
    """Return the error for too many cells."""
    return DataError(Problem("by", "there are too many cells.", "count by fewer columns, or in bands."))


def labelled(found: Ints, question: Question, labels: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return what cells are called, from their numbers: the last of the columns in ``labels`` counts fastest."""
    rest, columns = found.copy(), {}
    for name, own in reversed(labels.items()):
        columns[name] = [own[index] for index in (rest % max(len(own), 1)).tolist()]
        rest //= max(len(own), 1)
    names = [each.column for each in question.by]
    if not names:
        return [{} for _ in found]
    return [dict(zip(names, line, strict=True)) for line in zip(*(columns[name] for name in names), strict=True)]
