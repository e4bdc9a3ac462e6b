"""Signed certificates: whose signature an audit believes, and what it says of others."""

from __future__ import annotations

import builtins
import json
import os

import pytest

import sudare
from sudare.core.errors import AuditFailedError, DataError, MissingExtraError, ParameterError, TargetError
from sudare.releases.signatures import PASSPHRASE, Signer, canonical, load_signer

from .tables import write

POLICY = {
    "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "require": [{"model": "k-anonymity", "k": 3}],
    "about": {"title": "A trial", "purpose": "to test 署名"},
}


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "people.csv", ["age", "ill"], [(20 + n % 7, "abc"[n % 3]) for n in range(42)])
    for name in ("office", "other"):
        sudare.new_signing_key(tmp_path / name, name=f"The {name}")
    return tmp_path


def made(folder, sign="office"):
    sudare.anonymize(folder / "people.csv", POLICY, out=folder / "r.csv", sign=sign and folder / sign)
    return folder / "r.csv.sudare.json"


def audit(folder, *keys):
    return sudare.audit(folder / "r.csv", POLICY, signed_by=[folder / f"{key}.pub" for key in keys])


def wrong(report):
    assert not report.passed
    return str(report.problems)


def test_a_signed_certificate_says_who_signed_it_and_when(folder):
    paper = json.loads(made(folder).read_text())
    report = audit(folder, "office")
    assert report.passed
    assert report.signature.who == report.signature.verified_by == "The office"
    assert report.signature.time == paper["signature"]["time"] >= paper["date"]
    assert report.to_dict()["signature"]["verified"] is True
    assert "signature" in report.verified
    assert audit(folder, "other", "office").passed
    assert paper["about"] == POLICY["about"]
    assert paper["source"] == {"kind": "text file"}


def test_without_a_key_a_signature_is_claimed(folder):
    made(folder)
    report = audit(folder)
    assert report.passed
    assert "signature" in report.claimed
    assert report.to_dict()["signature"]["verified"] is False


def test_a_certificate_that_is_not_signed(folder):
    made(folder, None)
    assert audit(folder).passed
    assert audit(folder).signature is None
    assert "not signed" in wrong(audit(folder, "office"))
    (folder / "r.csv.sudare.json").unlink()
    assert "there is no certificate" in wrong(audit(folder, "office"))


def test_a_signature_by_another_key(folder):
    made(folder, "other")
    assert "not made with any of the given keys" in wrong(audit(folder, "office"))
    paper = folder / "r.csv.sudare.json"
    told = json.loads(paper.read_text())
    told["signature"]["key"] = load_signer(folder / "office").sign({})["signature"]["key"]
    paper.write_text(json.dumps(told))
    assert "not valid" in wrong(audit(folder, "office"))


def test_a_signature_that_was_removed_or_damaged(folder):
    paper = made(folder)
    whole = json.loads(paper.read_text())
    paper.write_text(json.dumps({key: part for key, part in whole.items() if key != "signature"}))
    assert "not signed" in wrong(audit(folder, "office"))
    changes = ({"value": "?"}, {"more": "x"}, {"value": ""}, {"who": "x\n"}, {"time": "now"}, {"algorithm": "none"})
    for block in (None, {}, "x", *(whole["signature"] | change for change in changes)):
        paper.write_text(json.dumps(whole | {"signature": block}))
        assert "certificate.signature" in wrong(audit(folder, "office"))


def test_who_and_when_are_signed_too(folder):
    paper = made(folder)
    whole = json.loads(paper.read_text())
    for key, text in (("who", "Somebody else"), ("time", "2020-01-01T00:00:00Z")):
        paper.write_text(json.dumps(whole | {"signature": whole["signature"] | {key: text}}))
        assert "not valid" in wrong(audit(folder, "office"))


