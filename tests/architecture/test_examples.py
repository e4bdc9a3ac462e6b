"""Properties are tried with half of their examples, unless all are asked for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import FEW, pytest_collection_modifyitems


def tried(most: int) -> int:
    """Return how many examples a property that asks for so many is tried with."""
    seen = []

    @settings(max_examples=most, database=None)
    @given(st.integers())
    def holds(number: int) -> None:
        seen.append(number)

    pytest_collection_modifyitems([SimpleNamespace(function=holds)])
    holds()
    return len(seen)


def test_half_of_the_examples_are_tried():
    assert tried(100) == 50
    assert tried(FEW) == FEW


def test_all_examples_are_tried_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SUDARE_EXAMPLES", "all")
    assert tried(100) == 100
