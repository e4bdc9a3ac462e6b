"""Cells of text files that spreadsheets would run, as the audit takes them."""

from __future__ import annotations

import re

import duckdb
import pyarrow as pa
import pytest

from sudare.audits.spreadsheet_formulas import value_of

SIGNS = "=+@\t\r\n＝＋－＠-"
NUMBER = re.compile(r"-([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)


def slowly(cell, formulas):
    """What a cell is, in the words of the module."""
    if not cell or cell[0] not in SIGNS + "'":
        return cell
    marked = re.match(f"'+[{re.escape(SIGNS)}]", cell)
    if formulas == "keep":
        if not marked:
            return cell
        return cell[1:] if cell.startswith("''") else "\x01" + cell
    if cell[0] == "'":
        return cell if not marked else "\x01" + cell if NUMBER.fullmatch(cell[1:]) else cell[1:]
    return cell if NUMBER.fullmatch(cell) else "\x01" + cell


@pytest.mark.parametrize("formulas", ["escape", "keep"])
def test_cells_are_those_of_the_slow_definition_whatever_they_begin_with(formulas):
    starts = [chr(code) for code in (*range(1, 0x250), *range(0xFEF0, 0xFF40), 0xD7FF, 0xE000, 0xFFFD, 0x1F600)]
    cells = [None, *(start + rest for start in starts for rest in ("", "1", "-1", "=A1", "'", "'=1", "bc"))]
    cells += [f"'{cell}" for cell in cells if cell is not None]
    with duckdb.connect() as connection:
        connection.register("given", pa.table({"c": pa.array(cells, pa.string())}))
        found = connection.execute(f"SELECT {value_of('c', formulas)} FROM given").fetchall()
    assert [each for (each,) in found] == [slowly(cell, formulas) for cell in cells]
