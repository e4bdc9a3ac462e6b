"""The parts of a workbook file, looked at before a library unpacks it.

A workbook is a zip file of XML. A small one may unpack to more than memory holds, and one cell in the last corner of a
sheet makes a table of seventeen billion cells. Cells with an error, and formulas that no program has computed, would be
read as empty. Messages name cells by their address (``C7``), never by what they hold.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat

from sudare.core.errors import DataError, Problem
from sudare.core.memory import available
from sudare.core.shown_places import first_places
from sudare.core.sizes import GIB, MIB

_CELL_BYTES = 32  # what the library takes for a cell, also for an empty one between others
_TEXT_BYTES = 4  # of memory for each byte of XML, roughly
_MOST_RATIO = 1000  # XML of equal cells packs 50 to 200 times
_COMPOUND = b"\xd0\xcf\x11\xe0"  # how files begin that are encrypted, and those of Excel before 2007

_ADDRESS = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_ZEROS = re.compile("0{2,}")
_SHOWN_ERROR = re.compile(r"#[A-Z0-9/!?]+|Err:\d+")
_DAMAGED = (
    zipfile.BadZipFile, ElementTree.ParseError, expat.ExpatError, zlib.error, EOFError, NotImplementedError, KeyError,
    ValueError, OverflowError,
)  # fmt: skip
"""What the libraries raise for damaged files."""


@dataclass
class SheetFaults:
    """The cells of a sheet that would not be read as they are shown, by their addresses; merged ones by their rows.

    ``filled`` says that the sheet has cells that hold something. ``digits`` has the columns, from 1, of which all
    numbers are shown with leading zeros, with the number of their digits.
    """

    filled: bool = False
    digits: dict[int, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    uncomputed: list[str] = field(default_factory=list)
    merged: list[int] = field(default_factory=list)

    def problems(self, name: str) -> list[Problem]:
        """Return what is wrong with the sheet of a file."""
        found = []
        if self.errors:
            what = f"{_cells(self.errors)} an error, such as a division by zero."
            found.append(Problem(name, what, "correct the formulas, or empty the cells."))
        if self.uncomputed:
            what = f"{_cells(self.uncomputed)} a formula without a result."
            found.append(Problem(name, what, "open the file in a spreadsheet program, and save it."))
        if self.merged:
            rows = f"{len(self.merged)} row{'s' if len(self.merged) > 1 else ''} ({first_places(self.merged, 'row')})"
            found.append(Problem(name, f"has merged cells in {rows}.", "unmerge them, and fill each cell."))
        return found


def checked_sheets(path: Path) -> dict[str, SheetFaults]:
    """Return the cells of each sheet that a library would read as empty although a program shows something.

    Raise if a file is no workbook, needs a password, or would fill the memory when it is unpacked.
    """
    with path.open("rb") as file:
        start = file.read(len(_COMPOUND))
    if start == _COMPOUND:
        what = "is protected by a password, or is a workbook of Excel before 2007."
        raise DataError(Problem(path.name, what, "save a copy as .xlsx, without a password."))
    try:
        with zipfile.ZipFile(path) as parts:
            _check_sizes(path, parts)
            sheets = list(_sheets(parts))
    except _DAMAGED:
        what = "cannot be read: it is damaged, or it is not a workbook."
        raise DataError(Problem(path.name, what, "open it in a spreadsheet program, and save it as .xlsx.")) from None
    except RuntimeError:  # what the library raises for an encrypted entry
        raise DataError(Problem(path.name, "is protected by a password.", "save a copy without one.")) from None
    if max((sheet.extent for sheet in sheets), default=0) * _CELL_BYTES > (available() or 8 * GIB) // 2:
        what = "has a cell so far from the others that the table between them would not fit into memory."
        raise DataError(Problem(path.name, what, "delete the rows and columns behind the table, and save it again."))
    return {sheet.name: sheet.faults for sheet in sheets}


def _cells(addresses: Sequence[str]) -> str:
    verb = "holds" if len(addresses) == 1 else "hold"
    return f"{len(addresses)} cell{'' if len(addresses) == 1 else 's'} ({first_places(addresses, 'cell')}) {verb}"


def _check_sizes(path: Path, parts: zipfile.ZipFile) -> None:
    """Raise if the parts are too large when they are unpacked; a part that is larger than it says is damaged."""
    whole = sum(part.file_size for part in parts.infolist())
    packed = sum(part.compress_size for part in parts.infolist())
    most = (available() or 8 * GIB) // _TEXT_BYTES
    if whole > most or (whole > 256 * MIB and whole > _MOST_RATIO * max(packed, 1)):
        what = f"would unpack to {whole // MIB:,} MiB, which is too much."
        raise DataError(Problem(path.name, what, "is it a workbook? Save a large table as .csv or .parquet."))


def _sheets(parts: zipfile.ZipFile) -> Iterator[_Sheet]:
    """Yield what is seen of each sheet of a workbook."""
    if "content.xml" in parts.namelist():
        seen = _OpenDocument()
        with parts.open("content.xml") as stream:
            _parse(stream, seen)
        yield from seen.sheets
        return
    digits = _digits_by_style(parts)
    for name, part in _sheet_parts(parts).items():
        sheet = _ExcelSheet(name, digits)
        with parts.open(part) as stream:
            _parse(stream, sheet)
        sheet.faults.digits = {
            column: min(each) for column, each in sheet.shown.items() if len(each) == 1 and any(each)
        }
        yield sheet


def _parse(stream: IO[bytes], seen: _ExcelSheet | _OpenDocument) -> None:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = seen.begin, seen.end
    parser.CharacterDataHandler = seen.text
    parser.ParseFile(stream)


def _sheet_parts(parts: zipfile.ZipFile) -> dict[str, str]:
    """Return the names of the sheets of an ``.xlsx`` file, with the part that each is in; case makes no difference."""
    known = {name.lower(): name for name in parts.namelist()}
    files = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
    book, links = (ElementTree.fromstring(parts.read(known[name])) for name in files)
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    found = {}
    for sheet in book.iter():
        if not sheet.tag.endswith("}sheet"):
            continue
        link = next((value for key, value in sheet.attrib.items() if key.endswith("}id")), None)
        target = targets.get(link, "")
        part = (target.lstrip("/") if target.startswith("/") else f"xl/{target}").lower()
        if part in known:
            found[sheet.get("name", "")] = known[part]
    return found


def _digits_by_style(parts: zipfile.ZipFile) -> dict[str, int]:
    """Return the styles of cells that show numbers with leading zeros (``00000``), with their digits."""
    name = next((each for each in parts.namelist() if each.lower() == "xl/styles.xml"), None)
    if name is None:
        return {}
    styles = ElementTree.fromstring(parts.read(name))
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in styles.iter() if each.tag.endswith("}numFmt")}
    shown = [codes.get(style.get("numFmtId"), "") for each in styles if each.tag.endswith("}cellXfs") for style in each]
    return {str(number): len(code) for number, code in enumerate(shown) if _ZEROS.fullmatch(code)}


class _Sheet:
    """A sheet: how many cells its table has, those between filled ones too, and which are read as something else."""

    def __init__(self, name: str) -> None:
        self.name, self.extent, self.faults = name, 0, SheetFaults()


class _ExcelSheet(_Sheet):
    """A sheet of an ``.xlsx`` file. Rows and cells need not say where they are; then they follow each other."""

    def __init__(self, name: str, digits: Mapping[str, int]) -> None:
        super().__init__(name)
        self.digits, self.shown = digits, dict[int, set[int]]()
        self.row, self.column, self.rows, self.columns = 0, 0, 0, 0
        self.kind, self.style, self.formula, self.value, self.reading = "", "", False, False, False

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Note where a row or a cell begins."""
        tag = tag.rpartition(":")[2]
        if tag == "c":
            self._cell(attributes)
        elif tag == "row":
            self.row = int(attributes.get("r", self.row + 1))
            self.column = 0
        elif tag == "f":
            self.formula = True
        elif tag in ("v", "t"):
            self.reading = True
        elif tag == "mergeCell":
            rows = [int(number) for _, number in _ADDRESS.findall(attributes.get("ref", ""))]
            self.faults.merged += rows[:1]

    def _cell(self, attributes: dict[str, str]) -> None:
        address = _ADDRESS.fullmatch(attributes.get("r", ""))
        self.column = self.column + 1 if address is None else _column_number(address[1])
        self.kind, self.style = attributes.get("t", ""), attributes.get("s", "")
        self.formula, self.value = False, False

    def text(self, text: str) -> None:
        """Note that a cell holds something."""
        self.value = self.value or (self.reading and bool(text.strip()))

    def end(self, tag: str) -> None:
        """Note what a cell was."""
        tag = tag.rpartition(":")[2]
        if tag in ("v", "t"):
            self.reading = False
        elif tag == "c":
            self.faults.filled = self.faults.filled or self.value
            if self.digits and self.value and self.kind in ("", "n"):
                self.shown.setdefault(self.column, set()).add(self.digits.get(self.style, 0))
            if self.kind == "e":
                self.faults.errors.append(f"{_letters(self.column)}{self.row}")
            elif self.formula and not self.value and self.kind != "str":
                self.faults.uncomputed.append(f"{_letters(self.column)}{self.row}")
            self.rows, self.columns = max(self.rows, self.row), max(self.columns, self.column)
            self.extent = self.rows * self.columns


