"""`sudare key new`: a key in a file, and never anywhere else."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from .people import command, run


def key_of(path):
    [line] = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return line


def test_a_new_key(tmp_path):
    result = run("key", "new", tmp_path / "secret.key")
    assert result.exit_code == 0, result.output
    key = key_of(tmp_path / "secret.key")
    assert re.fullmatch("[0-9a-f]{64}", key)
    assert key not in result.output
    [fingerprint] = re.findall(r"Fingerprint ([0-9a-f]{8})$", result.stdout, re.MULTILINE)
    assert fingerprint in (tmp_path / "secret.key").read_text(encoding="utf-8")
    assert f"key: {{file: secret.key, fingerprint: '{fingerprint}'}}" in result.stdout
    assert os.name != "posix" or (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


def test_as_json(tmp_path):
    result = run("key", "new", tmp_path / "k", "--json")
    told = json.loads(result.stdout)
    assert told["key"] == str(tmp_path / "k")
    assert re.fullmatch("[0-9a-f]{8}", told["fingerprint"])
    assert key_of(tmp_path / "k") not in result.output
    run("key", "new", tmp_path / "other")
    assert key_of(tmp_path / "other") != key_of(tmp_path / "k")


def test_a_key_is_never_replaced(tmp_path):
    run("key", "new", tmp_path / "k")
    before = (tmp_path / "k").read_bytes()
    for more in ((), ("--json",)):
        result = run("key", "new", tmp_path / "k", *more)
        assert result.exit_code == 2
        assert "exists already" in result.output
    assert (tmp_path / "k").read_bytes() == before
    result = run("key", "new", tmp_path / "nowhere" / "k")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.skipif(os.name != "posix", reason="the line is for a shell")
def test_the_line_for_the_shell_gives_the_key(tmp_path):
    file = tmp_path / "it's a key"
    said = command("key", "new", file)
    assert said.returncode == 0, said.stderr
    [line] = re.findall(r"^    (export .*)$", said.stdout, re.MULTILINE)
    shell = subprocess.run(
        ["sh", "-c", f'{line}; printf %s "$SUDARE_KEY"'], capture_output=True, text=True, timeout=600, check=True
    )
    assert shell.stdout == key_of(file)


def test_keys_that_sign_are_made_as_before(tmp_path):
    pytest.importorskip("cryptography")
    result = run("key", "sign-new", tmp_path / "office.key", "--name", "The office")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "office.key.pub").exists()
