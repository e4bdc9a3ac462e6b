"""Decisions that go down to a database: every record gets its class, and what is carried stays what it was."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.engines import Decision, find_place, open_database

from .cases import ADULT, policy
from .comparing import assert_same
from .homes import rows

TABLE = pa.table(
    {
        "id": pa.array(range(8), pa.int64()),
        "age": pa.array([30, 30, 31, 31, 40, 40, None, None], pa.int32()),
        "job": ["cook", "cook", "cook", None, "judge", "judge", "", ""],
        "ill": ["flu", "pox", "flu", "flu", "pox", "pox", "flu", None],
    }
)
LABELS = pa.table({"age": ["30..31", "40", "*"]})


def applied(home, decision, table=TABLE):
    """Return the release that a decision makes."""
    origin, target = find_place(home.load("people", table)), find_place(home.address("release"))
    with open_database(origin) as database:
        draft = database.apply(origin, target, decision)
        made = database.rows(draft)
        database.place(draft, target, {"certificate": 1})
    found = home.read("release")
    assert found.num_rows == made
    assert found.column_names == list(decision.names)
    assert home.tables() == ["people", "release", "release_sudare"]
    return found


def decision(names, keys, classes, **more):
    more = {"shown": LABELS, "sizes": np.array([4, 2, 2]), **more}
    return Decision(names, keys, np.array(classes), **more)


def by_id(table, column):
    return dict(zip(table["id"].to_pylist(), table[column].to_pylist(), strict=True))


def test_by_quasi_identifiers_alone(home):
    keys = pa.table({"age": pa.array([30, 31, 40, None], pa.int32())})
    found = applied(home, decision(["id", "age", "ill"], keys, [0, 0, 1, 2]))
    assert by_id(found, "age") == {0: "30..31", 1: "30..31", 2: "30..31", 3: "30..31", 4: "40", 5: "40", 6: "*", 7: "*"}
    assert by_id(found, "ill") == by_id(TABLE, "ill")


def test_by_atoms(home):
    """Records with the same quasi-identifiers may go to different classes; missing is not the same as blank."""
    keys = pa.table(
        {
            "age": pa.array([30, 30, 31, 31, 40, None, None], pa.int32()),
            "job": ["cook", "cook", "cook", None, "judge", "", ""],
            "ill": ["flu", "pox", "flu", "flu", "pox", "flu", None],
        }
    )
    found = applied(home, decision(["id", "age"], keys, [0, 1, 2, 0, 1, 2, 0]))
    assert by_id(found, "age") == {0: "30..31", 1: "40", 2: "*", 3: "30..31", 4: "40", 5: "40", 6: "*", 7: "30..31"}


def test_records_in_no_line_are_left_out(home):
    keys = pa.table({"age": pa.array([40], pa.int32())})
    found = applied(home, decision(["id", "age"], keys, [1]))
    assert by_id(found, "age") == {4: "40", 5: "40"}


def test_missing_is_left_out_if_no_line_has_it(home):
    keys = pa.table({"job": ["cook", "judge", ""]})
    found = applied(home, decision(["id", "age"], keys, [0, 1, 2]))
    assert sorted(by_id(found, "age")) == [0, 1, 2, 4, 5, 6, 7]


def test_split_atoms_are_parted_by_number(home):
    """So many go to each class, whichever they are; none goes to two."""
    table = pa.table({"id": range(100), "age": pa.array([7] * 60 + [None] * 40, pa.int32())})
    keys = pa.table({"age": pa.array([7, 7, 7, None, None], pa.int32())})
    first, last = np.array([1, 11, 31, 1, 6]), np.array([10, 30, 60, 5, 40])
    found = applied(home, decision(["id", "age"], keys, [0, 1, 2, 2, 1], first=first, last=last), table)
    ids = Counter(found["id"].to_pylist())
    assert set(ids.values()) == {1}
    assert len(ids) == 100
    told = by_id(found, "age")
    assert Counter(told[number] for number in range(60)) == {"30..31": 10, "40": 20, "*": 30}
    assert Counter(told[number] for number in range(60, 100)) == {"*": 5, "40": 35}


def test_which_records_of_a_split_atom_go_where_is_drawn(home):
    table = pa.table({"id": range(400), "age": pa.array([7] * 400, pa.int32())})
    keys = pa.table({"age": pa.array([7, 7], pa.int32())})
    parts = decision(["id", "age"], keys, [0, 1], first=np.array([1, 201]), last=np.array([200, 400]))
    told = by_id(applied(home, parts, table), "age")
    here = sum(told[number] == "30..31" for number in range(200))
    assert 50 < here < 150  # by chance it is elsewhere once in 10^22


def test_a_gap_in_a_split_atom_leaves_records_out(home):
    table = pa.table({"id": range(10), "age": pa.array([7] * 10, pa.int32())})
    keys = pa.table({"age": pa.array([7, 7], pa.int32())})
    parts = decision(["id", "age"], keys, [0, 1], first=np.array([1, 6]), last=np.array([3, 10]))
    assert Counter(applied(home, parts, table)["age"].to_pylist()) == {"30..31": 3, "40": 5}


def test_a_column_called_like_the_number_within_an_atom(home):
    table = pa.table({"turn": range(4), "TURN_" if home.folds_case else "Turn": ["x"] * 4, "age": [7] * 4})
    keys = pa.table({"age": [7, 7]})
    names = [*table.column_names[:2], "age"]
    parts = decision(names, keys, [0, 1], first=np.array([1, 3]), last=np.array([2, 4]))
    found = applied(home, parts, table)
    assert sorted(found["turn"].to_pylist()) == [0, 1, 2, 3]
    assert Counter(found["age"].to_pylist()) == {"30..31": 2, "40": 2}


def test_cells_of_each_line(home):
    keys = pa.table({"age": pa.array([30, 31, 40, None], pa.int32())})
    also = pa.table({"ill": ["a", "b", None, "d"], "number": pa.array([1, 2, 3, 4], pa.int64())})
    found = applied(home, decision(["id", "ill", "number", "age"], keys, [0, 0, 1, 2], also=also))
    assert by_id(found, "ill") == {0: "a", 1: "a", 2: "b", 3: "b", 4: None, 5: None, 6: "d", 7: "d"}
    assert by_id(found, "number") == {0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4}


def test_records_of_a_class_that_show_nothing_of_their_own(home):
    keys = pa.table({"age": pa.array([30, 31, 40, None], pa.int32())})
    found = applied(home, decision(["age"], keys, [0, 0, 1, 2], sizes=np.array([4, 2, 2])))
    assert Counter(found["age"].to_pylist()) == {"30..31": 4, "40": 2, "*": 2}


@pytest.mark.parametrize("by_class", [True, False])
def test_rows_in_any_order(home, by_class):
    keys = pa.table({"age": pa.array([30, 31, 40, None], pa.int32())})
    found = applied(home, decision(["id", "age"], keys, [0, 0, 1, 2], by_class=by_class))
    assert sorted(found["id"].to_pylist()) == list(range(8))


def test_rows_of_a_class_are_not_in_the_order_of_the_source(home):
    table = pa.table({"id": range(2000), "age": pa.array([7] * 2000, pa.int32())})
    found = applied(home, decision(["id", "age"], pa.table({"age": pa.array([7], pa.int32())}), [0]), table)
    ids = found["id"].to_pylist()
    assert sorted(ids) == list(range(2000))
    assert sum(after > before for before, after in pairwise(ids)) < 1500  # half, by chance


KEYS = {
    "bool": pa.array([True, False, None]),
    "int16": pa.array([1, 2, None], pa.int16()),
    "int64": pa.array([2**60, 2, None], pa.int64()),
    "float32": pa.array([0.1, 2.5, None], pa.float32()),
    "float64": pa.array([0.1, float("nan"), None]),
    "date": pa.array([datetime.date(2020, 1, 1), datetime.date(1900, 1, 1), None]),
    "timestamp": pa.array(
        [datetime.datetime(2020, 1, 1, 2, 3, 4, 5), datetime.datetime(1900, 1, 1), None], pa.timestamp("us")
    ),
    "zone": pa.array([1, 2, None], pa.timestamp("us", "UTC")),
    "time": pa.array([1, 2, None], pa.time64("us")),
    "text": pa.array(["a", "", None]),
    "unicode": pa.array(["é", "e\u0301", None]),
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("missing", [True, False], ids=["some missing", "all there"])
def test_keys_of_any_type_find_their_records(home, kind, missing):
    """What was counted is found again; a line that matches nothing would lose records without a word."""
    cells = KEYS[kind] if missing else KEYS[kind].slice(0, 2)
    table = pa.table({"id": range(len(cells)), "x": cells})
    origin, target = find_place(home.load("people", table)), find_place(home.address("release"))
    with open_database(origin) as database:
        atoms = database.tally(origin, ["x"])
        shown = pa.table({"shown": [str(value) for value in atoms.cells["x"].to_pylist()]})
        classes = np.arange(len(atoms.counts))
        parts = Decision(["id", "shown"], atoms.cells, classes, shown, atoms.counts)
        database.place(database.apply(origin, target, parts), target, {"certificate": 1})
    found = by_id(home.read("release"), "shown")
    assert found == {number: str(value) for number, value in enumerate(cells.to_pylist())}


def test_carried_columns_keep_values_and_types_of_duckdb(duck_home):
    duck_home.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE people (age INTEGER, d DECIMAL(9, 2), u UUID, m mood, h HUGEINT, b BLOB, t TIMESTAMP_S,"
        " j JSON,"
        " s STRUCT(a INTEGER, b VARCHAR), l INTEGER[], i INTERVAL, z TIMESTAMPTZ, n UTINYINT)",
        "INSERT INTO people VALUES (30, 1.20, '00000000-0000-0000-0000-000000000001', 'ok',"
        " 170141183460469231731687303715,"
        " 'ab', '2020-01-02 03:04:05', '{\"a\": 1}', {'a': 1, 'b': 'x'}, [1, 2], INTERVAL 3 DAY,"
        " '2020-01-01 00:00:00+02', 7), (31, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    )
    check_carried(duck_home)


def test_carried_columns_keep_values_and_types_of_postgres(postgres_home):
    postgres_home.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN code AS varchar(5) CHECK (VALUE <> 'no')",
        "CREATE TABLE people (age integer, d numeric(9, 2), n numeric, u uuid, m mood, c char(5), v varchar(7),"
        " b bytea,"
        " j jsonb, l integer[], w numeric(5, 1)[], i interval, z timestamptz, y inet, o code, p point, e mood[])",
        "INSERT INTO people VALUES (30, 1.20, 3.1400, '00000000-0000-0000-0000-000000000001', 'ok', 'ab', 'cd',"
        " '\\x00ff',"
        " '{\"a\": 1}', '{1,2}', '{1.5,NULL}', '3 days', '2020-01-01 00:00:00+02', '10.0.0.1', 'yes', '(1,2)', '{ok}'),"
        " (31, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    )
    check_carried(postgres_home)


def check_carried(home):
    """Make a release both in the database and by rows: carried columns are the same in it as in the source."""
    import sudare

    names = list(home.types("people"))
    rules = {
        "columns": {"age": {"role": "quasi"}} | {name: {"role": "insensitive"} for name in names[1:]},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    sudare.anonymize(home.address("people"), rules, out=home.address("pushed"))
    compare_carried(home, "pushed", names[1:])


def compare_carried(home, release, names):
    cells = ", ".join(f"CAST({name} AS text) AS {name}" for name in names)
    assert rows(home.query(f"SELECT {cells} FROM {release}")) == rows(home.query(f"SELECT {cells} FROM people"))
    kinds = exact_types(home, "people")
    assert {name: exact_types(home, release)[name] for name in names} == {name: kinds[name] for name in names}


def exact_types(home, table):
    if home.name == "duckdb":
        found = home.query(f"SELECT column_name AS n, column_type AS t FROM (DESCRIBE {table})")
    else:
        found = home.query(
            "SELECT attname AS n, format_type(atttypid, atttypmod) AS t FROM pg_attribute"
            f" WHERE attrelid = '{table}'::regclass AND attnum > 0"
        )
    return dict(zip(found["n"].to_pylist(), found["t"].to_pylist(), strict=True))


def test_certificate_is_what_was_given(home):
    keys = pa.table({"age": pa.array([30, 31, 40, None], pa.int32())})
    applied(home, decision(["age"], keys, [0, 0, 1, 2]))
    assert json.loads(home.read("release_sudare")["certificate"][0].as_py()) == {"certificate": 1}


def test_a_plan_makes_the_same_of_the_same_records_everywhere(home, spark, in_pieces, tmp_path):
    asked = policy(method={"name": "full-domain"})
    plan = sudare.anonymize(ADULT, asked).plan
    more = ADULT.slice(0, 300)
    local = sudare.apply(plan, more)
    home.load("more", more)
    sudare.apply(plan, home.address("more"), out=home.address("applied"))
    spread = sudare.apply(plan, spark.createDataFrame(more).repartition(2))
    assert rows(home.read("applied").select(local.data.column_names)) == rows(local.data)
    assert_same(local, spread)
