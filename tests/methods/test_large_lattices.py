"""Lattices that nobody can go through: with a time limit there is an answer, which says how good it is, in bounds."""

from __future__ import annotations

import math
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare import api
from sudare.methods.lattice import full_domain

ROWS = 5_000
GIB = 1 << 30
LIMIT = 0.05
LOOKS = 150
"""How often a search looks at its clock before the time is up, where each look takes a second."""
BETWEEN = 5
"""As many nodes are judged between two looks at the clock, at the most: the levels of a column."""


@pytest.fixture
def ticking(monkeypatch):
    """A clock that goes on by a second whenever somebody looks at it; it gives back how often that was."""
    looks = []

    def monotonic():
        looks.append(1)
        return float(len(looks))

    monkeypatch.setattr(full_domain, "time", SimpleNamespace(monotonic=monotonic))
    return looks


def tree(width, depth):
    """A tree over the numbers from 0, each group ``width`` times as wide as the one below."""

    def nested(prefix, left):
        return (
            [f"{prefix}{n}" for n in range(width)]
            if left == 1
            else {f"g{prefix}{n}": nested(f"{prefix}{n}", left - 1) for n in range(width)}
        )

    return nested("", depth)


@pytest.fixture(scope="module")
def table():
    pick = np.random.default_rng(7)
    columns, specs = {}, {}
    for number in range(16):
        name = f"q{number}"
        kind = number % 4
        if kind == 0:
            columns[name] = [f"{code:04d}" for code in pick.integers(0, 3000, ROWS)]
            specs[name] = {"hierarchy": {"prefix": [4, 3, 2, 1]}}  # 4 levels above the values
        elif kind == 1:
            columns[name] = pick.integers(0, 90, ROWS)
            specs[name] = {"hierarchy": {"bands": [5, 10, 50]}}  # 4
        elif kind == 2:
            columns[name] = ["".join(map(str, digits)) for digits in pick.integers(0, 3, (ROWS, 3))]
            specs[name] = {"kind": "categorical", "hierarchy": {"tree": tree(3, 3)}}  # 3
        else:
            columns[name] = [f"{code:03d}" for code in pick.geometric(0.02, ROWS) % 1000]
            specs[name] = {"hierarchy": {"prefix": [3, 2, 1]}}  # 3
    columns["ill"] = pick.integers(0, 6, ROWS)
    rules = {
        "columns": {name: {"role": "quasi", **spec} for name, spec in specs.items()} | {"ill": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "full-domain", "time_limit": 1},
        "suppression": {"limit": LIMIT},
    }
    data = pa.table(columns)
    for model in (
        {"model": "l-diversity", "l": 2, "column": "ill"},
        {"model": "t-closeness", "t": 0.5, "column": "ill"},
    ):
        few = {"columns": {name: rules["columns"][name] for name in ("q0", "q2", "ill")}, "require": [model]}
        # compiles what is measured below
        sudare.anonymize(data.slice(0, 99), few | {"method": {"name": "full-domain"}, "suppression": {"limit": 0.5}})
    return data, rules


