"""Releases that get their names: all at once, in place of an older release and of nothing else."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, SudareError, TargetError

from .homes import quoted, rows

TABLE = pa.table({"age": [30, 31, 32, 33] * 5, "job": ["cook", "judge"] * 10, "ill": ["flu", "pox", "cold", "flu"] * 5})
POLICY = {
    "columns": {"age": {"role": "quasi"}, "job": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "require": [{"model": "k-anonymity", "k": 4}],
}
SETS = {
    "columns": {
        "age": {"role": "quasi"},
        "job": {"role": "quasi", "kind": "items", "separator": " "},
        "ill": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 4}],
}
every_way = pytest.mark.parametrize("rules", [POLICY, SETS], ids=["in place", "by rows"])


@pytest.fixture
def people(home):
    return home.load("people", TABLE)


def certificate(home, release="release"):
    [text] = home.read(f"{release}_sudare")["certificate"].to_pylist()
    return json.loads(text)


@every_way
def test_the_certificate_stands_beside_the_release(home, people, rules):
    release = sudare.anonymize(people, rules, out=home.address("release"))
    assert home.tables() == ["people", "release", "release_sudare"]
    assert certificate(home) == release.certificate
    assert release.place.table == "release"
    assert rows(home.read("people")) == rows(TABLE)


@every_way
def test_an_older_release_is_replaced(home, people, rules):
    sudare.anonymize(people, rules, out=home.address("release"))
    other = {**rules, "require": [{"model": "k-anonymity", "k": 20}]}
    sudare.anonymize(people, other, out=home.address("release"))
    assert home.tables() == ["people", "release", "release_sudare"]
    assert certificate(home)["guarantees"][0]["required"] == 20
    assert len(set(rows(home.read("release"), ["age"]))) == 1


@every_way
def test_a_table_that_is_no_release_is_refused(home, people, rules):
    mine = home.load("mine", pa.table({"precious": [1]}))
    with pytest.raises(TargetError, match=r"mine: exists already, and is not a release\."):
        sudare.anonymize(people, rules, out=mine)
    assert home.tables() == ["mine", "people"]
    assert home.read("mine").to_pylist() == [{"precious": 1}]


@every_way
def test_a_view_is_no_release(home, people, rules):
    home.run("CREATE VIEW seen AS SELECT 1 AS one")
    with pytest.raises(TargetError, match="exists already"):
        sudare.anonymize(people, rules, out=home.address("seen"))
    assert home.query("SELECT * FROM seen").num_rows == 1


@every_way
def test_the_source_itself_is_refused(home, people, rules):
    sudare.anonymize(people, rules, out=home.address("release"))
    before = rows(home.read("release"))
    again = {**rules, "columns": {**rules["columns"], "age": {"role": "quasi", "kind": "categorical"}}}
    for name in {"release", "Release" if home.folds_case else "release"}:
        with pytest.raises(TargetError, match="would replace the source itself"):
            sudare.anonymize(home.address("release"), again, out=home.address(name))
    assert rows(home.read("release")) == before


@every_way
def test_a_source_that_is_called_like_a_certificate_stays(home, rules):
    """A release 'mine' would have its certificate there."""
    people = home.load("mine_sudare", TABLE)
    with pytest.raises(TargetError, match="would replace the source itself"):
        sudare.anonymize(people, rules, out=home.address("mine"))
    assert home.tables() == ["mine_sudare"]
    assert rows(home.read("mine_sudare")) == rows(TABLE)


@pytest.mark.parametrize(
    "other",
    [
        {"precious": [1]},
        {"certificate": ["precious"]},
        {"certificate": ['{"a": 1}']},
        {"certificate": [7]},
        {"certificate": ['{"certificate": 1}'] * 2},
        {"certificate": ['{"certificate": 1}'], "more": [1]},
    ],
)
def test_tables_that_are_called_like_a_certificate_stay(home, people, other):
    home.load("mine", TABLE)
    home.load("mine_sudare", pa.table(other))
    with pytest.raises(TargetError, match="mine_sudare: exists already, and is not the certificate of a release"):
        sudare.anonymize(people, POLICY, out=home.address("mine"))
    assert rows(home.read("mine")) == rows(TABLE)
    assert home.read("mine_sudare").to_pydict() == other


def test_a_certificate_whose_release_was_dropped_is_replaced(home, people):
    sudare.anonymize(people, POLICY, out=home.address("release"))
    home.run("DROP TABLE release")
    sudare.anonymize(people, POLICY, out=home.address("release"))
    assert home.tables() == ["people", "release", "release_sudare"]


def test_a_release_in_another_schema(home, people):
    home.run('CREATE SCHEMA "Out.Going"')
    home.load("release", pa.table({"precious": [1]}))
    sudare.anonymize(people, POLICY, out=home.address("release", "Out.Going"))
    assert home.tables() == ["Out.Going.release", "Out.Going.release_sudare", "people", "release"]
    assert home.read("release", "Out.Going").num_rows == 20
    assert sudare.audit(home.address("release", "Out.Going"), POLICY).passed


def test_there_is_no_such_schema(home, people):
    with pytest.raises(SudareError, match=r"nowhere\.release: there is no such schema\."):
        sudare.anonymize(people, POLICY, out=home.address("release", "nowhere"))
    assert home.tables() == ["people"]


@every_way
def test_a_table_that_is_made_meanwhile_stays(postgres_home, rules):
    people = postgres_home.load("people", TABLE)

    def others(stage, *_):
        if stage == "audit" and "release" not in postgres_home.tables():
            postgres_home.run("CREATE TABLE release AS SELECT 1 AS precious")

    with pytest.raises(TargetError, match=r"#release: another table of that name was created at the same time\."):
        sudare.anonymize(people, rules, out=postgres_home.address("release"), progress=others)
    assert postgres_home.tables() == ["people", "release"]
    assert postgres_home.read("release").to_pylist() == [{"precious": 1}]


def test_names_as_long_as_they_may_be(postgres_home):
    people = postgres_home.load("people", TABLE)
    longest = "ü" * 28
    sudare.anonymize(people, POLICY, out=postgres_home.address(longest))
    assert postgres_home.tables() == sorted(["people", longest, f"{longest}_sudare"])


@pytest.mark.parametrize("name", ["r" * 57, "ü" * 29, "r" * 500])
def test_names_that_are_too_long_are_told(postgres_home, name):
    """PostgreSQL would cut them off, and one release would replace another."""
    people = postgres_home.load("people", TABLE)
    with pytest.raises(TargetError, match="is too long for a name in this database"):
        sudare.anonymize(people, POLICY, out=postgres_home.address(name))
    assert postgres_home.tables() == ["people"]


def test_columns_whose_names_are_too_long_are_told(postgres_home, tmp_path):
    import pyarrow.parquet as pq

    names = {"age": "a" * 64}
    pq.write_table(TABLE.rename_columns(["a" * 64, "job", "ill"]), tmp_path / "people.parquet")
    rules = {**POLICY, "columns": {names.get(name, name): spec for name, spec in POLICY["columns"].items()}}
    with pytest.raises(TargetError, match="is too long for a name in this database"):
        sudare.anonymize(tmp_path / "people.parquet", rules, out=postgres_home.address("release"))


@pytest.mark.parametrize("long_schema", [False, True])
def test_a_source_whose_name_would_be_cut_off_is_not_there(postgres_home, long_schema):
    postgres_home.run(f"CREATE SCHEMA {quoted('s' * 63)}")
    postgres_home.load("p" * 63, TABLE, "s" * 63)
    address = postgres_home.address("p" * (63 + (not long_schema)), "s" * (63 + long_schema))
    with pytest.raises(DataError, match="there is no such table"):
        sudare.anonymize(address, POLICY, out=postgres_home.address("release"))


def test_long_names_of_duckdb(duck_home):
    people = duck_home.load("people", TABLE)
    sudare.anonymize(people, POLICY, out=duck_home.address("r" * 300))
    assert sudare.audit(duck_home.address("r" * 300), POLICY).passed


def test_names_that_duckdb_folds_into_one(duck_home, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,AGE\n" + "1,2\n" * 5)
    rules = {
        "columns": {"age": {"role": "quasi"}, "AGE": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 5}],
    }
    with pytest.raises(TargetError, match="differ only in upper and lower case"):
        sudare.anonymize(path, rules, out=duck_home.address("release"))


def test_case_does_not_make_another_table_in_duckdb(duck_home):
    people = duck_home.load("people", TABLE)
    with pytest.raises(TargetError, match="would replace the source"):
        sudare.anonymize(people, POLICY, out=duck_home.address("PEOPLE"))
    duck_home.load("mine", TABLE)
    with pytest.raises(TargetError, match="is not a release"):
        sudare.anonymize(people, POLICY, out=duck_home.address("MINE"))


@pytest.fixture
def clerk(postgres_home):
    """Somebody who may read one table, and make tables in one schema."""
    role = f"clerk_{postgres_home.plain}"
    postgres_home.load("people", TABLE)
    postgres_home.load("hidden", TABLE)
    postgres_home.run(
        f"CREATE ROLE {role} LOGIN",
        f"CREATE SCHEMA outgoing AUTHORIZATION {role}",
        f"GRANT SELECT ON people TO {role}",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    )
    yield postgres_home.server.url(postgres_home.plain, role)
    postgres_home.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


@every_way
def test_rights_to_read_and_to_make_are_enough(postgres_home, clerk, rules):
    for _ in range(2):  # the second replaces the first
        sudare.anonymize(f"{clerk}#people", rules, out=f"{clerk}#outgoing.release")
    assert sudare.audit(f"{clerk}#outgoing.release", rules).passed
    assert "outgoing.release_sudare" in postgres_home.tables()


@every_way
def test_no_right_to_make_tables(postgres_home, clerk, rules):
    before = postgres_home.tables()
    with pytest.raises(
        TargetError, match=r"public\.release: you have no permission to do this\..*CREATE on the schema"
    ):
        sudare.anonymize(f"{clerk}#people", rules, out=f"{clerk}#public.release")
    assert postgres_home.tables() == before


@every_way
def test_no_right_to_read(postgres_home, clerk, rules):
    before = postgres_home.tables()
    with pytest.raises(SudareError, match=r"#hidden: you have no permission to do this\..*SELECT on the table"):
        sudare.anonymize(f"{clerk}#hidden", rules, out=f"{clerk}#outgoing.release")
    assert postgres_home.tables() == before


def test_a_table_that_one_may_not_see_is_not_replaced(postgres_home, clerk):
    postgres_home.run("GRANT CREATE ON SCHEMA public TO PUBLIC")
    with pytest.raises(TargetError, match="exists already, and is not a release"):
        sudare.anonymize(f"{clerk}#people", POLICY, out=f"{clerk}#public.hidden")


def test_names_without_a_schema_go_by_the_search_path(postgres_home, clerk):
    """A role's own schema comes first: what is looked at there must be what is dropped there."""
    role = f"clerk_{postgres_home.plain}"
    postgres_home.run(
        f"ALTER SCHEMA outgoing RENAME TO {role}",
        f"CREATE TABLE {role}.mine AS SELECT 1 AS precious",
        f"ALTER TABLE {role}.mine OWNER TO {role}",
    )
    postgres_home.load("mine", pa.table({"old": [1]}))
    postgres_home.load("mine_sudare", pa.table({"certificate": ['{"certificate": 1}']}))
    with pytest.raises(TargetError, match="exists already, and is not a release"):
        sudare.anonymize(f"{clerk}#people", POLICY, out=f"{clerk}#mine")
    assert postgres_home.read("mine", role).to_pylist() == [{"precious": 1}]
    sudare.anonymize(f"{clerk}#people", POLICY, out=f"{clerk}#release")
    assert f"{role}.release_sudare" in postgres_home.tables()
    assert sudare.audit(f"{clerk}#release", POLICY).passed
    wrong = "replace(certificate, '\"rows_out\": 20', '\"rows_out\": 21')"
    postgres_home.run(f"UPDATE {role}.release_sudare SET certificate = {wrong}")
    assert not sudare.audit(f"{clerk}#release", POLICY).passed  # its certificate was found


