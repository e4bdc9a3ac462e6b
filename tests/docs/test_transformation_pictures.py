"""The pictures of the page on transformations are those that sudare draws today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from .test_pages import ROOT

PICTURES = ROOT / "docs" / "transformations"


@pytest.fixture(scope="module")
def drawn():
    path = ROOT / "examples" / "transformation_pictures.py"
    spec = importlib.util.spec_from_file_location("transformation_pictures", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pictures()


def test_the_pictures_are_those_of_today(drawn):
    there = {path.stem: Path(path).read_text(encoding="utf-8") for path in PICTURES.glob("*.svg")}
    assert there == drawn, "draw them anew: python examples/transformation_pictures.py docs/transformations"


def test_the_page_shows_them_all(drawn):
    page = (ROOT / "docs" / "transformations.md").read_text(encoding="utf-8")
    assert all(f"(transformations/{name}.svg)" in page for name in drawn)
