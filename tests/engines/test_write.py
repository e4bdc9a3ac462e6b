"""Rows that go down to a database: the same rows arrive, with names and types that they should have."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, SudareError, TargetError
from sudare.engines import find_place, open_database
from sudare.engines.spark.spark import Spark

from .homes import rows
from .test_apply import compare_carried, exact_types

TABLE = pa.table(
    {
        "whole": pa.array([1, 2, None], pa.int32()),
        "text": ["a", None, 'b"; --'],
        "real": pa.array([0.5, -1e300, None]),
        "single": pa.array([0.5, -1.5, None], pa.float32()),
        "day": pa.array([datetime.date(2020, 1, 2), None, datetime.date(1900, 1, 1)]),
        "moment": pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5, 6), None, None], pa.timestamp("us")),
        "words": pa.array([["x", "y"], [], None], pa.list_(pa.string())),
        "codes": pa.array([[3, 1], [], None], pa.list_(pa.int32())),
        "large text": pa.array(["a" * 9000, "", None], pa.large_string()),
        "price": pa.array([Decimal("1.20"), Decimal("-0.05"), None], pa.decimal128(9, 2)),
        "yes": [True, None, False],
        "bytes": pa.array([b"\0\xff", b"", None]),
    }
)


def written(home, table, batches=None, like=None):
    target = find_place(home.address("release"))
    with open_database(target, create=True) as database:
        draft = database.write(target, table.schema, batches or table.to_batches(), like=like)
        database.place(draft, target, {"certificate": 1})
    assert home.tables() == sorted({"release", "release_sudare", *([like.table] if like else [])})
    return home.read("release")


def told(table):
    return [[None if cell is None else str(cell) for cell in column.to_pylist()] for column in table.columns]


def test_rows_arrive_as_they_were(home):
    found = written(home, TABLE)
    assert found.column_names == TABLE.column_names
    names = [name for name in TABLE.column_names if name != "price"]
    assert told(found.select(names)) == told(TABLE.select(names))
    assert [price and Decimal(price) for price in found["price"].to_pylist()] == TABLE["price"].to_pylist()


def test_numbers_arrive_as_they_were(home):
    """Whatever their size, sign and scale; numbers without a sign that are too large for others, too."""
    draw = np.random.default_rng(2)
    cents = [Decimal(int(number)).scaleb(-3) for number in draw.integers(-(10**9), 10**9, 500)]
    cents += [Decimal(text) for text in ("0", "0.001", "-0.001", "1000", "10000.5", "-99990000", "0.100")]
    table = pa.table(
        {
            "price": pa.array(cents, pa.decimal128(18, 3)),
            "wide": pa.array([number * 10**20 for number in cents], pa.decimal128(38, 3)),
            "large": pa.array([2**64 - 1 - number for number in range(len(cents))], pa.uint64()),
            "lists": pa.array([[2**64 - 1, number] for number in range(len(cents))], pa.list_(pa.uint64())),
            "days": pa.array([datetime.date(2020, 1, 2)] * len(cents), pa.date64()),
        }
    )
    found = written(home, table)
    for name in ("price", "wide", "large"):
        assert [Decimal(number) for number in found[name].to_pylist()] == [Decimal(n) for n in table[name].to_pylist()]
    assert [[int(n) for n in numbers] for numbers in found["lists"].to_pylist()] == table["lists"].to_pylist()
    assert {str(day)[:10] for day in found["days"].to_pylist()} == {"2020-01-02"}


def test_types_are_those_of_the_rows(home):
    written(home, TABLE)
    kinds = list(exact_types(home, "release").values())
    expected = {
        "duckdb": [
            "INTEGER",
            "VARCHAR",
            "DOUBLE",
            "FLOAT",
            "DATE",
            "TIMESTAMP",
            "VARCHAR[]",
            "INTEGER[]",
            "VARCHAR",
            "DECIMAL(9,2)",
            "BOOLEAN",
            "BLOB",
        ],
        "postgres": [
            "integer",
            "text",
            "double precision",
            "real",
            "date",
            "timestamp without time zone",
            "text[]",
            "integer[]",
            "text",
            "numeric",
            "boolean",
            "bytea",
        ],
    }
    assert kinds == expected[home.name]


def test_dictionaries_become_plain(home):
    table = pa.table(
        {
            "text": pa.array(["a", "b", "a", None]).dictionary_encode(),
            "items": pa.array([["a"], ["b", "a"], [], None], pa.list_(pa.string())),
        }
    )
    assert rows(written(home, table)) == rows(
        table.cast(pa.schema([("text", pa.string()), table.schema.field("items")]))
    )


def test_many_batches(home):
    table = pa.table({"number": np.arange(30_000), "text": [str(number) for number in range(30_000)]})
    assert rows(written(home, table, table.to_batches(max_chunksize=777))) == rows(table)


@pytest.mark.parametrize("names", [["c1", "c0"], ["C2", "c1_", "c", "c0"], ["c_0", "c__0", "c", "c1"], ["", " "][1:]])
def test_columns_called_like_ours(home, names):
    """Columns have names of our own on their way."""
    table = pa.table([[number] for number in range(len(names))], names)
    found = written(home, table)
    assert found.column_names == names
    assert rows(found) == rows(table)


def test_carried_columns_get_their_types_back_duckdb(duck_home):
    """Types that Arrow does not have, where rows travel."""
    duck_home.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE people (age INTEGER, items VARCHAR[], d DECIMAL(9, 2), u UUID, m mood, h HUGEINT, j JSON,"
        " t TIMESTAMP_S, n UTINYINT, l INTEGER[])",
        "INSERT INTO people SELECT 30, ['a'], 1.20, '00000000-0000-0000-0000-000000000001', 'ok', 1701411834604692317,"
        " '{\"a\": 1}', '2020-01-02 03:04:05', 7, [2, 1] FROM range(4)",
        "INSERT INTO people (age, items) VALUES (31, ['b'])",
    )
    check_by_rows(duck_home)


def test_carried_columns_get_their_types_back_postgres(postgres_home):
    postgres_home.run(
        "CREATE SCHEMA elsewhere",
        "CREATE TYPE elsewhere.\"odd'; DROP TABLE people; --\" AS ENUM ('sad', 'ok')",
        "CREATE TABLE people (age numeric, items text[], d numeric(9, 2), n numeric, u uuid,"
        ' m elsewhere."odd\'; DROP TABLE people; --", c char(5), v varchar(7), j jsonb, w numeric(5, 1)[], i interval,'
        " y inet, b bytea, l integer[])",
        "INSERT INTO people SELECT 30, '{a}', 1.20, 3.1400, '00000000-0000-0000-0000-000000000001', 'ok', 'ab', 'cd',"
        " '{\"a\": 1}', '{1.5,NULL}', '3 days', '10.0.0.1', '\\x00ff', '{2,1}' FROM generate_series(1, 4)",
        "INSERT INTO people (age, items) VALUES (31.5, '{b}')",
    )
    check_by_rows(postgres_home)


def check_by_rows(home):
    names = [name for name in exact_types(home, "people") if name not in ("age", "items")]
    rules = {
        "columns": {"age": {"role": "quasi"}, "items": {"role": "quasi"}}
        | {name: {"role": "insensitive"} for name in names},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    release = sudare.anonymize(home.address("people"), rules, out=home.address("release"))
    assert release.certificate["rows_out"] == 5
    assert sudare.audit(home.address("release"), rules).passed
    compare_carried(home, "release", names)


def test_required_values_keep_their_type(home):
    """A sensitive number that was written in two ways is one value; in the release it is a number still."""
    kind = "numeric" if home.name == "postgres" else "DECIMAL(9, 3)"
    home.run(
        f"CREATE TABLE people (age integer, wage {kind})",
        "INSERT INTO people VALUES (30, 1.20), (30, 1.2), (30, 7), (31, 1.200), (31, 7.0), (31, 7)",
    )
    rules = {
        "columns": {"age": {"role": "quasi"}, "wage": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": "wage"}],
    }
    sudare.anonymize(home.address("people"), rules, out=home.address("release"))
    assert exact_types(home, "release")["wage"] == exact_types(home, "people")["wage"]
    found = home.query("SELECT CAST(sum(wage) AS DOUBLE PRECISION) AS s FROM release")["s"][0].as_py()
    assert found == pytest.approx(1.2 * 3 + 21)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([{"a": 1}]), "does not have"),
        (pa.array([[[1]]]), "does not have"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())), "does not have"),
        (pa.array(["a\0b"]), "a character that PostgreSQL cannot store"),
    ],
    ids=["struct", "lists of lists", "map", "zero byte"],
)
def test_what_postgres_cannot_hold_is_told(postgres_home, column, said):
    target, table = find_place(postgres_home.address("release")), pa.table({"x": column})
    with pytest.raises(TargetError, match=f"#release: .*{said}"), open_database(target) as database:
        database.write(target, table.schema, table.to_batches())
    assert postgres_home.tables() == []


def test_a_source_that_breaks_off_leaves_nothing(home):
    def batches():
        yield TABLE.to_batches()[0]
        raise DataError("the source broke off.")

    target = find_place(home.address("release"))
    with pytest.raises(SudareError), open_database(target) as database:
        database.write(target, TABLE.schema, batches())
    assert home.tables() == []


def test_rows_arrive_as_they_were_on_spark(spark, tmp_path):
    given = TABLE.drop_columns(["moment"])  # a time without a zone is one of the session's zone there
    frame = spark.createDataFrame(given).repartition(2)
    engine = Spark(spark)
    engine.write(frame, tmp_path / "rows.parquet")
    assert {path.suffix for path in (tmp_path / "rows.parquet").iterdir()} == {".parquet"}
    try:
        for found in (engine.open(tmp_path / "rows.parquet"), engine.save(frame, "sudare_written")):
            assert found.columns == given.column_names
            assert rows(found.toArrow()) == rows(given)
        engine.rename("sudare_written", "sudare_renamed")
        assert engine.exists("sudare_renamed")
        assert not engine.exists("sudare_written")
    finally:
        engine.drop("sudare_written")
        engine.drop("sudare_renamed")
    assert not engine.exists("sudare_renamed")
