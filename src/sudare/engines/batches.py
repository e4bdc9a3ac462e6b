"""Tables as batches of rows, so that a table need not fit into memory.

Batches are read ahead in a thread of their own, so that reading and what is done with a batch go on side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.core.sizes import MANY_ROWS
from sudare.engines.file_errors import no_records, reading
from sudare.engines.plain_types import plain_batch, plain_schema

ROWS = MANY_ROWS
"""The most records of a batch."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table that is there to be read once.

    ``rows`` is the number of records, if it is known before, and ``likely`` about how many there are if it is not;
    ``items`` is the number of all items of a column of lists.
    ``batches`` takes the names of columns whose text may come with dictionaries, which is quicker. A source that is
    ``held`` in memory can be read again, at no cost. ``facts`` is what a certificate says of how cells were transformed
    on the way, once everything has been read.
    """

    schema: pa.Schema
    rows: int | None
    batches: Callable[[Collection[str]], Iterator[pa.RecordBatch]]
    items: Mapping[str, int] = field(default_factory=dict)
    likely: int = 0
    held: bool = False
    facts: Callable[[], Sequence[Mapping[str, Any]]] = list

    def table(self) -> pa.Table:
        """Read everything."""
        return pa.Table.from_batches(list(self.batches(())), self.schema)


def open_table(table: pa.Table) -> Source:
    """Return a table in memory as a source."""

    def batches(_: Collection[str]) -> Iterator[pa.RecordBatch]:
        return (plain_batch(batch) for batch in table.to_batches(max_chunksize=ROWS))

    return Source(plain_schema(table.schema), table.num_rows, batches, held=True)


def plain_batches(path: Path, batches: Iterator[pa.RecordBatch], encoding: str = "utf-8") -> Iterator[pa.RecordBatch]:
    """Yield plain batches; raise if reading fails, or if there are none. No message shows what is in the file."""
    found = False
    with reading(path, encoding):
        for batch in batches:
            found = True
            yield plain_batch(batch)
    if not found:
        raise no_records(path)


def read_ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Fetch the next batch while the last one is in use."""
    with ThreadPoolExecutor(1, "sudare-reading") as worker:
        waiting = worker.submit(next, batches, None)
        while (batch := waiting.result()) is not None:
            waiting = worker.submit(next, batches, None)
            yield batch
