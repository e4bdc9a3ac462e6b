"""k^m-anonymity: what is monotone about it, and that no group answers for it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.models import KmAnonymity

from . import naive
from .groupings import as_groups

records = st.lists(st.sets(st.integers(0, 7), max_size=6), max_size=12)


@settings(deadline=None)
@given(records, st.integers(2, 3), st.integers(1, 3), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_survives_merging_items(records, k, m, merged):
    records = records * 2
    if not naive.rare_combinations(records, k, m):
        general = [{merged[item] for item in record} for record in records]
        assert naive.rare_combinations(general, k, m) == 0


def test_groups_have_nothing_to_answer_for():
    model = KmAnonymity(2, 2, "drugs")
    groups = as_groups([[0], [1, 1]])
    assert model.holds(groups).tolist() == [True, True]
    assert model.measure(groups).tolist() == [0.0, 0.0]
    assert model.scope == "column"
    assert model.best_possible(groups) == "the table has 3 records"
