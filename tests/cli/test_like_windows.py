"""Whole runs under rules of Windows that Linux can play (see like_windows.py), and by the code that is for Windows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import sudare

from .people import policy

if not sys.platform.startswith("linux"):
    pytest.skip("reads /proc", allow_module_level=True)

PROGRAM = Path(__file__).with_name("like_windows.py")


def line(*given):
    return [sys.executable, str(PROGRAM), *map(str, given)]


def run(place, *given):
    """Run a command; its temporary files are in a folder of their own, and are all removed."""
    temporary = place.folder / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary)}
    ended = subprocess.run(
        line(*given), capture_output=True, text=True, timeout=600, check=False, env=environment, cwd=place.folder
    )
    place.check_said(ended.stdout + ended.stderr)
    assert list(temporary.iterdir()) == []
    return ended


def made(place, *given, out):
    """Make a release; nothing but the release and its certificate is there."""
    ended = run(place, "anonymize", *given, "--out", place.out / out)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    assert sorted(path.name for path in place.out.iterdir()) == [out, f"{out}.sudare.json"]
    return place.out / out


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_release_is_made_replaced_and_audited(place, ending):
    data, rules = place.data(), place.policy()
    for _ in range(2):
        release = made(place, data, "--policy", rules, "--memory", "900MB", out=f"release.{ending}")
    assert sudare.audit(release, rules).passed
    audited = run(place, "audit", release, "--policy", rules)
    assert (audited.returncode, audited.stderr) == (0, ""), audited.stderr
    assert b"\r" not in release.with_name(release.name + ".sudare.json").read_bytes()


def test_two_tables(place):
    columns = {name: {"role": "quasi"} for name in ("age", "zip", "job")} | {"name": {"role": "identifier"}}
    rules = {
        "columns": columns | {"disease": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 2, "column": "disease"}],
        "method": {"name": "anatomy"},
    }
    for _ in range(2):
        ended = run(place, "anonymize", place.data(), "--policy", place.policy(rules), "--out", place.out / "r.csv")
        assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    assert sorted(path.name for path in place.out.iterdir()) == ["r.csv", "r.csv.sudare.json", "r.sensitive.csv"]


def test_plans_drafts_keys_reports_and_dry_runs(place):
    data = place.data()
    bands = {"age": {"role": "quasi", "hierarchy": {"bands": [10]}}, "job": {"role": "identifier"}}
    rules = place.policy(policy(bands, method={"name": "full-domain"}))
    for given in (
        ("init", data, "--out", "draft.yaml"),
        ("key", "sign-new", "key", "--name", "Office"),
        ("anonymize", data, "--policy", rules, "--out", "r.csv", "--plan", "plan.json", "--sign", "key"),
        ("apply", "plan.json", data, "--out", "again.csv"),
        ("report", "r.csv", "--data", data, "--policy", rules, "--out", "report.html"),
        ("anonymize", data, "--policy", rules, "--dry-run", "--out", "never.csv", "--quiet"),
        ("audit", "r.csv", "--policy", rules, "--signed-by", "key.pub"),
    ):
        ended = run(place, *given)
        assert (ended.returncode, ended.stderr) == (0, ""), (given, ended.stderr)
    assert {path.name for path in place.folder.iterdir()} == {
        "people.csv", "policy.json", "out", "temporary", "draft.yaml", "key", "key.pub", "r.csv", "r.csv.sudare.json",
        "plan.json", "again.csv", "again.csv.sudare.json", "report.html",
    }  # fmt: skip
    for name in ("draft.yaml", "key", "key.pub", "plan.json", "report.html"):
        assert b"\r" not in (place.folder / name).read_bytes()


def test_what_a_killed_run_left_is_removed(place):
    stale = place.out / ".sudare-tmp-0123456789abcdef"
    (stale / "deep").mkdir(parents=True)
    for name in ("lock", "release.csv", "deep/part"):
        (stale / name).write_text("x", encoding="utf-8")
    made(place, place.data(), "--policy", place.policy(), out="release.csv")
    assert not stale.exists()


def test_a_release_that_is_in_use_stays_as_it_was(place):
    """A spreadsheet that has the file open keeps it from being replaced."""
    release = made(place, place.data(), "--policy", place.policy(), out="release.csv")
    before = {path: path.read_bytes() for path in place.out.iterdir()}
    program = place.folder / "in_use.py"
    program.write_text(
        "import sys\nfrom sudare.cli import main\nheld = open(sys.argv.pop(1), 'rb')\nmain()\n", encoding="utf-8"
    )
    ended = run(place, "-m", program, release, "anonymize", place.data(), "--policy", place.policy(),
                "--out", release)  # fmt: skip
    assert ended.returncode == 2
    assert "release.csv: cannot be put in place: it is being used." in ended.stderr
    assert {path: path.read_bytes() for path in place.out.iterdir()} == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop(place, number):
    draw = np.random.default_rng(1)
    cells = {"age": draw.integers(0, 90, 100_000), "zip": draw.integers(10_000, 99_999, 100_000)}
    pyarrow.csv.write_csv(pa.table(cells), place.folder / "large.csv")
    columns = {name: {"role": "quasi"} for name in cells}
    rules = place.policy({"columns": columns, "require": [{"model": "k-anonymity", "k": 5}]})
    given = line("anonymize", place.folder / "large.csv", "--policy", rules, "--out", place.out / "release.csv")
    for wanted in (".sudare-tmp-*", ".sudare-tmp-*/release.csv"):
        with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + 300
            while not list(place.out.glob(wanted)) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.005)
            process.send_signal(number)
            said = process.communicate(timeout=600)
        assert not list(place.out.glob(".sudare*"))
        if process.returncode:  # else it was quicker than the signal
            assert process.returncode == 128 + number
            assert said == ("", "sudare: stopped; no unfinished files were left behind.\n")


def test_the_certificate_of_both_systems_is_the_same(place):
    data, rules = place.data(), place.policy()
    there = json.loads(run(place, "anonymize", data, "--policy", rules, "--out", place.out / "a.csv", "--json").stdout)
    here = json.loads(place.anonymize(data, rules, "--json", out="b.csv").stdout)
    changing = ("release", "seconds", "date", "release_sha256")
    assert {key: value for key, value in there.items() if key not in changing} == {
        key: value for key, value in here.items() if key not in changing
    }
