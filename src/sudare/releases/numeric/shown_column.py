"""A column of a released table, or of raw records, as the different cells that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.releases.cell_reader import (
    Choice,
    HalfOpen,
    Interval,
    ReadCell,
    ReleasedCells,
    distinct,
    label_of,
    read_cells,
)
from sudare.releases.numeric.spans import Axis, Floats, Mask

Leaves = Mapping[str, Sequence[str]]
"""The leaves below each label of a column's hierarchy."""
FIRST_YEAR, LAST_YEAR = 1000, 9999
"""The years that a number of four digits can say."""


class ShownColumn:
    """A column of a table; ``literal`` says that its texts are values, and no released cells."""

    def __init__(self, name: str, cells: pa.ChunkedArray, *, literal: bool = False) -> None:
        kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
        if pa.types.is_string_view(kind):
            cells, kind = cells.cast(pa.large_string()), pa.large_string()
        self.name, self.column, self.kind, self.literal = name, cells, kind, literal

    @property
    def is_list(self) -> bool:
        """Whether cells are lists of items."""
        return bool(pa.types.is_list(self.kind) or pa.types.is_large_list(self.kind))

    @property
    def is_text(self) -> bool:
        """Whether cells are texts."""
        return bool(pa.types.is_string(self.kind) or pa.types.is_large_string(self.kind))

    @property
    def axis(self) -> Axis | None:
        """What the cells stand on, if they are numbers, dates or times, and not texts."""
        kind = self.kind
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            return "day"
        if pa.types.is_time(kind) or pa.types.is_duration(kind):
            return "second"
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        return "number" if number or pa.types.is_boolean(kind) else None

    @property
    def is_number(self) -> bool:
        """Whether cells are numbers, and neither texts, dates nor truth values."""
        return self.axis == "number" and not pa.types.is_boolean(self.kind)

    def with_years(self) -> ShownColumn:
        """Return the column with its numbers as texts if they are years, as programs read those of a text file."""
        if not self.is_number:
            return self
        known = np.isfinite(self.places)
        years = self.places[known]
        if not np.all((years == np.floor(years)) & (years >= FIRST_YEAR) & (years <= LAST_YEAR)):
            return self
        texts = pa.array(np.where(known, self.places, 0).astype(np.int64), mask=~known).cast(pa.large_string())
        return ShownColumn(self.name, pa.chunked_array([texts]), literal=self.literal)

    def plain(self) -> pa.Array:
        """Return the cells as they are, in one piece and without a dictionary."""
        cells = self.column.cast(self.kind) if pa.types.is_dictionary(self.column.type) else self.column
        whole = cells.combine_chunks()
        return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole

    @cached_property
    def places(self) -> Floats:
        """Return the numbers of a column that stands on an axis; missing ones are NaN."""
        cells, kind = self.plain(), self.kind
        scale = 1.0
        if pa.types.is_date32(kind):
            cells = cells.cast(pa.int32())
        elif pa.types.is_temporal(kind):
            days = 86_400 if self.axis == "day" else 1
            scale = days * {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[getattr(kind, "unit", "ms")]
            cells = (cells.cast(pa.int32()) if pa.types.is_time32(kind) else cells).cast(pa.int64())
        wide = cells.cast(pa.float64(), safe=False)
        return np.array(wide.to_numpy(zero_copy_only=False), dtype=np.float64) / scale

    @cached_property
    def read(self) -> ReleasedCells:
        """The different cells of a column of single values, and which of them each row has."""
        return read_cells(self.column)

    @cached_property
    def cells(self) -> list[ReadCell]:
        """What each different cell says."""
        return self.read.texts.to_pylist() if self.literal else self.read.cells

    @cached_property
    def missing(self) -> Mask:
        """Which of the different cells are missing."""
        empty = pc.fill_null(pc.equal(self.read.texts, ""), True)
        return np.asarray(empty.to_numpy(zero_copy_only=False), dtype=np.bool_)

    @cached_property
    def hidden(self) -> Mask:
        """Which of the different cells show nothing."""
        if self.literal:
            return np.zeros(len(self.read), dtype=np.bool_)
        star = pc.fill_null(pc.equal(self.read.texts, "*"), False)
        return np.asarray(star.to_numpy(zero_copy_only=False), dtype=np.bool_)

    @property
    def generalized(self) -> bool:
        """Whether some cell is a range or a set, as no value of a source usually is."""
        return self.is_text and any(isinstance(cell, Interval | HalfOpen | Choice) for cell in self.cells)

    def nothing(self, leaves: Leaves) -> Mask:
        """Return which of the different cells show nothing: ``*``, or the label above all leaves of the hierarchy."""
        found = self.hidden.copy()
        size = len({leaf for below in leaves.values() for leaf in below})
        for number, cell in enumerate(self.cells if leaves and not self.literal else ()):
            label = label_of(cell)
            found[number] |= label is not None and size > 1 and len(leaves.get(label, ())) == size
        return found

    def empty_rows(self, leaves: Leaves, *, sets: bool = False) -> Mask:
        """Return which rows show nothing; in a column of item ``sets`` those that show no item."""
        if self.is_list:
            return np.asarray(pc.equal(pc.list_value_length(self.plain()), 0).fill_null(False))
        if sets:  # in text, where an empty set is an empty field
            return self.missing[self.read.of_row]
        return self.nothing(leaves)[self.read.of_row]

    def values(self) -> pa.Array:
        """Return the texts of the different cells, null for those that are missing or show nothing."""
        gone = pa.array(self.missing | self.hidden)
        return pc.if_else(gone, pa.scalar(None, pa.large_string()), self.read.texts)

    def items(self, separator: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str], Mask]:
        """Return a column of item sets: the row and the item of each pair, the items, and which rows are null.

        In text, items are joined by the separator, and an empty field is an empty set.
        """
        lists = self.plain()
        if not self.is_list:
            texts = lists.cast(pa.large_string()).fill_null("")
            lists = pc.split_pattern(texts, separator or ",")
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        flat = lists.flatten()
        item, names = distinct(flat.cast(pa.large_string()) if not pa.types.is_dictionary(flat.type) else flat)
        row = np.repeat(np.arange(len(lists)), lengths)
        names = names.cast(pa.large_string())
        texts = names.fill_null("").to_pylist()
        if not self.is_list:
            there = np.array([text != "" for text in texts] or [False], dtype=np.bool_)[item]
            row, item = row[there], item[there]
        return row, item, texts, np.asarray(lists.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
