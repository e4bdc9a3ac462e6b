"""Noise: its variance, the covariances that it keeps, totals and bounds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sudare.core.errors import DataError, PolicyError
from sudare.core.randomness import Entropy
from sudare.engines import open_table
from sudare.policy import NoiseSpec
from sudare.sources.opened_source import read
from sudare.transformations.noise import Noise, correlated, laplace, normal
from sudare.transformations.step import Findings, Place

from .conftest import policy_of


def with_noise(values, **spec):
    source, _ = read(
        open_table(pa.table({"x": values, "q": ["a"] * len(values)})).table(), policy_of({"x": {"noise": spec}}), seed=5
    )
    found = source.table().column("x")
    return np.array(found.to_pylist()), source.facts()[0]["figures"], found.type


def test_the_distributions():
    found = normal(Entropy(1), 400_001)
    assert abs(found.mean()) < 0.01
    assert abs(found.var() - 1) < 0.01
    assert abs((found**4).mean() - 3) < 0.05
    found = laplace(Entropy(1), 400_000)
    assert abs(found.mean()) < 0.01
    assert abs(found.var() - 2) < 0.03
    assert abs((found**4).mean() - 24) < 1.5


@pytest.mark.parametrize("kind", ["normal", "laplace"])
@pytest.mark.parametrize("size", [{"sd": 0.3}, {"scale": 4.0}])
def test_the_published_variance_is_that_of_the_noise(kind, size):
    values = np.random.default_rng(2).normal(50, 20, 200_000)
    found, figures, _ = with_noise(values, kind=kind, **size)
    assert np.var(found - values) == pytest.approx(figures["error_variance"], rel=0.03)


def test_whole_numbers_stay_whole_and_rounding_is_in_the_variance():
    values = np.arange(100_000) % 100
    found, figures, kind = with_noise(values, scale=0.5)
    assert kind == pa.int64()
    assert figures["rounded"]
    assert np.var(found - values) == pytest.approx(0.25 + 1 / 12, rel=0.05)
    assert figures["error_variance"] == pytest.approx(0.25 + 1 / 12, rel=0.01)


@pytest.mark.parametrize("values", [np.arange(999), np.linspace(0, 7, 1000)])
def test_totals_are_kept(values):
    found, _, _ = with_noise(values, sd=0.5, keep_total=True)
    assert found.sum() == pytest.approx(values.sum(), rel=1e-12)
    assert (found != values).mean() > 0.9


def test_bounds_hold():
    found, figures, _ = with_noise(np.full(1000, 1.0), scale=5.0, bounds=[0, 2])
    assert (found.min(), found.max()) == (0, 2)
    assert figures["bounded"]
    found, _, _ = with_noise(np.arange(100), scale=50, bounds=[0.5, 99.5])
    assert (found.min(), found.max()) == (1, 99)


def test_factors():
    values = np.full(100_000, 200.0)
    found, figures, _ = with_noise(values, scale=0.1, kind="multiplicative")
    assert figures["factor_sd"] == 0.1
    assert np.std(found / values) == pytest.approx(0.1, rel=0.03)


def test_correlated_noise_inflates_all_covariances_by_the_same_factor():
    """The golden of the specification: 10,000 repetitions of 200 rows, within the error of sampling."""
    rng, entropy, sd = np.random.default_rng(7), Entropy(7), 0.4
    spec = NoiseSpec(sd=sd, correlated_with=["b"])
    parts = [Noise(Place(name, 0, "noise"), spec, entropy, of_text=False) for name in "abc"]
    data = rng.multivariate_normal([0, 5, 9], [[4, 1, -1], [1, 2, 0.5], [-1, 0.5, 1]], 200)
    before = np.cov(data, rowvar=False)
    repetitions, ratios = 10_000, []
    for _ in range(repetitions):
        shown = correlated([(part, pa.array(data[:, at])) for at, part in enumerate(parts)], entropy, Findings())
        ratios.append(np.cov(np.stack([each.to_numpy() for each in shown])) / before)
    mean, error = np.mean(ratios, axis=0), np.std(ratios, axis=0) / np.sqrt(repetitions)
    assert (np.abs(mean - (1 + sd**2)) < 4 * error).all()


def test_correlated_noise_in_a_policy_needs_all_of_its_columns():
    noise = {"sd": 0.2, "correlated_with": ["y"]}
    with pytest.raises(PolicyError, match="'y' needs noise with the same sd"):
        policy_of({"x": {"noise": noise}, "y": {"noise": {"sd": 0.3, "correlated_with": ["x"]}}})
    both = {"x": [{"top": 80}, {"noise": noise}], "y": {"noise": {"sd": 0.2, "correlated_with": ["x"]}}}
    data = np.random.default_rng(1).multivariate_normal([50, 9], [[90, 40], [40, 30]], 50_000)
    table = pa.table({"x": data[:, 0], "y": data[:, 1], "q": ["a"] * len(data)})
    source, _ = read(open_table(table).table(), policy_of(both))
    found = source.table()
    capped = np.minimum(data[:, 0], 80)
    shown = np.cov(found.column("x").to_numpy(), found.column("y").to_numpy())
    assert shown == pytest.approx(1.04 * np.cov(capped, data[:, 1]), rel=0.03)


def test_missing_numbers_stay_missing():
    table = pa.table({"x": pa.array([1.0, None, 3.0]), "q": ["a"] * 3})
    source, _ = read(open_table(table).table(), policy_of({"x": {"noise": {"sd": 1.0}}}))
    assert [each is None for each in source.table().column("x").to_pylist()] == [False, True, False]


@pytest.mark.parametrize("values", [np.full(10, 3.0), np.array([7])])
def test_where_there_would_be_no_noise_there_is_an_error(values):
    with pytest.raises(DataError, match="there would be no noise"):
        with_noise(values, sd=0.5)
    with pytest.raises(DataError, match="keep_total leaves it as it is"):
        with_noise(values[:1], scale=1, keep_total=True)
