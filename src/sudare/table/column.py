"""Encoded columns: small integer codes and the dictionary they point into."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.table.range_ends import Ends
from sudare.table.taxonomy import Taxonomy

ColumnKind = Literal["numeric", "categorical"]


@dataclass(frozen=True, eq=False)
class Column:
    """A single-valued column: ``values[codes[row]]`` is the cell.

    ``values`` holds each distinct value once and no null: numbers and dates in ascending order, categories in
    the order of their text, or depth-first where there is a taxonomy. The code ``len(values)`` stands for a
    missing cell and occurs only if ``missing`` is true. ``positions`` gives numbers and dates their place on the
    axis (dates in days, times in seconds), for widths and distances. ``domain`` is what a width of 1 means:
    the range of a number, the number of categories (a missing value counts as one), the leaves of a taxonomy.
    ``ends`` are what ranges show at their ends, where that is not the value itself. ``other`` is the code of a category
    that stands for rare ones, and how many these are.

    Where spellings of one text are one value (see :mod:`sudare.table.value_spellings`), ``values`` has the most
    frequent spelling of each, and ``keys`` what it is compared by; ``by_worth`` says whether numbers in text are
    compared by what they are worth. ``merged`` is how many spellings were another one of the same value, and None
    where values are compared as they are written.
    """

    name: str
    kind: ColumnKind
    codes: NDArray[np.unsignedinteger[Any]]
    values: pa.Array
    missing: bool = False
    positions: NDArray[np.float64] | None = None
    taxonomy: Taxonomy | None = None
    weight: float = 1.0
    ends: Ends | None = None
    other: tuple[int, int] | None = None
    keys: pa.Array | None = None
    by_worth: bool = True
    merged: int | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def size(self) -> int:
        """The number of codes in use, the one for missing cells included."""
        return len(self.values) + int(self.missing)

    @property
    def missing_code(self) -> int:
        """The code of a missing cell, or -1 if there is none."""
        return len(self.values) if self.missing else -1

    @property
    def domain(self) -> float:
        """The width of the whole column: a range, or a number of values."""
        if self.taxonomy is not None:
            return float(self.taxonomy.size)
        if self.positions is not None:
            return self._range
        return float(self.different)

    @property
    def different(self) -> int:
        """The number of different values, missing included; a category for rare ones counts as all of them."""
        return self.size if self.other is None else self.size - 1 + self.other[1]

    @property
    def _range(self) -> float:
        """The width of the widest range that can be shown."""
        assert self.positions is not None
        if not len(self.positions):
            return 0.0
        if self.ends is None:
            return float(self.positions[-1] - self.positions[0])
        return float(self.ends.positions[self.ends.high[-1]] - self.ends.positions[self.ends.low[0]])

    def reordered(self, order: NDArray[np.int64], taxonomy: Taxonomy) -> Column:
        """Return the column with its values in another order (new code to old code), and a taxonomy over them."""
        new_code = np.empty(len(order) + 1, dtype=np.int64)
        new_code[order] = np.arange(len(order))
        new_code[-1] = len(order)  # missing stays last
        return replace(
            self,
            codes=smallest(new_code[self.codes], self.size),
            values=self.values.take(pa.array(order)),
            positions=None if self.positions is None else self.positions[order],
            taxonomy=taxonomy,
            ends=None,
            other=None,
            keys=None if self.keys is None else self.keys.take(pa.array(order)),
        )

    def forgetting(self, values: NDArray[np.bool_]) -> Column:
        """Return the column with some of its values made missing."""
        new_code = np.cumsum(~values) - 1
        kept = int(np.count_nonzero(~values))
        new_code[values] = kept
        codes = smallest(np.append(new_code, kept)[self.codes], kept + 1)
        return replace(
            self,
            codes=codes,
            values=self.values.filter(pa.array(~values)),
            missing=self.missing or bool(values.any()),
            positions=None if self.positions is None else self.positions[~values],
            keys=None if self.keys is None else self.keys.filter(pa.array(~values)),
        )


@dataclass(frozen=True, eq=False)
class ItemSets:
    """An item-set column: record ``i`` holds ``items[offsets[i]:offsets[i + 1]]``, sorted, each item once.

    ``values`` is the dictionary of the items, in the order of their text, or depth-first where there is a taxonomy.
    A null set differs from an empty one: it holds the item ``len(values)`` alone, which occurs only if ``missing``
    is true. So a release can say that a set is missing as it can say that it holds an item.
    """

    name: str
    offsets: NDArray[np.int64]
    items: NDArray[np.unsignedinteger[Any]]
    values: pa.Array
    missing: bool = False
    taxonomy: Taxonomy | None = None
    weight: float = 1.0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def size(self) -> int:
        """The number of codes in use, the one for null sets included."""
        return len(self.values) + int(self.missing)

    @property
    def missing_code(self) -> int:
        """The item of a null set, or -1 if there is none."""
        return len(self.values) if self.missing else -1

    def taken(self, rows: NDArray[np.int64]) -> ItemSets:
        """Return the sets of some records, with the same codes."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        places = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return replace(self, offsets=offsets, items=self.items[places])

    def reordered(self, order: NDArray[np.int64], taxonomy: Taxonomy) -> ItemSets:
        """Return the sets with their items in another order (new code to old code), and a taxonomy over them."""
        from sudare.kernels.flat_sets import sort_within

        new_code = np.empty(len(order) + 1, dtype=np.uint32)
        new_code[order] = np.arange(len(order))
        new_code[-1] = len(order)  # missing stays last
        items = smallest(new_code[self.items], self.size)
        sort_within(items, self.offsets)
        return replace(self, items=items, values=self.values.take(pa.array(order)), taxonomy=taxonomy)


def smallest(codes: NDArray[np.integer[Any]], size: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return the codes in the smallest unsigned type that can hold ``size`` different ones."""
    return codes.astype(np.min_scalar_type(max(size - 1, 0)), copy=False)


def kind_name(kind: pa.DataType) -> str:
    """Return a type's name without what is inside it: the names of a struct's fields may be data."""
    return str(kind).partition("<")[0]
