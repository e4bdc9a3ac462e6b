"""Intervals of figures hold the truth as often as they say: 2,000 made-up tables for each setting."""

import math

import numpy as np
import pytest

from sudare.estimates import error_moments, noise_moments
from sudare.estimates.error_moments import Multiplied, grid, whole_noise
from sudare.estimates.noise_moments import NoisyColumn, Sampling, Shared, moments

TABLES = 2_000
HOLDING = (0.93, 0.97)


def rounded(numbers, to, how, rng):
    low = np.floor(numbers / to)
    if how == "nearest":
        return np.floor(numbers / to + 0.5) * to
    return (low + (rng.random(len(numbers)) < numbers / to - low)) * to


def with_errors(numbers, steps, rng):
    """Numbers after some steps, and what is published about their errors."""
    shown, errors = numbers, []
    for name, size in steps:
        if name in ("normal", "laplace"):
            deviation = size * numbers.std(ddof=1)
            drawn = rng.normal(size=len(numbers)) if name == "normal" else rng.laplace(size=len(numbers)) / math.sqrt(2)
            shown = shown + drawn * deviation
            errors.append(error_moments.noise(name, deviation**2))
        elif name == "factor":
            shown = shown * (1 + size * rng.normal(size=len(numbers)))
            errors.append(Multiplied(size))
        elif name == "whole":
            shown = shown + np.round(size * rng.normal(size=len(numbers)))
            errors.append(whole_noise("normal", size**2))
        else:
            to = size * numbers.std()
            shown = rounded(shown, to, name, rng)
            errors.append(grid(to, name))
    return NoisyColumn(shown, tuple(errors))


def correlated(pair, sd, rng):
    """Two columns with noise that has their own covariances."""
    values, vectors = np.linalg.eigh(np.cov(pair))
    noise = sd * (vectors * np.sqrt(values)) @ rng.normal(size=pair.shape)
    growth = 1 + sd**2
    columns = []
    for numbers, each in zip(pair, noise, strict=True):
        drawn = sd**2 * numbers.var(ddof=1)
        error = error_moments.noise("normal", drawn)
        columns.append(NoisyColumn(numbers + each, (error,), growth=growth, drawn=drawn))
    shown = np.cov(columns[0].released, columns[1].released)[0, 1]
    return columns, Shared(growth, float(shown) / growth)


def truth(first, second):
    slope = np.cov(first, second)[0, 1] / first.var(ddof=1)
    return {
        "mean": first.mean(),
        "variance": first.var(ddof=1),
        "correlation": np.corrcoef(first, second)[0, 1],
        "intercept": second.mean() - slope * first.mean(),
        "slope": slope,
    }


def estimated(columns, **more):
    alone = {name: given for name, given in more.items() if name != "shared"}
    one, two = moments(columns[:1], **alone), moments(columns, **more)
    intercept, slope = noise_moments.line(two)
    return {
        "mean": noise_moments.mean(one),
        "variance": noise_moments.variance(one),
        "correlation": noise_moments.correlation(two),
        "intercept": intercept,
        "slope": slope,
    }


def holding(rows, first=(), second=(), *, related=0.5, skewed=False, share=None, sd=None, seed=1):
    """Which part of the intervals holds the truth, for each figure."""
    rng = np.random.default_rng(seed)
    held = dict.fromkeys(truth(np.arange(3.0), np.arange(3.0)), 0)
    for _ in range(TABLES):
        people = rows if share is None else round(rows / share)
        base = rng.normal(size=people)
        other = related * base + math.sqrt(1 - related**2) * rng.normal(size=people)
        if skewed:
            base, other = np.exp(0.6 * base), np.exp(0.6 * other)
        pair = np.stack([10 + 3 * base, 50 + 8 * other])
        if first and first[0][0] == "whole":
            pair[0] = np.round(10 * base)
        expected = truth(*pair)
        more = {}
        if share is not None:
            pair = pair[:, rng.random(people) < share]
            more["sampling"] = Sampling(share)
        if sd is None:
            columns = [with_errors(numbers, steps, rng) for numbers, steps in zip(pair, (first, second), strict=True)]
        else:
            columns, more["shared"] = correlated(pair, sd, rng)
        for name, figure in estimated(columns, **more).items():
            # an interval without ends says nothing wrong
            held[name] += figure.note == noise_moments.ENDLESS or figure.low <= expected[name] <= figure.high
    return {name: count / TABLES for name, count in held.items()}


def small(kind, size):
    return {"first": [(kind, size)], "second": [(kind, size)]}


