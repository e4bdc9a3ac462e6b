"""A release that was touched: each change is found, either by a promise that breaks or by the digest."""

from __future__ import annotations

import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.audits import audit_release
from sudare.core.errors import AuditFailedError
from sudare.policy import Policy

from .tables import paper, policy, write

HEADER = ["zone", "age", "illness"]
ILLNESSES = ["flu", "ulcer", "cancer"]
PROMISES = policy(
    {"model": "k-anonymity", "k": 3},
    {"model": "l-diversity", "l": 3, "column": "illness"},
    {"model": "t-closeness", "t": 0.1, "column": "illness"},
    quasi=("zone", "age"),
    name={"role": "identifier"},
)


def rows():
    """Four classes of exactly three records."""
    return [[zone, age, illness] for zone in "ab" for age in ("[20, 29]", "*") for illness in ILLNESSES]


def certificate(path, **changes):
    said = paper(path, PROMISES, **changes)
    return said | {"loss": said["loss"] | {"discernibility": 36.0}}


def broken(report):
    return [guarantee.model for guarantee in report.guarantees if not guarantee.holds]


def test_the_release_as_written_passes(tmp_path):
    path = write(tmp_path / "release.csv", HEADER, rows())
    report = audit_release(path, PROMISES, certificate=certificate(path))
    assert report.passed
    assert (report.rows, report.classes, report.problems, report.notes) == (12, 4, (), ())
    assert report.release_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    report.raise_if_failed()
    said = report.to_dict()
    assert list(said) == [
        "passed", "rows", "classes", "guarantees", "warnings", "release_sha256", "problems", "seconds", "certificate",
    ]  # fmt: skip
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said["guarantees"][0] == {
        "model": "k-anonymity",
        "parameters": {"k": 3, "count": "rows"},
        "required": 3,
        "achieved": 3,
        "holds": True,
        "offending_classes": 0,
        "note": "",
    }


def test_one_quasi_cell_changed(tmp_path):
    changed = rows()
    changed[4][1] = "[20, 29]"
    report = audit_release(write(tmp_path / "release.csv", HEADER, changed), PROMISES)
    assert broken(report) == ["k-anonymity", "l-diversity", "t-closeness"]


def test_one_row_removed_from_a_class_of_exactly_k(tmp_path):
    report = audit_release(write(tmp_path / "release.csv", HEADER, rows()[1:]), PROMISES)
    assert "k-anonymity" in broken(report)
    assert report.guarantees[0].offending_classes == 1


def test_one_class_made_of_one_illness(tmp_path):
    changed = [[zone, age, "flu" if (zone, age) == ("a", "*") else illness] for zone, age, illness in rows()]
    report = audit_release(write(tmp_path / "release.csv", HEADER, changed), PROMISES)
    assert broken(report) == ["l-diversity", "t-closeness"]
    assert report.guarantees[1].offending_classes == 1


def test_an_identifier_left_in(tmp_path):
    path = write(tmp_path / "release.csv", ["name", *HEADER], [["n", *row] for row in rows()])
    assert broken(audit_release(path, PROMISES)) == ["identifiers absent"]


def test_the_failure_names_models_and_numbers_but_no_values(tmp_path):
    path = write(tmp_path / "release.csv", HEADER, rows()[1:])
    whole = write(tmp_path / "whole.csv", HEADER, rows())
    report = audit_release(path, PROMISES, certificate=certificate(whole))
    with pytest.raises(AuditFailedError) as error:
        report.raise_if_failed()
    assert error.value.exit_code == 1
    assert {"certificate.rows_out", "k-anonymity", "l-diversity of 'illness'"} <= {
        p.where for p in error.value.problems
    }
    text = str(error.value)
    assert "k-anonymity: required 3, achieved 2. Classes that do not keep it: 1." in text
    assert "l-diversity of 'illness': required 3, achieved 2." in text
    assert not any(value in text for value in ("[20", "flu", "ulcer", "cancer"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_any_changed_byte_fails_against_the_certificate(tmp_path, suffix):
    path = tmp_path / f"release{suffix}"
    table = pa.table(dict(zip(HEADER, map(list, zip(*rows(), strict=True)), strict=True)))
    if suffix == ".csv":
        write(path, HEADER, rows())
    elif suffix == ".parquet":
        pq.write_table(table, path, compression="none")
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    said, whole = certificate(path), path.read_bytes()
    assert audit_release(path, PROMISES, certificate=said).passed
    refused = 0
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert not audit_release(path, PROMISES, certificate=said).passed
        except Exception as error:
            assert type(error).__name__ == "DataError", error
            refused += 1
    assert refused  # a changed header, magic or offset is not even read


def test_what_the_certificate_leaves_out_does_not_agree(tmp_path):
    path = write(tmp_path / "release.csv", HEADER, rows())
    for said in ({}, certificate(path, rows_out=11), certificate(path, release_sha256="0" * 64)):
        report = audit_release(path, PROMISES, certificate=said)
        assert not report.passed
        assert not broken(report)
        assert all("certificate" in problem for problem in report.to_dict()["problems"])


def test_another_policy_is_a_failure_unless_the_auditor_says_that_it_may_be(tmp_path):
    path = write(tmp_path / "release.csv", HEADER, rows())
    said = certificate(path, policy_sha256="other", guarantees=[{"model": "of the other"}])
    report = audit_release(path, PROMISES, certificate=said)
    assert not report.passed
    assert "--other-policy" in str(report.problems)
    report = audit_release(path, PROMISES, certificate=said, other_policy=True)
    assert report.passed
    assert len(report.notes) == 1
    assert report.to_dict()["notes"] == list(report.notes)
    assert "guarantees" in report.claimed
    # what the release shows is compared all the same
    said["rows_out"] = 11
    assert not audit_release(path, PROMISES, certificate=said, other_policy=True).passed
    del said["policy_sha256"]
    assert not audit_release(path, PROMISES, certificate=said, other_policy=True).passed


def test_a_table_in_memory_has_no_digest():
    table = pa.table(dict(zip(HEADER, map(list, zip(*rows(), strict=True)), strict=True)))
    assert audit_release(table, PROMISES).release_sha256 is None
    assert not audit_release(table, PROMISES, certificate={"release_sha256": None, "rows_out": 12}).passed


def test_a_policy_from_a_file_is_the_one_from_python_that_says_the_same(tmp_path):
    path = write(tmp_path / "release.csv", HEADER, rows())
    text = json.dumps(PROMISES.model_dump(exclude_none=True, exclude_unset=True))
    (tmp_path / "policy.json").write_text(text)
    loaded = Policy.load(tmp_path / "policy.json")
    assert loaded.sha256 != PROMISES.sha256 == loaded.content_sha256
    audit_release(path, loaded, certificate=certificate(path)).raise_if_failed()
    (tmp_path / "policy.json").write_text(text.replace('"k": 3', '"k": 2'))
    assert not audit_release(path, Policy.load(tmp_path / "policy.json"), certificate=certificate(path)).passed
