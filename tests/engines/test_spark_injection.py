"""Names, paths and values that look like SQL or like something else to Spark: each is what it says, and no more."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import DataError, SudareError, TargetError
from sudare.engines.spark.spark import Spark, beside
from sudare.pipeline.spark.spark_targets import TableTarget

from .comparing import assert_same
from .homes import rows
from .hostile import DIVERSE, ODD, VICTIM, by_rows, people, policy

HERE = [
    "a`; DROP TABLE victim; --",
    "`",
    "``",
    "`a`.`b`",
    ".a",
    "a.b.c",
    "a.*",
    "[0]",
    "/* a */ b",
    "a // b",
    "$spark.app.name",
    "\\u0041\\",
    "%41",
    "k=1",
    "key",
    "head",
    "body",
    "answer",
    "count",
    "n",
    "n_sum",
    "many",
    "rows",
    "certificate",
]
"""What Spark has in its own SQL, in its paths and settings; and what tables on the way there have for columns."""
NAMES = [*ODD, *HERE]
SETTINGS = ["${spark.app.name}", "${env:HOME}"]
VALUES = [*NAMES, *SETTINGS, "a\0b", "\0", "DROP TABLE victim", "') OR 1=1 --", "\\'; DROP TABLE victim; --"]
BLANK = {value for value in VALUES if not value.strip(" \0")}
"""What counts as missing in a sensitive column."""


@pytest.fixture(scope="module")
def saved(spark):
    spark.createDataFrame(VICTIM).coalesce(1).write.saveAsTable("victim")
    yield
    spark.sql("DROP TABLE victim")


@pytest.fixture(autouse=True)
def victim(spark, saved):
    """All tables are there afterwards that were there before, and nothing else; so are the folders that they are in."""
    warehouse = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))

    def there():
        return sorted(row.name for row in spark.catalog.listTables()), sorted(path.name for path in warehouse.iterdir())

    before = there()
    yield
    for name in ("people", "release", "release_sudare"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    assert rows(spark.table("victim").toArrow()) == rows(VICTIM)
    assert there() == before


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def load(spark, table, way, folder):
    """Put a table where it can be told by its name or path, or be a DataFrame; in two parts."""
    frame = spark.createDataFrame(table).repartition(2)
    if way == "frame":
        return frame
    if way == "table":
        frame.write.saveAsTable("people")
        return "people"
    pq.write_table(table, folder / "people.parquet")
    return folder / "people.parquet"


def check(spark, given, rules, table, out, *, local=None, drawn=False):
    """Make a release, and compare it with a local one; then audit it."""
    local = local or sudare.anonymize(table, rules, seed=1)
    made = sudare.anonymize(given, rules, out=out, seed=1, engine="spark")
    if out is None:
        found = made.data.toArrow()
    else:
        found = pq.read_table(out) if isinstance(out, Path) else spark.table(out).toArrow()
    assert found.column_names == table.column_names
    assert_same(local, types.SimpleNamespace(path=None, data=found, certificate=made.certificate), rows=not drawn)
    assert sudare.audit(made.data if out is None else out, rules, engine="spark").passed
    if out is None:
        made.data.unpersist()
    return found


WAYS = {
    "top-down": ("table", "spark_catalog.default.release"),
    "full-domain": ("frame", None),
    "dummies": ("table", "release"),
    "pram": ("file", Path("release.parquet")),
}


@pytest.mark.parametrize("method", WAYS)
def test_names_of_columns(spark, tmp_path, monkeypatch, method):
    """All of them in one table: one is sensitive, the others are quasi-identifiers.

    But for a recoding of the whole table: with so many it would take for ever, and most of them are carried.
    """
    monkeypatch.chdir(tmp_path)
    names, sensitive = NAMES, "a.b"
    few = ["n", "n_sum", ".a", "[0]", "a`; DROP TABLE victim; --", "c0", "count"]
    quasi = few if method == "full-domain" else [name for name in names if name != sensitive]
    cells = {name: [f"{at}: {row % (at % 5 + 2)}" for row in range(120)] for at, name in enumerate(names)}
    table = pa.table(cells)
    columns = {name: {"role": "quasi" if name in quasi else "insensitive"} for name in names}
    columns[sensitive] = {"role": "sensitive"}
    diverse = {**DIVERSE[1], "column": sensitive}
    require = {"dummies": [diverse], "pram": [{"model": "pk-anonymity", "k": 2}]}.get(method, [DIVERSE[0], diverse])
    rules = {"columns": columns, "require": require, "method": {"name": method}}
    if method == "top-down":
        rules = by_rows(rules, "`")
    way, out = WAYS[method]
    given = load(spark, table, way, tmp_path)
    for _ in range(2 if out == "release" else 1):  # the second replaces the first
        check(spark, given, rules, table, out, drawn=method in ("dummies", "pram"))


@pytest.mark.parametrize("name", SETTINGS)
def test_names_of_columns_that_spark_would_read_as_others(spark, tmp_path, name):
    """It puts its settings into the names of columns of Parquet that it is to read, and then finds no such column."""
    table = people(second=name)
    for way in ("file", "frame"):
        with pytest.raises(DataError, match="Spark reads") as caught:
            sudare.anonymize(
                load(spark, table, way, tmp_path), policy(table), out=tmp_path / "r.parquet", engine="spark"
            )
        assert [problem.where for problem in caught.value.problems] == [f"column '{name}'"]
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


@pytest.fixture(scope="module")
def expected():
    """What the local engine gives."""
    table = people()
    return sudare.anonymize(table, policy(table), seed=1)


def test_names_of_views(spark, tmp_path, expected):
    """They may be anything. Each has a column of its own, by which it is known."""
    engine = Spark(spark)
    for at, name in enumerate([*NAMES, "a/b.parquet", "x.csv"]):
        spark.range(1).toDF(f"own {at}").createOrReplaceTempView(quoted(name))
        assert engine.open(quoted(name)).columns == [f"own {at}"], name
        assert engine.exists(quoted(name))
        assert not engine.exists(quoted(name + "!"))
        spark.catalog.dropTempView(name)
    table = people()
    for at, name in enumerate(["a`; DROP TABLE victim; --", "/* a */ b.parquet"]):
        spark.createDataFrame(table).createOrReplaceTempView(quoted(name))
        check(spark, quoted(name), policy(table), table, tmp_path / f"{at}.parquet", local=expected)
        spark.catalog.dropTempView(name)


def test_names_that_are_none(spark):
    """Whatever is not quoted as Spark has it names nothing."""
    engine = Spark(spark)
    spark.createDataFrame(people()).createOrReplaceTempView("`a b`")
    for name in ("a b", "`a b", "`a b``", "`a b`; DROP TABLE victim", "victim; --", "victim -- a", "``", "`a` b`", ""):
        for action in (engine.open, engine.exists, engine.drop):
            with pytest.raises(SudareError):
                action(name)
    spark.catalog.dropTempView("a b")


def test_names_of_releases_that_are_tables(spark, expected):
    """Words of SQL are names like others."""
    table = people()
    for name in ("SELECT", "`default`.`c0`"):
        check(spark, spark.createDataFrame(table), policy(table), table, name, local=expected)
        spark.sql(f"DROP TABLE {name}")
        spark.sql(f"DROP TABLE {beside(name, '_sudare')}")


def test_names_that_no_table_may_have(spark, tmp_path):
    """Spark's own catalog takes letters, digits and _. The files of others it would write all the same, and anywhere.

    As ``victim`` looks, nothing is left of them.
    """
    with pytest.raises(DataError, match="INVALID"):
        sudare.anonymize(spark.createDataFrame(people()), policy(people()), out="`a; DROP TABLE victim; --`")
    engine = Spark(spark)
    names = [name for name in NAMES if re.search(r"\W", name, re.ASCII)]
    for name in (*names, f"../{tmp_path.name}/outside", str(tmp_path / "outside"), ".."):
        target = TableTarget(engine, quoted(name))
        for new in (target.paper, target.name):
            with pytest.raises(DataError, match="INVALID"):
                engine.rename("victim", new)
        target.drop()
    assert not list(tmp_path.iterdir())


def test_a_table_that_is_called_like_a_certificate_stays(spark):
    """As does one of a single text."""
    spark.sql("ALTER TABLE victim RENAME TO release_sudare")
    try:
        with pytest.raises(TargetError, match="is not the certificate"):
            sudare.anonymize(spark.createDataFrame(people()), policy(people()), out="release")
    finally:
        spark.sql("ALTER TABLE release_sudare RENAME TO victim")
    spark.sql("CREATE TABLE release_sudare AS SELECT 'precious' AS certificate")
    with pytest.raises(TargetError, match="is not the certificate"):
        sudare.anonymize(spark.createDataFrame(people()), policy(people()), out="release")
    assert spark.table("release_sudare").collect()[0][0] == "precious"


PATHS = [*NAMES, *SETTINGS, "[x]{y}*?", "[a-", "{a", "}", "a,b", "_a", "%2e%2e", "a+b", "\\*"]


@pytest.mark.parametrize("percent", [False, True])
def test_paths(spark, tmp_path, expected, percent):
    """All of them are folders inside each other; with a % among them, Spark is told the path in another way."""
    parts = [part.strip("/") for part in PATHS if ":" not in part and (percent or "%" not in part)]
    folder = tmp_path.joinpath(*parts)
    given, out = folder / "people #?{1}.parquet", folder / "re`le'ase #[1]*;.parquet"
    given.mkdir(parents=True)
    for part in range(2):
        pq.write_table(people().slice(part * 12, 12), given / f"part [{part}].parquet")
    for name in ("people #a1.parquet", "people #?1.parquet", "release #1;.parquet"):  # what patterns would find
        pq.write_table(people(), folder / name)
    before = {path.name for path in folder.iterdir()}
    check(spark, given, policy(people()), people(), out, local=expected)
    assert {path.name for path in folder.iterdir()} == {*before, out.name, f"{out.name}.sudare.json"}


def test_paths_that_spark_cannot_read(spark, tmp_path):
    """It finds no file where there is a colon in a path that has to be told from a pattern."""
    folder = tmp_path / "a:b [1]"
    folder.mkdir()
    pq.write_table(people(), tmp_path / "people.parquet")
    pq.write_table(people(), folder / "people.parquet")
    for given in (tmp_path / "people.parquet", folder / "people.parquet"):
        with pytest.raises(DataError, match="Spark failed"):
            sudare.anonymize(given, policy(people()), out=folder / "release.parquet", engine="spark")
        assert [path.name for path in folder.iterdir()] == ["people.parquet"]


def test_values(spark, tmp_path):
    """Each of them in a quasi-identifier, in item sets, in a sensitive column, and carried along."""
    count = len(VALUES)
    sets = [[VALUES[at], VALUES[at - 1]] for at in range(count) for _ in range(6)]
    table = pa.table({
        "age": [30] * count * 6,
        "job": [value for value in VALUES for _ in range(6)],
        "items": pa.array(sets, pa.list_(pa.string())),
        "ill": [VALUES[at % count] for at in range(count * 6)],
        "note": [VALUES[at * 5 % count] for at in range(count * 6)],
    })  # fmt: skip
    roles = ("quasi", "quasi", "quasi", "sensitive", "insensitive")
    columns = {name: {"role": role} for name, role in zip(table.column_names, roles, strict=True)}
    missing = ["'; DROP TABLE victim; --", "\\"]
    rules = {"columns": columns, "require": DIVERSE, "source": {"missing": missing}}
    found = check(spark, load(spark, table, "table", tmp_path), rules, table, "release")
    assert set(found["job"].to_pylist()) & set(VALUES)
    assert set(found["ill"].to_pylist()) == {*VALUES, None} - {*missing} - BLANK


@pytest.mark.parametrize("method", ["dummies", "pram"])
def test_values_that_are_drawn(spark, tmp_path, method):
    table = pa.table({"age": [30, 31] * len(VALUES), "ill": [value for value in VALUES for _ in range(2)]})
    require = {"dummies": {"model": "l-diversity", "l": 2, "column": "ill"}, "pram": {"model": "pk-anonymity", "k": 2}}
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    rules = {"columns": columns, "require": [require[method]], "method": {"name": method}}
    way, out = ("table", "release") if method == "pram" else ("file", tmp_path / "release.parquet")
    found = check(spark, load(spark, table, way, tmp_path), rules, table, out, drawn=True)["ill"].to_pylist()
    assert {value for cell in found for value in (cell if method == "dummies" else [cell])} <= {*VALUES, None} - BLANK
