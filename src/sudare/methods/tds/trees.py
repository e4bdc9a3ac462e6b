"""The trees of top-down specialization: hierarchies, flat trees, and trees of numbers that grow when they are cut.

A tree tells for each code of its column which node of the cut shows it (``now``), which child of that node it is below
(``slot``), and how many children the node has (``fan``, 0 for a leaf). Only nodes above records count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy

import numpy as np
from numpy.typing import NDArray

from sudare.table import Column, cut_at

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
ROOT = 0


class Tree(ABC):
    """What the three kinds have in common; ``counts`` has the records of each code by class."""

    def __init__(self, column: Column, counts: Ints) -> None:
        self.column, self.counts = column, counts
        self.now = np.zeros(column.size, dtype=np.int64)
        self.slot = np.zeros(column.size, dtype=np.int64)
        self.fan = np.zeros(column.size, dtype=np.int64)
        self.opened = False
        self.names = ROOT
        self._open(np.flatnonzero(counts.any(axis=1)))

    def _open(self, codes: Ints) -> None:
        """Look up the children of the node that shows these codes."""
        slots = self.children(codes)
        self.slot[codes] = slots
        self.fan[codes] = int(slots.max()) + 1 if len(slots) and slots[0] >= 0 else 0

    @abstractmethod
    def children(self, codes: Ints) -> Ints:
        """Return the child that each code of a node is below, numbered from 0; -1 for all if it is a leaf."""

    def specialize(self, node: int) -> list[int]:
        """Replace a node of the cut by its children, and return these."""
        codes = np.flatnonzero((self.now == node) & self.counts.any(axis=1))
        order = np.argsort(self.slot[codes], kind="stable")  # a node may have as many children as codes
        ends = np.searchsorted(self.slot[codes[order]], np.arange(1, int(self.fan[codes[0]])))
        parts = np.split(codes[order], ends)
        names = [self.named(part) for part in parts]
        self.opened = True
        for part, name in zip(parts, names, strict=True):
            self.now[part] = name
            self._open(part)
        return names

    def named(self, codes: Ints) -> int:
        """Return a number for the child that has these codes."""
        self.names += 1
        return self.names

    def branching(self, nodes: list[int]) -> list[int]:
        """Return those of some nodes of the cut that have children."""
        there = set(np.unique(self.now[self.fan > 0]).tolist())
        return [node for node in nodes if node in there]

    def children_of(self, node: int) -> int:
        """Return how many children a node of the cut has."""
        return int(self.fan[self.now == node].max(initial=0))

    def close(self, node: int) -> None:
        """Let a node of the cut count as a leaf from now on."""
        self.fan[self.now == node] = 0

    def mixed(self, node: int) -> bool:
        """Return whether the records of a node are of more than one class."""
        return bool(np.count_nonzero(self.counts[self.now == node].sum(axis=0)) > 1)

    def gain(self, node: int) -> float:
        """Return the information gain of specializing a node, over its own records."""
        parts = self._parts(node)
        shares = parts.sum(axis=1) / max(parts.sum(), 1)
        return float(_doubt(parts.sum(axis=0)[None])[0] - (shares * _doubt(parts)).sum())

    def gain_ratio(self, node: int) -> float:
        """Return the information gain of specializing a node over its split information, as the older method has it."""
        parts = self._parts(node)
        shares = parts.sum(axis=1) / max(parts.sum(), 1)
        split = -float((shares[shares > 0] * np.log2(shares[shares > 0])).sum())
        return self.gain(node) / split if split > 0 else 0.0

    def _parts(self, node: int) -> Reals:
        """Return the records of the children of a node, by class."""
        codes = np.flatnonzero((self.now == node) & (self.fan > 0))
        parts = np.zeros((int(self.fan[codes].max(initial=1)), self.counts.shape[1]))
        np.add.at(parts, self.slot[codes], self.counts[codes])
        return parts

    def cut(self) -> Ints:
        """Return what each code shows, as a partition has it in ``cuts``."""
        return self.now.copy() if self.opened else np.full(self.column.size, -1, dtype=np.int64)

    def copy(self) -> Tree:
        """Return a tree that can be cut on its own."""
        twin = copy(self)
        twin.now, twin.slot, twin.fan = self.now.copy(), self.slot.copy(), self.fan.copy()
        return twin


class GivenTree(Tree):
    """The taxonomy of a column; nodes have the numbers that they have there."""

    def __init__(self, column: Column, counts: Ints) -> None:
        assert column.taxonomy is not None
        self.path = column.taxonomy.path
        self.depth = column.taxonomy.depths
        super().__init__(column, counts)

    def children(self, codes: Ints) -> Ints:
        """Find the nodes one step below the one that shows these codes."""
        below = self._below(codes)
        if not len(codes) or np.array_equal(below, self.now[codes]):
            return np.full(len(codes), -1, dtype=np.int64)
        return np.unique(below, return_inverse=True)[1].astype(np.int64)

    def named(self, codes: Ints) -> int:
        """Return the node's number in the taxonomy."""
        return int(self._below(codes[:1])[0])

    def _below(self, codes: Ints) -> Ints:
        deeper = np.minimum(self.depth[self.now[codes]] + 1, self.path.shape[1] - 1)
        return np.asarray(self.path[codes, deeper], dtype=np.int64)

    def cut(self) -> Ints:
        """Return the node that shows each code; codes without records show what is above them."""
        return np.where(self.counts.any(axis=1), self.now, cut_at(self.column, 0))


class FlatTree(Tree):
    """Everything, and below it each value."""

    def children(self, codes: Ints) -> Ints:
        """Give each code a child of its own, once."""
        return np.arange(len(codes)) if not self.opened else np.full(len(codes), -1, dtype=np.int64)


class GrowingTree(Tree):
    """Intervals of numbers: each is cut where this is most informative about the class. Missing is cut off first."""

    def children(self, codes: Ints) -> Ints:
        """Find the threshold with the greatest information gain; of equal ones the lowest."""
        missing = codes == self.column.missing_code
        if missing.any() and not missing.all():
            return np.asarray(missing, dtype=np.int64)
        if len(codes) < 2:
            return np.full(len(codes), -1, dtype=np.int64)
        left = np.cumsum(self.counts[codes], axis=0)[:-1].astype(np.float64)
        total = self.counts[codes].sum(axis=0)
        right = total - left
        after = left.sum(axis=1) * _doubt(left) + right.sum(axis=1) * _doubt(right)
        # equal gains may differ in their last digits
        best = int(np.flatnonzero(after <= after.min() + 1e-12 * max(float(total.sum()), 1.0))[0])
        return np.asarray(np.arange(len(codes)) > best, dtype=np.int64)


def tree_of(column: Column, counts: Ints) -> Tree:
    """Return the tree of a column."""
    if column.taxonomy is not None:
        return GivenTree(column, counts)
    return FlatTree(column, counts) if column.positions is None else GrowingTree(column, counts)


def _doubt(parts: Reals) -> Reals:
    """Return the entropy of the classes of each part, in bits."""
    size = parts.sum(axis=1, keepdims=True)
    share = np.divide(parts, size, out=np.zeros(parts.shape), where=size > 0)
    bits = np.log2(share, out=np.zeros(parts.shape), where=share > 0)
    return np.asarray(-(share * bits).sum(axis=1))
