"""The scripts under papers/, which are no package: each is loaded from its file."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "papers"
"""Where the figures and pages of the papers are kept."""


def load_script(name):
    """Load a script under its own name, by which others import it."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "papers" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up, and one script imports the other
    spec.loader.exec_module(module)
    return module


def check_page_is_written_alone(script, kept, text, drawn, folder):
    """``--page`` measures nothing: what is kept by name gives the text, and the same drawings each time."""
    for name, figures in kept.items():
        (folder / name).write_text(json.dumps(figures), encoding="utf-8")
    files = []
    for _ in range(2):
        script.main(["--page", "--folder", str(folder)])
        assert (folder / script.PAGE).read_text(encoding="utf-8") == text
        files.append([(folder / name).read_bytes() for name in drawn])
    assert files[0] == files[1], "the same figures give the same drawings"
    assert all(b"<dc:date>" not in content for content in files[0])


def check_times_are_measured_alone(script, measured, measures, folder, monkeypatch):
    """``--times`` keeps everything else as it was; ``measures`` is the function that would measure it."""
    (folder / script.KEPT).write_text(json.dumps(measured), encoding="utf-8")
    monkeypatch.setattr(script, "times", lambda runs: measured["times"] | {"runs": runs})
    monkeypatch.setattr(script, measures, lambda: pytest.fail("all else is kept"))
    script.main(["--times", "--runs", "5", "--folder", str(folder)])
    assert script.load(folder) == measured | {"times": measured["times"] | {"runs": 5}}


def check_page_needs_figures(script, folder, *options):
    """Without figures there is nothing to write a page from."""
    for option in options:
        with pytest.raises(SystemExit, match="run this script without --page"):
            script.main([option, "--folder", str(folder)])


def check_page_is_kept(script, text, drawn=None):
    """The page in the documentation is what would be written now, and all that it shows is there."""
    assert (KEPT / script.PAGE).read_text(encoding="utf-8") == text, f"run: python papers/{script.__name__}.py --page"
    shown = [line.partition("](")[2].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert drawn is None or sorted(shown) == drawn
    assert [name for name in shown if not (KEPT / name).exists()] == []


load_script("page_parts")  # which all pages import
load_script("figure_store")
