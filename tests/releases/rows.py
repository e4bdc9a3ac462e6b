"""The rows of a release in one piece, as whoever reads it sees them."""

from __future__ import annotations

import pyarrow as pa

from sudare.releases import Layout, render


def in_one_piece(table, partition, columns, *, seed=None, block=None, **layout):
    """Render, and return a table of plain types, and what it shows."""
    rows, shown = render(table, partition, Layout(columns, **layout), seed=seed)
    batches = rows.batches() if block is None else rows.batches(block)
    table = pa.Table.from_batches([batch.cast(rows.schema) for batch in batches], rows.schema)
    assert table.num_rows == rows.count
    table.validate(full=True)
    return table, shown
