"""Atoms: records that agree in all columns that a method uses, kept once with a count."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.sizes import FEW_ROWS, LARGEST_INT64, MANY_ROWS
from sudare.table.array_storage import MEMORY, Storage

LARGEST_TABLE = 1 << 28
"""The most combinations of values that are counted in a table with a cell for each."""
CELLS = 16
"""The most combinations per record: the table then takes 64 bytes per record."""
FEW = MANY_ROWS
"""Up to this many records are always grouped: it is fast in any case."""
WORTHWHILE = 0.6
"""Atoms are worth finding if there are fewer of them than this share of the records."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """``codes[atom]`` are the codes of an atom, ``count`` its records, ``of_row`` the atom of each record.

    Atoms stand in the order of their codes, so they do not depend on the order of the records.
    """

    codes: NDArray[np.unsignedinteger[Any]]
    count: NDArray[np.int64]
    of_row: NDArray[np.integer[Any]]


def find_atoms(
    columns: Sequence[NDArray[np.unsignedinteger[Any]]],
    sizes: Sequence[int],
    rows: int,
    storage: Storage = MEMORY,
    *,
    runs: NDArray[np.int64] | None = None,
) -> Atoms | None:
    """Group records by all the given columns, whose numbers of codes are ``sizes``.

    If there are not many more combinations of codes than records, they are counted in a table; otherwise keys are
    looked up. None if a sample of a large table shows that most records are unique; the sample depends on the content
    of records and not on their places, so their order makes no difference. ``runs`` are the lengths of runs of equal
    records, if these are already together.
    """
    sizes = [max(size, 1) for size in sizes]
    if runs is not None and len(runs) <= WORTHWHILE * rows:
        return _joined(columns, sizes, runs)
    span = 1
    for size in sizes:
        span *= size
    if span <= min(max(CELLS * rows, FEW_ROWS), LARGEST_TABLE):
        return _counted(columns, sizes, span, rows, storage)
    if rows > FEW and not _worthwhile(columns):
        return None
    return _gathered(columns, sizes, rows)


def _joined(columns: Sequence[NDArray[np.unsignedinteger[Any]]], sizes: list[int], runs: NDArray[np.int64]) -> Atoms:
    """Group the runs: each by its first record."""
    first = np.cumsum(runs) - runs
    found = _gathered([codes[first] for codes in columns], sizes, len(runs), _sorted)  # nearly all are different
    count = np.bincount(found.of_row, runs, len(found.count)).astype(np.int64)
    return Atoms(found.codes, count, np.repeat(found.of_row, runs))


def _counted(
    columns: Sequence[NDArray[np.unsignedinteger[Any]]], sizes: list[int], span: int, rows: int, storage: Storage
) -> Atoms:
    """Count each combination in a cell of its own."""
    from sudare.kernels.class_rows import count_keys, number_keys

    key = storage.zeros(rows, np.uint32)
    for codes, size in zip(columns, sizes, strict=True):
        key *= np.uint32(size)
        key += codes
    counts = storage.zeros(span, np.uint32)
    parts = min(os.cpu_count() or 1, 4) if rows > FEW else 1  # each counts the keys of its part of the table
    bounds = [span * part // parts for part in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        found = pool.map(lambda low, high: count_keys(key, counts, low, high), bounds[:-1], bounds[1:])
        present = np.concatenate(list(found))
    count = counts[present].astype(np.int64)
    number_keys(key, counts, present)
    matrix = np.empty((len(present), len(columns)), dtype=_type_for(sizes))
    for index in range(len(columns) - 1, -1, -1):
        present, matrix[:, index] = np.divmod(present, sizes[index])
    return Atoms(matrix, count, key)


def _gathered(
    columns: Sequence[NDArray[np.unsignedinteger[Any]]],
    sizes: list[int],
    rows: int,
    numbered: Callable[[NDArray[np.uint64]], tuple[NDArray[np.uint64], NDArray[np.uint32]]] | None = None,
) -> Atoms:
    """Look up keys of 64 bits in a table; keys that do not hold all columns are renumbered."""
    numbered = numbered or _numbered
    key = np.zeros(rows, dtype=np.uint64)
    span = 1
    for codes, size in zip(columns, sizes, strict=True):
        if span * size > LARGEST_INT64:
            unique, of_row = numbered(key)
            key, span = of_row.astype(np.uint64), len(unique)
        key = key * np.uint64(size) + codes.astype(np.uint64, copy=False)
        span *= size
    unique, of_row = numbered(key)
    first = np.empty(len(unique), dtype=np.int64)
    first[of_row] = np.arange(rows)
    matrix = np.empty((len(unique), len(columns)), dtype=_type_for(sizes))
    for index, codes in enumerate(columns):
        matrix[:, index] = codes[first]
    return Atoms(matrix, np.bincount(of_row, minlength=len(unique)).astype(np.int64), of_row)


def _numbered(key: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the different keys in ascending order, and the number of each record's key among them."""
    from sudare.kernels.class_rows import gather_keys

    of_row = np.empty(len(key), dtype=np.uint32)
    unique = gather_keys(key, of_row)
    order = np.argsort(unique)
    rank = np.empty(len(unique), dtype=np.uint32)
    rank[order] = np.arange(len(unique), dtype=np.uint32)
    return unique[order], rank[of_row]


def _sorted(key: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the same as :func:`_numbered`, by sorting: quicker where nearly all keys are different."""
    order = np.argsort(key)
    ascending = key[order]
    new = np.ones(len(key), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    of_row = np.empty(len(key), dtype=np.uint32)
    of_row[order] = np.cumsum(new, dtype=np.uint32) - np.uint32(1)
    return ascending[new], of_row


def _worthwhile(columns: Sequence[NDArray[np.unsignedinteger[Any]]]) -> bool:
    """Guess from records whose hash falls into one of 64 parts whether many records agree."""
    key = np.zeros(len(columns[0]), dtype=np.uint64)
    for codes in columns:
        key += codes
        key *= np.uint64(0x9E3779B97F4A7C15)  # the golden ratio in 64 bits, as in Fibonacci hashing
        key ^= key >> np.uint64(29)
    sample = key[key >> np.uint64(58) == 0]
    return len(np.unique(sample)) <= WORTHWHILE * len(sample)


def _type_for(sizes: list[int]) -> np.dtype[Any]:
    return np.result_type(np.uint16, *(np.min_scalar_type(size - 1) for size in sizes))
