"""A hierarchy as text: its levels, and the tree with the number of leaves below each group."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sudare.core.text_tables import TextColumn, text_table
from sudare.hierarchies.hierarchy import Hierarchy

# Tried from the largest: how many children of a group are printed before the rest are counted; 0 prints none.
_CAPS = (sys.maxsize, 1000, 200, 100, 50, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1, 0)


def levels(hierarchy: Hierarchy) -> tuple[int, ...]:
    """Return the number of distinct labels on each level, from the leaves up to the root."""
    return tuple(len(labels) for labels in hierarchy.labels)


def level_names(hierarchy: Hierarchy) -> tuple[str, ...]:
    """Return what the levels are called, from the leaves up to the root."""
    return hierarchy.names or ("values", *("groups" for _ in range(1, hierarchy.depth)), "all")


def show(hierarchy: Hierarchy, *, max_lines: int = 60) -> str:
    """Return the levels and the tree of a hierarchy as text of at most ``max_lines`` lines below the head.

    The head names the levels, with the number of labels and an example of each. In the tree a group stands with
    the number of leaves below it. A long hierarchy is shown from the root down as far as there is room: upper
    levels whole, then the first children of each group, the others counted.
    """
    tree = _Tree(hierarchy)
    room = max(max_lines, 1)
    for level in range(hierarchy.depth - 1, -1, -1):
        for cap in _CAPS:
            tree.caps[level] = cap
            if len(list(islice(tree.lines(), room + 1))) <= room:
                break
    return "\n".join([*_head(hierarchy), *tree.lines()])


def _head(hierarchy: Hierarchy) -> list[str]:
    names, sizes = level_names(hierarchy), levels(hierarchy)
    examples = [column[0].as_py() if len(column) else "" for column in hierarchy.columns()]
    rows = []
    for level in range(hierarchy.depth, -1, -1):
        one, several = ("leaf", "leaves") if level == 0 else ("label", "labels")
        unit = one if sizes[level] == 1 else several
        rows.append([f"level {level}", names[level], f"{sizes[level]:,}", unit, examples[level]])
    left = TextColumn(right=False)
    columns = [TextColumn(right=False, gap=0), left, TextColumn(), TextColumn(right=False, least=6, gap=1), left]
    return [*([hierarchy.source] if hierarchy.source else []), *text_table(columns, rows), ""]


def _children(parent: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the children sorted by parent, and where those of each parent begin."""
    order = np.argsort(parent, kind="stable")
    return order, np.searchsorted(parent[order], np.arange(size + 1))


class _Tree:
    """A walk over the printed part of a tree; only what is printed is visited."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.labels, self.top = hierarchy.labels, hierarchy.depth
        self.counts, self.repeated = hierarchy.leaf_counts(), hierarchy.repeated_leaves()
        self.children = [
            _children(parent, len(above)) for parent, above in zip(hierarchy.parents, hierarchy.labels[1:], strict=True)
        ]
        self.caps = [0] * hierarchy.depth
        """How many children are printed on each level, below each group of the next."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the tree, the root first."""
        yield self._named(self.top, 0)
        yield from self._below(self.top, 0, "")

    def _below(self, level: int, node: int, indent: str) -> Iterator[str]:
        own, cap = self._own(level, node), self.caps[level - 1] if level else 0
        if not cap or self._is_leaf(level, node):
            return
        # One child too many is printed rather than counted: the note would take its line.
        shown = own if len(own) - 1 <= cap else own[:cap]
        for number, child in enumerate(shown, 1):
            last = number == len(own)
            yield f"{indent}{'└── ' if last else '├── '}{self._named(level - 1, child)}"
            yield from self._below(level - 1, child, indent + ("    " if last else "│   "))
        if len(shown) < len(own):
            rest = own[len(shown) :]
            below = int(self.counts[level - 1][rest].sum())
            leaves = f" ({below:,} leaves)" if level > 1 else ""
            yield f"{indent}└── … {len(rest):,} more{leaves}"

    def _named(self, level: int, node: int) -> str:
        label = str(self.labels[level][int(node)].as_py())
        return label if self._is_leaf(level, node) else f"{label} ({int(self.counts[level][node]):,})"

    def _own(self, level: int, node: int) -> NDArray[np.int64]:
        """Return the children of a node on the level below."""
        if level == 0:
            return np.empty(0, dtype=np.int64)
        order, begins = self.children[level - 1]
        return order[begins[node] : begins[node + 1]]

    def _is_leaf(self, level: int, node: int) -> bool:
        """Whether a node is a leaf, or repeats one below it and so is the same."""
        own = self._own(level, node)
        return level == 0 or (len(own) == 1 and bool(self.repeated[level - 1][own[0]]))
