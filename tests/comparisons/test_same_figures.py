"""A comparison and a release say the same of the same policy: one function measures both."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.methods import METHODS

ROWS = 240
CITIES = {"north": ["Oslo", "Bergen"], "south": ["Rome", "Bari", "Pisa"]}
L = {"model": "l-diversity", "l": 2, "column": "ill"}
K = {"model": "k-anonymity", "k": 4}


def people():
    """Numbers with outliers, categories of which some are rare, missing values, item sets, and several visits each."""
    rng = np.random.default_rng(7)
    cities = rng.choice(["Oslo", "Bergen", "Rome", "Bari", "Pisa"], ROWS, p=[0.4, 0.3, 0.2, 0.09, 0.01])
    pay = rng.normal(50, 12, ROWS).round(1)
    pay[:2] = 900.5, 1000.25
    return pa.table(
        {
            "age": [None if n % 40 == 0 else int(age) for n, age in enumerate(rng.integers(18, 90, ROWS))],
            "pay": pay,
            "city": cities,
            "job": rng.choice(["cook", "judge", "nurse"], ROWS),
            "who": [f"p{n}" for n in rng.integers(0, ROWS // 2, ROWS)],
            "ill": rng.choice(["ache", "cold", "flu", "pox"], ROWS),
            "drugs": [sorted(set(rng.choice(list("abcde"), 3).tolist())) for _ in range(ROWS)],
        }
    )


def rules(method, **more):
    columns = {
        "age": {"role": "quasi"}, "pay": {"role": "quasi"}, "city": {"role": "quasi"}, "job": {"role": "quasi"},
        "who": {"role": "identifier"}, "ill": {"role": "sensitive"}, "drugs": {"role": "identifier"},
    }  # fmt: skip
    columns |= more.pop("columns", {})
    options = {"target": "ill"} if method == "tds" else {}
    return {"columns": columns, "require": [K, L], "method": {"name": method, **options}} | more


TREES = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"bands": [10, 20]}},
        "city": {"role": "quasi", "hierarchy": {"tree": CITIES}},
    }
}
POLICIES = {
    "plain": {},
    "suppression": {"suppression": {"limit": 0.1}},
    "masked": {"suppression": {"limit": 0.1, "records": "masked"}},
    "hierarchies": TREES,
    "hierarchies and suppression": TREES | {"suppression": {"limit": 0.05}},
    "people": {"columns": {"who": {"role": "subject"}}, "require": [K | {"count": "subjects"}, L]},
    "tight": {"release": {"ranges": "tight"}},
}
CLASSES = [name for name, method in METHODS.items() if not method.leaves_quasi]


def same(policy, **asked):
    """Compare the policy's own method with a release by it; returns both."""
    data = people()
    [way] = sudare.compare(data, policy, methods=[policy["method"]["name"]], queries=5, seed=1, **asked).results
    assert way.problem is None, way.problem
    if way.swept:
        policy = policy | {"require": [
            each | {key: value for key, value in way.swept.items() if key in each} for each in policy["require"]
        ]}  # fmt: skip
    release = sudare.anonymize(data, policy, seed=1)
    told = release.certificate
    assert {name: getattr(way, name) for name in ("gcp", "arx", "entropy")} == {
        name: told["loss"][name] for name in ("gcp", "arx", "entropy")
    }
    assert way.classes == told["classes"]
    assert way.suppressed == told["suppressed"] / told["rows_in"]
    return way, release


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (method, name)
        for method in CLASSES
        for name, more in POLICIES.items()
        if "suppression" not in more or "suppression" in METHODS[method].heeds
    ],
)
def test_a_comparison_says_what_the_release_says(method, name):
    same(rules(method, **POLICIES[name]))


@pytest.mark.parametrize("k", [2, 9, 40])
@pytest.mark.parametrize("method", ["top-down", "mondrian"])
def test_a_sweep_says_what_a_release_under_these_parameters_says(method, k):
    """Which values are rare, and where ranges end, depends on k."""
    same(rules(method), sweep={"k": [k]})


@pytest.mark.parametrize(
    "options", [{"split": "widest"}, {"polish": True}, {"sensitive": "blind", "slack": 0.3}], ids=str
)
def test_options_of_the_policy_are_kept(options):
    policy = rules("top-down")
    same(policy | {"method": {"name": "top-down", **options}})


@pytest.mark.parametrize("limited", [False, True])
def test_item_sets(limited):
    columns = {"drugs": {"role": "quasi", "kind": "items"}, "pay": {"role": "identifier"}}
    require = [K | {"columns": ["age", "job", "city"]}, {"model": "km-anonymity", "k": 4, "m": 2, "column": "drugs"}]
    same(rules("top-down", columns=columns, **({"require": require} if limited else {})))


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_methods_that_leave_quasi_identifiers_lose_nothing_in_both(method):
    policy = rules(method, require=[L])
    [way] = sudare.compare(people(), policy, methods=[method], queries=5).results
    loss = sudare.anonymize(people(), policy).loss
    assert (way.gcp, way.arx, way.entropy) == (loss["gcp"], loss["arx"], loss["entropy"]) == (0, 0, 0)
