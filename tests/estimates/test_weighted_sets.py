"""Sets whose dummies were drawn with unequal weights: the estimators against naive versions, and by simulation."""

from itertools import combinations

import numpy as np
import pytest
from tests.estimates import naive

from sudare.core.errors import ParameterError, UnsupportedError
from sudare.estimates import from_sets, set_counts
from sudare.kernels import random_cells


def zipf(values, power=1.0):
    shares = np.arange(1, values + 1) ** -power
    return shares / shares.sum()


def draw(rng, truth, weights, chosen):
    """Hide the truth among dummies by the library's own kernel, which has tests of its own."""
    words = rng.integers(0, 2**32, 2 * chosen * len(truth), dtype=np.uint32)
    lines = np.empty((len(truth), chosen), np.uint32)
    done, _ = random_cells.draw_weighted(
        truth.astype(np.uint32), random_cells.weigh_sets(weights, chosen), words, lines
    )
    assert done == len(truth)
    return lines


def simulated(seed, values, chosen, size, count, shares):
    """Cells of equal size, with dummies as frequent as the values; also return the logarithms of the factors."""
    rng = np.random.default_rng(seed)
    cells = np.repeat(np.arange(count), size)
    steps = np.cumsum(np.broadcast_to(shares, (count, values)), axis=1)
    truth = (steps[cells] < rng.random(len(cells))[:, None]).sum(axis=1).clip(max=values - 1)
    weights = np.maximum(np.bincount(truth, minlength=values), 1) / len(truth)
    return cells, truth, draw(rng, truth, weights, chosen), random_cells.log_factors(weights, chosen)


def weighted_em(lines, values, factors, steps):
    """Take steps of plain EM, from equal counts."""
    held = naive.indicators(lines, values) * factors
    counts = np.full(values, len(lines) / values)
    for _ in range(steps):
        counts = counts * (held / (held @ counts)[:, None]).sum(axis=0)
    return counts


def test_em_is_where_plain_em_ends():
    cells, _, lines, logs = simulated(1, 8, 3, 600, 3, zipf(8))
    found = from_sets(cells, lines, 8, 3, estimator="em", log_factors=logs)
    shifted = from_sets(cells, lines, 8, 3, estimator="em", log_factors=logs - 700)  # what is in proportion is the same
    for cell in range(3):
        wanted = weighted_em(lines[cells == cell], 8, np.exp(logs), 5000)
        assert found.counts[cell] == pytest.approx(wanted, abs=0.05)
    assert shifted.counts == pytest.approx(found.counts, abs=1e-6)
    assert (found.counts - from_sets(cells, lines, 8, 3, estimator="em").counts).max() > 10  # factors matter


@pytest.mark.parametrize(("size", "values", "chosen"), [(400, 8, 3), (3000, 30, 6), (60, 40, 10)])
def test_the_conditions_of_a_maximum(size, values, chosen):
    """Kuhn and Tucker: the slope is 1 where a count is positive, and not above 1 elsewhere; in wide cells as well."""
    cells, _, lines, logs = simulated(size, values, chosen, size, 1, zipf(values))
    counts = from_sets(cells, lines, values, 1, estimator="em", log_factors=logs).counts[0]
    held = naive.indicators(lines, values) * np.exp(logs - logs.min())
    slopes = (held / (held @ counts)[:, None]).sum(axis=0)
    assert slopes.max() <= 1 + 1e-4
    assert slopes[counts > 0.1] == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("estimator", ["em", "em-shrunk"])
def test_equal_factors_are_no_factors(estimator):
    cells, _, lines, _ = simulated(3, 10, 4, 120, 5, zipf(10))
    plain = from_sets(cells, lines, 10, 5, estimator=estimator)
    found = from_sets(cells, lines, 10, 5, estimator=estimator, log_factors=np.full(10, -3.0))
    assert found.counts == pytest.approx(plain.counts, abs=1e-3)
    assert found.se == pytest.approx(plain.se, abs=1e-3)
    assert found.low == pytest.approx(plain.low, abs=1e-3)
    assert found.high == pytest.approx(plain.high, abs=1e-3)


@pytest.mark.parametrize(("values", "chosen"), [(5, 2), (6, 3), (7, 6)])
def test_what_is_held_by_chance(values, chosen):
    """The probability that a set holds a value, given the truth, is that of listing all sets."""
    weights = zipf(values, 1.5)
    weights[2] = weights[3]
    inclusion = set_counts._inclusion(random_cells.log_factors(weights, chosen), chosen)
    for truth in range(values):
        others = [value for value in range(values) if value != truth]
        chances = {some: np.prod(weights[list(some)]) for some in combinations(others, chosen - 1)}
        total = sum(chances.values())
        for value in others:
            wanted = sum(chance for some, chance in chances.items() if value in some) / total
            assert inclusion.given[inclusion.kinds[truth], inclusion.kinds[value]] == pytest.approx(wanted, abs=1e-6)
    assert len(inclusion.given) == values - 1  # values of the same weight are alike
    counts = np.arange(1.0, values + 1)[None] * 1e6
    rates = inclusion.rates(counts)[0]
    for value in range(values):
        rest = [other for other in range(values) if other != value]
        given = inclusion.given[inclusion.kinds[rest], inclusion.kinds[value]]
        assert rates[value] == pytest.approx(given @ counts[0, rest] / counts[0, rest].sum(), abs=1e-5)


