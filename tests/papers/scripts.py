"""The scripts under papers/, which are no package: each is loaded from its file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load_script(name):
    """Load a script under its own name, by which others import it."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "papers" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up, and one script imports the other
    spec.loader.exec_module(module)
    return module


load_script("page_parts")  # which all pages import
