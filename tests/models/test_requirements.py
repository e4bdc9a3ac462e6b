"""Several models at once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import PolicyUnmetError
from sudare.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    Requirements,
    TCloseness,
)

from .groupings import NAME, as_groups, groupings

CHOICE = [
    KAnonymity(2),
    KAnonymity(4, columns=["age"]),
    KAnonymity(3, count="subjects"),
    LDiversity(3, NAME),
    LDiversity(2.5, NAME, "entropy"),
    TCloseness(0.4, NAME),
    AlphaKAnonymity(0.5, 3, NAME),
    BetaLikeness(2, NAME),
    KmAnonymity(2, 2, "drugs"),
]


@settings(deadline=None)
@given(st.lists(groupings, min_size=1, max_size=4), st.lists(st.sampled_from(CHOICE), max_size=5, unique=True))
def test_holds_where_all_models_hold(parts, models):
    grouping = [group for part in parts for group in part]
    groups = as_groups(grouping, subjects=grouping)
    expected = [all(held) for held in zip(*[m.holds(groups) for m in [KmAnonymity(2, 1, ""), *models]], strict=True)]
    assert Requirements(tuple(models)).holds(groups).tolist() == expected


def test_what_the_groups_have_to_carry():
    asked = Requirements((*CHOICE, LDiversity(2, "job")), limit=0.05)
    assert asked.columns == (NAME, "job")
    assert asked.least_rows == 4
    assert asked.counts_subjects
    assert asked.depends_on_whole
    assert not asked.only_rows
    assert asked.of_columns == (KmAnonymity(2, 2, "drugs"),)


def test_rows_alone():
    asked = Requirements([KAnonymity(2), KAnonymity(3, columns=["age"]), KmAnonymity(9, 2, "drugs")])
    assert asked.only_rows
    assert asked.columns == ()
    assert asked.least_rows == 3
    assert not asked.counts_subjects
    assert not asked.depends_on_whole
    assert asked.holds(as_groups([[0] * 2, [0] * 3])).tolist() == [False, True]
    assert not Requirements((KAnonymity(2, count="subjects"),)).only_rows


def test_entropy_bounds_the_rows():
    assert LDiversity(2.5, NAME, "entropy").least_rows == 3
    assert LDiversity(3, NAME, "entropy").least_rows == 3
    assert LDiversity(3.0, NAME).least_rows == 3


def test_asking_for_nothing_lets_everything_pass():
    assert Requirements(()).holds(as_groups([[0], [1]])).tolist() == [True, True]


def unmet(model, group=(0, 0, 0, 0, 0, 1, 1, 2, None), subjects=None):
    (problem,) = Requirements((model,)).unmet(as_groups([list(group)], subjects=subjects))
    assert problem.hint.startswith("require ")
    return str(problem)


def test_unmet_says_what_the_whole_table_comes_to():
    assert unmet(KAnonymity(10)).startswith("k-anonymity (k = 10, count = rows): even one class of all records falls")
    assert "the table has 9 records." in unmet(KAnonymity(10))
    assert "the table has 2 data subjects." in unmet(KAnonymity(3, count="subjects"), subjects=[[1, 2, 1]])
    assert f"column '{NAME}' has 4 different values." in unmet(LDiversity(5, NAME))
    assert f"column '{NAME}' has 1 different value." in unmet(LDiversity(2, NAME), [0, 0])
    assert f"the entropy l of column '{NAME}' over the whole table is 3.15." in unmet(LDiversity(4, NAME, "entropy"))
    recursive = unmet(LDiversity(3, NAME, "recursive", 2.0))
    assert "the most frequent value has 5 records, and those from number 3 on have 2 together." in recursive
    assert f"column '{NAME}' has 4 different values." in unmet(LDiversity(6, NAME, "recursive", 2.0))
    assert "has a share of 0.556 of the whole table." in unmet(AlphaKAnonymity(0.5, 3, NAME))
    assert "the table has 9 records." in unmet(AlphaKAnonymity(0.5, 10, NAME))
    assert "is 0 in column" in unmet(DeltaDisclosure(1e-10, NAME))


def test_the_whole_never_fails_against_itself():
    models = (TCloseness(0.0, NAME), TCloseness(0.0, NAME, "ordered"), BetaLikeness(1e-12, NAME), KAnonymity(9))
    whole = as_groups([[0, 0, 0, 1, 1, 2, None, None, 5]])
    assert Requirements(models).unmet(whole) == []
    assert "distance 0" in models[0].best_possible(whole)
    assert "gains nothing" in models[2].best_possible(whole)


def test_problems_make_one_error():
    problems = Requirements((KAnonymity(10), LDiversity(5, NAME))).unmet(as_groups([[0, 1, 2]]))
    assert str(PolicyUnmetError(problems)).startswith("2 problems in meeting the policy:")
