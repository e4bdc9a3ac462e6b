"""When two records are in one class: missing values, sets, types and odd names."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.audits import audit_release
from sudare.audits.equivalence_classes import Classes
from sudare.policy import Policy

from .tables import classes, policy, prove, required, write

K = {"model": "k-anonymity", "k": 2}
ITEMS = {"zone": {"role": "quasi", "kind": "items", "separator": "|"}}


def k(column, **columns):
    """Return the number of classes of one quasi-identifier, and the size of the smallest."""
    table = pa.table({"zone": column if isinstance(column, pa.Array) else pa.array(column)})
    report = audit_release(table, policy(K, sensitive=(), **columns))
    return report.classes, required(report).achieved


def test_missing_equals_missing_and_nothing_else():
    assert k(["a", "a", None, None]) == (2, 2)
    assert k(["a", "a", None]) == (2, 1)
    assert k(["", "", None]) == (2, 1)
    assert k(["NULL", "NULL", None]) == (2, 1)
    assert k([None, None, None]) == (1, 3)
    assert k([1, 1, None]) == (2, 1)


def test_an_empty_field_of_a_csv_file_is_missing(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("zone,age\na,\na,\n,1\n,1\nNULL,1\nNULL,1\n")
    report = audit_release(path, policy(K, quasi=("zone", "age"), sensitive=()))
    assert (report.rows, report.classes, report.passed) == (6, 3, True)


def test_rows_of_a_single_column_may_be_empty(tmp_path):
    path = write(tmp_path / "release.csv", ["zone"], [["a"], [""], ["a"], [""]])
    report = audit_release(path, policy(K, sensitive=()))
    assert (report.rows, report.classes) == (4, 2)


def test_missing_is_a_sensitive_value_of_its_own():
    table = classes(a=["flu", None, None], b=["flu", "flu", None])
    of = {"column": "illness"}
    assert prove(table, {"model": "l-diversity", "l": 2, **of}).achieved == 2
    found = prove(table, {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, **of})
    assert (found.achieved["alpha"], found.offending_classes) == (pytest.approx(2 / 3), 2)
    assert prove(table, {"model": "t-closeness", "t": 0.5, **of}).achieved == pytest.approx(1 / 6)
    assert prove(table, {"model": "beta-likeness", "beta": 1, **of}).achieved == pytest.approx(1 / 3)
    assert prove(classes(a=[None, None]), {"model": "l-diversity", "l": 2, **of}).achieved == 1


def test_classes_with_missing_quasi_identifiers_are_judged_like_all_others():
    table = pa.table({"zone": [None, None, "a", "a"], "illness": ["flu", "flu", "flu", "ulcer"]})
    found = prove(table, {"model": "l-diversity", "l": 2, "column": "illness"})
    assert (found.achieved, found.offending_classes) == (1, 1)
    assert prove(table, {"model": "t-closeness", "t": 1, "column": "illness"}).achieved == pytest.approx(0.25)


def test_a_class_that_a_query_loses_counts_as_offending():
    with duckdb.connect() as connection:
        counted = Classes(connection, policy(K), rows=4, count=3, quasi={}, sensitive={}, types={})
        found = counted.judge("SELECT 1 AS class_id, 5 AS figure, true AS holds UNION ALL SELECT 2, 4, NULL")
    assert (found.lowest, found.highest, found.offending, found.holds) == (4, 5, 2, False)


def test_sets_that_are_written_differently_are_told_apart_by_every_reader():
    assert k(["x|y", "y|x", "y|x|x"], **ITEMS) == (3, 1)
    assert k(["x|y", "x|y", "x y"], **ITEMS) == (2, 1)
    assert k(["x|y", "y|x"]) == (2, 1)  # not of kind: items
    assert k(["x,y", "y,x"], zone={"role": "quasi", "kind": "items"}) == (2, 1)
    assert k([["x", "y"], ["y", "x", "y"]]) == (2, 1)
    assert k([["x", "y"], ["x", "y"]]) == (1, 2)
    assert k(pa.array([["x", "y"], ["y", "x"]], pa.list_(pa.string(), 2))) == (2, 1)
    assert k(pa.array([[2, 1], [1, 2]], pa.large_list(pa.int8()))) == (2, 1)
    assert k(["{A, B}", "{B, A}", '"A"', "A", "[5, 5]", "5"]) == (6, 1)


def test_missing_sets_empty_sets_and_missing_items_differ():
    assert k([None, None, [], []]) == (2, 2)
    assert k([None, None, "", ""], **ITEMS) == (2, 2)
    assert k([["x"], ["x", None]]) == (2, 1)
    assert k(pa.array([[None], []], pa.list_(pa.string()))) == (2, 1)
    assert k([["n"], [None]]) == (2, 1)


def test_types_are_compared_as_they_are_shown():
    assert k([0.0, -0.0]) == (2, 1)
    assert k([1.5, 1.5, float("nan"), float("nan")]) == (2, 2)
    assert k([9007199254740992, 9007199254740993]) == (2, 1)
    assert k(pa.array(["a", "b", "a", "b"]).dictionary_encode()) == (2, 2)
    assert k(["a", "A", "a ", "ａ"]) == (4, 1)
    assert k(["é", "e\u0301"]) == (2, 1)
    assert k(pa.array([0, 0, 86400], pa.timestamp("s", "UTC"))) == (2, 1)
    assert k(pa.array([b"\xff", b"\xff"])) == (1, 2)
    assert k(pa.nulls(3)) == (1, 3)


ODD = [
    'a"b',
    "a'b",
    "; DROP TABLE record; --",
    "名前",
    "class_id",
    "Q0",
    "q0",
    "size",
    "record",
    " ",
    "",
    "a,b",
    "x\ny",
    ".a",
    "a.b",
    "[0]",
    "source",
    "SELECT",
    "null",
    "%s",
    "{q}",
    "$1",
]


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "table"])
def test_odd_column_names(tmp_path, form):
    # q0 and Q0 differ although SQL would fold them; every column is needed to tell the classes apart
    secret = 'sick"ness; --'
    columns = {
        name: ["same"] * number + ["other"] * 2 + ["same"] * (2 * len(ODD) - number)
        for number, name in zip(range(0, 2 * len(ODD), 2), ODD, strict=True)
    }
    rows = len(next(iter(columns.values())))
    table = pa.table(columns | {secret: ["flu", "ulcer"] * (rows // 2)})
    given = Policy.parse(
        {
            "columns": {name: {"role": "quasi"} for name in ODD} | {secret: {"role": "sensitive"}},
            "require": [
                K,
                {"model": "k-anonymity", "k": 2, "columns": ["Q0", "q0"]},
                {"model": "l-diversity", "l": 2, "column": secret},
                {"model": "t-closeness", "t": 0.5, "column": secret, "distance": "ordered"},
            ],
        }
    )
    release: object = table
    if form == "csv":
        release = write(tmp_path / "release.csv", table.column_names, zip(*table.to_pydict().values(), strict=True))
    elif form == "parquet":
        release = tmp_path / "release.parquet"
        pq.write_table(table, release)
    elif form == "arrow":
        release = tmp_path / "release.arrow"
        with pa.OSFile(str(release), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    report = audit_release(release, given)
    assert report.passed
    assert report.classes == len(ODD) + 1
    assert [guarantee.achieved for guarantee in report.guarantees[:3]] == [2, 2, 2]
