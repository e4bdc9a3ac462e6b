"""Dry runs where rows are in databases: the figures of the release, and nothing is there afterwards."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, PolicyUnmetError, TargetError, UnsupportedError

from .cases import ADULT, claims, policy
from .test_release import figures, rounded

NOT_THERE = ("certificate", "randomness")
SETS = {
    "columns": {"age": {"role": "quasi"}, "codes": {"role": "quasi", "kind": "items"}, "cost": {"role": "insensitive"}},
    "require": [{"model": "k-anonymity", "k": 5}],
}
DRAWN = {
    "columns": {"age": {"role": "quasi"}, "income": {"role": "sensitive"}},
    "require": [{"model": "l-diversity", "l": 2, "column": "income"}],
    "method": {"name": "dummies"},
}


def state(home):
    """What is in a database: its tables, their rows in order; and the bytes of its file, if it is one."""
    path = Path(home.database)
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if home.name == "duckdb" else ""
    beside = sorted(each.name for each in path.parent.iterdir()) if home.name == "duckdb" else []
    return home.tables(), [home.read(name).to_pylist() for name in home.tables()], digest, beside


def schemas(home):
    """All relations of a PostgreSQL database, also those that are no tables, and of temporary schemas."""
    if home.name == "duckdb":
        return []
    found = home.query(
        "SELECT nspname || '.' || relname AS n FROM pg_class c JOIN pg_namespace n ON n.oid=relnamespace"
    )
    return sorted(found["n"].to_pylist())


@pytest.mark.parametrize("out", [True, False], ids=["into the database", "to nowhere"])
@pytest.mark.parametrize(
    ("data", "rules"), [(ADULT, policy()), (claims(), SETS), (ADULT, DRAWN)], ids=["atoms", "item sets", "drawn"]
)
def test_figures_are_those_of_the_release_and_nothing_is_written(home, data, rules, out):
    address = home.load("source", data)
    before, relations = state(home), schemas(home)
    target = home.address("release") if out else None
    preview = sudare.preview(address, rules, out=target, rows=7, seed=1)
    assert state(home) == before
    assert schemas(home) == relations
    made = sudare.anonymize(address, rules, out=target, seed=1)
    expected = rounded(figures(made.certificate, *NOT_THERE))
    expected["mechanism"].pop("second_sha256", None)
    assert rounded(figures(preview.figures)) == expected
    assert preview.rows.num_rows == 7
    released = home.read("release") if out else made.data
    assert preview.rows.column_names == released.column_names
    if "method" not in rules and not out:  # a database shuffles by itself
        assert preview.rows.to_pylist() == released.slice(0, 7).to_pylist()
    if "method" not in rules:
        assert all(row in released.to_pylist() for row in preview.rows.to_pylist())


def test_a_file_into_a_database(home, tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(ADULT, tmp_path / "people.parquet")
    before, relations = state(home), schemas(home)
    preview = sudare.preview(tmp_path / "people.parquet", policy(), out=home.address("release"), rows=3)
    assert (state(home), schemas(home)) == (before, relations)
    assert preview.figures["rows_out"] == 400
    assert preview.rows.num_rows == 3


def test_a_database_that_is_not_there_yet_is_not_made(tmp_path):
    home, out = tmp_path / "people.duckdb", tmp_path / "new.duckdb"
    with duckdb.connect(str(home)) as database:
        database.register("given", ADULT)
        database.execute("CREATE TABLE people AS SELECT * FROM given")
    preview = sudare.preview(f"{home}#people", policy(), out=f"{out}#release")
    assert preview.rows.num_rows == 10
    assert [path.name for path in tmp_path.iterdir()] == ["people.duckdb"]
    with pytest.raises(TargetError, match="there is no such folder"):
        sudare.preview(f"{home}#people", policy(), out=f"{tmp_path / 'none' / 'new.duckdb'}#release")
    with pytest.raises(UnsupportedError, match="two files"):
        sudare.preview(f"{home}#people", policy(method={"name": "anatomy"}) | {
            "require": [{"model": "l-diversity", "l": 2, "column": "income"}]
        }, out=f"{home}#release")  # fmt: skip


def test_a_target_that_cannot_be_is_refused_before_the_work(home):
    address = home.load("source", ADULT)
    home.load("taken", pa.table({"a": [1]}))
    before = state(home)
    with pytest.raises(TargetError, match="exists already, and is not a release"):
        sudare.preview(address, policy(), out=home.address("taken"))
    with pytest.raises(TargetError, match="would replace the source itself"):
        sudare.preview(address, policy(), out=address)
    with pytest.raises((TargetError, DataError), match="no such schema"):
        sudare.preview(address, policy(), out=home.address("release", "nowhere"))
    with pytest.raises(PolicyUnmetError):
        sudare.preview(address, policy(require=[{"model": "k-anonymity", "k": 401}]), out=home.address("release"))
    assert state(home) == before


def test_the_right_to_make_tables_is_asked_for_and_not_tried(postgres_home):
    address = postgres_home.load("source", ADULT)
    postgres_home.run("CREATE ROLE reader LOGIN", "GRANT SELECT ON source TO reader", "CREATE SCHEMA closed")
    try:
        url = postgres_home.server.url(postgres_home.plain, "reader")
        before = state(postgres_home)
        with pytest.raises(TargetError, match="no permission to create tables"):
            sudare.preview(f"{url}#source", policy(), out=f'{url}#"closed"."release"')
        assert sudare.preview(f"{url}#source", policy()).rows.num_rows == 10
        assert state(postgres_home) == before
    finally:
        postgres_home.run("DROP OWNED BY reader", "DROP ROLE reader")
    assert sudare.preview(address, policy(), out=postgres_home.address("release", "closed")).rows.num_rows == 10


def kept(spark):
    """Return the numbers of the tables that the session keeps; other tests may have kept some."""
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def test_on_spark_nothing_is_written(spark, tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(ADULT, tmp_path / "people.parquet")
    out = tmp_path / "release.parquet"
    names = {"columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "income": {"role": "sensitive"}}}
    rules = names | {"require": [{"model": "k-anonymity", "k": 5}]}
    before, others = sorted(tmp_path.rglob("*")), kept(spark)
    preview = sudare.preview(tmp_path / "people.parquet", rules, out=out, engine="spark", seed=1, rows=4)
    assert sorted(tmp_path.rglob("*")) == before
    assert preview.memory is None
    assert preview.rows.num_rows == 4
    made = sudare.anonymize(tmp_path / "people.parquet", rules, out=out, engine="spark", seed=1)
    assert rounded(figures(preview.figures)) == rounded(figures(made.certificate, *NOT_THERE))
    frame = spark.read.parquet(str(tmp_path / "people.parquet"))
    assert sudare.preview(frame, rules, rows=2).rows.num_rows == 2
    until = time.monotonic() + 600  # Spark lets go of what it kept in a thread of its own
    while kept(spark) - others and time.monotonic() < until:
        time.sleep(0.1)
    assert not kept(spark) - others
    with pytest.raises(UnsupportedError, match="random values of dummies must be stored"):
        sudare.preview(frame, DRAWN)
    with pytest.raises(TargetError, match=r"ends in \.parquet"):
        sudare.preview(frame, rules, out=tmp_path / "release.csv")