class _OpenDocument:
    """The sheets of an ``.ods`` file. Cells and rows may be written once and count often."""

    def __init__(self) -> None:
        self.sheets: list[_Sheet] = []
        self.row, self.times, self.column, self.width = 0, 1, 0, 0
        self.shown, self.cell = "", dict[str, str]()

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Note where a sheet, a row or a cell begins."""
        if tag == "table:table":
            self.sheets.append(_Sheet(attributes.get("table:name", "")))
            self.row = 0
        elif tag == "table:table-row":
            self.times, self.column, self.width = int(attributes.get("table:number-rows-repeated", 1)), 0, 0
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self.cell, self.shown = attributes, ""
            self.column += int(attributes.get("table:number-columns-repeated", 1))
            if "office:value-type" in attributes and self.sheets:
                self.width = self.column
                self.sheets[-1].faults.filled = True

    def text(self, text: str) -> None:
        """Keep what a cell shows."""
        self.shown += text

    def end(self, tag: str) -> None:
        """Note what a cell or a row was."""
        if tag == "table:table-row" and self.sheets:
            self.row += self.times
            self.sheets[-1].extent += self.width * self.times
        elif tag == "table:table-cell" and self.sheets:
            faults, address = self.sheets[-1].faults, f"{_letters(self.column)}{self.row + 1}"
            formula = "table:formula" in self.cell
            wrong = formula and _SHOWN_ERROR.fullmatch(self.shown.strip()) is not None
            if wrong or self.cell.get("calcext:value-type") == "error":
                faults.errors.append(address)
            elif formula and "office:value-type" not in self.cell:
                faults.uncomputed.append(address)
            spans = (self.cell.get(f"table:number-{each}-spanned", "1") for each in ("columns", "rows"))
            if set(spans) != {"1"}:
                faults.merged.append(self.row + 1)


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text
