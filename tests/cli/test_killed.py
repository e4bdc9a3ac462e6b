"""Stopped at any moment: the release is there whole and proven, or it is not there at all."""

from __future__ import annotations

import json
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import sudare
from sudare.core.errors import SudareError
from sudare.core.private_folders import PREFIX
from sudare.releases.file_writers import write_batches

from .people import command, line

RUNS = 12
ROWS = 150_000


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table that takes a second or two, its policy, and how long a run takes."""
    folder = tmp_path_factory.mktemp("table")
    draw = np.random.default_rng(1)
    jobs = np.array([f"job {number}" for number in range(60)])
    cells = {
        "age": draw.integers(0, 90, ROWS),
        "zip": draw.integers(10_000, 99_999, ROWS),
        "job": jobs[draw.integers(0, 60, ROWS)],
        "disease": draw.integers(0, 30, ROWS),
    }
    pyarrow.csv.write_csv(pa.table(cells), folder / "people.csv")
    columns = {name: {"role": "quasi"} for name in ("age", "zip", "job")} | {"disease": {"role": "sensitive"}}
    for name, k in (("policy.json", 5), ("other.json", 7)):
        rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": k}]}
        (folder / name).write_text(json.dumps(rules))
    given = arguments(folder, folder / "first.csv")
    assert command(*given).returncode == 0  # loads the compiled kernels into the cache
    started = time.perf_counter()
    assert command(*given).returncode == 0
    return folder, time.perf_counter() - started


def arguments(folder, out, policy="policy.json"):
    return ["anonymize", folder / "people.csv", "--policy", folder / policy, "--out", out, "--quiet"]


def stopped(given, delay, number):
    """Start the command, send it a signal after a while, and return it once it has ended."""
    with subprocess.Popen(line(*given), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(delay)
        process.send_signal(number)
        process.said = process.communicate(timeout=600)
    return process


def delays(duration, count=RUNS):
    """Moments spread over a run, each at random within its share of it."""
    return [duration * (number + random.random()) / count for number in range(count)]


def check_whole_or_absent(out, policy):
    """The release is there, with a certificate, and is proven by both; or it is not there."""
    if out.exists():
        certificate = json.loads(out.with_name(f"{out.name}.sudare.json").read_text())
        assert certificate["rows_in"] == ROWS
        assert sudare.audit(out, policy).passed
    return out.exists()


def leftovers(folder):
    return [path for path in folder.iterdir() if path.name.startswith(PREFIX)]


def test_killed_at_any_time(table, tmp_path):
    folder, duration = table
    out, swept, moments = tmp_path / "release.csv", 0, delays(duration)
    for delay in moments:
        stopped(arguments(folder, out), delay, signal.SIGKILL)
        check_whole_or_absent(out, folder / "policy.json")
        swept += len(leftovers(tmp_path))
        out.unlink(missing_ok=True)
        if not swept and delay == moments[-1] and len(moments) < 20 * RUNS:
            # the machine is more or less busy than it was in the first run
            moments += delays(duration * random.choice((0.25, 0.5, 2, 4)))
    assert swept
    assert len(leftovers(tmp_path)) <= 1  # each run removes what the one before it left
    assert command(*arguments(folder, out)).returncode == 0
    assert check_whole_or_absent(out, folder / "policy.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release.csv", "release.csv.sudare.json"]


def test_killed_while_overwriting(table, tmp_path):
    """Never the old release beside the new certificate, or the other way round, with an audit that passes."""
    folder, duration = table
    out = tmp_path / "release.csv"
    assert command(*arguments(folder, out)).returncode == 0
    old = out.read_bytes()
    beside = out.with_name("release.csv.sudare.json")
    # most of the moments are late, where the files are exchanged
    for delay in [*delays(duration, 3), *(duration * random.uniform(0.7, 1.0) for _ in range(5))]:
        stopped(arguments(folder, out, "other.json"), delay, signal.SIGKILL)
        if not out.exists():
            continue
        is_old = out.read_bytes() == old
        certificate = json.loads(beside.read_text())
        passed = sudare.audit(out, folder / ("policy.json" if is_old else "other.json")).passed
        assert passed
        [promise] = [one for one in certificate["guarantees"] if one["model"] == "k-anonymity"]
        assert promise["required"] == (5 if is_old else 7)


def test_a_mixed_pair_never_passes(table, tmp_path):
    """What the order of placing guards against: the audit would notice it, too."""
    folder, _ = table
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert command(*arguments(folder, first)).returncode == 0
    assert command(*arguments(folder, second, "other.json")).returncode == 0
    (tmp_path / "second.csv.sudare.json").replace(tmp_path / "first.csv.sudare.json")
    report = sudare.audit(first, folder / "policy.json")
    assert not report.passed
    with pytest.raises(SudareError, match="is not the digest of this file"):
        report.raise_if_failed()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_asked_to_stop(table, tmp_path, number):
    """It ends in order: no folder is left, and the exit code says why it ended."""
    folder, duration = table
    out = tmp_path / "release.csv"
    for delay in delays(0.85 * duration, 5):
        process = stopped(arguments(folder, out), 0.15 * duration + delay, number)
        done = check_whole_or_absent(out, folder / "policy.json")
        assert leftovers(tmp_path) == []
        if not done:
            assert list(tmp_path.iterdir()) == []
            # on a busy machine the interpreter may still be on its way to our handlers
            assert process.returncode in (128 + number, -number)
            if process.returncode > 0:
                assert process.said == ("", "sudare: stopped; no unfinished files were left behind.\n")
        for path in tmp_path.iterdir():
            path.unlink()


ASKED_WHILE_LOADING = """
import os, signal, sys, threading
from numba.core.codegen import CPUCodeLibrary
from sudare.cli import main

