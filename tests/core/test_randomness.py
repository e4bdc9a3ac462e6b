"""Randomness: where it comes from, that it is fair, and what a certificate says of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.core.randomness import Entropy, Keyed

TABLE = pa.table({"age": [30, 31, 32, 33] * 50, "name": [f"n{row}" for row in range(200)], "who": list(range(200))})
COLUMNS = {"age": {"role": "quasi"}, "name": {"role": "insensitive"}}
POLICY = {"columns": COLUMNS, "require": [{"model": "k-anonymity", "k": 20}]}
LINKED = {
    "columns": {**COLUMNS, "who": {"role": "subject"}},
    "require": [{"model": "k-anonymity", "k": 20, "count": "subjects"}],
    "release": {"subjects": "linked"},
}
PUBLISHED = {
    "columns": {"age": {"role": "quasi"}, "name": {"role": "sensitive"}},
    "require": [{"model": "l-diversity", "l": 3, "column": "name"}],
    "method": {"name": "l-clustering", "variant": "reference"},
}


@pytest.mark.parametrize("policy", [POLICY, LINKED, PUBLISHED], ids=["shuffled", "linked", "clusters as published"])
@pytest.mark.parametrize("where", ["frame", "duckdb"])
def test_no_release_asks_a_statistical_generator(policy, where, tmp_path, monkeypatch):
    import duckdb

    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")

    def refuse(*_):
        raise AssertionError("a statistical generator was asked")

    for name in ("default_rng", "rand", "random", "permutation", "shuffle"):
        monkeypatch.setattr(np.random, name, refuse)
    if where == "frame":
        sudare.anonymize(TABLE, policy)
    else:
        base = tmp_path / "people.duckdb"
        sudare.anonymize(f"{base}#people", policy, out=f"{base}#release")


@pytest.mark.parametrize("policy", [POLICY, LINKED], ids=["shuffled", "linked"])
def test_no_two_releases_are_in_the_same_order_unless_a_test_gives_a_seed(policy):
    def names(seed):
        return tuple(tuple(row.values()) for row in sudare.anonymize(TABLE, policy, seed=seed).data.to_pylist())

    assert len({names(None) for _ in range(4)}) == 4
    assert names(3) == names(3) != names(4)


def test_the_certificate_tells_that_there_was_a_seed_and_not_which():
    assert sudare.anonymize(TABLE, POLICY).certificate["randomness"] == "the operating system's"
    seeded = sudare.anonymize(TABLE, POLICY, seed=987_654_321).certificate
    assert seeded["randomness"] == "made from a seed, for tests alone"
    assert "987654321" not in str(seeded)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 1 << 31, (1 << 32) - 1])
def test_keyed_numbers_depend_on_the_key_alone_and_are_fair(bound):
    one = Keyed(b"one").below(bound, 30_000)
    assert np.array_equal(one[:1000], Keyed(b"one").below(bound, 1000))
    assert one.min() >= 0
    assert one.max() < bound
    if bound > 1:
        assert not np.array_equal(one, Keyed(b"two").below(bound, 30_000))
        assert abs(one.mean() / (bound - 1) - 0.5) < 0.02
    if bound <= 7:
        counts = np.bincount(one, minlength=bound)
        assert all(abs(count - 30_000 / bound) < 5 * np.sqrt(30_000 / bound) for count in counts)


def test_a_permutation_has_everyone_once():
    assert sorted(Entropy().permutation(1000)) == list(range(1000))
