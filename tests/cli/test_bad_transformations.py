"""Mistakes in transformations end with exit code 2, a message with what to do, and nothing left behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .people import run

TABLE = """patient,age,zip,visit,note,cost
Qanna,34,90411,2024-03-05,xpox,120
Qanna,34,90411,2024-03-12,xcold,80
Qbodo,36,90412,2024-03-05,xpox,200
Qcyra,41,90499,2024-05-31,xpox,90
"""
SECRETS = ("Qanna", "Qbodo", "Qcyra", "xpox", "xcold", "90411", "2024-03-12")
KEY = "8d1f6c2b7a3e9054" * 4


def columns(**changed: Any) -> dict[str, Any]:
    base = {
        "patient": {"role": "identifier"}, "age": {"role": "quasi"}, "zip": {"role": "quasi"},
        "visit": {"role": "insensitive"}, "note": {"role": "insensitive"}, "cost": {"role": "insensitive"},
    }  # fmt: skip
    return {**base, **changed}


def insensitive(step: Any) -> dict[str, Any]:
    return {"role": "insensitive", "transform": step}


def pseudonym(**place: str) -> dict[str, Any]:
    return insensitive({"pseudonym": {"key": place}})


MISTAKES = {
    "a shift of nobody": (columns(visit=insensitive("shift")), "nothing says whom a record is about"),
    "a mask on numbers": (columns(age={"role": "quasi", "kind": "numeric", "transform": "mask"}), "does not work with"),
    "noise on categories": (columns(note=insensitive({"noise": {"scale": 2}})), "4 cells are no numbers"),
    "noise on words": (columns(note={**insensitive({"noise": 0.1}), "kind": "categorical"}), "works with numbers"),
    "a list with gaps": (
        columns(note=insensitive({"replace": {"values": {"xpox": "pox"}}})), "1 cell is not in the list of replacements"
    ),
    "a shift of words": (columns(note=insensitive({"shift": {"per": "patient"}})), "4 cells are no dates"),
    "an identifier": (columns(patient={"role": "identifier", "transform": "redact"}), "an identifier is not released"),
    "an empty transform": (columns(note=insensitive(None)), "say what is to be done"),
    "an unknown one": (columns(note=insensitive({"maks": {}})), "Did you mean 'mask'"),
    "a key in the policy": (columns(note=insensitive({"pseudonym": {"key": KEY}})), "never in a policy"),
    "no key": (columns(note=pseudonym(env="SUDARE_NOT_SET")), "SUDARE_NOT_SET is not set"),
    "a key file that is not there": (columns(note=pseudonym(file="no.key")), "sudare key new"),
    "an open key file": (columns(note=pseudonym(file="open.key")), "chmod 600"),
    "a short key": (columns(note=pseudonym(file="short.key")), "64 hexadecimal digits"),
    "a swap of few": (columns(cost=insensitive({"swap": 0.2})), "everybody could undo it"),
    "limits exchanged": (columns(cost=insensitive([{"top": 10}, {"bottom": 500}])), "exchange the two limits"),
    "steps in a wrong order": (columns(cost=insensitive([{"band": 10}, {"round": 5}])), "here are texts (after band)"),
    "a promise about noise": (
        columns(cost={"role": "sensitive", "transform": {"noise": 0.1}}), "a promise is about this column"
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_leave_nothing_behind(tmp_path, mistake):
    given, said = MISTAKES[mistake]
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    for name, text, mode in (("open.key", KEY, 0o644), ("short.key", KEY[:40], 0o600)):
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
        (tmp_path / name).chmod(mode)
    require: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 2}]
    if given["cost"]["role"] == "sensitive":
        require.append({"model": "l-diversity", "l": 2, "column": "cost"})
    (tmp_path / "policy.json").write_text(json.dumps({"columns": given, "require": require}), encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    result = run("anonymize", tmp_path / "people.csv", "-p", tmp_path / "policy.json", "-o", tmp_path / "out.csv")
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.split())
    assert sorted(tmp_path.rglob("*")) == before
    assert not [secret for secret in (*SECRETS, KEY, KEY[:40]) if secret in result.output]


def test_all_mistakes_come_at_once(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    given = columns(
        visit=insensitive("shift"), note=insensitive({"pseudonym": {"key": KEY}}), cost=insensitive({"round": -1})
    )
    policy = {"columns": given, "require": [{"model": "k-anonymity", "k": 2}]}
    (tmp_path / "policy.json").write_text(json.dumps(policy), encoding="utf-8")
    result = run(
        "anonymize", tmp_path / "people.csv", "-p", tmp_path / "policy.json", "-o", tmp_path / "out.csv", "--json"
    )
    assert result.exit_code == 2
    assert {"note", "cost"} <= {
        each for each in ("note", "cost", "visit") if f"columns.{each}.transform" in result.output
    }
