"""The sheet of an Excel workbook, read twice: by a strict reader of its own, and by calamine.

The strict reader knows one way to write each cell: text, a number, a truth value or a date, with no formula, no link,
and no style but those of dates. It knows no hidden rows or columns. Both readers have to find the same cells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.audits.excel_parts import DATE, HINT, checked_parts, sheet_text
from sudare.core.errors import DataError, Problem, UnsupportedError
from sudare.core.sizes import LARGEST_INT64

_HEAD = re.compile(
    r'<\?xml version="1\.0" encoding="UTF-8" standalone="yes"\?>\n'
    r'<worksheet xmlns="http://schemas\.openxmlformats\.org/spreadsheetml/2006/main" '
    r'xmlns:r="http://schemas\.openxmlformats\.org/officeDocument/2006/relationships">'
    r'<dimension ref="A1(?::(?P<last>[A-Z]+[0-9]+))?"/><sheetViews><sheetView tabSelected="1" workbookViewId="0">'
    r'<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/>'
    r'</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><sheetData>'
)
_TAIL = re.compile(
    r'</sheetData><pageMargins left="0\.7" right="0\.7" top="0\.75" bottom="0\.75" header="0\.3" footer="0\.3"/>'
    r'<ignoredErrors><ignoredError sqref="A2(?::(?P<last>[A-Z]+[0-9]+))?" numberStoredAsText="1"/></ignoredErrors>'
    r"</worksheet>"
)
_CELL = (
    r'<c r="(?P<column>[A-Z]{1,3})(?P<row>[1-9][0-9]{0,6})"(?: s="(?P<style>[1-3])")?'
    r'(?:(?P<blank>/>)| t="inlineStr"><is><t(?P<space> xml:space="preserve")?>(?P<text>[^<>]*)</t></is></c>'
    r'| t="b"><v>(?P<truth>[01])</v></c>|><v>(?P<number>[^<>]*)</v></c>)'
)
_ONE = re.compile(_CELL)
_ROW = re.compile(rf'<row r="(?P<at>[1-9][0-9]{{0,6}})">(?P<cells>(?:{re.sub(r"[?]P<[a-z]+>", "?:", _CELL)})+)</row>')
_ENTITY = re.compile(r"&(?!amp;|lt;|gt;)")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
_FIRST = datetime(1899, 12, 30)
_DAYS = range(2_958_466)
"""The numbers of days that are dates, up to the end of the year 9999."""


def excel_table(path: Path) -> pa.Table:
    """Return the cells of a workbook, each column in one type, or raise DataError."""
    formats = checked_parts(path)
    names: list[str] = []
    columns: list[list[Any]] = []
    other = _calamine(path)
    for at, row in enumerate(_strict_rows(path, formats)):
        again = next(other, [])
        if not names:
            names = [str(name) for name in row]
            if not names or any(not isinstance(name, str) for name in row):
                raise DataError(Problem(str(path), "has no header: the first row must name the columns."))
            columns = [[] for _ in names]
        row += [None] * (len(names) - len(row))
        if len(row) > len(names) or not _alike(row, again):
            raise DataError(
                Problem(str(path), f"is ambiguous: two programs read different cells in row {at + 1}.", HINT)
            )
        if at:
            for cells, value in zip(columns, row, strict=True):
                cells.append(value)
    if any(any(cell != "" for cell in row) for row in other):
        raise DataError(Problem(str(path), "is ambiguous: two programs read different rows from it.", HINT))
    try:
        return pa.table([_column(cells) for cells in columns], names=names)
    except ValueError:
        what = "has a column in which cells of different types look alike."
        raise DataError(Problem(str(path), what, HINT)) from None


def _strict_rows(path: Path, formats: tuple[str, ...]) -> Iterator[list[Any]]:
    """Yield the rows of the sheet, the first one as names; raise if anything else is in it."""
    odd = DataError(
        Problem(
            str(path), "has more in its sheet than cells: formulas, links, styles, or hidden rows or columns.", HINT
        )
    )
    last, at, widest, told = "", 0, 0, None
    for piece in sheet_text(path):
        start = 0
        if told is None:
            head = _HEAD.match(piece)
            if head is None:
                raise odd
            told, start = head["last"] or "A1", head.end()
        while found := _ROW.match(piece, start):
            start = found.end()
            number = int(found["at"])
            if number != at + 1:
                raise odd
            at = number
            row = _cells(found, number, formats)
            if row is None:
                raise odd
            widest = max(widest, len(row))
            yield row
        last = piece[start:]
        if last.startswith("<row"):
            raise odd
    end = _TAIL.fullmatch(last)
    if end is None or at < 2 or told != f"{_letters(widest)}{at}":
        raise odd
    if (end["last"] or "A2") != f"{_letters(widest)}{at}":
        raise odd


def _cells(found: re.Match[str], number: int, formats: tuple[str, ...]) -> list[Any] | None:
    """Return the cells of a row, None if one is not written as it should be."""
    row: list[Any] = []
    for cell in _ONE.finditer(found["cells"]):
        place = _place(cell["column"])
        if int(cell["row"]) != number or place < len(row):
            return None
        row += [None] * (place - len(row))
        value = _value(cell, number, formats)
        if value is None and (not cell["blank"] or len(found["cells"]) != len(cell[0]) or cell["style"] != "1"):
            return None
        row.append(value)
    return row


def _value(cell: re.Match[str], number: int, formats: tuple[str, ...]) -> Any:
    """Return the value of a cell; None if it has none, or if it is not written as it should be."""
    style = cell["style"]
    if cell["text"] is not None:
        text = cell["text"]
        spaced = bool(text) and (text[0].isspace() or text[-1].isspace())
        plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        sound = not _ENTITY.search(text) and not _ODD.search(plain) and spaced == bool(cell["space"]) and plain
        return plain if sound and style == ("1" if number == 1 else None) else None
    if cell["truth"] is not None:
        return cell["truth"] == "1" if style is None else None
    if cell["number"] is None:
        return None
    try:
        found = float(cell["number"])
    except ValueError:
        return None
    if f"{found:.16G}" != cell["number"] or not math.isfinite(found):
        return None
    if style is None:
        return found
    if int(style) - 2 not in range(len(formats)) or math.floor(found) not in _DAYS:
        return None
    since = timedelta(seconds=round(found * 86_400))
    if (
        f"{since.days + since.seconds / 86_400:.16G}" != cell["number"]
    ):  # parts of a second, which the format does not show
        return None
    moment = _FIRST + since
    if formats[int(style) - 2] == DATE:
        return moment.date() if found.is_integer() else None
    return moment


def _alike(row: list[Any], again: list[Any]) -> bool:
    """Return whether two readers found the same in a row."""
    again = [*again, *([""] * (len(row) - len(again)))]
    return len(row) == len(again) and all(
        (other == "") if value is None else _comparable(value) == _comparable(other)
        for value, other in zip(row, again, strict=True)
    )


def _comparable(value: Any) -> tuple[type, Any]:
    """Return a value with its type; calamine takes midnights for days."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    found = float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return type(found), found


