"""Matrices along axes: those in their short form do what the whole matrices do."""

from functools import reduce

import numpy as np
import pytest

from sudare.estimates import factors
from sudare.estimates.factors import Even, Whole, along, drawing_of


def by_shares(rng, values, kept):
    """Keep a value with one probability, or draw any by its share: a matrix without symmetry."""
    return kept * np.eye(values) + (1 - kept) * rng.dirichlet(np.ones(values))


@pytest.mark.parametrize("kept", [0.05, 0.5, 0.95, 1.0])
def test_the_short_form_is_the_whole_matrix(kept, monkeypatch):
    rng = np.random.default_rng(0)
    given = [by_shares(rng, 15, kept), kept * np.eye(13) + (1 - kept) / 13, rng.dirichlet(np.ones(3), 3)]
    short = drawing_of(given)
    monkeypatch.setattr(factors, "SMALL", 1000)
    whole = drawing_of(given)
    assert [type(part) for part in short.forth] == [Even, Even, Whole]
    assert {type(part) for part in whole.forth} == {Whole}
    lines = rng.random((4, 15 * 13 * 3))
    for name in ("forth", "back", "squares", "cubes"):
        for turn in (False, True):
            ones, others = ([part.turned if turn else part for part in getattr(made, name)] for made in (short, whole))
            expected = along(lines, others)
            assert along(lines, ones) == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())
    assert short.own() == pytest.approx(whole.own(), rel=1e-7, abs=1e-7)
    assert short.others(lines) == pytest.approx(whole.others(lines), rel=1e-7, abs=1e-7)


def test_it_is_the_product_of_all_matrices():
    rng = np.random.default_rng(1)
    given = [by_shares(rng, 14, 0.4), rng.dirichlet(np.ones(3), 3) * 0.5 + 0.5 * np.eye(3)]
    product, drawing = reduce(np.kron, given), drawing_of(given)
    lines = rng.random((2, 42))
    assert drawing.shown(lines) == pytest.approx(lines @ product)
    assert drawing.traced(lines) == pytest.approx(lines @ product.T)
    assert drawing.unbiased(lines) == pytest.approx(lines @ np.linalg.inv(product))
    assert drawing.curvature(lines)[1] == pytest.approx(product @ np.diag(lines[1]) @ product.T)


def test_the_variance_of_a_sum():
    rng = np.random.default_rng(2)
    given = [by_shares(rng, 14, 0.4), rng.dirichlet(np.ones(3), 3) * 0.5 + 0.5 * np.eye(3)]
    product = reduce(np.kron, given)
    back, counts, sums = np.linalg.inv(product), rng.random((2, 42)), rng.random((2, 42))
    found = drawing_of(given).variance_of(sums, counts)
    for cell in range(2):
        covariance = back.T @ np.diag(counts[cell] @ product) @ back - np.diag(counts[cell])
        assert found[cell] == pytest.approx(sums[cell] @ covariance @ sums[cell])


def test_matrices_that_differ_a_little_are_whole():
    lines = 0.5 * np.eye(20) + 0.5 / 20
    lines[3, 4] += 1e-6
    lines[3, 5] -= 1e-6
    assert isinstance(drawing_of(lines).forth[0], Whole)
    keeps = np.diag(np.linspace(0.3, 0.7, 20))  # kept with different probabilities
    lines = keeps + (1 - np.diag(keeps))[:, None] / 20
    assert isinstance(drawing_of(lines).forth[0], Whole)
