"""Names and values that look like SQL: the release is right, and the victim is still there."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import sudare
from sudare.engines import find_place

from .homes import named, quoted, rows
from .hostile import DIVERSE, ODD, VICTIM, by_rows, people, policy


@pytest.fixture(autouse=True)
def victim(home):
    home.load("victim", VICTIM)
    yield
    assert home.read("victim").equals(VICTIM) or rows(home.read("victim")) == rows(VICTIM)
    assert not [name for name in home.tables() if re.search("sudare_tmp_[0-9a-f]{16}", name)]


def check(home, address, rules, table, out="release", schema=None, local=None):
    """Make a release, and compare it with a local one; then audit it."""
    local = local or sudare.anonymize(table, rules, seed=1)
    sudare.anonymize(address, rules, out=home.address(out, schema), seed=1)
    found = home.read(out, schema)
    assert found.column_names == table.column_names
    assert rows(found) == rows(local.data)
    assert sudare.audit(home.address(out, schema), rules).passed


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("travel", [False, True], ids=["in place", "by rows"])
def test_names_of_columns(home, part, travel):
    """All of them in one table: those of one part are quasi-identifiers, one is sensitive, all others are carried."""
    names = ODD[part * 8 :] + ODD[: part * 8]
    quasi, sensitive = names[:8], names[8]
    cells = {name: [f"{at}: {row % (at % 5 + 2)}" for row in range(40)] for at, name in enumerate(names)}
    table = pa.table(cells)
    columns = {name: {"role": "quasi" if name in quasi else "insensitive"} for name in names}
    columns[sensitive] = {"role": "sensitive"}
    require = [DIVERSE[0], {**DIVERSE[1], "column": sensitive}]
    rules = {"columns": columns, "require": require}
    address = home.load("people", table)
    for _ in range(2):  # the second replaces the first
        check(home, address, by_rows(rules, quasi[0]) if travel else rules, table)


@pytest.fixture(scope="module")
def expected():
    """What the local engine gives."""
    table = people()
    rules = policy(table)
    return {way: sudare.anonymize(table, given, seed=1) for way, given in ((0, rules), (1, by_rows(rules, "job")))}


@pytest.mark.parametrize(("name", "other"), zip(ODD[::2], ODD[1::2], strict=True))
def test_names_of_tables_and_schemas(home, name, other, expected):
    """Each of them as the name of a schema and as that of a table."""
    table, source, target = people(), f"{name}!", f"{other}?"
    home.load("people", table)
    home.run(
        f"CREATE SCHEMA {quoted(source)}",
        f"CREATE SCHEMA {quoted(target)}",
        f"CREATE TABLE {named(other + '+', source)} AS SELECT * FROM people",
    )
    travels = ODD.index(name) // 2 % 2
    rules = by_rows(policy(table), "job") if travels else policy(table)
    check(home, home.address(other + "+", source), rules, table, name, target, expected[travels])
    place = find_place(home.address(other, source))
    assert (place.table, place.schema) == (other, source)


def test_values(home):
    """Each of them in a quasi-identifier, in a sensitive one, and carried along."""
    count = len(ODD)
    table = pa.table(
        {
            "age": [30] * count * 6,
            "job": [value for value in ODD for _ in range(6)],
            "ill": [ODD[at % count] for at in range(count * 6)],
            "note": [ODD[at * 5 % count] for at in range(count * 6)],
        }
    )
    check(home, home.load("people", table), policy(table), table)
    assert set(home.read("release")["job"].to_pylist()) & set(ODD)
    assert set(home.read("release")["ill"].to_pylist()) == set(ODD)


def test_values_of_item_sets(home):
    sets = [[ODD[at % len(ODD)], ODD[(at + 1) % len(ODD)]] for at in range(len(ODD)) for _ in range(6)]
    table = pa.table(
        {
            "age": [30] * len(sets),
            "job": pa.array(sets, pa.list_(pa.string())),
            "ill": ["flu", "pox"] * (len(sets) // 2),
            "note": ["x"] * len(sets),
        }
    )
    check(home, home.load("people", table), policy(table), table)


@pytest.mark.parametrize("method", ["dummies", "pram"])
def test_values_that_are_drawn(home, method):
    table = pa.table({"age": [30, 31] * len(ODD), "ill": [value for value in ODD for _ in range(2)]})
    require = {"dummies": {"model": "l-diversity", "l": 2, "column": "ill"}, "pram": {"model": "pk-anonymity", "k": 2}}
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    rules = {"columns": columns, "require": [require[method]], "method": {"name": method}}
    sudare.anonymize(home.load("people", table), rules, out=home.address("release"))
    assert sudare.audit(home.address("release"), rules).passed
    if method == "pram":
        assert set(home.read("release")["ill"].to_pylist()) <= set(ODD)


def test_texts_for_missing(home):
    table = people()
    rules = policy(table, source={"missing": ["", "cook", "'; DROP TABLE victim; --"]})
    check(home, home.load("people", table), rules, table)


def test_the_longest_names(home):
    """Of columns, tables and schemas, up to the last byte; in DuckDB, there is no end to them."""
    longest = home.longest_name or 1000
    table = people("ü" * (longest // 2), "b" * longest, 'c"' * (longest // 2), "d" * (longest - 1))
    schema, release = "s" * longest, '"' * (longest - len("_sudare"))
    home.run(f"CREATE SCHEMA {quoted(schema)}")
    check(home, home.load("p" * longest, table, schema), policy(table), table, release, schema)
    assert f"{schema}.{release}_sudare" in home.tables()


def test_tables_called_like_ours(home, expected):
    table = people()
    for name in ("sudare_tmp", "given_by_sudare", "given", "told", "sudare_given", "df", "table"):
        check(home, home.load(name, table), policy(table), table, f"{name}_r", local=expected[0])


def test_names_of_columns_are_not_those_of_python(home):
    """DuckDB looks for names of tables among the variables of Python."""
    session = pa.table({"x": [1]})
    with pytest.raises(sudare.core.errors.DataError, match="there is no such table"):
        sudare.anonymize(home.address("session"), policy(people()), out=home.address("release"))
    assert session.num_rows == 1
