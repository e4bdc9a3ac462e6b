"""What matrices guarantee, against slow versions that follow the definitions."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import ParameterError
from sudare.methods.pram import (
    invariant_matrix,
    least_ratio,
    pk_figure,
    uniform_alpha,
    uniform_gamma,
    uniform_matrix,
    uniform_ratio,
)

from .naive import beliefs

SKEWED = np.array([0.405, 0.255, 0.156, 0.106, 0.048, 0.030])


@st.composite
def priors(draw, most=8):
    parts = np.array(draw(st.lists(st.integers(1, 1000), min_size=2, max_size=most)), float)
    return parts / parts.sum()


@st.composite
def matrices(draw, m):
    cells = np.array(draw(st.lists(st.integers(0, 20), min_size=m * m, max_size=m * m)), float).reshape(m, m)
    cells += np.eye(m)
    return cells / cells.sum(axis=1, keepdims=True)


def test_ratios_by_hand():
    assert uniform_ratio(2, 0.5) == pytest.approx(1 / 3)
    assert uniform_ratio(7, 0.0) == 1
    assert uniform_ratio(7, 1.0) == 0
    assert uniform_ratio(1, 0.5) == 1  # there is nothing to tell apart


@given(st.integers(1, 40), st.floats(0, 1))
def test_the_ratio_of_any_matrix_is_that_of_the_formula_for_a_uniform_one(m, p):
    assert least_ratio(uniform_matrix(m, p)) == pytest.approx(uniform_ratio(m, p), abs=1e-12)


@given(st.data(), st.integers(1, 5))
def test_the_least_ratio_by_trying_all(data, m):
    matrix = data.draw(matrices(m))
    ratios = [matrix[s, o] / matrix[t, o] for s, t, o in product(range(m), repeat=3) if matrix[t, o] > 0]
    assert least_ratio(matrix) == pytest.approx(min(ratios))


def test_a_zero_beside_a_chance_promises_nothing():
    assert least_ratio([[0.8, 0.2, 0.0], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]) == 0
    assert pk_figure(1000, [0.5, 0.0]) == 1


def test_what_nobody_shows_does_not_count():
    assert least_ratio([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.5, 0.5, 0.0]]) == 0.5


def test_joint_values_have_the_product_of_the_ratios():
    parts = [uniform_matrix(3, 0.2), invariant_matrix([0.3, 0.7], 0.4)]
    assert least_ratio(np.kron(*parts)) == pytest.approx(least_ratio(parts[0]) * least_ratio(parts[1]))


@pytest.mark.parametrize(
    "matrix", [uniform_matrix(2, 0.4), uniform_matrix(3, 0.2), invariant_matrix([0.6, 0.3, 0.1], 0.3)]
)
def test_no_record_is_connected_with_more_than_one_in_k(matrix):
    """All tables of three records, all that they may show, and all ways to connect the two."""
    n, m = 3, len(matrix)
    most = 0.0
    for truth in product(range(m), repeat=n):
        for shown in product(range(m), repeat=n):
            likely = {
                way: np.prod([matrix[truth[person], shown[way[person]]] for person in range(n)])
                for way in permutations(range(n))
            }
            mine = sum(chance for way, chance in likely.items() if way[0] == 0)
            most = max(most, mine / sum(likely.values()))
    assert most <= 1 / pk_figure(n, [least_ratio(matrix)]) + 1e-12


def test_the_bound_is_attained_by_two_records():
    r = uniform_ratio(4, 0.3)
    matrix = uniform_matrix(4, 0.3)
    right, wrong = matrix[0, 0] * matrix[1, 1], matrix[0, 1] * matrix[1, 0]
    assert right / (right + wrong) == pytest.approx(1 / pk_figure(2, [r]))


def test_figures_against_drawing():
    count = 400_000
    draw = np.random.default_rng(7)
    truth = draw.choice(6, count, p=SKEWED)
    shown = np.where(draw.random(count) < 0.4, truth, draw.integers(0, 6, count))
    table = np.zeros((6, 6))
    np.add.at(table, (truth, shown), 1)
    after = table / table.sum(axis=0)  # what is true of those that show the same
    simulated = (table / table.sum(axis=1, keepdims=True)) @ after.T
    assert simulated.diagonal().max() == pytest.approx(uniform_alpha(SKEWED, 0.4), abs=0.005)
    assert simulated.min() == pytest.approx(uniform_gamma(SKEWED, 0.4), abs=0.005)


@given(priors(), st.floats(0, 1))
def test_the_figures_of_uniform_matrices_are_those_of_their_beliefs(prior, p):
    result = beliefs(prior, uniform_matrix(len(prior), p))
    assert uniform_alpha(prior, p) == pytest.approx(result.diagonal().max(), abs=1e-12)
    assert uniform_gamma(prior, p) == pytest.approx(result.min(), abs=1e-12)


def test_without_retention_only_the_prior_is_believed_and_with_all_the_truth():
    assert (uniform_alpha(SKEWED, 0), uniform_gamma(SKEWED, 0)) == (0.405, 0.03)
    assert (uniform_alpha(SKEWED, 1), uniform_gamma(SKEWED, 1)) == pytest.approx((1, 0), abs=1e-12)
    assert beliefs(SKEWED, np.eye(6)) == pytest.approx(np.eye(6))
    assert (uniform_alpha([1.0], 0.5), uniform_gamma([1.0], 0.5)) == (1, 1)


@given(priors(), st.floats(0, 1), st.floats(0, 1))
def test_more_retention_is_never_less_for_alpha_and_pk(prior, one, other):
    low, high = sorted((one, other))
    assert uniform_alpha(prior, low) <= uniform_alpha(prior, high) + 1e-12
    m = len(prior)
    assert pk_figure(100, [uniform_ratio(m, low)]) >= pk_figure(100, [uniform_ratio(m, high)])


@pytest.mark.parametrize("prior", [SKEWED, [0.759, 0.241], [0.5, 0.5], [0.1] * 10, [0.98, 0.01, 0.01]])
def test_gamma_falls_with_retention_as_a_rule(prior):
    figures = [uniform_gamma(prior, p) for p in np.linspace(0, 1, 1001)]
    assert (np.diff(figures) <= 1e-15).all()


def test_gamma_does_not_always_fall():
    """Beside two frequent values, a rare one is believed more again where more is kept."""
    prior = [0.6, 0.3999, 0.0001]
    middle, later = (beliefs(prior, uniform_matrix(3, p)).min() for p in (0.6, 0.9))
    assert middle < 0.979e-4 < 0.987e-4 < later


@pytest.mark.parametrize("prior", [[0.5, 0.4], [0.5, 0.5, 0.0], [1.5, -0.5], [], [[1.0]], ["a"], [np.nan, 1.0], None])
def test_what_is_no_prior(prior):
    for figure in (uniform_alpha, uniform_gamma):
        with pytest.raises(ParameterError, match="prior"):
            figure(prior, 0.5)


def test_a_probability_is_no_more_than_one():
    with pytest.raises(ParameterError):
        uniform_alpha([0.5, 0.5], 1.5)
