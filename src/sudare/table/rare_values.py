"""Rare values, and what a release shows in their place.

A range never ends in a value that fewer than ``least`` records hold (see :mod:`sudare.table.range_ends`). A set never
lists such a category: all of them together are one category, ``other``. Where the values of a column are public,
since a hierarchy or the policy declares them, a set may list any of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.table.array_storage import (
    MEMORY,
    Storage,
    chunks,
)
from sudare.table.column import Column, smallest
from sudare.table.range_ends import safe_ends
from sudare.table.table import Table

Ints = NDArray[np.int64]
OTHER = "other"
"""What a set lists in place of rare categories."""
_TRUTH = {"true", "false"}


@dataclass(frozen=True, eq=False)
class Counts:
    """How many hold each code of a column: ``held`` records or people, and ``alone``, which may be added up.

    Someone with several values counts for each of them in ``held``. In ``alone`` they count for the smallest of those
    that are rare.
    """

    held: Ints
    alone: Ints


def count_holders(table: Table, name: str, least: int, order: Ints | None = None) -> Counts:
    """Count the records that hold each code of a column; with an ``order`` by people, the people.

    Codes that fewer than ``least`` hold are rare.
    """
    column = table.single[name]
    if order is None:
        counts = np.zeros(column.size, np.int64)
        for part in chunks(len(column.codes)):
            counts += np.bincount(column.codes[part], minlength=column.size)
        return Counts(counts, counts)
    from sudare.kernels.people_counts import count_once, count_people

    assert table.subject is not None
    held, alone = np.zeros(column.size, np.int64), np.zeros(column.size, np.int64)
    # one type for all tables: each other one would be compiled anew
    given = column.codes.astype(np.uint32, copy=False), table.subject.codes.astype(np.uint32, copy=False), order
    count_people(*given, held)
    count_once(*given, held < least, alone)
    return Counts(held, alone)


def by_people(table: Table) -> Ints:
    """Return the rows so that those of one person stand together."""
    from sudare.kernels.class_rows import sort_by_class

    assert table.subject is not None
    subject = table.subject
    sizes = np.bincount(subject.codes, minlength=subject.size)
    order = table.storage.empty(table.rows, np.int64)
    sort_by_class(subject.codes.astype(np.uint32, copy=False), np.concatenate(([0], np.cumsum(sizes))), order)
    return order


@dataclass(frozen=True)
class Holders:
    """Finds who holds each value of some columns, in a part of a table: pairs of codes and people.

    At most ``least`` people of one value are kept, so that the answer stays small.
    """

    columns: tuple[str, ...]
    least: int

    def __call__(self, table: Table) -> dict[str, NDArray[np.uint64]]:
        """Return the pairs of each column, ascending."""
        assert table.subject is not None
        people = table.subject.codes.astype(np.uint64)
        found = {}
        for name in self.columns:
            codes = table.single[name].codes.astype(np.uint64)
            found[name] = self._few(np.unique(codes << np.uint64(32) | people))
        return found

    def merge(
        self, one: dict[str, NDArray[np.uint64]], other: dict[str, NDArray[np.uint64]]
    ) -> dict[str, NDArray[np.uint64]]:
        """Return the merged findings of two parts."""
        return {name: self._few(np.union1d(one[name], other[name])) for name in self.columns}

    def _few(self, pairs: NDArray[np.uint64]) -> NDArray[np.uint64]:
        codes = pairs >> np.uint64(32)
        first = np.searchsorted(codes, codes)
        return pairs[np.arange(len(pairs)) - first < self.least]


def counted_people(pairs: NDArray[np.uint64], size: int, least: int) -> Counts:
    """Return how many people hold each of so many codes, from pairs of codes and people; see :class:`Counts`."""
    codes = (pairs >> np.uint64(32)).astype(np.int64)
    held = np.bincount(codes, minlength=size)
    few = (held < least)[codes]
    _, first = np.unique(pairs[few] & np.uint64(0xFFFFFFFF), return_index=True)
    return Counts(held, np.bincount(codes[few][first], minlength=size))


def hide_rare(table: Table, least: int, *, people: bool = False, public: Collection[str] = ()) -> Table:
    """Return the table with quasi-identifiers that show no value held by fewer than ``least`` records, or ``people``.

    The categories of ``public`` columns may be shown, however rare they are.
    """
    named = [name for name, column in table.single.items() if hides(column, name in public)]
    if not named or least < 2:
        return table
    order = by_people(table) if people and table.subject is not None else None
    found = {
        name: hidden(table.single[name], count_holders(table, name, least, order), least, table.storage)[0]
        for name in named
    }
    return replace(table, quasi={**table.quasi, **found})


def only_held(table: Table) -> Table:
    """Return the table with the values of its single quasi-identifiers that its records hold, and no others."""

    def held(column: Column) -> Column:
        used = np.bincount(column.codes, minlength=column.size)[: len(column.values)] > 0
        if used.all() or column.taxonomy is not None:
            return column
        new = np.append(np.cumsum(used) - 1, np.count_nonzero(used))  # missing stays last
        return replace(
            column,
            codes=new[column.codes],
            values=column.values.filter(pa.array(used)),
            positions=None if column.positions is None else column.positions[used],
        )

    return replace(table, quasi={**table.quasi, **{name: held(column) for name, column in table.single.items()}})


def hides(column: Column, public: bool) -> bool:
    """Return whether a column can show rare values: it has no hierarchy, and its categories are not public.

    Everybody knows what a truth value can be.
    """
    if column.taxonomy is not None:
        return False
    return column.positions is not None or not (public or set(column.values[:3].to_pylist()) <= _TRUTH)


def hidden(column: Column, counts: Counts, least: int, storage: Storage = MEMORY) -> tuple[Column, Ints | None]:
    """Return a column that shows no rare value, and the new code of each old one, where codes change."""
    values = len(column.values)
    if column.positions is not None:
        if not values:
            return column, None
        ends = safe_ends(column.values, column.positions, counts.held[:values], counts.alone[:values], least)
        return replace(column, ends=ends), None
    rare = counts.held[:values] < least
    if not rare.any():
        return column, None
    return merged(column, rare, storage)


def merged(column: Column, rare: NDArray[np.bool_], storage: Storage = MEMORY) -> tuple[Column, Ints]:
    """Return a column of categories in which the rare ones are one, and the new code of each old one.

    Where a category already has that very name, they join it.
    """
    texts = column.values.cast(pa.large_string())
    rare = rare | np.asarray(pc.equal(texts, OTHER))
    kept = texts.filter(pa.array(~rare))
    joined = pa.concat_arrays([kept, pa.array([OTHER], pa.large_string())])
    order = pc.array_sort_indices(joined).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    new = np.empty(len(texts) + 1, np.int64)
    new[:-1][~rare], new[:-1][rare], new[-1] = rank[:-1], rank[-1], len(joined)  # missing stays last
    lookup = smallest(new, len(joined) + int(column.missing))
    found = replace(
        column,
        codes=_looked_up(column.codes, lookup, storage),
        values=joined.take(pa.array(order)),
        other=(int(rank[-1]), int(np.count_nonzero(rare))),
    )
    return found, new


def _looked_up(codes: NDArray[Any], lookup: NDArray[Any], storage: Storage) -> NDArray[Any]:
    found = storage.empty(len(codes), lookup.dtype)
    for part in chunks(len(codes)):
        np.take(lookup, codes[part], out=found[part], mode="clip")
    return found
