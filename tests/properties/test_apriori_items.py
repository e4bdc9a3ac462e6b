"""Recoding the items of a column: nothing rare is shown, nothing is hidden without need, rows have no order."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sudare.hierarchies import build
from sudare.kernels.lattice.item_combinations import relabel
from sudare.methods.lattice.apriori_items import HIDDEN, cut_items
from sudare.policy import HierarchySpec
from sudare.table import ItemSets, encode_items, smallest

ITEMS = "abcdefghij"
TREES = [
    {"x": ["a", "b", "c"], "y": ["d", "e"], "z": ["f", "g", "h", "i", "j"]},
    {
        "u": {"x": ["a", "b"], "y": ["c", "d", "e"]},
        "v": {"z": ["f", "g"], "w": ["h"]},
        **{leaf: {leaf: [leaf]} for leaf in "ij"},  # right below the root
    },
    {"only": {"left": ["a", "c", "e", "g"], "right": ["b", "d", "f", "h", "i", "j"]}},
]
FEW = st.sets(st.sampled_from(ITEMS), max_size=6)
tables = st.lists(st.none() | FEW, max_size=30) | st.lists(st.sets(st.sampled_from("abcd")), min_size=5, max_size=60)
trees = st.none() | st.sampled_from(TREES)
several = settings(deadline=None, max_examples=300)


def encoded(records, tree=None) -> ItemSets:
    cells = pa.array([None if r is None else sorted(r) for r in records], pa.list_(pa.string()))
    sets = encode_items("drugs", cells)
    if tree is None:
        return sets
    hierarchy = build(HierarchySpec.model_validate({"tree": tree}), sets.values, folder=Path(), column="drugs")
    return sets.reordered(*hierarchy.taxonomy(sets.values, sets.missing))


def shown(sets, nodes, rows=None) -> list[set[int]]:
    """The sets as shown, slowly; null sets show nothing here."""
    found = []
    for row in range(len(sets)) if rows is None else rows:
        items = sets.items[sets.offsets[row] : sets.offsets[row + 1]].tolist()
        found.append({int(nodes[i]) for i in items if i != sets.missing_code and nodes[i] != HIDDEN})
    return found


def shown_sets(sets, nodes, rows=None) -> tuple[np.ndarray, np.ndarray]:
    """The sets as shown, by the compiled loop: row ``i`` holds ``flat[offsets[i]:offsets[i + 1]]``."""
    rows = np.arange(len(sets)) if rows is None else rows
    out = np.empty(int((sets.offsets[rows + 1] - sets.offsets[rows]).sum()), np.int64)
    offsets = relabel(sets.offsets, sets.items, rows, nodes, out)
    return offsets, out[: offsets[-1]]


def rare(records, k, m) -> int:
    count = Counter(c for r in records for size in range(1, m + 1) for c in combinations(sorted(r), size))
    return sum(1 for times in count.values() if times < k)


def as_sets(records) -> ItemSets:
    size = max((max(r) for r in records if r), default=0) + 1
    offsets = np.concatenate(([0], np.cumsum([len(r) for r in records]))).astype(np.int64)
    items = np.array([i for r in records for i in sorted(r)], np.int64)
    return ItemSets("shown", offsets, smallest(items, size), pa.nulls(size, pa.string()))


def by_name(sets, nodes) -> dict:
    return dict(zip([*sets.values.to_pylist(), None], nodes.tolist(), strict=False))


@several
@given(tables, trees, st.integers(2, 4), st.integers(1, 4))
def test_no_combination_is_rare(records, tree, k, m):
    sets = encoded(records, tree)
    nodes = cut_items(sets, k, m)
    assert len(nodes) == sets.size
    result = shown(sets, nodes)
    assert rare(result, k, m) == 0
    if sets.missing:
        own = sets.missing_code if tree is None else sets.taxonomy.path[sets.missing_code, -1]
        assert nodes[sets.missing_code] == own
    event(f"hidden {int(np.count_nonzero(nodes < 0))}")


@several
@given(tables, trees, st.integers(2, 4), st.integers(1, 4))
def test_every_shown_node_is_a_full_subtree(records, tree, k, m):
    sets = encoded(records, tree)
    nodes = cut_items(sets, k, m)
    if tree is None:
        assert all(node in (HIDDEN, code) for code, node in enumerate(nodes.tolist()))
        return
    path = sets.taxonomy.path[: sets.size]
    assert 0 not in nodes  # the root
    for node in set(nodes.tolist()) - {HIDDEN}:
        below = (path == node).any(axis=1)
        assert below.any()
        assert np.array_equal(below, nodes == node)


@several
@given(tables, trees, st.integers(2, 4), st.integers(1, 3))
def test_nothing_more_could_be_shown(records, tree, k, m):
    sets = encoded(records, tree)
    nodes = cut_items(sets, k, m)
    leaves = np.arange(sets.size) if tree is None else sets.taxonomy.path[: sets.size, -1]
    for code in np.flatnonzero(nodes == HIDDEN):
        again = nodes.copy()
        again[code] = leaves[code]
        assert rare(shown(sets, again), k, m) > 0
    for node in set(nodes.tolist()) - set(leaves.tolist()) - {HIDDEN}:
        finer, below = nodes.copy(), nodes == node
        depth = np.flatnonzero((sets.taxonomy.path == node).any(axis=0))[-1]
        finer[below] = sets.taxonomy.path[: sets.size][below, depth + 1]
        assert rare(shown(sets, finer), k, m) > 0
        event("generalized")


@several
@given(tables, trees, st.integers(2, 3), st.integers(1, 3), st.randoms())
def test_the_order_of_the_rows_does_not_matter(records, tree, k, m, random):
    sets = encoded(records, tree)
    shuffled = list(records)
    random.shuffle(shuffled)
    other = encoded(shuffled, tree)
    assert by_name(other, cut_items(other, k, m)) == by_name(sets, cut_items(sets, k, m))


@several
@given(tables, trees, st.integers(2, 3), st.integers(1, 3), st.data())
def test_only_the_given_rows_count(records, tree, k, m, data):
    sets = encoded(records, tree)
    rows = sorted(data.draw(st.sets(st.integers(0, len(records) - 1)) if records else st.just(set())))
    nodes = cut_items(sets, k, m, rows=np.array(rows, np.int64))
    assert rare(shown(sets, nodes, rows), k, m) == 0
    offsets, flat = shown_sets(sets, nodes, np.array(rows, np.int64))
    assert offsets.dtype == flat.dtype == np.int64
    null = [sets.missing and int(sets.offsets[r + 1] - sets.offsets[r]) == 1 and records[r] is None for r in rows]
    own = int(nodes[sets.missing_code]) if sets.missing else None
    expected = [[own] if n else sorted(s) for n, s in zip(null, shown(sets, nodes, rows), strict=True)]
    assert [flat[a:b].tolist() for a, b in pairwise(offsets)] == expected


@several
@given(st.lists(FEW, min_size=4, max_size=30), trees, st.integers(2, 4), st.integers(1, 4))
def test_an_item_of_every_record_stays(records, tree, k, m):
    records = [record | {"a"} for record in records]
    sets = encoded(records, tree)
    assert by_name(sets, cut_items(sets, k, m))["a"] != HIDDEN


@pytest.mark.parametrize("tree", [None, TREES[0]])
@pytest.mark.parametrize("records", [[], [set()], [None, None], [None, set()]])
def test_without_items_there_is_nothing_to_do(records, tree):
    sets = encoded(records, tree)
    nodes = cut_items(sets, 2, 2)
    assert len(nodes) == sets.size
    assert HIDDEN not in nodes


@pytest.mark.parametrize("tree", [None, *TREES])
def test_what_is_fine_stays_as_it_is(tree):
    sets = encoded([set("abc"), set("abc"), set("dh"), set("dh"), None], tree)
    expected = np.arange(sets.size) if tree is None else sets.taxonomy.path[: sets.size, -1]
    assert cut_items(sets, 2, 9).tolist() == expected.tolist()


def test_items_that_do_not_occur_are_shown():
    sets = encoded([set("ab"), set("ab"), set("c")])
    assert cut_items(sets, 2, 2, rows=np.array([0, 1])).tolist() == [0, 1, 2]


def test_fewer_records_than_k():
    for tree in (None, TREES[0]):
        assert set(cut_items(encoded([set("abc")] * 3, tree), 4, 2).tolist()) == {HIDDEN}


def test_progress_ends_where_it_said():
    heard = []
    cut_items(encoded([set("ab")] * 3), 2, 2, progress=lambda *said: heard.append(said))
    assert [said[1:] for said in heard] == [(0, 2), (1, 2), (2, 2)]


def test_items_right_below_the_root_can_only_be_hidden():
    sets = encoded([set("i"), set("i"), set("j")], TREES[1])
    nodes = by_name(sets, cut_items(sets, 2, 2))
    assert nodes["i"] != HIDDEN
    assert nodes["j"] == HIDDEN


def test_many_items_and_long_sets_do_not_hang():
    random = np.random.default_rng(3)
    long = [np.arange(0, 4_000), np.arange(2_000, 6_000)] * 2
    short = [np.unique(random.integers(0, 300_000, 3)) for _ in range(20_000)]
    sets = as_sets([set(r.tolist()) for r in long + short])
    nodes = cut_items(sets, 2, 2)
    offsets, flat = shown_sets(sets, nodes)
    result = [flat[begin:end] for begin, end in pairwise(offsets)]
    together = np.zeros((6_000, 6_000), np.uint8)  # how often two items of the long sets occur together
    for each in result:
        common = each[each < 6_000]
        together[np.ix_(common, common)] += 1
    assert together[together > 0].min() >= 2
    beyond = Counter(c for each in result[4:] for size in (1, 2) for c in combinations(each.tolist(), size))
    assert min(times for c, times in beyond.items() if max(c) >= 6_000) >= 2
    assert len(flat) > 8_000
