"""The script that runs all others: none is forgotten, and each knows the options that it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_a_script_that_fails_is_told(tmp_path, monkeypatch, capsys):
    fails = {"first": [sys.executable, "-c", "raise SystemExit(3)"], "second": [sys.executable, "-c", ""]}
    monkeypatch.setattr(script, "commands", lambda *_: fails)
    try:
        script.main(["--data", str(tmp_path), "--folder", str(tmp_path)])
    except SystemExit as end:
        assert end.code == 1
    lines = capsys.readouterr().out.splitlines()[-2:]
    assert [line.split()[0] for line in lines] == ["first", "second"]
    assert [line.endswith("failed") for line in lines] == [True, False]
