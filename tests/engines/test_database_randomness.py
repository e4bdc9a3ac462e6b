"""Chance for rows of a database: it is sent down, and no statement shows it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sudare
from sudare.engines import find_place, open_database
from sudare.engines.database.database_randomness import with_chance

ROWS = 4_000
TABLE = pa.table(
    {
        "age": [30 + row % 4 for row in range(ROWS)],
        'a "b" \\ c': [f"n{row}" for row in range(ROWS)],
        "chance": ["x"] * ROWS,
    }
)
POLICY = {
    "columns": {
        "age": {"role": "quasi"}, 'a "b" \\ c': {"role": "insensitive"}, "chance": {"role": "insensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 20}],
}  # fmt: skip


@pytest.fixture
def said(home, monkeypatch):
    """All statements that are sent."""
    found = []
    place = find_place(home.address("people"))
    with open_database(place) as database:
        kind = type(database.session)
    for name in ("run", "fetch"):
        before = getattr(kind, name)

        def spied(self, sql, before=before):
            found.append(sql)
            return before(self, sql)

        monkeypatch.setattr(kind, name, spied)
    return found


def test_every_row_gets_chance_of_its_own_that_is_another_each_time(home):
    home.load("people", TABLE)
    with open_database(find_place(home.address("people"))) as database:
        drawn = [
            database.session.fetch(with_chance(database.session, 'SELECT * FROM "people"', "c", ROWS)) for _ in range(2)
        ]
    for table in drawn:
        assert table.num_rows == ROWS
        assert sorted(table.column(1).to_pylist()) == sorted(TABLE.column(1).to_pylist())
        assert len(set(table["c"].to_pylist())) == ROWS
        assert table["c"].null_count == 0
    assert not set(drawn[0]["c"].to_pylist()) & set(drawn[1]["c"].to_pylist())


def test_rows_are_shuffled_by_what_was_sent_down(home, said):
    home.load("people", TABLE)
    orders = []
    for target in ("one", "two"):
        sudare.anonymize(home.address("people"), POLICY, out=home.address(target))
        orders.append(home.read(target).column(1).to_pylist())
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(TABLE.column(1).to_pylist())
    assert orders[0] != orders[1]
    assert sum(one == other for one, other in zip(*orders, strict=True)) < ROWS / 20
    assert said
    assert not [sql for sql in said if "random()" in sql.lower() or "\\x" in sql]
    assert all(not name.startswith("sudare") for name in home.tables())
