"""Global recoding: what classes show where a cut decides it, and where they are masked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.table import SUPPRESSED, Partition, Table, cut_at, encode_items, generalize, height, merge_alike

from .test_levels import PATHS, TREE, column

ALL = [*PATHS]
LABELS = {label for path in PATHS.values() for label in path}
LEAVES = {label: {leaf for leaf, path in PATHS.items() if leaf and label in path} for label in LABELS}


def cover(encoded, classes, cut=None, masked=False):
    numbers = np.array(classes)
    cuts = {} if cut is None else {"c": np.array(cut)}
    partition = Partition(numbers, int(numbers.max()) + 1, cuts, masked)
    return generalize(Table(len(classes), {"c": encoded}), partition).covers["c"]


def reach(found):
    return list(zip(*(end.tolist() for end in found.reach), strict=True))


# ---- trees


def test_a_cut_shows_its_node_also_where_a_class_has_one_leaf_of_it():
    encoded = column(["red", "amber", "blue", "grey", "white", None], {"tree": TREE})
    found = cover(encoded, [0, 1, 2, 3, 4, 5], cut_at(encoded, 1))
    labels = encoded.taxonomy.labels
    assert [labels[node] for node in found.node] == ["hot", "hot", "bluish", "grey", "white", ""]
    # a group of one leaf hides one of five; a leaf hides nothing
    assert found.share.tolist() == pytest.approx([2 / 5, 2 / 5, 1 / 5, 0, 0, 0])
    assert found.cell[0] == found.cell[1]
    assert len(set(found.cell.tolist())) == 5
    assert found.distinct.tolist() == [2, 2, 1, 1, 1, 1]
    assert not found.everything.any()
    values = [*encoded.values.to_pylist(), None]
    assert [{*values[a : b + 1]} for a, b in reach(found)[:2]] == [{"red", "amber"}] * 2
    assert reach(found) == list(zip(found.low.tolist(), found.high.tolist(), strict=True))


@pytest.mark.parametrize("cells", [["blue", "blue"], ["white", None], [None, None]])
def test_the_root_is_everything_however_little_there_is(cells):
    encoded = column(pa.array(cells, pa.string()), {"tree": TREE})
    found = cover(encoded, [0, 1], cut_at(encoded, 3))
    assert found.node.tolist() == [0, 0]
    assert found.everything.tolist() == [True, True]
    assert found.share.tolist() == [1.0, 1.0]
    assert reach(found) == [(0, encoded.size - 1)] * 2


def test_a_cut_need_not_be_a_level():
    encoded = column(["red", "amber", "blue", "grey"], {"tree": TREE})
    at = {label: node for node, label in enumerate(encoded.taxonomy.labels)}
    shown = {"red": "red", "amber": "amber", "blue": "cold", "grey": "cold"}
    cut = [at[shown[value]] for value in encoded.values.to_pylist()]
    found = cover(encoded, [0, 1, 2, 2], cut)
    assert [encoded.taxonomy.labels[node] for node in found.node] == ["red", "amber", "cold"]


# ---- numbers and categories


def test_numbers_show_the_interval_of_their_number():
    encoded = column([1, 2, 5, 9, 2, None])
    found = cover(encoded, [0, 0, 1, 2, 3, 4], [7, 7, 4, 4, 0])
    assert (found.low.tolist(), found.high.tolist()) == ([0, 2, 2, 0, 4], [1, 3, 3, 1, 4])
    assert found.share.tolist() == pytest.approx([1 / 8, 4 / 8, 4 / 8, 1 / 8, 0])
    assert (found.cell[1] == found.cell[2], found.cell[0] == found.cell[3]) == (True, True)
    assert len(set(found.cell.tolist())) == 3
    whole = cover(encoded, [0, 1, 2, 3, 4, 5], cut_at(encoded, 1))
    assert whole.everything.all()
    assert reach(whole) == [(0, 4)] * 6
    mixed = cover(encoded, [0, 1, 2, 3, 1, 4], [0, 1, 2, 3, 3])  # 9 and missing have one number
    assert mixed.everything.tolist() == [False, False, False, True, True]


def test_categories_show_the_set_of_their_number():
    encoded = column(["a", "b", "c", None, "b"])
    found = cover(encoded, [0, 1, 2, 3, 4], [5, 2, 5, 5])
    assert found.distinct.tolist() == [3, 1, 3, 3, 1]
    assert found.codes[found.begin[0] : found.end[0]].tolist() == [0, 2, 3]
    assert found.share.tolist() == [3 / 4, 0, 3 / 4, 3 / 4, 0]
    assert found.cell.tolist() == [0, 1, 0, 0, 1]
    assert found.total(np.array([1.0, 2.0, 1.0, 1.0])).tolist() == [3, 2, 3, 3, 2]
    whole = cover(encoded, [0, 0, 1, 2, 2], cut_at(encoded, 1))
    assert whole.everything.tolist() == [True] * 3
    assert whole.share.tolist() == [1.0] * 3


@pytest.mark.parametrize("masked", [False, True])
def test_what_only_records_hold_that_are_left_out_is_not_told(masked):
    classes = [0, 0, 1, 2 if masked else SUPPRESSED]
    numbers = cover(column([1, 2, 3, 99]), classes, [0, 0, 0, 0], masked)
    assert numbers.high.tolist()[:2] == [2, 2]
    sets = cover(column(["a", "b", "c", "z"]), classes, [0, 0, 1, 1], masked)
    assert sets.distinct.tolist()[:2] == [2, 1]
    assert sets.low.tolist()[:2] == [0, 2]
    all_of_them = cover(column(["a", "b", "c", "z"]), classes, [0, 0, 0, 0], masked)
    assert all_of_them.everything.all()  # which names nobody


def test_more_classes_than_there_is_room_for_their_sets():
    rows = 50_000
    encoded = column([f"v{row}" for row in range(rows)])
    found = cover(encoded, list(range(rows)), cut_at(encoded, 1))
    assert found.everything.all()
    assert len(found.codes) == rows


# ---- masked records

KINDS = {
    "tree": (ALL, {"tree": TREE}),
    "one branch": (["red", "amber", "red", "amber", "red", "red"], {"tree": TREE}),
    "numbers": ([1, 2, 3, 4, 5, 6], None),
    "numbers, some missing": ([1, 2, 3, 4, None, 5], None),
    "categories": (list("abcdef"), None),
    "categories, some missing": ([*"abcde", None], None),
    "one number": ([5] * 6, None),
    "one category": (["x"] * 6, None),
    "all missing": ([None] * 6, None),
    "no numbers": (pa.nulls(6, pa.int64()), None),
}


@pytest.mark.parametrize("cutting", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_masked_class_shows_everything(kind, cutting):
    cells, hierarchy = KINDS[kind]
    encoded = column(cells, hierarchy)
    cut = cut_at(encoded, 0) if cutting else None
    found = cover(encoded, [0, 1, 2, 3, 4, 4], cut, masked=True)
    plain = cover(encoded, [0, 1, 2, 3, SUPPRESSED, SUPPRESSED], cut)
    assert found.everything.tolist() == [False] * 4 + [True]
    assert found.share.tolist() == [0.0] * 4 + [1.0]
    assert reach(found)[-1] == (0, encoded.size - 1)
    assert found.cell[-1] not in found.cell[:-1]
    assert reach(found)[:-1] == reach(plain)
    assert found.total(np.ones(encoded.size))[-1] == encoded.size


def test_masked_item_sets_are_empty():
    sets = encode_items("c", pa.array([["a", "b"], ["a"], ["a", "b"], None]))
    found = cover(sets, [0, 0, 1, 1], masked=True)
    assert found.start.tolist() == [0, 1, 1]
    assert (found.share[-1], found.disclosed[-1], found.null[-1]) == (1.0, 0, False)


def test_masked_records_have_no_items_of_their_own():
    sets = encode_items("i", pa.array([["a", "b"], ["b"], ["a"], ["a", "b"]]))
    table = Table(4, {"c": column([1, 1, 2, 3]), "i": sets})
    shown = generalize(table, Partition(np.array([0, 0, 1, SUPPRESSED]), 2, {"i": np.array([-1, 1])}, masked=True))
    assert shown.own["i"].share == pytest.approx((1 / 2 + 0) / 2)
    assert shown.own["i"].disclosed == 2
    assert (shown.suppressed, shown.masked, shown.lost, shown.kept.tolist()) == (1, 1, 2, [2])


# ---- classes that look alike


def merged(columns, partition):
    table = Table(len(partition.classes), {c.name: c for c in columns})
    return merge_alike(partition, generalize(table, partition))


def test_masked_records_stay_last_when_others_become_one():
    found = merged([column(list("abab"))], Partition(np.array([0, 1, 2, 3]), 4, {"c": np.array([0, 1])}, masked=True))
    assert (found.classes.tolist(), found.count, found.masked) == ([0, 1, 0, 2], 3, True)


def test_masked_records_join_those_that_show_nothing_either():
    encoded = column(ALL, {"tree": TREE})
    cut = np.where(np.arange(6) < 3, 0, cut_at(encoded, 0))  # three leaves show the root, the others themselves
    rows = np.argsort(encoded.codes)
    classes = np.empty(6, np.int64)
    classes[rows] = [0, 0, 0, 1, 2, 2]
    found = merged([encoded], Partition(classes, 3, {"c": cut}, masked=True, facts={"nodes": 3}))
    assert found.classes[rows].tolist() == [0, 0, 0, 1, 0, 0]
    assert (found.count, found.masked, found.facts) == (2, False, {"nodes": 3})
    again = generalize(Table(6, {"c": encoded}), found)
    assert again.covers["c"].node.tolist()[0] == 0
    assert (again.masked, again.kept.tolist()) == (0, [5, 1])


def test_those_that_joined_show_everything_in_numbers_too():
    encoded = column([1, 2, 3, None, 2])
    found = merged([encoded], Partition(np.array([0, 1, 2, 2, 3]), 4, {"c": np.array([5, 6, 7, 7])}, masked=True))
    assert (found.classes.tolist(), found.masked) == ([0, 1, 2, 2, 2], False)
    again = generalize(Table(5, {"c": encoded}), found).covers["c"]
    assert again.everything.tolist() == [False, False, True]


def test_masked_records_stay_apart_from_those_that_show_items():
    sets = encode_items("i", pa.array([["a"], ["a"], ["b"]]))
    encoded = column(["x", "y", "x"])
    table = Table(3, {"c": encoded, "i": sets})
    partition = Partition(np.array([0, 0, 1]), 2, {"c": cut_at(encoded, 1), "i": np.array([0, 1])}, masked=True)
    assert merge_alike(partition, generalize(table, partition)) is partition


# ---- any tree, any level


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(ALL), min_size=1, max_size=12), st.integers(0, 3), st.data())
def test_every_record_shows_its_path_at_the_level(cells, level, data):
    encoded = column(pa.array(cells, pa.string()), {"tree": TREE})
    assert height(encoded) == 3
    shown = [PATHS[cell][level] for cell in cells]

    def draw(*choices):
        return data.draw(st.lists(st.sampled_from(choices), min_size=len(cells), max_size=len(cells)))

    fates, split = draw("kept", "kept", "out", "masked"), draw(0, 1)
    keys = list(zip(shown, split, strict=True))  # classes may be finer than what they show
    order = list(dict.fromkeys(key for key, fate in zip(keys, fates, strict=True) if fate == "kept"))
    numbers = {"out": SUPPRESSED, "masked": len(order)}
    classes = [order.index(key) if fate == "kept" else numbers[fate] for key, fate in zip(keys, fates, strict=True)]
    count = len(order) + ("masked" in fates)
    partition = Partition(np.array(classes), count, {"c": cut_at(encoded, level)}, "masked" in fates)
    given_table = generalize(Table(len(cells), {"c": encoded}), partition)
    found = given_table.covers["c"]
    for row, number in enumerate(classes):
        if number < 0:
            continue
        label = "*" if fates[row] == "masked" else shown[row]
        assert encoded.taxonomy.labels[found.node[number]] == label
        leaf = label == cells[row] or not label
        assert found.share[number] == pytest.approx(0 if leaf else len(LEAVES[label]) / 5)
        assert found.everything[number] == (label == "*")
    assert (given_table.masked, given_table.suppressed) == (fates.count("masked"), fates.count("out"))
