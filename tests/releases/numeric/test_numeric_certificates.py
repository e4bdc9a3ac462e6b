"""Rows and files with their certificate as numbers: what it says of them, and whether it is theirs."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sudare
from sudare.api import released_rows
from sudare.core.errors import DataError

COMPUTED = [1e-07, 0.1 + 0.2, 1e20, -1.5, 3.0, None, 1 / 3, 5e-324]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "jsonl", "xlsx", "parquet"])
def test_computed_columns_are_numbers_in_every_form(tmp_path, ending):
    rows = pa.table({"age": [1, 2] * 4, "dose": COMPUTED, "code": ["1e5", "25", "12e1", "3"] * 2})
    rules = {
        "columns": {"age": {"role": "quasi"}, "dose": {"role": "insensitive"}, "code": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "release": {"order": "keep"},
    }
    path = tmp_path / f"r.{ending}"
    sudare.anonymize(rows, rules, out=path)
    found = sudare.numeric(path)
    assert found["dose"].type == pa.float64()
    digits = 16 if ending == "xlsx" else 17
    assert found["dose"].to_pylist() == [None if dose is None else float(f"{dose:.{digits}g}") for dose in COMPUTED]
    assert found["code"].to_pylist() == rows["code"].to_pylist()


LOCAL = {
    "columns": {"weight": {"role": "quasi"}, "dose": {"role": "insensitive"}, "code": {"role": "sensitive"}},
    "require": [{"model": "k-anonymity", "k": 3}],
    "release": {"excel": "de", "order": "keep"},
}
WEIGHTS = pa.table(
    {
        "weight": [50.5 + at % 11 * 1.25 for at in range(30)],
        "dose": [at / 8 for at in range(30)],
        "code": ["1.5", "a"] * 15,
    }
)


@pytest.mark.parametrize(
    "read",
    [
        lambda path: pd.read_csv(path, sep=";"),
        lambda path: pd.read_csv(path, sep=";", decimal=","),
        lambda path: pd.read_csv(path, sep=";", decimal=",", dtype={"weight": "category"}),
        lambda path: pd.read_csv(path, sep=";", decimal=",", dtype_backend="pyarrow"),
        lambda path: pl.read_csv(path, separator=";"),
        lambda path: pl.read_csv(path, separator=";", decimal_comma=True),
        lambda path: released_rows(path),
    ],
)
def test_decimal_commas_are_read_by_the_certificate(tmp_path, read):
    path = tmp_path / "r.csv"
    release = sudare.anonymize(WEIGHTS, LOCAL, out=path, seed=1)
    assert "; " in path.read_text(encoding="utf-8-sig")
    wanted = sudare.numeric(path, ranges="ends").to_pydict()
    assert list(wanted) == ["weight_low", "weight_high", "dose", "code"]
    assert wanted["dose"] == WEIGHTS["dose"].to_pylist()
    found = sudare.numeric(read(path), release.certificate, ranges="ends")
    table = found if isinstance(found, pa.Table) else pa.table({name: found[name].to_list() for name in found.columns})
    assert table.to_pydict() == wanted


OTHER = {"certificate": 1, "method": {"name": "top-down"}}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"quasi": ["height"]}, "the table: has no column 'height', which the certificate names."),
        ({"quasi": ["age"], "insensitive": ["height"]}, "the table: has no column 'height'"),
        ({"quasi": ["age"], "sensitive": ["sex"]}, "certificate: does not name the column 'size'."),
        ({"quasi": ["age"], "sensitive": ["sex"], "subject": ["sise"]}, "Did you mean 'sise'?"),
    ],
)
def test_the_certificate_of_another_release_is_refused(columns, message):
    rows = pa.table({"age": ["[17, 42]", "39"], "sex": ["F", "M"], "size": ["[1, 2]", "3"]})
    with pytest.raises(DataError) as error:
        sudare.numeric(rows, OTHER | {"columns": columns})
    assert message in str(error.value)


def test_a_table_may_have_columns_of_its_own():
    rows = pa.table({"age": ["[17, 42]", "39"], "mine": ["x", "y"], "also": [1, 2]})
    told = OTHER | {"columns": {"quasi": ["age"], "subject": ["who"], "identifier": ["name"]}}
    assert sudare.numeric(rows, told).to_pydict() == {"age": [29.5, 39], "mine": ["x", "y"], "also": [1, 2]}


def test_two_tables_have_their_certificate():
    rules = {
        "columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 2, "column": "disease"}],
        "method": {"name": "anatomy"},
    }
    data = pa.table({"age": [25, 29, 54, 78], "disease": ["cancer", "cold", "ulcer", "cold"]})
    release = sudare.anonymize(data, rules)
    assert sudare.numeric(release.data, release.certificate).column_names == ["age", "group"]


def test_a_layout_that_cannot_be_read_is_refused():
    rows = pa.table({"age": ["1"]})
    with pytest.raises(DataError, match="does not say in its form how the file is laid out"):
        sudare.numeric(rows, OTHER | {"columns": {"quasi": ["age"]}, "layout": {"decimal": ","}})
