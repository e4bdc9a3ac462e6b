"""Loading secret keys: everything that can be wrong with one has a message that says what to do, and shows nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sudare.core.errors import PolicyError, TargetError
from sudare.policy import KeySpec
from sudare.transformations.secret_keys import SecretKey, load_key, load_keys, new_key

GOOD = "5d2f3e0c9a1b4876e5d2c3b4a5968778695a4b3c2d1e0f9e8d7c6b5a49382716"


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"{GOOD}\n",
        f"# a comment\n{GOOD}\n",
        f"\ufeff{GOOD.upper()}\r\n\r\n",
        f"\n  {GOOD}  \n  # behind it\n",
    ],
)
def test_a_key_file(tmp_path, text):
    write(tmp_path / "a.key", text)
    assert load_key(KeySpec(file="a.key"), tmp_path, "here").hex == GOOD
    assert load_key(KeySpec(file=str(tmp_path / "a.key")), Path("elsewhere"), "here").hex == GOOD


def test_a_key_in_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("A_KEY", f" {GOOD}\n")
    assert load_key(KeySpec(env="A_KEY"), tmp_path, "here").hex == GOOD


TEXTS = {
    "": "holds no key",
    "# only a comment\n": "holds no key",
    f"{GOOD}\n{GOOD}\n": "more than one line",
    GOOD[:-1]: "too short",
    GOOD[:32]: "too short",
    GOOD + "00": "too long",
    "correct horse battery staple": "no key",
    GOOD[:-1] + "g": "no key",
    "\x00" * 64: "no key",
    "0" * 64: "not random",
    "0123" * 16: "not random",
    f"-----BEGIN PRIVATE KEY-----\n{GOOD}\n-----END PRIVATE KEY-----\n": "another kind",
    "é" * 64: "no key",
}


@pytest.mark.parametrize(("text", "what"), TEXTS.items())
def test_what_is_no_key_is_refused_and_not_shown(tmp_path, monkeypatch, text, what):
    write(tmp_path / "k", text)
    specs = [KeySpec(file="k")]
    if "\0" not in text and text:
        monkeypatch.setenv("A_KEY", text)
        specs.append(KeySpec(env="A_KEY"))
    for spec in specs:
        with pytest.raises(PolicyError) as caught:
            load_key(spec, tmp_path, "columns.id.transform.0.pseudonym.key")
        [problem] = caught.value.problems
        assert what in problem.what
        assert problem.hint
        assert problem.where == "columns.id.transform.0.pseudonym.key"
        for line in text.splitlines():
            for start in range(max(len(line) - 8, 0)):
                assert line[start : start + 8] not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o660, 0o777, 0o601])
def test_a_file_that_others_may_read_or_change_is_refused(tmp_path, mode):
    write(tmp_path / "k", GOOD, mode)
    with pytest.raises(PolicyError, match="read or changed by others") as caught:
        load_key(KeySpec(file="k"), tmp_path, "here")
    assert "chmod 600 k" in caught.value.problems[0].hint


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_of_its_owner_alone_is_read(tmp_path, mode):
    write(tmp_path / "k", GOOD, mode)
    assert load_key(KeySpec(file="k"), tmp_path, "here").hex == GOOD


def test_keys_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_KEY", raising=False)
    monkeypatch.setenv("EMPTY_KEY", " ")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    specs = {
        "a": KeySpec(env="NO_KEY"),
        "b": KeySpec(env="EMPTY_KEY"),
        "c": KeySpec(file="none"),
        "d": KeySpec(file="folder"),
        "e": KeySpec(file="link"),
    }
    with pytest.raises(PolicyError) as caught:
        load_keys(specs, tmp_path)
    whats = {problem.where: problem.what for problem in caught.value.problems}
    assert "NO_KEY is not set" in whats["a"]
    assert "EMPTY_KEY is empty" in whats["b"]
    assert "does not exist" in whats["c"]
    assert "is a folder" in whats["d"]
    assert "does not exist" in whats["e"]
    assert all(problem.hint for problem in caught.value.problems)
    write(tmp_path / "k", GOOD)
    assert load_keys({"a": KeySpec(file="k"), "b": KeySpec(file="k")}, tmp_path) == {
        "a": SecretKey.of_hex(GOOD),
        "b": SecretKey.of_hex(GOOD),
    }


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(PolicyError, match="not a regular file"):
        load_key(KeySpec(file="pipe"), tmp_path, "here")


def test_a_new_key(tmp_path):
    fingerprint = new_key(tmp_path / "k")
    found = load_key(KeySpec(file="k"), tmp_path, "here")
    assert found.fingerprint == fingerprint
    assert fingerprint in (tmp_path / "k").read_text(encoding="utf-8").splitlines()[0]
    assert os.name != "posix" or (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    before = (tmp_path / "k").read_bytes()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for taken in ("k", "link"):
        with pytest.raises(TargetError, match="exists already"):
            new_key(tmp_path / taken)
    assert (tmp_path / "k").read_bytes() == before
    assert not (tmp_path / "target").exists()
    with pytest.raises(TargetError, match="cannot be written"):
        new_key(tmp_path / "nowhere" / "k")
