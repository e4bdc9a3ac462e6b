"""Reading of release files back into tables, each column as the release means it, whatever the layout of the file.

Text comes back with points in its numbers and commas in its ranges, and without the apostrophes that protect
spreadsheets: estimates, risks and reports know no other form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines
from sudare.core.errors import DataError, Problem, UnsupportedError
from sudare.core.sizes import EXACT, LARGEST_INT64
from sudare.engines.file_errors import check_file, reading
from sudare.policy import TextLayout
from sudare.releases.decimal_commas import read_without_commas
from sudare.releases.release_formats import EXCEL, JSON_LINES, PARQUET, TEXT, release_format, with_tabs
from sudare.releases.spreadsheet_formulas import read_back

_DECIMAL_DIGITS = 38
"""The most digits that a decimal has, in sources and in DuckDB alike."""


@dataclass(frozen=True, eq=False)
class ReleaseFile:
    """A file of a release; ``layout`` is how its certificate says that it is laid out, if it is text.

    ``rows`` is how many there are: the last ones of a sheet may be empty, and then its reader does not know.
    """

    path: Path
    layout: TextLayout | None = None
    rows: int = 0

    def names(self) -> list[str]:
        """Return the names of its columns."""
        known = release_format(self.path)
        if known in (JSON_LINES, EXCEL):
            return list(self._cells().column_names)
        return engines.file_columns(self.path, self._form)

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Read some columns; in Parquet text stays coded, which is many times faster, sets most of all."""
        known = release_format(self.path)
        if known in (JSON_LINES, EXCEL):
            cells = self._cells()
            with _sound(self.path):  # a name may be there twice
                return cells.select(list(columns))
        if known is TEXT:
            table = engines.read_file(self.path, columns, self._form)
            layout = self.layout
            return read_back(read_without_commas(table, layout.numbers if layout and layout.decimal == "," else ()))
        if known is not PARQUET:
            return engines.read_file(self.path, columns, self._form)
        import pyarrow.parquet as pq

        with reading(self.path):
            leaves = pq.ParquetFile(self.path).schema
            texts = [leaf.path for leaf in map(leaves.column, range(len(leaves))) if leaf.physical_type == "BYTE_ARRAY"]
            read = pq.ParquetFile(self.path, read_dictionary=texts).read(columns=list(columns))
            return read.replace_schema_metadata(None)

    @property
    def _form(self) -> engines.TextForm:
        if self.layout is None:
            return engines.TextForm("\t" if with_tabs(self.path) else ",", blank_records=True)
        return engines.TextForm(self.layout.delimiter, self.layout.encoding, blank_records=True)

    def _cells(self) -> pa.Table:
        check_file(self.path)
        with reading(self.path), _sound(self.path):
            return _json_lines(self.path) if release_format(self.path) is JSON_LINES else _sheet(self.path, self.rows)


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Replace errors of libraries, which may quote cells."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError):
        what = "cannot be read: it is damaged, or its format does not match its ending."
        raise DataError(Problem(path.name, what)) from None


def _json_lines(path: Path) -> pa.Table:
    """Read one object per line; all have the same keys. Numbers are those that it shows, however long they are."""
    names: list[str] = []
    columns: list[list[Any]] = []
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            row = json.loads(line, parse_float=_number)
            if not columns:
                names, columns = list(row), [[] for _ in row]
            for cells, value in zip(columns, row.values(), strict=True):
                if any(isinstance(part, list | dict) for part in (value if isinstance(value, list) else (value,))):
                    raise ValueError  # Arrow would follow lists in lists until the stack overflows
                cells.append(value)
    return pa.table([_json_column(cells) for cells in columns], names=names)


def _number(literal: str) -> float | Decimal:
    """Return a number with a point or a power; a decimal, if the nearest float would be shown as another text."""
    nearest = float(literal)
    return nearest if repr(nearest) == literal else Decimal(literal)


def _json_column(cells: list[Any]) -> pa.Array:
    """Return cells in a type that has their values: whole numbers and floats where they are exact, else decimals."""
    parts = [part for cell in cells for part in (cell if isinstance(cell, list) else (cell,)) if part is not None]
    kinds = set(map(type, parts))
    wholes = [part for part in parts if type(part) is int]
    least, most = min(wholes, default=0), max(wholes, default=0)
    if kinds == {int} and least >= 0 and LARGEST_INT64 < most <= 2 * LARGEST_INT64 + 1:
        return _converted(cells, int, pa.uint64())
    limit = LARGEST_INT64 if kinds == {int} else EXACT - 1
    if Decimal not in kinds and -limit - 1 <= least and most <= limit:
        return pa.array(cells)
    if not kinds <= {int, float, Decimal}:
        raise ValueError  # numbers and texts
    return _exact_numbers(cells, parts)


def _exact_numbers(cells: list[Any], parts: list[Any]) -> pa.Array:
    """Return numbers as decimals; if they have too many digits, as floats that show them, or as text."""
    exact = [Decimal(str(part)) for part in parts]
    if all(number.is_finite() for number in exact):
        scale = max(max(0, -_power(number)) for number in exact)
        digits = scale + max(max(0, len(number.as_tuple().digits) + _power(number)) for number in exact)
        if digits <= _DECIMAL_DIGITS:
            return _converted(cells, lambda part: Decimal(str(part)), pa.decimal128(max(1, digits), scale))
    if all(Decimal(repr(float(number))) == number for number in exact):
        return _converted(cells, float, pa.float64())
    return _converted(cells, str, pa.string())


def _power(number: Decimal) -> int:
    return int(number.as_tuple().exponent)


def _converted(cells: list[Any], convert: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """Return cells, or the items of cells, in a type."""
    if any(isinstance(cell, list) for cell in cells):
        lists = [None if cell is None else [None if part is None else convert(part) for part in cell] for cell in cells]
        return pa.array(lists, pa.list_(kind))
    return pa.array([None if cell is None else convert(cell) for cell in cells], kind)


def _sheet(path: Path, count: int) -> pa.Table:
    """Read the first sheet of a workbook; empty cells are missing."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        hint = "install it: pip install 'sudare[excel]'."
        raise UnsupportedError("a release as .xlsx needs python-calamine.", hint=hint) from None
    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            rows = book.get_sheet_by_index(0).iter_rows()
            names = [str(name) for name in next(rows)]
            columns: list[list[Any]] = [[] for _ in names]
            for row in rows:
                for cells, value in zip(columns, row, strict=True):
                    cells.append(None if value == "" else value)
    except CalamineError:
        raise ValueError from None
    for cells in columns:
        cells += [None] * (count - len(cells))
    return pa.table([_column(cells) for cells in columns], names=names)


def _column(cells: list[Any]) -> pa.Array:
    """Return cells of one type, and others as text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float}:
        whole = all(cell is None or (float(cell).is_integer() and abs(cell) <= LARGEST_INT64) for cell in cells)
        return pa.array(cells if not whole else [None if cell is None else int(cell) for cell in cells])
    if kinds == {date, datetime}:  # midnights look like days
        moments = [datetime.combine(cell, time()) if type(cell) is date else cell for cell in cells]
        return pa.array(moments, pa.timestamp("us"))
    return pa.array(cells) if len(kinds) == 1 else pa.array([_text(cell) for cell in cells], pa.string())


def _text(cell: Any) -> str | None:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, date | datetime):
        return cell.isoformat(*([" "] if isinstance(cell, datetime) else []))
    return None if cell is None else str(cell)
