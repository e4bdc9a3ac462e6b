"""Questions to shards about their rows in clusters, and the merging of the answers.

A :class:`Task` goes to where the rows are. It sends them down the tree of what was decided so far, so that a shard has
nothing to remember, and answers its questions about the clusters that it finds at the leaves. What it returns, and the
task itself, is as large as the clusters have different values, however many rows there are. Answers are merged in any
order and in any grouping: they are sums, smallest and largest codes, and bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.topdown import shard_summaries as kernel
from sudare.kernels.topdown import value_orders
from sudare.kernels.topdown.item_choices import REST, ItemMaps
from sudare.kernels.topdown.shard_summaries import Chosen, Counts
from sudare.methods.attribute_arrays import describe_axes
from sudare.methods.topdown.frame import Ints
from sudare.table import Table


@dataclass(frozen=True, eq=False)
class Fork:
    """One split of a cluster; see :class:`sudare.kernels.topdown.shard_summaries.Forks` for the meaning of its parts.

    ``codes`` and ``places`` are its map, None for a number. Forks of the same arrays share them when they are sent.
    """

    column: int
    place: int = 0
    shape: int = 0
    codes: NDArray[np.int32] | None = None
    places: NDArray[np.int32] | None = None
    children: int = 2
    child: Ints | None = None


def pack(forks: Sequence[Fork]) -> kernel.Forks:
    """Put forks into flat arrays."""
    maps: dict[int, tuple[int, Fork]] = {}
    for fork in forks:
        if fork.codes is not None:
            maps.setdefault(id(fork.codes), (len(maps), fork))
    held = [fork for _, fork in maps.values()]
    child = [np.zeros(0, np.int64) if fork.child is None else fork.child for fork in forks]
    return kernel.Forks(
        column=np.array([fork.column for fork in forks], dtype=np.int64),
        place=np.array([fork.place for fork in forks], dtype=np.int64),
        shape=np.array([fork.shape for fork in forks], dtype=np.int64),
        map=np.array([-1 if fork.codes is None else maps[id(fork.codes)][0] for fork in forks], dtype=np.int64),
        children=np.array([fork.children for fork in forks], dtype=np.int64),
        child_begin=starts([len(numbers) for numbers in child])[:-1],
        child=joined(child, np.int64),
        begin=starts([0 if fork.codes is None else len(fork.codes) for fork in held]),
        code=joined([fork.codes for fork in held if fork.codes is not None], np.int32),
        place_of=joined([fork.places for fork in held if fork.places is not None], np.int32),
    )


def starts(lengths: Iterable[int] | Ints) -> Ints:
    """Return where runs of these lengths begin, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.asarray(lengths, dtype=np.int64))))


