"""The kernels against naive versions."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimates import naive

from sudare.estimates.set_counts import _lifts
from sudare.kernels.estimates import count_bounds, set_likelihood


def cells_of(sets):
    """All records as one cell."""
    return set_likelihood.Cells(sets.astype(np.uint32), np.arange(len(sets)), np.array([0, len(sets)]))


def maximise(sets, values, prior=None, strength=0.0, gap=1e-8, most=20_000):
    found = set_likelihood.Found(np.zeros((1, values)), np.zeros((1, values)), np.zeros(1, bool), np.zeros(1, np.int64))
    shares = np.full(values, 1 / values) if prior is None else prior
    belief = set_likelihood.Prior(shares, np.array([strength]), np.zeros(1))
    set_likelihood.maximise(cells_of(sets), 0, 1, belief, gap, most, found)
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(2, 12), st.data())
def test_counting_and_projecting(seed, size, values, data):
    chosen = data.draw(st.integers(1, values - 1))
    rng = np.random.default_rng(seed)
    sets = naive.draw(rng, rng.integers(0, values, size), values, chosen)
    holding = np.zeros((1, values), np.int32)
    set_likelihood.count_by_cell(cells_of(sets), 0, 1, holding)
    assert (holding[0] == naive.holding(sets, values)).all()
    rate = (chosen - 1) / (values - 1)
    result = np.zeros((1, values))
    set_likelihood.project_cells(holding, np.array([size]), rate, 0, 1, result)
    assert result[0] == pytest.approx(naive.projected((holding[0] - size * rate) / (1 - rate), size), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 80), st.integers(2, 12), st.floats(0.0, 3.0), st.data())
def test_nothing_is_more_likely(seed, size, values, skew, data):
    """Whatever the cell, narrow or wide, unique or not: many steps of plain EM do not make it more likely."""
    chosen = data.draw(st.integers(1, values - 1))
    rng = np.random.default_rng(seed)
    shares = np.arange(1, values + 1) ** -skew
    sets = naive.draw(rng, rng.choice(values, size, p=shares / shares.sum()), values, chosen)
    counts = maximise(sets, values).counts[0]
    assert counts.min() >= 0
    assert counts.sum() == pytest.approx(size)
    plain = naive.em(sets, values, 500)
    assert naive.likelihood(sets, values, counts) >= naive.likelihood(sets, values, plain) - 1e-7


@pytest.mark.parametrize(("size", "values", "chosen"), [(400, 8, 3), (3000, 30, 6), (60, 40, 10)])
def test_the_conditions_of_a_maximum(size, values, chosen):
    """Kuhn and Tucker: the slope is 1 where a count is positive, and not above 1 elsewhere."""
    rng = np.random.default_rng(size)
    sets = naive.draw(rng, rng.geometric(0.3, size).clip(max=values) - 1, values, chosen)
    counts = maximise(sets, values).counts[0]
    lines = naive.indicators(sets, values)
    slopes = (lines / (lines @ counts)[:, None]).sum(axis=0)
    assert slopes.max() <= 1 + 1e-6
    assert slopes[counts > 0.01] == pytest.approx(1, abs=1e-4)


def test_a_prior_counts_like_records():
    """With pseudo-records the solution is a fixed point of EM that knows of them."""
    rng = np.random.default_rng(4)
    prior = rng.dirichlet(np.ones(9))
    for size in (20, 500):  # EM and the interior point method
        sets = naive.draw(rng, rng.choice(9, size, p=prior), 9, 4)
        counts = maximise(sets, 9, prior, 7.0, 1e-12).counts[0]
        weights = counts + 7.0 * prior
        lines = naive.indicators(sets, 9)
        assert weights * (lines / (lines @ weights)[:, None]).sum(axis=0) == pytest.approx(counts, abs=1e-4)


def test_interior_points_and_steps_agree():
    """A wide and a narrow cell are solved in different ways: the same cell has one solution."""
    rng = np.random.default_rng(5)
    sets = naive.draw(rng, rng.geometric(0.2, 900).clip(max=20) - 1, 20, 5)
    inside = maximise(sets, 20)
    weights, slopes = np.full(20, 45.0), np.zeros(20)
    parts = sets.astype(np.uint32).ravel()
    taken, left = set_likelihood._climb(
        parts, 5, np.empty(0), np.int64(900), np.zeros(20), 1e-6, 100_000, weights, slopes, np.zeros((0, 0))
    )
    assert inside.narrow[0]
    assert inside.rounds[0] < 30 < taken
    assert left <= 1e-6
    assert weights * slopes == pytest.approx(inside.counts[0], abs=0.05)


def test_equations():
    rng = np.random.default_rng(6)
    lines = rng.random((30, 12))
    matrix = lines.T @ lines
    factor, vector, spare, diagonal = matrix.copy(), rng.random(12), np.zeros(12), np.zeros(12)
    assert set_likelihood.factorise(factor)
    set_likelihood.invert_diagonal(factor, spare, diagonal)
    assert diagonal == pytest.approx(np.diag(np.linalg.inv(matrix)))
    wanted = np.linalg.solve(matrix, vector)
    set_likelihood.solve(factor, vector)
    assert vector == pytest.approx(wanted)
    assert not set_likelihood.factorise(-matrix)


def test_variances_are_those_of_the_inverse_curvature():
    rng = np.random.default_rng(7)
    sets = naive.draw(rng, rng.integers(0, 6, 2000), 6, 2)
    found = maximise(sets, 6)
    lines = naive.indicators(sets, 6)
    scores = lines / (lines @ found.counts[0])[:, None]
    wanted = np.diag(np.linalg.inv(scores.T @ scores)) - found.counts[0]
    assert found.spread[0] == pytest.approx(wanted, rel=1e-3)


def test_limits_are_those_of_feldman_and_cousins():
    """A count is within the limits of those outcomes that come first by the ratio of likelihoods, up to the level."""
    lifts = _lifts(0.95)
    assert lifts[0] == pytest.approx(NormalDist().inv_cdf(0.95))
    assert lifts[-1] == pytest.approx(NormalDist().inv_cdf(0.975))
    size, rate = 10**8, 0.5  # so many records that a standard deviation is nothing beside them
    noise = np.sqrt(size * rate * (1 - rate))
    outcomes = np.arange(-8, 12, 0.002)
    for mean in (0.3, 0.6, 1.0, 1.7, 2.5, 4.0):
        density = np.exp(-((outcomes - mean) ** 2) / 2)
        ratio = density / np.exp(-((outcomes - np.maximum(outcomes, 0)) ** 2) / 2)
        first = np.argsort(-ratio, kind="stable")
        accepted = outcomes[first[: np.searchsorted(np.cumsum(density[first]) / density.sum(), 0.95) + 1]]
        for edge, inside in ((accepted.min(), 1), (accepted.max(), -1)):
            for shift in (-0.01, 0.01):
                outcome = edge + shift
                held = round(size * rate + outcome * noise)
                low, high = np.array(count_bounds.bound_count(held, size, rate, lifts)) * (1 - rate) / noise
                assert (low <= mean <= high) == (shift * inside > 0), (mean, outcome)


def test_limits_of_rare_counts_are_exact():
    """Each count within the limits is one that the number of sets does not speak against, and no other is."""

    def binomial(size, rate):
        chances = np.array([1.0])
        for _ in range(size):
            chances = np.convolve(chances, [1 - rate, rate])
        return chances

    size, rate = 40, 0.05
    for held in range(1, 12):
        accepted = []
        for count in range(held + 1):
            chances, others = binomial(size - count, rate), held - count
            below = chances[:others].sum() + chances[others] / 2
            outside = 0.05 * (1 - chances[0]) if count == 0 else 0.025
            if (count == 0 or below > 0.025) and 1 - below > outside:
                accepted.append(count)
        assert count_bounds.bound_rare(held, size, rate, 0.05) == (accepted[0], accepted[-1])
        assert len(accepted) == accepted[-1] - accepted[0] + 1


def test_a_value_that_stands_twice_is_seen():
    assert not set_likelihood.same_twice(np.array([[1, 2], [3, 1]], np.uint32))
    assert set_likelihood.same_twice(np.array([[1, 2], [3, 3]], np.uint32))
