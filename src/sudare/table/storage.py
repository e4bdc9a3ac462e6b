"""Where large arrays live: in memory up to a limit, and beyond it in files that have no name.

The files are removed from their folder as soon as they are open, so that nothing is left of them however the process
ends. What is in them is read and written as any other array is; the operating system keeps in memory what fits.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

SMALL = 1 << 20
"""Arrays below a megabyte are not worth a file."""


class Storage:
    """Hands out arrays: in memory while those in use stay below ``limit`` bytes, else in files in ``folder``.

    Without a limit everything is in memory. ``held`` is the number of bytes in memory, ``spilled`` in files.
    """

    def __init__(self, limit: int | None = None, folder: Path | None = None) -> None:
        self.limit, self.folder = limit, folder
        self.held = 0
        self.spilled = 0

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array whose content is undefined."""
        kind = np.dtype(dtype)
        size = kind.itemsize * (shape if isinstance(shape, int) else prod(shape))
        if self.limit is None or size < SMALL or self.held + size <= self.limit:
            array: NDArray[Any] = np.empty(shape, kind)
            self.held += size
            weakref.finalize(array, self._forget, size)
            return array
        with tempfile.TemporaryFile(dir=self.folder) as file:  # has no name from the start where the system can do that
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk is told now, not by a signal later
            place = mmap.mmap(file.fileno(), size)
        self.spilled += size
        return np.frombuffer(place, dtype=kind).reshape(shape)

    def _forget(self, size: int) -> None:
        self.held -= size


MEMORY = Storage()
"""Without a limit."""
