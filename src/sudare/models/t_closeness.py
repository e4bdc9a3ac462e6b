"""t-closeness under three ground distances.

Definition: the distribution of the sensitive column in every group is within an earth mover's distance ``t`` of its
distribution in the whole release. With p the shares in the group and q those in the whole:

- ``equal``: all values are equally far apart; the distance is half the sum of |p - q|;
- ``ordered``: values i and j are |i - j| / (m - 1) apart, m being the number of values of the whole release in
  ascending code order (numbers by size, categories by text or as their hierarchy has them, missing last); the
  distance is the sum of the |cumulated p - q|, divided by m - 1;
- ``hierarchical``: two values are height(lowest common node) / height(root) apart; the distance is the sum over
  the inner nodes N of height(N) / height(root) * min(positive, negative extras of N's children), where the extra of
  a node is the sum of p - q over its leaves. Heights are those of the hierarchy as given, and count the longest
  way down. A missing value is a leaf directly below the root.

A column with one value has distance 0. A missing value is a value of its own.

Reference: N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity",
ICDE 2007 (hierarchical distance: section 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import ParameterError, Problem
from sudare.models import parameters
from sudare.models.group_counts import Groups, Histograms
from sudare.models.segment_sums import TOLERANCE, shares, sums


@dataclass(frozen=True)
class TCloseness:
    """Each group's sensitive distribution is within ``t`` of the whole release's.

    Monotone: the earth mover's distance to a fixed distribution is convex, and the distribution of a union is a
    mixture of those of its parts; the whole release does not change by merging.
    Reference: Li, Li and Venkatasubramanian 2007.
    """

    name: ClassVar[str] = "t-closeness"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "group"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = True
    remedy: ClassVar[str] = "require a larger t."

    t: float
    column: str
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"

    def __post_init__(self) -> None:
        parameters.require(
            parameters.number(f"{self.name}.t", self.t, least=0, most=1),
            parameters.column(f"{self.name}.column", self.column),
            parameters.word(f"{self.name}.distance", self.distance, ("equal", "ordered", "hierarchical")),
        )

    @property
    def least_rows(self) -> int:
        """A single record may be close enough, where the whole release is nearly of one value."""
        return 1

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return the distance of each group from the whole release."""
        histograms = groups.histograms[self.column]
        distance = {"equal": _equal, "ordered": _ordered, "hierarchical": _hierarchical}[self.distance]
        if np.count_nonzero(histograms.total) < 2:
            return np.zeros(len(groups))
        figure: NDArray[np.float64] = np.maximum(distance(histograms), 0.0)  # rounding may leave 0 just below it
        return figure

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups are close enough."""
        return self.measure(groups) <= self.t + TOLERANCE

    def best_possible(self, whole: Groups) -> str:
        """Return that the whole table cannot break this model."""
        return f"the whole table is at distance 0 from itself in column '{self.column}'"


def _equal(histograms: Histograms) -> NDArray[np.float64]:
    """Return half the sum of |p - q|; the values a group does not hold add what is left of q."""
    within, overall = shares(histograms)
    held = sums(np.abs(within - overall) - overall, histograms.start)
    return (held + 1.0) / 2.0


def _ordered(histograms: Histograms) -> NDArray[np.float64]:
    """Return the ordered distance without a groups x values matrix.

    Between two values that a group holds its cumulated share f stands still, while that of the whole, C / N,
    only grows: it is below f up to a crossing found by bisection, and above from there on. The sums of C on both
    sides are differences of its prefix sums, in whole numbers. The work is per entry, not per value.
    """
    start, codes, counts = histograms.start, histograms.codes, histograms.counts
    present = histograms.total > 0
    rank = np.cumsum(present) - 1
    overall = np.cumsum(histograms.total[present])
    prefix = np.concatenate(([0], np.cumsum(overall)))
    whole, values = int(overall[-1]), len(overall)

    size = np.repeat(sums(counts, start), np.diff(start))
    running = np.cumsum(counts)
    before = np.concatenate(([0], running))[start[:-1]]
    f = (running - np.repeat(before, np.diff(start))) / size
    low = rank[codes]
    high = np.append(low[1:], values)
    filled = start[1:] > start[:-1]
    high[start[1:][filled] - 1] = values  # the last entry of a group reaches to the last value

    crossing = np.clip(np.searchsorted(overall, f * whole, side="right"), low, high)
    stretch = f * (2 * crossing - low - high) + (prefix[high] + prefix[low] - 2 * prefix[crossing]) / whole
    distance: NDArray[np.float64] = sums(stretch, start)
    distance[filled] += prefix[low[start[:-1][filled]]] / whole  # up to the first entry f is 0
    return distance / (values - 1)


def _hierarchical(histograms: Histograms) -> NDArray[np.float64]:
    """Return the hierarchical distance, depth by depth, over the nodes that a group holds.

    A node without a record of the group has negative extras only, and costs nothing. Where a group does hold a
    node, the children it does not hold have extras of -q each, together the node's q less that of the others.
    """
    path, height = ground_tree(histograms)
    start, codes, counts = histograms.start, histograms.codes, histograms.counts
    whole = float(histograms.total.sum())
    owner = histograms.owner
    size = sums(counts, start)
    distance = np.zeros(len(start) - 1)
    if not len(codes):
        return distance
    runs = np.empty(0, dtype=np.intp)
    extra = share = np.empty(0)
    for depth in range(path.shape[1] - 1, -1, -1):
        node = path[codes, depth]
        first = np.flatnonzero(np.concatenate(([True], (node[1:] != node[:-1]) | (owner[1:] != owner[:-1]))))
        group, node = owner[first], node[first]
        q = np.bincount(path[:, depth], weights=histograms.total, minlength=len(height))[node] / whole
        p = np.add.reduceat(counts, first) / size[group]
        if depth < path.shape[1] - 1:
            into = np.searchsorted(runs, first)  # the first child run of every run
            positive = np.add.reduceat(np.maximum(extra, 0.0), into)
            negative = np.add.reduceat(np.maximum(-extra, 0.0) - share, into) + q
            cost = height[node] / height[0] * np.minimum(positive, negative)
            distance += np.bincount(group, weights=cost, minlength=len(distance))
        runs, extra, share = first, p - q, q
    return distance


def ground_tree(histograms: Histograms) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the path of every code and the height of every node, a missing value included."""
    taxonomy = histograms.column.taxonomy
    if taxonomy is None:
        where = f"{TCloseness.name}.distance"
        what = f"hierarchical distance needs a hierarchy of '{histograms.column.name}'."
        raise ParameterError(Problem(where, what, "allowed without one: equal, ordered."))
    height = np.zeros(len(taxonomy.parent) + 1, dtype=np.int64)
    below = np.flatnonzero(taxonomy.parent >= 0)
    for _ in range(len(taxonomy.parent)):
        taller = height.copy()
        np.maximum.at(taller, taxonomy.parent[below], height[below] + 1)
        if np.array_equal(taller, height):
            break
        height = taller
    path = taxonomy.path
    absent = len(histograms.total) - len(path)
    if absent > 0:
        # missing values are a leaf directly below the root, which makes even a lone root an inner node
        if path.shape[1] == 1:
            path = np.repeat(path, 2, axis=1)
        leaf = np.full((absent, path.shape[1]), len(height) - 1, dtype=np.int32)
        leaf[:, 0] = 0
        path = np.concatenate((path, leaf))
        height[0] = max(height[0], 1)
    return path, height