def _calamine(path: Path) -> Iterator[list[Any]]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        hint = "install it: pip install 'sudare[excel]'."
        raise UnsupportedError("the audit of a release as .xlsx needs python-calamine.", hint=hint) from None
    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            yield from book.get_sheet_by_index(0).iter_rows()
    except CalamineError:
        raise DataError(Problem(str(path), "cannot be read: the file is damaged.")) from None


def _column(cells: list[Any]) -> pa.Array:
    """Return cells in their type; those of several types as text, and whole numbers that are too large as they are."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {float}:
        whole = all(cell is None or (cell.is_integer() and abs(cell) <= LARGEST_INT64) for cell in cells)
        return pa.array([None if cell is None else int(cell) for cell in cells] if whole else cells)
    if len(kinds) == 1:
        [kind] = kinds
        types = {str: pa.string(), bool: pa.bool_(), date: pa.date32(), datetime: pa.timestamp("us")}
        return pa.array(cells, types[kind])
    texts = [None if cell is None else _told(cell) for cell in cells]
    if len(set(texts)) != len({(type(cell), cell) for cell in cells}):
        raise ValueError
    return pa.array(texts, pa.string())


def _told(cell: Any) -> str:
    """Return a cell as text, in a form that no cell of another type in the column has."""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return cell.isoformat(" ") if isinstance(cell, datetime) else str(cell)


def _place(letters: str) -> int:
    found = 0
    for letter in letters:
        found = found * 26 + ord(letter) - ord("A") + 1
    return found - 1


def _letters(columns: int) -> str:
    found = ""
    while columns:
        columns, rest = divmod(columns - 1, 26)
        found = chr(ord("A") + rest) + found
    return found
