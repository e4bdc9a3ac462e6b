"""Columns as codes, and samples of their records: what is compared when columns are compared with each other.

The sample is the same in every run: which records are in it depends on their number alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_MIXED = ((0, 0x9E3779B97F4A7C15), (30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""The steps of splitmix64, which scatter the numbers of the records."""


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """The records of some columns as codes from 0, below ``sizes``; a missing cell is a code like others.

    ``ranks`` puts the codes of columns of numbers and dates in the order of the values.
    """

    rows: int
    codes: Mapping[str, Ints]
    sizes: Mapping[str, int]
    ranks: Mapping[str, Ints]

    @property
    def names(self) -> list[str]:
        """The columns that have codes: item sets have none."""
        return list(self.codes)


def sampled(table: pa.Table, most: int) -> pa.Table:
    """Return a table, or so many records of it, in an order in which neighbours have nothing in common."""
    numbers = np.arange(table.num_rows, dtype=np.uint64)
    for shift, factor in _MIXED:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return table.take(pa.array(np.argsort(numbers, kind="stable")[:most]))


def coded(table: pa.Table, names: Iterable[str]) -> CodedColumns:
    """Return columns of single values as codes; others are passed over."""
    codes, sizes, ranks = {}, {}, {}
    for name in names:
        cells = table[name].combine_chunks()
        if isinstance(cells, pa.ChunkedArray):
            cells = pa.concat_arrays(cells.chunks) if cells.num_chunks else pa.array([], cells.type)
        if pa.types.is_nested(cells.type):
            continue
        if not pa.types.is_dictionary(cells.type):
            try:
                cells = cells.dictionary_encode()
            except pa.ArrowNotImplementedError:
                continue  # what cannot be compared has no codes
        values = len(cells.dictionary)
        codes[name] = np.asarray(
            pc.fill_null(cells.indices.cast(pa.int64()), values).to_numpy(zero_copy_only=False), dtype=np.int64
        )
        sizes[name] = values + 1
        if _has_order(cells.dictionary.type):
            order = pc.sort_indices(cells.dictionary).to_numpy()
            rank = np.empty(values + 1, dtype=np.int64)
            rank[order] = np.arange(values)
            rank[values] = -1
            ranks[name] = rank
    return CodedColumns(table.num_rows, codes, sizes, ranks)


def _has_order(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or (pa.types.is_floating(kind) and not pa.types.is_float16(kind))  # Arrow does not sort short ones
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )


def combined(groups: Ints, codes: Ints) -> Ints:
    """Return the groups of records that agree in both, numbered from 0."""
    keys = groups * (int(codes.max(initial=0)) + 1) + codes
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.int64)


def share_in_small_groups(groups: Ints, few: int) -> float:
    """Return the share of the records whose group has fewer than so many records."""
    if not len(groups):
        return 0.0
    sizes = np.bincount(groups)
    return float(sizes[sizes < few].sum() / len(groups))
