"""Unchanged columns of a release, block by block, without any data that no row shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.sizes import CODES_16
from sudare.releases.row_blocks import Ints, Span
from sudare.table import Column, Table, plain_numbers


class Carried:
    """Columns from the source table, unchanged; ``types`` are the types of columns that come as text."""

    def __init__(self, table: pa.Table, types: Mapping[str, pa.DataType]) -> None:
        self.names = table.column_names
        self.as_type = dict(types)
        self.pieces = table.to_batches()  # each chunk on its own: together they may not fit into one array
        self.begin = np.cumsum([0] + [piece.num_rows for piece in self.pieces])
        self.types = {field.name: types.get(field.name, _without_dictionaries(field.type)) for field in table.schema}
        self.widest = table.nbytes // max(table.num_rows, 1)

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the cells of these rows."""
        if len(self.pieces) == 1:
            taken = self.pieces[0].take(pa.array(span.rows))
            return {
                name: self._typed(name, nothing_behind(cells)) for name, cells in zip(self.names, taken, strict=True)
            }
        # piece by piece, and then back into the order of the rows
        piece = np.searchsorted(self.begin, span.rows, side="right") - 1
        if len(self.pieces) < CODES_16:
            piece = piece.astype(np.uint16)  # sorted in linear time
        order = np.argsort(piece, kind="stable")
        cuts = np.searchsorted(piece[order], np.arange(len(self.pieces) + 1))
        sorted_rows = span.rows[order]
        parts = [
            self.pieces[number].take(pa.array(sorted_rows[cuts[number] : cuts[number + 1]] - self.begin[number]))
            for number in np.flatnonzero(np.diff(cuts))
        ]
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return {
            name: self._typed(name, pa.concat_arrays([nothing_behind(part) for part in column]).take(pa.array(back)))
            for name, *column in zip(self.names, *parts, strict=True)
        }

    def _typed(self, name: str, cells: pa.Array) -> pa.Array:
        kind = self.as_type.get(name, cells.type)
        if kind == cells.type:
            return cells
        typed = cells.cast(kind)
        return pc.add(typed, pa.scalar(0.0, kind)) if pa.types.is_floating(kind) else typed  # minus zero is zero


class Spelled:
    """A text column of a requirement in its original spellings; cells that count as missing are null.

    Spellings of one value count as one value, but writing them in one form would change the data.
    """

    def __init__(self, column: Column, carried: Carried) -> None:
        self.column, self.carried = column, carried
        self.types, self.widest = carried.types, carried.widest

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the cells of these rows."""
        [(name, cells)] = self.carried.block(span).items()
        return {name: without_missing(cells, self.column, self.column.codes[span.rows])}


def without_missing(cells: pa.Array, column: Column, codes: NDArray[Any]) -> pa.Array:
    """Return cells with null for those that count as missing."""
    if not column.missing:
        return cells
    if pa.types.is_string_view(cells.type):  # which Arrow does not choose from
        return without_missing(cells.cast(pa.large_string()), column, codes).cast(cells.type)
    return pc.if_else(pa.array(codes == column.missing_code), pa.scalar(None, cells.type), cells)


class Written:
    """A column of a requirement, from its codes: equal values are written in the same form.

    Not-a-number is missing, minus zero is zero, and of numbers in text "1" and "1.0" are the same. A reader who counted
    them as different values would find other distributions than the audit.
    """

    def __init__(self, column: Column, kind: pa.DataType) -> None:
        self.column = column
        text = column.kind == "categorical"
        # text goes with a dictionary, which is as good as text for a file, and cheaper to write
        self.coded = text and (pa.types.is_string(kind) or pa.types.is_large_string(kind))
        self.values = column.values.cast(kind) if text or pa.types.is_floating(kind) else column.values
        self.types = {column.name: self.values.type}
        self.widest = self.values.nbytes // max(len(self.values), 1)

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the values of these rows; a dictionary has only these."""
        codes = self.column.codes[span.rows]
        numbers = pa.array(codes, mask=codes == self.column.missing_code if self.column.missing else None)
        if not self.coded:
            return {self.column.name: self.values.take(numbers)}
        numbers = numbers.dictionary_encode()
        values = self.values.take(numbers.dictionary)
        return {self.column.name: pa.DictionaryArray.from_arrays(numbers.indices, values)}


