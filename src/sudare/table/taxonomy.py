"""A tree over the codes of one column, as arrays.

The codes of a column that has a hierarchy stand in depth-first order, so that every node covers a range of
codes, and the lowest node that covers a set of codes follows from its smallest and largest code alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Nodes are numbered from 0, the root; parents come before their children.

    ``labels[node]`` is what a release shows for the node. ``path[code, depth]`` is the node of a code at a
    depth: 0 is the root and the last column the leaf itself; where a branch is shorter the leaf is repeated.
    ``leaves[node]`` counts the leaves of the hierarchy *as it was given*, also those that do not occur in the
    data. A missing value is a leaf of its own below the root, outside that count.
    """

    labels: tuple[str, ...]
    parent: NDArray[np.int32]
    leaves: NDArray[np.int32]
    path: NDArray[np.int32]

    @property
    def depth(self) -> int:
        """The number of steps from the root to a leaf."""
        return int(self.path.shape[1]) - 1

    @property
    def depths(self) -> NDArray[np.int64]:
        """How many steps each node is below the root."""
        return depths(self.parent.astype(np.int64))

    @property
    def size(self) -> int:
        """The number of leaves of the original hierarchy."""
        return int(self.leaves[0])

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes have no children."""
        leaf = np.ones(len(self.parent), dtype=np.bool_)
        leaf[self.parent[self.parent >= 0]] = False
        return leaf

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of all leaves that each node covers; 0 at a leaf, 1 at the root."""
        share = self.leaves / max(self.size, 1)
        share[self.is_leaf] = 0.0
        share[0] = 1.0 if len(self.parent) > 1 else 0.0
        return share

    @property
    def span(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last code below each node; (0, -1) for a node without data. The root covers all."""
        first = np.zeros(len(self.parent), dtype=np.int64)
        last = np.full(len(self.parent), -1, dtype=np.int64)
        codes = np.arange(len(self.path))
        for depth in range(self.path.shape[1]):
            last[self.path[:, depth]] = codes  # of equal nodes the last assignment stays
            first[self.path[::-1, depth]] = codes[::-1]
        return first, last

    def cover(self, low: NDArray[np.integer[Any]], high: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return the lowest node over each range of codes, both ends included."""
        node = np.zeros(len(low), dtype=np.int32)
        for depth in range(1, self.path.shape[1]):
            left, right = self.path[low, depth], self.path[high, depth]
            node = np.where(left == right, left, node)
        return node


def depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many steps each node is below its root; a root has the parent -1."""
    depth = np.zeros(len(parent), dtype=np.int64)
    upper = parent
    while np.any(upper >= 0):
        depth += upper >= 0
        upper = np.where(upper >= 0, parent[upper], -1)
    return depth
