"""What the records of a class show: for each column, the smallest cell that covers all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sudare.table.column import Column, ItemSets
from sudare.table.recoding import SUPPRESSED, Partition
from sudare.table.table import Table

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cover:
    """One column over all classes: class ``g`` holds the codes ``codes[start[g]:start[g + 1]]``, ascending."""

    column: Column
    start: Ints
    codes: Ints

    @cached_property
    def low(self) -> Ints:
        """The smallest code of each class."""
        return np.asarray(self.codes[self.start[:-1]])

    @cached_property
    def high(self) -> Ints:
        """The largest code of each class."""
        return np.asarray(self.codes[self.start[1:] - 1])

    @cached_property
    def distinct(self) -> Ints:
        """The number of different codes in each class."""
        return np.diff(self.start)

    @cached_property
    def node(self) -> NDArray[np.int32]:
        """The node of the taxonomy that each class shows."""
        assert self.column.taxonomy is not None
        return self.column.taxonomy.cover(self.low, self.high)

    @cached_property
    def cell(self) -> Ints:
        """A number for what each class shows; equal numbers are equal cells."""
        if self.column.taxonomy is not None:
            return self.node.astype(np.int64)
        if self.column.positions is not None:
            # whatever numbers a class mixes with missing cells, it shows the same
            low = np.where(self.everything, 0, self.low)
            return np.asarray(low * self.column.size + self.high)
        return numbered(self.start, self.codes)

    @cached_property
    def everything(self) -> NDArray[np.bool_]:
        """Which classes show nothing at all in this column."""
        column = self.column
        if column.taxonomy is not None:
            shown = self.node == 0
        elif column.positions is not None:
            shown = self.high == column.missing_code
        else:
            shown = self.distinct == column.size
        return np.asarray(shown & (self.distinct > 1))

    @cached_property
    def share(self) -> Reals:
        """The share of the domain that each class's cell covers, 0 for a single value (the NCP of the cell)."""
        column = self.column
        if column.taxonomy is not None:
            return column.taxonomy.share[self.node]
        if column.positions is not None:
            places = np.append(column.positions, 0.0)  # missing has no place; where it takes part, everything is shown
            width = np.where(self.low == self.high, 0.0, places[self.high] - places[self.low])
            return np.where(self.everything, 1.0, width / (column.domain or 1.0))
        return np.where(self.distinct > 1, self.distinct / column.domain, 0.0)

    @cached_property
    def reach(self) -> tuple[Ints, Ints]:
        """The range of codes that each cell covers, also those that its class does not hold (sets: its own)."""
        column = self.column
        last = column.size - 1
        if column.taxonomy is not None:
            first_of, last_of = column.taxonomy.span
            return first_of[self.node], last_of[self.node]
        return np.where(self.everything, 0, self.low), np.where(self.everything, last, self.high)


@dataclass(frozen=True, eq=False)
class SetCover:
    """An item-set column over all classes: class ``g`` shows ``nodes[start[g]:start[g + 1]]``, ascending.

    Without a taxonomy a node is an item that all records of the class hold. With one it is a node of the taxonomy:
    where records differ in an item, the lowest node over it that all of them hold. ``share`` is the mean, over the
    records of a class, of the share of the items that it hides (the NCP of the cell), ``disclosed`` the number of its
    items that it shows as they are, over all its records.
    """

    column: ItemSets
    start: Ints
    nodes: Ints
    share: Reals
    disclosed: Ints

    @cached_property
    def null(self) -> NDArray[np.bool_]:
        """Which classes show that their sets are missing: these show that node, the last one, and no other."""
        shown = np.zeros(len(self.start) - 1, dtype=np.bool_)
        if self.column.missing:
            taxonomy = self.column.taxonomy
            last = self.column.missing_code if taxonomy is None else len(taxonomy.labels) - 1
            shown[np.flatnonzero(np.diff(self.start) == 1)] = self.nodes[self.start[:-1][np.diff(self.start) == 1]] == last
        return shown

    @cached_property
    def cell(self) -> Ints:
        """A number for what each class shows; equal numbers are equal cells."""
        return numbered(self.start, self.nodes)


def numbered(start: Ints, parts: Ints) -> Ints:
    """Return a number for each run of ``parts``; equal runs have equal numbers."""
    seen: dict[bytes, int] = {}
    bounds = pairwise(start.tolist())
    return np.array([seen.setdefault(parts[low:high].tobytes(), len(seen)) for low, high in bounds], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Generalized:
    """A table as a partition shows it: the rows class by class, and a cover for each quasi-identifier."""

    rows: int
    suppressed: int
    sizes: Ints
    order: Ints
    start: Ints
    covers: Mapping[str, Cover | SetCover]


def generalize(table: Table, partition: Partition, order: Ints | None = None) -> Generalized:
    """Cover each class; ``order`` is the order of the rows within their classes (as they came, if not given)."""
    from sudare.kernels.classes import distinct_codes, sort_by_class

    sizes = partition.sizes
    start = np.concatenate(([0], np.cumsum(sizes)))
    rows = np.arange(table.rows) if order is None else order
    by_class = sort_by_class(partition.classes, rows, start)
    covers = {
        # one type for all columns: each other one would be compiled anew
        name: Cover(column, *distinct_codes(column.codes.astype(np.uint32), by_class, start, column.size))
        for name, column in table.single.items()
    }
    return Generalized(table.rows, partition.suppressed, sizes, by_class, start, covers)


def merge_alike(partition: Partition, shown: Generalized) -> Partition:
    """Return the classes that a reader sees: where a method made two that show the same, they become one.

    ``shown`` is what the partition shows. Both sides of a split along a hierarchy may still show the node they came
    from; nearly always there is nothing to merge, and the partition itself comes back.
    """
    covers = shown.covers.values()
    if not covers or partition.count < 2:
        return partition
    _, merged = np.unique(np.stack([cover.cell for cover in covers], axis=1), axis=0, return_inverse=True)
    merged = merged.reshape(-1)
    count = int(merged.max()) + 1
    if count == partition.count:
        return partition
    return Partition(np.where(partition.classes >= 0, merged[partition.classes], SUPPRESSED), count)
