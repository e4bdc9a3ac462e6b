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
