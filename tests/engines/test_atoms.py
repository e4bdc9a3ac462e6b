"""Records that are counted by a database: the same counts as by hand, whatever the cells are."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from sudare.engines import find_place, open_database
from sudare.engines.spark.spark import Spark

from .homes import rows

DAY, NOON = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 12, 30, 0, 123456)
ZONE = datetime.UTC
KINDS = {
    "whole": pa.array([3, 3, -1, None, 0], pa.int32()),
    "large": pa.array([2**62, 2**62, -(2**62), None, 0], pa.int64()),
    "short": pa.array([3, 3, -1, None, 0], pa.int16()),
    "real": pa.array([0.1, 0.1, -1e300, None, 2.5], pa.float64()),
    "single": pa.array([0.1, 0.1, -1.5, None, 2.5], pa.float32()),
    "text": pa.array(["a", "a", "A", None, "a "]),
    "blank": pa.array(["", "", " ", None, "\t"]),
    "unicode": pa.array(["é", "é", "e\u0301", None, "日本😀"]),
    "odd text": pa.array(["a'b", "a'b", 'a"b', None, "a\\b\n%s$1;--"]),
    "truth": pa.array([True, True, False, None, False]),
    "date": pa.array([DAY, DAY, datetime.date(1066, 10, 14), None, datetime.date(9999, 12, 31)]),
    "moment": pa.array(
        [NOON, NOON, datetime.datetime(1815, 6, 18), None, NOON.replace(microsecond=0)], pa.timestamp("us")
    ),
    "zone": pa.array(
        [NOON.replace(tzinfo=ZONE)] * 2
        + [NOON.replace(tzinfo=ZONE, hour=3), None, NOON.replace(tzinfo=ZONE, year=1972)],
        pa.timestamp("us", "UTC"),
    ),
    "time": pa.array(
        [datetime.time(1, 2, 3)] * 2 + [datetime.time(0), None, datetime.time(23, 59, 59)], pa.time64("us")
    ),
}


def tally(home, table, names):
    place = find_place(home.address("people"))
    home.load("people", table)
    with open_database(place) as database:
        found = database.tally(place, names)
    assert found.cells.column_names == list(names)
    assert len(found.counts) == found.cells.num_rows
    lines = [tuple(row) for row in zip(*(column.to_pylist() for column in found.cells.columns), strict=True)]
    assert found.counts.dtype == np.int64
    return found, lines


@pytest.mark.parametrize("kind", KINDS)
def test_the_counts_are_those_of_a_plain_count(home, kind):
    cells = pa.concat_arrays([KINDS[kind]] * 3)
    found, lines = tally(home, pa.table({"x": cells}), ["x"])
    expected = Counter((value,) for value in cells.to_pylist())
    assert dict(zip(lines, found.counts.tolist(), strict=True)) == expected
    assert found.cells.schema.field("x").type == cells.type


@pytest.mark.parametrize("kind", ["real", "single"])
def test_what_is_not_a_number_is_one_value(home, kind):
    cells = pa.array([math.nan, 1.0, math.nan, None], KINDS[kind].type)
    found, lines = tally(home, pa.table({"x": cells}), ["x"])
    assert Counter(dict(zip((str(value) for [value] in lines), found.counts.tolist(), strict=True))) == Counter(
        {"nan": 2, "1.0": 1, "None": 1}
    )


def test_combinations_are_counted(home):
    draw = np.random.default_rng(1)
    table = pa.table(
        {
            "a": pa.array(draw.integers(0, 4, 500), pa.int64()),
            "b": pa.array(draw.choice(["x", "y", "", None], 500).tolist(), pa.string()),
            "c": pa.array(draw.choice([True, False, None], 500).tolist(), pa.bool_()),
            "other": pa.array(draw.integers(0, 99, 500), pa.int64()),
        }
    )
    found, lines = tally(home, table, ["c", "a", "b"])
    assert dict(zip(lines, found.counts.tolist(), strict=True)) == rows(table, ["c", "a", "b"])
    assert found.counts.sum() == 500


def test_decimals_are_counted_as_they_are_written(home):
    table = pa.table({"x": pa.array([Decimal("1.20"), Decimal("1.20"), Decimal("-3.45"), None], pa.decimal128(9, 2))})
    if home.name == "postgres":
        home.run("CREATE TABLE people (x numeric)", "INSERT INTO people VALUES (1.20), (1.20), (-3.45), (NULL)")
        place = find_place(home.address("people"))
        with open_database(place) as database:
            found = database.tally(place, ["x"])
    else:
        found, _ = tally(home, table, ["x"])
    told = {
        None if value is None else str(value): n for [value], n in zip(rows_of(found.cells), found.counts, strict=True)
    }
    assert told == {"1.20": 2, "-3.45": 1, None: 1}


def rows_of(table):
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_texts_that_a_collation_calls_equal_are_two_values(home):
    """What the source says is a value, and not what somebody finds alike."""
    if home.name == "postgres":
        home.run(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
            "CREATE TABLE people (x text COLLATE loose)",
        )
    else:
        home.run("CREATE TABLE people (x VARCHAR COLLATE NOCASE)")
    home.run("INSERT INTO people VALUES ('a'), ('A'), ('b'), ('a')")
    place = find_place(home.address("people"))
    with open_database(place) as database:
        found = database.tally(place, ["x"])
    assert dict(zip(found.cells["x"].to_pylist(), found.counts.tolist(), strict=True)) == {"a": 2, "A": 1, "b": 1}


def test_item_sets_are_counted_as_they_are(home):
    """The audit looks at the sets of a release."""
    cells = pa.array([["a", "b"], ["a", "b"], ["b"], [], None], pa.list_(pa.string()))
    found, lines = tally(home, pa.table({"x": cells}), ["x"])
    told = Counter({str(value): int(n) for [value], n in zip(lines, found.counts, strict=True)})
    assert told == Counter(map(str, cells.to_pylist()))


def test_no_columns_are_one_count(home):
    home.load("people", pa.table({"a": [1, 2, 3]}))
    place = find_place(home.address("people"))
    with open_database(place) as database:
        assert database.tally(place, []).counts.tolist() == [3]


def test_nothing_is_counted_in_an_empty_table(home):
    found, lines = tally(home, pa.table({"a": pa.array([], pa.int64())}), ["a"])
    assert (lines, found.counts.tolist()) == ([], [])


def test_enums_and_unique_numbers_are_texts(home):
    one, other = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
    home.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE people (m mood, u uuid)",
        f"INSERT INTO people VALUES ('ok', '{one}'), ('ok', '{one}'), ('sad', '{other}'), (NULL, NULL)",
    )
    place = find_place(home.address("people"))
    with open_database(place) as database:
        found = database.tally(place, ["m", "u"])
    assert dict(zip(rows_of(found.cells), found.counts.tolist(), strict=True)) == {
        ("ok", one): 2,
        ("sad", other): 1,
        (None, None): 1,
    }


def test_spark_counts_the_same(spark):
    """All kinds of cells at once, by themselves and together; Spark has no times of day."""
    kinds = {name: cells for name, cells in KINDS.items() if name not in ("time", "moment")}
    given = pa.concat_tables([pa.table(kinds)] * 3)
    engine = Spark(spark)
    frame = engine.open(spark.createDataFrame(given))
    for names in (*([name] for name in kinds), ["whole", "text", "real"], list(kinds)):
        found = engine.tally(frame, names)
        lines = [tuple(row) for row in zip(*(column.to_pylist() for column in found.cells.columns), strict=True)]
        told = dict(zip(lines, found.counts.tolist(), strict=True))
        assert told == Counter(zip(*(given.column(name).to_pylist() for name in names), strict=True)), names
    assert engine.tally(frame, []).counts.tolist() == [given.num_rows]
