"""k^m-anonymity: exact counts, block by block, in little memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.models import KmAnonymity, km_anonymity
from sudare.table import ItemSets, smallest

from . import naive
from .groupings import as_groups

records = st.lists(st.sets(st.integers(0, 7), max_size=6), max_size=12)
some_null = st.lists(st.none() | st.sets(st.integers(0, 7), max_size=6), max_size=12)


def as_sets(records, size=8) -> ItemSets:
    missing = None in records
    records = [{size} if record is None else record for record in records]  # null sets hold the last code alone
    offsets = np.concatenate(([0], np.cumsum([len(record) for record in records]))).astype(np.int64)
    items = np.array([item for record in records for item in sorted(record)], dtype=np.int64)
    return ItemSets("drugs", offsets, smallest(items, size + missing), pa.nulls(size, pa.string()), missing)


@settings(deadline=None)
@given(records, st.integers(2, 4), st.integers(1, 5))
def test_agrees_with_the_definition(records, k, m):
    model = KmAnonymity(k, m, "drugs")
    expected = naive.rare_combinations(records, k, m)
    assert model.violations(as_sets(records)) == expected
    assert model.holds_for(as_sets(records)) == (expected == 0)


@pytest.mark.parametrize("block", [1, 5, 50])
@settings(deadline=None)
@given(records=records, m=st.integers(2, 4))
def test_blocks_do_not_matter(block, records, m):
    usual = km_anonymity._BLOCK
    km_anonymity._BLOCK = block
    try:
        assert KmAnonymity(2, m, "drugs").violations(as_sets(records)) == naive.rare_combinations(records, 2, m)
    finally:
        km_anonymity._BLOCK = usual


@settings(deadline=None)
@given(records, st.integers(2, 3), st.integers(1, 3), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_survives_merging_items(records, k, m, merged):
    model = KmAnonymity(k, m, "drugs")
    records = records * 2
    if model.holds_for(as_sets(records)):
        assert model.holds_for(as_sets([{merged[item] for item in record} for record in records]))


def test_by_hand():
    # every item twice, the pairs (0, 1) and (0, 2) once, (1, 2) once
    sets = as_sets([{0, 1}, {0, 2}, {1, 2}])
    assert KmAnonymity(2, 1, "drugs").holds_for(sets)
    assert KmAnonymity(2, 2, "drugs").violations(sets) == 3
    assert KmAnonymity(2, 9, "drugs").violations(sets) == 3


@pytest.mark.parametrize("records", [[], [set(), set()]])
def test_without_items_there_is_nothing_to_find(records):
    assert KmAnonymity(2, 2, "drugs").holds_for(as_sets(records))


def test_null_sets_hold_no_combination():
    sets = as_sets([None, {0}, {0}])
    assert sets.missing
    assert KmAnonymity(2, 2, "drugs").holds_for(sets)
    assert KmAnonymity(2, 2, "drugs").holds_for(as_sets([None]))


@settings(deadline=None)
@given(some_null, st.integers(2, 4), st.integers(1, 4))
def test_null_sets_change_nothing(records, k, m):
    model = KmAnonymity(k, m, "drugs")
    known = [record for record in records if record is not None]
    assert model.violations(as_sets(records)) == model.violations(as_sets(known))
    assert model.holds_for(as_sets(records)) == model.holds_for(as_sets(known))


def test_ten_thousand_items_stay_small():
    # two records of 5,000 of the 10,000 items each: 25 million pairs, none of them held at once
    sets = as_sets([range(0, 10_000, 2), range(1, 10_000, 2)], size=10_000)
    tracemalloc.start()
    try:
        found = KmAnonymity(2, 2, "drugs").violations(sets)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == 10_000 + 2 * (5_000 * 4_999 // 2)
    assert peak < 200e6


def test_groups_have_nothing_to_answer_for():
    model = KmAnonymity(2, 2, "drugs")
    groups = as_groups([[0], [1, 1]])
    assert model.holds(groups).tolist() == [True, True]
    assert model.measure(groups).tolist() == [0.0, 0.0]
    assert model.scope == "column"
    assert model.best_possible(groups) == "the table has 3 records"
