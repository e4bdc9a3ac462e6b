"""The different values of a released column, and how many records hold some of them.

Values are looked at once, however many records hold them. Lists count as their items, and the members of a set and
the ends of a range as pieces of a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.releases.cell_reader import Anything, Choice, HalfOpen, Interval, ReadCell, distinct, read_cell
from sudare.releases.spreadsheet_formulas import plain

Ints = NDArray[np.int64]
Found = NDArray[np.bool_]

NUMBER = r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_PLAIN = rf"^\s*(\*|{NUMBER}|[\[{{]{NUMBER}(, {NUMBER})*[\]}})])?\s*$"
"""A number, a range or a set of numbers, or nothing: no text with a form of its own."""
_WHOLE = re.compile(r"[0-9]{1,18}(\.0+)?")


@dataclass(frozen=True, eq=False)
class ReleasedValues:
    """The values of one column: ``texts`` are the different ones, ``of_cell`` is which one each cell (or item) holds.

    ``record`` is the record of each item of a list. ``calendar`` says that the type is one of dates, ``binary`` that
    cells are bytes. ``separator`` parts the items of a text.
    """

    name: str
    texts: pa.Array
    of_cell: Ints
    record: Ints | None = None
    calendar: bool = False
    binary: pa.Array | None = None
    separator: str | None = None

    @cached_property
    def counts(self) -> Ints:
        """How many cells hold each value."""
        return np.bincount(self.of_cell, minlength=len(self.texts)).astype(np.int64)

    @cached_property
    def cells(self) -> int:
        """How many cells are not empty."""
        there = np.asarray(pc.is_valid(self.texts).to_numpy(zero_copy_only=False))
        return self.records(there)

    @cached_property
    def strings(self) -> list[str | None]:
        """The different values in Python."""
        found: list[str | None] = self.texts.to_pylist()
        return found

    @cached_property
    def worded(self) -> Found:
        """Which values are more than numbers, and ranges and sets of numbers."""
        if self.calendar:
            return np.zeros(len(self.texts), dtype=bool)
        bare = pc.fill_null(pc.match_substring_regex(self.texts, _PLAIN), True)
        return ~np.asarray(bare.to_numpy(zero_copy_only=False))

    def matching(self, pattern: str) -> Found:
        """Return which values hold a pattern of Arrow's."""
        found = pc.fill_null(pc.match_substring_regex(self.texts, pattern), False)
        return np.asarray(found.to_numpy(zero_copy_only=False))

    def records(self, values: Found) -> int:
        """Return how many records hold at least one of some values."""
        if self.record is None:
            return int(self.counts[values].sum())
        held = self.record[values[self.of_cell]]  # in the order of the records
        return len(held) and 1 + int(np.count_nonzero(held[1:] != held[:-1]))

    def pieces(self, value: int) -> list[str]:
        """Return the members of a set, the items of a list, the ends of a range, or the value itself."""
        text = self.strings[value]
        return [] if text is None else list(_pieces(text, self.separator))

    def whole_numbers(self) -> tuple[Ints, Ints]:
        """Return all whole numbers in the column, and the value that each is a piece of."""
        numbers, places = [], []
        for place in range(len(self.texts)):
            for piece in self.pieces(place):
                if _WHOLE.fullmatch(piece):
                    numbers.append(int(piece.partition(".")[0]))
                    places.append(place)
        return np.asarray(numbers, dtype=np.int64), np.asarray(places, dtype=np.int64)

    def of(self, places: Iterable[int]) -> Found:
        """Return some values, by their places, as a mask."""
        found = np.zeros(len(self.texts), dtype=bool)
        found[list(places)] = True
        return found


def read_values(name: str, cells: pa.ChunkedArray, separator: str | None = None) -> ReleasedValues:
    """Return the values of a released column."""
    record: Ints | None = None
    if pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type):
        whole = cells.combine_chunks()
        whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
        record = np.asarray(pc.list_parent_indices(whole).to_numpy(zero_copy_only=False), dtype=np.int64)
        cells = pa.chunked_array([pc.list_flatten(whole)])
    inner = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if pa.types.is_nested(inner):
        cells = pa.chunked_array(
            [[None if cell is None else json.dumps(cell, default=str) for cell in cells.to_pylist()]]
        )
    of_cell, values = distinct(cells)
    calendar = pa.types.is_date(inner) or pa.types.is_timestamp(inner)
    if pa.types.is_binary(inner) or pa.types.is_large_binary(inner) or pa.types.is_fixed_size_binary(inner):
        texts = pa.array([None if one is None else "" for one in values.to_pylist()], pa.large_string())
        return ReleasedValues(name, texts, of_cell, record, binary=values)
    texts = _texts(values)
    if pa.types.is_large_string(inner) or pa.types.is_string(inner):
        texts = pc.utf8_normalize(texts, form="NFKC")
    return ReleasedValues(name, texts, of_cell, record, calendar, separator=separator)


def _texts(values: pa.Array) -> pa.Array:
    if pa.types.is_floating(values.type):
        with suppress(pa.ArrowInvalid):
            values = values.cast(pa.int64())
    try:
        return values.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if one is None else str(one) for one in values.to_pylist()], pa.large_string())


def _pieces(text: str, separator: str | None) -> Iterator[str]:
    cell = cell_of(text)
    if isinstance(cell, Interval | HalfOpen):
        yield from (cell.low, cell.high)
    elif isinstance(cell, Choice):
        yield from (each for each in cell.members if each is not None)
    elif isinstance(cell, str):
        parts: Sequence[str] = cell.split(separator) if separator else [cell]
        yield from (part.strip() for part in parts if part.strip())


def cell_of(text: str) -> ReadCell:
    """Return what a cell says; one that only looks like a set or a quoted text is what it is."""
    if text.startswith(("[", "{", '"', "'", "*")):
        try:
            return read_cell(text)
        except ValueError:
            return plain(text)
    return None if isinstance(text, Anything) else text
