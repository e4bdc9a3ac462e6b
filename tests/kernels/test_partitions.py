"""Sets of people with several records: parts of one partition, every set as likely as any other, no telling apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pyarrow as pa
import pytest

from sudare.core.errors import UnsupportedError
from sudare.core.randomness import Entropy
from sudare.methods.random_columns import SetDraw
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
                elif len(set(truth[rows].tolist())) <= size // width * width:
                    assert common in (0, width)
                else:  # more values than sets without common ones hold: neighbours on a circle
                    assert common < width


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


@pytest.mark.parametrize(("size", "width", "most"), [(4, 2, 1 / 2), (6, 3, 1 / 3), (5, 2, 1 / 2), (7, 3, 1 / 3)])
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


# ---- the law of the sets of a person, by enumeration


def law(size, width, truths):
    """Return how likely each choice of sets is for some different values of a person, in the order of these values."""
    found, parts = defaultdict(Fraction), size // width
    if len(truths) > parts * width:
        ways = [((0, *rest), before) for rest in permutations(range(1, size)) for before in range(width)]
        for circle, before in ways:
            shown = tuple(
                frozenset(circle[(circle.index(true) - before + index) % size] for index in range(width))
                for true in truths
            )
            found[shown] += Fraction(1, len(ways))
        return found

    def walk(number, free, sets, likely):
        if number == len(truths):
            found[tuple(next(one for one in sets if true in one) for true in truths)] += likely
        elif any(truths[number] in one for one in sets):
            walk(number + 1, free, sets, likely)
        else:
            others = list(combinations(sorted(free - {truths[number]}), width - 1))
            for some in others:
                one = frozenset((truths[number], *some))
                walk(number + 1, free - one, [*sets, one], likely / len(others))

    everything = frozenset(range(size))
    left = [()]
    if len(truths) > parts:
        left = list(combinations(sorted(everything - set(truths)), size % width))
    for some in left:
        walk(0, everything - set(some), [], Fraction(1, len(left)))
    return found


@pytest.mark.parametrize(
    ("size", "width", "records"),
    [(3, 2, 4), (4, 2, 4), (4, 3, 4), (5, 2, 3), (5, 3, 3), (5, 4, 3), (6, 4, 3), (5, 2, 5)],
)
def test_no_sets_of_a_person_are_believed_above_one_in_l(size, width, records):
    """With |S| = 5 and l = 2, and sets that had values in common, two records were enough for 3/4."""
    laws, told = {}, defaultdict(Counter)
    for truth in product(range(size), repeat=records):
        different = tuple(sorted(set(truth)))
        if different not in laws:
            laws[different] = law(size, width, different)
        for sets, likely in laws[different].items():
            shown = dict(zip(different, sets, strict=True))
            seen = tuple(tuple(sorted(shown[true])) for true in truth)
            for record, true in enumerate(truth):
                told[seen, record][true] += likely
    assert all(max(found.values()) * width == sum(found.values()) for found in told.values())


@pytest.mark.parametrize(
    ("size", "width", "truths"),
    [(5, 2, (0, 1)), (5, 2, (0, 2, 4)), (5, 2, (0, 1, 2, 3, 4)), (7, 3, (1, 2, 6)), (4, 3, (0, 3))],
)
def test_sets_are_drawn_by_their_law(size, width, truths):
    people = 6000
    truth, who = np.tile(truths, people), np.repeat(np.arange(people), len(truths))
    draw = SetDraw(column("s", truth, size), width, Entropy(5), same=column("who", who, people))
    lines = draw.cells(np.arange(len(truth))).reshape(people, len(truths), width)
    counts = Counter(tuple(frozenset(one) for one in person) for person in lines.tolist())
    expected = {shown: float(likely) * people for shown, likely in law(size, width, truths).items()}
    assert set(counts) <= set(expected)
    chi = sum((counts[shown] - mean) ** 2 / mean for shown, mean in expected.items())
    assert chi < len(expected) + 5 * np.sqrt(2 * len(expected))
