"""Encoded columns: small integer codes and the dictionary they point into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.table.array_storage import chunks
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
    where values are compared as they are written. ``ordered`` says that the codes of categories are in the order that
    the policy gives.

    Of a sensitive column of item sets, a value is a whole set: ``values`` only numbers them, and ``sets`` has their
    items. So records that hold the same items have the same code, as in any other column.
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
    sets: SetValues | None = None
    ordered: bool = False

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

    def frequencies(self) -> NDArray[np.int64]:
        """Return how many records have each code."""
        from sudare.kernels.class_rows import tally_codes

        found = np.zeros(self.size, np.int64)
        for part in chunks(len(self)):
            tally_codes(self.codes[part].astype(np.uint32), found)  # one type: each other one would be compiled anew
        return found

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


@dataclass(frozen=True, eq=False)
class SetValues:
    """The item sets that the values of a sensitive column are: value ``v`` is the set of record ``v`` in both.

    ``shown`` has the items in their own spellings, as a release shows them. ``counted`` has them as models compare
    them: spellings of one item are one, and a missing set holds none. Its ``values`` are what items are compared by;
    ``folded`` says whether these are merged spellings.
    """

    shown: ItemSets
    counted: ItemSets
    folded: bool
    _noted: dict[tuple[str, ...], NDArray[np.bool_]] = field(default_factory=dict)

    def most_held(
        self,
        start: NDArray[np.int64],
        codes: NDArray[np.integer[Any]],
        counts: NDArray[np.integer[Any]],
        but: Sequence[str] = (),
    ) -> NDArray[np.int64]:
        """Return how many records of each group hold the item that most of them hold, named ones aside.

        Group ``g`` has ``counts[i]`` records with value ``codes[i]``, for each i from ``start[g]`` to ``start[g + 1]``.
        """
        from sudare.kernels.flat_sets import most_held

        sets = self.counted
        given = (each.astype(np.int64, copy=False) for each in (start, codes, counts))
        found: NDArray[np.int64] = most_held(*given, sets.offsets, sets.items.astype(np.uint32), self._left_out(but))
        return found

    def held(self, counts: NDArray[np.int64], but: Sequence[str] = ()) -> NDArray[np.int64]:
        """Return how many records hold each item, where ``counts`` has the records of each value; 0 for named ones."""
        of_item = np.repeat(counts, np.diff(self.counted.offsets))
        found = np.bincount(self.counted.items, of_item, len(self.counted.values)).astype(np.int64)
        return np.where(self._left_out(but), 0, found)

    def _left_out(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which items are among the named ones; a name that no record holds is passed over."""
        known = tuple(names)
        if known not in self._noted:
            mask = np.zeros(len(self.counted.values), dtype=np.bool_)
            mask[[place for place in self.places(known) if place >= 0]] = True
            self._noted[known] = mask
        return self._noted[known]

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the place of each named item among those that are counted, -1 for one that no record holds."""
        from sudare.table.value_spellings import fold

        keys = [fold(name) if self.folded else name.strip() for name in names]
        found = pc.index_in(pa.array(keys, pa.large_string()), value_set=self.counted.values)
        return list(pc.fill_null(found, -1).to_pylist())


def smallest(codes: NDArray[np.integer[Any]], size: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return the codes in the smallest unsigned type that can hold ``size`` different ones."""
    return codes.astype(np.min_scalar_type(max(size - 1, 0)), copy=False)


def kind_name(kind: pa.DataType) -> str:
    """Return a type's name without what is inside it: the names of a struct's fields may be data."""
    return str(kind).partition("<")[0]
