"""How far a cluster is from what it has to promise, by its records of each kind.

A *kind* of records is what they hold in all sensitive columns that promises read. A gap is 0 where every promise is
kept, and otherwise the larger, the more is missing. Its unit differs between promises: it only says which of two
clusters is nearer to a promise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.item_limits import ItemLimits
from sudare.kernels.compiled import kernel

DISTINCT, ENTROPY, RECURSIVE, LIMITS, EQUAL, ORDERED, TREE = range(7)
BIT = np.uint64(1)
SLACK = 1e-9
"""The tolerance of real-valued limits, as the models have it."""
ROUNDING = 1e-12
"""A gap that is smaller by less than this is not smaller."""


class Promise(NamedTuple):
    """What a cluster has to keep beyond k and a number of values; no entries if there is nothing else.

    Promise m is of a ``kind`` and about a ``column``, with a ``number`` (l, the logarithm of l, or t) and a ``factor``
    (the c of recursive l-diversity). ``low[m]`` and ``high[m]`` are the least and greatest shares of each value; for
    distances, ``low[m]`` are the shares in the whole table. A tree has a node above each (``above[m]``), a height
    relative to that of the root, and a leaf for each value. ``code[v, j]`` is the value that records of kind v hold in
    column j, which has ``values[j]`` of them. ``tally`` and ``extra`` are working space. ``items`` are limits for the
    items of sets, which :mod:`sudare.kernels.clustering.item_limits` looks after.
    """

    kind: NDArray[np.int64]
    column: NDArray[np.int64]
    number: NDArray[np.float64]
    factor: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    above: NDArray[np.int64]
    height: NDArray[np.float64]
    leaf: NDArray[np.int64]
    code: NDArray[np.int64]
    values: NDArray[np.int64]
    tally: NDArray[np.int64]
    extra: NDArray[np.float64]
    items: ItemLimits


@kernel
def _entropy_gap(tally, values, size, least):
    """Return what the entropy lacks to a least one."""
    total = 0.0
    for value in range(values):
        if tally[value] > 1:
            total += tally[value] * np.log(tally[value])
    return max(least - SLACK - (np.log(size) - total / size), 0.0)


@kernel
def _recursive_gap(tally, values, size, number, factor):
    """Return by how many records the most frequent value exceeds ``factor`` times those from number l on.

    As many values as are to be passed over are taken out of the tally, and put back.
    """
    first, passed = 0, 0
    for turn in range(number - 1):
        most = 0
        for value in range(1, values):
            if tally[value] > tally[most]:
                most = value
        if tally[most] <= 0:
            break
        if turn == 0:
            first = tally[most]
        passed += tally[most]
        tally[most] = -tally[most]
    for value in range(values):
        tally[value] = abs(tally[value])
    over = first - factor * (size - passed) + SLACK
    return over + SLACK if over >= 0.0 else 0.0


@kernel
def _limits_gap(tally, values, size, low, high):
    """Return how many records there are above or below what each value may have."""
    total = 0.0
    for value in range(values):
        total += max(tally[value] - high[value] * size, 0.0) + max(low[value] * size - tally[value], 0.0)
    return total


@kernel
def _distance_gap(tally, values, size, share, most):
    """Return how much the distance from the whole table, all values equally far apart, exceeds a limit."""
    total = 0.0
    for value in range(values):
        total += abs(tally[value] / size - share[value])
    return max(total / 2.0 - most - SLACK, 0.0)


@kernel
def _ordered_gap(tally, values, size, share, most):
    """Return the same for values in their order."""
    total, ahead, there = 0.0, 0.0, 0
    for value in range(values):
        if share[value] > 0.0:
            ahead += tally[value] / size - share[value]
            total += abs(ahead)
            there += 1
    return max(total / max(there - 1, 1) - most - SLACK, 0.0)


@kernel
def _tree_gap(tally, values, size, m, promise):
    """Return the same for values in a tree: what children have too much of goes to those that have too little."""
    above, height, extra = promise.above[m], promise.height[m], promise.extra
    nodes = len(above)
    extra[:] = 0.0
    for value in range(values):
        extra[0, promise.leaf[m, value]] += tally[value] / size - promise.low[m, value]
    total = 0.0
    for node in range(nodes - 1, -1, -1):  # children come after their parents
        total += height[node] * min(extra[1, node], extra[2, node])
        up = above[node]
        if up >= 0:
            extra[0, up] += extra[0, node]
            extra[1, up] += max(extra[0, node], 0.0)
            extra[2, up] += max(-extra[0, node], 0.0)
    return max(total - promise.number[m] - SLACK, 0.0)


@kernel
def gap(counts, size, promise):
    """Return how far so many records, by kind, are from keeping the promises; 0 if they do."""
    total, column, tally = 0.0, -1, promise.tally
    for m in range(len(promise.kind)):
        if promise.column[m] != column:
            column = promise.column[m]
            tally[: promise.values[column]] = 0
            for v in range(len(counts)):
                tally[promise.code[v, column]] += counts[v]
        kind, values, number = promise.kind[m], promise.values[column], promise.number[m]
        if kind == DISTINCT:
            total += max(number - np.count_nonzero(tally[:values]), 0.0)
        elif kind == ENTROPY:
            total += _entropy_gap(tally, values, size, number)
        elif kind == RECURSIVE:
            total += _recursive_gap(tally, values, size, np.int64(number), promise.factor[m])
        elif kind == LIMITS:
            total += _limits_gap(tally, values, size, promise.low[m], promise.high[m])
        elif kind == EQUAL:
            total += _distance_gap(tally, values, size, promise.low[m], number)
        elif kind == ORDERED:
            total += _ordered_gap(tally, values, size, promise.low[m], number)
        else:
            total += _tree_gap(tally, values, size, m, promise)
    return total


@kernel
def gap_with(counts, size, v, by, promise):
    """Return the gap with one record of kind v more (``by`` is 1) or less (-1)."""
    counts[v] += by
    found = gap(counts, size + by, promise)
    counts[v] -= by
    return found


@kernel
def helpful_kinds(counts, size, offered, promise):
    """Return the kinds, of those offered, of which one record more brings a cluster nearer to its promises.

    Kinds are bits of a word. A record that leaves no gap is one of these. If there is none, they are those that leave
    the least gap.
    """
    now, best = gap(counts, size, promise), np.inf
    nearer, least = np.uint64(0), np.uint64(0)
    for v in range(len(counts)):
        bit = BIT << np.uint64(v)
        if offered & bit:
            after = gap_with(counts, size, v, 1, promise)
            if after == 0.0 or after < now - ROUNDING:
                nearer |= bit
            if after < best - ROUNDING:
                best, least = after, bit
            elif after <= best + ROUNDING:
                least |= bit
    return nearer if nearer else least


@kernel
def keepers(counts, sizes, promise, result):
    """Find which lines of counts keep the promises."""
    for line in range(len(sizes)):
        result[line] = sizes[line] > 0 and gap(counts[line], sizes[line], promise) == 0.0


@kernel
def least_sizes(left, k, most, promise, result):
    """Find how many records a cluster needs, about, that begins with each kind and may choose from all that are left.

    At most ``most`` are thought of.
    """
    counts, offered = np.zeros(len(left), np.int64), np.uint64(0)
    for v in range(len(left)):
        if left[v] > 0:
            offered |= BIT << np.uint64(v)
    for first in range(len(left)):
        counts[:] = 0
        counts[first] = 1
        size = 1
        while size < most and (size < k or gap(counts, size, promise) > 0.0):
            wanted = helpful_kinds(counts, size, offered, promise)
            chosen = -1
            for v in range(len(left)):
                # the one of which there is most, by how many the cluster has already
                if wanted & (BIT << np.uint64(v)) and (
                    chosen < 0 or left[v] * (counts[chosen] + 1) > left[chosen] * (counts[v] + 1)
                ):
                    chosen = v
            counts[chosen] += 1
            size += 1
        result[first] = size
