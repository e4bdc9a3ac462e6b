"""What a database tells of its tables: columns, types, and one clear message where there are none."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError
from sudare.engines import find_place, open_database
from sudare.engines.spark.spark import Spark

from .homes import literal, quoted

TABLE = pa.table(
    {
        "whole": pa.array([1, 2], pa.int32()),
        "Big Whole": pa.array([1, None], pa.int64()),
        "real": pa.array([0.5, None], pa.float64()),
        "text": ["a", None],
        "yes": [True, None],
        "day": pa.array([datetime.date(2020, 1, 2), None]),
        "moment": pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5, 6), None], pa.timestamp("us")),
        "items": pa.array([["x", "y"], None], pa.list_(pa.string())),
        "codes": pa.array([[1, 2], []], pa.list_(pa.int32())),
    }
)
POLICY = {"columns": {"whole": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]}


def opened(home, table, schema=None):
    place = find_place(home.address(table, schema))
    return open_database(place), place


def test_columns_come_in_their_order_with_their_names(home):
    home.load("people", TABLE)
    database, place = opened(home, "people")
    with database:
        assert database.columns(place).names == TABLE.column_names


def test_types_are_those_of_the_local_engine(home):
    home.load("people", TABLE)
    database, place = opened(home, "people")
    with database:
        found = dict(zip(TABLE.column_names, database.types(place), strict=True))
    for name, kind in zip(TABLE.column_names, TABLE.schema.types, strict=True):
        if pa.types.is_list(kind):
            assert found[name].value_type == kind.value_type, name
        else:
            assert found[name] == kind, name


def test_what_arrow_cannot_hold_is_read_as_text(postgres_home):
    postgres_home.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE odd (n numeric(10, 2), u uuid, m mood, c char(4), v varchar(9), a numeric[], i inet, j jsonb)",
        "INSERT INTO odd VALUES (1.20, '00000000-0000-0000-0000-000000000001', 'ok', 'ab', 'cd', '{1.10}',"
        " '10.0.0.1', '{\"a\": 1}')",
    )
    database, place = opened(postgres_home, "odd")
    with database:
        kinds = database.types(place)
        assert [pa.types.is_string(kind) for kind in kinds] == [True] * 5 + [False] + [True] * 2
        assert kinds[5].value_type == pa.string()
        [row] = database.source(place, database.columns(place).names).table().to_pylist()
    assert (row["n"], row["m"], row["a"]) == ("1.20", "ok", ["1.10"])


def test_decimals_of_duckdb_are_decimals(duck_home):
    duck_home.load("odd", pa.table({"n": pa.array([Decimal("1.20")], pa.decimal128(9, 2))}))
    database, place = opened(duck_home, "odd")
    with database:
        assert database.types(place) == [pa.decimal128(9, 2)]


def test_views_are_tables_too(home):
    home.load("people", TABLE)
    home.run(f"CREATE VIEW seen AS SELECT whole, text FROM people WHERE whole = {literal('1')}")
    database, place = opened(home, "seen")
    with database:
        assert database.columns(place).names == ["whole", "text"]
        assert database.rows(place) == 1


def test_tables_of_other_schemas(home):
    home.run('CREATE SCHEMA "Other One"')
    home.load("people", TABLE.select(["whole"]))
    home.load("people", TABLE.select(["text"]), "Other One")
    database, place = opened(home, "people", "Other One")
    with database:
        assert database.columns(place).names == ["text"]
        assert database.exists(place)
        assert not database.exists(find_place(home.address("peopl", "Other One")))


def test_a_schema_called_like_the_database(duck_home):
    duck_home.run("CREATE SCHEMA home")
    duck_home.load("people", TABLE.select(["whole"]))
    with pytest.raises(DataError, match=r"home\.people: there is no such table"):
        sudare.anonymize(duck_home.address("people", "home"), POLICY, out=duck_home.address("r"))
    duck_home.run("CREATE TABLE home.home.people AS SELECT 7 AS seven")
    database, place = opened(duck_home, "people", "home")
    with database:
        assert database.columns(place).names == ["seven"]


def test_names_that_differ_in_case_are_two_tables(postgres_home):
    postgres_home.run('CREATE TABLE "People" (a integer)', "CREATE TABLE people (b integer)")
    for name, column in (("People", "a"), ("people", "b")):
        database, place = opened(postgres_home, name)
        with database:
            assert database.columns(place).names == [column]


def test_there_is_no_such_table(home):
    home.load("people", TABLE)
    before = home.tables()
    for target in (home.address("release"), None):
        with pytest.raises(DataError) as caught:
            sudare.anonymize(home.address("peopel"), POLICY, out=target)
        assert "#peopel: there is no such table." in str(caught.value)
    assert home.tables() == before


def test_there_is_no_such_table_where_rows_travel(home):
    """The message names the source, although the database was opened for the target."""
    rules = {
        "columns": {"whole": {"role": "quasi"}, "text": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 2, "column": "text"}],
        "method": {"name": "dummies"},
    }
    with pytest.raises(DataError, match=r"#peopel: there is no such table\."):
        sudare.anonymize(home.address("peopel"), rules, out=home.address("release"))
    assert home.tables() == []


def test_there_is_no_such_schema(home):
    with pytest.raises(DataError, match=r"nowhere\.people: there is no such (table|schema)\."):
        sudare.anonymize(home.address("people", "nowhere"), POLICY, out=home.address("release"))


def test_there_is_no_such_column(home):
    home.load("people", TABLE)
    rules = {**POLICY, "columns": {"whole": {"role": "quasi"}, "texte": {"role": "sensitive"}}}
    with pytest.raises(DataError, match=r"there is no column 'texte'.*Did you mean 'text'\?"):
        sudare.anonymize(home.address("people"), rules, out=home.address("release"))
    assert home.tables() == ["people"]


def test_identifiers_have_to_be_there_but_are_not_released(home):
    home.load("people", TABLE)
    rules = {**POLICY, "columns": {"whole": {"role": "quasi"}, "text": {"role": "identifier"}}}
    sudare.anonymize(home.address("people"), rules, out=home.address("release"))
    assert home.read("release").column_names == ["whole"]
    missing = {**POLICY, "columns": {"whole": {"role": "quasi"}, "nobody": {"role": "identifier"}}}
    with pytest.raises(DataError, match="no column 'nobody'"):
        sudare.anonymize(home.address("people"), missing, out=home.address("other"))


@pytest.mark.parametrize("pushed", [True, False], ids=["in place", "by rows"])
def test_a_table_without_records(home, tmp_path, pushed):
    home.load("people", TABLE.slice(0, 0))
    out = home.address("release") if pushed else tmp_path / "release.csv"
    with pytest.raises(DataError, match=r"#people: has no records\."):
        sudare.anonymize(home.address("people"), POLICY, out=out)
    assert home.tables() == ["people"]
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize("name", ["", ".", "a.b.c", "a.", ".a", '"a', 'a"b', '""', 'a."b"c'])
def test_names_that_are_none(home, name):
    with pytest.raises(DataError, match="the address does not name a table"):
        sudare.anonymize(f"{home.database}#{name}", POLICY)


def test_the_name_of_a_table_has_to_be_given(home):
    with pytest.raises(DataError, match=r"the address does not name a table\. Hint: put it after a #"):
        sudare.anonymize(home.database, POLICY)


def test_a_number_sign_in_a_name(home):
    home.load("a#b", TABLE)
    database, place = opened(home, "a#b")
    with database:
        assert database.rows(place) == 2
    assert find_place(f"{home.database}#a").table == "a"
    assert quoted("a#b") in home.address("a#b")


def test_spark_tells_the_same_columns(spark):
    engine = Spark(spark)
    found = engine.schema(engine.open(spark.createDataFrame(TABLE)))
    assert found.names == TABLE.column_names
    for kind, own in zip(found.types, TABLE.schema.types, strict=True):
        if pa.types.is_timestamp(own):  # a time without a zone is one of the session's zone there
            assert pa.types.is_timestamp(kind)
        else:
            assert kind == own


def test_spark_has_no_such_table(spark):
    with pytest.raises(DataError, match="no such table"):
        Spark(spark).open("nobody")
