"""Apriori-based anonymization of item sets: global recoding of the items of one column, for k^m-anonymity.

Steps
    1. Equal sets are kept once, with their number of records. At first every item is shown as it is.
    2. For each size from 1 to m, the rare combinations are counted: those of at most so many shown nodes that
       occur in fewer than k records. For every shown node it is known in how many of them it stands.
    3. While there are any, one of two steps is taken: a node is *hidden*, or a node of the hierarchy is shown instead
       of *everything* below it, hidden items included. The step with the least price is taken, which is the
       loss it adds by the rare combinations it removes. Counts are then brought up to date around the changed nodes.
    4. At last, hidden nodes, or else those below them, are shown again, most frequent first, wherever that makes
       nothing rare; then nodes with only hidden items below them; then nodes are taken apart into their children.

Loss
    An occurrence of an item loses nothing if shown as it is, the share of its node if generalized, 1 if hidden.

Cost
    Each size meets every combination of so many nodes in every set once; with m = 2 these are the pairs. A step costs
    the same around its own node alone. Combinations are never listed: memory is that of the sets, twice, and of the
    sets around one node, however many combinations there are. A large m over long sets is slow.

Guarantee
    Every combination of at most m shown nodes that occurs, occurs in at least k records. Full subtrees: a shown node
    stands in every record that holds an item below it, and nothing below it is shown, so that its support is exact.
    The result is minimal: no hidden item could be shown as it is, and no shown node taken apart into its children,
    with nothing rare. It depends on the multiset of records alone; ties go to the smaller node.

Deviations
    The reference generalizes only, up to the root; here nodes can also be hidden, one by one, which is all there is
    to do without a hierarchy. It looks for the best generalization of one rare combination at a time, in order; here
    the step with the best price over all of them goes first. The count tree of the reference is replaced by counting
    around single nodes. Step 4 is ours.

Reference
    Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener, silent
from sudare.table import ItemSets, depths

HIDDEN = -1
"""The label of an item that is not shown."""

_GENERALIZE, _HIDE = 0, 1

_TABLE = 5_000
"""Pairs of so many nodes are counted in one table, of 200 MB at most; of more, node by node."""


def cut_items(
    sets: ItemSets, k: int, m: int, *, rows: NDArray[np.int64] | None = None, progress: Listener | None = None
) -> NDArray[np.int64]:
    """Return the label of each item, so that no combination of at most m of them is rare (see the module).

    There is one entry for each code: a node of the taxonomy, or the code itself where there is none, or ``HIDDEN``.
    The root is never shown. Only ``rows`` count, or all. The item of null sets is no part of any combination and is
    always shown.
    """
    listener = progress or silent
    cut = _Cut(sets, k, np.arange(len(sets)) if rows is None else rows)
    size = 0
    while size < min(m, cut.longest):
        size += 1
        listener("items", size - 1, m)
        cut.count_up_to(size)
        cut.resolve()
    cut.refine(m)
    listener("items", m, m)
    shown = np.arange(sets.size) if sets.taxonomy is None else sets.taxonomy.path[: sets.size, -1].astype(np.int64)
    shown[: len(sets.values)] = cut.labels
    return shown


def _relabelled(sets: ItemSets, labels: NDArray[np.int64], rows: NDArray[np.int64], kind: Any) -> tuple[Any, Any]:
    from sudare.kernels.lattice.item_combinations import relabel

    out = np.empty(int((sets.offsets[rows + 1] - sets.offsets[rows]).sum()), dtype=kind)
    offsets = relabel(sets.offsets, sets.items, rows, labels, out)
    return offsets, out[: offsets[-1]]


class _Cut:
    """What is shown at present, and the rare combinations of at most ``size`` shown nodes.

    ``labels[code]`` is the node an item is shown as, or hidden, and ``own[code]`` the node it stands at in either
    case. Node ``n`` stands over the codes ``first[n]`` to ``last[n]``. Without a taxonomy codes are nodes.
    """

    def __init__(self, sets: ItemSets, k: int, rows: NDArray[np.int64]) -> None:
        from sudare.kernels.lattice import item_combinations as kernels

        items = len(sets.values)
        self.k, self.size, self.rare = k, 0, 0
        self.kernels: Any = kernels
        self.occurs = kernels.count_items(sets.offsets, sets.items, rows, sets.size)[:items]
        code = np.arange(items)
        if sets.taxonomy is None:
            # rare items can only be hidden: without them more sets are equal
            base = np.where((self.occurs > 0) & (self.occurs < k), HIDDEN, code)
            self.labels, self.own = base.copy(), code
            self.first = self.last = code
            self.share, self.parent = np.zeros(items), np.full(items, -1)
        else:
            base = code
            self.labels = sets.taxonomy.path[:items, -1].astype(np.int64)
            self.own = self.labels.copy()
            self.first, self.last = sets.taxonomy.span
            self.share, self.parent = sets.taxonomy.share, sets.taxonomy.parent.astype(np.int64)
        self.depth = depths(self.parent)
        before = np.concatenate(([0], np.cumsum(self.occurs)))
        self.total = before[np.minimum(self.last + 1, items)] - before[self.first]  # occurrences below each node
        self.by_parent = np.argsort(self.parent, kind="stable")
        self.starts = np.searchsorted(self.parent[self.by_parent], np.arange(len(self.parent) + 1))
        self.inner = np.diff(self.starts) > 0
        kept = np.append(base, HIDDEN) if sets.missing else base
        self.sets = kernels.distinct_sets(*_relabelled(sets, kept, rows, np.int32), items)
        self.buffers = kernels.tally(len(self.parent), len(self.sets.weight))

    @property
    def longest(self) -> int:
        """The largest number of nodes that a set shows: longer combinations do not occur."""
        return int(self.kernels.longest_shown(self.sets, self.labels))

    def count_up_to(self, size: int) -> None:
        """Count the rare combinations of at most ``size`` nodes again."""
        self.size = size
        self.buffers.degree[:] = 0
        shown, place = np.unique(self.labels[(self.labels >= 0) & (self.occurs > 0)], return_index=True)
        shown = shown[np.argsort(place)]  # in the order of the codes
        if size == 2 and len(shown) <= _TABLE:
            rank = np.zeros(len(self.parent), dtype=np.int64)
            rank[shown] = np.arange(len(shown))
            self.rare = self.kernels.rare_pairs(self.sets, self.labels, rank, shown, self.k, self.buffers)
        else:
            self.rare = self._rare_among(slice(0, len(self.labels)), False, 1)

    def resolve(self) -> None:
        """Hide and generalize until nothing is rare."""
        degree = self.buffers.degree
        self.version = 0
        # of each generalization that was counted out: at which version, its price, and what would be rare with it
        self.counted: dict[int, tuple[int, float | None, int]] = {}
        self.queue: list[tuple[float, int, int]] = []
        self._suggest(np.flatnonzero(degree))
        while self.rare:
            price, node, step = heapq.heappop(self.queue)
            now = self._price(node, step, price)
            if now is None:
                continue
            settled = step == _HIDE or self._is_counted(node)
            if now > price and not (settled and (not self.queue or (now, node, step) < self.queue[0])):
                heapq.heappush(self.queue, (now, node, step))
                continue
            self.version += 1
            raises = step == _GENERALIZE and self.counted[node][2] > 0
            before = degree.copy() if raises else degree
            self._hide(node)
            if step == _GENERALIZE:
                self._show(node)
            if raises:
                self._suggest(np.flatnonzero(degree > before))

    def _suggest(self, nodes: NDArray[np.int64]) -> None:
        """Queue the steps that touch some shown nodes: hide each, or show a node above it instead."""
        for node in nodes.tolist():
            price = self._loss_by_hiding(node) / int(self.buffers.degree[node])
            heapq.heappush(self.queue, (price, node, _HIDE))
        for upper in self._above(nodes).tolist():
            hoped = self._hoped_price(upper)
            if hoped is not None:
                heapq.heappush(self.queue, (hoped, upper, _GENERALIZE))

    def _price(self, node: int, step: int, stored: float) -> float | None:
        """Return the loss per rare combination removed, or none if the step cannot be taken or removes nothing.

        For a generalization this is at first what it could be at best, and counted out only if that is low enough.
        """
        if step == _HIDE:
            degree = int(self.buffers.degree[node])
            shown = self.labels[self.first[node]] == node
            return self._loss_by_hiding(node) / degree if shown and degree else None
        if self._is_counted(node):
            return self.counted[node][1]
        hoped = self._hoped_price(node)
        if hoped is None or hoped > stored:
            return hoped
        part = self._codes(node)
        before = self.labels[part].copy()
        removed = self._rare_among(part, True, 0)
        self.labels[part] = node
        left = self._rare_among(part, True, 0)
        self.labels[part] = before
        price = self._loss_by_generalizing(node) / (removed - left) if removed > left else None
        self.counted[node] = self.version, price, left
        return price

    def _is_counted(self, node: int) -> bool:
        return node in self.counted and self.counted[node][0] == self.version

    def _hoped_price(self, node: int) -> float | None:
        """Return the price of a node that would remove every rare combination below it; none if it is no step."""
        part = self._codes(node)
        if self.depth[self.own[part.start]] <= self.depth[node]:
            return None  # generalized as far already
        shown = np.unique(self.labels[part])
        degree = int(self.buffers.degree[shown[shown >= 0]].sum())
        return self._loss_by_generalizing(node) / degree if degree else None

    def _loss_by_hiding(self, node: int) -> float:
        return float(self.total[node] * (1 - self.share[node]))

    def _loss_by_generalizing(self, node: int) -> float:
        part = self._codes(node)
        now = np.where(self.labels[part] < 0, 1.0, self.share[self.labels[part]])
        return float((self.occurs[part] * (self.share[node] - now)).sum())

    def _hide(self, node: int) -> None:
        """Hide everything below a node, and the node."""
        self.rare -= self._rare_among(self._codes(node), True, -1)

    def _show(self, node: int) -> None:
        """Show a node instead of everything below it, all of which is hidden."""
        part = self._codes(node)
        self.own[part] = self.labels[part] = node
        limits = self.kernels.Limits(self.size, self.k, 1)
        focus = self.kernels.Focus(node, part.start, part.stop - 1, after=False)
        self.rare += self.kernels.rare_around(self.sets, self.labels, focus, limits, self.buffers)

    def _rare_among(self, part: slice, taken_out: bool, change: int) -> int:
        limits = self.kernels.Limits(self.size, self.k, change)
        return int(
            self.kernels.rare_among(self.sets, self.labels, part.start, part.stop - 1, taken_out, limits, self.buffers)
        )

    def refine(self, size: int) -> None:
        """Show again what can be shown, and take apart what can be, with combinations of at most ``size`` nodes.

        Each test is final: the more is shown, and the finer, the rarer combinations are.
        """
        self.size = size
        out = np.unique(self.own[(self.labels < 0) & (self.occurs > 0)])
        hidden = self._frequent_first(out[self.inner[out] | (self.total[out] >= self.k)])
        for node in hidden:  # grows on the way, as the last list does
            if not self._replace(node, [node]):
                for child in self._children(node):
                    self.own[self._codes(child)] = child
                    hidden.append(child)
        for node in sorted(self._frequent_first(self._above(out)), key=lambda node: -int(self.depth[node])):
            part = self._codes(node)
            if np.all((self.labels[part] < 0) | (self.occurs[part] == 0)):
                self._replace(node, [node])
        nodes = np.unique(self.labels[self.labels >= 0])
        shown = self._frequent_first(nodes[self.inner[nodes]])
        for node in shown:
            children = self._children(node)
            if children and self._replace(node, children):
                shown += children

    def _replace(self, node: int, others: list[int]) -> bool:
        """Show some nodes instead of all that is below one, if that makes nothing rare."""
        part = self._codes(node)
        before = self.labels[part].copy(), self.own[part].copy()
        self.labels[part] = HIDDEN
        self.rare = 0
        for other in others:
            if 0 < self._support(other) < self.k:  # no need to look at its combinations
                self.rare = 1
            else:
                self._show(other)
            if self.rare:
                self.labels[part], self.own[part] = before
                return False
        return True

    def _support(self, node: int) -> int:
        """Return how many records hold an item below a node; or a number below k, where that is as good."""
        if self.total[node] < self.k:
            return int(self.total[node])
        part = self._codes(node)
        return int(self.kernels.support_of(self.sets, part.start, part.stop - 1, self.buffers))

    def _codes(self, node: int) -> slice:
        return slice(int(self.first[node]), int(self.last[node]) + 1)

    def _frequent_first(self, nodes: NDArray[np.int64]) -> list[int]:
        return list(map(int, nodes[np.lexsort((nodes, -self.total[nodes]))]))

    def _children(self, node: int) -> list[int]:
        """Return the nodes directly below one, those with data."""
        children = self.by_parent[self.starts[node] : self.starts[node + 1]]
        return list(map(int, children[self.first[children] <= self.last[children]]))

    def _above(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all nodes above some, without the root."""
        found = [np.empty(0, dtype=np.int64)]
        while len(nodes):
            nodes = np.unique(self.parent[nodes])
            nodes = nodes[nodes > 0]
            found.append(nodes)
        return np.unique(np.concatenate(found))
