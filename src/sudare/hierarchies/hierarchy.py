"""A hierarchy, level by level, and the taxonomy it gives the codes of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import HierarchyError, Problem
from sudare.hierarchies.leaf_labels import TEXT, spellings
from sudare.table import Taxonomy

ROOT = "*"
"""The default label of the root."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree in which every leaf is equally far from the root.

    ``labels[0]`` are the leaves, ``labels[-1]`` is the root alone, and ``parents[level][i]`` is the place of the
    parent of ``labels[level][i]`` in ``labels[level + 1]``. A label that is repeated from one level to the next
    (``Other;Other;*``) stands for a branch that is shorter than the others. ``source`` says where the hierarchy
    came from, for messages; ``names`` says what the levels are, from the leaves up.
    """

    labels: tuple[pa.Array, ...]
    parents: tuple[NDArray[np.int64], ...]
    source: str = ""
    names: tuple[str, ...] = ()

    @classmethod
    def stacked(cls, columns: Sequence[pa.Array], *, source: str = "", names: Sequence[str] = ()) -> Hierarchy:
        """Make a hierarchy of columns of labels: one row per leaf, the leaf first and the root last.

        Columns may be dictionary-encoded; the order of a dictionary is then the order of its level. The caller
        vouches that the rows form a tree.
        """
        columns = [c if pa.types.is_dictionary(c.type) else pc.dictionary_encode(c) for c in columns]
        if not len(columns[0]):
            # Without a leaf there is no inner node either, but there is still a root.
            empty, none = pa.array([], TEXT), np.empty(0, dtype=np.int64)
            labels = (empty,) * (len(columns) - 1) + (pa.array([ROOT], TEXT),)
            return cls(labels, (none,) * (len(columns) - 1), source, tuple(names))
        codes = [np.asarray(column.indices, dtype=np.int64) for column in columns]
        parents = []
        for lower, upper, column in zip(codes, codes[1:], columns, strict=False):
            above = np.empty(len(column.dictionary), dtype=np.int64)
            above[lower] = upper
            parents.append(above)
        return cls(tuple(pc.cast(c.dictionary, TEXT) for c in columns), tuple(parents), source, tuple(names))

    @property
    def depth(self) -> int:
        """The number of steps from a leaf to the root."""
        return len(self.parents)

    @property
    def leaves(self) -> pa.Array:
        """The labels of the leaves."""
        return self.labels[0]

    @property
    def root(self) -> str:
        """The label of the root."""
        return str(self.labels[-1][0].as_py())

    def columns(self) -> list[pa.Array]:
        """Return the labels as rows from leaf to root, column by column."""
        place = np.arange(len(self.leaves))
        columns = [self.leaves]
        for level, parent in enumerate(self.parents, 1):
            place = parent[place]
            columns.append(self.labels[level].take(pa.array(place)))
        return columns

    def find(self, values: pa.Array) -> NDArray[np.int64]:
        """Return the place of each value among the leaves, and -1 where no leaf has its text."""
        found = pa.nulls(len(values), pa.int32())
        for spelling in spellings(values):
            found = pc.coalesce(found, pc.index_in(spelling, self.leaves, skip_nulls=True))
            if not found.null_count:
                break
        return np.asarray(pc.fill_null(found, -1), dtype=np.int64)

    def taxonomy(self, values: pa.Array, missing: bool) -> tuple[NDArray[np.int64], Taxonomy]:
        """Return the depth-first order of a column's distinct values, and the tree over them.

        ``values.take(order)`` is the dictionary the codes of the taxonomy point into. With ``missing`` there is
        one more code, the last: a leaf of its own directly below the root, without a label. All nodes that were
        given are kept, also those over which no value stands. Raises :class:`~sudare.core.errors.HierarchyError` with
        the number of values that are not among the leaves.
        """
        leaf = self.find(values)
        absent = int(np.count_nonzero(leaf < 0))
        if absent:
            raise HierarchyError(absence(absent, len(values), self.source))
        ranks = self._ranks()
        order = np.argsort(ranks[0][leaf], kind="stable")
        nodes, labels, parent, leaves = self._nodes(ranks)
        path = np.empty((len(values) + missing, self.depth + 1), dtype=np.int32)
        place = leaf[order]
        path[: len(values), -1] = nodes[0][place]
        for level, above in enumerate(self.parents, 1):
            place = above[place]
            path[: len(values), -1 - level] = nodes[level][place]
        if missing:
            path[-1, 0], path[-1, 1:] = 0, len(labels)
            labels, parent, leaves = [*labels, ""], np.append(parent, 0), np.append(leaves, 0)
        taxonomy = Taxonomy(tuple(labels), parent.astype(np.int32), leaves.astype(np.int32), path)
        return order, taxonomy

    def _ranks(self) -> list[NDArray[np.int64]]:
        """Return, per level, the place of each label in a depth-first walk over that level."""
        ranks = [np.zeros(1, dtype=np.int64)]
        for parent in reversed(self.parents):
            rank = np.empty(len(parent), dtype=np.int64)
            rank[np.argsort(ranks[0][parent], kind="stable")] = np.arange(len(parent))
            ranks.insert(0, rank)
        return ranks

    def _nodes(
        self, ranks: list[NDArray[np.int64]]
    ) -> tuple[list[NDArray[np.int64]], list[str], NDArray[np.int64], NDArray[np.int64]]:
        """Number the nodes from the root down; a repeated leaf shares the number of the highest of its kind."""
        repeated = self.repeated_leaves()
        counts = self.leaf_counts()
        numbers = [np.zeros(1, dtype=np.int64)]
        labels, parent, leaves = [self.root], [np.array([-1])], [counts[-1]]
        used = 1
        for level in range(self.depth - 1, -1, -1):
            walk = np.argsort(ranks[level])
            own = walk[~repeated[level][walk]]
            number = numbers[0][self.parents[level]]
            number[own] = used + np.arange(len(own))
            used += len(own)
            labels += self.labels[level].take(pa.array(own)).to_pylist()
            parent.append(numbers[0][self.parents[level][own]])
            leaves.append(counts[level][own])
            numbers.insert(0, number)
        return numbers, labels, np.concatenate(parent), np.concatenate(leaves)

    def leaf_counts(self) -> list[NDArray[np.int64]]:
        """Return, per level, the number of leaves below each label."""
        counts = [np.ones(len(self.leaves), dtype=np.int64)]
        for level, parent in enumerate(self.parents, 1):
            total = np.zeros(len(self.labels[level]), dtype=np.int64)
            np.add.at(total, parent, counts[-1])
            counts.append(total)
        return counts

    def repeated_leaves(self) -> list[NDArray[np.bool_]]:
        """Return, per level, which labels only repeat the one above because their branch is shorter.

        Such labels are one node: a leaf that stands for a whole group costs nothing to show. The root is never
        one of them.
        """
        single = np.ones(len(self.leaves), dtype=np.bool_)
        repeated = []
        for level, parent in enumerate(self.parents):
            above = self.labels[level + 1]
            same = np.asarray(pc.equal(self.labels[level], above.take(pa.array(parent))), dtype=np.bool_)
            if level + 1 == self.depth:
                same = np.zeros_like(same)
            children = np.bincount(parent, minlength=len(above))
            repeats = single & same & (children[parent] == 1)
            repeated.append(repeats)
            single = np.zeros(len(above), dtype=np.bool_)
            single[parent[repeats]] = True
        return [*repeated, np.zeros(1, dtype=np.bool_)]


def missing_values(hierarchy: Hierarchy, values: pa.Array) -> pa.Array:
    """Return the values that are not among the leaves; they are data of people, so keep them out of messages."""
    return values.filter(pa.array(hierarchy.find(values) < 0))


def absence(absent: int, of: int, where: str, column: str = "NAME") -> Problem:
    """Return the problem of values that a hierarchy does not have: how many, never which."""
    verb = "is" if absent == 1 else "are"
    return Problem(
        where,
        f"{absent:,} of the column's {of:,} distinct values {verb} not among the leaves of the hierarchy.",
        f"`sudare hierarchy gaps DATA --policy P --column {column} --out FILE` lists them; add a line for each.",
    )
