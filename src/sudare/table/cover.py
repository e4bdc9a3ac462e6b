"""What the records of a class show: for each column, the smallest cell that covers all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.table.column import Column, ItemSets
from sudare.table.recoding import SUPPRESSED, Partition
from sudare.table.storage import MEMORY, Storage, chunks
from sudare.table.table import Table

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
WORD = 64
"""The bits of a word."""
LARGE = 1 << 22
"""So many items are not copied to have another type."""


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
            single = np.diff(self.start) == 1
            shown[single] = self.nodes[self.start[:-1][single]] == last
        return shown

    @cached_property
    def cell(self) -> Ints:
        """A number for what each class shows; equal numbers are equal cells."""
        return numbered(self.start, self.nodes)


@dataclass(frozen=True, eq=False)
class OwnItems:
    """An item-set column where each record shows its own items, as a cut has them.

    ``share`` is the mean, over the released records, of the share of their items that is lost; ``disclosed`` the number
    of items that are shown as they are.
    """

    column: ItemSets
    share: float
    disclosed: int


def numbered(start: Ints, parts: Ints) -> Ints:
    """Return a number for each run of ``parts``, from 0 by first appearance; equal runs have equal numbers."""
    from sudare.kernels.classes import number_runs

    return np.asarray(number_runs(start, parts))


@dataclass(frozen=True, eq=False)
class Generalized:
    """A table as a partition shows it: how many records each class has, and a cover for each quasi-identifier."""

    rows: int
    suppressed: int
    sizes: Ints
    start: Ints
    partition: Partition
    covers: Mapping[str, Cover | SetCover]
    own: Mapping[str, OwnItems] = field(default_factory=dict)
    storage: Storage = MEMORY

    @cached_property
    def order(self) -> Ints:
        """The rows class by class, as they came within each, those of class ``g`` from ``start[g]``; made when used."""
        return _by_class(self.partition, self.start, self.storage)


def generalize(table: Table, partition: Partition) -> Generalized:
    """Cover each class."""
    sizes = partition.sizes
    start = np.concatenate(([0], np.cumsum(sizes)))
    order = cache(
        lambda: _by_class(partition, start, table.storage)
    )  # only where a column needs it: it is as long as the table

    def cover(column: Column | ItemSets) -> Cover | SetCover:
        if isinstance(column, ItemSets):
            return _in_common(column, partition, order, start)
        if column.taxonomy is None and column.positions is None:
            return _categories(column, partition, order, start)
        return _extremes(column, partition)

    columns = [column for name, column in table.quasi.items() if name not in partition.cuts]
    if any(isinstance(column, ItemSets) and column.taxonomy is not None for column in columns):
        order()  # once, before there are threads
    with ThreadPoolExecutor(min(len(columns), os.cpu_count() or 1) or 1) as pool:
        covers = dict(zip((column.name for column in columns), pool.map(cover, columns), strict=True))
    own = {name: _own_items(table.sets[name], cut, partition, int(start[-1])) for name, cut in partition.cuts.items()}
    shown = Generalized(table.rows, partition.suppressed, sizes, start, partition, covers, own, table.storage)
    if order.cache_info().currsize:
        shown.__dict__["order"] = order()
    return shown


def _own_items(column: ItemSets, cut: Ints, partition: Partition, released: int) -> OwnItems:
    """Measure what records lose that show their own items, as a cut has them."""
    from sudare.kernels.sharing import own_loss

    shown = cut >= 0
    loss = np.ones(len(cut))
    loss[shown] = 0.0 if column.taxonomy is None else column.taxonomy.share[cut[shown]]
    lost, disclosed = own_loss(column.offsets, column.items.astype(np.uint32, copy=False), partition.classes, loss)
    return OwnItems(column, lost / max(released, 1), int(disclosed))


def _by_class(partition: Partition, start: Ints, storage: Storage) -> Ints:
    from sudare.kernels.classes import sort_by_class

    order = storage.empty(int(start[-1]), np.int64)
    sort_by_class(partition.classes, start, order)
    return order


def _extremes(column: Column, partition: Partition) -> Cover:
    """Cover classes by their smallest and largest codes, which is all that numbers and trees show."""
    from sudare.kernels.classes import spread_extremes

    low = np.full(partition.count, column.size, np.uint32)
    high = np.zeros(partition.count, np.uint32)
    for part in chunks(len(partition.classes)):
        # one type for all columns: each other one would be compiled anew
        spread_extremes(column.codes[part].astype(np.uint32), partition.classes[part], low, high)
    two = low != high
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(1 + two)))
    codes = np.empty(int(start[-1]), np.int64)
    codes[start[1:] - 1] = high
    codes[start[:-1]] = low
    return Cover(column, start, codes)


def _categories(column: Column, partition: Partition, order: Callable[[], Ints], start: Ints) -> Cover:
    """Cover classes by all their different codes: bits of a word where there are few codes, else row by row."""
    from sudare.kernels.classes import distinct_codes, list_bits, spread_bits

    if column.size > WORD:
        return Cover(column, *distinct_codes(column.codes.astype(np.uint32), order(), start, column.size))
    bits = np.zeros(partition.count, np.uint64)
    for part in chunks(len(partition.classes)):
        spread_bits(column.codes[part].astype(np.uint32), partition.classes[part], bits)
    return Cover(column, *list_bits(bits))


def _in_common(column: ItemSets, partition: Partition, order: Callable[[], Ints], start: Ints) -> SetCover:
    """Find what all records of each class hold; ``order`` lists the rows class by class, which only trees need."""
    from sudare.kernels.sharing import common_items, common_nodes, first_lengths, squeeze

    classes = len(start) - 1
    sizes = np.diff(start)
    # one type where that costs little: each other one would be compiled anew
    items = column.items if len(column.items) > LARGE else column.items.astype(np.uint32, copy=False)
    lengths = np.full(classes, -1, np.int64)
    first_lengths(column.offsets, partition.classes, lengths)
    levels = 1 if column.taxonomy is None else column.taxonomy.path.shape[1] - 1
    # a class shows no more than its first record holds, at each level
    begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths * levels)))
    found = np.empty(int(begin[-1]), np.int64)
    share, disclosed = np.zeros(classes), np.full(classes, -1, np.int64)
    parts = os.cpu_count() or 1
    bounds = np.searchsorted(start, start[-1] * np.arange(parts + 1) // parts)
    bounds[0], bounds[-1] = 0, classes
    if column.taxonomy is None:
        shown, filled = disclosed, np.zeros(classes, np.int64)

        def find(low: int, high: int) -> None:
            given = (column.offsets, items, partition.classes, low, high)
            common_items(*given, begin, found, disclosed, filled, share)

    else:
        shown, rows = np.zeros(classes, np.int64), order()
        path, weight = column.taxonomy.path, column.taxonomy.share

        def find(low: int, high: int) -> None:
            given = (column.offsets, items, rows, start, low, high)
            common_nodes(*given, path, weight, begin, found, shown, share, disclosed)

    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(find, bounds[:-1].tolist(), bounds[1:].tolist()))
    if column.taxonomy is None:
        share = (filled - disclosed * share) / sizes  # share held the sums of 1 / items until here
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(shown)))
    nodes = np.empty(int(ends[-1]), np.int64)
    squeeze(begin, found, shown, ends, nodes)
    return SetCover(column, ends, nodes, share, disclosed * sizes)


def merge_alike(partition: Partition, shown: Generalized) -> Partition:
    """Return the classes that a reader sees: where a method made two that show the same, they become one.

    ``shown`` is what the partition shows. Both sides of a split along a hierarchy may still show the node they came
    from; nearly always there is nothing to merge, and the partition itself comes back.
    """
    covers = shown.covers.values()
    if not covers or partition.count < 2:
        return partition
    cells = np.stack([cover.cell for cover in covers], axis=1)
    merged = numbered(np.arange(0, cells.size + 1, cells.shape[1]), cells.reshape(-1))
    count = int(merged.max()) + 1
    if count == partition.count:
        return partition
    return replace(
        partition, classes=np.where(partition.classes >= 0, merged[partition.classes], SUPPRESSED), count=count
    )
