"""The pages as pages: short enough, well linked, buildable, and up to date with the version."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

import sudare
from docs.pages import PAGES, ROOT, blocks, prose

README = ROOT / "README.md"


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").split()) <= 600


def test_the_readme_begins_with_an_example_of_at_most_twenty_lines():
    example = next(block for block in blocks(README) if block.language == "python")
    assert len(example.text.splitlines()) <= 20
    assert "sudare.datasets.adult()" in example.text


def test_the_readme_names_both_commands():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for goal in ("demo", "test"):
        assert f"make {goal} " in README.read_text(encoding="utf-8")
        assert re.search(rf"^{goal}:", makefile, re.MULTILINE)


def test_the_rows_that_the_readme_shows_are_in_the_release():
    example = next(block for block in blocks(README) if block.language == "python")
    space: dict = {"print": lambda *_: None}
    exec(compile(example.text, "README.md", "exec"), space)
    released = space["release"].data
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")] for line in prose(README).splitlines() if "|" in line
    ]
    header, _, *shown = rows
    classes = Counter(zip(*(released[name].to_pylist() for name in header[:-1]), strict=True))
    assert len(shown) == 4
    assert [row for row in shown if classes[tuple(row[:-1])] != int(row[-1])] == []


def test_the_changelog_speaks_of_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(sudare.__version__)}\] - ", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"(?:\]\(|^\[[^]]+\]: )([^)\s]+)", prose(page), re.MULTILINE):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(prose(found)), f"{page.name}: {target}"


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as both GitHub and the site make them."""
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_the_pages_build_strictly(tmp_path):
    # zensical writes below the folder of its configuration only
    for name in ("mkdocs.yml", "SECURITY.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.parquet", "*.csv"))
    finished = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=tmp_path,
        env=os.environ | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    pages = list((tmp_path / "out" / "site").rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs").rglob("*.md")))
    built = "".join(path.read_text(encoding="utf-8") for path in pages)
    loaded = re.findall(r"<(?:link[^>]+stylesheet[^>]+href|script[^>]+src|img[^>]+src)=\"?(https?:[^\s\">]+)", built)
    assert loaded == [], "a page loads something from outside"


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^::: sudare\.(\w+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(sudare.__all__) == sorted(listed)


def test_the_picture_of_the_home_page_shows_what_its_code_prints():
    page = ROOT / "docs" / "index.md"
    printed = next(block.text for block in blocks(page) if block.language == "text")
    picture = (ROOT / "docs" / "before-after.svg").read_text(encoding="utf-8")
    shown = re.findall(r'<text class="ink" x="\d+" y="\d+">([^<]+)</text>', picture)
    after = [cell for line in printed.splitlines() for cell in line.split("  ")]
    assert shown[-len(after) :] == after
    before = next(block.text for block in blocks(page) if block.language == "python")
    assert all(cell in before for cell in shown[: -len(after)])
    assert "<title" in picture
    assert "<desc" in picture


ELSEWHERE = {"conf.py"}
"""Files of other tools that pages name."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    """A path may begin at the root, in a room, among the kernels or among the tests; a bare name may be anywhere."""
    roots = [ROOT, ROOT / "src" / "sudare", ROOT / "src" / "sudare" / "kernels", ROOT / "tests"]
    named = set(re.findall(r"`([\w./-]+\.py|[\w.-]+(?:/[\w.-]+)*/)`", prose(page))) - ELSEWHERE
    for name in sorted(each for each in named if not re.search("[A-Z]{2}", each) and not each.startswith("out/")):
        found = any((root / name).exists() for root in roots)
        below = any(True for folder in ("src", "tests", "examples") for _ in (ROOT / folder).rglob(name.rstrip("/")))
        assert found or below, f"{page.name}: {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_of_sudare_on_a_page_exist(page):
    for name in sorted(set(re.findall(r"`sudare((?:\.\w+)+)(?:\([^`]*\))?`", prose(page))) - {".NAME"}):
        assert resolves(f"sudare{name}"), f"{page.name}: sudare{name}"


def test_references_in_docstrings_lead_somewhere():
    for path in sorted((ROOT / "src" / "sudare").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in set(re.findall(r":(?:mod|func|class|meth|data|attr):`~?(sudare(?:\.\w+)+)`", text)):
            assert resolves(name), f"{path.name}: {name}"


def resolves(name: str) -> bool:
    """Say whether a dotted name is a module of sudare, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        with contextlib.suppress(AttributeError):
            for part in parts[end:]:
                found = getattr(found, part)
            return True
        return parts[end] in getattr(found, "__annotations__", {})
    return False