SETTINGS = {
    "normal 0.1, 200": (200, small("normal", 0.1)),
    "normal 0.5, 200": (200, small("normal", 0.5)),
    "normal 1, 200": (200, small("normal", 1.0)),
    "normal 1, 2000": (2_000, small("normal", 1.0)),
    "normal 0.5, related 0.9, 500": (500, small("normal", 0.5) | {"related": 0.9}),
    "normal 0.5, skewed, 500": (500, small("normal", 0.5) | {"skewed": True}),
    "normal 0.5 on one, random grid on the other, 500": (
        500,
        {"first": [("normal", 0.5)], "second": [("random", 0.5)]},
    ),
    "laplace 0.5, 200": (200, small("laplace", 0.5)),
    "laplace 1, 2000": (2_000, small("laplace", 1.0)),
    "whole numbers, noise 0.4, 500": (500, {"first": [("whole", 0.4)], "second": [("normal", 0.2)]}),
    "factor 0.1, 500": (500, small("factor", 0.1)),
    "correlated 0.3, 200": (200, {"sd": 0.3}),
    "correlated 1, 2000": (2_000, {"sd": 1.0}),
    "random grid 0.5, 200": (200, small("random", 0.5)),
    "random grid 1, 2000": (2_000, small("random", 1.0)),
    "nearest grid 0.5, 200": (200, small("nearest", 0.5)),
    "nearest grid 1, 2000": (2_000, small("nearest", 1.0)),
    "normal 0.5, then a grid 0.5, 500": (
        500,
        {"first": [("normal", 0.5), ("nearest", 0.5)], "second": [("normal", 0.3)]},
    ),
    "sample of a half, normal 0.5, 500": (500, small("normal", 0.5) | {"share": 0.5}),
    "sample of a fifth, laplace 0.3, 500": (500, small("laplace", 0.3) | {"share": 0.2}),
    "sample of a fifth, correlated 0.5, 500": (500, {"sd": 0.5, "share": 0.2}),
}


@pytest.mark.parametrize(("rows", "size"), [(500, 0.2), (2_000, 0.2), (2_000, 0.5), (4_000, 0.5)])
def test_intervals_of_skewed_numbers_with_factors_are_wide_enough(rows, size):
    """Few large numbers decide here; the intervals may be wider than they need to be."""
    found = holding(rows, [("factor", size)], skewed=True)
    assert all(share >= HOLDING[0] for share in found.values()), found


@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_hold_the_truth_as_often_as_they_say(setting):
    rows, given = SETTINGS[setting]
    found = holding(rows, **given)
    assert all(HOLDING[0] <= share <= HOLDING[1] for share in found.values()), found


def test_a_sample_without_noise_holds_what_is_not_skewed():
    found = holding(1_000, share=0.2)
    assert all(HOLDING[0] <= share <= HOLDING[1] for share in found.values()), found


def test_people_with_several_records_widen_the_intervals_of_a_sample():
    """Every person has four records that are nearly alike; treated as independent, intervals hold 60 to 80%."""
    rng = np.random.default_rng(3)
    held = np.zeros(2)
    for _ in range(TABLES):
        person = np.repeat(np.arange(1_000), 4)
        numbers = rng.normal(size=1_000)[person] + 0.2 * rng.normal(size=4_000)
        chosen = (rng.random(1_000) < 0.3)[person]
        for place, people in enumerate((person[chosen], None)):
            found = noise_moments.mean(moments([NoisyColumn(numbers[chosen])], sampling=Sampling(0.3, people)))
            held[place] += found.low <= numbers.mean() <= found.high
    assert HOLDING[0] <= held[0] / TABLES <= HOLDING[1]
    assert held[1] / TABLES < 0.85


def test_noise_that_adds_up_to_nothing_leaves_less_error_in_a_part():
    """Noise of 400 records adds up to 0; the mean of 300 of them errs by a quarter of the variance."""
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(TABLES):
        numbers, noise = rng.normal(size=400), rng.normal(size=400)
        shown = numbers + noise - noise.mean()
        column = NoisyColumn(shown[:300], (error_moments.noise("normal", 1.0),), kept=1.0, among=400)
        found = noise_moments.mean(moments([column]))
        assert found.se == pytest.approx(math.sqrt(1 / 300 - 1 / 400))
        held += found.low <= numbers[:300].mean() <= found.high
    assert HOLDING[0] <= held / TABLES <= HOLDING[1]


def test_correlated_noise_in_a_part_of_the_table():
    """Noise has the covariances of the whole table, of which the part has others."""
    rng = np.random.default_rng(5)
    held = {}
    for _ in range(TABLES):
        base = rng.normal(size=900)
        group = np.arange(900) < 300
        pair = np.stack([base, np.where(group, -0.5, 0.8) * base + rng.normal(size=900)])
        columns, shared = correlated(pair, 0.7, rng)
        part = [NoisyColumn(each.released[group], each.errors, drawn=each.drawn) for each in columns]
        expected = truth(*pair[:, group])
        for name, figure in estimated(part, shared=Shared(shared.growth, shared.covariance, 1 / 3)).items():
            held[name] = held.get(name, 0) + (figure.low <= expected[name] <= figure.high)
    assert all(HOLDING[0] <= count / TABLES <= HOLDING[1] for count in held.values()), held
