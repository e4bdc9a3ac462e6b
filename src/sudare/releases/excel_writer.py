"""Writer of releases as Excel workbooks: one sheet, "release", with a header that stays in sight.

Labels are text in any case, never formulas or links. Numbers are numbers, and dates are dates. What a sheet cannot hold
as it is becomes text (times of day, dates before March 1900, parts of a second), is rounded (fractions of more than 16
digits) or is refused (long whole numbers and decimals, control characters). A workbook is the same for the same rows:
it names no author, and its date of creation is fixed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import Problem, TargetError, UnsupportedError
from sudare.core.sizes import EXACT
from sudare.releases.text_columns import joined
from sudare.table import kind_name

SHEET = "release"
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 1_048_576, 16_384, 32_767
"""What a sheet can hold: rows, the header among them; columns; and characters in a cell."""
CREATED = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)
DATE_FORMAT, TIME_FORMAT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
_FIRST_DAY = date(1900, 3, 1)  # before it, Excel counts a day that never was
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
_OTHER = "write the release as Parquet or CSV."


def check_sheet(names: Sequence[str]) -> None:
    """Raise if a sheet cannot have these columns, or if the library that writes it is not installed."""
    _library()
    problems = []
    if len(names) > MOST_COLUMNS:
        what = f"has {len(names):,} columns, and a sheet of Excel holds {MOST_COLUMNS:,}."
        problems.append(Problem("release", what, _OTHER))
    for name in names:
        if not name:
            what = "has no name, and the header of a sheet would have an empty cell there."
            problems.append(
                Problem("column ''", what, "give it a name in the source, or write the release as Parquet.")
            )
        if _UNWRITABLE.search(name) or _length(name) > LONGEST_CELL:
            what = "has a name that is too long for a cell of Excel, or has characters that it does not show."
            problems.append(Problem(f"column '{name[:40]}'", what, "rename it, or write the release as Parquet."))
    if problems:
        raise TargetError(problems)


def check_sheet_rows(rows: int) -> None:
    """Raise if a sheet cannot hold so many records besides its header."""
    if rows >= MOST_ROWS:
        what = f"has {rows:,} records, and a sheet of Excel holds {MOST_ROWS - 1:,}."
        raise TargetError(Problem("release", what, _OTHER))


def write_excel(schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path) -> None:
    """Write batches to the only sheet of a workbook; missing cells stay empty."""
    library = _library()
    options = {"constant_memory": True, "tmpdir": str(path.parent)}
    try:
        _write_book(schema, batches, library.Workbook(str(path), options))
    except library.exceptions.FileSizeError:
        what = "is larger than 4 GB, which a workbook cannot be."
        raise TargetError(Problem("release", what, _OTHER)) from None


def _write_book(schema: pa.Schema, batches: Iterator[pa.RecordBatch], opened: Any) -> None:
    with opened as book:
        book.set_properties({"created": CREATED})
        sheet = book.add_worksheet(SHEET)
        sheet.freeze_panes(1, 0)
        bold = book.add_format({"bold": True})
        styles = {kind: book.add_format({"num_format": kind}) for kind in (DATE_FORMAT, TIME_FORMAT)}
        for column, name in enumerate(schema.names):
            sheet.write_string(0, column, name, bold)
        faults: Counter[tuple[str, str]] = Counter()
        row = 0
        for batch in batches:
            check_sheet_rows(row + batch.num_rows)
            cells = [
                _values(name, batch.column(place), schema.field(place).type, faults)
                for place, name in enumerate(schema.names)
            ]
            for values in () if faults else zip(*cells, strict=True):
                row += 1
                for column, value in enumerate(values):
                    _write(sheet, row, column, value, styles)
                if all(value is None for value in values):  # so that it is a row all the same
                    sheet.write_blank(row, 0, None, bold)
        if faults:
            raise TargetError(
                [Problem(f"column '{name}'", f"{what}: {many}.", _OTHER) for (name, what), many in faults.items()]
            )
        if row and schema.names:
            # whole numbers that are labels are text on purpose: no green triangles
            sheet.ignore_errors({"number_stored_as_text": f"A2:{_place(row, len(schema.names) - 1)}"})


def _library() -> Any:
    try:
        import xlsxwriter
    except ImportError:
        hint = "install it: pip install 'sudare[excel]'."
        raise UnsupportedError("a release as .xlsx needs XlsxWriter.", hint=hint) from None
    return xlsxwriter


def _place(row: int, column: int) -> str:
    from xlsxwriter.utility import xl_rowcol_to_cell

    return str(xl_rowcol_to_cell(row, column))


def _write(sheet: Any, row: int, column: int, value: Any, styles: dict[str, Any]) -> None:
    if isinstance(value, str):
        sheet.write_string(row, column, value)
    elif isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, datetime):
        sheet.write_datetime(row, column, value, styles[TIME_FORMAT])
    elif isinstance(value, date):
        sheet.write_datetime(row, column, value, styles[DATE_FORMAT])
    elif value is not None:
        sheet.write_number(row, column, value)


def _values(name: str, cells: pa.Array, kind: pa.DataType, faults: Counter[tuple[str, str]]) -> list[Any]:
    """Return cells as a sheet shows them, and count those that it cannot show."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return list(cells.to_pylist())
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return _each(cells, _number, (name, "numbers are too long, or infinite, for Excel"), faults)
    if pa.types.is_date(kind):
        return [_day(value) for value in cells.to_pylist()]
    if pa.types.is_timestamp(kind) and not kind.tz:
        return [_moment(value, text) for value, text in zip(_moments(cells), _texts(name, cells), strict=True)]
    told = (name, "texts are too long for Excel, or have control characters")
    return _each(_texts(name, cells), _text, told, faults)


