"""Atoms: records that agree on everything a method looks at, kept once with a count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Atoms:
    """``codes[atom]`` are the codes of an atom, ``count`` its records, ``of_row`` the atom of each record.

    Atoms stand in the order of their codes, so they do not depend on the order of the records.
    """

    codes: NDArray[np.unsignedinteger[Any]]
    count: NDArray[np.int64]
    of_row: NDArray[np.int64]


def find_atoms(columns: Sequence[NDArray[np.unsignedinteger[Any]]], sizes: Sequence[int], rows: int) -> Atoms:
    """Group records by all the given columns; linear but for one sort of a 64-bit key.

    ``sizes`` are the numbers of codes. Where the product of them does not fit into the key, the key is renumbered
    on the way.
    """
    key = np.zeros(rows, dtype=np.uint64)
    span = 1
    for codes, size in zip(columns, sizes, strict=True):
        if span * max(size, 1) >= 1 << 63:
            unique, renumbered = np.unique(key, return_inverse=True)
            key, span = renumbered.astype(np.uint64), len(unique)
        key = key * np.uint64(max(size, 1)) + codes.astype(np.uint64, copy=False)
        span *= max(size, 1)
    _, first, of_row, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    kind = np.result_type(np.uint16, *(np.min_scalar_type(max(size - 1, 0)) for size in sizes))
    matrix = np.empty((len(first), len(columns)), dtype=kind)
    for index, codes in enumerate(columns):
        matrix[:, index] = codes[first]
    return Atoms(matrix, count.astype(np.int64), of_row.reshape(-1))
