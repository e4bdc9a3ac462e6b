"""Examples from the papers, and examples worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from sudare.models import AlphaKAnonymity, BetaLikeness, DeltaDisclosure, Groups, Histograms, LDiversity, TCloseness
from sudare.table import Column

from .groupings import NAME, as_groups, tree

NEAR, FAR = [[3, 5, 9], [6, 8, 11], [4, 7, 10]], [[3, 4, 5], [6, 8, 11], [7, 9, 10]]
"""The t-closeness paper's nine salaries from 3k to 11k, three to a class, in two ways."""


def salaries(classes):
    return as_groups([[salary - 3 for salary in group] for group in classes], domain=9)


def test_salaries_of_the_t_closeness_paper():
    assert TCloseness(0.2, NAME, "ordered").measure(salaries(FAR))[:2] == pytest.approx([0.375, 1 / 6])
    assert TCloseness(0.2, NAME, "ordered").measure(salaries(NEAR)) == pytest.approx([1 / 6, 1 / 6, 1 / 12])
    assert TCloseness(1 / 6, NAME, "ordered").holds(salaries(FAR)).tolist() == [False, True, False]
    assert TCloseness(1 / 6, NAME, "ordered").holds(salaries(NEAR)).tolist() == [True, True, True]


def test_equal_distance_sees_no_order():
    assert TCloseness(0.5, NAME).measure(salaries(FAR)) == pytest.approx([2 / 3] * 3)


DISEASES = [[[0, 1, 2], [3, 4]], [[5, 6, 7], [8, 9]]]
"""The paper's tree: respiratory (infections: flu, pneumonia, bronchitis; vascular: two) and digestive (five)."""


@pytest.mark.parametrize(("other", "steps"), [(2, 1), (4, 2), (7, 3)])
def test_disease_tree_of_the_t_closeness_paper(other, steps):
    # flu to bronchitis is 1/3, to pulmonary embolism 2/3, to stomach cancer 1; half of the mass has to move
    groups = as_groups([[0], [other]], domain=10, taxonomy=tree(DISEASES))
    assert TCloseness(0.1, NAME, "hierarchical").measure(groups) == pytest.approx([steps / 6] * 2)


def test_hierarchical_distance_by_hand():
    # class: gastric ulcer, stomach cancer, pneumonia; the extras in ninths are 2, -2 (gastritis), 1 below stomach
    # diseases and -1 (flu), 2, -2 (bronchitis) below infections; 1 is left over to cross the root
    groups = as_groups([[5, 7, 1], [6, 0, 2], [6, 2, 7]], domain=10, taxonomy=tree(DISEASES))
    first = (1 / 3) * (2 / 9) + (1 / 3) * (2 / 9) + 1 / 9
    assert TCloseness(0.1, NAME, "hierarchical").measure(groups)[0] == pytest.approx(first)


def test_missing_is_a_leaf_below_the_root():
    groups = as_groups([[0, 0], [None, None]], domain=10, taxonomy=tree(DISEASES))
    assert TCloseness(0.1, NAME, "hierarchical").measure(groups) == pytest.approx([0.5, 0.5])


def test_missing_below_a_tree_that_is_a_lone_root():
    groups = as_groups([[0, 0], [None, None]], domain=1, taxonomy=tree([0]))
    assert TCloseness(0.1, NAME, "hierarchical").measure(groups) == pytest.approx([0.5, 0.5])


def test_heights_count_nodes_without_data():
    # the right branch is deeper than any record goes: the root has height 3, the pair's parent 1
    groups = as_groups([[0], [1]], domain=2, taxonomy=tree([[0, 1], [[None, None]]]))
    assert TCloseness(0.1, NAME, "hierarchical").measure(groups) == pytest.approx([1 / 6] * 2)


def test_entropy_by_hand():
    # shares 1/2, 1/4, 1/4: entropy 1.5 ln 2; uniform over three: ln 3
    groups = as_groups([[0, 0, 1, 2], [0, 1, 2], [0, 0]])
    assert LDiversity(2, NAME, "entropy").measure(groups) == pytest.approx([2**1.5, 3, 1])
    assert LDiversity(3, NAME, "entropy").holds(groups).tolist() == [False, True, False]
    assert LDiversity(2.8, NAME, "entropy").holds(groups).tolist() == [True, True, False]


def test_recursive_by_hand():
    # counts 3, 2, 2, 1: r1 = 3 and r3 + r4 = 3, so that c = 1 is just not enough
    groups = as_groups([[0] * 3 + [1] * 2 + [2] * 2 + [3], [0, 0, 1, 1], [0, 1, 2]])
    assert LDiversity(3, NAME, "recursive", 1.0).measure(groups).tolist() == [1.0, math.inf, 1.0]
    assert LDiversity(3, NAME, "recursive", 1.0).holds(groups).tolist() == [False, False, False]
    assert LDiversity(3, NAME, "recursive", 1.01).holds(groups).tolist() == [True, False, True]


def test_missing_counts_as_a_value():
    groups = as_groups([[0, None], [None, None]])
    assert LDiversity(2, NAME).holds(groups).tolist() == [True, False]
    assert AlphaKAnonymity(0.5, 2, NAME).measure(groups).tolist() == [0.5, 1.0]


def test_alpha_of_the_values_that_matter():
    groups = as_groups([[0, 0, 0, 1], [0, 1, 1, 1]])
    assert AlphaKAnonymity(0.5, 2, NAME, ["value 1"]).holds(groups).tolist() == [True, False]
    assert AlphaKAnonymity(0.5, 5, NAME, ["value 1"]).holds(groups).tolist() == [False, False]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (pa.array([1.0, 2.5]), "1"),
        (pa.array([1.0, 2.5]), "1.0"),
        (pa.array([1, 2]), "1"),
        (pa.array(["1", "2"]), "1"),
    ],
)
def test_values_are_named_by_their_text(values, named):
    kind = "categorical" if values.type == pa.string() else "numeric"
    column = Column(NAME, kind, np.empty(0, np.uint8), values)
    start, counts = np.array([0, 2]), np.array([3, 1])
    groups = Groups(np.array([4]), None, {NAME: Histograms(start, np.array([0, 1]), counts, counts, column)})
    assert AlphaKAnonymity(0.5, 2, NAME, [named]).measure(groups).tolist() == [0.75]


def test_beta_by_hand():
    # overall 1/10 and 9/10: a class with half of either has gains 4 and none; -ln 0.1 = 2.30
    groups = as_groups([[0, 1], [1] * 8])
    assert BetaLikeness(4, NAME, "basic").measure(groups) == pytest.approx([4, 1 / 9])
    assert BetaLikeness(4, NAME, "basic").holds(groups).tolist() == [True, True]
    # the enhanced limit of the frequent value is -ln 0.9 = 0.105, below its gain of 1/9
    assert BetaLikeness(4, NAME).holds(groups).tolist() == [False, False]


def test_delta_by_hand():
    groups = as_groups([[0, 1, 1], [0, 0, 1], [0, 1]])
    assert DeltaDisclosure(0.5, NAME).measure(groups) == pytest.approx([math.log(1.5)] * 2 + [0.0])
    assert DeltaDisclosure(math.log(1.5), NAME).holds(groups).tolist() == [False, False, True]
