"""Exploration of a lattice: the best nodes, the minimal ones, and the neighbours of the best.

A node is minimal if it keeps the requirements and no node with less generalization does (Samarati 2001): no level can
be lower unless another is higher. If records may be suppressed, the best node need not be minimal.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener, silent
from sudare.methods.lattice.full_domain import Search, unmet
from sudare.methods.lattice.lattice import Grouped, Lattice, Levels, Node
from sudare.models import Requirements
from sudare.table import Table

MOST_NODES = 1 << 22
"""Lattices up to this size are looked through for minimal nodes: they take hours beyond it."""


@dataclass(frozen=True)
class Exploration:
    """The result of an exploration.

    ``best`` are the best nodes, from the best on; ``minimal`` all minimal ones, None if the search did not finish;
    ``around`` those one step from the best, with whether they keep the requirements. ``facts`` describe the search.
    """

    records: int
    columns: tuple[str, ...]
    heights: Levels
    facts: dict[str, Any]
    best: tuple[Node, ...]
    minimal: tuple[Node, ...] | None
    around: tuple[tuple[Node, bool], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "search": self.facts,
            "best": [self._plain(node) for node in self.best],
            "minimal": None if self.minimal is None else [self._plain(node) for node in self.minimal],
            "around": [self._plain(node) | {"keeps": keeps} for node, keeps in self.around],
        }

    def _plain(self, node: Node) -> dict[str, Any]:
        released = self.records - node.suppressed
        return {
            "levels": dict(zip(self.columns, node.levels, strict=True)),
            "loss": round(node.loss, 9),
            "suppressed": node.suppressed,
            "classes": node.classes,
            "class_sizes": {
                "smallest": node.smallest,
                "average": round(released / max(node.classes, 1), 6),
                "largest": node.largest,
            },
        }


def explore(
    table: Table,
    requirements: Requirements,
    *,
    loss: str = "arx",
    best: int = 10,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> Exploration:
    """Find the ``best`` nodes and the minimal ones; each of the two takes ``time_limit`` seconds at most."""
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    lattice = Lattice(table, requirements, loss)

    def deadline() -> float | None:
        return None if time_limit is None else time.monotonic() + time_limit

    search = Search(lattice, deadline(), wanted=best)
    for decided in search.run():
        listener("best nodes", decided, lattice.size)
    if not search.found:
        raise unmet(lattice, search)
    found = search.ties + [node for node in search.found if node not in search.ties]
    walk = Minimal(lattice, deadline())
    for seen in walk.run():
        listener("minimal nodes", seen, lattice.size)
    return Exploration(
        records=lattice.records,
        columns=tuple(lattice.names),
        heights=lattice.top,
        facts=search.facts(),
        best=tuple(found[:best]),
        minimal=walk.nodes(),
        around=tuple(lattice.look(levels) for levels in _neighbours(found[0].levels, lattice.top)),
    )


class Minimal:
    """All nodes of a lattice, as a tree like that of the search: which of them keep the requirements."""

    def __init__(self, lattice: Lattice, deadline: float | None) -> None:
        self.lattice, self.deadline = lattice, deadline
        shape = tuple(axis.top + 1 for axis in lattice.axes)
        self.complete = lattice.size <= MOST_NODES
        self.keeps = np.zeros(shape if self.complete else (), dtype=np.bool_)
        self.below = [int(np.prod(shape[depth:])) for depth in range(len(shape) + 1)]

    def run(self) -> Iterator[int]:
        """Judge every node; yields how many are done."""
        waiting: list[tuple[Levels, Grouped]] = [((), self.lattice.root)] if self.complete else []
        seen = 0
        while waiting:
            if self.deadline is not None and time.monotonic() > self.deadline:
                self.complete = False
                return
            fixed, groups = waiting.pop()
            depth = len(fixed)
            if depth == len(self.lattice.axes):
                self.keeps[fixed] = self.lattice.judge(fixed, groups) is not None
                seen += 1
                continue
            steps = [groups]
            for low, high in pairwise(range(self.lattice.axes[depth].top + 1)):
                steps.append(self.lattice.step(steps[-1], [(depth, low, high)]))
            for level, part in enumerate(steps):
                cleared = self._cleared((*fixed, level), part)
                if cleared is None:
                    seen += self.below[depth + 1]
                else:
                    waiting.append(((*fixed, level), cleared))
            yield seen

    def nodes(self) -> tuple[Node, ...] | None:
        """Return the minimal nodes, from the best on; None if not all nodes were judged."""
        if not self.complete:
            return None
        finer = _some_finer(self.keeps)
        found = [self.lattice.look(tuple(map(int, levels)))[0] for levels in np.argwhere(self.keeps & ~finer)]
        return tuple(sorted(found))

    def _cleared(self, fixed: Levels, groups: Grouped) -> Grouped | None:
        """Drop the records that no node of a branch can release; None if these are too many."""
        open_at_zero = (*fixed, *(0 for _ in self.lattice.axes[len(fixed) :]))
        highest = (*fixed, *self.lattice.top[len(fixed) :])
        hope = self.lattice.hopeful(groups, open_at_zero, highest)
        if hope.all():
            return groups
        groups = groups.chosen(hope)
        return groups if groups.lost <= self.lattice.budget else None


def _some_finer(keeps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each node whether some node with less generalization keeps the requirements."""
    finer = keeps.copy()
    for axis in range(keeps.ndim):
        finer = np.logical_or.accumulate(finer, axis=axis)
    below = np.zeros_like(keeps)
    for axis in range(keeps.ndim):
        upper = tuple(slice(1, None) if place == axis else slice(None) for place in range(keeps.ndim))
        lower = tuple(slice(None, -1) if place == axis else slice(None) for place in range(keeps.ndim))
        below[upper] |= finer[lower]
    return below


def _neighbours(levels: Levels, top: Levels) -> list[Levels]:
    """Return the nodes one step away, first those below."""
    near = []
    for step in (-1, 1):
        for index, level in enumerate(levels):
            if 0 <= level + step <= top[index]:
                near.append((*levels[:index], level + step, *levels[index + 1 :]))
    return near
