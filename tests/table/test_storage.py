"""Where arrays live: in memory up to a limit, then in files that nobody sees."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from sudare.table.array_storage import (
    MEMORY,
    SMALL,
    Growing,
    Storage,
)
from sudare.table.unchanged_cells import Carried


def test_without_a_limit_all_is_in_memory():
    storage = Storage()
    array = storage.empty(SMALL, np.uint16)
    assert (storage.held, storage.spilled) == (2 * SMALL, 0)
    del array
    gc.collect()
    assert storage.held == 0


def test_beyond_the_limit_arrays_are_in_files(tmp_path):
    storage = Storage(3 * SMALL, tmp_path)
    first = storage.empty(2 * SMALL, np.uint8)
    second = storage.empty((SMALL, 2), np.uint8)
    assert (storage.held, storage.spilled) == (2 * SMALL, 2 * SMALL)
    assert list(tmp_path.iterdir()) == []
    second[:] = 7
    second[5, 1] = 9
    assert (second.shape, int(second.sum())) == ((SMALL, 2), 7 * 2 * SMALL + 2)
    del first
    gc.collect()
    storage.empty(2 * SMALL, np.uint8)
    assert storage.spilled == 2 * SMALL  # there was room again


def test_small_arrays_are_not_worth_a_file(tmp_path):
    storage = Storage(0, tmp_path)
    storage.empty(SMALL - 1, np.uint8)
    assert storage.spilled == 0


def test_a_view_keeps_its_array(tmp_path):
    storage = Storage(0, tmp_path)
    part = storage.empty(SMALL, np.int64)[10:20]
    part[:] = range(10)
    gc.collect()
    assert part.tolist() == list(range(10))


def test_threads_count_together():
    storage = Storage()
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda _: storage.empty(10, np.uint8).sum(), range(5000)):
            pass
    gc.collect()
    assert storage.held == 0


@pytest.mark.parametrize("expected", [0, 10, 1000])
def test_growing(expected):
    growing = Growing(MEMORY, np.uint8, expected)
    for number in range(100):
        growing.more(3)[:] = number
    assert growing.kind == np.uint8
    growing.widen(np.uint8)
    growing.widen(np.uint32)
    growing.widen(np.uint16)
    growing.more(1)[:] = 1 << 20
    assert growing.array().tolist() == [*np.repeat(np.arange(100), 3).tolist(), 1 << 20]
    assert growing.kind == np.uint32


@pytest.mark.parametrize("limit", [None, 0])
def test_carried_columns_come_back(tmp_path, limit):
    table = pa.table(
        {
            "a": [1, None, 3, 4],
            "b": [["x"], [], None, ["y", None]],
            "c": pa.chunked_array([pa.array(["p", "q"]).dictionary_encode(), pa.array(["q", "r"]).dictionary_encode()]),
        }
    )
    carried = Carried(table.schema, Storage(limit, tmp_path))
    for batch in table.append_column("other", pa.array(range(4))).to_batches():
        carried.add(batch)
    found = carried.finish()
    assert found.to_pylist() == table.to_pylist()
    assert found.schema == table.schema
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", [None, 0])
def test_nothing_to_carry(tmp_path, limit):
    carried = Carried(pa.schema([]), Storage(limit, tmp_path))
    carried.add(pa.RecordBatch.from_pydict({"a": [1, 2]}))
    assert carried.finish().schema.names == []
    assert list(tmp_path.iterdir()) == []
