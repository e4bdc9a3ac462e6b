"""How the text of a released cell is read; :mod:`sudare.releases.cell_writer` writes it.

=====================  ==========================================================================================
text                   meaning
=====================  ==========================================================================================
``39``                 one value, as it was
``[17, 25]``           a closed interval of numbers, dates or times
``{Cuba, Peru}``       one of these categories; ``null`` among them says that the value may be missing
a node's label         a node of the column's hierarchy
``*``                  anything, a missing value included
a null (empty in CSV)  the value is missing, for every record of the class
=====================  ==========================================================================================

A category that could be taken for something else is quoted as in JSON: ``"*"``, ``"[1, 2]"``, ``{"a, b", c}``. In text
files a cell that a spreadsheet would run as a formula has an apostrophe before it
(:mod:`sudare.releases.spreadsheet_formulas`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.releases.cell_values import is_missing, is_written_number, value_text
from sudare.releases.spreadsheet_formulas import plain

_HALF_OPEN = re.compile(r"^\[([^,\[\]]+), ([^,\[\]]+)\)$")


@dataclass(frozen=True)
class Interval:
    """A closed interval, its ends as text."""

    low: str
    high: str

    @property
    def text(self) -> str:
        """The interval as a release shows it."""
        return f"[{self.low}, {self.high}]"


@dataclass(frozen=True)
class Choice:
    """One of several categories; None among them stands for a missing value."""

    members: tuple[str | None, ...]


@dataclass(frozen=True)
class Anything:
    """Nothing is said about the value."""


@dataclass(frozen=True)
class HalfOpen:
    """An interval that is open at its end, as the bands of a hierarchy over numbers that are not whole."""

    low: str
    high: str

    @property
    def text(self) -> str:
        """The band as a release shows it."""
        return f"[{self.low}, {self.high})"


Cell = str | Interval | Choice | Anything | None
ReadCell = Cell | HalfOpen
"""A cell as the reader of a release gives it; :func:`parse_cell` gives a half-open band as its label."""


def parse_cell(cell: Any) -> Cell:
    """Take a released cell apart: into a text, an `Interval`, a `Choice`, `Anything`, or None.

    A plain value, or a label of a hierarchy, comes back as text. A number, date or time comes back as a release writes
    it: 39.0 is "39", and a timestamp at midnight is its day. None, an empty text, not-a-number and the missing values
    of pandas and Polars are missing. The apostrophe that keeps spreadsheets from running a cell as a formula is
    removed.
    """
    if is_missing(cell):
        return None
    text = plain(cell) if isinstance(cell, str) else value_text(cell)
    if text == "*":
        return Anything()
    if text.startswith("[") and text.endswith("]") and ", " in text:
        low, _, high = text[1:-1].partition(", ")
        return Interval(low, high)
    if text.startswith("{") and text.endswith("}"):
        return Choice(tuple(_members(text[1:-1])))
    if text.startswith('"'):
        with suppress(ValueError):  # not quoted by us, so it is what it is
            return str(json.loads(text))
    return text


def _members(text: str) -> Iterator[str | None]:
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        if text[at] == '"':
            value, at = decoder.raw_decode(text, at)
            yield str(value)
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            yield None if text[at:end] == "null" else text[at:end]
            at = end
        at += len(", ")


def read_cell(text: str | None) -> ReadCell:
    """Read a released cell; a label that says a half-open band of numbers is read as one."""
    cell = parse_cell(text)
    if not isinstance(cell, str):
        return cell
    found = _HALF_OPEN.match(cell)
    return HalfOpen(*found.groups()) if found and all(map(is_written_number, found.groups())) else cell


def label_of(cell: ReadCell) -> str | None:
    """Return a cell as the text of one value or label; None for what is more than one, or missing."""
    if isinstance(cell, HalfOpen):
        return cell.text
    return cell if isinstance(cell, str) else None


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """A released column: the number of each row's cell, and the text of each different one (a null is the last)."""

    of_row: NDArray[np.int64]
    texts: pa.Array

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def cells(self) -> list[ReadCell]:
        """What each of the different cells says."""
        return [read_cell(text) for text in self.texts.to_pylist()]

    def in_order(self) -> ReleasedCells:
        """Return the same column with its different cells in the order of their texts."""
        order = pc.array_sort_indices(self.texts).to_numpy()  # nulls last
        place = np.zeros(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return ReleasedCells(place[self.of_row], self.texts.take(pa.array(order)))

    def ends(self) -> tuple[pa.Array, pa.Array]:
        """Return the texts of the ends of each cell, many at once; a cell that is no interval is both its ends."""
        found = pc.extract_regex(self.texts, r"^\[(?P<low>.*?), (?P<high>.*)\]$")
        low, high = (pc.coalesce(pc.struct_field(found, end), self.texts) for end in ("low", "high"))
        return low, high


def read_cells(column: pa.ChunkedArray | pa.Array) -> ReleasedCells:
    """Read a released column of single cells; not-a-number is how some frames say that a cell is missing."""
    numbers, values = distinct(column)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    again, texts = distinct(values.cast(pa.large_string()))  # which may be the same for two values, or for none
    return ReleasedCells(again[numbers], texts)


def distinct(cells: pa.ChunkedArray | pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    """Return the number of each cell among the different values that occur, and these; a null is the last of them.

    Cells that come with a dictionary are numbered by it, which is many times faster.
    """
    chunked = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    if pa.types.is_null(chunked.type):
        return np.zeros(len(chunked), dtype=np.int64), pa.nulls(min(len(chunked), 1))
    coded = chunked.unify_dictionaries() if pa.types.is_dictionary(chunked.type) else chunked.dictionary_encode()
    whole = coded.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    values = whole.dictionary
    numbers = np.asarray(whole.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)).astype(np.int64)
    if whole.indices.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    there = np.bincount(numbers, minlength=len(values)) > 0
    if not there.all():
        numbers, values = (np.cumsum(there) - 1)[numbers], values.filter(pa.array(there))
    return numbers, values
