"""Sets of people with several records: parts of one partition, every set as likely as any other, no telling apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import comb

import numpy as np
import pyarrow as pa
import pytest

from sudare.errors import UnsupportedError
from sudare.methods.drawing import SetDraw
from sudare.randomness import Entropy
from sudare.table import Column, smallest


def column(name, codes, size):
    return Column(name, "categorical", smallest(np.asarray(codes), size), pa.array([f"v{i}" for i in range(size)]))


def sets_of(size, width, people, each, seed=1, **more):
    """Return the truths and the sets of so many people, with so many records each."""
    random = np.random.default_rng(seed)
    rows = people * each
    truth, who = random.integers(0, size, rows), np.repeat(np.arange(people), each)
    draw = SetDraw(column("s", truth, size), width, Entropy(seed + 1), same=column("who", who, people), **more)
    return truth, draw.cells(np.arange(rows))


@pytest.mark.parametrize(("size", "width"), [(6, 2), (6, 3), (7, 3), (9, 4), (5, 5), (5, 2), (20, 6), (300, 7)])
def test_sets_hold_the_truth_and_those_of_a_person_are_equal_or_disjoint(size, width):
    truth, sets = sets_of(size, width, 300, 4)
    assert (np.diff(sets.astype(int), axis=1) > 0).all()
    assert sets.max() < size
    assert (sets == truth[:, None]).any(axis=1).all()
    for person in range(300):
        rows = range(4 * person, 4 * person + 4)
        for one in rows:
            for other in rows:
                common = len(set(sets[one].tolist()) & set(sets[other].tolist()))
                if truth[one] == truth[other]:
                    assert common == width
                elif size % width == 0:
                    assert common in (0, width)
                else:  # the two parts that overlap have so many values in common
                    assert common in (0, width, width - size % width)


@pytest.mark.parametrize(("size", "width"), [(6, 2), (5, 2), (7, 3)])
def test_every_set_with_the_truth_is_equally_likely(size, width):
    truth, sets = sets_of(size, width, 12_000, 2)
    first = slice(None, None, 2)  # one record of each person: these are independent
    counts = Counter(zip(truth[first].tolist(), map(tuple, sets[first].tolist()), strict=True))
    ways = comb(size - 1, width - 1)
    expected = 12_000 / size / ways
    chi = sum((count - expected) ** 2 / expected for count in counts.values()) + expected * (size * ways - len(counts))
    free = size * ways - 1
    assert chi < free + 4 * np.sqrt(2 * free)


@pytest.mark.parametrize(("size", "width", "most"), [(4, 2, 1 / 2), (6, 3, 1 / 3), (5, 2, 2 / 3)])
def test_what_two_sets_of_a_person_tell_is_limited(size, width, most):
    truth, sets = sets_of(size, width, 40_000, 2, seed=3)
    told = defaultdict(Counter)
    for person in range(40_000):
        one, other = 2 * person, 2 * person + 1
        told[tuple(sets[one].tolist()), tuple(sets[other].tolist())][int(truth[one])] += 1
    for found in told.values():
        total = sum(found.values())
        assert max(found.values()) / total < most + 5 * np.sqrt(most * (1 - most) / total) + 1 / total


def test_a_person_with_all_values_is_not_found_out():
    """Sets that were drawn value by value would be matched by elimination."""
    truth = np.tile(np.arange(6), 200)
    who = np.repeat(np.arange(200), 6)
    draw = SetDraw(column("s", truth, 6), 2, Entropy(7), same=column("who", who, 200))
    sets = draw.cells(np.arange(len(truth)))
    for person in range(200):
        assert sorted(Counter(map(tuple, sets[6 * person : 6 * person + 6].tolist())).values()) == [2, 2, 2]


def test_unequal_frequencies_are_for_people_with_one_value():
    with pytest.raises(UnsupportedError, match="frequencies: uniform"):
        sets_of(6, 2, 50, 3, weights=np.arange(1.0, 7.0))
