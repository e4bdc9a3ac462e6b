"""Estimated counts as bars with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def estimate_picture(found: Mapping[str, Any]) -> str:
    """Return a picture of an answer, as its ``to_dict`` gives it."""
    raise NotImplementedError
