"""Risks, comparisons and reports of tables with sensitive item sets: they say what they measure, and nothing breaks."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import sudare
from sudare.core.errors import SudareError

POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "told": {"role": "sensitive", "kind": "items", "separator": "|"},
        "stay": {"role": "insensitive"},
    },
    "require": [
        {"model": "k-anonymity", "k": 4},
        {"model": "l-diversity", "l": 2, "column": "told", "variant": "frequency"},
    ],
}


@pytest.fixture
def files(tmp_path):
    pick = random.Random(4)
    items = ["flu", "cold", "gout", "asthma"]
    rows = 200
    table = pa.table(
        {
            "age": [pick.randrange(20, 60) for _ in range(rows)],
            "sex": [pick.choice("mf") for _ in range(rows)],
            "told": ["|".join(pick.sample(items, pick.choice([0, 1, 1, 2]))) for _ in range(rows)],
            "stay": [pick.randrange(5) for _ in range(rows)],
        }
    )
    data, release = tmp_path / "t.csv", tmp_path / "r.csv"
    pa_csv.write_csv(table, data)
    sudare.anonymize(data, POLICY, out=release)
    return data, release


def test_risks_leave_them_out(files):
    data, release = files
    report = sudare.risk(data, POLICY, release=release).to_dict()
    assert "told" not in str(report.get("inference"))
    with pytest.raises(SudareError, match="holds item sets, and no single value to infer"):
        sudare.risk(data, POLICY, target="told")


def test_comparisons_ask_nothing_about_them(files):
    data, _ = files
    found = sudare.compare(data, POLICY, queries=20)
    names = {each["method"] for each in found.to_dict()["ways"]}
    assert {"top-down", "mondrian", "l-clustering", "full-domain"} <= names
    assert not names & {"three-phase", "dummies", "anatomy", "pram"}
    with pytest.raises(SudareError, match="holds item sets, and no single values to predict"):
        sudare.compare(data, POLICY, target="told")


def test_reports_say_what_is_promised(files, tmp_path):
    data, release = files
    sudare.report(release, data=data, policy=POLICY, out=tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "at most 1/2 of the records hold any one item" in text


def test_the_certificate_warns_of_minimality_without_a_way_out_that_there_is_not(files):
    _, release = files
    warnings = [each["text"] for each in sudare.audit(release, POLICY).to_dict().get("warnings", [])]
    assert not any("sensitive: blind" in text for text in warnings)
    certificate = (release.parent / "r.csv.sudare.json").read_text(encoding="utf-8")
    assert "minimality attack" in certificate
    assert "sensitive: blind" not in certificate
