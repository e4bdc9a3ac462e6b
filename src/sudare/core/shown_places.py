"""The first places where something is, in words: for messages that say which records, never what they hold."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 5
"""The most places that a message names."""


def first_places(places: Sequence[object], noun: str) -> str:
    """Return ``record 3``, ``records 3, 8 and 9``, or ``records 1, 2, 3, 4, 5 and more``."""
    shown = [str(place) for place in places[:SHOWN]] + (["more"] if len(places) > SHOWN else [])
    if len(shown) == 1:
        return f"{noun} {shown[0]}"
    return f"{noun}s {', '.join(shown[:-1])} and {shown[-1]}"