@pytest.mark.parametrize("estimator", ["em", "em-shrunk"])
@pytest.mark.parametrize(("values", "chosen", "power"), [(50, 10, 1.0), (14, 5, 1.0), (5, 2, 2.0)])
def test_coverage(estimator, values, chosen, power):
    """95 % intervals hold the truth of 93 to 97 % of cells of 500 records, for rare values as for frequent ones."""
    count = 300
    cells, truth, lines, logs = simulated(values, values, chosen, 500, count, zipf(values, power))
    true = naive.tally(cells, truth, values, count)
    found = from_sets(cells, lines, values, count, estimator=estimator, log_factors=logs)
    covered = (found.low <= true) & (true <= found.high)
    assert 0.93 <= covered.mean() <= 0.97
    assert covered[:, : values // 3 + 1].mean() == pytest.approx(0.95, abs=0.03)
    assert covered[:, -(values // 3 + 1) :].mean() == pytest.approx(0.95, abs=0.03)


def test_standard_errors_are_as_large_as_the_errors():
    for values, chosen, size, count in ((6, 2, 2000, 60), (50, 10, 500, 100)):
        shares = np.random.default_rng(10).dirichlet(30 * zipf(values, 0.7), count)
        cells, truth, lines, logs = simulated(10, values, chosen, size, count, shares)
        true = naive.tally(cells, truth, values, count)
        for estimator in ("em", "em-shrunk"):
            found = from_sets(cells, lines, values, count, estimator=estimator, log_factors=logs)
            ratio = np.sqrt((found.se**2).mean() / ((found.counts - true) ** 2).mean())
            assert 0.8 < ratio < 1.3


def test_shrinking_helps_small_cells():
    cells, truth, lines, logs = simulated(8, 15, 5, 12, 300, np.random.default_rng(8).dirichlet(8 * zipf(15), 300))
    true = naive.tally(cells, truth, 15, 300)
    alone, shrunk = (
        ((from_sets(cells, lines, 15, 300, estimator=name, log_factors=logs).counts - true) ** 2).mean()
        for name in ("em", "em-shrunk")
    )
    assert shrunk < 0.7 * alone


def test_a_value_in_all_records_and_cells_of_few():
    weights = zipf(6)
    rng = np.random.default_rng(9)
    lines = draw(rng, np.zeros(40, int), weights, 3)
    cells = np.where(np.arange(40) < 39, 0, 2)
    found = from_sets(cells, lines, 6, 4, log_factors=random_cells.log_factors(weights, 3))
    assert np.isfinite(found.counts).all()
    assert np.isfinite(found.se).all()
    assert found.counts.sum(axis=1) == pytest.approx([39, 0, 1, 0])
    assert (found.low <= found.counts).all()
    assert (found.counts <= found.high).all()
    assert found.high[0, 0] == 39


@pytest.mark.parametrize("estimator", ["closed-form", "bayes"])
def test_estimators_that_know_no_weights_are_refused(estimator):
    with pytest.raises(UnsupportedError, match="use em"):
        from_sets(np.array([0]), np.array([[0, 1]]), 4, 1, estimator=estimator, log_factors=np.zeros(4))


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        (np.zeros(3), "every value needs one"),
        (np.array([0.0, 0.0, np.nan, 0.0]), "finite"),
        (np.array([0.0, 0.0, 99.0, 0.0]), "differ by 99"),
        (np.array([0.0, 9.0, 9.0, 9.0]), "no weights have such factors"),
    ],
)
def test_bad_factors(logs, message):
    with pytest.raises(ParameterError, match=message):
        from_sets(np.array([0]), np.array([[0, 1]]), 4, 1, log_factors=logs)


def test_sets_of_one_value_or_of_all_need_no_factors():
    logs = np.array([0.0, 1.0, 2.0])
    exact = from_sets(np.array([0, 0]), np.array([[2], [0]]), 3, 1, log_factors=logs)
    assert exact.counts.tolist() == [[1, 0, 1]]
    nothing = from_sets(np.array([0, 0]), np.array([[2, 1, 0]] * 2), 3, 1, log_factors=logs)
    assert nothing.se.tolist() == [[np.inf] * 3]


def test_too_many_weights_are_refused(monkeypatch):
    monkeypatch.setattr(set_counts, "MOST_WEIGHTS", 3)
    with pytest.raises(UnsupportedError, match="rounded weights"):
        from_sets(np.array([0]), np.array([[0, 1]]), 6, 1, log_factors=random_cells.log_factors(zipf(6), 2))
