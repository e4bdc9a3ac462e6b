"""Plain types: every column is converted to one of them before it is encoded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.engines.invalid_cells import check_cells, check_zones


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the plain types of a schema, and nothing that a source notes down about them; raise for unknown zones."""
    check_zones(schema)
    return pa.schema([pa.field(column.name, plain_kind(column.type)) for column in schema])


def plain_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch in plain types; raise if there are cells that their type does not allow."""
    check_cells(batch)
    return pa.RecordBatch.from_arrays([_plain(cells) for cells in batch.columns], names=batch.schema.names)


def plain_kind(kind: pa.DataType) -> pa.DataType:
    """Return what is to become of Arrow's views, runs, extensions and half floats, which many functions do not take."""
    if isinstance(kind, pa.BaseExtensionType):
        known = _EXTENSIONS.get(kind.extension_name)
        return plain_kind(kind.storage_type) if known is None else known[0]
    if pa.types.is_run_end_encoded(kind):
        return plain_kind(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return pa.decimal128(kind.precision - min(kind.scale, 0), max(kind.scale, 0))
    if pa.types.is_decimal256(kind):
        return pa.decimal128(38, max(kind.scale, 0))
    if pa.types.is_decimal(kind) and kind.scale < 0:  # whole hundreds, say, which not all formats know
        return pa.decimal128(min(kind.precision - kind.scale, 38), 0)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind) or pa.types.is_large_list(kind):
        return pa.large_list(plain_kind(kind.value_type))
    if pa.types.is_list(kind):
        return pa.list_(plain_kind(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain_kind(kind.value_type), kind.list_size)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, plain_kind(field.type)) for field in kind])
    return kind


def _plain(cells: pa.Array) -> pa.Array:
    kind = plain_kind(cells.type)
    if kind == cells.type:
        return cells
    if isinstance(cells.type, pa.BaseExtensionType):
        known = _EXTENSIONS.get(cells.type.extension_name)
        return _plain(cells.storage) if known is None else known[1](cells.storage)
    if pa.types.is_run_end_encoded(cells.type):
        return _plain(pc.run_end_decode(cells))
    if _needs_python(cells.type):
        return pa.array(cells.to_pylist(), kind)  # Arrow's own cast of views of lists gives lists with wrong ends
    return cells.cast(kind)


def _needs_python(kind: pa.DataType) -> bool:
    """Return whether a type contains list views or extensions, at any depth."""
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind) or isinstance(kind, pa.BaseExtensionType):
        return True
    return any(_needs_python(kind.field(place).type) for place in range(kind.num_fields))


def _uuid_texts(stored: pa.Array) -> pa.Array:
    """Return identifiers of 16 bytes as the usual text of 36 characters, all at once."""
    width = 16
    data = np.frombuffer(stored.buffers()[1], np.uint8) if len(stored) else np.zeros(0, np.uint8)
    data = data[stored.offset * width :][: len(stored) * width].reshape(-1, width)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    pairs = np.stack([digits[data >> 4], digits[data & 15]], axis=2).reshape(len(stored), 2 * width)
    texts = np.full((len(stored), 36), ord("-"), np.uint8)
    texts[:, [place for place in range(36) if place not in (8, 13, 18, 23)]] = pairs
    ends = pa.array(np.arange(0, 36 * len(stored) + 1, 36), pa.int64())
    found = pa.LargeStringArray.from_buffers(len(stored), ends.buffers()[1], pa.py_buffer(texts.tobytes()))
    return pc.if_else(stored.is_valid(), found, pa.scalar(None, pa.large_string()))


_EXTENSIONS: dict[str, tuple[pa.DataType, Callable[[pa.Array], pa.Array]]] = {
    "arrow.uuid": (pa.large_string(), _uuid_texts),
    "arrow.bool8": (pa.bool_(), lambda stored: pc.not_equal(stored, pa.scalar(0, stored.type))),
}
"""The plain types of extensions that differ from their storage; all others become their storage type."""
