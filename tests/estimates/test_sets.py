"""The estimators against naive versions, by their properties, and by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimates import naive

from sudare.core.errors import ParameterError, UnsupportedError
from sudare.estimates import DEFAULT, ESTIMATORS, from_sets


def zipf(values, power=1.0):
    shares = np.arange(1, values + 1) ** -power
    return shares / shares.sum()


def simulated(seed, values, chosen, size, count, shares):
    """Cells of equal size; ``shares`` is one distribution, or one for each cell."""
    rng = np.random.default_rng(seed)
    cells = np.repeat(np.arange(count), size)
    steps = np.cumsum(np.broadcast_to(shares, (count, values)), axis=1)
    truth = (steps[cells] < rng.random(len(cells))[:, None]).sum(axis=1).clip(max=values - 1)
    return cells, truth, naive.draw(rng, truth, values, chosen)


@st.composite
def tables(draw):
    values = draw(st.integers(2, 9))
    chosen = draw(st.integers(1, values))
    count = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows = draw(st.integers(0, 60))
    cells = rng.integers(-1, count, rows)
    return cells, naive.draw(rng, rng.choice(values, rows, p=zipf(values)), values, chosen), values, count


@pytest.mark.parametrize("eps", [1.0, 0.01])
def test_bayes_is_the_iteration_of_the_paper(eps):
    cells, _, sets = simulated(1, 12, 4, 80, 3, zipf(12))
    found = from_sets(cells, sets, 12, 3, estimator="bayes", eps=eps)
    wanted = [naive.bayes(sets[cells == cell], 12, eps) for cell in range(3)]
    assert found.counts == pytest.approx(np.array([counts for counts, _ in wanted]), abs=1e-9)
    assert found.rounds == max(rounds for _, rounds in wanted)
    if eps == 1.0:
        assert (from_sets(cells, sets, 12, 3, estimator="bayes").counts == found.counts).all()


def test_bayes_converges_to_what_is_most_likely():
    cells, _, sets = simulated(2, 20, 5, 400, 2, zipf(20))
    found = from_sets(cells, sets, 20, 2, estimator="bayes", eps=1e-9)
    for cell in range(2):
        assert found.counts[cell] == pytest.approx(naive.converged_bayes(sets[cells == cell], 20), abs=1e-3)


def test_closed_form_is_unbiased_and_projected():
    cells, _, sets = simulated(3, 10, 3, 150, 4, zipf(10))
    found = from_sets(cells, sets, 10, 4, estimator="closed-form")
    q = 2 / 9
    for cell in range(4):
        point = (naive.holding(sets[cells == cell], 10) - 150 * q) / (1 - q)
        assert found.counts[cell] == pytest.approx(naive.projected(point, 150), abs=1e-9)
    assert found.se == pytest.approx(np.sqrt((150 - found.counts) * q / (1 - q)))


def test_em_is_where_plain_em_ends():
    cells, _, sets = simulated(4, 8, 3, 600, 3, zipf(8, 0.5))
    found = from_sets(cells, sets, 8, 3, estimator="em")
    for cell in range(3):
        assert found.counts[cell] == pytest.approx(naive.em(sets[cells == cell], 8, 5000), abs=0.02)


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(ESTIMATORS), st.randoms())
def test_properties(table, estimator, random):
    cells, sets, values, count = table
    found = from_sets(cells, sets, values, count, estimator=estimator)
    assert (found.records == np.bincount(cells[cells >= 0], minlength=count)).all()
    assert found.counts.shape == found.se.shape == (count, values)
    assert found.counts.min() >= 0
    assert found.counts.sum(axis=1) == pytest.approx(found.records)
    assert (found.low <= found.counts).all()
    assert (found.counts <= found.high).all()
    assert (found.se >= 0).all()
    # neither the order of rows nor that of values within a set says anything
    order = np.array(random.sample(range(len(cells)), len(cells)), dtype=int)
    turned = from_sets(cells[order], sets[order][:, ::-1], values, count, estimator=estimator)
    close = {"abs": 0.02 if estimator == "em" else 1e-4}  # the most likely counts may not be the only ones
    if estimator != "em":
        assert turned.counts == pytest.approx(found.counts, **close)
        assert turned.se == pytest.approx(found.se, abs=1e-3)
    assert turned.records.tolist() == found.records.tolist()
    # nor do the names of the values
    names = np.array(random.sample(range(values), values), dtype=np.uint16)
    named = from_sets(cells, names[sets], values, count, estimator=estimator)
    if estimator != "em":
        assert named.counts[:, names] == pytest.approx(found.counts, **close)


def test_em_does_not_depend_on_order_where_it_is_unique():
    cells, _, sets = simulated(5, 10, 3, 500, 5, zipf(10))
    rng = np.random.default_rng(5)
    order, names = rng.permutation(len(cells)), rng.permutation(10).astype(np.uint16)
    found = from_sets(cells, sets, 10, 5, estimator="em")
    turned = from_sets(cells[order], names[sets[order]], 10, 5, estimator="em")
    assert turned.counts[:, names] == pytest.approx(found.counts, abs=0.02)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_cells_are_solved_alike_on_any_number_of_cores(estimator, monkeypatch):
    cells, _, sets = simulated(6, 14, 5, 90, 40, zipf(14))
    found = from_sets(cells, sets, 14, 40, estimator=estimator)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = from_sets(cells, sets, 14, 40, estimator=estimator)
    assert (alone.counts == found.counts).all()
    assert (alone.se == found.se).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sets_of_the_whole_domain_say_nothing(estimator):
    sets = np.tile(np.arange(2, dtype=np.uint8), (6, 1))
    found = from_sets(np.array([0, 0, 0, 2, 2, -1]), sets, 2, 3, estimator=estimator)
    assert found.counts.tolist() == [[1.5, 1.5], [0, 0], [1, 1]]
    assert found.se.tolist() == [[np.inf, np.inf], [0, 0], [np.inf, np.inf]]
    assert found.low.max() == 0
    assert found.high.tolist() == [[3, 3], [0, 0], [2, 2]]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sets_of_one_value_say_all(estimator):
    found = from_sets(np.array([0, 0, 1, -1]), np.array([[2], [2], [0], [1]]), 3, 3, estimator=estimator)
    for counts in (found.counts, found.low, found.high):
        assert counts.tolist() == [[0, 0, 2], [1, 0, 0], [0, 0, 0]]
    assert found.se.max() == 0
    alone = from_sets(np.array([0, 0]), np.array([[0], [0]]), 1, 1, estimator=estimator)  # a domain of one value
    assert alone.counts.tolist() == [[2]]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_record_and_none(estimator):
    found = from_sets(np.array([1]), np.array([[3, 1]]), 5, 3, estimator=estimator)
    assert found.counts[1] == pytest.approx([0, 0.5, 0, 0.5, 0])
    assert found.low[1].tolist() == [0] * 5
    assert found.high[1].tolist() == [0, 1, 0, 1, 0]
    assert found.se[1][[1, 3]].min() > 0
    for empty in (found.counts[0], found.se[0], found.high[2]):
        assert empty.tolist() == [0] * 5
    nobody = from_sets(np.empty(0, int), np.empty((0, 2), np.uint8), 5, 2, estimator=estimator)
    assert nobody.counts.tolist() == [[0] * 5] * 2


def test_squared_error_against_the_converged_iteration():
    """At |S| = 50 and l = 10 it is at most 0.8 times that of the paper's estimator, in all cells together."""
    rng = np.random.default_rng(7)
    for size, count in ((500, 60), (5000, 6)):
        turned = rng.permuted(np.tile(zipf(50), (count, 1)), axis=1)
        for shares in (zipf(50), rng.dirichlet(20 * zipf(50), count), turned):
            cells, truth, sets = simulated(size, 50, 10, size, count, shares)
            true = naive.tally(cells, truth, 50, count)
            paper = np.array([naive.converged_bayes(sets[cells == cell], 50) for cell in range(count)])
            found = from_sets(cells, sets, 50, count)
            assert ((found.counts - true) ** 2).mean() <= 0.8 * ((paper - true) ** 2).mean()


