"""Covers: for each class and column, the smallest cell that covers its records, or the cell of a cut."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.table.array_storage import (
    MEMORY,
    Storage,
    chunks,
)
from sudare.table.column import Column, ItemSets
from sudare.table.encode_items import settled
from sudare.table.recoding import SUPPRESSED, Partition, Representatives
from sudare.table.table import Table

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Classes = slice | NDArray[np.integer[Any]]
"""Some of the classes: those of a range, or any."""
WORD = 64
"""The bits of a word."""
LARGE = 1 << 22
"""So many items are not copied to have another type."""


@dataclass(frozen=True, eq=False)
class Cover:
    """One column over all classes: class ``g`` covers the codes ``codes[start[g]:start[g + 1]]``, ascending.

    Of numbers and trees the smallest and the largest code may stand for all. Where it is not the class that decides
    what it shows, ``shown`` has the number of its cell, and the runs of codes are those of the cells: class ``g`` has
    run ``shown[g]``, which is a node where there is a taxonomy. A masked class covers one code more than there are if
    it has to, so that it shows everything also in a column without missing cells, or with only one value.

    ``domain`` is what shares are of, if that is not the column's own. Of an ``aggregated`` column, each class shows its
    representative, and what covers its records says how much is lost.
    """

    column: Column
    start: Ints
    codes: Ints
    shown: Ints | None = None
    domain: float | None = None
    aggregated: Representatives | None = None

    def taken(self, classes: Classes) -> Cover:
        """Return the cover of some classes; what is worked out about it takes no more room than they need."""
        if self.shown is not None:
            return Cover(self.column, self.start, self.codes, self.shown[classes], self.domain)
        aggregated = None if self.aggregated is None else self.aggregated.taken(classes)
        return Cover(self.column, *_runs_of(self.start, self.codes, classes), None, self.domain, aggregated)

    @cached_property
    def begin(self) -> Ints:
        """Where the codes of each class begin."""
        return self.start[:-1] if self.shown is None else self.start[self.shown]

    @cached_property
    def end(self) -> Ints:
        """Where the codes of each class end."""
        return self.start[1:] if self.shown is None else self.start[self.shown + 1]

    @cached_property
    def low(self) -> Ints:
        """The smallest code of each class."""
        return np.asarray(self.codes[self.begin])

    @cached_property
    def high(self) -> Ints:
        """The largest code of each class."""
        return np.asarray(self.codes[self.end - 1])

    @cached_property
    def distinct(self) -> Ints:
        """The number of different codes in each class."""
        return np.asarray(self.end - self.begin)

    @cached_property
    def node(self) -> NDArray[np.int32]:
        """The node of the taxonomy that each class shows."""
        assert self.column.taxonomy is not None
        if self.shown is not None:
            return self.shown.astype(np.int32)
        return self.column.taxonomy.cover(self.low, self.high)

    @cached_property
    def cell(self) -> Ints:
        """A number for what each class shows; equal numbers are equal cells."""
        if self.aggregated is not None:
            return self.aggregated.of_class
        if self.column.taxonomy is not None:
            return self.node.astype(np.int64)
        if self.column.positions is not None:
            # whatever numbers a class mixes with missing cells, it shows the same
            first, last = self.ends
            ends = self.column.ends
            most = self.column.size + 1 if ends is None else len(ends.values) + 2
            return np.where(self.everything, most * most, first * most + last)
        if self.shown is not None:
            return numbered(np.arange(len(self.shown) + 1), np.where(self.everything, len(self.start), self.shown))
        return numbered(self.start, self.codes)

    @cached_property
    def everything(self) -> NDArray[np.bool_]:
        """Which classes show nothing at all in this column."""
        column = self.column
        if column.taxonomy is not None:
            shown = self.node == 0
            if self.shown is not None:
                return np.asarray(shown)
        elif column.positions is not None:
            shown = self.high >= len(column.values)
        else:
            shown = self.distinct >= column.size
        return np.asarray(shown & (self.distinct > 1))

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The numbers of the values that each range shows at its ends: codes, or entries of the column's ``ends``."""
        ends = self.column.ends
        if ends is None:
            return self.low, self.high
        # behind all values stand missing, and what only masked classes have
        first, last = (np.append(each, (len(ends.values), len(ends.values) + 1)) for each in (ends.low, ends.high))
        every = np.append(np.arange(len(ends.low)), first[-2:])
        single = self.low == self.high
        return np.where(single, every[self.low], first[self.low]), np.where(single, every[self.high], last[self.high])

    @cached_property
    def width(self) -> Reals:
        """How wide each class's cell is: a length on the axis, or a number of values; 0 for one, or for everything."""
        column = self.column
        assert column.taxonomy is None
        if column.positions is not None:
            places = column.positions if column.ends is None else column.ends.positions
            places = np.append(places, (0.0, 0.0))  # from missing on; where these take part, all is shown
            first, last = self.ends
            return np.where(self.everything | (first == last), 0.0, places[last] - places[first])
        return np.where(self.everything | (self.values < 2), 0.0, self.values)

    @cached_property
    def values(self) -> Reals:
        """The number of values that the set of each class stands for."""
        if self.column.other is None:
            return self.distinct.astype(np.float64)
        code, several = self.column.other
        weight = np.ones(self.column.size)
        weight[code] = several
        return self.total(weight)

    @property
    def span(self) -> float:
        """What shares are of."""
        return self.column.domain if self.domain is None else self.domain

    @cached_property
    def share(self) -> Reals:
        """The share of the domain that each class's cell covers, 0 for a single value (the NCP of the cell)."""
        if self.column.taxonomy is not None:
            return self.column.taxonomy.share[self.node]
        return np.where(self.everything, 1.0, self.width / (self.span or 1.0))

    @cached_property
    def reach(self) -> tuple[Ints, Ints]:
        """The range of codes that each cell covers, also those that its class does not hold (sets: its own)."""
        column = self.column
        last = column.size - 1
        if column.taxonomy is not None:
            first_of, last_of = column.taxonomy.span
            return first_of[self.node], last_of[self.node]
        low, high = self.low, self.high
        if column.ends is not None and column.positions is not None:
            # what lies between an end and the values of the class is covered, too
            places = np.append(column.ends.positions, (np.inf, np.inf))
            first, end = self.ends
            wide = (low != high) & ~self.everything
            low = np.where(wide, np.searchsorted(column.positions, places[first]), low)
            high = np.where(wide, np.searchsorted(column.positions, places[end], side="right") - 1, high)
        return np.where(self.everything, 0, low), np.where(self.everything, last, high)

    def total(self, of_code: Reals) -> Reals:
        """Return the sum of a figure per code, over the codes that each class's cell covers."""
        if self.column.taxonomy is None and self.column.positions is None:
            sums = np.concatenate(([0.0], np.cumsum(np.append(of_code, 0.0)[self.codes])))  # masked: one code more
            return np.asarray(sums[self.end] - sums[self.begin])
        low, high = self.reach
        sums = np.concatenate(([0.0], np.cumsum(of_code)))
        return np.asarray(sums[high + 1] - sums[low])


