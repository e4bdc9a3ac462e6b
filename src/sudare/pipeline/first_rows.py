"""The first rows of a release, which a dry run shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from sudare import engines
from sudare.policy import TextLayout
from sudare.releases import Rows


class FirstRows:
    """So many rows at the start of a release, kept while it is written."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._schema: pa.Schema | None = None
        self._batches: list[pa.RecordBatch] = []

    def passing(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        """Pass the batches of a release through, and keep what comes first."""
        self._schema, left = rows.schema, self.most
        for batch in rows.batches():
            if left and batch.num_rows:
                few = min(left, batch.num_rows)
                # copied: a slice would keep all rows of the batch
                self._batches.append(batch.take(pa.array(range(few))).cast(rows.schema))
                left -= few
            yield batch

    def table(self) -> pa.Table:
        """Return the rows."""
        assert self._schema is not None
        return pa.Table.from_batches(self._batches, self._schema)


def first_of_text(path: Path, names: list[str], layout: TextLayout, most: int) -> pa.Table:
    """Return the first rows of a release in text, as its file shows them."""
    form = engines.TextForm(layout.delimiter, layout.encoding, blank_records=True)
    source, found = engines.open_file(path, names, form, stream=True), list[pa.RecordBatch]()
    batches = source.batches(())
    for batch in batches:
        found.append(batch.slice(0, most - sum(map(len, found))))
        if sum(map(len, found)) == most:
            break
    return pa.Table.from_batches(found, source.schema)
