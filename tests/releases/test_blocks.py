"""A release is made and written in blocks; nobody who reads it can tell where one ends."""

from __future__ import annotations

import datetime
import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.releases import Layout, render, write_batches
from sudare.releases.unchanged_columns import plain_type
from sudare.table import SUPPRESSED, Partition, Table, encode_column

from .rows import in_one_piece

ROWS = 500
FORMATS = ["parquet", "arrow", "csv", "tsv"]


def made(seed=3, classes=23):
    random = np.random.default_rng(seed)
    chosen = random.integers(0, classes, ROWS)
    chosen[:classes] = np.arange(classes)
    whole = 20 * chosen + random.integers(0, 20, ROWS)
    words = random.choice(["a", "b", "c", "d", None], ROWS)
    notes = pa.chunked_array([[f"n{row}" for row in range(low, high)] for low, high in pairwise([0, 3, 4, 200, ROWS])])
    table = Table(
        ROWS,
        {
            "age": encode_column("age", pa.array([None if row % 50 == 0 else int(row) for row in whole])),
            "word": encode_column("word", pa.array(words.tolist())),
        },
        {"ill": encode_column("ill", pa.array([f"ill {row % 7}" for row in whole]))},
        encode_column("who", pa.array([f"p{row}" for row in random.integers(0, 40, ROWS)]), kind="categorical"),
        pa.table(
            {
                "ill": [f"ill {row % 7}" for row in whole],
                "note": notes,
                "kind": pa.array(words.tolist()).dictionary_encode(),
                "list": [None if row % 9 == 0 else ["x"] * (row % 3) for row in whole.tolist()],
                "when": [datetime.date(2020, 1, 1 + row % 28) for row in whole.tolist()],
            }
        ),
    )
    chosen[classes:][random.random(ROWS - classes) < 0.1] = SUPPRESSED
    return table, Partition(chosen, classes)


COLUMNS = ("age", "word", "who", "ill", "note", "kind", "list", "when")


@pytest.mark.parametrize("order", ["class", "keep"])
@pytest.mark.parametrize("subjects", ["per-class", "linked"])
@pytest.mark.parametrize("block", [1, 7, 64, 450, 10_000])
def test_blocks_are_the_whole(order, subjects, block):
    whole, _ = in_one_piece(*made(), COLUMNS, order=order, subjects=subjects, seed=1)
    parts, _ = in_one_piece(*made(), COLUMNS, order=order, subjects=subjects, seed=1, block=block)
    assert parts.equals(whole)


@pytest.mark.parametrize("order", ["class", "keep"])
def test_rows_keep_what_belongs_together(order):
    table, partition = made()
    found, _ = in_one_piece(table, partition, COLUMNS, order=order, subjects="per-class", seed=5, block=50)
    place = {note: row for row, note in enumerate(table.carried.column("note").to_pylist())}
    rows = [place[note] for note in found.column("note").to_pylist()]
    assert sorted(rows) == np.flatnonzero(partition.classes >= 0).tolist()
    for name in ("ill", "kind", "list", "when"):
        given = table.carried.column(name).to_pylist()
        assert found.column(name).to_pylist() == [given[row] for row in rows]
    # people are numbered from 1 in each class, by first appearance
    known: dict[tuple[str, ...], dict[int, int]] = {}
    expected = []
    for row, *cells in zip(rows, found.column("age").to_pylist(), found.column("word").to_pylist(), strict=True):
        there = known.setdefault(tuple(cells), {})
        expected.append(there.setdefault(int(table.subject.codes[row]), len(there) + 1))
    assert found.column("who").to_pylist() == expected


@pytest.mark.parametrize("ending", FORMATS)
def test_files_do_not_depend_on_blocks(ending, tmp_path):
    read = {}
    for block in (1, 40, 10_000):
        rows, _ = render(*made(), Layout(COLUMNS, subjects="per-class"), seed=1)
        path = tmp_path / f"{block}.{ending}"
        told = []
        write_batches(rows.schema, rows.batches(block), path, progress=told.append)
        assert told[-1] == rows.count
        assert told == sorted(told)
        if ending == "parquet":
            read[block] = pq.read_table(path)
        elif ending == "arrow":
            read[block] = pa.ipc.open_file(path).read_all()
        else:
            read[block] = path.read_bytes()
    if ending in ("parquet", "arrow"):
        whole, _ = in_one_piece(*made(), COLUMNS, subjects="per-class", seed=1)
        assert all(table.schema == whole.schema for table in read.values())
        assert all(table.combine_chunks().equals(whole.combine_chunks()) for table in read.values())
    else:
        assert len(set(read.values())) == 1


