"""Journalist risk, k-map and delta-presence, by hand and by closed forms."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.risks import expected_risk
from sudare.risks.population_risk import from_fraction

POLICY = {
    "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "require": [{"model": "k-anonymity", "k": 2}],
}
AGES, SEXES = [30, 30, 40, 50], ["f", "f", "m", "f"]
DATA = pa.table({"age": AGES, "sex": SEXES, "ill": ["a", "b", "a", "b"]})
# two more women of 30, one more man of 40, and people who are unlike everybody in the data
PEOPLE = pa.table({"age": [*AGES, 30, 30, 40, 35, 70], "sex": [*SEXES, "f", "f", "m", "f", "m"]})


def test_a_population_by_hand():
    """Classes (30, f): 2 of 4; (40, m): 1 of 2; (50, f): 1 of 1."""
    found = sudare.risk(DATA, POLICY, population=PEOPLE).before.journalist
    assert (found.source, found.population, found.k_map, found.unique) == ("population table", 9, 1, 1)
    assert found.largest_risk == 1
    assert found.mean_risk == pytest.approx((2 / 4 + 1 / 2 + 1 / 1) / 4)  # the marketer's: the sum of f/F over n
    assert found.above == {"0.05": 1, "0.09": 1, "0.2": 1, "0.33": 0.5}
    assert found.presence == (0, 1)  # nobody of 70 is in the data, and the woman of 50 surely is
    assert found.uncovered == 0


def test_a_release_against_a_population_by_hand():
    """Released: [30, 50] for both sexes as one class of four, which all but the man of 70 fit."""
    policy = {**POLICY, "require": [{"model": "k-anonymity", "k": 4}], "release": {"ranges": "tight"}}
    release = sudare.anonymize(DATA, policy)
    assert set(release.data["age"].to_pylist()) <= {"[30, 50]", "*"}
    found = sudare.risk(DATA, policy, release=release, population=PEOPLE)
    after = found.after.journalist
    # '*' if all of the domain is covered: then also he fits
    fitting = 9 if release.data["age"][0].as_py() == "*" else 8
    assert after.k_map == fitting
    assert after.mean_risk == after.largest_risk == pytest.approx(1 / fitting)
    assert after.presence[1] == pytest.approx(4 / fitting)
    assert found.after.journalist.mean_risk <= found.before.journalist.mean_risk


def test_values_of_the_population_alone_are_within_intervals():
    """35 is no age of the data, and yet between 30 and 40."""
    data = pa.table({"age": [30, 40, 60, 70], "sex": ["f"] * 4, "ill": ["a", "b", "a", "b"]})
    people = pa.table({"age": [30, 35, 40, 50, 60, 65, 70], "sex": ["f"] * 7})
    policy = POLICY | {"release": {"ranges": "tight"}}
    release = sudare.anonymize(data, policy)
    assert sorted(set(release.data["age"].to_pylist())) == ["[30, 40]", "[60, 70]"]
    found = sudare.risk(data, policy, release=release, population=people).after.journalist
    assert (found.k_map, found.mean_risk) == (3, pytest.approx(1 / 3))
    assert found.presence == (0, pytest.approx(2 / 3))  # nobody of 50 is in it


def test_round_ends_are_those_of_the_data_however_far_the_population_reaches():
    data = pa.table({"age": [30, 40, 60, 70], "sex": ["f"] * 4, "ill": ["a", "b", "a", "b"]})
    people = pa.table({"age": [1, 30, 35, 40, 50, 60, 65, 70, 119], "sex": ["f"] * 9})
    release = sudare.anonymize(data, POLICY)
    assert sorted(set(release.data["age"].to_pylist())) == ["[0, 40]", "[60, 100]"]
    found = sudare.risk(data, POLICY, release=release, population=people).after.journalist
    assert (found.k_map, found.mean_risk) == (3, pytest.approx((2 / 4 + 2 / 3) / 4))


def test_presence_of_a_global_recoding_is_that_of_the_paper():
    """Nergiz and others: for each generalized tuple, its records over the people of the population that fit."""
    policy = {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"bands": [10, 20]}},
            "sex": {"role": "quasi", "hierarchy": {"flat": True}},
            "ill": {"role": "sensitive"},
        },
        "require": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "full-domain"},
    }
    random = np.random.default_rng(0)
    ages, sexes = random.integers(20, 60, 60), random.choice(["f", "m"], 60)
    people = pa.table({"age": ages, "sex": sexes})
    data = people.slice(0, 25).append_column("ill", [["x", "y", "z", "x", "y"] * 5])
    release = sudare.anonymize(data, policy)
    shown = list(zip(release.data["age"].to_pylist(), release.data["sex"].to_pylist(), strict=True))
    low = {cell: int(cell.strip("[]*").split(", ")[0] or 0) if cell[0] == "[" else int(cell) if cell != "*" else 0
           for cell, _ in shown}  # fmt: skip
    high = {cell: int(cell.strip("[]").split(", ")[-1]) if cell != "*" else 99 for cell, _ in shown}
    shares, covered = [], np.zeros(60, dtype=bool)
    for age, sex in set(shown):
        fits = (ages >= low[age]) & (ages <= high[age]) & ((sexes == sex) | (sex == "*"))
        covered |= fits
        shares.append(shown.count((age, sex)) / fits.sum())
    expected = (0.0 if not covered.all() else min(shares), max(shares))
    assert sudare.risk(data, policy, release=release, population=people).after.journalist.presence == pytest.approx(
        expected
    )


def test_a_population_without_some_of_the_data_is_noted():
    found = sudare.risk(DATA, POLICY, population=PEOPLE.slice(1))
    assert found.before.journalist.uncovered == 0  # three women of 30 are enough for two records
    found = sudare.risk(DATA, POLICY, population=PEOPLE.slice(3))
    assert found.before.journalist.uncovered == 0
    found = sudare.risk(DATA, POLICY, population=PEOPLE.slice(4))
    assert found.before.journalist.uncovered == 1  # the woman of 50
    assert any("1 records match fewer people" in note for note in found.notes)


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.9])
def test_expected_risk_is_the_mean_over_the_negative_binomial(fraction):
    """The sum of P(F = j | f) / j, term by term."""
    sizes = np.array([1, 2, 3, 7, 39, 40, 60])
    found = expected_risk(sizes, fraction)
    for size, risk in zip(sizes.tolist(), found, strict=True):
        total = 0.0
        for people in range(size, size + int(60 * size / fraction) + 400):
            logarithm = math.lgamma(people) - math.lgamma(size) - math.lgamma(people - size + 1)
            total += math.exp(logarithm + size * math.log(fraction) + (people - size) * math.log1p(-fraction)) / people
        assert risk == pytest.approx(total, rel=1e-6)


def test_expected_risk_of_a_unique_in_closed_form():
    for fraction in (1e-6, 0.01, 0.5, 0.999):
        closed = -fraction * math.log(fraction) / (1 - fraction)
        assert expected_risk(np.array([1]), fraction)[0] == pytest.approx(closed)
    assert expected_risk(np.array([1, 4]), 1.0).tolist() == [1, 0.25]


def test_a_fraction_by_hand():
    """Two alone and a pair, half of the population: -ln(1/2) for those alone; E[1/F | 2] = 1 - ln 2."""
    found = from_fraction(np.array([1, 1, 2]), 0.5)
    assert found.population == 8
    assert found.k_map == 2
    assert found.largest_risk == pytest.approx(math.log(2))
    assert found.mean_risk == pytest.approx((2 * math.log(2) + 2 * (1 - math.log(2))) / 4)
    assert found.above["0.33"] == 0.5  # 1 - ln 2 = 0.307
    assert found.presence is None


def test_a_simulated_population_has_the_expected_risk():
    """Uniform sizes, as the model has them: the mean of 1/F over sampled records is what is expected from f."""
    random = np.random.default_rng(2)
    sizes = random.geometric(0.02, 40_000)  # long tails of equal slopes, so that F given f is nearly as assumed
    sampled = random.binomial(sizes, 0.2)
    there = sampled > 0
    truth = (sampled[there] / sizes[there]).sum() / sampled.sum()
    assert from_fraction(sampled[there], 0.2).mean_risk == pytest.approx(truth, rel=0.15)


def test_where_there_are_too_many_classes_some_are_compared(monkeypatch):
    from sudare.risks import population_risk as population

    adult, policy = sudare.datasets.adult("test"), sudare.datasets.adult_policy()
    release = sudare.anonymize(adult, policy, seed=1)
    asked = {"release": release, "population": sudare.datasets.adult("all"), "columns": ["age", "sex", "race"]}
    whole = sudare.risk(adult, policy, **asked).after.journalist
    monkeypatch.setattr(population, "COMPARED", 1)
    some = sudare.risk(adult, policy, **asked).after.journalist
    assert (whole.looked_at, whole.presence is None) == (1, False)
    assert (some.looked_at < 0.9, some.presence) == (True, None)
    assert some.mean_risk == pytest.approx(whole.mean_risk, rel=0.5)
    assert some.k_map >= whole.k_map
