"""Every group model against the slow definitions, on drawn groupings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.models import AlphaKAnonymity, BetaLikeness, DeltaDisclosure, KAnonymity, LDiversity, TCloseness

from . import naive
from .groupings import NAME, UNEVEN, as_groups, groupings, tree

SLACK = 1e-12


def whole(grouping):
    return [value for group in grouping for value in group]


@settings(deadline=None)
@given(groupings, st.integers(2, 9))
def test_k_anonymity_counts_records(grouping, k):
    model, groups = KAnonymity(k), as_groups(grouping)
    assert model.measure(groups).tolist() == [len(group) for group in grouping]
    assert model.holds(groups).tolist() == [len(group) >= k for group in grouping]


@settings(deadline=None)
@given(groupings, st.integers(2, 9))
def test_k_anonymity_counts_subjects(grouping, k):
    # the values stand in for the persons: some have several records in a group
    model, groups = KAnonymity(k, count="subjects"), as_groups(grouping, subjects=grouping)
    assert model.measure(groups).tolist() == [len(set(group)) for group in grouping]
    assert model.holds(groups).tolist() == [len(set(group)) >= k for group in grouping]


@settings(deadline=None)
@given(groupings, st.integers(2, 6))
def test_distinct_diversity(grouping, l):  # noqa: E741
    model, groups = LDiversity(l, NAME), as_groups(grouping)
    assert model.measure(groups).tolist() == [naive.distinct(group) for group in grouping]
    assert model.holds(groups).tolist() == [naive.distinct(group) >= l for group in grouping]


@settings(deadline=None)
@given(groupings, st.one_of(st.integers(2, 6), st.floats(1.01, 6)))
def test_entropy_diversity(grouping, l):  # noqa: E741
    model, groups = LDiversity(l, NAME, "entropy"), as_groups(grouping)
    assert model.measure(groups) == pytest.approx([math.exp(naive.entropy(group)) for group in grouping])
    assert model.holds(groups).tolist() == [naive.entropy(group) >= math.log(l) - naive.TOLERANCE for group in grouping]


@settings(deadline=None)
@given(groupings, st.integers(2, 6), st.sampled_from([0.3, 0.5, 1, 1.5, 2, 4]))
def test_recursive_diversity(grouping, l, c):  # noqa: E741
    model, groups = LDiversity(l, NAME, "recursive", c), as_groups(grouping)
    ratios = [naive.recursive(group, l) for group in grouping]
    assert model.measure(groups).tolist() == pytest.approx(ratios)
    # the quotients of small counts are either exactly at c or far from it
    assert model.holds(groups).tolist() == [ratio < c - 1e-7 for ratio in ratios]


limits = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))


@settings(deadline=None)
@given(groupings, limits)
def test_equal_distance(grouping, t):
    _check_distance(TCloseness(t, NAME), as_groups(grouping), grouping, naive.equal_distance)


@settings(deadline=None)
@given(groupings, limits)
def test_ordered_distance(grouping, t):
    _check_distance(TCloseness(t, NAME, "ordered"), as_groups(grouping), grouping, naive.ordered_distance)


@pytest.mark.parametrize("nested", [UNEVEN, [0, 1, 2, 3, 4, 5], [[[0], [[1, 2]]], [3, 4, 5], [None, [None]]]])
@settings(deadline=None)
@given(grouping=groupings, t=limits)
def test_hierarchical_distance(nested, grouping, t):
    groups = as_groups(grouping, taxonomy=tree(nested))
    model = TCloseness(t, NAME, "hierarchical")
    _check_distance(model, groups, grouping, lambda g, w: naive.hierarchical_distance(g, w, nested))


def _check_distance(model, groups, grouping, distance):
    expected = np.array([distance(group, whole(grouping)) for group in grouping])
    assert model.measure(groups) == pytest.approx(expected, abs=SLACK)
    assert (model.holds(groups) == (expected <= model.t + naive.TOLERANCE)).all()


@settings(deadline=None)
@given(groupings, st.sampled_from([0.2, 0.25, 0.5, 0.75, 1]), st.integers(2, 5))
def test_alpha_k(grouping, alpha, k):
    model, groups = AlphaKAnonymity(alpha, k, NAME), as_groups(grouping)
    expected = [naive.largest_share(group) for group in grouping]
    assert model.measure(groups).tolist() == pytest.approx(expected)
    assert model.holds(groups).tolist() == [
        len(group) >= k and share <= alpha + naive.TOLERANCE for group, share in zip(grouping, expected, strict=True)
    ]


@settings(deadline=None)
@given(groupings, st.sampled_from([0.2, 0.5, 1]), st.sets(st.integers(0, 7), min_size=1))
def test_alpha_k_of_named_values(grouping, alpha, named):
    # 6 and 7 are values that the column does not have
    model = AlphaKAnonymity(alpha, 2, NAME, [f"value {code}" for code in sorted(named)])
    expected = [naive.largest_share(group, named) for group in grouping]
    assert model.measure(as_groups(grouping)).tolist() == pytest.approx(expected)


@settings(deadline=None)
@given(groupings, st.sampled_from([0.1, 0.5, 1, 2, 7]), st.booleans())
def test_beta_likeness(grouping, beta, enhanced):
    model, groups = BetaLikeness(beta, NAME, "enhanced" if enhanced else "basic"), as_groups(grouping)
    everything = whole(grouping)
    assert model.measure(groups) == pytest.approx(
        [naive.largest_gain(group, everything) for group in grouping], abs=SLACK
    )
    assert model.holds(groups).tolist() == [naive.alike(group, everything, beta, enhanced) for group in grouping]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=8), min_size=1, max_size=5), st.floats(0.05, 3))
def test_delta_disclosure(grouping, delta):
    # two values only: with more, nearly every drawn group lacks one
    model, groups = DeltaDisclosure(delta, NAME), as_groups(grouping)
    expected = [naive.furthest_log_ratio(group, whole(grouping)) for group in grouping]
    assert model.measure(groups).tolist() == pytest.approx(expected, abs=SLACK)
    assert model.holds(groups).tolist() == [figure < delta - naive.TOLERANCE for figure in expected]


@settings(deadline=None)
@given(groupings)
def test_delta_disclosure_is_infinite_where_a_value_is_absent(grouping):
    expected = [naive.furthest_log_ratio(group, whole(grouping)) for group in grouping]
    assert DeltaDisclosure(1.0, NAME).measure(as_groups(grouping)).tolist() == pytest.approx(expected, abs=SLACK)
