"""Tables as they come, batch by batch: what is never in memory at once need not fit there.

Batches are read ahead in a thread of their own, so that reading and what is done with a batch go on side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from sudare.core.sizes import FEW_ROWS, MANY_ROWS
from sudare.engines.delimited_text import TextForm, likely_rows, no_records, read_text, text_batches
from sudare.engines.file_formats import check_columns, existing_kind, file_columns, open_arrow, reading
from sudare.engines.plain_types import plain_batch, plain_schema

ROWS = MANY_ROWS
"""The records of a batch, at the most."""

ITEMS = 1 << 23
"""The items of lists that a batch of records should have at the most."""


SMALL_GROUP = FEW_ROWS
"""Row groups of a Parquet file with fewer records than this, on average, are not read one by one."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table that is there to be read once.

    ``rows`` is the number of records, if it is known before, and ``likely`` about how many there are if it is not;
    ``items`` is the number of all items of a column of lists.
    ``batches`` takes the names of columns whose text may come with dictionaries, which is quicker. A source that is
    ``held`` in memory can be read again, at no cost.
    """

    schema: pa.Schema
    rows: int | None
    batches: Callable[[Collection[str]], Iterator[pa.RecordBatch]]
    items: Mapping[str, int] = field(default_factory=dict)
    likely: int = 0
    held: bool = False

    def table(self) -> pa.Table:
        """Read everything."""
        return pa.Table.from_batches(list(self.batches(())), self.schema)


def open_table(table: pa.Table) -> Source:
    """Return a table in memory as a source."""

    def batches(_: Collection[str]) -> Iterator[pa.RecordBatch]:
        return (plain_batch(batch) for batch in table.to_batches(max_chunksize=ROWS))

    return Source(plain_schema(table.schema), table.num_rows, batches, held=True)


def open_file(path: Path, columns: Sequence[str], form: TextForm, *, stream: bool = False) -> Source:
    """Return some columns of a file as a source, those of a text file as text, with missing cells as nulls.

    A text file is read as a whole, which is quicker, unless it is to be a ``stream``.
    """
    kind = existing_kind(path)
    names = file_columns(path, form)
    check_columns(path.name, columns, names)
    with reading(path, form.encoding):
        if kind == "parquet":
            return _open_parquet(path, list(columns))
        if kind == "arrow":
            return _open_arrow(path, list(columns))
        if not stream:
            return open_table(read_text(path, list(columns), names, form))
    schema = pa.schema([(name, pa.string()) for name in columns])

    def batches(_: Collection[str]) -> Iterator[pa.RecordBatch]:
        return _ahead(_read(path, text_batches(path, list(columns), names, form), form.encoding))

    return Source(schema, None, batches, likely=likely_rows(path))


def _open_parquet(path: Path, columns: list[str]) -> Source:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    about = file.metadata
    if not about.num_rows:
        raise no_records(path)
    leaves = [about.schema.column(index) for index in range(len(about.schema))]
    schema = pa.schema([file.schema_arrow.field(name) for name in columns])
    items: dict[str, int] = {}
    for index, leaf in enumerate(leaves):
        name = next((name for name in columns if _part_of(leaf.path, (name,))), None)
        if leaf.max_repetition_level and name is not None:
            counts = (about.row_group(group).column(index).num_values for group in range(about.num_row_groups))
            items[name] = max(items.get(name, 0), sum(counts))
    most = max(items.values(), default=0)
    size = min(max(ITEMS * about.num_rows // max(most, 1), 1 << 10), ROWS)

    # Arrow cannot make one batch of lists with dictionaries out of two row groups, and small batches take long
    groups = [[group] for group in range(about.num_row_groups)]
    small = about.num_rows < SMALL_GROUP * about.num_row_groups
    groups = [list(range(about.num_row_groups))] if small else groups

    def batches(named: Collection[str]) -> Iterator[pa.RecordBatch]:
        # the dictionaries of the file itself are taken over, so that its texts are not even made
        texts = [
            leaf.path
            for leaf in leaves
            if str(leaf.logical_type) == "String"
            and _part_of(leaf.path, named)
            and not (small and leaf.max_repetition_level)
        ]
        again = pq.ParquetFile(path, metadata=about, read_dictionary=texts)
        found = (batch for group in groups for batch in again.iter_batches(size, group, columns=columns) if len(batch))
        return _ahead(_read(path, (batch.select(columns) for batch in found)))

    return Source(plain_schema(schema), about.num_rows, batches, items)


def _part_of(leaf: str, names: Collection[str]) -> bool:
    """Say whether a leaf of a Parquet schema is one of these columns, or the items of one."""
    return leaf in names or any(leaf.startswith(f"{name}.") for name in names)


def _open_arrow(path: Path, columns: list[str]) -> Source:
    whole = open_arrow(path)
    schema = pa.schema([whole.schema.field(name) for name in columns])
    options = pa.ipc.IpcReadOptions(included_fields=[whole.schema.get_field_index(name) for name in columns])
    in_file = isinstance(whole, pa.RecordBatchFileReader)
    rows = whole.count_rows() if in_file else None
    if rows == 0:
        raise no_records(path)

    def cut() -> Iterator[pa.RecordBatch]:
        reader = open_arrow(path, options)
        found = (reader.get_batch(index) for index in range(reader.num_record_batches)) if in_file else iter(reader)
        for batch in found:
            for first in range(0, len(batch), ROWS):
                yield batch.select(columns).slice(first, ROWS)

    return Source(plain_schema(schema), rows, lambda _: _ahead(_read(path, cut())))


def _read(path: Path, batches: Iterator[pa.RecordBatch], encoding: str = "utf-8") -> Iterator[pa.RecordBatch]:
    """Give plain batches; whatever goes wrong is told without content, and so is that there are none."""
    found = False
    with reading(path, encoding):
        for batch in batches:
            found = True
            yield plain_batch(batch)
    if not found:
        raise no_records(path)


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Fetch the next batch while the last one is in use."""
    with ThreadPoolExecutor(1, "sudare-reading") as worker:
        waiting = worker.submit(next, batches, None)
        while (batch := waiting.result()) is not None:
            waiting = worker.submit(next, batches, None)
            yield batch
