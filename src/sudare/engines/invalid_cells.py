"""Invalid cells, which their type does not allow: found when they are read.

Arrow does not check cells. Text may hold bytes that are not text, a time may be later than its day, and a date may be
in no calendar. Libraries treat such cells differently, or fail. Messages name columns, never cells.
"""

from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import LARGEST_INT64

_INFINITY = LARGEST_INT64
_YEARS = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)


def check_zones(schema: pa.Schema) -> None:
    """Raise if there are times of a zone that nobody knows."""
    hint = "use a name of the time zone database, as Europe/Vienna, or an offset, as +02:00."
    problems = [
        Problem(f"column '{field.name}'", "has times of an unknown time zone.", hint)
        for field in schema
        if not all(_known(kind) for kind in _leaves(field.type))
    ]
    if problems:
        raise DataError(problems)


def check_cells(cells: pa.Table | pa.RecordBatch) -> None:
    """Raise if there are cells that their type does not allow, or days that no calendar has."""
    problems = []
    for name, column in zip(cells.schema.names, cells.columns, strict=True):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        problem = next((found for chunk in chunks if (found := _problem(name, chunk)) is not None), None)
        problems += [] if problem is None else [problem]
    if problems:
        raise DataError(problems)


def _problem(name: str, cells: pa.Array) -> Problem | None:
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid as error:  # its words may quote cells
        if "UTF8" in str(error):
            return Problem(f"column '{name}'", "holds text that is not UTF-8.", "correct it, or remove the column.")
        return Problem(f"column '{name}'", "holds cells that its type does not allow.", "is the file damaged?")
    for leaf in _leaf_cells(cells):
        if not _days_are_there(leaf):
            what = "has infinite dates, or dates before the year 1 or after 9999."
            return Problem(f"column '{name}'", what, "replace or remove them.")
        if not _in_microseconds(leaf):
            what = "has times or durations finer than a microsecond, or durations that are too long."
            return Problem(f"column '{name}'", what, "round them, or give them as whole numbers.")
        if not _in_38_digits(leaf):
            what = "has decimals of more than 38 digits."
            return Problem(f"column '{name}'", what, "round them, or give them as text.")
    return None


def _leaf_cells(cells: pa.Array) -> list[pa.Array]:
    """Return the arrays of cells that are dates, times or long decimals, those inside lists and structs too."""
    kind = cells.type
    if isinstance(kind, pa.BaseExtensionType):
        return _leaf_cells(cells.storage)
    if pa.types.is_dictionary(kind):
        return _leaf_cells(cells.dictionary)
    if pa.types.is_run_end_encoded(kind):
        return _leaf_cells(cells.values)
    if not any(_is_dated(leaf) or _is_fine(leaf) or _is_long(leaf) for leaf in _leaves(kind)):
        return []
    if not pa.types.is_nested(kind):
        return [cells] if cells.null_count < len(cells) else []
    inside = [cells.keys, cells.items] if pa.types.is_map(kind) else cells.flatten()
    return [leaf for part in (inside if isinstance(inside, list) else [inside]) for leaf in _leaf_cells(part)]


def _days_are_there(cells: pa.Array) -> bool:
    """Return whether a calendar has all dates and times."""
    kind = cells.type
    if not _is_dated(kind):
        return True
    whole = cells.view(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    edges = pc.min_max(whole).as_py()
    if pa.types.is_timestamp(kind) and kind.unit == "ns":  # all from 1677 to 2262, but for those that mean infinity
        return bool(edges["min"] > -_INFINITY and edges["max"] < _INFINITY)
    first, last = (pa.scalar(day).cast(kind).cast(whole.type).as_py() for day in _YEARS)
    if pa.types.is_timestamp(kind):  # the last moment of the day
        last = last + pa.scalar(datetime.timedelta(days=1), pa.duration(kind.unit)).cast(pa.int64()).as_py() - 1
    return bool(edges["min"] >= first and edges["max"] <= last)


def _in_microseconds(cells: pa.Array) -> bool:
    """Return whether durations, and times of day, are whole microseconds, and as many as 64 bits hold.

    DuckDB has no finer ones, and the audit counts there: different ones would be the same to it.
    """
    kind = cells.type
    if not _is_fine(kind):
        return True
    try:
        cells.cast(pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us"))
    except pa.ArrowInvalid:
        return False
    return True


def _in_38_digits(cells: pa.Array) -> bool:
    """Return whether long decimals fit into 128 bits; there is nobody who counts longer ones."""
    kind = cells.type
    if not _is_long(kind):
        return True
    try:
        cells.cast(pa.decimal128(38, max(kind.scale, 0)))
    except pa.ArrowInvalid:
        return False
    return True


def _is_long(kind: pa.DataType) -> bool:
    """Return whether a type may have decimals of more than 38 digits before or behind the point."""
    return bool(pa.types.is_decimal256(kind) or (pa.types.is_decimal(kind) and kind.scale < 0))


def _is_fine(kind: pa.DataType) -> bool:
    """Return whether a type may hold times finer than microseconds."""
    return bool(pa.types.is_duration(kind) or kind == pa.time64("ns"))


def _is_dated(kind: pa.DataType) -> bool:
    """Return whether a type has dates, of which some may be beyond the years that a calendar has."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _leaves(kind: pa.DataType) -> list[pa.DataType]:
    """Return the types inside a nested type, or the type itself."""
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _leaves(kind.value_type)
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return [leaf for each in inner for leaf in _leaves(each)] if inner else [kind]


def _known(kind: pa.DataType) -> bool:
    if not (pa.types.is_timestamp(kind) and kind.tz):
        return True
    try:
        pa.array([0], pa.int64()).cast(kind).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
