"""The taxonomy of a hierarchy: order, nodes, leaves and the matching of values to leaves."""

import datetime
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import HierarchyError
from sudare.hierarchies import Hierarchy, flat, from_tree, missing_values, prefix

JOBS = {
    "*": {
        "Desk": ["clerk", "lawyer"],
        "Hands": ["smith", "cook", "farmer"],
        "Other": ["Other"],
    }
}


def nested(shape, depth, names):
    """Turn a random shape (lists of lists) into a tree of even depth with labels of its own."""
    if depth == 0:
        return next(names)
    return {next(names): [nested(child, depth - 1, names) for child in shape or [[]]]}


@st.composite
def trees(draw):
    """A random hierarchy of even depth, and some of its leaves in any order."""
    depth = draw(st.integers(1, 4))
    shape = st.recursive(st.just([]), lambda below: st.lists(below, max_size=4), max_leaves=25)
    names = (f"n{number}" for number in range(10_000))
    hierarchy = from_tree(nested(draw(shape), depth, names))
    leaves = hierarchy.leaves.to_pylist()
    chosen = draw(st.lists(st.sampled_from(leaves), unique=True, max_size=30))
    return hierarchy, pa.array(chosen, pa.string()), draw(st.booleans())


def chain(taxonomy, node):
    """All nodes from a node up to the root."""
    nodes = [node]
    while taxonomy.parent[nodes[-1]] >= 0:
        nodes.append(int(taxonomy.parent[nodes[-1]]))
    return nodes


@given(trees())
def test_the_cover_of_a_range_is_the_lowest_common_node(case):
    hierarchy, values, missing = case
    _, taxonomy = hierarchy.taxonomy(values, missing)
    size = len(values) + missing
    low, high = (grid.ravel() for grid in np.meshgrid(np.arange(size), np.arange(size)))
    low, high = low[low <= high], high[low <= high]
    for node, first, last in zip(taxonomy.cover(low, high), low, high, strict=True):
        leaves = taxonomy.path[first : last + 1, -1]
        common = set.intersection(*(set(chain(taxonomy, int(leaf))) for leaf in leaves))
        assert node == max(common, key=lambda one: len(chain(taxonomy, one)))


@given(trees())
def test_every_node_covers_a_range_of_codes_and_its_parent_comes_first(case):
    hierarchy, values, missing = case
    order, taxonomy = hierarchy.taxonomy(values, missing)
    assert sorted(order) == list(range(len(values)))
    for column in taxonomy.path.T:
        assert len(set(column)) == 1 + np.count_nonzero(np.diff(column)) if len(column) else True
    assert taxonomy.parent[0] == -1
    assert (taxonomy.parent[1:] < np.arange(1, len(taxonomy.parent))).all()
    assert (taxonomy.path[:, 0] == 0).all()


@given(trees())
def test_leaves_add_up_and_missing_is_not_counted(case):
    hierarchy, values, missing = case
    order, taxonomy = hierarchy.taxonomy(values, missing)
    assert taxonomy.size == len(hierarchy.leaves)
    for node in np.flatnonzero(~taxonomy.is_leaf):
        assert taxonomy.leaves[node] == taxonomy.leaves[taxonomy.parent == node].sum()
    ends = [taxonomy.labels[node] for node in taxonomy.path[:, -1]]
    assert ends == values.take(pa.array(order)).to_pylist() + [""] * missing


@given(trees())
def test_the_path_of_a_value_is_its_row(case):
    hierarchy, values, missing = case
    order, taxonomy = hierarchy.taxonomy(values, missing)
    rows = {row[0]: row for row in zip(*(c.to_pylist() for c in hierarchy.columns()), strict=True)}
    for value, path in zip(values.take(pa.array(order)).to_pylist(), taxonomy.path, strict=False):
        assert tuple(taxonomy.labels[node] for node in path[::-1]) == rows[value]


def test_a_repeated_leaf_is_one_node():
    hierarchy = from_tree(JOBS)
    order, taxonomy = hierarchy.taxonomy(pa.array(["Other", "cook", "clerk"]), False)
    assert order.tolist() == [2, 1, 0]
    assert taxonomy.labels.count("Other") == 1
    assert taxonomy.path[2, 1] == taxonomy.path[2, 2]
    assert taxonomy.share[taxonomy.path[2, 1]] == 0
    assert taxonomy.size == 6
    assert taxonomy.share[taxonomy.labels.index("Hands")] == pytest.approx(3 / 6)


def test_a_repeated_group_is_a_node_on_each_level():
    hierarchy = from_tree({"all": {"X": {"X": ["a", "b"]}, "Y": {"Z": ["c"], "V": ["d"]}}})
    _, taxonomy = hierarchy.taxonomy(pa.array(["a", "b", "c", "d"]), False)
    assert taxonomy.labels.count("X") == 2
    assert taxonomy.labels[taxonomy.cover(np.array([0]), np.array([1]))[0]] == "X"


