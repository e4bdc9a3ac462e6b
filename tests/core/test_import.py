"""Importing costs next to nothing: heavy libraries load when they are used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sudare

HEAVY = {"numba", "pyarrow", "duckdb", "pydantic", "typer", "pandas", "polars", "numpy", "rich", "yaml", "jinja2"}


def loaded(code):
    """Return which heavy modules a piece of code loads in a new interpreter."""
    told = f"{code}\nimport json, sys\nsys.stderr.write(json.dumps([name for name in sys.modules if '.' not in name]))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, timeout=600, check=True)
    return HEAVY & set(json.loads(done.stderr))


def test_import_loads_nothing_heavy():
    assert loaded("import sudare") == set()


def test_version_and_dir_load_nothing_heavy():
    assert loaded("import sudare; sudare.__version__; dir(sudare)") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["anonymize", "--help"], ["--version"]])
def test_help_is_light(arguments):
    code = f"import sys; sys.argv = ['sudare', *{arguments!r}]\nfrom sudare.cli import app\n"
    found = loaded(f"{code}try:\n    app()\nexcept SystemExit as end:\n    assert not end.code, end.code")
    assert "typer" in found
    assert not found & {"numba", "pyarrow", "duckdb", "pandas", "polars", "numpy"}


def test_reading_a_policy_needs_no_kernels():
    assert "numba" not in loaded("import sudare; sudare.load_policy")


def test_public_names():
    assert sorted(sudare.__all__) == list(sudare.__all__)
    for name in sudare.__all__:
        assert getattr(sudare, name) is not None
    assert set(sudare.__all__) <= set(dir(sudare))


def test_no_room_has_the_name_of_a_verb():
    """Importing a room must not take a verb's place in the package."""
    rooms = {path.stem for path in Path(sudare.__file__).parent.iterdir()}
    assert rooms & set(sudare.__all__) == {"datasets"}
    for name in ("anonymize", "audit", "draft", "estimate", "report", "risk"):
        assert callable(getattr(sudare, name))


def test_unknown_name():
    with pytest.raises(AttributeError, match="has no attribute 'anonymise'"):
        _ = sudare.anonymise
    with pytest.raises(ImportError):
        from sudare import no_such_name  # noqa: F401
