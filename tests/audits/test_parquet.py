"""Parquet, which DuckDB reads itself where it takes the columns for what Arrow does."""

from __future__ import annotations

import struct
from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.audits import audit_release
from sudare.audits.opened_release import open_release
from sudare.audits.release_columns import Release
from sudare.core.errors import DataError

from .tables import classes, policy

GIVEN = policy(
    {"model": "k-anonymity", "k": 2},
    {"model": "l-diversity", "l": 2, "column": "illness"},
    {"model": "t-closeness", "t": 0.5, "column": "illness", "distance": "ordered"},
)
MOMENT = datetime(2020, 1, 1, 12, 30)

TYPES = [
    (pa.string(), ["a", "b", "a", None, "", ""], True),
    (pa.large_string(), ["a", "b", "a", None, "", ""], True),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a", None, "", ""], True),
    (pa.bool_(), [True, False, None, True, False, True], True),
    (pa.int8(), [1, -1, None, 1, 5, 5], True),
    (pa.uint64(), [2**64 - 1, 2**64 - 2, None, 1, 1, 1], True),
    (pa.float32(), [0.1, -0.0, 0.0, float("nan"), float("nan"), None], True),
    (pa.float64(), [0.1, -0.0, 0.0, float("nan"), float("nan"), None], True),
    (pa.date32(), [date(2020, 1, 1), date(1, 1, 1), None, date(2020, 1, 1), None, None], True),
    (pa.timestamp("us"), [MOMENT, MOMENT, None, datetime(1, 1, 1), MOMENT, None], True),
    (pa.timestamp("ns"), [1, 2, 1, None, 3, 1000], True),
    (pa.decimal128(20, 3), [Decimal("1.000"), Decimal("1.001"), None, Decimal(5), Decimal(5), Decimal(5)], True),
    (pa.list_(pa.string()), [["x", "y"], ["y", "x"], [], None, [None], ["x", "x", "y"]], True),
    (pa.list_(pa.int32()), [[1, 2], [2, 1], [], None, [None], [1]], True),
    (pa.list_(pa.float64()), [[-0.0], [0.0], [], None, [None], [0.0]], True),
    (pa.large_list(pa.large_string()), [["x", "y"], ["y", "x"], [], None, [None], ["x"]], True),
    (pa.list_(pa.string(), 2), [["x", "y"], ["y", "x"], ["y", None], None, ["x", "x"], ["x", "x"]], True),
    (pa.timestamp("ms"), [MOMENT, MOMENT, None, datetime(1, 1, 1), MOMENT, None], False),
    (pa.timestamp("us", "Europe/Berlin"), [MOMENT, MOMENT, None, MOMENT, MOMENT, None], False),
    (pa.date64(), [date(2020, 1, 1), date(2020, 1, 1), None, date(2020, 1, 2), None, None], True),
    (pa.time64("us"), [time(1), time(1), None, time(2), time(2), time(3)], False),
    (pa.duration("s"), [1, 1, None, 2, 2, 3], False),
    (pa.binary(), [b"\xff", b"\xff", None, b"", b"", b"a"], False),
    (pa.null(), [None] * 6, False),
]


def written(tmp_path, table, name="release.parquet"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return path


def said(release, given=GIVEN):
    report = audit_release(release, given).to_dict()
    return {name: report[name] for name in ("rows", "classes", "guarantees")}


@pytest.mark.parametrize("column", ["zone", "illness"])
@pytest.mark.parametrize(("kind", "values", "own"), TYPES, ids=[str(kind) for kind, _, _ in TYPES])
def test_every_type_says_the_same_in_a_file_as_in_memory(tmp_path, monkeypatch, kind, values, own, column):
    table = classes(a=["flu", "ulcer", None], b=["flu", "flu", None])
    table = table.set_column(table.column_names.index(column), column, pa.array(values, kind))
    streams = []
    reader = Release._parquet_reader
    monkeypatch.setattr(Release, "_parquet_reader", lambda *given: streams.append(1) or reader(*given))
    assert said(written(tmp_path, table)) == said(table)
    passes = 2 if column == "illness" else 1  # rare values are counted in a pass of their own
    assert len(streams) == (0 if own else passes)


@pytest.mark.parametrize("kind", [pa.float16(), pa.decimal256(50, 2)])
def test_types_that_duckdb_would_take_for_others_are_refused(tmp_path, kind):
    values = pa.array([1, 2, 1, 2, 1, 1], pa.float32() if kind == pa.float16() else pa.decimal128(20, 2)).cast(kind)
    table = classes(a=["flu"] * 3, b=["flu"] * 3).set_column(0, "zone", values)
    with pytest.raises(DataError):
        audit_release(written(tmp_path, table), GIVEN)


@pytest.mark.parametrize("name", ["a*", "[ab]", "a?", "it's", "{a,b}", "zone=north", "a\\b", "a b;--"])
def test_a_path_is_no_pattern_and_no_column(tmp_path, name):
    for decoy in ("ab", "a", "b"):
        written(tmp_path, classes(decoy=["x"] * 9), f"{decoy}/{decoy}.parquet")
    path = written(tmp_path, classes(a=["x", "y"], b=["x", "y"]), f"{name}/{name}.parquet")
    report = audit_release(path, GIVEN)
    assert (report.rows, report.classes, report.passed) == (4, 2, True)


def test_statistics_in_a_file_are_not_believed(tmp_path):
    few, many = 1000, 3000
    table = pa.table({"zone": pa.array([*range(few), many] * 2, pa.int64()), "illness": ["x", "y"] * (few + 1)})
    path = written(tmp_path, table)
    before, whole = said(path), path.read_bytes()
    footer = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
    lie = whole[footer:].replace(struct.pack("<q", many), struct.pack("<q", 3))
    assert lie != whole[footer:]
    path.write_bytes(whole[:footer] + lie)
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).statistics.max == 3
    assert said(path) == before


def test_rows_that_the_footer_does_not_speak_of(tmp_path):
    opened = open_release(written(tmp_path, classes(a=["x", "y"])), GIVEN)
    with pytest.raises(DataError, match="two programs read different rows"):
        opened.check_read(3)


def test_too_little_memory_is_said(tmp_path):
    path = written(tmp_path, pa.table({"zone": [str(row) for row in range(100_000)], "illness": ["x"] * 100_000}))
    with pytest.raises(DataError, match="needs more memory"):
        audit_release(path, GIVEN, memory=1 << 20)
