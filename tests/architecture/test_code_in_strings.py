"""Programs that tests start stand in strings, where no tool looks: what they import is there."""

import ast
import importlib
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def programs(path):
    """The strings of a file that are Python and import something of ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and ("from sudare" in text or "import sudare" in text):
            try:
                yield ast.parse(text)
            except SyntaxError:
                continue  # a sentence, or a template


def missing(program):
    """The names that a program imports from our modules, and that are not there."""
    for node in ast.walk(program):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sudare":
            for name in (alias.name for alias in node.names if alias.name != "*"):
                try:
                    if not hasattr(importlib.import_module(node.module), name):
                        importlib.import_module(f"{node.module}.{name}")
                except ImportError:
                    yield f"{node.module}.{name}"


FOUND = [path for path in sorted(TESTS.rglob("*.py")) if path.name != Path(__file__).name and any(programs(path))]


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_what_a_program_imports_is_there(path):
    assert [name for program in programs(path) for name in missing(program)] == []


def test_a_name_that_is_gone_is_noticed():
    assert list(missing(ast.parse("from sudare.pipeline.spark import no_such_room"))) == [
        "sudare.pipeline.spark.no_such_room"
    ]
    assert FOUND
