"""`sudare reidentify`, and that no command says a key, or the value behind a pseudonym."""

from __future__ import annotations

import csv
import json
import os

import pytest

from .people import command, read, run

IDS = [f"Qid{number:05}" for number in range(12)]
SPARE = [f"Qid{number:05}" for number in range(12, 30)]
RULES = """
columns:
  patient: {role: subject, transform: {pseudonym: {key: {file: a.key}}}}
  ward: {role: quasi}
  seen: {role: insensitive, transform: {shift: {days: 30, per: patient, key: {file: a.key}}}}
require:
  - {model: k-anonymity, k: 2}
"""


class Hospital:
    """A folder with a key, a policy, visits, their release, and a list of all patients."""

    def __init__(self, folder):
        self.folder = folder
        self.said = []
        self.do("key", "new", folder / "a.key")
        self.key = (folder / "a.key").read_text(encoding="utf-8").splitlines()[-1]
        (folder / "policy.yaml").write_text(RULES, encoding="utf-8", newline="")
        visits = [(name, "AB"[number % 2], f"2024-03-{number + 1:02}") for number, name in enumerate(IDS)]
        self.write("visits.csv", [("patient", "ward", "seen"), *visits])
        self.write("patients.csv", [("number",), *((name,) for name in (*IDS, *SPARE))])
        self.do("anonymize", folder / "visits.csv", "-p", folder / "policy.yaml", "-o", folder / "release.csv")
        self.shown = [row["patient"] for row in read(folder / "release.csv")]

    def write(self, name, rows):
        with (self.folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)

    def do(self, *words, code=0):
        result = run(*words)
        assert result.exit_code == code, result.output
        self.said.append(result.output)
        return result

    def ask(self, *asked, code=0, out="back.csv", more=()):
        words = [word for each in asked for word in ("--pseudonyms", each)]
        return self.do(
            "reidentify", "-p", self.folder / "policy.yaml", "--column", "patient",
            "--ids", self.folder / "patients.csv", "--id-column", "number",
            "--reason", "test is positive", "--out", self.folder / out, *words, *more, code=code,
        )  # fmt: skip

    @property
    def log(self):
        lines = (self.folder / "sudare-reidentify.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def hospital(tmp_path):
    return Hospital(tmp_path)


def test_patients_are_found(hospital):
    result = hospital.ask(*hospital.shown[:3], "0123456789abcdef", more=("--release", hospital.folder / "release.csv"))
    assert "the values of 3 of 4 pseudonyms" in result.stdout
    found = read(hospital.folder / "back.csv")
    assert [row["pseudonym"] for row in found] == hospital.shown[:3]
    assert {row["id"] for row in found} <= set(IDS)
    assert os.name != "posix" or (hospital.folder / "back.csv").stat().st_mode & 0o777 == 0o600
    assert [(entry["asked"], entry["found"]) for entry in hospital.log] == [(4, 3)]


def test_a_list_of_pseudonyms_and_json(hospital):
    (hospital.folder / "asked.txt").write_text("\n".join(hospital.shown), encoding="utf-8", newline="")
    told = json.loads(hospital.ask(hospital.folder / "asked.txt", more=("--json",)).stdout)
    assert (told["asked"], told["found"], told["not_found"]) == (12, 12, 0)
    assert told["out"] == str(hospital.folder / "back.csv")
    assert sorted(row["id"] for row in read(hospital.folder / "back.csv")) == IDS
    result = hospital.ask(hospital.folder / "asked.txt", hospital.shown[0], code=2, out="more.csv")
    assert "name one file, or pseudonyms" in result.stderr


def test_nobody_is_found(hospital):
    result = hospital.ask("0123456789abcdef", code=1)
    assert "none of the pseudonyms" in result.stderr
    assert not (hospital.folder / "back.csv").exists()
    assert json.loads(hospital.ask("0123456789abcdef", code=1, more=("--json",)).stdout)["found"] == 0
    assert [entry["found"] for entry in hospital.log] == [0, 0]


def test_quiet(hospital):
    assert hospital.ask(hospital.shown[0], more=("--quiet",)).output == ""


@pytest.mark.parametrize("missing", ["--reason", "--out", "--ids", "--column", "--policy", "--pseudonyms"])
def test_everything_that_is_needed_is_asked_for(hospital, missing):
    words = {
        "--policy": hospital.folder / "policy.yaml", "--column": "patient", "--ids": hospital.folder / "visits.csv",
        "--reason": "x", "--out": hospital.folder / "back.csv", "--pseudonyms": hospital.shown[0],
    }  # fmt: skip
    del words[missing]
    result = hospital.do("reidentify", *(word for pair in words.items() for word in pair), code=2)
    assert missing in result.stderr
    assert not (hospital.folder / "back.csv").exists()


def test_another_key_is_noticed_by_the_release(hospital):
    (hospital.folder / "a.key").unlink()
    hospital.do("key", "new", hospital.folder / "a.key")
    result = hospital.ask(hospital.shown[0], code=2, more=("--release", hospital.folder / "release.csv"))
    assert "the key has the fingerprint" in result.stderr
    assert not (hospital.folder / "sudare-reidentify.jsonl").exists()


def test_a_log_that_cannot_be_written(hospital):
    (hospital.folder / "sudare-reidentify.jsonl").mkdir()
    result = hospital.ask(hospital.shown[0], code=2)
    assert "without a log nothing is given" in result.stderr
    assert not (hospital.folder / "back.csv").exists()


def test_no_key_and_no_value_is_said_or_written_anywhere_else(hospital):
    folder, rules = hospital.folder, ("-p", hospital.folder / "policy.yaml")
    release = folder / "release.csv"
    hospital.ask(*hospital.shown)
    hospital.ask(IDS[0], hospital.shown[0], code=2, out="b.csv")
    hospital.ask("0123456789abcdef", code=1, out="b.csv")
    hospital.do("audit", release, *rules)
    hospital.do("audit", release, *rules, "--json")
    hospital.do("anonymize", folder / "visits.csv", *rules, "--dry-run")
    hospital.do("anonymize", folder / "visits.csv", *rules, "-o", folder / "second.csv", "--json")
    hospital.do("view", release)
    (folder / "a.key").chmod(0o644)
    if os.name == "posix":
        hospital.ask(hospital.shown[0], code=2, out="b.csv")
        hospital.do("anonymize", folder / "visits.csv", *rules, "-o", folder / "third.csv", code=2)
    texts = [*hospital.said]
    derived = bytes.fromhex(hospital.key)
    mine = ("a.key", "visits.csv", "patients.csv", "back.csv")
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in mine]
    assert len(contents) >= 5
    for content in (*contents, *(text.encode() for text in texts)):
        assert hospital.key.encode() not in content.lower()
        assert derived not in content
        for name in IDS:
            assert name.encode() not in content
    log = (folder / "sudare-reidentify.jsonl").read_text(encoding="utf-8")
    assert not any(shown in log for shown in hospital.shown)


def test_the_real_command(hospital):
    """As a process of its own, with the key in the environment."""
    rules = RULES.replace("{file: a.key}", "{env: SUDARE_KEY}")
    (hospital.folder / "policy.yaml").write_text(rules, encoding="utf-8", newline="")
    words = (
        "reidentify", "-p", hospital.folder / "policy.yaml", "--column", "patient",
        "--ids", hospital.folder / "visits.csv", "--reason", "call back", "--out", hospital.folder / "back.csv",
        "--pseudonyms", hospital.shown[0], "--log", hospital.folder / "audit.log",
    )  # fmt: skip
    ended = command(*words, SUDARE_KEY=hospital.key)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads((hospital.folder / "audit.log").read_text(encoding="utf-8"))["found"] == 1
    assert len(read(hospital.folder / "back.csv")) == 1
    failed = command(*words[:-2], SUDARE_KEY=hospital.key[:-1])
    assert failed.returncode == 2
    assert hospital.key[:8] not in failed.stderr
