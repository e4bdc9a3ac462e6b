"""Counting rare combinations around labels, against loops over Python sets."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.lattice import item_combinations as kernels

SIZE = 8
records = st.lists(st.sets(st.integers(0, SIZE - 1), max_size=7), min_size=1, max_size=25)
several = settings(deadline=None, max_examples=150)


@st.composite
def cuts(draw):
    """Labels of the codes: ranges of codes share one, in any order of the labels, and some are hidden."""
    bounds = sorted(draw(st.sets(st.integers(1, SIZE - 1))))
    names = draw(st.permutations(range(SIZE)))
    hidden = draw(st.sets(st.integers(0, SIZE - 1), max_size=3))
    labels = np.empty(SIZE, np.int64)
    for index, (low, high) in enumerate(pairwise([0, *bounds, SIZE])):
        labels[low:high] = -1 if index in hidden else names[index]
    return labels


def flat(records, kind=np.int32):
    offsets = np.concatenate(([0], np.cumsum([len(r) for r in records]))).astype(np.int64)
    return offsets, np.array([item for r in records for item in sorted(r)], kind)


def grouped(records) -> kernels.Sets:
    return kernels.distinct_sets(*flat(records), SIZE)


def relabelled(records, labels) -> list[set[int]]:
    return [{int(labels[item]) for item in r} - {-1} for r in records]


def rare(records, k, most) -> list[tuple[int, ...]]:
    count = Counter(c for r in records for size in range(1, most + 1) for c in combinations(sorted(r), size))
    return [combination for combination, times in count.items() if times < k]


def degrees(found) -> list[int]:
    count = Counter(label for combination in found for label in combination)
    return [count[label] for label in range(SIZE)]


@several
@given(records)
def test_equal_sets_are_kept_once(records):
    sets = grouped(records)
    members = [tuple(sets.items[a:b].tolist()) for a, b in pairwise(sets.offsets)]
    assert dict(zip(members, sets.weight.tolist(), strict=True)) == Counter(tuple(sorted(r)) for r in records if r)
    for item in range(SIZE):
        holders = sets.holders[sets.first[item] : sets.first[item + 1]].tolist()
        assert holders == [index for index, held in enumerate(members) if item in held]


@several
@given(records, cuts(), st.integers(1, 4), st.integers(1, 6))
def test_a_walk_over_all_labels_meets_every_rare_combination_once(records, labels, k, most):
    sets = grouped(records)
    buffers = kernels.tally(SIZE, len(sets.weight))
    expected = rare(relabelled(records, labels), k, most)
    found = kernels.rare_among(sets, labels, 0, SIZE - 1, False, kernels.Limits(most, k, 1), buffers)
    assert found == len(expected)
    assert buffers.degree.tolist() == degrees(expected)


@several
@given(records, cuts(), st.integers(1, 4))
def test_pairs_by_table(records, labels, k):
    sets = grouped(records)
    buffers = kernels.tally(SIZE, len(sets.weight))
    expected = rare(relabelled(records, labels), k, 2)
    ranked = np.array(list(dict.fromkeys(label for label in labels.tolist() if label >= 0)), np.int64)
    rank = np.zeros(SIZE, np.int64)
    rank[ranked] = np.arange(len(ranked))
    assert kernels.rare_pairs(sets, labels, rank, ranked, k, buffers) == len(expected)
    assert buffers.degree.tolist() == degrees(expected)


@several
@given(records, cuts(), st.integers(2, 4), st.integers(1, 5), st.data())
def test_taking_out_leaves_what_is_rare_without_it(records, labels, k, most, data):
    sets = grouped(records)
    buffers = kernels.tally(SIZE, len(sets.weight))
    before = rare(relabelled(records, labels), k, most)
    buffers.degree[:] = degrees(before)
    starts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), SIZE]  # whole labels only
    low, high = sorted(data.draw(st.tuples(st.sampled_from(starts), st.sampled_from(starts))))
    removed = kernels.rare_among(sets, labels, low, high - 1, True, kernels.Limits(most, k, -1), buffers)
    assert (labels[low:high] == -1).all()
    after = rare(relabelled(records, labels), k, most)
    assert removed == len(before) - len(after)
    assert buffers.degree.tolist() == degrees(after)


@several
@given(records, cuts(), st.integers(2, 4), st.integers(1, 5))
def test_around_one_label(records, labels, k, most):
    sets = grouped(records)
    buffers = kernels.tally(SIZE, len(sets.weight))
    expected = rare(relabelled(records, labels), k, most)
    for label in sorted(set(labels.tolist()) - {-1}):
        codes = np.flatnonzero(labels == label)
        low, high = int(codes[0]), int(codes[-1])
        buffers.degree[:] = 0
        found = kernels.rare_around(
            sets, labels, kernels.Focus(label, low, high, after=False), kernels.Limits(most, k, 1), buffers
        )
        with_it = [combination for combination in expected if label in combination]
        assert found == len(with_it)
        assert buffers.degree.tolist() == degrees(with_it)
        assert kernels.support_of(sets, low, high, buffers) == sum(1 for r in records if r & set(codes.tolist()))


def test_stacks_grow():
    # one set of 200 items, and each of them twice more: every combination of 2 or 3 is rare, and many are open at once
    size = 200
    alone = [{item} for item in range(size)] * 2
    sets = kernels.distinct_sets(*flat([set(range(size)), *alone]), size)
    buffers = kernels.tally(size, len(sets.weight))
    found = kernels.rare_among(sets, np.arange(size), 0, size - 1, False, kernels.Limits(3, 2, 1), buffers)
    pairs, triples = size * (size - 1) // 2, size * (size - 1) * (size - 2) // 6
    assert found == pairs + triples
    assert buffers.degree.tolist() == [(size - 1) + (size - 1) * (size - 2) // 2] * size
    few = kernels.distinct_sets(*flat([set(range(12)), *alone]), size)
    assert (
        kernels.rare_among(few, np.arange(size), 0, size - 1, False, kernels.Limits(99, 2, 1), buffers)
        == 2**12 - 12 - 1
    )


@several
@given(records, st.lists(st.integers(-1, 5), min_size=SIZE, max_size=SIZE), st.data())
def test_relabelled_sets_ascend_and_hold_each_label_once(records, labels, data):
    rows = data.draw(st.lists(st.integers(0, len(records) - 1)))
    offsets, items = flat(records, np.uint8)
    out = np.empty(sum(len(records[row]) for row in rows), np.int64)
    starts = kernels.relabel(offsets, items, np.array(rows, np.int64), np.array(labels, np.int64), out)
    found = [out[a:b].tolist() for a, b in pairwise(starts)]
    assert found == [sorted(s) for s in relabelled([records[row] for row in rows], labels)]


@several
@given(records, cuts())
def test_counts_and_lengths(records, labels):
    offsets, items = flat(records, np.uint8)
    rows = np.arange(0, len(records), 2)
    expected = Counter(item for record in records[::2] for item in record)
    assert kernels.count_items(offsets, items, rows, SIZE).tolist() == [expected[item] for item in range(SIZE)]
    assert kernels.longest_shown(grouped(records), labels) == max(len(s) for s in relabelled(records, labels))
