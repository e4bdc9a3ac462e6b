"""sudare audit and the certificate beside a release: what is said on the terminal and as JSON."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sudare.cli import app
from sudare.cli.terminal import _in_short

POLICY = {
    "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "require": [{"model": "l-diversity", "l": 2, "column": "ill"}],
}


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path):
    rows = [f"{20 + n % 7},{'abcd'[n % 4]}" for n in range(40)]
    (tmp_path / "people.csv").write_text("age,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    return tmp_path


def make(folder, *words):
    given = ("anonymize", folder / "people.csv", "-p", folder / "policy.json", "-o", folder / "r.csv", *words)
    assert run(*given).exit_code == 0
    return folder / "r.csv.sudare.json"


def audit(folder, *words):
    return run("audit", folder / "r.csv", "-p", folder / "policy.json", *words)


def test_what_is_claimed_is_listed(folder):
    make(folder)
    told = audit(folder)
    assert told.exit_code == 0
    assert "claimed by its maker, and not proven: rows_in, suppressed," in told.output
    said = json.loads(audit(folder, "--json").output)["certificate"]
    assert "guarantees" in said["verified"]
    assert {"rows_in", "seconds", "versions"} <= set(said["claimed"])
    assert not set(said["verified"]) & set(said["claimed"])


def test_claimed_warnings_are_told_in_their_words(folder):
    paper = make(folder)
    facts = json.loads(paper.read_text())
    said = {"kind": "by-hand", "columns": [], "figures": {}, "text": "Ask the office.\x1b[2J" + "x" * 600}
    place = len(facts["warnings"])
    paper.write_text(json.dumps(facts | {"warnings": [*facts["warnings"], said]}))
    told = audit(folder)
    assert told.exit_code == 0, told.output
    assert f"warnings.{place}" not in told.output
    assert "claimed warning: Ask the office." in told.output
    assert "\x1b" not in told.output
    assert "x" * 500 not in told.output
    found = json.loads(audit(folder, "--json").output)["certificate"]
    assert f"warnings.{place}" in found["claimed"]
    assert [one["text"] for one in facts["warnings"] if one["kind"] == "minimality"] == found["warnings"][:-1]
    assert found["warnings"][-1] == said["text"]


def test_a_policy_of_another_table_is_said_to_be_one(folder):
    make(folder)
    columns = {f"column_{number}": {"role": "quasi"} for number in range(37)}
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    (folder / "policy.json").write_text(json.dumps(rules))
    told = audit(folder)
    assert told.exit_code == 2
    lines = [line for line in told.output.splitlines() if line.strip()]
    assert any("seems to belong to another table: 0 of the 37 columns" in line for line in lines[:2])
    assert told.output.count("is not a column of the release") == 5
    assert "32 more of its columns are not in the release" in told.output


def test_what_columns_lose_is_listed_in_short():
    keys = [
        "rows_in",
        "loss.arx",
        "loss_by_column.a.b.arx",
        "loss_by_column.a.b.entropy",
        "loss_by_column.c.arx",
        "date",
    ]
    assert _in_short(keys) == ["rows_in", "loss.arx", "loss_by_column.*.(arx|entropy)", "date"]


def test_without_a_certificate_nothing_is_said_of_one(folder):
    make(folder).unlink()
    told = audit(folder)
    assert told.exit_code == 0
    assert "claimed" not in told.output
    assert "certificate" not in json.loads(audit(folder, "--json").output)


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_a_release_by_another_method_is_audited_if_that_is_said(folder, method):
    make(folder, "--method", method)
    told = audit(folder)
    assert told.exit_code == 1
    assert f"--method {method}" in told.output
    assert audit(folder, "--method", method).exit_code == 0
    assert audit(folder, "--method", "unheard-of").exit_code == 2


def test_another_policy(folder):
    make(folder)
    (folder / "policy.json").write_text(json.dumps(POLICY | {"suppression": {"limit": 0.5}}))
    told = audit(folder)
    assert told.exit_code == 1
    assert "--other-policy" in told.output
    assert audit(folder, "--other-policy").exit_code == 0


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", "{", "{}", '{"certificate": 1}', '{"certificate": 2}', "[" * 100_000, "\x00", '"certificate"',
        '{"certificate": ' + '{"a": ' * 5000 + "1" + "}" * 5001, '{"certificate": 1' + "0" * 5000 + "}",
    ],
    ids=range(12),
)  # fmt: skip
def test_whatever_stands_in_place_of_a_certificate_is_a_failure_and_no_traceback(folder, text):
    make(folder).write_text(text)
    told = audit(folder)
    assert told.exit_code == 1, told.output
    assert "Traceback" not in told.output


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"rows_in": 40', '"rows_in": NaN'),
        ('"rows_in": 40', '"rows_in": 1e999'),
        ('"rows_in": 40', '"rows_in": 40, "rows_in": 40'),
        ('"search": {}', '"search": ' + "[" * 90 + "]" * 90),
        ('"search": {}', '"search": {"a": Infinity}'),
        ('"suppressed": 0', '"suppressed": ' + "9" * 400),
        ('"rows_in": 40', '"rows_in": ' + "9" * 400),
    ],
    ids=range(7),
)
def test_json_that_is_read_in_different_ways_is_refused(folder, old, new):
    paper = make(folder)
    text = paper.read_text()
    assert old in text
    paper.write_text(text.replace(old, new))
    told = audit(folder)
    assert told.exit_code == 1, told.output
    assert "certificate" in told.output