def test_small_cells_are_not_worse_than_the_converged_iteration():
    """Where maximum likelihood alone is: cells of a few records."""
    cells, truth, sets = simulated(8, 15, 5, 6, 400, np.random.default_rng(8).dirichlet(8 * zipf(15), 400))
    true = naive.tally(cells, truth, 15, 400)
    paper = np.array([naive.converged_bayes(sets[cells == cell], 15) for cell in range(400)])

    def error(counts):
        return ((counts - true) ** 2).mean()

    assert error(from_sets(cells, sets, 15, 400, estimator="em").counts) > error(paper)
    assert error(from_sets(cells, sets, 15, 400).counts) < 0.8 * error(paper)


def test_a_cell_that_is_different_is_not_drawn_to_the_others():
    shares = np.tile(zipf(50), (100, 1))
    shares[0] = shares[0][::-1]
    cells, truth, sets = simulated(9, 50, 10, 500, 100, shares)
    true = naive.tally(cells, truth, 50, 100)[0]
    paper = naive.converged_bayes(sets[cells == 0], 50)
    found = from_sets(cells, sets, 50, 100).counts[0]
    assert ((found - true) ** 2).sum() < 1.1 * ((paper - true) ** 2).sum()


@pytest.mark.parametrize("estimator", ["closed-form", "em", DEFAULT])
@pytest.mark.parametrize(("values", "chosen", "power"), [(50, 10, 1.0), (50, 10, 0.0), (14, 5, 1.0), (5, 2, 2.0)])
def test_coverage(estimator, values, chosen, power):
    """95 % intervals hold the truth of 93 to 97 % of cells of 500 records, for rare values as for frequent ones."""
    count = 300
    cells, truth, sets = simulated(values + chosen, values, chosen, 500, count, zipf(values, power))
    true = naive.tally(cells, truth, values, count)
    found = from_sets(cells, sets, values, count, estimator=estimator)
    covered = (found.low <= true) & (true <= found.high)
    assert 0.93 <= covered.mean() <= 0.97
    assert covered[:, : values // 3 + 1].mean() == pytest.approx(0.95, abs=0.03)
    assert covered[:, -(values // 3 + 1) :].mean() == pytest.approx(0.95, abs=0.03)


def test_standard_errors_are_as_large_as_the_errors():
    for values, chosen, size, count in ((6, 2, 2000, 60), (50, 10, 500, 60), (200, 5, 40, 100)):
        shares = np.random.default_rng(10).dirichlet(30 * zipf(values, 0.7), count)
        cells, truth, sets = simulated(10, values, chosen, size, count, shares)
        true = naive.tally(cells, truth, values, count)
        for estimator in ("em-shrunk", "closed-form"):
            found = from_sets(cells, sets, values, count, estimator=estimator)
            ratio = np.sqrt((found.se**2).mean() / ((found.counts - true) ** 2).mean())
            assert 0.8 < ratio < (1.3 if estimator == "em-shrunk" else 4)


def test_a_lower_level_has_narrower_limits():
    cells, _, sets = simulated(11, 20, 4, 300, 2, zipf(20))
    wide, narrow = (from_sets(cells, sets, 20, 2, level=level) for level in (0.99, 0.8))
    assert (narrow.high - narrow.low < wide.high - wide.low).mean() > 0.95


def test_progress_is_told():
    heard = []
    from_sets(np.zeros(5, int), np.array([[0, 1]] * 5), 4, 1, progress=lambda *told: heard.append(told))
    assert heard[-1][0] == "estimate"
    assert heard[-1][1] == heard[-1][2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": "bayse"}, "Did you mean 'bayes'"),
        ({"eps": 0.1}, "only 'bayes' uses it"),
        ({"estimator": "bayes", "eps": 0.0}, "above 0"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"sets": np.array([[0, 0], [1, 2]])}, "twice"),
        ({"sets": np.array([[0, 4], [1, 2]])}, "outside 0 to 3"),
        ({"sets": np.array([[0.0, 1.0], [1.0, 2.0]])}, "whole numbers"),
        ({"sets": np.array([0, 1])}, "one line"),
        ({"sets": np.array([[0, 1, 2, 3, 4]] * 2)}, "one line"),
        ({"cells": np.array([0, 3])}, "outside -1 to 1"),
        ({"cells": np.array([0])}, "one line"),
    ],
)
def test_bad_input(change, message):
    good = {"cells": np.array([0, 1]), "sets": np.array([[0, 1], [1, 2]]), "values": 4, "count": 2}
    with pytest.raises(ParameterError, match=message):
        from_sets(**(good | change))


def test_too_many_cells_are_refused():
    with pytest.raises(UnsupportedError, match="fewer cells"):
        from_sets(np.array([0]), np.array([[0, 1]]), 30_000, 30_000)
