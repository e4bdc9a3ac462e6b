"""Matrices of post-randomization: how they are made, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import ParameterError
from sudare.methods.pram import check_matrix, invariant_matrix, uniform_matrix

from .naive import beliefs

PRIOR = np.array([0.5, 0.3, 0.15, 0.05])


def problems(matrix, **asked):
    with pytest.raises(ParameterError) as caught:
        check_matrix(matrix, **asked)
    return [problem.what for problem in caught.value.problems]


def test_a_uniform_matrix_by_hand():
    assert uniform_matrix(4, 0.2).tolist() == pytest.approx(np.full((4, 4), 0.2) + 0.2 * np.eye(4))
    assert uniform_matrix(3, 1).tolist() == np.eye(3).tolist()
    assert uniform_matrix(1, 0.3).tolist() == [[1.0]]


@pytest.mark.parametrize(("m", "p"), [(0, 0.5), (2.5, 0.5), (True, 0.5), (3, -0.1), (3, 1.1), (3, float("nan"))])
def test_a_uniform_matrix_needs_sound_numbers(m, p):
    with pytest.raises(ParameterError):
        uniform_matrix(m, p)


@given(st.integers(1, 30), st.floats(0.001, 1))
def test_uniform_matrices_pass_the_check(m, p):
    matrix = uniform_matrix(m, p)
    assert check_matrix(matrix) is matrix


def test_everything_wrong_with_a_matrix_is_told_at_once():
    told = problems([[0.5, 0.6, 0.0], [-0.5, 1.5, 0.0], [float("nan"), 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert len(told) == 4
    assert "(4, 3)" in told[0]
    assert told[1].startswith("rows 2 have cells that are not finite")
    assert told[2].startswith("rows 1 have negative")
    assert told[3] == "rows 0 do not add up to 1; the worst adds up to 1.1."


@pytest.mark.parametrize("matrix", [[], [[]], [1.0], np.ones((1, 1, 1)), [["a"]], None, np.ones((2, 3)) / 3])
def test_what_is_no_square_matrix(matrix):
    assert problems(matrix)


def test_infinite_cells_and_sums_that_are_nearly_right():
    assert "not finite" in problems([[np.inf, 0.0], [0.0, 1.0]])[0]
    check_matrix([[0.5 + 5e-10, 0.5], [0.0, 1.0]])
    assert "add up" in problems([[0.5 + 5e-9, 0.5], [0.0, 1.0]])[0]


def test_many_rows_are_not_all_named():
    assert "0, 1, 2, 3, 4, ... (9 in all)" in problems(2 * np.eye(9))[0]


def test_singular_matrices_are_told_with_their_condition_number():
    assert problems(uniform_matrix(3, 0.0))[0].startswith("is singular: its condition number is")
    assert "is nearly singular: its condition number is 1e+09." in problems(uniform_matrix(2, 1e-9))[0]
    assert check_matrix(uniform_matrix(3, 0.0), invertible=False).shape == (3, 3)


@given(st.floats(0, 1))
def test_invariant_matrices_leave_the_prior_alone(p):
    matrix = check_matrix(invariant_matrix(PRIOR, p), invertible=False)
    assert PRIOR @ matrix == pytest.approx(PRIOR, abs=1e-12)


def test_the_invariant_matrix_keeps_with_p_and_its_beliefs_are_as_stated():
    p = 0.6
    matrix = invariant_matrix(PRIOR, p)
    assert matrix.diagonal() == pytest.approx(p + (1 - p) * PRIOR)
    assert beliefs(PRIOR, matrix) == pytest.approx((1 - p**2) * np.tile(PRIOR, (4, 1)) + p**2 * np.eye(4))
