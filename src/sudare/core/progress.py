"""Progress reports of long-running functions.

A listener is any callable ``listener(stage, done, total)``: the stage's name, how far it is, and how far it will
go (0 if that is not known). Functions call it often and cheaply; it is silent unless somebody listens.
"""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[str, float, float], None]


def silent(stage: str, done: float, total: float) -> None:
    """Listen and do nothing: the default."""
