"""What attacks achieved, as a report shows it: with intervals, and without counts of few records."""

import json

import pytest

import sudare
from sudare.api import load_policy
from sudare.reports import report_page
from sudare.reports.describe import describe

from .people import POLICY, table


def success(value):
    return {"success": value, "low": value / 2, "high": min(2 * value, 1.0), "baseline": 0.001, "attacked": 600,
            "above": value, "above_low": value / 2, "above_high": value}  # fmt: skip


def side(singled, linked):
    combinations = [
        {"columns": ["age", "town"], "records": singled},
        {"columns": ["age", "born"], "records": 2},
    ]
    return {
        "records": None, "people": None, "journalist": None, "uniqueness": None,
        "linkage": {"linked": success(linked), "singled_out": success(linked)},
        "singling_out": {"records": singled, "share": singled / 600, "most_columns": 3, "combinations": combinations},
    }  # fmt: skip


def risk(**more):
    inferred = {"target": "disease", "values": 3, "before": {"by_class": success(0.9), "certain": 0.5},
                "after": {"by_class": success(0.4), "certain": 0.0}}  # fmt: skip
    criteria = ("singling_out", "linkability", "inference")
    return {
        "rows": 600, "released": 600, "columns": ["age", "town", "born"], "seed": 0,
        "before": side(321, 0.75), "after": side(3, 0.05), "inference": [inferred],
        "wp216": {name: {"before": success(0.8), "after": success(0.07)} for name in criteria},
        "notes": ["2 records match fewer people of the population"], **more,
    }  # fmt: skip


@pytest.fixture(scope="module")
def release():
    return sudare.anonymize(table(), POLICY, seed=1)


def described(release, found):
    return describe(release, table(), load_policy(POLICY), risk=lambda: found)


def test_attacks_are_told_with_intervals(release):
    page = report_page(described(release, risk()))
    assert "75.0% (37.5% to 100%); by chance 0.1%" in page
    assert "inferring disease" in page
    assert "age, town (53" in page
    assert "attacks succeed 7.0 percentage points more often than chance (95%: 3.5 to 7.0)" in page


def test_few_records_are_not_counted(release):
    found = described(release, risk())
    assert found["risk"]["singled_out"]["after"] == {"few": True, "share": 0.0}
    assert [each["columns"] for each in found["risk"]["combinations"]] == [["age", "town"]]
    assert "match fewer people" not in json.dumps(found)
    assert "fewer than 5 records" in report_page(found)


def test_without_a_risk_report_a_sentence_says_so(release):
    found = describe(release, table(), load_policy(POLICY))
    assert found["risk"] is None
    page = report_page(found)
    assert "does not include attacks" in page
    assert "Not measured in this report." in page


def test_sides_that_were_not_measured_are_said_not_to_be(release):
    empty = dict.fromkeys(("records", "people", "journalist", "uniqueness", "singling_out", "linkage"))
    found = described(release, risk(after=empty, inference=[], wp216={}))
    assert found["risk"]["linkage"]["after"] is None
    assert "not measured" in report_page(found)


def test_a_side_that_is_not_there(release):
    page = report_page(described(release, risk(after=None, inference=[])))
    assert "not measured" in page
