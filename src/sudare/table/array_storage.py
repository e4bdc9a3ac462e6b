"""Storage of large arrays: in memory up to a limit, and beyond it in nameless files.

The files are removed from their folder as soon as they are open, so that nothing is left of them however the process
ends. What is in them is read and written as any other array is; the operating system keeps in memory what fits.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sudare.core.sizes import MANY_ROWS, MIB

SMALL = MIB
"""Arrays below a megabyte are not worth a file."""


class Storage:
    """Provides arrays: in memory while those in use stay below ``limit`` bytes, otherwise in files in ``folder``.

    Without a limit everything is in memory. ``held`` is the number of bytes in memory, ``spilled`` in files.
    """

    def __init__(self, limit: int | None = None, folder: Path | None = None) -> None:
        self.limit, self.folder = limit, folder
        self.held = 0
        self.spilled = 0
        # an array may be forgotten at any moment, also while this very thread counts another one
        self._counting = threading.RLock()

    def __reduce__(self) -> Any:
        # elsewhere it begins anew: what it counts is in this process
        return Storage, (self.limit, self.folder)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros; what is never written to takes no room."""
        return self.empty(shape, dtype, np.zeros)  # a new file, too, reads as zeros

    def empty(
        self, shape: int | tuple[int, ...], dtype: DTypeLike, make: Callable[..., NDArray[Any]] = np.empty
    ) -> NDArray[Any]:
        """Return an array whose content is undefined."""
        kind = np.dtype(dtype)
        size = kind.itemsize * (shape if isinstance(shape, int) else prod(shape))
        with self._counting:
            in_memory = self.limit is None or size < SMALL or self.held + size <= self.limit
            self.held += size if in_memory else 0
            self.spilled += 0 if in_memory else size
        if in_memory:
            array = make(shape, kind)
            weakref.finalize(array, self._forget, size)
            return array
        with tempfile.TemporaryFile(dir=self.folder) as file:  # has no name from the start where the system can do that
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an error now, not a signal later
            else:
                os.ftruncate(file.fileno(), size)
            place = mmap.mmap(file.fileno(), size)
        return np.frombuffer(place, dtype=kind).reshape(shape)

    def _forget(self, size: int) -> None:
        with self._counting:
            self.held -= size


MEMORY = Storage()
"""Without a limit."""


def chunks(rows: int, step: int = MANY_ROWS) -> Iterator[slice]:
    """Cut a long array into slices, for steps that need a copy of what they work on."""
    for first in range(0, rows, step):
        yield slice(first, min(first + step, rows))


class Growing:
    """An array that grows at its end, and whose numbers become wider when they have to.

    Room for ``expected`` numbers is made at once. Room that is never written to costs nothing in memory.
    """

    def __init__(self, storage: Storage, kind: DTypeLike, expected: int = 0) -> None:
        self.storage = storage
        self.expected = expected
        self.size = 0
        self._array: NDArray[Any] = np.empty(0, kind)

    @property
    def kind(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self._array.dtype

    def more(self, count: int) -> NDArray[Any]:
        """Make the array longer, and return its new end for writing."""
        if self.size + count > len(self._array):
            room = max(self.expected, self.size + count, (len(self._array) * 3) // 2)
            self._move(room, self.kind)
        self.size += count
        return self._array[self.size - count : self.size]

    def widen(self, kind: DTypeLike) -> None:
        """Make sure that numbers of this type fit."""
        wide = np.promote_types(self.kind, kind)
        if wide != self.kind:
            self._move(len(self._array), wide)

    def array(self) -> NDArray[Any]:
        """Return the content so far."""
        return self._array[: self.size]

    def _move(self, room: int, kind: DTypeLike) -> None:
        moved = self.storage.empty(room, kind)
        moved[: self.size] = self._array[: self.size]
        self._array = moved
