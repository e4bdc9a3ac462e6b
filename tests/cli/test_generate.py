"""``sudare generate claims``: written whole under its name, or not at all."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pyarrow.parquet as pq
import pytest

from sudare.datasets import claims

from .people import command, line


def generate(*given):
    return command("generate", "claims", *given)


def test_claims(tmp_path):
    out = tmp_path / "claims.parquet"
    done = generate("--rows", "500", "--seed", "4", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{out}: 500 synthetic claims, seed 4.\n"
    assert pq.read_table(out).to_pylist() == claims(500, 4).to_pylist()
    assert list(tmp_path.iterdir()) == [out]


def test_one_row_without_a_seed(tmp_path):
    out = tmp_path / "one.parquet"
    done = generate("--rows", "1", "--out", out, "--json")
    assert json.loads(done.stdout) == {"path": str(out), "rows": 1, "seed": 0}
    assert pq.read_table(out).to_pylist() == claims(1, 0).to_pylist()


def test_quiet(tmp_path):
    done = generate("-n", "10", "-o", tmp_path / "claims.parquet", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_same_seed_gives_the_same_file(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        generate("-n", "1000", "--seed", "9", "-o", tmp_path / name)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--rows", "0", "--out", "claims.parquet"], "rows: got 0. Allowed: a whole number from 1."),
        (["--rows", "-1", "--out", "claims.parquet"], "rows: got -1"),
        (["--rows", "5", "--seed", "-1", "--out", "claims.parquet"], "seed: got -1. Allowed: a whole number from 0."),
        (["--rows", "many", "--out", "claims.parquet"], "--rows"),
        (["--rows", "5"], "--out"),
        (["--out", "claims.parquet"], "--rows"),
        (["--rows", "5", "--out", "claims.csv"], "does not end in .parquet"),
        (["--rows", "5", "--out", "none/claims.parquet"], "cannot be written: No such file or directory."),
    ],
)
def test_bad_usage(tmp_path, given, message):
    given = [tmp_path / word if "claims." in word else word for word in given]
    done = generate(*given)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_not_overwritten(tmp_path):
    out = tmp_path / "claims.parquet"
    out.write_text("mine")
    done = generate("--rows", "5", "--out", out, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "TargetError"
    assert done.stderr == f"sudare: {out}: exists already. Hint: choose another name, or remove it.\n"
    assert out.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_the_middle(tmp_path, number):
    given = line("generate", "claims", "--rows", "1000000000", "--out", tmp_path / "claims.parquet")
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 600
        while not list(tmp_path.iterdir()) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.7)
        process.send_signal(number)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 128 + number
    assert "no unfinished files were left behind" in said
    assert not list(tmp_path.iterdir())
