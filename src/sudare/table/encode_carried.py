"""Columns that leave as they came: kept in memory, or in a file that has no name where memory is limited."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pyarrow as pa

from sudare.table.storage import MEMORY, Storage


class Carried:
    """Collects some columns of a table batch by batch; with a limited ``storage`` they go to its folder."""

    def __init__(self, schema: pa.Schema, storage: Storage = MEMORY) -> None:
        self.schema = schema
        self._batches: list[pa.RecordBatch] = []
        self._path: Path | None = None
        if storage.limit is not None and len(schema):
            handle, name = tempfile.mkstemp(suffix=".arrow", dir=storage.folder)
            os.close(handle)
            self._path = Path(name)
            # the stream format: in a file, all batches would have to share one dictionary
            self._sink = pa.OSFile(name, "wb")
            self._writer = pa.ipc.new_stream(self._sink, schema)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add some records."""
        batch = batch.select(self.schema.names)
        if self._path is None:
            self._batches.append(batch)
        else:
            self._writer.write_batch(batch)

    def finish(self) -> pa.Table:
        """Return the columns; what is in a file is mapped into memory, and the file loses its name."""
        if self._path is None:
            return pa.Table.from_batches(self._batches, self.schema)
        self._writer.close()
        self._sink.close()
        mapped = pa.memory_map(str(self._path))
        self._path.unlink()
        return pa.ipc.open_stream(mapped).read_all()