def test_texts_are_plain_in_every_format(tmp_path):
    for ending in ("parquet", "arrow"):
        rows, _ = render(*made(), Layout(COLUMNS))
        write_batches(rows.schema, rows.batches(100), tmp_path / f"r.{ending}")
    stored = pq.read_schema(tmp_path / "r.parquet")
    assert stored == pa.ipc.open_file(tmp_path / "r.arrow").schema
    assert {name: stored.field(name).type for name in ("age", "word", "ill", "note", "kind")} == dict.fromkeys(
        ("age", "word", "ill", "note", "kind"), pa.string()
    )
    # also for readers that know nothing of Arrow
    parquet = pq.ParquetFile(tmp_path / "r.parquet").schema
    assert [parquet.column(place).logical_type.type for place in range(2)] == ["STRING", "STRING"]


def test_a_row_group_holds_its_own_labels_only(tmp_path):
    values = [f"value-{row}" for row in range(40)]
    table = Table(40, {"q": encode_column("q", pa.array(values), kind="categorical")})
    partition = Partition(np.array([row if row < 30 else SUPPRESSED for row in range(40)]), 30)
    rows, _ = render(table, partition, Layout(("q",)))
    for batch in rows.batches(10):
        assert sorted(batch.column("q").dictionary.to_pylist()) == sorted(batch.column("q").to_pylist())
    write_batches(rows.schema, rows.batches(10), tmp_path / "r.parquet")
    written = (tmp_path / "r.parquet").read_bytes()
    assert b"value-35" not in written


@pytest.mark.parametrize("ending", FORMATS)
def test_a_release_of_no_rows_is_a_file_with_columns(ending, tmp_path):
    table, _ = made()
    rows, _ = render(table, Partition(np.full(ROWS, SUPPRESSED), 0), Layout(COLUMNS))
    write_batches(rows.schema, rows.batches(), tmp_path / f"r.{ending}")
    assert rows.count == 0
    if ending == "parquet":
        assert pq.read_table(tmp_path / "r.parquet").equals(rows.schema.empty_table())


@pytest.mark.parametrize("ending", FORMATS)
def test_what_goes_wrong_while_rows_are_made_is_told_as_it_is(ending, tmp_path):
    def batches():
        yield pa.record_batch({"a": ["x"]})
        raise LookupError("midway")

    with pytest.raises(LookupError, match="midway"):
        write_batches(pa.schema([("a", pa.string())]), batches(), tmp_path / f"r.{ending}")


def test_very_long_texts_are_written_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("sudare.releases.file_writers._LONGEST_TEXT", 100)
    cells = pa.array(["x" * 30, "y" * 20, None, "z" * 90] * 3).dictionary_encode()
    write_batches(pa.schema([("a", pa.string())]), [pa.record_batch({"a": cells})], tmp_path / "r.arrow")
    file = pa.ipc.open_file(tmp_path / "r.arrow")
    assert file.num_record_batches > 1
    assert file.read_all().column("a").to_pylist() == cells.to_pylist()


def test_a_million_classes():
    count = 1_000_000
    codes = np.arange(count)
    numbers = encode_column("n", pa.array(np.repeat(codes, 2) // 3))
    words = encode_column("w", pa.array(["a", "b", "c", "d"] * (count // 2)), kind="categorical")
    rows, shown = render(
        Table(2 * count, {"n": numbers, "w": words}), Partition(np.repeat(codes, 2), count), Layout(("n", "w"))
    )
    assert (rows.count, len(shown.sizes)) == (2 * count, 666_667)  # those that look alike are one
    batches = list(rows.batches())
    assert [batch.num_rows for batch in batches] == [1 << 20, 2 * count - (1 << 20)]
    assert batches[0].slice(2, 3).to_pydict() == {"n": ["0"] * 3, "w": ["{a, b}"] * 2 + ["{c, d}"]}


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        ([["1", "2"], [None, "3"]], pa.int64()),
        ([["1", "2"], ["2.5"]], pa.float64()),
        ([["1", "2"], ["x"]], pa.string()),
        ([["x"], ["1"]], pa.string()),
        ([["1"], ["2020-01-01"]], pa.string()),
        ([["2020-01-01"], ["2020-01-01 12:00"]], pa.timestamp("us")),
        ([[None, None], ["7"]], pa.int64()),
        ([[None], [None]], pa.string()),
        ([[]], pa.string()),
    ],
)
def test_types_of_text_are_told_from_all_chunks(chunks, kind):
    assert plain_type("x", pa.chunked_array(chunks, pa.string())) == kind


def test_text_that_is_read_as_numbers():
    table, partition = made()
    cells = pa.chunked_array([["-0.0", "1.5"] * 100, [None] * 100, ["2"] * 200])
    table = Table(ROWS, table.quasi, {}, None, pa.table({"x": cells}))
    found, _ = in_one_piece(table, partition, ("age", "x"), order="keep", types={"x": pa.float64()}, block=33)
    assert found.schema.field("x").type == pa.float64()
    expected = [None if cell is None else float(cell) for cell in cells.to_pylist()]
    kept = np.flatnonzero(partition.classes >= 0)
    assert found.column("x").to_pylist() == [expected[row] for row in kept]
    assert all(math.copysign(1, cell) == 1 for cell in found.column("x").to_pylist() if cell == 0)
