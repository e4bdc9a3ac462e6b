"""The warnings of a certificate."""

import json

import pyarrow as pa
import pytest

import sudare
from sudare.releases.certificate import make_certificate
from sudare.releases.release_figures import Figures
from sudare.releases.warnings import ReleaseWarning


def certificate(found, added):
    return make_certificate(
        figures=Figures(3, 3, 0, {}, {}, {}),
        order="class",
        method={"name": "top-down"},
        columns={},
        audit={"classes": 1, "guarantees": [], "release_sha256": "", "warnings": found},
        seconds={},
        policy_sha256="",
        warnings=added,
    ).to_dict()


def test_a_certificate_has_what_the_audit_warns_of_and_then_what_the_maker_does():
    found = {"kind": "one", "columns": ["a"], "figures": {"share": 0.5}, "text": "One."}
    told = certificate([found], [ReleaseWarning("two", "Two.", ("b",), {"share": 0.25})])
    assert told["warnings"] == [
        found,
        {"kind": "two", "columns": ["b"], "figures": {"share": 0.25}, "text": "Two."},
    ]
    assert json.loads(json.dumps(told))["warnings"] == told["warnings"]


def test_a_release_that_nobody_warns_of_says_so():
    assert certificate([], [])["warnings"] == []


def spelled(values, k=2, **spec):
    """Return the warnings about spellings of a quasi-identifier with these values, each held by ten records."""
    data = pa.table({"ward": values * 10, "ill": ["a", "b"] * (5 * len(values))})
    columns = {"ward": {"role": "quasi", **spec}, "ill": {"role": "sensitive"}}
    release = sudare.anonymize(data, {"columns": columns, "require": [{"model": "k-anonymity", "k": k}]})
    return [one for one in release.certificate["warnings"] if one["kind"] == "spellings"]


@pytest.mark.parametrize(
    ("values", "count"),
    [(["HIV ", "Hiv"], 1), (["HIV ", "Hiv", "hiv", "ward b", "ward  B"], 3), (["caf\u00e9", "cafe\u0301"], 1)],
)
@pytest.mark.parametrize("k", [2, 10])
def test_spellings_of_one_value_of_a_quasi_identifier_are_warned_of_by_their_number(values, count, k):
    [one] = spelled(values, k)
    assert one["columns"] == ["ward"]
    assert one["figures"] == {"values": count}
    assert "'ward' is a quasi-identifier" in one["text"]
    assert not any(value in str(one) for value in values)


def test_spellings_in_item_sets_are_warned_of():
    [one] = spelled([["HIV ", "flu"], ["Hiv"]], kind="items")
    assert one["figures"] == {"values": 1}


@pytest.mark.parametrize("values", [["north", "south"], ["1", "01", "1.0"], ["a", "b c", "bc"]])
def test_different_values_are_not_warned_of(values):
    assert spelled(values, kind="categorical") == []


def test_an_audit_takes_what_is_said_of_spellings_for_claimed(tmp_path):
    data = pa.table({"ward": ["HIV ", "Hiv"] * 10, "ill": ["a", "b"] * 10})
    rules = {"columns": {"ward": {"role": "quasi"}, "ill": {"role": "sensitive"}},
             "require": [{"model": "k-anonymity", "k": 2}]}  # fmt: skip
    sudare.anonymize(data, rules, out=tmp_path / "release.csv")
    report = sudare.audit(tmp_path / "release.csv", rules)
    assert report.passed
    assert any("differ from another one only in case" in text for text in report.claimed_warnings)


def one_class(data, columns, **rules):
    """Return the warnings that all records are in one class."""
    release = sudare.anonymize(data, {"columns": columns, **rules})
    return [one for one in release.certificate["warnings"] if one["kind"] == "one-class"]


VISITS = pa.table(
    {
        "age": [20 + number % 40 for number in range(80)],
        "sex": ["f", "m"] * 40,
        "ward": ["north"] * 80,
        "ill": (["a"] * 3 + ["b"] * 2) * 16,
    }
)
ROLES = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ward": {"role": "quasi"}, "ill": {"role": "sensitive"}}


@pytest.mark.parametrize(
    ("method", "k"),
    [
        ({"name": "top-down"}, 80),
        ({"name": "mondrian"}, 80),
        ({"name": "l-clustering"}, 80),
        ({"name": "full-domain"}, 80),
        ({"name": "tds", "target": "ill"}, 80),
        ({"name": "tds", "target": "ill", "stop": "least", "w": 0.0}, 2),
    ],
)
def test_one_class_of_all_records_is_warned_of_whatever_made_it(method, k):
    [one] = one_class(VISITS, ROLES, require=[{"model": "k-anonymity", "k": k}], method=method)
    assert one["columns"] in (["age", "sex"], ["age", "sex", "ward"])  # all are in one ward; some methods hide it
    assert "All records are in one class" in one["text"]


@pytest.mark.parametrize("name", ["top-down", "full-domain"])
def test_several_classes_are_not_warned_of(name):
    assert one_class(VISITS, ROLES, require=[{"model": "k-anonymity", "k": 2}], method={"name": name}) == []


def test_equal_records_are_one_class_that_loses_nothing():
    data = pa.table({"age": [30] * 9, "ill": ["a", "b", "c"] * 3})
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    assert one_class(data, columns, require=[{"model": "k-anonymity", "k": 3}]) == []


@pytest.mark.parametrize(("items", "warned"), [([["x"], ["y"]] * 40, False), ([[f"{n}"] for n in range(80)], True)])
def test_item_sets_outside_of_classes_may_tell_records_apart(items, warned):
    data = pa.table({"age": VISITS["age"], "items": items})
    columns = {"age": {"role": "quasi"}, "items": {"role": "quasi", "kind": "items"}}
    require = [{"model": "k-anonymity", "k": 80, "columns": ["age"]},
               {"model": "km-anonymity", "k": 2, "m": 1, "column": "items"}]  # fmt: skip
    assert bool(one_class(data, columns, require=require)) == warned


def test_unchanged_quasi_identifiers_are_no_classes_to_warn_of():
    require = [{"model": "l-diversity", "l": 2, "column": "ill"}]
    assert one_class(VISITS, ROLES, require=require, method={"name": "dummies"}) == []


@pytest.mark.parametrize(("k", "forged"), [(80, False), (2, True)])
def test_an_audit_takes_one_class_for_claimed_and_refuses_it_where_there_are_several(tmp_path, k, forged):
    rules = {"columns": ROLES, "require": [{"model": "k-anonymity", "k": k}]}
    sudare.anonymize(VISITS, rules, out=tmp_path / "release.csv")
    paper = tmp_path / "release.csv.sudare.json"
    told = json.loads(paper.read_text())
    if forged:
        told["warnings"].append({"kind": "one-class", "columns": ["age"], "figures": {}, "text": "All are alike."})
        paper.write_text(json.dumps(told))
    report = sudare.audit(tmp_path / "release.csv", rules)
    assert report.passed is not forged
    assert any("in one class, which is not so" in str(problem) for problem in report.problems) is forged
    assert forged or any("All records are in one class" in text for text in report.claimed_warnings)
