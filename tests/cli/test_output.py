"""Outputs that cannot encode every letter, as those of Windows that are no terminal: what is said arrives anyway."""

from __future__ import annotations

import json

import pytest

from .people import command, policy, text


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "latin-1", "utf-8"])
def test_letters_that_the_output_does_not_have(place, encoding):
    data = place.data(text().replace("zip", "Größe 二 😀"))
    rules = place.policy(policy() | {"columns": {"Größe 二 😀": {"role": "quasi"}, "disease": {"role": "sensitive"}}})
    given = ("anonymize", data, "--policy", rules, "--dry-run")
    ended = command(*given, "--json", PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C.UTF-8", decode=encoding)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert set(json.loads(ended.stdout)["rows"][0]) == {"Größe 二 😀", "disease"}
    plain = command(*given, PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C.UTF-8", decode=encoding)
    assert (plain.returncode, plain.stderr) == (0, "")
    shown = "Größe 二 😀" if encoding == "utf-8" else "Größe \\u4e8c \\ud83d\\ude00"
    assert shown in plain.stdout
    failed = command("audit", place.folder / "二.csv", "--policy", rules, PYTHONIOENCODING=encoding, decode=encoding)
    assert failed.returncode == 2
    assert "there is no such file" in failed.stderr
