"""Hierarchies with short branches, where a label stands on two levels: full-domain shows every record its own group."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

import sudare

TREE = {
    "care": {"hospital": ["nurse", "doctor"], "home": ["aide"]},
    "food": {"kitchen": ["cook", "baker"], "waiter": ["waiter"]},
    "judge": {"judge": ["judge"]},
    "clerk": {"clerk": ["clerk"]},
}
PATHS = {
    leaf: (leaf, middle, group, "*")
    for group, below in TREE.items()
    for middle, leaves in below.items()
    for leaf in leaves
}


def rules(order, limit, k=3):
    """Put the groups of the tree in some order: what is released must not depend on it."""
    tree = {group: TREE[group] for group in order}
    return {
        "columns": {
            "job": {"role": "quasi", "hierarchy": {"tree": tree}},
            "age": {"role": "quasi"},
            "id": {"role": "insensitive"},
        },
        "require": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "full-domain"},
        "suppression": {"limit": limit},
    }


def people(seed, count=60):
    pick = random.Random(seed)
    jobs = pick.choices(sorted(PATHS), weights=[pick.random() for _ in PATHS], k=count)
    return pa.table({"job": jobs, "age": [pick.randrange(2) for _ in range(count)], "id": range(count)})


def brute(table, limit, k):
    """Go through all nodes: the records that each would leave out."""
    jobs, ages = table["job"].to_pylist(), table["age"].to_pylist()
    out = {}
    for level in range(4):
        for hidden in (0, 1):
            shown = Counter((PATHS[job][level], hidden or age) for job, age in zip(jobs, ages, strict=True))
            out[level, hidden] = sum(size for size in shown.values() if size < k)
    return {node: left for node, left in out.items() if left <= limit * len(jobs) and left < len(jobs)}


ORDERS = [list(TREE), list(TREE)[::-1], ["judge", "care", "clerk", "food"], ["food", "clerk", "care", "judge"]]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(order))
@pytest.mark.parametrize("limit", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_every_record_shows_its_own_group(order, limit, seed):
    table = people(seed)
    release = sudare.anonymize(table, rules(order, limit))
    search = release.certificate["search"]
    jobs, level = table["job"].to_pylist(), search["levels"]["job"]
    for row in release.data.to_pylist():
        assert row["job"] == PATHS[jobs[row["id"]]][level]
    left = brute(table, limit, 3)
    assert release.certificate["suppressed"] == left[level, search["levels"]["age"]]
    assert search["value"] == pytest.approx(release.loss["arx"], abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_groups_does_not_matter(seed):
    releases = [sudare.anonymize(people(seed), rules(order, 0.1)) for order in ORDERS]
    assert len({release.certificate["suppressed"] for release in releases}) == 1
    assert len({tuple(release.certificate["search"]["levels"].values()) for release in releases}) == 1
    assert len({release.certificate["loss"]["arx"] for release in releases}) == 1


def test_nobody_is_shown_as_what_they_are_not():
    """One judge and two cooks are too few, and more than may be left out: so nothing is shown."""
    jobs = ["nurse"] * 3 + ["doctor"] * 3 + ["judge"] + ["cook"] * 2
    tree = {"care": ["nurse", "doctor"], "food": ["cook"], "judge": ["judge"]}
    policy = {
        "columns": {"job": {"role": "quasi", "hierarchy": {"tree": tree}}},
        "require": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "full-domain"},
        "suppression": {"limit": 0.12},
    }
    release = sudare.anonymize(pa.table({"job": jobs}), policy)
    assert Counter(release.data["job"].to_pylist()) == {"*": 9}


@pytest.mark.parametrize("name", ["top-down", "mondrian", "incognito"])
@pytest.mark.parametrize("seed", range(3))
def test_other_methods(name, seed):
    table = people(seed)
    limit = 0.0 if name == "mondrian" else 0.1  # which leaves out no records
    release = sudare.anonymize(table, rules(ORDERS[0], limit) | {"method": {"name": name}})
    jobs = table["job"].to_pylist()
    for row in release.data.to_pylist():
        assert row["job"] in PATHS[jobs[row["id"]]]
