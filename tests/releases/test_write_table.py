"""Releases in files: every format holds the same rows."""

from __future__ import annotations

import csv
import threading

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.audits.canonical_text import Layout, count_records
from sudare.core.errors import TargetError
from sudare.releases import check_target, write_batches

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


@pytest.mark.parametrize("name", ["r.xls", "r", "r.json", "r.parquet.gz", "r.csv.bz2"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(TargetError, match="is not a file ending for a release"):
        check_target(tmp_path / name)


def test_text_is_in_the_form_that_all_readers_read_alike(tmp_path):
    texts = ["", None, " a ", "#", "a\rb", "a\r\nb", '"', "b\tc", "\\", "NA"]
    write_table(pa.table({"one": texts, "two": texts[::-1], "": texts}), tmp_path / "r.csv")
    assert count_records(tmp_path / "r.csv", Layout(3, ","), threading.Event()) == len(texts)
    write_table(pa.table({"one": texts}), tmp_path / "r.tsv")
    assert count_records(tmp_path / "r.tsv", Layout(1, "\t"), threading.Event()) == len(texts)
    with (tmp_path / "r.tsv").open(encoding="utf-8", newline="") as file:
        assert [row for (row,) in csv.reader(file, delimiter="\t")] == ["one", *(text or "" for text in texts)]


def test_a_missing_cell_of_one_column_is_no_blank_line(tmp_path):
    write_table(pa.table({"n": [1, None, None, 4]}), tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b'n\n1\n""\n""\n4\n'
    assert len(pd.read_csv(tmp_path / "r.csv")) == 4


@pytest.mark.parametrize("text", ["a\x00b", "\x1b[31m", "\x1a", "\x7f", "\ufeffa"])
def test_text_that_readers_take_differently_is_refused(tmp_path, text):
    for cells in (pa.array([text, "x"]), pa.array([[text], ["x"]]), pa.array([text, "x"]).dictionary_encode()):
        with pytest.raises(TargetError, match=r"column 'c': holds control characters or a byte order mark") as error:
            write_table(pa.table({"c": cells}), tmp_path / "r.csv")
        assert text not in str(error.value)
    with pytest.raises(TargetError, match="a byte order mark in its name"):
        write_table(pa.table({text: ["x"]}), tmp_path / "r.csv")
    write_table(pa.table({"c": [text, "x"]}), tmp_path / "r.parquet")


def test_what_no_row_shows_may_be_in_a_dictionary(tmp_path):
    cells = pa.DictionaryArray.from_arrays(pa.array([1, 1], pa.int8()), pa.array(["\x00", "x"]))
    write_table(pa.table({"c": cells}), tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_bytes() == b"c\nx\nx\n"
