"""Estimators of population uniqueness: closed forms, and known populations that they have to recover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sudare.risks import uniqueness
from sudare.risks.population_uniqueness import Frequencies, bisect, log_rising, maximum, pitman, snb, zayatz


def sampled(sizes, fraction, seed):
    """The class sizes of a sample in which each person is drawn with a probability."""
    found = np.random.default_rng(seed).binomial(sizes, fraction)
    return found[found > 0]


def restaurant(people, alpha, theta, seed):
    """Class sizes by Pitman's scheme, person by person."""
    random = np.random.default_rng(seed)
    label, sizes = np.empty(people, dtype=np.int64), []
    for number in range(people):
        if random.random() < (theta + len(sizes) * alpha) / (theta + number):
            label[number] = len(sizes)
            sizes.append(1)
            continue
        while True:  # one of those before, kept with the probability (size - alpha) / size
            group = label[random.integers(number)]
            if random.random() < (sizes[group] - alpha) / sizes[group]:
                break
        label[number] = group
        sizes[group] += 1
    return np.array(sizes)


def test_logarithms_of_products():
    for start, steps in ((0.3, 5), (1.0, 100), (12345.6, 77), (1e6, 3), (1e7, 1000)):
        expected = math.fsum(math.log(start + step) for step in range(steps))
        assert log_rising(start, float(steps)) == pytest.approx(expected, rel=1e-12)
    assert log_rising(1e13, 1.0) == pytest.approx(math.log(1e13), rel=1e-12)
    assert log_rising(5.0, 0.0) == 0


def test_zayatz_by_hand():
    """Four people of eight were drawn: two alone and a pair.

    h(1) = 4/8, h(2) = 2 (4 choose 1) (... ) = 2 * C(6, 3) / C(8, 4) = 40/70; so a unique is one with the probability
    2 * 1/2 / (2 * 1/2 + 4/7) = 7/11, and the population has 2 * 7/11 / (1/2) = 28/11 uniques.
    """
    found = Frequencies.of(np.array([1, 1, 2]))
    assert zayatz(found, 0.5) == pytest.approx(28 / 11)


def test_pitman_expects_what_its_scheme_makes():
    """A sample of everybody: the expected number of uniques is near that of the population it was fitted to."""
    sizes = restaurant(30_000, 0.4, 200.0, seed=3)
    found = pitman(Frequencies.of(sizes), 1.0)
    assert found == pytest.approx((sizes == 1).sum(), rel=0.05)


def test_snb_satisfies_its_equations_exactly_where_the_sample_is_what_is_expected():
    """Expected numbers of sample classes instead of a sample: the population comes back."""
    r, p, number, fraction = 0.7, 0.3, 1e6, 0.4
    q = p / (p + fraction * (1 - p))
    x = [math.exp(math.lgamma(r + j) - math.lgamma(r) - math.lgamma(j + 1) + r * math.log(q) + j * math.log(1 - q))
         for j in range(400)]  # fmt: skip
    expected = {j: number * ((1 - fraction) * x[j] + fraction * x[j - 1]) for j in range(1, 400)}
    sizes = np.array(list(expected))
    found = snb(Frequencies(sizes, np.rint(list(expected.values())).astype(np.int64)), fraction)
    assert found == pytest.approx(number * p**r, rel=0.01)


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.3, 0.7])
@pytest.mark.parametrize(("alpha", "theta"), [(0.3, 500.0), (0.6, 50.0)])
def test_pitman_recovers_its_own_population(alpha, theta, fraction):
    sizes = restaurant(60_000, alpha, theta, seed=1)
    truth = (sizes == 1).sum() / sizes.sum()
    found = uniqueness(sampled(sizes, fraction, 2), fraction)
    assert found.pitman == pytest.approx(truth, rel=0.25 if fraction < 0.1 else 0.12)
    assert found.population == pytest.approx(sizes.sum(), rel=0.05)


@pytest.mark.parametrize("fraction", [0.3, 0.5, 0.7])
def test_snb_recovers_its_own_population(fraction):
    sizes = 1 + np.random.default_rng(5).negative_binomial(0.8, 0.2, 60_000)
    truth = (sizes == 1).sum() / sizes.sum()
    found = uniqueness(sampled(sizes, fraction, 6), fraction)
    assert found.snb == pytest.approx(truth, rel=0.12)
    assert found.dankar == pytest.approx(truth, rel=0.12)


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("columns", [4, 8])
def test_the_rule_is_near_the_truth_on_real_columns(columns, fraction):
    """Adult as the population: the rule's estimate is within half of the truth, and near it for large samples."""
    import sudare

    adult = sudare.datasets.adult("all")
    names = ("age", "sex", "race", "education-num", "occupation", "workclass", "marital-status", "native-country")
    codes = [adult[name].combine_chunks().dictionary_encode().indices.fill_null(99).to_numpy() for name in names]
    from sudare.risks import group_rows

    sizes = group_rows(codes[:columns], [100] * columns, adult.num_rows).sizes
    truth = (sizes == 1).sum() / sizes.sum()
    found = uniqueness(sampled(sizes, fraction, 7), fraction)
    assert found.dankar == pytest.approx(truth, rel=0.5 if fraction < 0.3 else 0.15)


def test_the_rule_chooses():
    sizes = restaurant(20_000, 0.5, 100.0, seed=4)
    small, large = uniqueness(sampled(sizes, 0.1, 1), 0.1), uniqueness(sampled(sizes, 0.5, 1), 0.5)
    assert (small.rule, small.dankar) == ("pitman", small.pitman)
    assert large.dankar == min(large.zayatz, large.snb)


def test_everybody_drawn_or_nobody_alone():
    found = uniqueness(np.array([1, 1, 2]), 1.0)
    assert (found.dankar, found.rule, found.match) == (0.5, "none needed", 1.0)
    assert uniqueness(np.array([2, 3]), 0.1).dankar == 0


def test_samples_that_say_little_have_an_answer_or_none():
    for sizes in ([1], [1] * 50, [1, 1000], [5, 1, 1]):
        for fraction in (0.001, 0.1, 0.5, 0.999):
            found = uniqueness(np.array(sizes), fraction)
            assert 0 <= found.dankar <= 1
            for name in ("zayatz", "pitman", "snb"):
                value = getattr(found, name)
                assert value is None or 0 <= value <= 1


def test_a_unique_match_by_hand():
    """pi = 0.1, 30 alone and 10 pairs: 3 / (3 + 2 * 0.9 * 10) = 1/7."""
    assert uniqueness(np.array([1] * 30 + [2] * 10), 0.1).match == pytest.approx(1 / 7)


def test_the_searches():
    place, value = maximum(lambda x: -((x - 0.3) ** 2), -5, 5)
    assert (place, value) == (pytest.approx(0.3, abs=1e-6), pytest.approx(0, abs=1e-9))
    assert bisect(lambda x: x**3 - 2, 0, 2) == pytest.approx(2 ** (1 / 3))
    assert bisect(lambda x: 1.0, 0, 2) is None
    assert bisect(lambda x: math.nan, 0, 2) is None
