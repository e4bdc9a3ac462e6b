"""The costs of a decision: its seconds, and its additional memory.

Memory is the most that the process held while the decision was made, less what it held when it began. Linux tells both:
the mark of the most that a process ever held can be set back to what it holds now (``/proc/self/clear_refs``). Before,
memory that is free but not given back is given back, as far as the allocators do so; what they keep, a decision uses
again and it is not counted, so that figures of less than some megabytes say little. Other systems tell the most of the
whole life of a process alone, which says nothing of one decision: there is no figure there.

Everything that runs in the process meanwhile counts as well. Nothing is slowed down by the measuring.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from sudare.core import process_memory

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """Seconds, and bytes of memory; None if the system does not report them."""

    seconds: float
    memory: int | None


def measured(work: Callable[[], T]) -> tuple[T, Cost]:
    """Do some work, and return its result with what it cost; what it raises is raised."""
    _give_back()
    before = _set_back()
    started = time.perf_counter()
    found = work()
    seconds = time.perf_counter() - started
    most = None if before is None else process_memory.peak()
    memory = None if before is None or most is None else max(most - before, 0)
    return found, Cost(seconds, memory)


def _give_back() -> None:
    """Return free memory to the system, as far as possible."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError, TypeError):  # only some C libraries have it; Windows has no name for its own
        ctypes.CDLL(None).malloc_trim(0)


def _set_back() -> int | None:
    """Forget the most that was held so far; return what is held now, or None where this cannot be."""
    return process_memory.held() if process_memory.reset_peak() else None
