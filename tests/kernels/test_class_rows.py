"""Walking rows class by class."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.randomness import Entropy
from sudare.kernels.class_rows import (
    cut_sets,
    distinct_codes,
    number_people,
    number_runs,
    repeat_runs,
    shuffle_within,
    sort_by_class,
)


def starts(classes):
    sizes = np.bincount([c for c in classes if c >= 0], minlength=max(classes, default=-1) + 1)
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-1, 4), min_size=1, max_size=40))
def test_sort_by_class_is_stable_and_leaves_out_what_has_no_class(classes):
    begin = starts(classes)
    found = np.empty(int(begin[-1]), np.int64)
    sort_by_class(np.array(classes, np.int64), begin, found)
    assert found.tolist() == [row for c in range(len(begin) - 1) for row in range(len(classes)) if classes[row] == c]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12), min_size=1, max_size=6),
    st.sampled_from([1, 5_000]),
)
def test_distinct_codes_near_each_other_and_far_apart(groups, factor):
    # times 5000 the range of a class is far larger than its number of codes, and these are sorted instead of walked
    codes = np.array([factor * code for group in groups for code in group], np.uint32)
    begin = np.cumsum([0] + [len(group) for group in groups])
    start, found = distinct_codes(codes, np.arange(len(codes)), begin, 9 * factor + 1)
    expected = [sorted({factor * code for code in group}) for group in groups]
    assert [found[a:b].tolist() for a, b in pairwise(start)] == expected


@pytest.mark.parametrize("size", [1, 64, 65, 10_000])
def test_distinct_codes_at_the_ends_of_the_range(size):
    codes = np.array([size - 1, 0, size - 1], np.uint32)
    start, found = distinct_codes(codes, np.arange(3), np.array([0, 3]), size)
    assert found.tolist() == sorted({0, size - 1})
    assert start.tolist() == [0, len(found)]


GROUPS = st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=30)


@settings(deadline=None, max_examples=60)
@given(GROUPS)
def test_runs_are_numbered_by_first_appearance(groups):
    begin = np.cumsum([0] + [len(group) for group in groups])
    found = number_runs(begin, np.array([part for group in groups for part in group], np.int64))
    seen = {}
    assert found.tolist() == [seen.setdefault(tuple(group), len(seen)) for group in groups]


def test_many_runs_of_large_parts():
    random = np.random.default_rng(2)
    parts = random.integers(-(2**62), 2**62, 400)[random.integers(0, 400, 60_000)]
    found = number_runs(np.arange(0, 60_001, 2), parts)
    seen = {}
    assert found.tolist() == [seen.setdefault(pair, len(seen)) for pair in zip(parts[::2], parts[1::2], strict=True)]


def shuffled(order, starts, words, *, at_a_time=None):
    """Shuffle, with so many words at a time; a word that one call did not use is lost."""
    place, at = np.zeros(2, np.int64), 0
    while place[0] < len(starts) - 1:
        assert at < len(words)
        at += shuffle_within(order, starts, words[at:][:at_a_time], place)
    return order


@pytest.mark.parametrize("size", [3, 4, 5])
def test_every_order_within_a_class_is_as_likely(size):
    times, orders = 48_000, math.factorial(size)
    order = np.tile(np.arange(size), times) + np.repeat(np.arange(times) * size, size)
    given = order.reshape(times, size).copy()
    rows = shuffled(order, np.arange(0, times * size + 1, size), Entropy(7).words(times * size)).reshape(times, size)
    assert np.array_equal(np.sort(rows, axis=1), given)  # nobody leaves the class
    counts = Counter(map(tuple, (rows - given[:, :1]).tolist()))
    assert set(counts) == set(permutations(range(size)))
    assert all(abs(count - times / orders) < 5 * np.sqrt(times / orders) for count in counts.values())


def shuffled_by_hand(order, starts, words):
    """Fisher and Yates with whole numbers of any size: a word has one number below the product of several bounds."""
    order, words = list(order), iter(words.tolist())
    for first, last in pairwise(starts):
        left = last - first
        while left > 1:
            bounds = [left]
            while len(bounds) < left - 1 and math.prod(bounds) * (left - len(bounds)) <= 1 << 28:
                bounds.append(left - len(bounds))
            product = math.prod(bounds)
            word = next(words)
            while word * product % (1 << 32) < (1 << 32) % product:
                word = next(words)
            number = word * product >> 32  # all are equally likely: as many words are left for each
            digits, below = [], product
            for bound in bounds:
                below //= bound
                digits.append(number // below)
                number %= below
            for digit in digits:
                order[first + digit], order[first + left - 1] = order[first + left - 1], order[first + digit]
                left -= 1
    return order


@pytest.mark.parametrize("seed", range(20))
def test_shuffling_agrees_with_a_naive_version_however_many_words_come_at_a_time(seed):
    random = np.random.default_rng(seed)
    sizes = random.choice([0, 1, 2, 3, 7, 12, 100, 3000], 12)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    order = random.permutation(int(starts[-1]))
    words = Entropy(seed).words(2 * len(order) + 10)
    expected = shuffled_by_hand(order, starts.tolist(), words)
    assert shuffled(order.copy(), starts, words).tolist() == expected
    assert shuffled(order.copy(), starts, words, at_a_time=int(random.integers(1, 50))).tolist() == expected


@pytest.mark.parametrize("people", [1, 5, 1000])
def test_people_are_numbered_class_by_class(people):
    random = np.random.default_rng(people)
    sizes = [1, 31, 32, 33, 0, 64, 500, 2]  # few rows are compared, many are looked up
    order = random.permutation(sum(sizes))
    codes = random.integers(0, people, sum(sizes)).astype(np.uint32)
    begin = np.cumsum([0, *sizes])
    expected = []
    for low, high in pairwise(begin):
        seen = {}
        expected += [seen.setdefault(code, len(seen) + 1) for code in codes[order[low:high]].tolist()]
    assert number_people(codes, order, begin).tolist() == expected


@settings(deadline=None, max_examples=60)
@given(GROUPS, st.randoms())
def test_runs_are_repeated(groups, random):
    times = [random.randrange(4) for _ in groups]
    parts = np.array([part for group in groups for part in group], np.int32)
    length = np.array([len(group) for group in groups], np.int64)
    expected = [part for group, often in zip(groups, times, strict=True) for part in group * often]
    found = repeat_runs(parts, np.cumsum(length) - length, length, np.array(times, np.int64), len(expected))
    assert found.tolist() == expected


def test_sets_are_shown_as_their_cut_says():
    sets = [[0, 1, 2], [], [5], [2, 3, 4], [1], [0, 3]]  # 5 stands for a missing set
    offsets = np.cumsum([0] + [len(items) for items in sets])
    items = np.array([item for record in sets for item in record], np.uint8)
    cut = np.array([10, 10, -1, 3, 3, 20])
    rows = np.array([3, 0, 1, 2, 4, 5, 0])
    ends, found, null = np.zeros(8, np.int32), np.empty(13, np.int64), np.empty(7, np.bool_)
    total = cut_sets(offsets, items, rows, cut, 5, ends, found, null)
    assert [found[a:b].tolist() for a, b in pairwise(ends)] == [[3], [10], [], [], [10], [10, 3], [10]]
    assert total == ends[-1]
    assert null.tolist() == [False, False, False, True, False, False, False]