def test_a_certificate_of_which_one_byte_was_changed(folder):
    paper = made(folder)
    whole = paper.read_bytes()
    before = json.loads(whole)
    for place in range(0, len(whole), max(len(whole) // 60, 1)):
        paper.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            same = json.loads(paper.read_bytes()) == before
        except ValueError:
            same = False
        try:
            assert audit(folder, "office").passed == same
        except (AuditFailedError, DataError):
            assert not same


def test_the_layout_of_the_file_does_not_matter(folder):
    paper = made(folder)
    paper.write_text(json.dumps(json.loads(paper.read_text()), indent=7, sort_keys=True))
    assert audit(folder, "office").passed


def test_what_is_signed_is_the_same_in_both_rooms():
    paper = {"b": [1.5, None, True], "a": "ü\u2028", "signature": {"who": "x"}}
    assert canonical(paper) == b'{"a":"\\u00fc\\u2028","b":[1.5,null,true],"signature":{"who":"x"}}'


def test_a_private_key_is_for_its_owner_alone(folder):
    assert (folder / "office").stat().st_mode & 0o777 == 0o600
    (folder / "office").chmod(0o644)
    with pytest.raises(ParameterError, match="can be read or written by others"):
        made(folder)
    assert not (folder / "r.csv").exists()


def test_a_key_is_never_replaced(folder):
    before = (folder / "office").read_bytes()
    with pytest.raises(TargetError, match="exists already"):
        sudare.new_signing_key(folder / "office", name="x")
    (folder / "fresh.pub").write_text("x")
    with pytest.raises(TargetError, match=r"fresh\.pub: exists already"):
        sudare.new_signing_key(folder / "fresh", name="x")
    assert not (folder / "fresh").exists()
    assert (folder / "office").read_bytes() == before


@pytest.mark.parametrize("name", ["", " ", "a\x1b[2J", "n" * 201])
def test_names_that_cannot_stand_in_a_line(tmp_path, name):
    with pytest.raises(ParameterError, match="one line"):
        sudare.new_signing_key(tmp_path / "key", name=name)


def test_a_passphrase(folder, monkeypatch):
    sudare.new_signing_key(folder / "locked", name="The locked", passphrase="correct horse")
    assert b"ENCRYPTED PRIVATE KEY" in (folder / "locked").read_bytes()
    monkeypatch.delenv(PASSPHRASE, raising=False)
    with pytest.raises(ParameterError, match=PASSPHRASE):
        made(folder, "locked")
    monkeypatch.setenv(PASSPHRASE, "wrong")
    with pytest.raises(ParameterError, match="passphrase is wrong"):
        made(folder, "locked")
    monkeypatch.setenv(PASSPHRASE, "correct horse")
    made(folder, "locked")
    assert audit(folder, "locked").passed
    made(folder, "office")  # which has none


EMPTY = "Key of: x\n-----BEGIN {0} KEY-----\nAAAA\n-----END {0} KEY-----\n"


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, b"Key of: x\n"], ids=range(4))
def test_what_is_no_key(folder, content):
    for name in ("no", "no.pub"):
        (folder / name).write_bytes(content)
        os.chmod(folder / name, 0o600)  # noqa: PTH101
    with pytest.raises(ParameterError):
        made(folder, "no")
    made(folder)
    with pytest.raises(ParameterError, match="public key"):
        audit(folder, "no")


def test_keys_that_are_damaged(folder):
    for name, kind in (("no", "PRIVATE"), ("no.pub", "PUBLIC")):
        (folder / name).write_text(EMPTY.format(kind))
        (folder / name).chmod(0o600)
    with pytest.raises(ParameterError, match="is damaged"):
        made(folder, "no")
    made(folder)
    with pytest.raises(ParameterError, match="not an Ed25519 public key"):
        audit(folder, "no")


def test_public_and_private_keys_are_not_mixed_up(folder):
    made(folder)
    with pytest.raises(ParameterError, match="is a private key"):
        sudare.audit(folder / "r.csv", POLICY, signed_by=folder / "office")
    (folder / "office.pub").chmod(0o600)
    with pytest.raises(ParameterError, match="is a public key"):
        made(folder, "office.pub")
    with pytest.raises(ParameterError, match="cannot be read"):
        audit(folder, "nobody")


def test_without_the_library_the_extra_is_named(folder, monkeypatch):
    made(folder)
    real = builtins.__import__

    def refuse(name, *given, **more):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for attempt in (lambda: made(folder), lambda: audit(folder, "office"),
                    lambda: sudare.new_signing_key(folder / "more", name="x")):  # fmt: skip
        with pytest.raises(MissingExtraError, match="pip install cryptography"):
            attempt()
    assert audit(folder).passed  # what nobody asks for needs nothing


def test_a_plan_is_applied_and_signed(folder):
    rules = POLICY | {
        "columns": {"age": {"role": "quasi", "hierarchy": {"bands": [5, 20]}}, "ill": {"role": "sensitive"}},
        "method": {"name": "full-domain"},
    }
    plan = sudare.anonymize(folder / "people.csv", rules).plan
    sudare.apply(plan, folder / "people.csv", out=folder / "r.csv", sign=folder / "office")
    assert sudare.audit(folder / "r.csv", rules, signed_by=folder / "office.pub").passed


def test_a_release_in_a_database_is_signed(folder):
    import duckdb

    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 20 + n % 7 AS age, 'a' || n % 3 AS ill FROM range(42) t(n)")
    place = f"{folder / 'd.duckdb'}#r"
    made = sudare.anonymize(f"{folder / 'd.duckdb'}#people", POLICY, out=place, sign=folder / "office")
    assert made.certificate["source"] == {"kind": "DuckDB table"}
    report = sudare.audit(place, POLICY, signed_by=folder / "office.pub")
    assert report.passed
    assert report.signature.verified_by == "The office"
    assert not sudare.audit(place, POLICY, signed_by=folder / "other.pub").passed


def test_a_report_shows_who_signed_and_the_verdict_first(folder):
    made(folder)
    page = sudare.report(folder / "r.csv", folder / "people.csv", POLICY).html
    assert "by The office, at " in page
    assert "not verified" in page
    page = sudare.report(folder / "r.csv", folder / "people.csv", POLICY, signed_by=folder / "office.pub").html
    assert "verified with the public key of The office" in page
    assert "to test 署名" in page
    head = page[: page.index("<nav")]
    assert "EMA policy 0070" in head
    assert head.index("not met") < head.index('<dl class="facts">')
    with pytest.raises(AuditFailedError, match="not made with any"):
        sudare.report(folder / "r.csv", folder / "people.csv", POLICY, signed_by=folder / "other.pub")


def test_a_signer_does_not_show_its_key(folder):
    assert "key" not in repr(Signer("x", "secret")).replace("Signer(who='x')", "")
