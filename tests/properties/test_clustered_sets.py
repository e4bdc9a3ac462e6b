"""Item sets in l-clustering: what a class shows, what it loses against top-down, and what columns are made of items."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyUnmetError, UnsupportedError
from sudare.hierarchies import build
from sudare.methods.clustering.item_columns import held_columns, node_weights, set_ranks, with_items
from sudare.metrics import set_losses
from sudare.policy import HierarchySpec
from sudare.table import Table, encode_items

TREE = {"pain": {"mild": ["aspirin", "ibuprofen"], "strong": ["codeine"]}, "skin": {"cream": ["zinc", "urea"]}}
DRUGS = ["aspirin", "ibuprofen", "codeine", "zinc", "urea"]
drugs = st.one_of(st.none(), st.lists(st.sampled_from(DRUGS), max_size=4))
records = st.lists(st.tuples(st.integers(20, 40), drugs), min_size=1, max_size=30)


def policy(k, *, tree=False, method="l-clustering", **more):
    column = {"role": "quasi", "kind": "items"} | ({"hierarchy": {"tree": TREE}} if tree else {})
    return {
        "columns": {"age": {"role": "quasi"}, "drugs": column},
        "require": [{"model": "k-anonymity", "k": k}],
        "method": {"name": method, **more},
        "release": {"ranges": "tight"},
    }


def table_of(rows) -> pa.Table:
    return pa.table(
        {"age": [age for age, _ in rows], "drugs": pa.array([cell for _, cell in rows], pa.list_(pa.string()))}
    )


def sets_of(cells, tree=False):
    sets = encode_items("drugs", pa.array(cells, pa.list_(pa.string())))
    if not tree:
        return sets
    found = build(HierarchySpec.model_validate({"tree": TREE}), sets.values, folder=None, column="drugs")
    return sets.reordered(*found.taxonomy(sets.values, sets.missing))


@settings(deadline=None, max_examples=40)
@given(records, st.integers(2, 4), st.booleans())
def test_classes_show_what_all_hold_and_lose_no_more_than_top_down(rows, k, tree):
    try:
        release = sudare.anonymize(table_of(rows), policy(k, tree=tree))
    except PolicyUnmetError:
        assert len(rows) < k
        return
    assert release.data.num_rows == len(rows)
    assert sudare.audit(release.data, policy(k, tree=tree)).passed
    other = sudare.anonymize(table_of(rows), policy(k, tree=tree, method="top-down"))
    # published figures are rounded, and shares of what each release shows of numbers
    assert release.certificate["item_sets"]["drugs"]["ncp"] <= 1
    if len({age for age, _ in rows}) == 1:
        assert release.certificate["loss"]["gcp"] <= other.certificate["loss"]["gcp"] + 1e-9
    if not tree:
        by_class = Counter((row["age"], str(row["drugs"])) for row in release.data.to_pylist())
        assert min(by_class.values()) >= k


@settings(deadline=None, max_examples=20)
@given(records, st.randoms(use_true_random=False))
def test_the_order_of_records_makes_no_difference(rows, random):
    if len(rows) < 2:
        return
    other = list(rows)
    random.shuffle(other)
    one, two = (sudare.anonymize(table_of(each), policy(2)).data.to_pylist() for each in (rows, other))
    assert Counter(map(str, one)) == Counter(map(str, two))


@given(st.lists(drugs, min_size=1, max_size=20), st.booleans())
def test_the_weights_add_up_to_what_is_lost_where_nothing_is_shown(cells, tree):
    sets = sets_of(cells, tree)
    nothing = set_losses(sets, np.full(sets.size, -1))
    assert node_weights(sets).sum() == pytest.approx(nothing.mean())


@given(st.lists(drugs, min_size=1, max_size=20), st.booleans())
def test_columns_say_who_holds_an_item(cells, tree):
    sets = sets_of(cells, tree)
    labels = sets.values.to_pylist() if sets.taxonomy is None else list(sets.taxonomy.labels)
    below = {top: [leaf for part in groups.values() for leaf in part] for top, groups in TREE.items()}
    below |= {part: leaves for groups in TREE.values() for part, leaves in groups.items()}
    for column in held_columns(sets):
        node = int(column.name.rpartition("\0")[2])
        missing = node == (len(labels) if sets.taxonomy is None else len(labels) - 1) and sets.missing
        wanted = set() if missing else set(below.get(labels[node], [labels[node]]))
        assert column.codes.tolist() == [
            int(cell is None if missing else bool(wanted & set(cell or ()))) for cell in cells
        ]


@given(st.lists(st.tuples(drugs, drugs), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_ranks_are_equal_for_equal_sets(cells, random):
    def ranks(given):
        quasi = {name: encode_items(name, pa.array(column, pa.list_(pa.string()))) for name, column in
                 zip("ab", zip(*given, strict=True), strict=True)}  # fmt: skip
        return set_ranks(Table(len(given), quasi)).tolist()

    order = list(range(len(cells)))
    random.shuffle(order)
    found = ranks(cells)
    assert [found[place] for place in order] == ranks([cells[place] for place in order])
    alike = defaultdict(set)
    for (one, two), rank in zip(cells, found, strict=True):
        alike[tuple(None if each is None else frozenset(each) for each in (one, two))].add(rank)
    assert all(len(each) == 1 for each in alike.values())
    assert len({rank for each in alike.values() for rank in each}) == len(alike)


def test_near_sets_come_together():
    # two kinds of baskets that no other column tells apart
    rows = [(30, ["zinc", "urea"] if number % 2 else ["aspirin", "codeine"]) for number in range(40)]
    release = sudare.anonymize(table_of(rows), policy(5))
    assert release.certificate["item_sets"]["drugs"] == {"disclosed": 80, "ncp": 0.0}
    assert Counter(tuple(cell) for cell in release.data["drugs"].to_pylist()) == {
        ("urea", "zinc"): 20,
        ("aspirin", "codeine"): 20,
    }


def test_sets_that_are_all_alike_are_one_class():
    asked = policy(3)
    del asked["columns"]["age"]
    table = pa.table({"drugs": [["zinc"]] * 7})
    assert sudare.anonymize(table, asked).data["drugs"].to_pylist() == [["zinc"]] * 7


def test_what_it_does_not_do():
    rows = [(20 + n, [DRUGS[n % 5]]) for n in range(40)]
    with pytest.raises(UnsupportedError, match="reference knows no item sets"):
        sudare.anonymize(table_of(rows), policy(2, variant="reference"))
    free = policy(2)
    free["require"] = [
        {"model": "k-anonymity", "k": 2, "columns": ["age"]},
        {"model": "km-anonymity", "k": 2, "m": 2, "column": "drugs"},
    ]
    with pytest.raises(UnsupportedError, match="only km-anonymity limits"):
        sudare.anonymize(table_of(rows), free)


def test_sensitive_sets_beside_them():
    asked = policy(2)
    asked["columns"]["told"] = {"role": "sensitive", "kind": "items"}
    asked["require"] = [{"model": "l-diversity", "l": 3, "column": "told", "variant": "frequency"}]
    rows = [(20 + n % 30, [DRUGS[n % 5], DRUGS[n % 3]]) for n in range(300)]
    told = pa.array([[["a"], ["b"], ["c"], [], ["d", "c", "e"], ["f"]][n * n % 6] for n in range(300)])
    release = sudare.anonymize(table_of(rows).append_column("told", told), asked)
    by_class = defaultdict(list)
    for row in release.data.to_pylist():
        by_class[row["age"], str(row["drugs"])].append(row["told"])
    for cells in by_class.values():
        held = Counter(item for cell in cells for item in cell)
        assert max(held.values(), default=0) * 3 <= len(cells)


def test_few_columns_stand_for_many_items():
    random = np.random.default_rng(1)
    cells = [sorted({f"i{number}" for number in random.zipf(1.5, 4) if number < 1000}) for _ in range(500)]
    table = Table(500, {"drugs": encode_items("drugs", pa.array(cells, pa.list_(pa.string())))})
    seen = with_items(table)
    assert len(seen.single) == 24
    assert not seen.sets
