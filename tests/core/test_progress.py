"""Progress: told to whoever listens, shown on a terminal, and silent everywhere else."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import sudare
from sudare.core.progress import silent

POLICY = {
    "columns": {"age": {"role": "quasi"}, "job": {"role": "quasi"}},
    "require": [{"model": "k-anonymity", "k": 5}],
}
TABLE = pa.table({"age": [number * 13 % 61 for number in range(300)], "job": ["cook", "judge", "nurse"] * 100})


def test_silent():
    assert silent("read", 0, 0) is None


def test_stages_in_order():
    told = []
    sudare.anonymize(TABLE, POLICY, progress=lambda *step: told.append(step))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert [stage for stage in stages if stage in ("read", "method", "render", "write", "audit")] == [
        "read",
        "method",
        "render",
        "write",
        "audit",
    ]
    shares = [done / total for stage, done, total in told if stage == "decide"]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_audit_tells_its_steps():
    told = []
    release = sudare.anonymize(TABLE, POLICY)
    sudare.audit(release.data, POLICY, progress=told.append)
    assert any("k-anonymity" in step for step in told)


def test_a_listener_may_stop_the_run(tmp_path):
    def stop(stage, done, total):
        if stage == "audit":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sudare.anonymize(TABLE, POLICY, out=tmp_path / "release.csv", progress=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def given(tmp_path):
    rows = zip(*TABLE.to_pydict().values(), strict=True)
    (tmp_path / "people.csv").write_text("age,job\n" + "".join(f"{age},{job}\n" for age, job in rows))
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    command = Path(sys.executable).with_name("sudare")
    return [command, "anonymize", tmp_path / "people.csv", "-p", tmp_path / "policy.json", "-o", tmp_path / "r.csv"]


def test_no_bars_in_a_pipe(given):
    done = subprocess.run(given, capture_output=True, text=True, timeout=600, check=True)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def on_a_terminal(arguments):
    """Run with a terminal as the standard error; return what was printed there and on the standard output."""
    terminal, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=end, env=environment) as process:
        os.close(end)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        printed = process.stdout.read()
    os.close(terminal)
    assert process.returncode == 0
    return shown.decode(), printed.decode()


def test_bars_on_a_terminal(given):
    shown, printed = on_a_terminal(given)
    assert "read" in shown
    assert "\x1b[" in shown
    assert "\x1b" not in printed
    assert "300 of 300 records" in printed


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_no_bars_where_none_are_wanted(given, option):
    shown, _ = on_a_terminal([*given, option])
    assert shown == ""
