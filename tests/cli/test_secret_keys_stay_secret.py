"""No key, and nothing that depends on it but pseudonyms and offsets, is in what any command prints or writes."""

from __future__ import annotations

import base64
import json

import pyarrow as pa
import pytest
from pyarrow import csv

from sudare.transformations.secret_keys import SecretKey

from .people import run

KEY = "5f1c9a7e3b2d4860" * 4
SECRET = SecretKey.of_hex(KEY)

TABLE = pa.table(
    {
        "p": [f"p{each % 40}" for each in range(240)],
        "age": [20 + each % 60 for each in range(240)],
        "town": [f"t{each % 4}" for each in range(240)],
        "day": [f"2024-0{1 + each % 9}-1{each % 7}" for each in range(240)],
        "cost": [100 + 7 * (each % 50) for each in range(240)],
        "ill": [["flu", "gout", "cold"][each % 3] for each in range(240)],
    }
)
POLICY = {
    "columns": {
        "p": {"role": "subject", "transform": {"pseudonym": {"key": {"file": "study.key"}, "space": "a"}}},
        "age": {"role": "quasi", "hierarchy": {"bands": [10]}, "transform": {"top": 75}},
        "town": {"role": "quasi", "hierarchy": "flat"},
        "day": {"role": "insensitive", "transform": {"shift": {"key": {"env": "SUDARE_STUDY_KEY"}}}},
        "cost": {"role": "insensitive", "transform": {"noise": 0.2}},
        "ill": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": "ill"}],
    "method": {"name": "full-domain"},
    "sample": {"share": 0.9},
}
COMMANDS = [
    ["anonymize", "data.csv", "--policy", "policy.json", "--out", "release.csv", "--plan", "plan.json"],
    ["anonymize", "data.csv", "--policy", "policy.json", "--out", "other.parquet", "--json"],
    ["anonymize", "data.csv", "--policy", "policy.json", "--dry-run"],
    ["anonymize", "data.csv", "--policy", "bad.json", "--out", "bad.csv"],
    ["apply", "plan.json", "data.csv", "--out", "applied.csv"],
    ["audit", "release.csv", "--policy", "policy.json", "--json"],
    ["explore", "data.csv", "--policy", "policy.json", "--json"],
    ["compare", "data.csv", "--policy", "policy.json", "--methods", "full-domain,top-down", "--json"],
    ["risk", "data.csv", "--policy", "policy.json", "--json"],
    ["risk", "data.csv", "--policy", "policy.json", "--release", "release.csv"],
    ["report", "release.csv", "--data", "data.csv", "--policy", "policy.json", "--out", "report.html"],
    ["estimate", "release.csv", "--mean", "cost", "--json"],
    ["view", "release.csv"],
    ["init", "data.csv", "--preset", "gdpr-research", "--out", "draft.yaml"],
    ["reidentify", "--policy", "policy.json", "--column", "p", "--ids", "data.csv", "--id-column", "p",
     "--pseudonyms", "asked.txt", "--reason", "call back", "--out", "found.csv", "--log", "log.jsonl"],
    ["key", "new", "another.key"],
]  # fmt: skip


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Everything that the commands printed, and the folder with everything that they wrote."""
    folder = tmp_path_factory.mktemp("study")
    key = folder / "study.key"
    key.write_text(KEY + "\n")
    key.chmod(0o600)
    csv.write_csv(TABLE, folder / "data.csv")
    (folder / "policy.json").write_text(json.dumps(POLICY))
    broken = json.loads(json.dumps(POLICY))
    broken["columns"]["p"]["transform"]["pseudonym"]["key"] = {"file": "open.key"}
    (folder / "bad.json").write_text(json.dumps(broken))
    (folder / "open.key").write_text(KEY + "\n")
    (folder / "open.key").chmod(0o644)
    printed = {}
    with pytest.MonkeyPatch.context() as setting:
        setting.chdir(folder)
        setting.setenv("SUDARE_STUDY_KEY", KEY)
        for number, command in enumerate(COMMANDS):
            if command[0] == "reidentify":
                released = csv.read_csv(folder / "release.csv").column("p").to_pylist()
                (folder / "asked.txt").write_text("\n".join(sorted(set(released))[:3]) + "\n")
            done = run(*command)
            printed[f"{number} {command[0]}"] = (done.exit_code, done.output)
    (folder / "open.key").unlink()
    key.unlink()
    return folder, printed


def test_the_commands_did_their_work(outputs):
    _, printed = outputs
    wrong = {name: found for name, found in printed.items() if found[0] != (2 if name == "3 anonymize" else 0)}
    assert not wrong, wrong
    assert "chmod 600" in printed["3 anonymize"][1]


def test_no_output_has_a_key(outputs):
    folder, printed = outputs
    raw = bytes.fromhex(KEY)
    derived = [SECRET.derived(purpose).hex for purpose in ("shift", "sample", "space:a")]
    secrets = [KEY, KEY.upper(), base64.b64encode(raw).decode(), str(list(raw)), repr(raw), KEY[:32], *derived]
    places = {name: text for name, (_, text) in printed.items()}
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 12
    places |= {str(path): path.read_bytes().decode("latin-1") for path in written}
    found = [(name, number) for name, text in places.items() for number, each in enumerate(secrets) if each in text]
    assert found == []
    assert not [path for path, text in places.items() if raw.decode("latin-1") in text]


def test_no_log_or_message_has_a_person(outputs):
    """The log of reidentification and all messages are free of ids and pseudonyms."""
    folder, printed = outputs
    log = (folder / "log.jsonl").read_text()
    asked = (folder / "asked.txt").read_text().split()
    assert '"call back"' in log
    for text in (log, printed["14 reidentify"][1]):
        assert not [each for each in asked if each in text]
        assert '"p1"' not in text


def test_the_fingerprint_is_there(outputs):
    folder, _ = outputs
    certificate = json.loads((folder / "release.csv.sudare.json").read_text())
    assert {entry["key"] for entry in certificate["transformations"]} == {SECRET.fingerprint, None}
