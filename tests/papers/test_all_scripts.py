"""The script that runs all others: none is forgotten, and each knows the options that it is given."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from papers.scripts import KEPT, ROOT, load_script

script = load_script("all")


def test_every_script_with_a_page_is_run():
    with_page = {path.stem for path in (ROOT / "papers").glob("*.py") if "\ndef main(" in path.read_text("utf-8")}
    assert with_page - {"all"} == set(script.commands(Path("data"), KEPT))
    assert {path.stem for path in KEPT.glob("*.md")} - {"index"} == with_page - {"all"}


def test_every_script_knows_its_options(tmp_path):
    for command in script.commands(tmp_path, tmp_path).values():
        shown = subprocess.run([command[0], command[1], "--help"], capture_output=True, text=True, check=True).stdout
        assert [option for option in command[2:] if option.startswith("--") and option not in shown] == []


def test_a_script_that_fails_is_named_and_minutes_add_up(tmp_path, monkeypatch, capsys):
    fails = {"first": [sys.executable, "-c", "raise SystemExit(3)"], "second": [sys.executable, "-c", ""]}
    monkeypatch.setattr(script, "commands", lambda *_: fails)
    (tmp_path / script.MINUTES).write_text('{"second": 40.0}')
    with pytest.raises(SystemExit) as end:
        script.main(["--data", str(tmp_path), "--folder", str(tmp_path)])
    assert end.value.code == 1
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [line.split()[0] for line in lines] == ["first", "second", "all"]
    assert [line.endswith("failed") for line in lines] == [True, False, False]
    assert script.minutes(tmp_path)["second"] >= 40
    assert float(lines[2].split()[1]) >= 40


def test_the_minutes_of_a_script_that_is_stopped_are_kept(tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(script.subprocess, "run", stopped)
    (tmp_path / script.MINUTES).write_text('{"pram": 40.0}')
    with pytest.raises(KeyboardInterrupt):
        script.main(["--data", str(tmp_path), "--folder", str(tmp_path)])
    assert script.minutes(tmp_path)["pram"] >= 40


@pytest.mark.parametrize("page", sorted(KEPT.glob("*.md")), ids=lambda page: page.stem)
def test_each_page_says_what_became_of_each_figure_of_its_paper(page):
    if page.stem == "index":
        return
    text = page.read_text("utf-8")
    found = re.search(r"(?m)^\|[^|\n]*\| here \|.*\n\|[ |-]*\n((?:\|.*\n)+)", text)
    assert found is not None
    lines = found[1].splitlines()
    assert len(lines) >= 5
    told = [line.split(" | ")[1] for line in lines]
    assert [one for one in told if not one.startswith(("reproduced", "differs", "not possible"))] == []
