"""Rows that come from a database: all of them, once, as they were at one moment."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError
from sudare.engines import find_place, open_database
from sudare.engines.spark.spark import Parcel, Spark

from .homes import rows, wait_until

TABLE = pa.table(
    {
        "whole": pa.array([1, 2, None], pa.int32()),
        "text": ["a", None, 'b"; --'],
        "real": pa.array([0.5, float("nan"), None]),
        "day": pa.array([datetime.date(2020, 1, 2), None, datetime.date(1900, 1, 1)]),
        "words": pa.array([["x", "y"], [], None], pa.list_(pa.string())),
        "odd words": pa.array([["a,b", '"', ""], ["{}", "NULL", None], ["\\"]], pa.list_(pa.string())),
        "codes": pa.array([[3, 1], [], None], pa.list_(pa.int32())),
        "large codes": pa.array([[2**40], None, [0]], pa.list_(pa.int64())),
        "yes": [True, None, False],
    }
)


@pytest.fixture
def place(home):
    return find_place(home.load("people", TABLE))


def test_rows_are_those_of_the_table(place):
    with open_database(place) as database:
        source = database.source(place, TABLE.column_names)
        found = source.table()
    assert source.rows == 3
    assert found.column_names == TABLE.column_names
    assert rows(found) == rows(TABLE)


def test_only_the_columns_that_were_asked_for_come(place):
    with open_database(place) as database:
        found = database.source(place, ["codes", "whole"]).table()
    assert found.column_names == ["codes", "whole"]
    assert rows(found) == rows(TABLE, ["codes", "whole"])


def test_batches_have_the_schema_that_was_told(place):
    with open_database(place) as database:
        source = database.source(place, TABLE.column_names)
        assert all(batch.schema == source.schema for batch in source.batches(()))


def test_many_rows_come_once_each(home):
    count = 250_000
    place = find_place(home.load("people", pa.table({"number": np.arange(count), "text": ["x" * 400] * count})))
    with open_database(place) as database:
        batches = list(database.source(place, ["number", "text"]).batches(()))
    numbers = np.concatenate([batch.column(0).to_numpy() for batch in batches])
    assert np.array_equal(np.sort(numbers), np.arange(count))


@pytest.mark.parametrize(
    "statement", ["DELETE FROM people", "UPDATE people SET whole = 7", "INSERT INTO people (whole) VALUES (9)"]
)
def test_rows_are_of_one_moment(postgres_home, statement):
    """Others change the table after it was counted."""
    place = find_place(postgres_home.load("people", TABLE))
    with open_database(place) as database:
        source = database.source(place, ["whole", "text"])
        postgres_home.run(statement)
        assert rows(source.table()) == rows(TABLE, ["whole", "text"])
        assert database.rows(place) == source.rows == 3
    assert rows(
        postgres_home.read("people"),
    ) != rows(TABLE)


def test_a_table_that_is_dropped_meanwhile_stays_while_it_is_read(duck_home):
    """DuckDB lets nobody else in; within one process, a transaction sees what was there when it began."""
    import duckdb

    place = find_place(duck_home.load("people", TABLE))
    with open_database(place) as database:
        source = database.source(place, ["whole"])
        config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        with duckdb.connect(duck_home.database, config=config) as other:
            other.execute("DELETE FROM people")
        assert rows(source.table()) == rows(TABLE, ["whole"])


def test_the_connection_is_let_go_with_the_last_row(home, tmp_path):
    """Or a DuckDB file would stay locked, and a server would keep a transaction open for days."""
    rules = {"columns": {"whole": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 3}]}
    home.load("people", TABLE)
    sudare.anonymize(home.address("people"), rules, out=tmp_path / "release.csv")
    if home.name == "postgres":
        wait_until(lambda: not home.sessions())  # a connection that nobody closed would stay
    else:
        import duckdb

        duckdb.connect(home.database, read_only=True).close()  # which another way of opening it would refuse


def test_a_type_that_cannot_come_is_told(postgres_home, tmp_path):
    postgres_home.run("CREATE TABLE people (a int, b point)", "INSERT INTO people VALUES (1, '(1,2)'), (1, '(3,4)')")
    rules = {
        "columns": {"a": {"role": "quasi"}, "b": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    sudare.anonymize(postgres_home.address("people"), rules, out=tmp_path / "release.csv")
    assert sorted((tmp_path / "release.csv").read_text().splitlines()) == ['1,"(1,2)"', '1,"(3,4)"', "a,b"]


@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_dates_without_an_end_are_told(postgres_home, kind):
    postgres_home.run(f"CREATE TABLE people (a {kind})", "INSERT INTO people VALUES ('infinity'), ('2020-01-01')")
    rules = {"columns": {"a": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(DataError):
        sudare.anonymize(postgres_home.address("people"), rules, out=postgres_home.address("release"))
    assert postgres_home.tables() == ["people"]


def test_rows_go_through_spark_as_parcels(spark):
    names = TABLE.column_names

    # these are sent along, since executors do not have the modules of tests
    def packed(batches):
        for batch in batches:
            yield Parcel(0, pickle.dumps(batch.num_rows), pickle.dumps(batch.rename_columns(names)))

    def told(parcels):
        return (pickle.loads(parcel.head) for parcel in parcels)

    def unpacked(parcels):
        return (pickle.loads(parcel.body) for parcel in parcels)

    with Spark(spark) as engine:
        frame = engine.open(spark.createDataFrame(TABLE).repartition(2))
        parcels = engine.parcels(frame, names, packed, keep=True)
        assert sum(map(pickle.loads, engine.heads(parcels, from_rows=True))) == TABLE.num_rows
        assert sum(engine.gather(parcels, told)) == TABLE.num_rows
        found = engine.rows(engine.deal(parcels, 3), TABLE.schema, unpacked).toArrow()
    assert found.column_names == names
    assert rows(found) == rows(TABLE)
