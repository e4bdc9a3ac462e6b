"""Walking rows class by class."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.classes import distinct_codes, sort_by_class


def starts(classes):
    sizes = np.bincount([c for c in classes if c >= 0], minlength=max(classes, default=-1) + 1)
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-1, 4), min_size=1, max_size=40), st.randoms())
def test_sort_by_class_is_stable_and_leaves_out_what_has_no_class(classes, random):
    order = list(range(len(classes)))
    random.shuffle(order)
    begin = starts(classes)
    found = sort_by_class(np.array(classes, np.int64), np.array(order, np.int64), begin)
    assert found.tolist() == [row for c in range(len(begin) - 1) for row in order if classes[row] == c]


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
