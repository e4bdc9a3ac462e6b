"""Workbooks of Excel (``.xlsx``) and LibreOffice (``.ods``): one sheet is one table.

The library reads the cells. It reads a cell with an error, and a formula that nobody has computed, as an empty cell, so
the file itself is searched for them (:mod:`sudare.engines.workbook_parts`). What is missing in the table must be
missing in the spreadsheet, too.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.core.errors import DataError, MissingExtraError, Problem, did_you_mean
from sudare.core.missing_words import is_missing_word
from sudare.core.record_like_names import record_like
from sudare.core.shown_places import first_places
from sudare.core.sizes import EXACT
from sudare.engines.column_checks import check_names
from sudare.engines.delimited_text import TextForm
from sudare.engines.file_errors import no_records
from sudare.engines.opened_file import OpenedFile, whole_table
from sudare.engines.whole_numbers import whole_numbers
from sudare.engines.workbook_parts import SheetFaults, checked_sheets

_LOOKED_AT = 100  # rows in which the header is looked for
_SHOWN = 20  # sheets that a message names
_TYPED = {datetime.date, datetime.datetime, datetime.time, datetime.timedelta, bool}


def open_excel(path: Path, form: TextForm) -> OpenedFile:
    """Open one sheet of a workbook: its first row that is not empty names the columns."""
    faults = checked_sheets(path)
    with opened_book(path) as book:
        name = _chosen_sheet(path, book, form.sheet, faults)
        sheet = book.get_sheet_by_name(name)
        # all cells, from the first row on: then places in the list are places in the sheet
        rows = sheet.to_python(skip_empty_area=False) if sheet.height else []
    return _table(path, rows, form, faults.get(name) or SheetFaults())


@contextmanager
def opened_book(path: Path) -> Iterator[Any]:
    """Open a workbook; whatever goes wrong with it is one message."""
    try:
        import python_calamine as calamine
    except ImportError:
        what, hint = "needs the package python-calamine.", "pip install 'sudare[excel]'"
        raise MissingExtraError(Problem(path.name, what, hint)) from None
    try:
        with calamine.CalamineWorkbook.from_path(path) as book:
            yield book
    except calamine.PasswordError:
        raise DataError(Problem(path.name, "is protected by a password.", "save a copy without one.")) from None
    except (calamine.CalamineError, OSError):
        what = "cannot be read: it is damaged, or it is not a workbook."
        raise DataError(Problem(path.name, what, "open it in a spreadsheet program, and save it as .xlsx.")) from None


@dataclass(frozen=True)
class FoundSheet:
    """A sheet to read: its name, how many sheets have cells, and how many rows are above the header.

    ``passed`` are the sheets before it that have cells, but no records, and ``empty`` says that it has none either.
    """

    name: str | None
    full: int
    above: int
    passed: tuple[str, ...] = ()
    empty: bool = False


def find_sheet(path: Path, wanted: str | int | None = None) -> FoundSheet:
    """Return the wanted sheet, by its name or number, or else the first one with a header and a record.

    The header has about as many cells as other rows; a title above it has fewer. A sheet whose header names one column
    only is a cover rather than a table, if another sheet has more. So is one whose first row looks like a record.
    """
    sheets = checked_sheets(path)
    with opened_book(path) as book:
        full = _full(book, sheets)
        if wanted is not None:
            if isinstance(wanted, str) and wanted not in book.sheet_names and wanted.isdecimal() and int(wanted):
                wanted = int(wanted)
            name = _chosen_sheet(path, book, wanted, sheets)
            header = _header(book, name)
            return FoundSheet(name, len(full), header.above, empty=not header.cells)
        if not full:
            return FoundSheet(None, 0, 0)
        headers = dict[str, _Header]()
        for name in full:
            headers[name] = _header(book, name, judged=len(full) > 1)
            if headers[name].likeness == _TABLE:
                break  # the others need not be read
    name = max(headers, key=lambda each: headers[each].likeness)  # the first of those that are most like a table
    header = headers[name]
    return FoundSheet(name, len(full), header.above, tuple(full[: full.index(name)]), not header.cells)


@dataclass(frozen=True)
class _Header:
    """The header of a sheet: how many rows are above it, and how many cells it has; none if no record is below.

    ``named`` says that its cells look like names, if that is ``judged``, and not like a record.
    """

    above: int
    cells: int
    named: bool

    @property
    def likeness(self) -> tuple[int, bool]:
        """How much a sheet with this header is like a table: several columns count more than names."""
        return min(self.cells, 2), self.named and self.cells > 0


_TABLE = (2, True)
"""The likeness of a sheet that surely is a table."""


def _header(book: Any, name: str, *, judged: bool = False) -> _Header:
    """Return the header of a sheet; whether it is ``judged`` costs a look at all cells."""
    sheet = book.get_sheet_by_name(name)
    start = sheet.start[0] if sheet.height else 0
    rows = sheet.to_python(skip_empty_area=False, nrows=start + _LOOKED_AT) if sheet.height else []
    widths = [sum(cell != "" for cell in row) for row in rows]
    at = next((place for place, width in enumerate(widths) if 2 * width > max(widths)), 0)
    cells = widths[at] if any(widths[at + 1 :]) else 0
    # a name may be a value of its own column in any row, as in the check of drafts
    named = not (judged and cells) or _has_names(sheet.to_python(skip_empty_area=False)[at:])
    return _Header(at if any(widths[:at]) else 0, cells, named)


def _has_names(rows: list[list[Any]]) -> bool:
    """Return whether the first row looks like names of columns, and not like one of the records below it."""
    body = rows[1:]
    columns = _used_columns(rows[0], body)
    names = [_name(rows[0][place]) for place in columns]

    def among(at: int) -> bool:
        name, cells = names[at], [row[columns[at]] for row in body]
        # one text makes a column of text
        return name != "" and any(isinstance(cell, str) and cell != "" for cell in cells) and name in map(_name, cells)

    return not record_like(names, among)


def _full(book: Any, sheets: Mapping[str, SheetFaults]) -> list[str]:
    """Return the sheets with cells; to ask the library would have it read them all."""
    kinds = {each.name: str(each.typ) for each in book.sheets_metadata}
    return [
        name
        for name in book.sheet_names
        if kinds[name].endswith("WorkSheet") and name in sheets and sheets[name].filled
    ]


def _chosen_sheet(path: Path, book: Any, wanted: str | int | None, sheets: Mapping[str, SheetFaults]) -> str:
    """Return the name of the sheet that is asked for, or else of the only one that holds cells."""
    names = list(book.sheet_names)
    known = f"its sheets: {', '.join(names[:_SHOWN])}."
    if wanted is None:
        full = _full(book, sheets)
        if not full:
            raise DataError(Problem(path.name, "has no sheet with cells."))
        if len(full) > 1:
            what = f"has {len(full)} sheets with cells."
            raise DataError(
                Problem(path.name, what, f"set source: {{sheet: ...}} to one of {', '.join(full[:_SHOWN])}.")
            )
        return str(full[0])
    if isinstance(wanted, int):
        if wanted > len(names):
            raise DataError(Problem(path.name, f"has no sheet {wanted}, only {len(names)}.", known))
        return str(names[wanted - 1])
    if wanted not in names:
        raise DataError(Problem(path.name, f"has no sheet '{wanted}'.", did_you_mean(wanted, names) or known))
    return wanted


def _table(path: Path, rows: list[list[Any]], form: TextForm, faults: SheetFaults) -> OpenedFile:
    """Return the table of a sheet; rows without any cell are no records, and columns without any are none."""
    at = next((place for place, row in enumerate(rows) if place >= form.skip_rows and _filled(row)), None)
    if at is None:
        raise DataError(Problem(path.name, "its sheet has no cells in the rows that are read."))
    body = [row for row in rows[at + 1 :] if _filled(row)]
    used = _used_columns(rows[at], body)
    names = [_name(rows[at][place]) for place in used]
    faults.merged = sorted({row for row in faults.merged if row > at})  # a title above the table may be merged
    problems = faults.problems(path.name)
    problems += [
        Problem(path.name, f"column {place + 1} has cells, but no name.", "name it, or remove it.")
        for place, name in zip(used, names, strict=True)
        if not name
    ]
    if problems:
        raise DataError(problems)
    headed = all(isinstance(cell, str) and not is_missing_word(cell) for cell in rows[at] if cell != "") and any(
        not isinstance(cell, str) for row in body[:_LOOKED_AT] for cell in row
    )
    check_names(path.name, names, headed=headed)
    if not body:
        raise no_records(path)
    columns = [_as_shown([row[place] for row in body], faults.digits.get(place + 1, 0)) for place in used]
    _check_days(path, names, columns)
    return whole_table(pa.table(list(map(_column, columns)), names=names), headed=headed)


def _as_shown(cells: list[Any], digits: int) -> list[Any]:
    """Return cells with the leading zeros that the sheet shows: postal codes, for example, are text then."""
    if not digits or any(isinstance(cell, float) and (cell < 0 or not cell.is_integer()) for cell in cells):
        return cells
    return [_text(cell).zfill(digits) if type(cell) in (int, float) else cell for cell in cells]


def _check_days(path: Path, names: Sequence[str], columns: Sequence[Sequence[Any]]) -> None:
    """Raise if a column of dates holds times alone: days before Excel's calendar begins are read as such."""
    problems = []
    for name, cells in zip(names, columns, strict=True):
        if not any(isinstance(cell, datetime.date) for cell in cells):
            continue
        records = [number for number, cell in enumerate(cells, 1) if isinstance(cell, datetime.time)]
        if records:
            what = (
                f"has times without a date, or days before 1900, among its dates ({first_places(records, 'record')})."
            )
            problems.append(Problem(f"column '{name}'", what, "empty these cells, or correct them."))
    if problems:
        raise DataError(problems)


