"""Prosecutor and marketer risk, by hand and against a naive version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.risks import exposure, exposure_of_people, group_rows

from . import naive


def grouped(*columns):
    arrays = [np.array(column, dtype=np.uint8) for column in columns]
    return group_rows(arrays, [int(array.max(initial=0)) + 1 for array in arrays], len(arrays[0]))


def test_a_small_table_by_hand():
    """Classes of 3, 2 and 1 records: risks 1/3 three times, 1/2 twice, 1 once."""
    found = exposure(grouped([0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 1]))
    assert (found.units, found.classes, found.smallest, found.unique) == (6, 3, 1, 1)
    assert found.largest_risk == 1
    assert found.mean_risk == pytest.approx((3 * 1 / 3 + 2 * 1 / 2 + 1) / 6)
    assert found.unique_share == pytest.approx(1 / 6)
    # above 1/3 are the pair and the single; above 1/5 and less all are
    assert found.above == {"0.05": 1, "0.09": 1, "0.2": 1, "0.33": 0.5}


def test_classes_of_exactly_a_threshold_are_not_above_it():
    for size, name in ((20, "0.05"), (11, "0.09"), (5, "0.2"), (3, "0.33")):
        assert exposure(grouped([0] * size)).above[name] == 0
        assert exposure(grouped([0] * (size - 1))).above[name] == 1


def test_the_closed_form_of_equal_classes():
    """c classes of k records: every risk is 1/k, and so are the largest and the mean."""
    for k, count in ((1, 7), (4, 5), (25, 3)):
        found = exposure(grouped(np.repeat(np.arange(count), k)))
        assert found.largest_risk == found.mean_risk == pytest.approx(1 / k)
        assert found.unique == (count if k == 1 else 0)


def test_no_records():
    found = exposure(grouped(np.zeros(0)))
    assert (found.units, found.largest_risk, found.mean_risk, found.unique_share) == (0, 0, 0, 0)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40))
def test_classes_are_those_of_a_naive_version(rows):
    groups = grouped(*zip(*rows, strict=True))
    sizes = naive.classes(rows)
    assert groups.own_size.tolist() == sizes
    found = exposure(groups)
    assert found.mean_risk == pytest.approx(sum(1 / size for size in sizes) / len(sizes))
    assert found.mean_risk == pytest.approx(found.classes / found.units)
    assert found.unique == sizes.count(1)


def test_more_combinations_than_a_word_holds():
    columns = [np.arange(4, dtype=np.uint32) % 2 for _ in range(5)]
    found = group_rows(columns, [1 << 30] * 5, 4)
    assert found.own_size.tolist() == [2, 2, 2, 2]


def test_people_by_hand():
    """Anna has two records in a class of her own; Bert and Carl share one, and Bert is alone in another."""
    classes = grouped([0, 0, 1, 1, 2])
    found = exposure_of_people(classes, np.array([0, 0, 1, 2, 1], dtype=np.uint8))
    # Anna 1, Bert max(1/2, 1) = 1, Carl 1/2
    assert (found.units, found.unique, found.smallest) == (3, 2, 1)
    assert found.mean_risk == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert exposure(classes).unique == 1  # rows alone hide that Anna is by herself


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30))
def test_people_against_a_naive_version(rows):
    classes, people = zip(*rows, strict=True)
    there = {group: {p for c, p in rows if c == group} for group in set(classes)}
    risks = [max(1 / len(there[c]) for c, p in rows if p == person) for person in set(people)]
    found = exposure_of_people(grouped(classes), np.array(people, dtype=np.uint8))
    assert found.mean_risk == pytest.approx(sum(risks) / len(risks))
    assert found.largest_risk == pytest.approx(max(risks))
    assert found.unique == sum(risk == 1 for risk in risks)
