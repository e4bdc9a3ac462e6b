"""Unchanged columns: kept in memory, or in a nameless file if memory is limited."""

from __future__ import annotations

import mmap
import tempfile
from typing import IO, Any

import pyarrow as pa

from sudare.table.array_storage import MEMORY, Storage


class Carried:
    """Collects some columns of a table batch by batch; with a limited ``storage`` they go to a file in its folder.

    The file has no name from the start, so that nothing is left of it however the process ends.
    """

    def __init__(self, schema: pa.Schema, storage: Storage = MEMORY) -> None:
        self.schema = schema
        self._batches: list[pa.RecordBatch] = []
        self._file: IO[Any] | None = None
        if storage.limit is not None and len(schema):
            self._file = tempfile.TemporaryFile(dir=storage.folder)  # noqa: SIM115 - closed when all is in it
            # the stream format: in a file, all batches would have to share one dictionary
            self._writer = pa.ipc.new_stream(self._file, schema)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add some records."""
        batch = batch.select(self.schema.names)
        if self._file is None:
            self._batches.append(batch)
        else:
            self._writer.write_batch(batch)

    def finish(self) -> pa.Table:
        """Return the columns; what is in a file is mapped into memory."""
        if self._file is None:
            return pa.Table.from_batches(self._batches, self.schema)
        self._writer.close()
        self._file.flush()
        with self._file as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()
