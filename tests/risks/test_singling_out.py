"""Minimal sample uniques and SUDA scores, by hand and against brute force."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.risks import single_out
from sudare.risks.singling_out import points

from . import naive

NAMES = ("a", "b", "c", "d", "e")


def found_in(rows, most, sizes=None):
    columns = [np.array(column, dtype=np.uint32) for column in zip(*rows, strict=True)]
    sizes = sizes or [int(column.max()) + 1 for column in columns]
    return single_out(NAMES[: len(columns)], columns, sizes, len(rows), most=most)


def test_a_small_table_by_hand():
    """Of (sex, region, job): the last record has a job of its own, the third is the only F in region 1.

    Rows 0 and 1 agree. Row 2 (0, 1, 0): sex and region, or sex and job? (0, 0) is with rows 0, 1: not unique; region
    and job (1, 0): unique, as is sex and region (0, 1). Row 3 (1, 1, 1) by sex, and by job.
    """
    rows = [(0, 0, 0), (0, 0, 0), (0, 1, 0), (1, 1, 1)]
    found = found_in(rows, 3)
    assert found.by_size == {1: 2, 2: 2, 3: 0}
    assert found.combinations == [(("a",), 1), (("c",), 1), (("a", "b"), 1), (("b", "c"), 1)]
    # A = 3, M = 3: one column counts 2 * 1, two columns 1
    assert found.scores.tolist() == [0, 0, 2, 4]
    assert found.contribution == {"a": 3 / 6, "b": 2 / 6, "c": 3 / 6}
    assert (found.records, found.share) == (2, 0.5)


def test_points_are_those_of_the_paper_but_for_a_factor():
    """Elliot and others: the product of A - i for i from k to M; here without the last, A - M."""
    for columns, most in ((5, 3), (8, 4), (6, 2)):
        for size in range(1, most + 1):
            paper = np.prod([columns - i for i in range(size, most + 1)])
            assert points(columns, most, size) * (columns - most) == paper
    assert [points(4, 4, size) for size in (1, 2, 3, 4)] == [6, 2, 1, 1]


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=30)
)


@settings(max_examples=150, deadline=None)
@given(tables, st.integers(1, 5))
def test_all_of_it_against_brute_force(rows, most):
    found = found_in(rows, most)
    expected = naive.minimal_uniques(rows, most)
    assert found.scores.tolist() == naive.suda_scores(rows, most)
    counts = Counter(chosen for each in expected for chosen in each)
    named = {tuple(NAMES[place] for place in chosen): count for chosen, count in counts.items()}
    assert dict(found.combinations).items() <= named.items()
    assert len(found.combinations) == min(len(named), 20)
    assert [count for _, count in found.combinations] == sorted(named.values(), reverse=True)[:20]
    assert sum(found.by_size.values()) == sum(counts.values())
    assert found.records == sum(bool(each) for each in expected)


@settings(max_examples=50, deadline=None)
@given(tables, st.integers(1, 4), st.sampled_from([1 << 20, 1 << 31]))
def test_large_domains_are_looked_up(rows, most, size):
    """So many possible values that keys are looked up, or do not fit a word before columns are joined."""
    spread = [tuple(value * (size // 4) for value in row) for row in rows]
    found = found_in(spread, most, [size] * len(rows[0]))
    assert found.scores.tolist() == naive.suda_scores(rows, most)


def test_a_larger_table_against_brute_force():
    random = np.random.default_rng(0)
    rows = [tuple(row) for row in random.integers(0, [40, 9, 5, 2, 12], (3000, 5)).tolist()]
    assert found_in(rows, 4).scores.tolist() == naive.suda_scores(rows, 4)


@given(tables)
@settings(deadline=None)
def test_the_order_of_rows_does_not_matter(rows):
    one, two = found_in(rows, 3), found_in(rows[::-1], 3)
    assert one.to_dict() == two.to_dict()
    assert one.scores.tolist() == two.scores.tolist()[::-1]


def test_nobody_is_singled_out_where_everybody_has_company():
    found = found_in([(0, 1), (0, 1), (2, 3), (2, 3)], 2)
    assert (found.records, found.by_size, found.combinations) == (0, {1: 0, 2: 0}, [])
    assert found.contribution == {"a": 0, "b": 0}


def test_most_is_never_more_than_there_are_columns():
    assert found_in([(0, 1), (1, 0)], 8).most == 2


def test_progress_goes_to_the_end():
    told = []
    columns = [np.array([0, 1, 1], dtype=np.uint8)] * 3
    single_out(NAMES[:3], columns, [2] * 3, 3, most=2, progress=lambda *step: told.append(step))
    assert told[0] == ("single out", 0, 6)
    assert told[-1] == ("single out", 6, 6)


def test_contributions_are_shares_of_the_scores():
    random = np.random.default_rng(1)
    rows = [tuple(row) for row in random.integers(0, 6, (60, 4)).tolist()]
    found = found_in(rows, 3)
    expected = naive.minimal_uniques(rows, 3)
    total = sum(naive.suda_scores(rows, 3))
    for place, name in enumerate(NAMES[:4]):
        own = sum(points(4, 3, len(chosen)) for each in expected for chosen in each if place in chosen)
        assert found.contribution[name] == pytest.approx(own / total)