@dataclass(frozen=True, eq=False)
class SetCover:
    """An item-set column over all classes: class ``g`` shows ``nodes[start[g]:start[g + 1]]``, ascending.

    Without a taxonomy a node is an item that all records of the class hold. With one it is a node of the taxonomy:
    where records differ in an item, the lowest node over it that all of them hold. ``share`` is the mean, over the
    records of a class, of the share of the items that it hides (the NCP of the cell), ``disclosed`` the number of its
    items that it shows unchanged, over all its records.
    """

    column: ItemSets
    start: Ints
    nodes: NDArray[np.integer[Any]]
    share: Reals
    disclosed: Ints

    def taken(self, classes: Classes) -> SetCover:
        """Return the cover of some classes; what is worked out about it takes no more room than they need."""
        runs = _runs_of(self.start, self.nodes, classes)
        return SetCover(self.column, *runs, self.share[classes], self.disclosed[classes])

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

    ``share`` is the mean, over the records that are neither suppressed nor masked, of the share of their items that is
    lost; ``disclosed`` the number of items that are shown unchanged.
    """

    column: ItemSets
    share: float
    disclosed: int


def numbered(start: Ints, parts: NDArray[np.integer[Any]]) -> Ints:
    """Return a number for each run of ``parts``, from 0 by first appearance; equal runs have equal numbers."""
    from sudare.kernels.class_rows import number_runs

    # one type for all: each other one would be compiled anew
    return np.asarray(number_runs(start, parts.astype(np.int64, copy=False)))


def inside_runs(start: NDArray[np.integer[Any]], length: NDArray[np.integer[Any]]) -> Ints:
    """Return the places inside each run, run by run."""
    ends = np.cumsum(length)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.repeat(start - (ends - length), length) + np.arange(total))


def first_of_each(numbers: NDArray[np.integer[Any]]) -> Ints:
    """Return where each number first stands; numbers go from 0, and each of them occurs."""
    found = np.empty(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    found[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of equal numbers the last assignment stays
    return found


def _runs_of(start: Ints, parts: NDArray[Any], classes: Classes) -> tuple[Ints, NDArray[Any]]:
    """Return the runs of some classes, one after the other, and where they begin."""
    if isinstance(classes, slice):
        begin = start[classes.start : classes.stop + 1]
        return begin - begin[0], parts[begin[0] : begin[-1]]
    first, length = start[classes], start[classes + 1] - start[classes]
    return _starts(length, MEMORY), parts[inside_runs(first, length)]


@dataclass(frozen=True, eq=False)
class Generalized:
    """A table as a partition shows it: how many records each class has, and a cover for each quasi-identifier.

    ``suppressed`` records are not in the release, ``masked`` ones are, as the last class, which shows nothing.
    """

    rows: int
    suppressed: int
    sizes: Ints
    start: Ints
    partition: Partition
    covers: Mapping[str, Cover | SetCover]
    own: Mapping[str, OwnItems] = field(default_factory=dict)
    storage: Storage = MEMORY
    masked: int = 0

    @cached_property
    def order(self) -> Ints:
        """The rows class by class, otherwise in source order, those of class ``g`` from ``start[g]``; made on use."""
        return _by_class(self.partition, self.start, self.storage)

    def parts(self) -> Iterator[Generalized]:
        """Yield runs of about a million classes, so that nothing has to be worked out for all of them at once.

        Records that show nothing count with the last of them; suppressed ones, and own items, with none.
        """
        for part in chunks(len(self.sizes)):
            sizes = self.sizes[part]
            covers = {name: cover.taken(part) for name, cover in self.covers.items()}
            start = self.start[part.start : part.stop + 1] - self.start[part.start]
            masked = self.masked if part.stop == len(self.sizes) else 0
            yield Generalized(
                int(start[-1]), 0, sizes, start, self.partition, covers, storage=self.storage, masked=masked
            )

    @property
    def lost(self) -> int:
        """The number of records of which nothing is shown, be they in the release or not."""
        return self.suppressed + self.masked

    @property
    def kept(self) -> Ints:
        """The number of records of each class that shows something: all classes but the masked one."""
        return self.sizes[:-1] if self.masked else self.sizes


def generalize(table: Table, partition: Partition) -> Generalized:
    """Cover each class."""
    sizes = partition.sizes
    start = _starts(sizes, table.storage)
    order = cache(
        lambda: _by_class(partition, start, table.storage)
    )  # only where a column needs it: it is as long as the table
    masked = int(sizes[-1]) if partition.masked else 0
    suppressed = table.rows - int(start[-1])

    def cover(column: Column | ItemSets) -> Cover | SetCover:
        found = smallest_cover(column)
        if isinstance(found, Cover) and column.name in partition.aggregated:
            return replace(found, aggregated=partition.aggregated[column.name])
        return found

    def smallest_cover(column: Column | ItemSets) -> Cover | SetCover:
        if column.name in partition.by_sets and isinstance(column, ItemSets):
            return _sets_as_cut(column, partition)
        if isinstance(column, ItemSets):
            return _in_common(column, partition, order, start, table.storage)
        if column.name in partition.cuts:
            return _as_cut(column, partition, all_kept=not suppressed + masked)
        if column.name in partition.intervals:
            return _between(_extremes(column, partition, table.storage))
        if column.taxonomy is None and column.positions is None:
            return _categories(column, partition, order, start)
        return _extremes(column, partition, table.storage)

    own = [name for name in partition.cuts if name in table.sets and name not in partition.by_sets]
    columns = [column for name, column in table.quasi.items() if name not in own]
    if any(isinstance(each, ItemSets) and each.taxonomy and each.name not in partition.by_sets for each in columns):
        order()  # once, before there are threads
    with ThreadPoolExecutor(min(len(columns), os.cpu_count() or 1) or 1) as pool:
        covers = dict(zip((column.name for column in columns), pool.map(cover, columns), strict=True))
    if partition.masked:
        covers = {name: _masked(found) for name, found in covers.items()}
    told = {name: _own_items(table.sets[name], partition, int(start[-1]) - masked) for name in own}
    shown = Generalized(table.rows, suppressed, sizes, start, partition, covers, told, table.storage, masked)
    if order.cache_info().currsize:
        shown.__dict__["order"] = order()
    return shown


def _own_items(column: ItemSets, partition: Partition, released: int) -> OwnItems:
    """Measure what records lose that show their own items, as a cut has them."""
    from sudare.kernels.common_items import own_loss

    cut, classes = partition.cuts[column.name], partition.classes
    if partition.masked:
        classes = np.where(classes == partition.count - 1, SUPPRESSED, classes)
    shown = cut >= 0
    loss = np.ones(len(cut))
    loss[shown] = 0.0 if column.taxonomy is None else column.taxonomy.share[cut[shown]]
    lost, disclosed = own_loss(column.offsets, column.items.astype(np.uint32, copy=False), classes, loss)
    return OwnItems(column, lost / max(released, 1), int(disclosed))


def _by_class(partition: Partition, start: Ints, storage: Storage) -> Ints:
    from sudare.kernels.class_rows import sort_by_class

    order = storage.empty(int(start[-1]), np.int64)
    sort_by_class(partition.classes, start, order)
    return order


def _starts(lengths: NDArray[np.integer[Any]], storage: Storage) -> Ints:
    """Return where runs of these lengths begin, and at last where the last one ends."""
    start = storage.empty(len(lengths) + 1, np.int64)
    start[0] = 0
    np.cumsum(lengths, out=start[1:])
    return start


def _extremes(column: Column, partition: Partition, storage: Storage) -> Cover:
    """Cover classes by their smallest and largest codes, which is all that numbers and trees show."""
    from sudare.kernels.class_rows import spread_extremes

    low = np.full(partition.count, column.size, np.uint32)
    high = np.zeros(partition.count, np.uint32)
    for part in chunks(len(partition.classes)):
        # one type for all columns: each other one would be compiled anew
        spread_extremes(column.codes[part].astype(np.uint32), partition.classes[part], low, high)
    return Cover(column, *_ends(low, high, storage))


def _ends(
    low: NDArray[np.integer[Any]], high: NDArray[np.integer[Any]], storage: Storage = MEMORY
) -> tuple[Ints, Ints]:
    """Return where runs of codes begin, and their smallest and largest codes; one code stands alone."""
    start = _starts(np.add(low != high, 1, dtype=np.uint8), storage)
    codes = storage.empty(int(start[-1]), np.int64)
    for part in chunks(len(low)):
        codes[start[part.start + 1 : part.stop + 1] - 1] = high[part]
        codes[start[part]] = low[part]
    return start, codes


def _between(ends: Cover) -> Cover:
    """Cover classes by all codes from their smallest to their largest one."""
    lengths = ends.high - ends.low + 1
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    codes = np.arange(int(start[-1])) - np.repeat(start[:-1] - ends.low, lengths)
    return Cover(ends.column, start, codes)


def _categories(column: Column, partition: Partition, order: Callable[[], Ints], start: Ints) -> Cover:
    """Cover classes by all their different codes: bits of a word if there are few codes, otherwise row by row."""
    from sudare.kernels.class_rows import distinct_codes, list_bits, spread_bits

    if column.size > WORD:
        return Cover(column, *distinct_codes(column.codes.astype(np.uint32), order(), start, column.size))
    bits = np.zeros(partition.count, np.uint64)
    for part in chunks(len(partition.classes)):
        spread_bits(column.codes[part].astype(np.uint32), partition.classes[part], bits)
    return Cover(column, *list_bits(bits))


def _as_cut(column: Column, partition: Partition, *, all_kept: bool) -> Cover:
    """Cover classes by the cells that a cut gives their codes."""
    cut = partition.cuts[column.name]
    if column.taxonomy is not None:
        return _nodes(column, _smallest(column, cut, partition))
    if np.all(cut < 0):
        run = _everything(column)
        return Cover(column, np.array([0, len(run)]), run, np.zeros(partition.count, np.int64))
    _, numbers = np.unique(cut, return_inverse=True)
    whole = not numbers.any()
    # missing, the last code, may make its cell show everything; that cell is number 0
    numbers = np.where(numbers == numbers[-1:], 0, numbers + 1)
    told = np.arange(column.size)
    if not (all_kept or (whole and column.positions is None)):
        # a cell must not tell what only records hold that are left out; one that shows everything names no value
        told = np.flatnonzero(_held(column, partition))
    codes = told[np.argsort(numbers[told], kind="stable")]
    start = np.concatenate(([0], np.cumsum(np.bincount(numbers[told], minlength=int(numbers.max(initial=0)) + 1))))
    return Cover(column, start, codes, _smallest(column, numbers, partition))


def _nodes(column: Column, shown: Ints) -> Cover:
    """Cover classes by nodes that are given."""
    assert column.taxonomy is not None
    first, last = column.taxonomy.span
    return Cover(column, *_ends(first, np.maximum(last, first)), shown)  # a node without data is never shown


def _smallest(column: Column, numbers: Ints, partition: Partition) -> Ints:
    """Return the smallest number of the codes of each class.

    A method gives all records of a class the same, but where the masked ones have joined a class that shows everything:
    its number is 0.
    """
    from sudare.kernels.class_rows import spread_extremes

    low = np.full(partition.count, np.iinfo(np.uint32).max, np.uint32)
    high = np.zeros(partition.count, np.uint32)
    of_code = numbers.astype(np.uint32)
    for part in chunks(len(partition.classes)):
        spread_extremes(of_code[column.codes[part]], partition.classes[part], low, high)
    if np.any((low != high)[: partition.count - partition.masked] & (low > 0)[: partition.count - partition.masked]):
        # what some of them show would not be true of them
        raise AssertionError(f"the records of a class must show different cells in '{column.name}'")
    return low.astype(np.int64)


def _held(column: Column, partition: Partition) -> NDArray[np.bool_]:
    """Return which codes occur in records that are neither suppressed nor masked."""
    held = np.zeros(column.size, dtype=np.bool_)
    last = partition.count - partition.masked
    for part in chunks(len(partition.classes)):
        classes = partition.classes[part]
        held[column.codes[part][(classes >= 0) & (classes < last)]] = True
    return held


def _masked(cover: Cover | SetCover) -> Cover | SetCover:
    """Let the last class show nothing."""
    if isinstance(cover, SetCover):
        start, share, disclosed = cover.start.copy(), cover.share.copy(), cover.disclosed.copy()
        start[-1], share[-1], disclosed[-1] = start[-2], 1.0, 0
        return SetCover(cover.column, start, cover.nodes[: start[-1]], share, disclosed)
    column = cover.column
    if column.taxonomy is not None:
        nodes = cover.node.astype(np.int64)
        nodes[-1] = 0
        return _nodes(column, nodes)
    codes = _everything(column)
    if cover.shown is None:
        begin = cover.start[-2]
        return Cover(column, *_with_run(cover.start[:-1], cover.codes[:begin], codes))
    shown = cover.shown.copy()
    shown[-1] = len(cover.start) - 1
    return Cover(column, *_with_run(cover.start, cover.codes, codes), shown)


def _everything(column: Column) -> Ints:
    """Return codes that together show nothing: a set of all categories does, an interval of all numbers does not."""
    enough = column.size > 1 and (column.missing or column.positions is None)
    return np.arange(column.size if enough else column.size + 1)


def _with_run(start: Ints, codes: Ints, run: Ints) -> tuple[Ints, Ints]:
    return np.append(start, start[-1] + len(run)), np.concatenate((codes, run))


def _in_common(
    column: ItemSets, partition: Partition, order: Callable[[], Ints], start: Ints, storage: Storage
) -> SetCover:
    """Find what all records of each class hold; ``order`` lists the rows class by class, which only trees need."""
    from sudare.kernels.common_items import (
        ClassRows,
        FlatSets,
        InCommon,
        ItemTree,
        common_items,
        common_nodes,
        first_lengths,
        squeeze,
    )

    classes = len(start) - 1
    # one type where that costs little: each other one would be compiled anew
    items = column.items if len(column.items) > LARGE else column.items.astype(np.uint32, copy=False)
    sets = FlatSets(column.offsets, items)
    lengths = np.full(classes, -1, np.int32)
    first_lengths(column.offsets, partition.classes, lengths)
    levels = 1 if column.taxonomy is None else column.taxonomy.path.shape[1] - 1
    # a class shows no more than its first record holds, at each level
    begin = _starts(np.multiply(lengths, levels, out=lengths), storage)
    del lengths
    found = storage.empty(int(begin[-1]), np.uint32)
    share, disclosed = storage.zeros(classes, np.float64), storage.empty(classes, np.int64)
    disclosed[:] = -1
    parts = os.cpu_count() or 1
    bounds = np.searchsorted(start, start[-1] * np.arange(parts + 1) // parts)
    bounds[0], bounds[-1] = 0, classes
    filled = np.zeros(classes if column.taxonomy is None else 0, np.int32)
    if column.taxonomy is None:
        common = InCommon(begin, found, disclosed, share, disclosed)

        def find(low: int, high: int) -> None:
            common_items(sets, partition.classes, low, high, common, filled)

    else:
        common = InCommon(begin, found, storage.zeros(classes, np.int64), share, disclosed)
        rows = ClassRows(order(), start)
        tree = ItemTree(column.taxonomy.path, column.taxonomy.share)

        def find(low: int, high: int) -> None:
            common_nodes(sets, rows, low, high, tree, common)

    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(find, bounds[:-1].tolist(), bounds[1:].tolist()))
    ends = _starts(common.shown, storage)
    squeeze(begin, found, common.shown, ends, found)  # in place: no run begins later than before
    for part in chunks(classes):
        sizes = np.diff(start[part.start : part.stop + 1])
        if column.taxonomy is None:
            # share held the sums of 1 / items until here
            share[part] = (filled[part] - disclosed[part] * share[part]) / sizes
        disclosed[part] *= sizes
    return SetCover(column, ends, found[: ends[-1]], share, disclosed)


def _sets_as_cut(column: ItemSets, partition: Partition) -> SetCover:
    """Cover classes by the nodes that a cut gives their items: the same ones for all records of a class.

    Only masked records that joined a class which shows nothing may hold others. So the class shows what all have.
    """
    from sudare.kernels.common_items import FlatSets, InCommon, common_items, cut_losses, first_lengths, squeeze
    from sudare.kernels.flat_sets import NOTHING

    cut, classes = partition.cuts[column.name], partition.count
    shown = np.where(cut < 0, NOTHING, cut).astype(np.uint32)
    items = column.items.astype(np.uint32, copy=False)
    offsets, nodes = settled(items.copy(), column.offsets.copy(), shown)
    lengths = np.full(classes, -1, np.int32)
    first_lengths(offsets, partition.classes, lengths)
    begin = _starts(lengths, MEMORY)
    found, count = np.empty(int(begin[-1]), np.uint32), np.full(classes, -1, np.int64)
    common = InCommon(begin, found, count, np.zeros(classes), count)
    common_items(FlatSets(offsets, nodes), partition.classes, 0, classes, common, np.zeros(classes, np.int32))
    ends = _starts(count, MEMORY)
    squeeze(begin, found, count, ends, found)
    told = found[: ends[-1]]
    taxonomy = column.taxonomy
    leaf = np.arange(column.size) if taxonomy is None else taxonomy.path[:, -1].astype(np.int64)
    loss = np.zeros(column.size) if taxonomy is None else taxonomy.share[np.maximum(cut, 0)]
    share, disclosed = np.zeros(classes), np.zeros(classes, np.int64)
    sets, figures = FlatSets(column.offsets, items), (share, disclosed)
    cut_losses(sets, partition.classes, (cut, leaf, loss), FlatSets(ends, told), figures)
    return SetCover(column, ends, told, share / np.maximum(partition.sizes, 1), disclosed)
