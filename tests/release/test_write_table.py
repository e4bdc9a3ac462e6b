"""Releases in files: every format holds the same rows."""

from __future__ import annotations

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.errors import TargetError
from sudare.release import check_target, write_batches

ROWS = pa.table(
    {
        "Age": ["[17, 25]", "*", None, '"*"'],
        "age": ["a,b", 'say "x"', "a\nb", "日本"],
        "n": pa.array([1, None, 3, 4]),
    }
)


def write_table(table, path):
    write_batches(table.schema, table.to_batches(), path)


@pytest.mark.parametrize(("ending", "delimiter"), [(".csv", ","), (".tsv", "\t"), (".CSV", ",")])
def test_text(tmp_path, ending, delimiter):
    path = tmp_path / f"it's a release{ending}"
    write_table(ROWS, path)
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file, delimiter=delimiter))
    assert found == [
        ["Age", "age", "n"],
        ["[17, 25]", "a,b", "1"],
        ["*", 'say "x"', ""],
        ["", "a\nb", "3"],
        ['"*"', "日本", "4"],
    ]


def test_parquet_and_arrow(tmp_path):
    write_table(ROWS, tmp_path / "r.parquet")
    assert pq.read_table(tmp_path / "r.parquet").equals(ROWS)
    for ending in (".arrow", ".feather", ".ipc"):
        write_table(ROWS, tmp_path / f"r{ending}")
        with pa.OSFile(str(tmp_path / f"r{ending}")) as file:
            assert pa.ipc.open_file(file).read_all().equals(ROWS)


def test_the_order_of_many_rows_is_kept_in_text(tmp_path):
    count = 200_000
    write_table(pa.table({"n": range(count), "t": [f"x{i}" for i in range(count)]}), tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines == ["n,t", *(f"{i},x{i}" for i in range(count))]


def test_item_lists_are_joined_in_text(tmp_path):
    write_table(pa.table({"i": [["a", "b"], [], None], "n": [1, 2, 3]}), tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text().splitlines()[1] == '"a,b",1'


@pytest.mark.parametrize("name", ["r.xlsx", "r", "r.json"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(TargetError, match="is not an ending of a release"):
        check_target(tmp_path / name)
