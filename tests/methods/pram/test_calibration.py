"""How much may be kept: the published table, slow versions, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from papers import published_pram
from papers.published_pram import PUBLISHED
from sudare.core.errors import ParameterError
from sudare.datasets import adult
from sudare.methods.pram import Limit, calibrate, pk_figure, uniform_alpha, uniform_gamma, uniform_ratio

ROWS = 32_561
SIZES = [2, 7, 6, 5]
"""Income, marital status, relationship and race."""
PLACE = {"income": 0, "relationship": 2}
ROUNDED = {name: list(shares.values()) for name, shares in published_pram.ROUNDED.items()}
EXACT = {
    # with priors that are not rounded: p by alpha and by gamma
    ("income", 0.8): (0.467072, 0.811283),
    ("income", 0.77): (0.245738, 0.338426),
    ("relationship", 0.5): (0.341385, 0.750003),
    ("relationship", 0.47): (0.275321, 0.547088),
}


def counted(column):
    cells = adult()[column].to_pylist()
    assert len(cells) == ROWS
    assert None not in cells
    return np.unique(cells, return_counts=True)[1] / ROWS


def told(*args, **asked):
    with pytest.raises(ParameterError) as caught:
        calibrate(*args, **asked)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_published_table(case):
    sensitive, k, alpha, gamma, *expected = case
    found = calibrate(ROWS, SIZES, k=k, limits=[(PLACE[sensitive], ROUNDED[sensitive], alpha, gamma)])
    figures = [found.bounds["pk"], found.bounds["alpha"], found.bounds["gamma"], found.p]
    assert [math.floor(p * 10_000) / 10_000 for p in figures] == expected
    assert found.binding == ("pk" if expected[3] == expected[0] else "alpha")
    assert found.attribute == (None if found.binding == "pk" else PLACE[sensitive])
    assert found.retention == (found.p,) * 4


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_published_table_from_the_data(case):
    sensitive, k, alpha, gamma, *expected = case
    found = calibrate(ROWS, SIZES, k=k, limits=[(PLACE[sensitive], counted(sensitive), alpha, gamma)])
    assert (found.bounds["alpha"], found.bounds["gamma"]) == pytest.approx(EXACT[sensitive, alpha], abs=1e-6)
    # rounding the priors moved the results by this much
    assert [found.bounds["pk"], found.bounds["alpha"], found.p] == pytest.approx(
        [expected[0], expected[1], expected[3]], abs=0.002
    )
    assert found.bounds["gamma"] == pytest.approx(expected[2], abs=0.006)


@st.composite
def requests(draw):
    sizes = draw(st.lists(st.integers(2, 9), min_size=1, max_size=4))
    n = draw(st.integers(2, 10**6))
    k = draw(st.none() | st.integers(2, n))
    limits = []
    for place in range(draw(st.integers(0 if k else 1, 2))):
        attribute = draw(st.integers(0, len(sizes) - 1))
        parts = np.array(draw(st.lists(st.integers(1, 500), min_size=sizes[attribute], max_size=sizes[attribute])))
        prior = parts / parts.sum()
        alpha = draw(st.floats(float(prior.max()), 1) if place == 0 else st.none())
        limits.append(Limit(attribute, prior, alpha, draw(st.floats(0, float(prior.min())))))
    return n, sizes, k, limits


def keeps(n, sizes, k, limits, retention):
    return (k is None or pk_figure(n, map(uniform_ratio, sizes, retention)) >= k) and all(
        (limit.alpha is None or uniform_alpha(limit.prior, retention[limit.attribute]) <= limit.alpha)
        and (limit.gamma is None or uniform_gamma(limit.prior, retention[limit.attribute]) >= limit.gamma)
        for limit in limits
    )


@settings(deadline=None)
@given(requests(), st.data())
def test_everything_is_kept_and_with_a_little_more_it_is_not(request, data):
    n, sizes, k, limits = request
    weights = data.draw(st.none() | st.lists(st.floats(0.01, 100), min_size=len(sizes), max_size=len(sizes)))
    found = calibrate(n, sizes, k=k, limits=limits, weights=weights)
    assert keeps(n, sizes, k, limits, found.retention)
    assert keeps(n, sizes, k, limits, [found.p] * len(sizes))
    for less in np.linspace(0, found.p, 20):
        assert keeps(n, sizes, k, limits, [less] * len(sizes))
    if found.p < 1 - 1e-4:
        assert not keeps(n, sizes, k, limits, [found.p + 1e-4] * len(sizes))
    if weights is None:
        assert set(found.held_by) == {found.binding}
        return
    for place, held in enumerate(found.held_by):
        more = list(found.retention)
        more[place] += 1e-4
        assert (held is None) == (found.retention[place] == 1)
        assert held is None or more[place] > 1 or not keeps(n, sizes, k, limits, more)


def test_the_bound_by_gamma_is_where_it_is_first_lost():
    """Around p = 0.6 too little is believed of the rare value, at 0.9 enough again."""
    prior = [0.6, 0.3999, 0.0001]
    gamma = 0.98e-4
    p = calibrate(100, [3], limits=[(0, prior, None, gamma)]).p
    grid = np.linspace(0, 1, 100_001)
    lost = grid[[uniform_gamma(prior, float(at)) < gamma for at in grid]][0]
    assert lost - 1e-5 <= p < lost
    assert uniform_gamma(prior, 0.9) > gamma
    # just below its lowest point before that, nothing is passed over; just above, all of the dip is
    lowest = min(uniform_gamma(prior, float(at)) for at in grid[50_000:70_000])
    assert calibrate(100, [3], limits=[(0, prior, None, lowest * (1 + 1e-6))]).p < 0.63
    assert calibrate(100, [3], limits=[(0, prior, None, lowest * (1 - 1e-6))]).p > 0.98


def test_bounds_are_found_to_twelve_digits():
    # of equally frequent values 1/m (1 - p²) is believed of those that are not true
    for m, share in ((2, 0.9), (5, 0.5), (10, 0.01)):
        found = calibrate(10, [m], limits=[(0, np.full(m, 1 / m), None, share / m)])
        assert found.p == pytest.approx(math.sqrt(1 - share), abs=1e-12)
    # one attribute of two values: (1 - p) / (1 + p) = sqrt((k - 1) / (n - 1))
    assert calibrate(101, [2], k=5).p == pytest.approx(0.8 / 1.2, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "sizes", "k", "weights", "limits"),
    [
        (ROWS, [2, 7], 3, [1, 1], []),
        (ROWS, [2, 50], 10, [1, 5], []),
        (500, [40, 3], 4, [0.2, 2], []),
        (ROWS, [2, 7], 3, [1, 1], [(0, [0.759, 0.241], 0.77, 0.22)]),
        (ROWS, [6, 2], 3, [1, 10], [(0, ROUNDED["relationship"], 0.5, None), (1, [0.5, 0.5], 0.9, 0.01)]),
        (300, [3, 3, 8], 5, [1, 2, 3], []),
    ],
)
def test_weights_against_a_grid(n, sizes, k, weights, limits):
    found = calibrate(n, sizes, k=k, weights=weights, limits=limits)

    def worth(retention):
        return sum(weight * math.log(p) for weight, p in zip(weights, retention, strict=True))

    asked = [Limit(*limit) for limit in limits]
    steps = np.linspace(0.002, 0.998, 499 if len(sizes) == 2 else 70)
    fit = [
        [p for p in steps if keeps(n, sizes, None, [a for a in asked if a.attribute == at], [p] * len(sizes))]
        for at in range(len(sizes))
    ]
    ratios = [np.array([uniform_ratio(size, p) for p in some]) for size, some in zip(sizes, fit, strict=True)]
    figures = 1 + (n - 1) * np.prod(np.meshgrid(*ratios, indexing="ij"), axis=0) ** 2
    gains = [weight * np.log(some) for weight, some in zip(weights, fit, strict=True)]
    best = np.where(figures >= k, np.sum(np.meshgrid(*gains, indexing="ij"), axis=0), -np.inf).max()
    assert best <= worth(found.retention) + 1e-9
    assert best >= worth(found.retention) - (0.1 if len(sizes) == 2 else 0.4)
    assert worth(found.retention) >= worth([found.p] * len(sizes)) - 1e-9


def test_weights_without_k_leave_each_attribute_its_own_limit():
    found = calibrate(
        100, [2, 3, 4], weights=[1, 1, 1], limits=[(0, [0.5, 0.5], 0.7, None), (1, [0.4, 0.3, 0.3], 1, 0.2)]
    )
    assert found.retention == pytest.approx((math.sqrt(0.4), found.bounds["gamma"], 1))
    assert found.held_by == ("alpha", "gamma", None)
    assert found.p == min(found.retention)


def test_a_larger_weight_keeps_more():
    first, second = (calibrate(ROWS, [5, 5], k=3, weights=[1, w]).retention for w in (1, 3))
    assert first[0] == pytest.approx(first[1])
    assert second[1] > first[1] > second[0]
    scaled = calibrate(ROWS, [5, 5], k=3, weights=[1e-300, 3e-300]).retention
    assert scaled == pytest.approx(second)
    little, much = calibrate(ROWS, [5, 5], k=3, weights=[1e-300, 1e300]).retention
    assert (little, much) == pytest.approx((0, calibrate(ROWS, [5], k=3).p), abs=1e-9)


def test_the_edges():
    assert calibrate(10, [3, 4], k=10).p == 0
    assert calibrate(10, [3, 4], k=10, weights=[1, 2]).retention == (0, 0)
    exact = calibrate(10, [2], limits=[(0, [0.75, 0.25], 0.75, 0.25)])
    assert (exact.p, exact.binding) == (0, "alpha")
    free = calibrate(10, [2], limits=[(0, [0.75, 0.25], 1, 0)])
    assert (free.p, free.binding, free.attribute, free.held_by) == (1, None, None, (None,))


def test_curves_show_each_figure_and_its_limit():
    found = calibrate(ROWS, SIZES, k=3, limits=[(0, ROUNDED["income"], 0.77, 0.22), (2, ROUNDED["relationship"], 0.5)])
    assert [(c.condition, c.attribute, c.limit) for c in found.curves] == [
        ("pk", None, 3),
        ("alpha", 0, 0.77),
        ("gamma", 0, 0.22),
        ("alpha", 2, 0.5),
    ]
    pk, alpha, gamma, _ = found.curves
    assert (pk.figure[0], pk.figure[-1]) == (ROWS, 1)
    assert (alpha.figure[0], gamma.figure[0]) == (0.759, 0.241)
    assert alpha.p[25] == 0.25
    assert alpha.figure[25] == uniform_alpha(ROUNDED["income"], 0.25)
    for curve in found.curves:  # the curve crosses its limit where the bound is
        fits = curve.figure <= curve.limit if curve.condition == "alpha" else curve.figure >= curve.limit
        if curve.attribute != 2:
            assert curve.p[fits][-1] <= found.bounds[curve.condition] < curve.p[~fits][0]


def test_limits_below_the_prior_are_told_with_the_nearest_that_can_be_kept():
    prior = [0.759, 0.241]
    (both,) = told(100, [2], limits=[(0, prior, 0.7, 0.3)])
    assert both.startswith("limits[0]: alpha = 0.7, gamma = 0.3 cannot be kept")
    assert "0.759, and the rarest 0.241" in both
    assert both.endswith("the nearest that can be kept are alpha = 0.7591, gamma = 0.2409.")
    assert told(100, [2], limits=[(0, prior, 0.7, 0.1)])[0].endswith("alpha = 0.7591, gamma = 0.1.")
    assert told(100, [2], limits=[(0, prior, 0.9, 0.3)])[0].endswith("alpha = 0.9, gamma = 0.2409.")
    assert told(100, [2], limits=[(0, prior, None, 0.3)])[0].endswith("alpha = none, gamma = 0.2409.")
    assert told(100, [2], limits=[(0, [0.99999, 0.00001], 0.5, 0.3)])[0].endswith("alpha = 1, gamma = 0.")
    assert calibrate(100, [2], limits=[(0, prior, 0.7591, 0.2409)]).p > 0
    assert told(100, [2], limits=[(0, [0.71, 0.29], 0.5, 0.5)])[0].endswith("alpha = 0.7101, gamma = 0.2899.")


def test_everything_wrong_is_told_at_once():
    found = told(
        10,
        [1, 3, 0, "a"],
        k=11,
        limits=[
            (1, [0.5, 0.5, 0.0], 0.4, 0.1),
            (1, [0.5, 0.4, 0.2], 1.5, -0.1),
            (9, [1.0], 0.5, 0.1),
            (1, [0.5, 0.5], 0.5, 0.1),
            (1,),
            7,
        ],
        weights=[1, 0, -1],
    )
    beginnings = [
        "sizes[0]: an attribute with one value",
        "sizes[2]: got 0",
        "sizes[3]: got 'a'",
        "k: got 11, which 10 records cannot keep",
        "limits[0].prior: 1 of the values have the probability 0",
        "limits[1].alpha: got 1.5",
        "limits[1].gamma: got -0.1",
        "limits[1].prior: adds up to 1.1",
        "limits[2].attribute: got 9",
        "limits[3].prior: has 2 values, and the attribute 3",
        "limits[4]: is not an attribute",
        "limits[5]: is not an attribute",
        "weights: are not one number for each of the 4",
    ]
    assert len(found) == len(beginnings)
    for problem, beginning in zip(found, beginnings, strict=True):
        assert problem.startswith(beginning), problem


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"k": 1}, "k"),
        ({"k": 2.0}, "k"),
        ({"k": True}, "k"),
        ({}, "no requirement is given"),
        ({"limits": [(0, [0.5, 0.5], None, None)]}, "no requirement is given"),
        ({"limits": [(True, [0.5, 0.5], 0.9, None)]}, "limits[0].attribute"),
        ({"limits": [(-1, [0.5, 0.5], 0.9, None)]}, "limits[0].attribute"),
        ({"limits": [(0, [0.5, 0.5], 0, None)]}, "limits[0].alpha"),
        ({"limits": [(0, [0.5, 0.5], None, float("nan"))]}, "limits[0].gamma"),
        ({"limits": [(0, None, 0.9, None)]}, "limits[0].prior"),
        ({"k": 2, "weights": [0, 1]}, "weights[0]"),
        ({"k": 2, "weights": "ab"}, "weights"),
        ({"k": 2, "weights": [1, math.inf]}, "weights[1]"),
    ],
)
def test_one_thing_wrong(asked, where):
    (problem,) = told(10, [2, 3], **asked)
    assert problem.startswith(where)


def test_nothing_to_perturb_and_nobody():
    assert told(10, [], k=2) == ["sizes: no attribute is perturbed. Name at least one."]
    assert told(0, [2], k=2)[0].startswith("n: got 0")
    assert told(1, [2], k=2)[0].startswith("k: got 2, which 1 records")


def test_a_thousand_values():
    prior = 1 / np.arange(1, 1001)
    prior /= prior.sum()
    found = calibrate(10**6, [1000, 5], k=5, limits=[(0, prior, 0.2, 1e-4)], weights=[1, 1])
    assert keeps(10**6, [1000, 5], 5, [Limit(0, prior, 0.2, 1e-4)], found.retention)
