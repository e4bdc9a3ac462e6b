"""The mean of projection and most likely counts: its parts against slow versions, its squared error by simulation."""

import numpy as np
import pytest
from tests.estimates.test_matrix_counts import keeping, mixed, shown, zipf

from sudare.estimates import from_matrix, likelihood, matrix_estimator, shrinkage
from sudare.estimates.factors import drawing_of


def parts_of(observed, lines):
    """The unbiased estimate, its projection, and the most likely counts."""
    drawing, seen = drawing_of(lines), observed.astype(float)
    point = drawing.unbiased(seen)
    near = matrix_estimator._project(point, observed.sum(axis=1))
    return drawing, point, near, likelihood.maximise(drawing, seen, np.zeros_like(seen), near)[0]


def derivative(estimate, observed, lines, by=1e-3):
    """The derivative of an estimate by the unbiased one, number by number; the sum stays as it is."""
    values = len(lines)
    found = np.zeros((values, values))
    for value in range(values):
        change = by * (np.eye(values)[value] - 1 / values) @ lines
        found[value] = (estimate(observed + change) - estimate(observed - change)) / (2 * by)
    return found


@pytest.mark.parametrize("symmetric", [True, False])
def test_freedom_is_covariance_by_derivative(symmetric):
    rng = np.random.default_rng(1)
    lines = keeping(5, 0.5) if symmetric else mixed(rng, 5, 0.6)
    observed = shown(rng, rng.multinomial(4000, [0.7, 0.28, 0.02, 0, 0], 1), lines)
    drawing, point, near, most = parts_of(observed, lines)
    assert (point < -1).any()
    back = np.linalg.inv(lines)

    def projected(seen):
        return matrix_estimator._project(drawing.unbiased(seen[None]), np.array([4000]))[0]

    def most_likely(seen):
        return likelihood.maximise(drawing, seen[None], np.zeros((1, 5)), near)[0][0]

    for estimate, counts, found in (
        (projected, near, shrinkage._freedom_near(drawing, near)),
        (most_likely, most, shrinkage._freedom_likely(drawing, most)),
    ):
        covariance = back.T @ np.diag(counts[0] @ lines) @ back - np.diag(counts[0])
        slow = np.trace(covariance @ derivative(estimate, observed[0].astype(float), lines, 0.5))
        assert found[0] == pytest.approx(slow, rel=0.05)


def test_the_trace_by_signs(monkeypatch):
    """With many values, random signs tell the trace to some percent."""
    rng = np.random.default_rng(2)
    lines = [keeping(20, 0.5), keeping(25, 0.6)]
    observed = shown(rng, rng.multinomial(30_000, rng.dirichlet(np.full(500, 0.3)), 4), np.kron(*lines))
    drawing, _, _, most = parts_of(observed, lines)
    exact = shrinkage._freedom_likely(drawing, most)
    monkeypatch.setattr(likelihood, "NARROW", 100)
    monkeypatch.setattr(shrinkage, "PROBES", 20)
    monkeypatch.setattr(shrinkage, "SOLVED", 1e-6)
    assert shrinkage._freedom_likely(drawing, most) == pytest.approx(exact, rel=0.04)
    monkeypatch.undo()
    monkeypatch.setattr(likelihood, "NARROW", 100)
    assert shrinkage._freedom_likely(drawing, most) == pytest.approx(exact, rel=0.2)


def errors_of(truth, observed, lines):
    return {
        name: ((from_matrix(observed, lines, estimator=name).counts - truth) ** 2).mean()
        for name in ("em", "ml", "projection", "inversion")
    }


@pytest.mark.parametrize("kept", [0.3, 0.5, 0.7, 0.9])
def test_em_is_never_worse_where_nearly_all_counts_are_0(kept):
    """Two columns of the same meaning: the most likely counts alone are worse than the unbiased estimate."""
    rng = np.random.default_rng(3)
    lines = [keeping(12, kept), keeping(12, kept)]
    truth = np.diag(rng.multinomial(20_000, zipf(12))).ravel()
    error = errors_of(truth, shown(rng, np.tile(truth, (40, 1)), np.kron(*lines)), lines)
    assert error["em"] < 0.8 * error["inversion"]
    assert error["em"] < min(1.3 * error["projection"], error["ml"])
    if kept >= 0.7:
        assert error["ml"] > error["inversion"]


@pytest.mark.parametrize("kept", [0.1, 0.2, 0.4, 0.6, 0.8])
def test_em_keeps_most_of_what_is_gained_by_likelihood(kept):
    rng = np.random.default_rng(4)
    lines = [keeping(7, kept), keeping(5, kept)]
    truth = rng.multinomial(20_000, rng.dirichlet(np.full(35, 0.4)))
    error = errors_of(truth, shown(rng, np.tile(truth, (60, 1)), np.kron(*lines)), lines)
    assert error["em"] <= min(1.3 * error["ml"], 1.02 * error["projection"])
    assert error["em"] < error["inversion"]


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_in_cells_with_few_records(kept):
    rng = np.random.default_rng(5)
    lines = keeping(14, kept)
    truth = rng.multinomial(60, zipf(14), 400)
    error = errors_of(truth, shown(rng, truth, lines), lines)
    assert error["em"] <= 1.05 * min(error["ml"], error["projection"])
    assert error["em"] <= min(error["projection"], error["inversion"])


def test_it_lies_between_both():
    rng = np.random.default_rng(6)
    lines = keeping(10, 0.4)
    observed = shown(rng, rng.multinomial(500, zipf(10), 50), lines)
    _, point, near, most = parts_of(observed, lines)
    found = from_matrix(observed, lines).counts
    assert (found >= np.minimum(near, most) - 1e-6).all()
    assert (found <= np.maximum(near, most) + 1e-6).all()
    inside = (point >= 0).all(axis=1)
    assert np.array_equal(found[inside], point[inside]), "an estimate without negative counts is left as it is"
    assert 0 < inside.sum() < 50


def test_a_table_of_very_many_values():
    """Neither the product of matrices nor equations between all values: seconds, and nothing is worse for it."""
    rng = np.random.default_rng(7)
    rows, size, kept = 50_000, 160, 0.6
    first = rng.choice(size, rows, p=zipf(size))
    second = (first + rng.geometric(0.4, rows)) % size
    seen = [np.where(rng.random(rows) < kept, own, rng.integers(0, size, rows)) for own in (first, second)]
    truth, observed = (np.bincount(a * size + b, minlength=size**2) for a, b in ((first, second), seen))
    assert size**2 > likelihood.WIDE
    error = errors_of(truth, observed[None], [keeping(size, kept)] * 2)
    assert error["em"] <= 1.01 * error["projection"] < error["inversion"]