def joined(arrays: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Return arrays one after the other; there may be none."""
    return np.concatenate([np.zeros(0, kind), *arrays]).astype(kind, copy=False)


@dataclass(frozen=True, eq=False)
class Tree:
    """What was decided so far: node 0 is the table, ``child`` the first child of each node, -1 for a leaf."""

    child: Ints
    forks: kernel.Forks

    def routed(self, shard: Table) -> Routed:
        """Send the rows of a shard down to the leaves."""
        columns, sets = list(shard.single.values()), list(shard.sets.values())
        rows = np.empty((shard.rows, len(columns)), dtype=np.uint32)
        for index, column in enumerate(columns):
            rows[:, index] = column.codes
        offsets = np.zeros((len(sets), shard.rows + 1), dtype=np.int64)
        at = 0
        for index, held in enumerate(sets):
            offsets[index] = held.offsets - held.offsets[0] + at
            at = int(offsets[index, -1])
        items = joined([held.items[held.offsets[0] : held.offsets[-1]] for held in sets], np.uint32)
        largest = max([column.size for column in columns] + [held.size for held in sets], default=0)
        lookup = np.full(largest, kernel.NOWHERE, dtype=np.int32)
        first, last = np.zeros((2, len(self.child)), dtype=np.int64)
        nodes = kernel.Ranges(np.arange(shard.rows, dtype=np.int64), first, last)
        packed = kernel.Shard(rows, items, offsets, lookup)
        kernel.route(packed, self.forks, self.child, nodes)
        return Routed(shard, packed, nodes)


@dataclass(frozen=True, eq=False)
class Routed:
    """The rows of a shard, and where those of each node of a tree are."""

    table: Table
    shard: kernel.Shard
    nodes: kernel.Ranges

    def clusters(self, nodes: Ints) -> kernel.Ranges:
        """Return where the rows of some nodes are."""
        return kernel.Ranges(self.nodes.order, self.nodes.first[nodes], self.nodes.last[nodes])

    @cached_property
    def axes(self) -> value_orders.Axes:
        """The single-valued attributes."""
        return describe_axes(list(self.table.single.values()))

    @cached_property
    def arranged(self) -> NDArray[np.uint32]:
        """The rows, leaf by leaf."""
        return self.shard.rows[self.nodes.order]


class Question(Protocol):
    """A question about clusters."""

    def answer(self, shard: Routed, nodes: Ints) -> Any:
        """Answer it for the rows of one shard; the clusters are these nodes of its tree."""
        ...

    def merge(self, one: Any, other: Any) -> Any:
        """Put two answers together."""
        ...


@dataclass(frozen=True, eq=False)
class Task:
    """What is run on every shard: ``task(shard)`` for an answer, and ``task.merge`` to make one of two answers.

    A shard is some of the rows of a table, with the dictionaries of the whole one. An answer belongs into the result
    once for each shard, however often it was computed.
    """

    tree: Tree
    nodes: Ints
    questions: tuple[Question, ...]

    def __call__(self, shard: Table) -> list[Any]:
        """Return the answers of one shard."""
        routed = self.tree.routed(shard)
        return [question.answer(routed, self.nodes) for question in self.questions]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Put the answers of two shards together, or of two groups of shards."""
        return [q.merge(a, b) for q, a, b in zip(self.questions, one, other, strict=True)]

    def merged(self, answers: Iterable[list[Any]]) -> list[Any]:
        """Put all answers together."""
        return reduce(self.merge, answers)


@dataclass(frozen=True, eq=False)
class CountValues:
    """How often does each code of each attribute occur in each cluster?

    Numbers with very many values only return ends.
    """

    kind: NDArray[np.int8]
    start: Ints

    def answer(self, shard: Routed, nodes: Ints) -> Counts:
        """Answer it for the rows of one shard."""
        axes, (_, first, last) = shard.axes, shard.clusters(nodes)
        room = int(np.minimum((last - first)[:, None], np.diff(axes.start)[None, :]).sum())
        keys, counts = np.empty((2, room), dtype=np.int64)
        low = np.full((len(nodes), len(self.kind)), kernel.NOWHERE, dtype=np.int32)
        high = np.full_like(low, -1)
        many = np.zeros(low.shape, dtype=np.bool_)
        counted = Counts(keys, counts, low, high, many)
        found = kernel.count_values(shard.arranged, first, last, axes, value_orders.scratch(axes, 1), counted)
        by_key = np.argsort(keys[:found])
        return counted._replace(keys=keys[by_key], counts=counts[by_key])

    def merge(self, one: Counts, other: Counts) -> Counts:
        """Add the counts; a number that now has more than so many values is not counted any longer."""
        keys, where = np.unique(np.concatenate((one.keys, other.keys)), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        counts[where[: len(one.keys)]] = one.counts
        counts[where[len(one.keys) :]] += other.counts
        many = one.many | other.many
        pair = self.pairs(keys)
        different = np.bincount(pair, minlength=many.size).reshape(many.shape)
        many |= (different > value_orders.BINS) & (self.kind == value_orders.NUMBER)
        kept = ~many.reshape(-1)[pair]
        return Counts(keys[kept], counts[kept], np.minimum(one.low, other.low), np.maximum(one.high, other.high), many)

    def pairs(self, keys: Ints) -> Ints:
        """Return the pair of cluster and attribute of each key."""
        cluster, code = np.divmod(keys, max(int(self.start[-1]), 1))
        return np.asarray(cluster * len(self.kind) + np.searchsorted(self.start, code, side="right") - 1)


@dataclass(frozen=True, eq=False)
class CoverPlaces:
    """What do the places of each attribute cover of the others, and how many records are in the bins of a number?

    Without ``extents`` only the latter. ``begin`` says where the lines of each cluster begin.
    """

    kind: NDArray[np.int8]
    orders: kernel.Orders
    begin: Ints
    extents: bool

    def answer(self, shard: Routed, nodes: Ints) -> kernel.Covered:
        """Answer it for the rows of one shard."""
        axes = shard.axes
        attributes, lines = len(axes.kind), int(self.begin[-1])
        wide = lines if self.extents else 0
        covered = kernel.Covered(
            self.begin,
            np.zeros(lines, dtype=np.int64),
            np.full((wide, attributes), kernel.NOWHERE, dtype=np.int32),
            np.full((wide, attributes), -1, dtype=np.int32),
            np.zeros((wide, attributes * value_orders.WORDS), dtype=np.uint64),
        )
        lookup = np.zeros(int(axes.start[-1]), dtype=np.int32)
        here = value_orders.covers(axes, int(self.orders.places.max(initial=1))).at_place
        _, first, last = shard.clusters(nodes)
        kernel.cover(shard.arranged, first, last, self.orders, axes, lookup, here, covered)
        # what is sent has no columns that stay empty: ranges of sets, bits of others
        ranges = self.kind != value_orders.SET
        low, high, bits = covered.low[:, ranges], covered.high[:, ranges], covered.bits[:, self.words]
        return covered._replace(low=low, high=high, bits=bits)

    @cached_property
    def words(self) -> Ints:
        """The words of bits that some cluster needs."""
        places = self.orders.places.reshape(-1, len(self.kind))
        tracked = np.where((self.kind == value_orders.SET) & (places <= 64 * value_orders.WORDS), places, 0)
        most = (tracked.max(axis=0, initial=0) + 63) // 64
        return joined([np.arange(count) + value_orders.WORDS * a for a, count in enumerate(most.tolist())], np.int64)

    def merge(self, one: kernel.Covered, other: kernel.Covered) -> kernel.Covered:
        """Make both cover what either does."""
        return kernel.Covered(
            one.begin,
            one.inside + other.inside,
            np.minimum(one.low, other.low),
            np.maximum(one.high, other.high),
            one.bits | other.bits,
        )

    def complete(self, merged: kernel.Covered) -> kernel.Covered:
        """Put the columns that were not sent back to their places."""
        kind = self.kind
        lines = len(merged.low)
        low = np.zeros((lines, len(kind)), dtype=np.int32)
        high = np.zeros_like(low)
        bits = np.zeros((lines, len(kind) * value_orders.WORDS), dtype=np.uint64)
        low[:, kind != value_orders.SET], high[:, kind != value_orders.SET] = merged.low, merged.high
        bits[:, self.words] = merged.bits
        return merged._replace(low=low, high=high, bits=bits)


@dataclass(frozen=True, eq=False)
class CountNodes:
    """How many records of each cluster hold each node of an item-set column?

    Item ``codes[i]`` of cluster c, from ``begin[c]`` on, is a node whose count stands at ``slots[i]``, of ``count``.
    """

    column: int
    begin: Ints
    codes: NDArray[np.int32]
    slots: NDArray[np.int32]
    count: int

    def answer(self, shard: Routed, nodes: Ints) -> Ints:
        """Answer it for the rows of one shard."""
        counts, stamp = np.zeros((2, self.count), dtype=np.int64)
        maps = ItemMaps(self.begin, self.codes, self.slots)
        kernel.count_nodes(shard.shard, self.column, maps, shard.clusters(nodes), stamp, counts)
        return counts

    def merge(self, one: Ints, other: Ints) -> Ints:
        """Add the counts."""
        return one + other


@dataclass(frozen=True, eq=False)
class ChooseItems:
    """Which items do the records of each cluster choose? Ranks of all clusters are numbered through."""

    column: int
    begin: Ints
    codes: NDArray[np.int32]
    ranks: NDArray[np.int32]
    count: int
    disclosed: NDArray[np.float64]

    def answer(self, shard: Routed, nodes: Ints) -> Chosen:
        """Answer it for the rows of one shard."""
        records, gain = np.zeros((2, self.count), dtype=np.int64)
        chosen = Chosen(records, gain, np.zeros(len(nodes), dtype=np.int64))
        maps = ItemMaps(self.begin, self.codes, self.ranks)
        kernel.choose_items(shard.shard, self.column, maps, shard.clusters(nodes), self.disclosed, chosen)
        return chosen

    def merge(self, one: Chosen, other: Chosen) -> Chosen:
        """Add the numbers."""
        return Chosen(one.records + other.records, one.gain + other.gain, one.hidden + other.hidden)


@dataclass(frozen=True, eq=False)
class TallyChildren:
    """What is sensitive in the children that forks would make, and how many people are they about?

    Fork f is one of cluster ``owner[f]``. The answer has a histogram per child for each of the sensitive columns, and
    with ``people`` then either bits, one for each person, or just numbers where nobody is in two shards (``apart``).
    """

    forks: kernel.Forks
    owner: Ints
    sensitive: tuple[str, ...]
    people: bool
    apart: bool

    def answer(self, shard: Routed, nodes: Ints) -> list[NDArray[Any]]:
        """Answer it for the rows of one shard."""
        begin = starts(self.forks.children)
        found: list[NDArray[Any]] = []
        for name in self.sensitive:
            column = shard.table.sensitive[name]
            found.append(np.zeros((int(begin[-1]), column.size), dtype=np.int64))
            self._walk(kernel.tally_forks, shard, nodes, column.codes, begin, found[-1])
        if self.people:
            assert shard.table.subject is not None  # the policy was checked
            codes, size = shard.table.subject.codes, shard.table.subject.size
            if self.apart:  # then what they are called elsewhere makes no difference
                different, codes = np.unique(codes, return_inverse=True)
                size = len(different)
            bits = np.zeros((int(begin[-1]), (size + 7) // 8), dtype=np.uint8)
            self._walk(kernel.mark_forks, shard, nodes, codes, begin, bits)
            found.append(count_bits(bits) if self.apart else bits)
        return found

    def _walk(
        self, walk: Any, shard: Routed, nodes: Ints, codes: NDArray[Any], begin: Ints, result: NDArray[Any]
    ) -> None:
        walk(shard.shard, self.forks, self.owner, shard.clusters(nodes), codes.astype(np.uint32), begin, result)

    def merge(self, one: list[NDArray[Any]], other: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Add the counts, join the bits."""
        return _added(one, other)


def _added(one: list[NDArray[Any]], other: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Add numbers, join bits, which are the only bytes."""
    return [a | b if a.dtype == np.uint8 else a + b for a, b in zip(one, other, strict=True)]


def count_bits(bits: NDArray[np.uint8]) -> Ints:
    """Return how many bits of each line are set."""
    return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64))


def item_fork(column: int, codes: Ints, ranks: Ints, child: Ints, children: int) -> Fork:
    """Return the fork by which records go where their best-ranked item does; ``child`` may say REST."""
    useful = np.flatnonzero(child != REST)
    kept = ranks <= useful.max(initial=-1)  # a rank behind the last that counts is as good as none
    return Fork(
        -1 - column,
        codes=codes[kept].astype(np.int32),
        places=ranks[kept].astype(np.int32),
        children=children,
        child=child[: int(useful.max(initial=-1)) + 1].copy(),
    )
