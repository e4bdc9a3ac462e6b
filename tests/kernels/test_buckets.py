"""Anatomy's groups against slow versions in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.hiding.buckets import group_buckets, join_leftover


def buckets(counts, seed=0):
    """Where the records of each value begin, and which they are, in an order by chance."""
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return start, np.random.default_rng(seed).permutation(int(start[-1])).astype(np.int64)


def naive_groups(start, rows, least):
    """One record of each of the largest buckets, as long as there are enough of them; ties go to the first value."""
    waiting = [rows[start[v] : start[v + 1]].tolist() for v in range(len(start) - 1)]
    groups, count = [-1] * len(rows), 0
    while sum(map(bool, waiting)) >= least:
        largest = sorted((v for v, bucket in enumerate(waiting) if bucket), key=lambda v: (-len(waiting[v]), v))
        for value in largest[:least]:
            groups[waiting[value].pop()] = count
        count += 1
    return groups, count


def found_groups(start, rows, least):
    groups = np.full(len(rows), -1, dtype=np.int64)
    return groups, int(group_buckets(start, rows, np.int64(least), groups))


@settings(deadline=None, max_examples=300)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_groups_are_those_of_the_slow_version(counts, least, seed):
    start, rows = buckets(counts, seed)
    expected, number = naive_groups(start, rows, least)
    groups, count = found_groups(start, rows, least)
    assert count == number
    assert groups.tolist() == expected


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=12), st.integers(2, 6), st.integers(0, 99))
def test_an_eligible_table_leaves_one_record_of_a_value_at_most(counts, least, seed):
    if max(counts) * least > sum(counts):
        return
    start, rows = buckets(counts, seed)
    groups, count = found_groups(start, rows, least)
    left = [int((groups[rows[start[v] : start[v + 1]]] < 0).sum()) for v in range(len(counts))]
    assert set(left) <= {0, 1}
    assert sum(left) < least
    assert count == sum(counts) // least


def test_values_without_records_and_no_records():
    start, rows = buckets([0, 3, 0, 3, 0])
    groups, count = found_groups(start, rows, 2)
    assert count == 3
    assert np.bincount(groups).tolist() == [2, 2, 2]
    groups, count = found_groups(*buckets([0, 0]), 2)
    assert (groups.tolist(), count) == ([], 0)


def test_the_last_of_a_bucket_goes_first():
    start, rows = np.array([0, 2, 4]), np.array([3, 1, 0, 2])
    groups, count = found_groups(start, rows, 2)
    assert count == 2
    assert groups.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("least", [2, 100])
def test_very_many_values(least):
    start, rows = buckets(np.full(200_000, 2))
    groups, count = found_groups(start, rows, least)
    assert count == 400_000 // least
    assert (np.bincount(groups) == least).all()
    value = np.empty(400_000, dtype=np.int64)
    value[rows] = np.repeat(np.arange(200_000), 2)
    assert len(np.unique(groups * 200_000 + value)) == 400_000


def naive_joined(left, values, groups, count, places):
    """Each record takes the first group from its place on that has no such value."""
    groups, lost = list(groups), 0
    held = {(group, values[row]) for row, group in enumerate(groups) if group >= 0}
    for row, place in zip(left, places, strict=True):
        free = [(place + step) % count for step in range(count)]
        free = [group for group in free if (group, values[row]) not in held]
        groups[row] = free[0] if free else -1
        lost += not free
        held.add((groups[row], values[row]))
    return groups, lost


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=20),
    st.lists(st.integers(0, 3), min_size=1, max_size=8),
    st.data(),
)
def test_records_that_are_left_over_join_as_in_the_slow_version(placed, more, data):
    values = np.array([value for _, value in placed] + more)
    groups = np.array([group for group, _ in placed] + [-1] * len(more))
    count, left = 5, np.arange(len(placed), len(values))
    places = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(more), max_size=len(more))))
    kinds = int(values.max()) + 1
    holds = np.sort(groups[: len(placed)] * kinds + values[: len(placed)])
    expected, lost = naive_joined(left.tolist(), values.tolist(), groups.tolist(), count, places.tolist())
    found = int(join_leftover(left, values, groups, np.int64(count), holds, places))
    assert found == lost
    assert groups.tolist() == expected