def _used_columns(header: Sequence[Any], body: Sequence[Sequence[Any]]) -> list[int]:
    """Return the places of the columns that have a name or a cell."""
    return [place for place, cell in enumerate(header) if _name(cell) or any(row[place] != "" for row in body)]


def _filled(row: Sequence[Any]) -> bool:
    return any(cell != "" for cell in row)


def _name(cell: Any) -> str:
    return _text(cell).strip()


def _column(cells: list[Any]) -> pa.Array:
    """Return cells as one type; where a column mixes types, all of it is text, as the same table in CSV would be."""
    kinds = {type(cell) for cell in cells if cell != ""}
    plain: list[Any] = [None if cell == "" else cell for cell in cells]
    if kinds == {float} or kinds == {int} or kinds == {int, float}:
        numbers = pa.array(plain, pa.float64())
        return whole_numbers(numbers)
    if kinds == {datetime.date, datetime.datetime}:
        return pa.array([_as_time(cell) for cell in plain], pa.timestamp("us"))
    if len(kinds) == 1 and kinds <= _TYPED:
        found = pa.array(plain)
        return found.cast(pa.timestamp("us")) if pa.types.is_timestamp(found.type) else found
    return pa.array([None if cell is None else _text(cell) for cell in plain], pa.large_string())


def _as_time(cell: Any) -> Any:
    if cell is None or isinstance(cell, datetime.datetime):
        return cell
    return datetime.datetime.combine(cell, datetime.time())


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    return str(cell)
