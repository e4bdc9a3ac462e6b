"""What a text is that names data: a file, also of Windows, or a table of a database, or a folder of Spark."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare.core.errors import DataError
from sudare.engines import find_place, find_remote, shown_place
from sudare.engines.spark.spark import is_path

WINDOWS = [
    r"C:\data\people.csv",
    "C:/data/x.parquet",
    "c://data/x.parquet",
    r"C:people.csv",
    r"\\server\share\x.csv",
    "//server/share/x.csv",
    r"\\?\C:\very\long\people.csv",
    r"C:\Meine Daten\März #1\people.csv",
    r"D:\my.db#old\people.csv",
    r"C:\Users\Jörg Müller\people.arrow",
]


@pytest.mark.parametrize("text", WINDOWS)
def test_paths_of_windows_are_files(text):
    assert find_place(text) is None
    assert find_remote(text) is None
    assert shown_place(text) == text


@pytest.mark.parametrize(
    ("text", "file", "schema", "table"),
    [
        (r"C:\data\hospital.duckdb#people", r"C:\data\hospital.duckdb", None, "people"),
        ("C:/data/hospital.db#main.people", "C:/data/hospital.db", "main", "people"),
        (r"\\server\share\h.ddb#people", r"\\server\share\h.ddb", None, "people"),
        (r"C:\my.db#old\h.duckdb#people", r"C:\my.db#old\h.duckdb", None, "people"),
        ("/data/my.db#old/h.duckdb#people", "/data/my.db#old/h.duckdb", None, "people"),
        ('h.duckdb#"a/b"', "h.duckdb", None, "a/b"),
        (r'h.duckdb#"a\b"."c"', "h.duckdb", r"a\b", "c"),
        ("h 1.duckdb#Übersicht", "h 1.duckdb", None, "Übersicht"),
    ],
)
def test_tables_of_duckdb_on_drives_and_shares(text, file, schema, table):
    found = find_place(text)
    assert (found.engine, found.address, found.schema, found.table) == ("duckdb", file, schema, table)


@pytest.mark.parametrize("text", ["s3a://bucket/x.parquet", "hdfs://host/x.parquet", "file:///C:/x.parquet"])
def test_addresses_with_a_scheme_are_no_paths(text):
    assert find_remote(text).address == text
    with pytest.raises(DataError, match="is not a supported kind of database"):
        find_place(text)


@given(st.characters(categories=["Lu", "Ll"], max_codepoint=127), st.text(st.characters(codec="utf-8"), max_size=30))
def test_no_drive_is_a_scheme(letter, rest):
    assert find_remote(f"{letter}://{rest}") is None
    try:
        found = find_place(f"{letter}:/{rest}.csv")
    except DataError:
        return  # such as a database without a table
    assert found is None or found.engine == "duckdb"


def test_paths_for_spark():
    assert is_path("people.parquet")
    assert is_path(f"data{os.sep}people")
    assert not is_path("database.people")


@pytest.mark.parametrize("folder", ["with blanks", "März – 二", "my.db#old", "a#b", "q'uote", "50%"])
def test_such_folders_work(tmp_path, folder):
    here = tmp_path / folder
    here.mkdir()
    pq.write_table(pa.table({"age": [1, 1, 2, 2], "job": ["a", "a", "b", "b"]}), here / "people 1.parquet")
    (here / "Bäume für alle.csv").write_text("a;*\nb;*\n", encoding="utf-8")
    rules = "columns: {age: {role: quasi}, job: {role: quasi, hierarchy: Bäume für alle.csv}}\n"
    (here / "policy.yaml").write_text(f"{rules}require: [{{model: k-anonymity, k: 2}}]\n", encoding="utf-8")
    for ending in ("csv", "parquet"):
        out = here / f"release 1.{ending}"
        sudare.anonymize(str(here / "people 1.parquet"), str(here / "policy.yaml"), out=str(out))
        assert sudare.audit(str(out), str(here / "policy.yaml")).passed
