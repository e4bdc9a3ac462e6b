"""The kernels of microaggregation against slow versions in NumPy and plain Python."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.microaggregation.annealed_blocks import Search, improve_blocks
from sudare.kernels.microaggregation.group_lists import (
    Blocks,
    grouped,
    move,
    nearest_values,
    off,
    squares,
    swap,
    swap_cost,
)
from sudare.kernels.microaggregation.line_groups import cut_lines
from sudare.methods.microaggregation.mdav import information_loss, mdav, standardized


def drawn(rows, columns, seed, values=None):
    generator = np.random.default_rng(seed)
    if values is None:
        return generator.normal(size=(rows, columns))
    return generator.integers(0, values, (rows, columns)).astype(float)


def naive_mdav(points, k):
    """MDAV as it is written down, on lists of rows; ties go to the first one."""
    left, groups = list(range(len(points))), []

    def far(point):
        return max(left, key=lambda row: (np.square(points[row] - point).sum(), -row))

    def taken(row):
        others = sorted((other for other in left if other != row), key=lambda other: (away(row, other), other))
        group = [row, *others[: k - 1]]
        left[:] = [other for other in left if other not in group]
        groups.append(group)

    def away(row, other):
        return np.square(points[row] - points[other]).sum()

    while len(left) >= 3 * k:
        first = far(points[left].mean(axis=0))
        second = far(points[first])
        taken(first)
        taken(second if second in left else left[0])
    if len(left) >= 2 * k:
        taken(far(points[left].mean(axis=0)))
    groups.append(left)
    return {frozenset(group) for group in groups}


def sets_of(groups):
    return {frozenset(np.flatnonzero(groups == g).tolist()) for g in np.unique(groups)}


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 7), st.integers(0, 999))
def test_mdav_makes_the_groups_of_the_slow_version(rows, columns, k, seed):
    points = drawn(rows, columns, seed)
    assert sets_of(mdav(points, k)) == naive_mdav(points, k)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 7), st.integers(1, 3), st.integers(0, 999))
def test_mdav_makes_groups_of_k_also_of_equal_records(rows, k, values, seed):
    sizes = np.bincount(mdav(drawn(rows, 2, seed, values), k))
    assert sizes.sum() == rows
    assert sizes.min() >= min(k, rows)
    assert sizes.max() <= max(2 * k - 1, 1)


def loss_of(values):
    return float(np.square(values - np.mean(values)).sum())


def least_loss(values, k):
    """The least loss of any cut of ascending values into groups of k or more, of any size."""

    @cache
    def rest(first):
        left = len(values) - first
        if not left:
            return 0.0
        sizes = range(k, left + 1)
        return min((loss_of(values[first : first + size]) + rest(first + size) for size in sizes), default=np.inf)

    return rest(0)


def cut(values, start, k):
    groups = np.full(len(values), -1, np.int64)
    count = cut_lines(np.asarray(values, dtype=float), np.asarray(start), k, groups)
    return groups, count


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=24), st.integers(1, 6))
def test_no_other_cut_of_a_line_loses_less(values, k):
    values = np.sort(np.array(values, dtype=float))
    if len(values) < k:
        return
    groups, count = cut(values, [0, len(values)], k)
    sizes = np.bincount(groups)
    assert (np.diff(groups) >= 0).all()
    assert len(sizes) == count
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    found = sum(loss_of(values[groups == g]) for g in range(count))
    assert found == pytest.approx(least_loss(values, k), abs=1e-9)


def test_large_values_lose_no_digits():
    values = 1e9 + np.sort(np.random.default_rng(3).uniform(0, 1, 200))
    far, near = cut(values, [0, 200], 4)[0], cut(values - 1e9, [0, 200], 4)[0]
    assert (far == near).all()


def test_lines_are_cut_one_by_one():
    values = np.concatenate([np.arange(7.0), np.arange(5.0), np.arange(9.0)])
    groups, count = cut(values, [0, 7, 12, 21], 3)
    assert count == groups.max() + 1
    for first, last in ((0, 7), (7, 12), (12, 21)):
        alone, _ = cut(values[first:last], [0, last - first], 3)
        assert (groups[first:last] - groups[first] == alone).all()


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 80), st.integers(1, 30), st.sampled_from([None, 2, 4]), st.integers(0, 999))
def test_the_nearest_records_are_those_of_the_slow_version(rows, most, values, seed):
    points = drawn(rows, 2, seed, values)
    points = points[np.lexsort(points.T)]
    found = nearest_values(points, most)
    distinct, of, copies = np.unique(points[:, ::-1], axis=0, return_inverse=True, return_counts=True)
    assert (found.value == of).all()
    assert (np.diff(found.start) == copies).all()
    away = np.square(distinct[:, None] - distinct[None]).sum(axis=2)
    assert found.near.shape[1] == min(most, len(distinct))
    for v in range(len(distinct)):
        if copies[v] == 1 and most < len(distinct):
            away[v, v] = np.inf
        assert len(set(found.near[v])) == found.near.shape[1]
        assert np.allclose(away[v, found.near[v]], np.sort(away[v])[: found.near.shape[1]])


def test_what_steps_cost_is_what_they_change():
    points = drawn(40, 4, 5)
    lists = grouped(points, np.arange(40) // 4, 10, 8)
    generator = np.random.default_rng(6)
    for _ in range(200):
        i, j = generator.integers(0, 40, 2)
        g, h = lists.of[i], lists.of[j]
        if g == h:
            continue
        before = squares(points, lists)
        if lists.size[g] > 1 and lists.size[h] < 8 and generator.integers(2):
            cost = off(points, i, lists.total, h, lists.size[h]) * lists.size[h] / (lists.size[h] + 1)
            cost -= off(points, i, lists.total, g, lists.size[g]) * lists.size[g] / (lists.size[g] - 1)
            move(points, lists.total, lists.size, lists.member, lists.of, lists.slot, i, h)
        else:
            cost = swap_cost(points, lists.total, i, j, g, h, lists.size[g], lists.size[h])
            swap(points, lists.total, lists.member, lists.of, lists.slot, i, j)
        assert squares(points, lists) - before == pytest.approx(cost, abs=1e-9)
        for one in range(10):
            assert set(lists.member[one, : lists.size[one]]) == set(np.flatnonzero(lists.of == one))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=4),
    st.integers(1, 6),
    st.sampled_from([None, 3]),
    st.integers(0, 999),
)
def test_blocks_keep_sizes_and_never_lose_more_than_mdav(lengths, k, values, seed):
    lengths = [max(length, k) for length in lengths]
    start = np.concatenate(([0], np.cumsum(lengths)))
    points = drawn(int(start[-1]), 4, seed, values)
    for first, last in pairwise(start):
        points[first:last] = points[first:last][np.lexsort(points[first:last].T)]
    groups, counts = np.zeros(len(points), np.int64), np.zeros(len(lengths), np.int64)
    search = Search(k, True, True, 10.0, 1e-3, 50.0, 12, seed)
    improve_blocks(points, Blocks(np.arange(len(points)), start), 0, len(lengths), search, groups, 0, counts)
    for b, (first, last) in enumerate(pairwise(start)):
        sizes = np.bincount(groups[first:last])
        assert len(sizes) == counts[b]
        assert sizes.min() >= k
        assert sizes.max() <= max(2 * k - 1, 1)
        part = points[first:last]
        assert information_loss(part, groups[first:last]) <= information_loss(part, mdav(part, k)) + 1e-9


def test_annealing_finds_groups_that_mdav_misses():
    corners = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0], [4.5, 4.5]])
    points = np.repeat(corners, 4, axis=0) + drawn(20, 2, 1) / 10
    points = standardized(np.concatenate([points, np.zeros((20, 2))], axis=1))
    points = points[np.lexsort(points.T)]
    groups, counts = np.zeros(20, np.int64), np.zeros(1, np.int64)
    search = Search(3, True, True, 30.0, 1e-4, 5000.0, 24, 1)
    improve_blocks(points, Blocks(np.arange(20), np.array([0, 20])), 0, 1, search, groups, 0, counts)
    assert counts[0] == 5
    assert information_loss(points, groups) < 1.0 < information_loss(points, mdav(points, 3))