def _each(
    cells: Any, convert: Callable[[Any], Any], told: tuple[str, str], faults: Counter[tuple[str, str]]
) -> list[Any]:
    found = []
    for value in cells.to_pylist():
        try:
            found.append(None if value is None else convert(value))
        except ValueError:
            faults[told] += 1
    return found


def _texts(name: str, cells: pa.Array) -> pa.Array:
    """Return cells as text; of those with parts, only lists of plain values have one."""
    try:
        return joined(cells.cast(pa.list_(pa.string()))) if _is_list(cells.type) else cells.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        what = f"holds {kind_name(cells.type)}, which a sheet cannot show."
        raise TargetError(Problem(f"column '{name}'", what, "write the release as Parquet.")) from None


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _text(text: str) -> str | None:
    if _length(text) > LONGEST_CELL or _UNWRITABLE.search(text):
        raise ValueError
    return text or None


def _length(text: str) -> int:
    """Return how many characters Excel counts: those beyond the first plane of Unicode are two."""
    return len(text) if len(text) < LONGEST_CELL // 2 else len(text.encode("utf-16-le")) // 2


def _number(value: Any) -> Any:
    if isinstance(value, float):
        if value in (float("inf"), float("-inf")) or (value.is_integer() and abs(value) > EXACT and not _kept(value)):
            raise ValueError
        return None if value != value else value + 0.0
    if isinstance(value, Decimal):
        nearest = float(value)
        # the shortest text of the nearest number, such as 8.2: its sixteen digits are 8.199999999999999
        if Decimal(repr(nearest)) != value or not _kept(nearest):
            raise ValueError
        return nearest
    if abs(value) > EXACT:
        raise ValueError
    return value


def _kept(value: float) -> bool:
    """Return whether a number is the same after it was written with 16 digits, as XlsxWriter writes it."""
    return float(f"{value:.16G}") == value


def _day(value: date | None) -> Any:
    return value if value is None or value >= _FIRST_DAY else value.isoformat()


def _moments(cells: pa.Array) -> list[datetime | None]:
    """Return points in time that are whole seconds; None for all others."""
    whole = cells.cast(pa.timestamp("s"), safe=False)
    same = pc.equal(whole.cast(cells.type), cells)
    return list(pc.if_else(same, whole, pa.scalar(None, whole.type)).to_pylist())


def _moment(value: datetime | None, text: pa.Scalar) -> Any:
    return value if value is not None and value.date() >= _FIRST_DAY else text.as_py()
