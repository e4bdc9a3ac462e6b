"""l-diversity of item sets, by frequency: an example by hand, a naive version, and what merging does."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import ParameterError
from sudare.models import Groups, Histograms, LDiversity, Requirements
from sudare.table.encode import encode_sets

ITEMS = ["HIV", "flu", "cold", "gout", "hiv "]
sets = st.one_of(st.none(), st.lists(st.sampled_from(ITEMS), max_size=4))
groupings = st.lists(st.lists(sets, min_size=1, max_size=9), min_size=1, max_size=6)


def as_groups(grouping, *, merge=True) -> Groups:
    cells = [cell for group in grouping for cell in group]
    column = encode_sets("d", pa.array(cells, pa.list_(pa.string())), merge=merge)
    codes, sizes = column.codes.astype(np.int64), [len(group) for group in grouping]
    counted = [np.unique(part, return_counts=True) for part in np.split(codes, np.cumsum(sizes)[:-1])]
    start = np.cumsum([0, *(len(values) for values, _ in counted)])
    total = np.bincount(codes, minlength=column.size)
    listed = (np.concatenate([part[place] for part in counted]) for place in (0, 1))
    return Groups(np.array(sizes), None, {"d": Histograms(start, *listed, total, column)})


def frequency(l, **more) -> LDiversity:  # noqa: E741
    return LDiversity(l, "d", "frequency", **more)


def naive(group, l, harmless=()) -> bool:  # noqa: E741
    held = Counter()
    for cell in group:
        held.update({item.strip().lower() for item in cell or ()} - {item.strip().lower() for item in harmless})
    return len(group) >= l and all(count * l <= len(group) for count in held.values())


def test_an_example_by_hand():
    grouping = [
        [["flu", "HIV"], ["flu"], ["cold"], []],  # flu: 2 of 4
        [["flu"], ["HIV"], ["cold"]],  # each 1 of 3
        [["hiv"], ["HIV "], ["flu"], None],  # two spellings of one item: 2 of 4
        [None, None, []],  # no item at all, but only three records
        [["flu", "flu"], []],  # named twice, held once: 1 of 2
    ]
    groups = as_groups(grouping)
    assert frequency(2).holds(groups).tolist() == [True, True, True, True, True]
    assert frequency(3).holds(groups).tolist() == [False, True, False, True, False]
    assert frequency(4).holds(groups).tolist() == [False, False, False, False, False]
    assert frequency(2).measure(groups).tolist() == [2, 3, 2, 3, 2]
    assert frequency(3, harmless=["FLU"]).holds(groups).tolist() == [True, True, False, True, False]
    assert frequency(4, harmless=["FLU"]).holds(groups).tolist() == [True, False, False, False, False]


def test_spellings_are_apart_where_the_policy_says_so():
    grouping = [[["hiv"], ["HIV"], ["flu"]]]
    assert frequency(3).holds(as_groups(grouping)).tolist() == [False]
    assert frequency(3).holds(as_groups(grouping, merge=False)).tolist() == [True]
    named = frequency(2, harmless=["hiv"])
    assert named.holds(as_groups([[["HIV"], ["HIV"]]])).tolist() == [True]
    assert named.holds(as_groups([[["HIV"], ["HIV"]]], merge=False)).tolist() == [False]


@given(groupings, st.integers(2, 5), st.sampled_from([(), ("flu",), ("Hiv", "cold", "nothing of that name")]))
def test_agrees_with_the_naive_version(grouping, l, harmless):  # noqa: E741
    groups = as_groups(grouping)
    model = frequency(l, harmless=list(harmless) or None)
    assert model.holds(groups).tolist() == [naive(group, l, harmless) for group in grouping]
    assert (model.measure(groups) >= l).tolist() == model.holds(groups).tolist()


@given(groupings, st.integers(2, 4))
def test_merging_never_breaks_it(grouping, l):  # noqa: E741
    model = frequency(l)
    good = [group for group in grouping if naive(group, l)]
    if good:
        assert model.holds(as_groups([[cell for group in good for cell in group]])).all()


@given(groupings)
def test_a_table_that_cannot_keep_it_is_told_the_largest_l(grouping):
    everybody = [[cell for group in grouping for cell in group]]
    whole = as_groups(everybody)
    for l in range(2, 8):  # noqa: E741
        problems = Requirements((frequency(l),)).unmet(whole)
        assert bool(problems) != naive(everybody[0], l)
        for problem in problems:
            most = max((each for each in range(2, l) if naive(everybody[0], each)), default=None)
            told = f"largest l possible is {most}:" if most else "no l is possible"
            rows = len(everybody[0])
            assert told in problem.what or f"has {rows} record{'s' if rows != 1 else ''}" in problem.what
            assert not any(item.strip() in problem.what for item in ITEMS)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"l": 2.5, "column": "d", "variant": "frequency"}, "l"),
        ({"l": 2, "column": "d", "variant": "frequency", "c": 1.0}, "c"),
        ({"l": 2, "column": "d", "variant": "frequency", "harmless": []}, "harmless"),
        ({"l": 2, "column": "d", "variant": "frequency", "harmless": "flu"}, "harmless"),
        ({"l": 2, "column": "d", "harmless": ["flu"]}, "harmless"),
    ],
)
def test_bad_parameters(given, key):
    with pytest.raises(ParameterError) as error:
        LDiversity(**given)
    assert [problem.where for problem in error.value.problems] == [f"l-diversity.{key}"]


def test_what_to_do_is_said_for_the_variant_in_use():
    assert LDiversity(2, "x", "frequency").remedy == (
        "require a possible l, or name items that may be inferred as harmless."
    )
    assert LDiversity(2, "x", "recursive", c=2).remedy == "require a possible l, or a larger c."
    assert LDiversity(2, "x").remedy == LDiversity(2, "x", "entropy").remedy == "require a possible l."
