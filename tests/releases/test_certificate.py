"""The certificate: what it has to say, and what it must never hold."""

from __future__ import annotations

import hashlib
import json
import re

import pyarrow as pa
import pytest

import sudare
from sudare.audits.certificate_checks import MISSING, ORDERS
from sudare.metrics import METRICS

ROWS = [(f"Qname{i}", f"P{i // 2:04}", 20 + i * 7 % 41, f"qjob{i % 3}", f"xill{i % 4}", f"vnote{i}") for i in range(60)]
COLUMNS = ("name", "patient", "age", "job", "disease", "note")
POLICY = {
    "columns": {
        "name": {"role": "identifier"},
        "patient": {"role": "subject"},
        "age": {"role": "quasi"},
        "job": {"role": "quasi"},
        "disease": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "require": [
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 2, "column": "disease"},
        {"model": "t-closeness", "t": 0.6, "column": "disease"},
    ],
    "suppression": {"limit": 0.1},
}


@pytest.fixture
def made(tmp_path):
    """A release, its certificate, and the policy's file."""
    (tmp_path / "people.csv").write_text("\n".join(",".join(map(str, row)) for row in (COLUMNS, *ROWS)) + "\n")
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    release = sudare.anonymize(
        tmp_path / "people.csv", tmp_path / "policy.json", out=tmp_path / "release.csv", seed=814_523
    )
    return release.path, json.loads((tmp_path / "release.csv.sudare.json").read_text()), tmp_path / "policy.json"


def test_keys(made):
    _, certificate, _ = made
    assert set(certificate) == {
        "certificate",
        "rows_in",
        "rows_out",
        "suppressed",
        "classes",
        "guarantees",
        "warnings",
        "loss",
        "loss_by_column",
        "item_sets",
        "spellings",
        "seconds",
        "method",
        "other",
        "search",
        "mechanism",
        "columns",
        "order",
        "randomness",
        "missing",
        "versions",
        "date",
        "about",
        "source",
        "policy_sha256",
        "release_sha256",
    }


def test_counts(made):
    path, certificate, _ = made
    assert certificate["rows_in"] == len(ROWS)
    assert certificate["rows_out"] == len(path.read_text().splitlines()) - 1
    assert certificate["suppressed"] == certificate["rows_in"] - certificate["rows_out"]
    assert certificate["suppressed"] <= 6


def test_guarantees(made):
    _, certificate, _ = made
    proven = {one["model"]: one for one in certificate["guarantees"]}
    for spec in POLICY["require"]:
        one = proven[spec["model"]]
        assert {"model", "parameters", "required", "achieved"} <= set(one)
        assert spec.items() <= {"model": one["model"], **one["parameters"]}.items()
        assert one["holds"] is True
    assert proven["k-anonymity"]["required"] == 3
    assert proven["k-anonymity"]["achieved"] >= 3
    assert proven["l-diversity"]["achieved"] >= 2
    assert 0 <= proven["t-closeness"]["achieved"] <= 0.6


def test_loss(made):
    _, certificate, _ = made
    assert set(certificate["loss"]) == set(METRICS) - {"uncertainty"}
    assert {"gcp", "arx", "discernibility"} <= set(certificate["loss"])
    assert 0 <= certificate["loss"]["gcp"] <= 1
    assert set(certificate["loss_by_column"]) == {"age", "job"}


def test_seconds_method_and_versions(made):
    _, certificate, _ = made
    assert set(certificate["seconds"]) == {"read", "method", "render", "audit", "write"}
    assert all(spent >= 0 for spent in certificate["seconds"].values())
    assert certificate["method"] == {"name": "top-down"}
    assert certificate["versions"]["sudare"] == sudare.__version__
    assert {"python", "numpy", "numba", "pyarrow", "duckdb"} <= set(certificate["versions"])


def test_roles(made):
    _, certificate, _ = made
    assert certificate["columns"] == {
        "quasi": ["age", "job"],
        "sensitive": ["disease"],
        "insensitive": ["note"],
        "subject": ["patient"],
        "identifier": ["name"],
    }


def test_digests(made):
    path, certificate, policy = made
    assert certificate["release_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert certificate["policy_sha256"] == hashlib.sha256(policy.read_bytes()).hexdigest()


def test_nothing_of_a_person(made):
    """No cell of any column, and not the seed, by which the shuffling could be undone."""
    path, _, _ = made
    text = path.with_name("release.csv.sudare.json").read_text()
    cells = {str(cell) for row in ROWS for cell in row if not isinstance(cell, int)}
    assert not [cell for cell in cells if cell in text]
    assert not re.search("814.?523", text)


@pytest.mark.parametrize(("order", "said"), [("class", "shuffled within each class"), ("keep", "as in the source")])
def test_order(tmp_path, order, said):
    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in ROWS])
    release = sudare.anonymize(table, {**POLICY, "release": {"order": order}})
    assert said in release.certificate["order"]
    if order == "keep" and not release.certificate["suppressed"]:
        assert release.data.column("note").to_pylist() == [row[5] for row in ROWS]


def test_method_and_its_options(tmp_path):
    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in ROWS])
    given = {**POLICY, "method": {"name": "top-down", "split": "widest"}}
    assert sudare.anonymize(table, given).certificate["method"] == {"name": "top-down", "split": "widest"}
    assert sudare.anonymize(table, given, method="mondrian").certificate["method"] == {"name": "mondrian"}


def test_in_memory_there_is_the_same_but_no_file(tmp_path):
    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in ROWS])
    release = sudare.anonymize(table, POLICY)
    assert release.path is None
    assert json.loads(json.dumps(release.certificate)) == release.certificate
    assert release.certificate["rows_in"] == len(ROWS)


@pytest.mark.parametrize("method", ["top-down", "dummies"])
def test_the_audit_knows_every_key_and_verifies_or_lists_it(tmp_path, method):
    """Whoever adds a key to certificates tells the audit of it, in sudare/audit/certificates.py."""
    rules = {key: part for key, part in POLICY.items() if key != "suppression"}
    rules |= {"require": [{"model": "l-diversity", "l": 2, "column": "disease"}], "method": {"name": method}}
    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in ROWS])
    certificate = sudare.anonymize(table, rules, out=tmp_path / "release.csv").certificate
    report = sudare.audit(tmp_path / "release.csv", rules)
    report.raise_if_failed()
    told = {key.split(".")[0] for key in (*report.verified, *report.claimed)}
    assert told | {"warnings"} == set(certificate)
    assert certificate["missing"] == MISSING
    assert certificate["order"] in ORDERS.values()