left, load = [int(sys.argv.pop(1))], CPUCodeLibrary._object_getbuffer_hook

def asked(module):
    if threading.current_thread() is threading.main_thread():
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGTERM)
    return load(module)

CPUCodeLibrary._object_getbuffer_hook = staticmethod(asked)
main()
"""
"""The command, asked to stop at the moment when LLVM asks for the code of a kernel, the given one of them."""


@pytest.mark.parametrize("kernel", range(1, 6))
def test_asked_to_stop_while_compiled_code_is_loaded(table, tmp_path, kernel):
    """No kernel is left without its code, and then called."""
    folder, _ = table
    given = [sys.executable, "-c", ASKED_WHILE_LOADING, str(kernel), *arguments(folder, tmp_path / "release.csv")]
    ended = subprocess.run(given, capture_output=True, text=True, timeout=600, check=False)
    assert (ended.returncode, ended.stderr) == (
        128 + signal.SIGTERM,
        "sudare: stopped; no unfinished files were left behind.\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_text_is_written_by_the_thread_that_asks_for_it(tmp_path):
    """DuckDB 2.0 takes down what threads of its own still work on, if it is stopped while they write."""
    threads = []

    def batches():
        for _ in range(3):
            threads.append(len(list(Path("/proc/self/task").iterdir())))
            yield pa.record_batch({"a": [str(number) for number in range(100_000)]})

    write_batches(pa.schema([("a", pa.string())]), batches(), tmp_path / "release.csv")
    assert len(threads) == 3
    assert max(threads) == threads[0]  # the first is made before there is a database


def test_asked_to_stop_with_json(table, tmp_path):
    folder, duration = table
    out, delay = tmp_path / "release.csv", duration / 2
    for _ in range(20):
        process = stopped([*arguments(folder, out), "--json"], delay, signal.SIGTERM)
        if process.returncode not in (0, -signal.SIGTERM):
            break
        delay *= 0.7 if process.returncode == 0 else 1.5  # it was done already, or not yet on its feet
    assert process.returncode == 128 + signal.SIGTERM
    assert json.loads(process.said[0])["error"]["exit_code"] == 128 + signal.SIGTERM


def test_the_folder_is_private_while_it_is_there(table, tmp_path):
    folder, _ = table
    modes = set()
    with subprocess.Popen(line(*arguments(folder, tmp_path / "release.csv"))) as process:
        while process.poll() is None:
            for path in leftovers(tmp_path):
                try:
                    modes.add(stat.S_IMODE(path.stat().st_mode))
                except FileNotFoundError:
                    break
            time.sleep(0.005)
    assert modes == {0o700}
    assert process.returncode == 0
    assert leftovers(tmp_path) == []


def test_two_at_once(table, tmp_path):
    """A run does not sweep away the folder of another that is still at work."""
    folder, _ = table
    runs = [subprocess.Popen(line(*arguments(folder, tmp_path / f"{name}.csv"))) for name in "ab"]
    assert [run.wait(timeout=600) for run in runs] == [0, 0]
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["a.csv", "b.csv"]
    assert leftovers(tmp_path) == []


def test_nobody_listening_does_not_undo_a_release(table, tmp_path):
    folder, _ = table
    out = tmp_path / "release.csv"
    given = [argument for argument in arguments(folder, out) if argument != "--quiet"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(line(*given), stdout=full, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert check_whole_or_absent(out, folder / "policy.json")