def test_views_on_an_older_release_keep_it(postgres_home):
    people = postgres_home.load("people", TABLE)
    sudare.anonymize(people, POLICY, out=postgres_home.address("release"))
    postgres_home.run("CREATE VIEW seen AS SELECT * FROM release")
    before = certificate(postgres_home)
    with pytest.raises(TargetError, match="views or other objects depend on the older release"):
        sudare.anonymize(people, POLICY, out=postgres_home.address("release"))
    assert certificate(postgres_home) == before


@every_way
def test_nothing_is_left_if_the_policy_cannot_be_kept(home, people, rules):
    impossible = {**rules, "require": [{"model": "k-anonymity", "k": 21}]}
    with pytest.raises(SudareError, match="has 20 records"):
        sudare.anonymize(people, impossible, out=home.address("release"))
    assert home.tables() == ["people"]


@every_way
@pytest.mark.parametrize("stage", ["read", "method", "render", "write", "audit"])
def test_nothing_is_left_if_it_is_stopped(home, people, rules, stage):
    """An older release is still there, too."""
    sudare.anonymize(people, rules, out=home.address("release"))
    before = rows(home.read("release")), certificate(home)

    class StopError(Exception):
        pass

    def stop(now, *_):
        if now == stage:
            raise StopError

    other = {**rules, "require": [{"model": "k-anonymity", "k": 20}]}
    for target in ("release", "new"):
        with pytest.raises(StopError):
            sudare.anonymize(people, other, out=home.address(target), progress=stop)
    assert home.tables() == ["people", "release", "release_sudare"]
    assert (rows(home.read("release")), certificate(home)) == before