def test_missing_is_a_leaf_below_the_root():
    _, taxonomy = from_tree(JOBS).taxonomy(pa.array(["cook"]), True)
    assert taxonomy.labels[-1] == ""
    assert taxonomy.parent[-1] == 0
    assert taxonomy.leaves[-1] == 0
    last = len(taxonomy.labels) - 1
    assert taxonomy.path[-1].tolist() == [0, last, last]
    assert taxonomy.cover(np.array([0, 1]), np.array([1, 1])).tolist() == [0, last]


def test_a_column_that_is_all_missing_has_a_root_and_one_code():
    for hierarchy in (flat(pa.array([], pa.string())), flat(pa.nulls(3)), prefix([3, 1], pa.array([], pa.string()))):
        order, taxonomy = hierarchy.taxonomy(pa.array([], pa.string()), True)
        assert len(order) == 0
        assert taxonomy.size == 0
        assert taxonomy.labels == ("*", "")
        assert taxonomy.path[0, 0] == 0
        assert set(taxonomy.path[0, 1:]) == {1}


@pytest.mark.parametrize(
    ("leaf", "value"),
    [
        ("39", pa.array([39], pa.int8())),
        ("39", pa.array([39], pa.uint64())),
        ("39", pa.array([39.0])),
        ("39.0", pa.array([39.0])),
        ("0", pa.array([-0.0])),
        ("0.1", pa.array([0.1], pa.float32())),
        ("0.5", pa.array([0.5]).cast(pa.float16())),
        ("100000000000000", pa.array([1e14])),
        ("39.50", pa.array([Decimal("39.50")])),
        ("39.5", pa.array([Decimal("39.50")])),
        ("39", pa.array([Decimal("39.00")])),
        ("2024-03-05", pa.array([datetime.date(2024, 3, 5)])),
        ("2024-03-05", pa.array([datetime.date(2024, 3, 5)], pa.date64())),
        ("2024-03-05", pa.array([datetime.datetime(2024, 3, 5)], pa.timestamp("ns"))),
        ("2024-03-05 06:07:08.5", pa.array([datetime.datetime(2024, 3, 5, 6, 7, 8, 500_000)])),
        ("2024-03-05T06:07:00", pa.array([datetime.datetime(2024, 3, 5, 6, 7)])),
        ("2024-03-05 00:00:00Z", pa.array([datetime.datetime(2024, 3, 5)], pa.timestamp("ms", "UTC"))),
        ("true", pa.array([True])),
        ("東京 🗼", pa.array(["東京 🗼"])),
        ("東京", pa.array(["東京"]).dictionary_encode()),
        ("東京", pa.array(["東京"], pa.string_view())),
    ],
)
def test_values_are_found_by_their_text(leaf, value):
    hierarchy = from_tree({"groups": {"Ω": [leaf], "other": ["none"]}})
    assert hierarchy.find(value).tolist() == [0]
    _, taxonomy = hierarchy.taxonomy(value, False)
    assert taxonomy.labels[taxonomy.path[0, 1]] == "Ω"


def test_floats_that_are_not_whole_do_not_match_whole_leaves():
    hierarchy = from_tree(["39", "40"])
    assert hierarchy.find(pa.array([39.5, float("nan"), float("inf"), 1e300])).tolist() == [-1] * 4


def test_missing_values_are_returned_and_only_counted_in_the_message():
    hierarchy = from_tree(JOBS)
    values = pa.array(["cook", "spy", "ghost"])
    assert missing_values(hierarchy, values).to_pylist() == ["spy", "ghost"]
    with pytest.raises(HierarchyError) as caught:
        hierarchy.taxonomy(values, False)
    assert "2 of the column's 3 distinct values" in str(caught.value)
    assert "sudare hierarchy gaps" in str(caught.value)
    assert "spy" not in str(caught.value)


def test_a_hundred_thousand_values_in_any_order():
    numbers = np.random.default_rng(7).permutation(100_000)
    values = pa.array([f"{number:05d}" for number in numbers])
    order, taxonomy = prefix([5, 3, 1], values).taxonomy(values, True)
    assert taxonomy.path.shape == (100_001, 4)
    assert len(taxonomy.labels) == 1 + 10 + 1000 + 100_000 + 1
    shown = values.take(pa.array(order)).to_pylist()
    starts = [value[:3] for value in shown]
    assert 1 + sum(one != two for one, two in pairwise(starts)) == 1000
    assert set(taxonomy.leaves[1:11]) == {10_000}


def test_a_root_that_stands_for_one_leaf_alone_stays_apart_from_it():
    hierarchy = Hierarchy.stacked([pa.array(["only"]), pa.array(["only"])])
    _, taxonomy = hierarchy.taxonomy(pa.array(["only"]), False)
    assert taxonomy.path.tolist() == [[0, 1]]
