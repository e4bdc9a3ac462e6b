"""Shards of rows: where one ends depends on the rows, not on the batches that they happen to come in."""

from __future__ import annotations

import pickle
from unittest import mock

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.pipeline.spark import shards

CELLS = {
    "age": (st.none() | st.integers(-5, 99), pa.int64()),
    "name": (st.none() | st.text("aäb;'", max_size=40), pa.string()),
    "items": (st.none() | st.lists(st.sampled_from(["p", "q", ""]), max_size=9), pa.list_(pa.string())),
    "cost": (st.none() | st.floats(allow_nan=False), pa.float64()),
    "alive": (st.none() | st.booleans(), pa.bool_()),
}
CUTTING = shards.Cutting(tuple(CELLS), ("age", "name"), {"items": None}, ("name", "alive", "age", "cost"), ("a",), 50)


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 200))
    random = draw(st.randoms(use_true_random=False))
    made = {}
    for name, (cells, kind) in CELLS.items():
        few = draw(st.lists(cells, min_size=1, max_size=8))
        made[name] = pa.array([random.choice(few) for _ in range(rows)], kind)
    return pa.table(made)


@settings(deadline=None)
@given(tables(), st.lists(st.integers(1, 70), max_size=40), st.booleans())
def test_the_same_rows_in_other_batches(table, sizes, copied):
    batches, start = [], 0
    for size in [*sizes, table.num_rows]:
        batches += table.slice(start, size).to_batches()
        start += size
    if copied:  # as they are where they were written to a stream, not slices of something longer
        batches = [pa.ipc.read_record_batch(batch.serialize(), batch.schema) for batch in batches]
    with mock.patch.object(shards, "SHARD_BYTES", 3000):
        whole = list(CUTTING(iter(table.to_batches())))
        parts = list(CUTTING(iter(batches)))
    assert whole == parts
    told = [pickle.loads(parcel.head) for parcel in parts]
    assert sum(rows for rows, _, _ in told) == table.num_rows
    assert all(rows <= 50 for rows, _, _ in told)
    carried = pa.concat_tables([shards.unpacked(pickle.loads(parcel.body)[3]) for parcel in parts])
    assert carried.equals(table.select(CUTTING.carried))
