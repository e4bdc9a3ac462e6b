"""Orders of values, the sort, and bins of numbers with very many values."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.topdown import splits, value_orders

from .naive import Cluster, cell_loss, number_column, ordered_places, random_cluster, set_column


def places_of(cluster: Cluster, a: int, *, by_code: bool = False):
    """The places as the kernel gives them: a set of codes each, and the records of each."""
    rows, amounts = cluster.arrays()
    axes = cluster.axes
    buffers = value_orders.scratch(axes, len(rows))
    count = value_orders.order_values(rows, amounts, 0, len(rows), a, by_code, axes, buffers, 0)
    found = [set() for _ in range(count)]
    for line in cluster.lines:
        found[buffers.lookup[axes.start[a] + line[a]]].add(line[a])
    return found, buffers.table[:count].tolist()


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("by_code", [False, True])
def test_values_stand_in_the_documented_order(seed, by_code):
    cluster = random_cluster(seed)
    for a in range(len(cluster.columns)):
        expected = ordered_places(cluster, a, by_code=by_code)
        found, counts = places_of(cluster, a, by_code=by_code)
        assert found == expected
        held = [
            sum(n for line, n in zip(cluster.lines, cluster.amounts, strict=True) if line[a] in codes)
            for codes in expected
        ]
        assert counts == held


def test_values_far_apart_are_sorted_rather_than_walked():
    cluster = Cluster([(9000,), (5,), (400,), (5,)], [1, 2, 3, 4], [set_column("s", 10_000)])
    assert places_of(cluster, 0) == ([{5}, {400}, {9000}], [6, 3, 1])
    assert places_of(cluster, 0, by_code=True) == ([{5}, {400}, {9000}], [6, 3, 1])
    numbers = Cluster(cluster.lines, cluster.amounts, [number_column("n", list(range(10_000)))])
    assert places_of(numbers, 0) == ([{5}, {400}, {9000}], [6, 3, 1])


def test_equally_frequent_values_stand_by_code():
    cluster = Cluster([(3,), (1,), (2,)], [2, 2, 5], [set_column("s", 4)])
    assert places_of(cluster, 0) == ([{2}, {1}, {3}], [5, 2, 2])


def test_part_of_the_rows_is_a_cluster_too():
    cluster = Cluster([(0,), (2,), (1,), (2,)], [1, 1, 1, 1], [set_column("s", 3)])
    rows, amounts = cluster.arrays()
    axes = cluster.axes
    buffers = value_orders.scratch(axes, len(rows))
    assert value_orders.order_values(rows, amounts, 1, 4, 0, False, axes, buffers, 0) == 2
    assert buffers.table[:2].tolist() == [2, 1]
    assert [buffers.lookup[code] for code in (2, 1)] == [0, 1]


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=70))
def test_sort_stable_is_numpys_stable_sort(keys):
    order = np.arange(len(keys))
    value_orders.sort_stable(np.array(keys, np.int64), order, np.empty(len(keys), np.int64), len(keys))
    assert order.tolist() == np.argsort(np.array(keys, np.int64), kind="stable").tolist()


def test_sort_stable_keeps_what_stands_behind_the_size():
    order = np.array([2, 0, 1, 9])
    value_orders.sort_stable(np.array([5.0, 1.0, 3.0]), order, np.empty(4, np.int64), 3)
    assert order.tolist() == [1, 2, 0, 9]


@settings(deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_popcount(word):
    assert value_orders.popcount(np.uint64(word)) == word.bit_count()


@pytest.mark.parametrize("seed", range(20))
def test_range_loss_is_that_of_the_cell(seed):
    cluster = random_cluster(seed)
    axes = cluster.axes
    random = np.random.default_rng(seed)
    for a, column in enumerate(cluster.columns):
        if column.taxonomy is None and column.positions is None:
            continue
        for _ in range(10):
            low, high = sorted(random.integers(0, column.size, 2).tolist())
            assert value_orders.range_loss(axes, a, low, high) == pytest.approx(cell_loss(column, {low, high}))


@pytest.mark.parametrize("missing", [False, True])
def test_numbers_with_very_many_values_are_cut_into_ranges(missing):
    size = 5 * value_orders.BINS
    random = np.random.default_rng(0)
    column = number_column("n", random.normal(size=size).tolist(), missing=missing)
    codes = random.permutation(column.size)[: 3 * value_orders.BINS].tolist()
    cluster = Cluster([(code,) for code in codes], random.integers(1, 4, len(codes)).tolist(), [column])
    places, counts = places_of(cluster, 0)
    assert 2 <= len(places) <= value_orders.BINS
    assert sum(counts) == cluster.total
    assert set().union(*places) == set(codes)
    ends = [(min(place), max(place)) for place in places]
    assert all(before[1] < after[0] for before, after in pairwise(ends))
    # the scores are those of the sides, whatever the ranges are
    rows, amounts = cluster.arrays()
    axes = cluster.axes
    out = splits.splits(6 * column.size)
    whole = np.array([[0, len(rows), 0, cluster.total]])
    [count] = splits.score_splits(
        value_orders.Atoms(rows, amounts),
        whole,
        splits.Search(2, splits.LEAST_LOSS, -1, every=True),
        axes,
        value_orders.scratch(axes, len(rows)),
        value_orders.covers(axes, len(rows)),
        splits.Found(out, out, np.zeros(1)),
    )
    assert count > value_orders.BINS // 4
    by_code = dict(zip(codes, cluster.amounts, strict=True))
    for score, place, left in zip(out.score[:count:50], out.place[:count:50], out.left[:count:50], strict=True):
        inside = set().union(*places[: place + 1])
        outside = set(codes) - inside
        assert left == sum(by_code[code] for code in inside)
        expected = left * cell_loss(column, inside) + (cluster.total - left) * cell_loss(column, outside)
        assert score == pytest.approx(expected)


@pytest.mark.parametrize("values", [value_orders.BINS, value_orders.BINS + 1])
def test_whether_there_are_bins_depends_on_different_values_and_not_on_how_rows_are_grouped(values):
    random = np.random.default_rng(values)
    column = number_column("n", list(range(4 * value_orders.BINS)))
    codes = random.permutation(column.size)[:values].tolist()
    once = Cluster([(code,) for code in codes], [3] * values, [column])
    thrice = Cluster([(code,) for code in codes * 3], [1] * (3 * values), [column])
    assert places_of(once, 0) == places_of(thrice, 0)
    places, _ = places_of(once, 0)
    assert (places == [{code} for code in sorted(codes)]) == (values == value_orders.BINS)
