"""Content of a file besides its table: metadata, unused dictionary entries, unused bytes.

A table may keep every promise while its file still contains suppressed values, which other tools can find. So a Parquet
or Arrow file is refused if it holds more than its rows.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

HINT = "write its rows again, such as with pyarrow: write_table(table.replace_schema_metadata(None), ...)."
_VERSION = re.compile(r"[\w.+-]{1,40}")
_WORD = re.compile(r"[\w\[\]., -]{0,40}")
_PANDAS = {
    "index_columns",
    "column_indexes",
    "columns",
    "attributes",
    "partition_columns",
    "creator",
    "pandas_version",
}
_SPARK = b"org.apache.spark."
_SPARK_WORDS = {
    "type",
    "fields",
    "name",
    "nullable",
    "metadata",
    "elementType",
    "containsNull",
    "keyType",
    "valueType",
    "valueContainsNull",
}
_SLACK = 16
"""The bytes by which schemas of different writers may differ."""


class PayloadError(Exception):
    """A file that holds more than a table: what it is, without anything of it."""


def check_notes(notes: Mapping[bytes, bytes] | None, names: list[str], rows: int) -> None:
    """Raise if a file has metadata; only descriptions of the columns are allowed."""
    for key, note in (notes or {}).items():
        if key == b"ARROW:schema":
            _check_noted_schema(note, names, rows)
        elif key == b"pandas":
            _check_pandas(note, names, rows)
        elif key == _SPARK + b"version":
            if not _VERSION.fullmatch(note.decode("ascii", "replace")):
                raise PayloadError("has a long or unusual text as the version of Spark")
        elif key == _SPARK + b"sql.parquet.row.metadata":
            _check_spark(note, names)
        else:
            raise PayloadError("has metadata besides its rows (key-value metadata)")


def check_fields(schema: pa.Schema) -> None:
    """Raise if columns have notes of their own."""
    fields = list(schema)
    while fields:
        field = fields.pop()
        notes = {key: note for key, note in (field.metadata or {}).items() if key != b"PARQUET:field_id"}
        if notes:
            raise PayloadError("has metadata of columns (metadata of fields)")
        kind = field.type
        fields += [kind.field(place) for place in range(kind.num_fields)] if pa.types.is_nested(kind) else []


def _check_noted_schema(note: bytes, names: list[str], rows: int) -> None:
    try:
        raw = base64.b64decode(note, validate=True)
        schema = pa.ipc.read_schema(pa.py_buffer(raw))
    except (binascii.Error, pa.ArrowException, OSError):
        raise PayloadError("has schema metadata that cannot be read") from None
    if len(raw) > len(schema.serialize()) + _SLACK or schema.names != names:
        raise PayloadError("has schema metadata that holds more than the columns")
    check_fields(schema)
    check_notes({key: text for key, text in (schema.metadata or {}).items() if key != b"ARROW:schema"}, names, rows)


def _check_pandas(note: bytes, names: list[str], rows: int) -> None:
    """Allow what pandas notes of a frame with an index of row numbers: which columns of which types there are."""
    fault = PayloadError("has pandas metadata that holds more than the columns and their types")
    try:
        told = json.loads(note)
        plain = json.dumps(told).encode() == note  # nothing is there twice, or between the words
    except (ValueError, RecursionError):
        raise fault from None
    if not plain or not isinstance(told, dict) or not set(told) <= _PANDAS:
        raise fault
    index = {"kind": "range", "name": None, "start": 0, "stop": rows, "step": 1}
    creator = told.get("creator", {"library": "pyarrow", "version": "0"})
    good = (
        told.get("index_columns", []) in ([], [index])
        and not told.get("attributes")
        and not told.get("partition_columns")
        and isinstance(creator, dict)
        and set(creator) == {"library", "version"}
        and creator["library"] in ("pyarrow", "fastparquet")
        and all(_VERSION.fullmatch(str(one)) for one in (creator["version"], told.get("pandas_version", "0")))
        and all(_is_plain(one, [*names, None]) for one in [*told.get("columns", []), *told.get("column_indexes", [])])
    )
    if not good:
        raise fault


def _check_spark(note: bytes, names: list[str]) -> None:
    """Allow what Spark notes of a table: which columns of which types there are."""
    fault = PayloadError("has Spark metadata that holds more than the columns and their types")
    try:
        told = json.loads(note)
        plain = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() == note
    except (ValueError, RecursionError):
        raise fault from None
    top = told.get("fields") if isinstance(told, dict) else None
    if not plain or not isinstance(top, list) or not _is_spark_type(told, names):
        raise fault


def _is_spark_type(told: Any, names: list[str] | None = None) -> bool:
    """Whether Spark says of a type what it is, and of its columns their names."""
    if isinstance(told, str):
        return bool(_WORD.fullmatch(told.replace("(", "").replace(")", "")))
    if isinstance(told, bool):
        return True
    if not isinstance(told, dict) or not set(told) <= _SPARK_WORDS or told.get("metadata"):
        return False
    name, fields = told.get("name"), told.get("fields", [])
    known = name is None or (
        isinstance(name, str) and (name in names if names is not None else bool(_WORD.fullmatch(name)))
    )
    types = [told[key] for key in ("type", "elementType", "keyType", "valueType") if key in told]
    flags = [told[key] for key in told if key in ("nullable", "containsNull", "valueContainsNull")]
    return (
        known
        and isinstance(fields, list)
        and all(isinstance(flag, bool) for flag in flags)
        and all(_is_spark_type(one) for one in types)
        and all(isinstance(field, dict) and _is_spark_type(field, names) for field in fields)
    )


def _is_plain(told: Any, names: list[Any]) -> bool:
    """Whether pandas says of a column its name and its types alone."""
    keys = {"name", "field_name", "pandas_type", "numpy_type", "metadata"}
    if not isinstance(told, dict) or not set(told) <= keys:
        return False
    more = told.get("metadata") or {}
    return (
        told.get("name") in names
        and told.get("field_name") in names
        and all(_WORD.fullmatch(str(told.get(key))) for key in ("pandas_type", "numpy_type"))
        and isinstance(more, dict)
        and set(more) <= {"encoding", "num_categories", "ordered", "timezone", "precision", "scale"}
        and all(_WORD.fullmatch(str(one).replace("/", "")) for one in more.values())
    )


def check_arrow(path: Path, table: pa.Table) -> None:
    """Raise if an Arrow file is not, byte by byte, what its batches make, or if they hold more than their rows show."""
    check_notes(table.schema.metadata, table.column_names, table.num_rows)
    check_fields(table.schema)
    for name in table.column_names:
        chunks = table.column(name).chunks
        for chunk in chunks:
            _check_behind_nulls(chunk)
        if chunks and pa.types.is_dictionary(chunks[0].type):
            _check_dictionaries(chunks)
    if not any(_is_written(path, table, way) for way in _ways(path)):
        raise PayloadError("has bytes that do not belong to its rows, or was not written by pyarrow")


def _check_dictionaries(chunks: list[Any]) -> None:
    """Raise unless every entry of the largest dictionary, which the others begin, is shown in a row."""
    largest = max((chunk.dictionary for chunk in chunks), key=len)
    used = pa.concat_arrays([pc.unique(chunk.dictionary_decode()) for chunk in chunks])
    if pc.count_distinct(used, mode="only_valid").as_py() != len(largest):
        raise PayloadError("has entries in a dictionary that no row shows")


def _check_behind_nulls(cells: Any) -> None:
    """Raise if something stands where a cell is missing."""
    kind = cells.type
    fault = PayloadError("holds values behind missing cells")
    if pa.types.is_dictionary(kind):
        cells, kind = cells.indices, cells.indices.type
    if pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            if not _is_nothing(cells.field(place).filter(cells.is_null())):
                raise fault
            _check_behind_nulls(cells.field(place))
        return
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        if len(cells.flatten()) != len(cells.values.slice(_first(cells), _last(cells) - _first(cells))):
            raise fault
        _check_behind_nulls(cells.values)
        return
    if not cells.null_count:
        return
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        width = 8 if pa.types.is_large_string(kind) else 4
        offsets = cells.buffers()[1]
        at = [int.from_bytes(offsets[place * width : (place + 1) * width], "little") for place in _ends(cells)]
        if (pc.sum(pc.binary_length(cells)).as_py() or 0) != at[1] - at[0]:
            raise fault
    elif pa.types.is_primitive(kind) and kind.bit_width >= 8:
        whole = pa.Array.from_buffers(_bits(kind), len(cells), [None, cells.buffers()[1]], offset=cells.offset)
        behind = whole.filter(cells.is_null())
        if pc.any(pc.not_equal(behind, pa.scalar(0, behind.type))).as_py():
            raise fault


def _is_nothing(cells: Any) -> bool:
    """Whether cells are missing, empty or zero throughout."""
    cells = cells.drop_null()
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return _is_nothing(cells.indices)
    if pa.types.is_struct(kind):
        return all(_is_nothing(cells.field(place)) for place in range(kind.num_fields))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        return not pc.sum(pc.binary_length(cells)).as_py()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return not pc.sum(pc.list_value_length(cells)).as_py()
    if pa.types.is_boolean(kind):
        return not pc.any(cells).as_py()
    if pa.types.is_primitive(kind):
        return not pc.any(pc.not_equal(cells.view(_bits(kind)), pa.scalar(0, _bits(kind)))).as_py()
    return len(cells) == 0


def _bits(kind: Any) -> Any:
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(kind.bit_width, kind)


def _ends(cells: Any) -> tuple[int, int]:
    return cells.offset, cells.offset + len(cells)


def _first(cells: Any) -> int:
    return int(cells.offsets[0].as_py()) if len(cells) else 0


def _last(cells: Any) -> int:
    return int(cells.offsets[len(cells)].as_py()) if len(cells) else 0


def _ways(path: Path) -> list[tuple[Any, str | None]]:
    with path.open("rb") as file:
        opened = pa.ipc.new_file if file.read(6) == b"ARROW1" else pa.ipc.new_stream
    return [(opened, None), (opened, "lz4"), (opened, "zstd")]


def _is_written(path: Path, table: pa.Table, way: tuple[Any, str | None]) -> bool:
    """Whether a file is what pyarrow writes of these batches."""
    opened, compression = way
    with path.open("rb") as file:
        sink = _Comparing(file)
        try:
            options = pa.ipc.IpcWriteOptions(compression=compression)
            with opened(pa.PythonFile(sink, "w"), table.schema, options=options) as writer:
                for batch in table.to_batches():
                    writer.write_batch(batch)
        except (_DifferentError, pa.ArrowException):
            return False
        return sink.same and not file.read(1)


class _DifferentError(Exception):
    """What is written differs from what is there."""


class _Comparing:
    """A file to write to, which compares what is written with another one."""

    def __init__(self, file: Any) -> None:
        self._file, self.same, self.closed = file, True, False

    def write(self, data: Any) -> int:
        given = bytes(data)
        if self._file.read(len(given)) != given:
            self.same = False
            raise _DifferentError
        return len(given)

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def tell(self) -> int:
        return int(self._file.tell())
