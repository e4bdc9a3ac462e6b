"""Arrow files, in either of their two formats: their columns, read as a whole or batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from sudare.engines.batches import ROWS, Source, plain_batches, read_ahead
from sudare.engines.file_errors import no_records
from sudare.engines.opened_file import OpenedFile
from sudare.engines.plain_types import plain_schema


def open_arrow_file(path: Path) -> OpenedFile:
    """Open a file: the names of its columns are read."""
    return OpenedFile(
        arrow_columns(path),
        lambda columns: read_arrow(path, columns),
        lambda columns, _: open_arrow(path, columns),
    )


def arrow_columns(path: Path) -> list[str]:
    """Return the names of an Arrow file's columns."""
    return list(_reader(path).schema.names)


def read_arrow(path: Path, columns: list[str]) -> pa.Table:
    """Read some columns of an Arrow file as a whole."""
    return _reader(path).read_all().select(columns)


def open_arrow(path: Path, columns: list[str]) -> Source:
    """Return some columns of an Arrow file as a source."""
    whole = _reader(path)
    schema = pa.schema([whole.schema.field(name) for name in columns])
    options = pa.ipc.IpcReadOptions(included_fields=[whole.schema.get_field_index(name) for name in columns])
    in_file = isinstance(whole, pa.RecordBatchFileReader)
    rows = whole.count_rows() if in_file else None
    if rows == 0:
        raise no_records(path)

    def cut() -> Iterator[pa.RecordBatch]:
        reader = _reader(path, options)
        found = (reader.get_batch(index) for index in range(reader.num_record_batches)) if in_file else iter(reader)
        for batch in found:
            for first in range(0, len(batch), ROWS):
                yield batch.select(columns).slice(first, ROWS)

    return Source(plain_schema(schema), rows, lambda _: read_ahead(plain_batches(path, cut())))


def _reader(
    path: Path, options: pa.ipc.IpcReadOptions | None = None
) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Open an Arrow file in either of its two formats."""
    try:
        return pa.ipc.open_file(path, options=options)
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.OSFile(str(path)), options=options)
