"""Parquet files: their columns, read as a whole or batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa

from sudare.core.sizes import FEW_ROWS
from sudare.engines.batches import ROWS, Source, plain_batches, read_ahead
from sudare.engines.file_errors import no_records
from sudare.engines.opened_file import OpenedFile
from sudare.engines.plain_types import plain_schema

ITEMS = 1 << 23
"""The items of lists that a batch of records should have at the most."""

SMALL_GROUP = FEW_ROWS
"""Row groups with fewer records than this, on average, are not read one by one."""


def open_parquet_file(path: Path) -> OpenedFile:
    """Open a file: the names of its columns are read."""
    return OpenedFile(
        parquet_columns(path),
        lambda columns: read_parquet(path, columns),
        lambda columns, _: open_parquet(path, columns),
    )


def parquet_columns(path: Path) -> list[str]:
    """Return the names of a Parquet file's columns."""
    import pyarrow.parquet as pq

    return list(pq.read_schema(path).names)


def read_parquet(path: Path, columns: list[str]) -> pa.Table:
    """Read some columns of a Parquet file as a whole."""
    import pyarrow.parquet as pq

    # one file, whatever its folder is called: no partition columns are made up from the path
    return pq.ParquetFile(path).read(columns=columns)


def open_parquet(path: Path, columns: list[str]) -> Source:
    """Return some columns of a Parquet file as a source."""
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
        return read_ahead(plain_batches(path, (batch.select(columns) for batch in found)))

    return Source(plain_schema(schema), about.num_rows, batches, items)


def _part_of(leaf: str, names: Collection[str]) -> bool:
    """Say whether a leaf of a Parquet schema is one of these columns, or the items of one."""
    return leaf in names or any(leaf.startswith(f"{name}.") for name in names)