def peak_of(work):
    """Return what some work comes to, and the memory it held at most."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "require",
    [
        [{"model": "k-anonymity", "k": 5}],
        [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 3, "column": "ill"}],
        [{"model": "t-closeness", "t": 0.4, "column": "ill"}, {"model": "k-anonymity", "k": 10}],
    ],
    ids=lambda require: require[0]["model"],
)
def test_an_answer_in_time(table, require, ticking):
    data, rules = table
    method = {"name": "full-domain", "time_limit": LOOKS}
    release, peak = peak_of(lambda: sudare.anonymize(data, rules | {"require": require, "method": method}))
    facts = release.certificate
    search = facts["search"]
    assert search["nodes"] == math.prod(height + 1 for height in search["heights"].values()) > 10**10
    assert search["heights"] == {f"q{number}": (4, 4, 3, 3)[number % 4] for number in range(16)}
    assert search["optimal"] is False
    assert 0 <= search["at_least"] <= search["value"] <= 1
    assert search["value"] == pytest.approx(facts["loss"]["arx"], abs=1e-4)
    assert len(ticking) == LOOKS + 2  # the first look, and the one that finds that the time is up
    assert 2 < search["checked"] <= 2 + BETWEEN * LOOKS  # first the untouched table, and the one that shows nothing
    assert peak < GIB
    assert all(0 <= level <= search["heights"][name] for name, level in search["levels"].items())
    assert facts["suppressed"] == ROWS - release.data.num_rows <= LIMIT * ROWS
    assert sudare.audit(release.data, rules | {"require": require}).passed


@pytest.mark.parametrize("loss", ["gcp", "discernibility", "class-size", "entropy", "precision"])
def test_every_loss(table, loss, ticking):
    data, rules = table
    method = {"name": "full-domain", "time_limit": LOOKS, "loss": loss}
    release, peak = peak_of(lambda: sudare.anonymize(data, rules | {"method": method}))
    search = release.certificate["search"]
    if loss in ("gcp", "entropy", "precision"):
        lost = release.loss[loss] if loss != "precision" else 1 - release.loss[loss]
        assert search["value"] == pytest.approx(lost, abs=1e-4)
    assert search["optimal"] is False
    assert search["at_least"] <= search["value"]
    assert len(ticking) == LOOKS + 2
    assert search["checked"] <= 2 + BETWEEN * LOOKS
    assert peak < GIB


def test_hardly_any_time(table):
    data, rules = table
    release = sudare.anonymize(data, rules | {"method": {"name": "full-domain", "time_limit": 1e-6}})
    search = release.certificate["search"]
    assert search["optimal"] is False
    assert search["at_least"] <= search["value"] == pytest.approx(release.loss["arx"], abs=1e-4)


def test_more_time_is_not_worse(table):
    data, rules = table

    def search(seconds):
        method = {"name": "full-domain", "time_limit": seconds}
        return sudare.anonymize(data, rules | {"method": method}).certificate["search"]

    little, more = search(1e-6), search(2)
    assert more["value"] < little["value"]  # which had no time to leave the node that shows nothing
    assert more["at_least"] >= little["at_least"]
    assert more["at_least"] > 0


def test_explore(table):
    data, rules = table
    found, peak = peak_of(lambda: api.explore(data, rules, time_limit=1, best=5).to_dict())
    assert found["minimal"] is None
    assert found["search"]["optimal"] is False
    assert 1 <= len(found["best"]) <= 5
    losses = [node["loss"] for node in found["best"]]
    assert losses == sorted(losses)
    assert found["search"]["at_least"] <= losses[0] == found["search"]["value"]
    assert found["best"][0]["levels"] == found["search"]["levels"]
    assert all(node["suppressed"] <= LIMIT * ROWS for node in found["best"])
    assert 16 <= len(found["around"]) <= 32
    assert peak < GIB


def test_masked_records(table):
    data, rules = table
    suppression = {"limit": LIMIT, "records": "masked"}
    release = sudare.anonymize(data, rules | {"suppression": suppression})
    search = release.certificate["search"]
    assert release.data.num_rows == ROWS
    assert search["at_least"] <= search["value"] == pytest.approx(release.loss["arx"], abs=1e-4)


@pytest.fixture(scope="module")
def narrow(table):
    """Four of the columns: a lattice that is gone through in no time."""
    data, rules = table
    names = ["q0", "q1", "q2", "q3"]
    columns = {name: rules["columns"][name] for name in (*names, "ill")}
    return data.select([*names, "ill"]), rules | {"columns": columns}


@pytest.mark.parametrize("loss", ["arx", "gcp", "discernibility", "class-size", "entropy", "precision"])
@pytest.mark.parametrize("limit", [0.0, 0.05])
def test_time_enough_gives_the_answer_that_is_proven(narrow, loss, limit):
    data, rules = narrow
    rules = rules | {"suppression": {"limit": limit}}

    def search(**method):
        return sudare.anonymize(data, rules | {"method": {"name": "full-domain", "loss": loss, **method}}).certificate[
            "search"
        ]

    proven, timed = search(), search(time_limit=120)
    for part in ("value", "at_least", "optimal", "levels", "ties", "nodes"):
        assert timed[part] == proven[part], part
    assert proven["optimal"] is True
    assert proven["at_least"] == proven["value"]


def test_time_enough_to_explore(narrow):
    data, rules = narrow
    found, timed = api.explore(data, rules).to_dict(), api.explore(data, rules, time_limit=120).to_dict()
    assert found["minimal"]
    for part in ("best", "minimal", "around"):
        assert timed[part] == found[part]


def test_a_bound_that_was_told_in_time_is_one(narrow):
    """Whenever the search is stopped, the best node is not below what it said no node is below."""
    data, rules = narrow
    best = sudare.anonymize(data, rules | {"method": {"name": "full-domain"}}).certificate["search"]["value"]
    for seconds in (1e-6, 1e-3, 3e-3, 1e-2, 3e-2):
        method = {"name": "full-domain", "time_limit": seconds}
        search = sudare.anonymize(data, rules | {"method": method}).certificate["search"]
        assert search["at_least"] <= best + 1e-9 <= search["value"] + 2e-9
        assert search["optimal"] == (search["at_least"] == search["value"])
