"""Backslashes in names: of columns, of files and folders, and of databases and their tables."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import DataError, TargetError

from .homes import rows

NAMES = ["a\\b", "\\", "c\\", "\\n", "d\\'e\\\"", "c:\\new\\table"]
TABLE = pa.table({name: [f"{at}\\{row % (at + 2)}" for row in range(40)] for at, name in enumerate(NAMES)})
ROLES = ["quasi", "quasi", "sensitive", "insensitive", "insensitive", "insensitive"]
POLICY = {
    "columns": {name: {"role": role} for name, role in zip(NAMES, ROLES, strict=True)},
    "require": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": NAMES[2]}],
}
ODD = "fol\\der 'x'"


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.feather.write_feather(table, str(path))


@pytest.mark.parametrize("given", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("made", ["csv", "parquet", "arrow"])
def test_files_and_folders(tmp_path, given, made):
    folder = tmp_path / ODD
    folder.mkdir()
    data, out = folder / f"da\\ta\\.{given}", folder / f"\\re\\lease.{made}"
    write(TABLE, data)
    release = sudare.anonymize(data, POLICY, out=out)
    assert sudare.audit(out, POLICY).passed
    assert json.loads(out.with_name(f"{out.name}.sudare.json").read_text()) == release.certificate
    assert sorted(path.name for path in folder.iterdir()) == sorted([data.name, out.name, f"{out.name}.sudare.json"])
    local = sudare.anonymize(TABLE, POLICY).data
    found = {"csv": pyarrow.csv.read_csv, "parquet": lambda path: pq.ParquetFile(path).read()}.get(
        made, lambda path: pyarrow.feather.read_table(str(path))
    )(out)
    assert rows(found) == rows(local)


@pytest.mark.parametrize("name", ["a\\b*.csv", "[a]\\.parquet", "a\\b?.arrow"])
def test_a_path_that_could_also_be_a_pattern_is_refused(tmp_path, name):
    with pytest.raises(TargetError, match="a backslash and one of"):
        sudare.anonymize(TABLE, POLICY, out=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    write(TABLE, tmp_path / name)
    with pytest.raises(DataError, match="a backslash and one of"):
        sudare.audit(tmp_path / name, POLICY)


def test_a_database_file_that_duckdb_would_look_for_elsewhere_is_refused(tmp_path):
    (tmp_path / "ba").mkdir()
    base = tmp_path / "ba\\se.duckdb"
    base.touch()
    with pytest.raises(DataError, match="has a backslash in its path"):
        sudare.anonymize(f"{base}#people", POLICY, out=tmp_path / "release.csv")
    base.unlink()
    with pytest.raises(DataError, match="has a backslash in its path"):
        sudare.anonymize(TABLE, POLICY, out=f"{base}#release")
    assert list((tmp_path / "ba").iterdir()) == []


def test_tables_and_columns_of_databases(home):
    address = home.load("peo\\ple", TABLE)
    sudare.anonymize(address, POLICY, out=home.address("re\\lease\\"))
    assert rows(home.read("re\\lease\\")) == rows(sudare.anonymize(TABLE, POLICY).data)
    assert sudare.audit(home.address("re\\lease\\"), POLICY).passed