def carried_columns(
    table: Table, names: list[str], types: Mapping[str, pa.DataType]
) -> list[Carried | Written | Spelled]:
    """Return what makes these columns of a table that are carried along."""
    assert table.carried is not None
    required = {name: column for name in names if (column := _rewritten(table, name)) is not None}
    rest = [name for name in names if name not in required]
    made: list[Carried | Written | Spelled] = list(required.values())
    return [*made, Carried(table.carried.select(rest), types)] if rest else made


def _rewritten(table: Table, name: str) -> Written | Spelled | None:
    assert table.carried is not None
    kind, encoded = table.carried.schema.field(name).type, table.sensitive.get(name)
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if text and encoded is not None and encoded.keys is not None and encoded.merged:
        return Spelled(encoded, Carried(table.carried.select([name]), {}))
    return Written(encoded, kind) if encoded is not None and (text or pa.types.is_floating(kind)) else None


def required_values(table: Table, cells: pa.Table, rows: Ints) -> dict[str, pa.Array]:
    """Return the columns of requirements for some rows that are written in another form than in the source.

    ``cells`` are those of the source.
    """
    found: dict[str, pa.Array] = {}
    for name, column in table.sensitive.items():
        given = cells.column(name)
        text = pa.types.is_string(given.type) or pa.types.is_large_string(given.type)
        if text or pa.types.is_floating(given.type):
            codes = column.codes[rows]
            if text and column.keys is not None:
                values = without_missing(given.combine_chunks(), column, codes)
            else:
                written = Written(column, given.type)
                numbers = pa.array(codes, mask=codes == column.missing_code if column.missing else None)
                values = written.values.take(numbers).cast(given.type)
            if not pa.chunked_array([values]).equals(given):
                found[name] = values
    return found


def plain_type(name: str, cells: pa.ChunkedArray) -> pa.DataType:
    """Return the type of the numbers or dates that a column of text says, or that of text if it says others, too."""
    parts: list[pa.Array] = []
    for chunk in cells.chunks:
        part = chunk.unique().drop_null()
        if len(part) and plain_numbers(name, part).type == cells.type:
            return cells.type  # and so are all together
        parts.append(part)
    return plain_numbers(name, pa.concat_arrays(parts).unique()).type if parts else cells.type


def nothing_behind(cells: pa.Array) -> pa.Array:
    """Return cells without any data that no row shows.

    A dictionary keeps the values of suppressed rows, and a struct those below its nulls; a file would keep them, too.
    """
    kind = _without_dictionaries(cells.type)
    if pa.types.is_dictionary(cells.type):
        return cells.cast(kind)
    flat = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not pa.types.is_nested(kind) or (flat and not pa.types.is_nested(kind.value_type) and kind == cells.type):
        return cells
    return _anew(cells, kind)


def _anew(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return cells of lists and structs, rebuilt from their visible values; Python has no nanoseconds for this."""
    given = cells.type
    if pa.types.is_struct(given) and kind.num_fields:
        parts = [_anew(part, field.type) for part, field in zip(cells.flatten(), kind, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=cells.is_null())
    if pa.types.is_fixed_size_list(given):
        return _anew(cells.cast(pa.list_(given.value_type)), pa.list_(kind.value_type)).cast(kind)
    if pa.types.is_list(given) or pa.types.is_large_list(given):
        lengths = pc.fill_null(pc.list_value_length(cells), 0).to_numpy()
        large = pa.types.is_large_list(given)
        ends = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int64() if large else pa.int32())
        make = pa.LargeListArray if large else pa.ListArray
        return make.from_arrays(ends, _anew(cells.flatten(), kind.value_type), type=kind, mask=cells.is_null())
    if pa.types.is_nested(given):
        return pa.array(cells.to_pylist(), kind)
    if cells.null_count:  # a null may stand before a value; one that is taken from nowhere stands before nothing
        cells = cells.take(pa.array(np.arange(len(cells)), mask=cells.is_null().to_numpy(zero_copy_only=False)))
    return cells.cast(kind)


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(_without_dictionaries(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_without_dictionaries(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_without_dictionaries(kind.value_type), kind.list_size)
    if pa.types.is_map(kind):
        return pa.map_(_without_dictionaries(kind.key_type), _without_dictionaries(kind.item_type))
    if pa.types.is_struct(kind):
        # anew: what a source notes down about a field stays behind
        return pa.struct([pa.field(field.name, _without_dictionaries(field.type)) for field in kind])
    return kind
