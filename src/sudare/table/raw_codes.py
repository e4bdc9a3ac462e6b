"""Cells with raw codes, and block-wise operations on long arrays of codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.sizes import FEW_ROWS, MANY_ROWS
from sudare.table.array_storage import MEMORY, Storage

Codes = NDArray[np.unsignedinteger[Any]]
BLOCK = MANY_ROWS
"""Long arrays are processed in blocks of this many cells, so that temporary arrays stay small."""

_FEW = FEW_ROWS  # codes that are quicker counted than marked


@dataclass(frozen=True, eq=False)
class Raw:
    """Encoded cells: ``values`` are the distinct ones, all of which occur; code 0 is a null, ``i + 1`` value i."""

    values: pa.Array
    codes: Codes
    nulls: bool

    def count(self, chosen: pa.Array) -> int:
        """Count the cells whose value is chosen (a truth value per distinct value)."""
        wanted = self._wanted(chosen)
        return sum(int(np.count_nonzero(wanted[self.codes[block]])) for block in blocks(len(self.codes)))

    def first(self, chosen: pa.Array, most: int) -> list[int]:
        """Return the places of the first cells whose value is chosen, at most so many."""
        wanted, places = self._wanted(chosen), list[int]()
        for block in blocks(len(self.codes)):
            found = np.flatnonzero(wanted[self.codes[block]])
            places += (block.start + found[: most - len(places)]).tolist()
            if len(places) >= most:
                break
        return places

    def _wanted(self, chosen: pa.Array) -> NDArray[np.bool_]:
        mask = np.asarray(pc.fill_null(chosen, False).to_numpy(zero_copy_only=False), dtype=np.bool_)
        return np.concatenate((np.zeros(1, np.bool_), mask))


def chunks(cells: pa.ChunkedArray | pa.Array) -> list[pa.Array]:
    """Return the parts of a column: at least one, even of none."""
    if not isinstance(cells, pa.ChunkedArray):
        return [cells]
    return list(cells.chunks) or [pa.array([], cells.type)]


def blocks(size: int) -> Iterator[slice]:
    """Cut an array of some length into slices."""
    return (slice(first, min(first + BLOCK, size)) for first in range(0, size, BLOCK))


def translated(codes: Codes, lookup: NDArray[Any], storage: Storage = MEMORY) -> Codes:
    """Return ``lookup[codes]``, in place if the types are the same."""
    result = codes if codes.dtype == lookup.dtype else storage.empty(len(codes), lookup.dtype)
    for block in blocks(len(codes)):
        np.take(lookup, codes[block], out=result[block], mode="clip")
    return result


def seen_codes(codes: Codes, size: int, *, until_all: bool = False) -> NDArray[np.bool_]:
    """Return which codes occur; with ``until_all`` the search ends once all codes except 0 were found."""
    seen = np.zeros(size, np.bool_)
    for block in blocks(len(codes)):
        if size <= _FEW:
            seen |= np.bincount(codes[block], minlength=size) > 0
        else:
            seen[codes[block]] = True
        if until_all and seen[1:].all():
            break
    return seen
