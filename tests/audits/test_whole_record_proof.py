"""The audit's own proof of alpha-gamma against all columns: beside the method's, and with forged facts."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare import datasets
from sudare.audits.run import audit_release
from sudare.audits.transitions import Even, Full
from sudare.audits.whole_record_proof import Listed, from_one_value, inferred, likelihoods, read_listed
from sudare.methods.pram.whole_record import Channel, beliefs, one_value, told_apart

COLUMNS = ["income", "marital-status", "relationship", "race"]


def even(m, p):
    return Even([(1 - p) / m] * m, [p] * m)


@given(st.integers(0, 10_000).map(np.random.default_rng), st.integers(2, 4), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_it_finds_what_the_method_finds(random, size, others):
    """Two programs, one definition: with any number of columns listed, and matrices of both kinds."""
    sizes = [size, *(int(each) for each in random.integers(2, 4, others))]
    counts = random.integers(0, 60, sizes)
    counts[(0,) * len(sizes)] += 1
    n, listed = int(counts.sum()), int(random.integers(0, others + 1))
    ps = [float(p) for p in random.uniform(0, 1, len(sizes))]
    channels, matrices = [Channel(m, p) for m, p in zip(sizes, ps, strict=True)], list(map(even, sizes, ps))
    if random.random() < 0.5:
        rows = random.dirichlet(np.ones(sizes[1]), sizes[1])
        channels[1], matrices[1] = Channel(sizes[1], None, rows), Full(rows.tolist())
    prior = counts.reshape(size, -1).sum(axis=1) / n
    known = counts.sum(axis=tuple(range(1 + listed, len(sizes)))) // 10 * 10
    told = None
    if listed:
        places = [tuple(map(int, place)) for place in np.argwhere(known)]
        names = tuple((f"c{at}",) for at in range(1 + listed))
        told = Listed(names, tuple(places), tuple(int(known[place]) for place in places))
    parts = np.arange(size) % int(random.integers(2, size + 1))
    shares = known / n if listed else np.zeros(size)
    made = beliefs(prior, shares, parts, channels[0], channels[1 : 1 + listed], channels[1 + listed :])
    found = inferred(
        prior.tolist(), parts.tolist(), matrices[0], (told, matrices[1 : 1 + listed]), matrices[1 + listed :], n
    )
    assert tuple(found) == pytest.approx(tuple(made), abs=1e-9)
    assert from_one_value(prior.tolist(), parts.tolist(), matrices[0]) == pytest.approx(
        one_value(prior, parts, channels[0])
    )


@given(st.lists(st.tuples(st.integers(2, 9), st.floats(0, 1)), min_size=6, max_size=9))
@settings(max_examples=20, deadline=None)
def test_of_many_columns_it_is_never_the_looser_one(columns):
    ours, theirs = likelihoods([even(m, p) for m, p in columns]), told_apart([Channel(m, p) for m, p in columns])
    for share in (0.1, 0.5):

        def believed(one, other, share=share):
            both = share * one + (1 - share) * other
            return (share * one**2 / np.where(both > 0, both, 1)).sum()

        assert believed(*ours) <= believed(*theirs) + 1e-12


# ---- a release, and what can be forged in its certificate


POLICY = {
    "columns": {name: {"role": "sensitive" if name == "relationship" else "quasi"} for name in COLUMNS},
    "require": [
        {"model": "pk-anonymity", "k": 3},
        {"model": "alpha-gamma", "column": "relationship", "alpha": 0.5, "gamma": 0.02},
    ],
    "method": {"name": "pram"},
}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "r.csv"
    release = sudare.anonymize(datasets.adult(), POLICY, out=path)
    return path, json.loads(json.dumps(release.certificate["mechanism"]))


def audited(released, change=None, **limit):
    path, mechanism = released
    mechanism = copy.deepcopy(mechanism)
    if change is not None:
        change(mechanism)
    rules = copy.deepcopy(POLICY)
    rules["require"][1] |= limit
    return audit_release(path, sudare.load_policy(rules), mechanism=mechanism)


def test_a_true_certificate_passes(released):
    report = audited(released)
    assert report.passed, report.problems
    told = report.guarantees[1]
    assert "all drawn columns" in told.note
    assert list(told.achieved) == ["alpha", "gamma", "one value", "one record"]
    assert 0.49 < told.achieved["alpha"] <= 0.5
    assert told.achieved["one value"] < told.achieved["one record"]
    assert not audited(released, alpha=0.49).passed
    assert not audited(released, gamma=0.026).passed
    alone = audited(released, against="column")
    assert alone.passed
    assert alone.guarantees[1].achieved["alpha"] < told.achieved["alpha"] - 0.03
    assert "for this column alone" in alone.guarantees[1].note
    assert "columns of the release that correlate with this one reveal more" in alone.guarantees[1].note
    assert "correlate" not in told.note


def test_the_papers_p_is_refused_against_all_columns(tmp_path):
    """Case 5: what is certified for the column alone does not hold for all of them."""
    rules = copy.deepcopy(POLICY)
    rules["require"][1]["against"] = "column"
    path = tmp_path / "r.csv"
    release = sudare.anonymize(datasets.adult(), rules, out=path)
    told = release.certificate["mechanism"]
    assert audit_release(path, sudare.load_policy(rules), mechanism=told).passed
    report = audit_release(path, sudare.load_policy(POLICY), mechanism=told)
    assert not report.passed
    assert report.guarantees[1].achieved["alpha"] > 0.56


def test_without_combinations_the_worst_is_expected(released):
    def missing(mechanism):
        del mechanism["together"]

    report = audited(released, missing)
    assert not report.guarantees[1].holds
    assert report.guarantees[1].achieved["alpha"] > 0.56
    assert audited(released, missing, alpha=0.7, gamma=0.01).passed  # which holds whatever goes together


def test_combinations_that_the_file_does_not_show(tmp_path):
    """Columns that were independent would be harmless: the file shows that they are not."""
    rules = copy.deepcopy(POLICY)
    rules["require"] = [{**POLICY["require"][1], "alpha": 0.6, "gamma": 0.001}]
    path = tmp_path / "r.csv"
    release = sudare.anonymize(datasets.adult(), rules, out=path)
    told = json.loads(json.dumps(release.certificate["mechanism"]))
    assert audit_release(path, sudare.load_policy(rules), mechanism=told).passed

    def independent(mechanism):
        [told] = mechanism["together"]
        names = [name for [name] in told["columns"]]
        rows = datasets.adult().num_rows
        priors = []
        for name in names:
            values = mechanism["columns"][name]["values"]
            texts = datasets.adult()[name].to_pylist()
            priors.append(np.array([texts.count(value) / rows for value in values]))
        shares = priors[0]
        for prior in priors[1:]:
            shares = np.multiply.outer(shares, prior)
        counts = (shares * rows).astype(int) // 10 * 10
        told["combinations"] = [[*map(int, place), int(counts[tuple(place)])] for place in np.argwhere(counts)]

    independent(told)
    report = audit_release(path, sudare.load_policy(rules), mechanism=told)
    assert not report.passed
    assert any("than those that the certificate lists lead to" in str(problem) for problem in report.problems)
    assert report.guarantees[0].holds is False


def test_more_of_a_value_than_its_prior(released):
    def more(mechanism):
        lines = mechanism["together"][0]["combinations"]
        counts = [sum(line[-1] for line in lines if line[0] == place) for place in range(6)]
        rarest = int(np.argmin(counts))
        next(line for line in lines if line[0] == rarest)[-1] += 300

    report = audited(released, more)
    assert any("more records with a value than its prior" in str(problem) for problem in report.problems)
    assert not report.passed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda told: told.clear(), "does not name the columns"),
        (lambda told: told.update(columns=[["relationship"], ["sex"]]), "not drawn"),
        (lambda told: told.update(columns=[["relationship"], ["race"], ["race"]]), "twice"),
        (lambda told: told.update(combinations=7), "does not list"),
        (lambda told: told["combinations"].append([0, 0, 0, 99, 10]), "not made of places"),
        (lambda told: told["combinations"].append([0, 0, 0, 0, -10]), "not made of places"),
        (lambda told: told["combinations"].append([0, 0, 0, 0, True]), "not made of places"),
        (lambda told: told["combinations"].append([0, 0, 0, 0, 1.5]), "not made of places"),
        (lambda told: told["combinations"].append(["x"]), "not made of places"),
        (lambda told: told["combinations"].append(list(told["combinations"][0])), "lists a combination twice"),
        (lambda told: told["combinations"][0].__setitem__(-1, 40_000), "more records than there are"),
    ],
)
def test_combinations_that_are_none(released, change, said):
    report = audited(released, lambda mechanism: change(mechanism["together"][0]))
    assert not report.passed
    assert any(said in str(problem) for problem in report.problems), report.problems


def test_lists_that_are_none():
    sizes = {("a",): 2, ("b",): 3}
    assert read_listed(None, sizes, 10) == []
    assert isinstance(read_listed({}, sizes, 10), str)
    assert isinstance(read_listed([7], sizes, 10), str)
    one = {"columns": [["a"], ["b"]], "combinations": [[0, 2, 10]]}
    assert isinstance(read_listed([one], sizes, 10), list)
    assert "twice" in str(read_listed([one, one], sizes, 10))
    huge = {("a",): 2000, ("b",): 2000}
    assert "gone through" in str(read_listed([one], huge, 10))


def test_a_forged_p_that_would_hide_the_break(released):
    """The matrices of the certificate decide; one that is far from what was drawn does not fit the file."""

    def smaller(mechanism):
        for part in mechanism["columns"].values():
            part["matrix"]["p"] = 0.1

    assert not audited(released, smaller).passed


def test_the_prior_must_be_there(released):
    def gone(mechanism):
        del mechanism["columns"]["relationship"]["prior"]

    report = audited(released, gone)
    assert not report.passed


def test_strata_have_combinations_of_their_own(tmp_path):
    rules = copy.deepcopy(POLICY)
    rules["columns"]["sex"] = {"role": "insensitive"}
    rules["method"]["strata"] = ["sex"]
    rules["require"][1] |= {"alpha": 0.7, "gamma": 0.0}
    path = tmp_path / "r.parquet"
    release = sudare.anonymize(datasets.adult(), rules, out=path)
    told = json.loads(json.dumps(release.certificate["mechanism"]))
    assert audit_release(path, sudare.load_policy(rules), mechanism=told).passed
    del told["strata"]["cells"][1]["together"]
    told["together"] = told["strata"]["cells"][0]["together"]  # those of another stratum prove nothing here
    report = audit_release(path, sudare.load_policy(rules), mechanism=told)
    assert not report.passed
