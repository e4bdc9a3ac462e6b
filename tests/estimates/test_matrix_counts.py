"""Estimates from perturbed values, against slow versions, by their properties, and by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimates import naive

from sudare.core.errors import ParameterError, UnsupportedError
from sudare.estimates import MATRIX_ESTIMATORS, from_matrix, matrix_estimator
from sudare.estimates import likelihood as likely
from sudare.kernels.estimates import count_bounds


def keeping(values, kept):
    """Keep a value with some probability, or draw any of them."""
    return kept * np.eye(values) + (1 - kept) / values


def mixed(rng, values, kept=0.5):
    """A matrix without symmetry."""
    return kept * np.eye(values) + (1 - kept) * rng.dirichlet(np.ones(values), values)


def zipf(values):
    shares = 1 / np.arange(1, values + 1)
    return shares / shares.sum()


def shown(rng, truth, lines):
    """Perturb counts: a line of truth for each cell."""
    result = np.zeros_like(truth)
    for value in range(truth.shape[1]):
        result += rng.multinomial(truth[:, value], lines[value])
    return result


def plain_em(observed, lines, steps, belief=0.0):
    """Take steps of EM as the paper has them, from equal counts."""
    weights = np.full(len(lines), (observed.sum() + np.sum(belief)) / len(lines))
    for _ in range(steps):
        weights = weights * (lines @ (observed / (weights @ lines))) + belief
    return weights * (lines @ (observed / (weights @ lines)))


def likelihood(observed, lines, counts):
    fit = counts @ lines / counts.sum()
    return (observed[observed > 0] * np.log(fit[observed > 0])).sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(0, 200), st.sampled_from(MATRIX_ESTIMATORS))
def test_properties(seed, values, size, estimator):
    rng = np.random.default_rng(seed)
    lines = mixed(rng, values)
    truth = rng.multinomial(size, rng.dirichlet(np.full(values, 0.5)), 3)
    truth[1] = 0
    observed = shown(rng, truth, lines)
    found = from_matrix(observed, lines, estimator=estimator)
    assert (found.records == observed.sum(axis=1)).all()
    assert found.counts.shape == found.se.shape == (3, values)
    assert found.counts.sum(axis=1) == pytest.approx(found.records, abs=1e-6)
    assert (found.low <= found.counts).all()
    assert (found.counts <= found.high).all()
    assert (found.se >= 0).all()
    if estimator != "inversion":
        assert found.counts.min() >= 0
        assert found.low.min() >= 0
        assert (found.high <= found.records[:, None] + 1e-6).all()
    for empty in (found.counts[1], found.se[1], found.high[1] - found.low[1]):
        assert empty == pytest.approx(np.zeros(values), abs=1e-9)
    names = rng.permutation(values)
    named = from_matrix(observed[:, names], lines[np.ix_(names, names)], estimator=estimator)
    assert named.counts == pytest.approx(found.counts[:, names], abs=0.02)


@pytest.mark.parametrize("estimator", MATRIX_ESTIMATORS)
def test_several_matrices_are_their_product(estimator):
    rng = np.random.default_rng(1)
    parts = [mixed(rng, size) for size in (3, 2, 4)]
    product = np.kron(np.kron(parts[0], parts[1]), parts[2])
    observed = shown(rng, rng.multinomial(400, rng.dirichlet(np.ones(24)), 5), product)
    apart, together = (from_matrix(observed, given, estimator=estimator) for given in (parts, product))
    assert apart.counts == pytest.approx(together.counts, abs=0.01)
    assert apart.se == pytest.approx(together.se, abs=0.01)
    assert apart.low == pytest.approx(together.low, abs=0.02)
    assert apart.high == pytest.approx(together.high, abs=0.02)


def test_inversion_solves_the_equations():
    rng = np.random.default_rng(2)
    lines = mixed(rng, 6)
    observed = rng.integers(0, 50, (4, 6))
    found = from_matrix(observed, lines, estimator="inversion")
    assert found.counts @ lines == pytest.approx(observed)
    assert found.counts.min() < 0


def test_the_standard_error_is_that_of_the_exact_covariance():
    rng = np.random.default_rng(3)
    lines = mixed(rng, 5, 0.7)
    observed = rng.integers(200, 300, (1, 5))
    found = from_matrix(observed, lines, estimator="inversion")
    assert found.counts.min() > 0
    covariance = sum(found.counts[0, s] * (np.diag(lines[s]) - np.outer(lines[s], lines[s])) for s in range(5))
    back = np.linalg.inv(lines)
    assert found.se[0] == pytest.approx(np.sqrt(np.diag(back.T @ covariance @ back)))
    assert from_matrix(observed, lines, estimator="em").se == pytest.approx(found.se)


@pytest.mark.parametrize("kept", [0.3, 0.8])
def test_inversion_is_unbiased_and_its_errors_are_as_large_as_said(kept):
    rng = np.random.default_rng(4)
    lines, truth = keeping(6, kept), np.array([300, 120, 50, 20, 9, 1])
    observed = shown(rng, np.tile(truth, (8_000, 1)), lines)
    found = from_matrix(observed, lines, estimator="inversion")
    errors = found.counts - truth
    assert (np.abs(errors.mean(axis=0)) < 4 * errors.std(axis=0) / np.sqrt(8_000)).all()
    assert np.sqrt((found.se**2).mean(axis=0)) == pytest.approx(errors.std(axis=0), rel=0.04)


def test_projection_is_the_nearest_and_never_farther_from_the_truth():
    rng = np.random.default_rng(5)
    lines = keeping(20, 0.3)
    truth = rng.multinomial(100, zipf(20), 200)
    observed = shown(rng, truth, lines)
    point, near = (from_matrix(observed, lines, estimator=name).counts for name in ("inversion", "projection"))
    for cell in range(200):
        assert near[cell] == pytest.approx(naive.projected(point[cell], 100), abs=1e-9)
    assert (((near - truth) ** 2).sum(axis=1) <= ((point - truth) ** 2).sum(axis=1)).all()


def test_ml_is_where_plain_em_ends():
    rng = np.random.default_rng(6)
    lines = mixed(rng, 6, 0.6)
    observed = shown(rng, rng.multinomial(60, zipf(6), 20), lines)
    found = from_matrix(observed, lines, estimator="ml").counts
    point = from_matrix(observed, lines, estimator="inversion").counts
    for cell in range(20):
        assert found[cell] == pytest.approx(plain_em(observed[cell], lines, 3000), abs=0.1)
        if point[cell].min() >= 0:
            assert found[cell] == pytest.approx(point[cell], abs=0.01)
    assert 0 < (point.min(axis=1) < 0).sum() < 20


@pytest.mark.parametrize("narrow", [2000, 0])
@pytest.mark.parametrize(("values", "size", "kept"), [(4, 50, 0.5), (14, 500, 0.5), (50, 500, 0.8)])
def test_the_conditions_of_a_maximum(values, size, kept, narrow, monkeypatch):
    """Kuhn and Tucker: the slope is 1 where a count is positive, and not above 1 elsewhere."""
    monkeypatch.setattr(likely, "NARROW", narrow)  # by the interior point method, and by EM
    monkeypatch.setattr(likely, "MOST_STEPS", 100_000)
    rng = np.random.default_rng(values)
    lines = keeping(values, kept)
    observed = shown(rng, rng.multinomial(size, zipf(values), 10), lines)
    found = from_matrix(observed, lines, estimator="ml")
    for cell in range(10):
        slopes = lines @ (observed[cell] / (found.counts[cell] @ lines))
        assert slopes.max() <= 1 + 1e-4
        assert slopes[found.counts[cell] > 0.1] == pytest.approx(1, abs=1e-3)
        plain = plain_em(observed[cell], lines, 300)
        assert likelihood(observed[cell], lines, found.counts[cell]) >= likelihood(observed[cell], lines, plain) - 1e-5


def test_em_takes_few_steps_where_equations_are_solved():
    rng = np.random.default_rng(7)
    lines = [keeping(9, 0.3), keeping(8, 0.3)]
    truth = rng.multinomial(30_000, rng.dirichlet(np.full(72, 0.3)), 3)
    observed = shown(rng, truth, np.kron(*lines))
    assert from_matrix(observed, lines, estimator="ml").rounds < 40


def test_a_prior_counts_like_records():
    rng = np.random.default_rng(8)
    lines = keeping(8, 0.5)
    observed = shown(rng, rng.multinomial(60, zipf(8), 30), lines)
    drawing = matrix_estimator._checked(observed, lines, "em", 0.95)
    belief = matrix_estimator._learn(drawing, observed, observed.sum(axis=1))
    found = from_matrix(observed, lines, estimator="em-shrunk").counts
    assert np.median(belief.sum(axis=1)) > 50  # the cells are alike
    for cell in range(30):
        assert found[cell] == pytest.approx(plain_em(observed[cell], lines, 2000, belief[cell]), abs=0.01)


def test_values_that_are_never_shown_alike():
    """Probabilities of 0 are no trouble, and values that are shown as nothing else are known."""
    lines = np.array([[0.7, 0.3, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]])
    for estimator in MATRIX_ESTIMATORS:
        found = from_matrix(np.array([[50, 40, 7], [0, 30, 0]]), lines, estimator=estimator)
        if estimator != "em-shrunk":
            assert found.counts[0] == pytest.approx([14 / 0.3, 90 - 14 / 0.3, 7], abs=0.01)
            assert found.se[:, 2] == pytest.approx([0, 0], abs=1e-6)
        assert found.low[0, 2] == pytest.approx(7, abs=1e-5)
        assert found.high[0, 2] == pytest.approx(7, abs=1e-5)


@pytest.mark.parametrize("estimator", MATRIX_ESTIMATORS)
def test_nothing_perturbed_is_known(estimator):
    observed = np.array([[5, 0, 3], [0, 0, 0], [1, 1, 1]])
    found = from_matrix(observed, np.eye(3), estimator=estimator)
    close = {"abs": 1e-4}
    for counts in (found.counts, found.low, found.high):
        assert counts == pytest.approx(observed, **close)
    assert found.se == pytest.approx(np.zeros((3, 3)))
    alone = from_matrix(np.array([[4], [0]]), np.ones((1, 1)), estimator=estimator)  # a domain of one value
    assert alone.counts == pytest.approx(np.array([[4], [0]]))
    assert alone.se.max() == 0
    nobody = from_matrix(np.empty((0, 3), int), np.eye(3), estimator=estimator)
    assert nobody.counts.shape == (0, 3)


@pytest.mark.parametrize("kept", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("values", [2, 5, 14, 50])
def test_coverage(values, kept):
    """95 % intervals hold the truth of 93 to 97 % of cells of 500 records, for rare values as for frequent ones."""
    rng = np.random.default_rng(values)
    lines = keeping(values, kept)
    truth = rng.multinomial(500, zipf(values), 1000 if values < 50 else 400)
    observed = shown(rng, truth, lines)
    for estimator in ("em", "inversion"):
        found = from_matrix(observed, lines, estimator=estimator)
        covered = (found.low <= truth) & (truth <= found.high)
        assert 0.93 <= covered.mean() <= 0.97
        assert covered[:, : values // 3 + 1].mean() == pytest.approx(0.95, abs=0.03)
        assert covered[:, -(values // 3 + 1) :].mean() == pytest.approx(0.95, abs=0.03)


def test_coverage_of_other_matrices_and_of_tables():
    rng = np.random.default_rng(9)
    for lines in (mixed(rng, 8, 0.5), np.kron(mixed(rng, 3, 0.6), keeping(4, 0.5))):
        truth = rng.multinomial(500, zipf(len(lines)), 1000)
        found = from_matrix(shown(rng, truth, lines), lines)
        assert 0.93 <= ((found.low <= truth) & (truth <= found.high)).mean() <= 0.97


def test_squared_errors():
    """em is at least as good as inversion where much is drawn anew, and em-shrunk better in small cells."""
    rng = np.random.default_rng(10)
    lines = keeping(14, 0.4)
    truth = rng.multinomial(80, zipf(14), 200)
    observed = shown(rng, truth, lines)
    error = {
        name: ((from_matrix(observed, lines, estimator=name).counts - truth) ** 2).mean() for name in MATRIX_ESTIMATORS
    }
    assert error["em-shrunk"] < 0.5 * error["em"] < 0.5 * error["inversion"]


def test_limits_turn_one_sided_at_the_ends():
    """Without skewness, they are those of the ratio of likelihoods between 0 and the records."""
    rng = np.random.default_rng(11)
    size, noise = 100, 4.0
    moments = np.array([[noise**2 / size, 0.0]])
    for truth in (0.0, 2.0, 7.0, 50.0, 98.0, 100.0):
        estimates = truth + noise * rng.standard_normal((20_000, 1))
        low, high = np.zeros_like(estimates), np.zeros_like(estimates)
        others = np.tile(moments, (20_000, 1, 1))
        count_bounds.bound_estimates(estimates, np.full(20_000, size), moments, others, 0.95, low, high)
        assert ((low <= truth) & (truth <= high)).mean() == pytest.approx(0.95, abs=0.006)
        assert (low <= high).all()


def test_progress_is_told():
    heard = []
    from_matrix(np.array([[3, 4]]), keeping(2, 0.5), progress=lambda *told: heard.append(told))
    assert heard[-1] == ("estimate", 1, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": "inverson"}, "Did you mean 'inversion'"),
        ({"level": 0.0}, "between 0 and 1"),
        ({"matrix": keeping(3, 0.0)}, "no inverse"),
        ({"matrix": [keeping(3, 0.5), keeping(2, 0.0)]}, "no inverse"),
        ({"matrix": np.ones((3, 2)) / 2}, "square"),
        ({"matrix": []}, "square"),
        ({"matrix": np.eye(3) * 0.9}, "not a distribution"),
        ({"matrix": np.array([[1.1, -0.1, 0], [0, 1, 0], [0, 0, 1]])}, "not a distribution"),
        ({"matrix": np.full((3, 3), np.nan)}, "not a distribution"),
        ({"matrix": keeping(4, 0.5)}, "each of 4 values"),
        ({"observed": np.array([1, 2, 3])}, "each of 3 values"),
        ({"observed": np.array([[1.0, 2.0, 3.0]])}, "whole numbers"),
        ({"observed": np.array([[1, -2, 3]])}, "none below 0"),
    ],
)
def test_bad_input(change, message):
    good = {"observed": np.array([[1, 2, 3]]), "matrix": keeping(3, 0.5)}
    with pytest.raises(ParameterError, match=message):
        from_matrix(**(good | change))


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(matrix_estimator, "LARGEST", 10)
    with pytest.raises(UnsupportedError, match="fewer cells"):
        from_matrix(np.zeros((4, 3), int), np.eye(3))
