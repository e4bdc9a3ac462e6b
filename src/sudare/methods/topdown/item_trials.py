"""Clusters split down in several ways, of which the one that shows most items is kept.

This is a part of ``objective: items`` (see :mod:`sudare.methods.topdown.top_down`).

Steps
    1. A :func:`small` cluster is split down as the options say, and again with items ranked by the other ranking:
       ``information`` for ``frequency``, or the reverse. If it has at most :data:`NARROW` times the least number of
       records, it is also split by one item at a time.
    2. For each such cluster, the way that shows most items is kept; of equal ways the first.
    3. A table of at most :data:`SMALL_TABLE` records is split down as a whole by both rankings, with all of this.

Cost
    Rows, cells and items of a block are copied once, and split two or three times instead of once.

Guarantee
    A cluster shows at least as many items as without these trials, and its classes keep the same requirements. Sizes
    are fixed, so that the result does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.topdown import item_choices as kernel
from sudare.methods.topdown.frame import Ints, Level, Marks
from sudare.table import ItemSets

SMALL, LEAST_SMALL, MOST_SMALL = 64, 256, 4096
"""A cluster is small if it has at most so many times the least number of records; no fewer and no more than these two.

In a large cluster one way is kept for many parts that would each be better off with another one; in a very small one
all ways end alike. Of 256, 1024 and 4096 records, on five tables, the first shows most items at k = 2, and the last at
k = 100. A block has no fewer records than the largest of small clusters.
"""
SMALL_TABLE = 1 << 16
"""Records of a table that is split down as a whole by both rankings, at most: that takes less than starting Python."""
NARROW = 16
"""A cluster of so many times the least number of records, at most, is also split by one item at a time.

That takes as many levels as there are items, which for larger clusters costs more than all other ways together.
"""
AS_ASKED, OTHER_RANK, ALONE = range(3)
"""The ways: what the options say, the other ranking, and one item at a time."""


def small(least: int) -> int:
    """Return how many records a small cluster has at most, where classes have at least so many."""
    return min(max(SMALL * least, LEAST_SMALL), MOST_SMALL)


class Arrays(Protocol):
    """What a job has of its records, in the order of their clusters."""

    rows: NDArray[Any]
    extra: NDArray[np.uint32]
    items: NDArray[Any]
    sets: list[ItemSets]
    stopped: bool


def keep_best(
    job: Arrays, clusters: Ints, marks: Marks, ways: Sequence[int], split_down: Callable[[Ints, int], Ints]
) -> Ints:
    """Split clusters of one block down in some ways, and keep for each the one that shows most items.

    ``split_down(clusters, way)`` does so in one way and marks the classes; it returns what each cluster shows then, and
    -1 for one that it left alone. The first way leaves none alone. Nobody else may be at work on records that stand
    between those of the clusters. Returns what each cluster shows.
    """
    block = slice(int(clusters[0, 0]), int(clusters[-1, 1]))
    regions = [_region(clusters, index) for index in range(len(job.sets))]
    items = [job.items[region].copy() for region in regions]
    rows, extra, unmarked = job.rows[block].copy(), job.extra[block].copy(), marks.at[block].copy()
    records, at = extra[:, 0].copy(), unmarked.copy()
    most = np.full(len(clusters), -1, np.int64)
    for number, way in enumerate(ways):
        if number:
            job.rows[block], job.extra[block], marks.at[block] = rows, extra, unmarked
            for region, kept in zip(regions, items, strict=True):
                job.items[region] = kept
        shown = split_down(clusters.copy(), way)  # kernels write into the lines
        better = shown > most
        inside = _inside(clusters[better], block)
        records[inside], at[inside] = job.extra[block, 0][inside], marks.at[block][inside]
        most[better] = shown[better]
    job.extra[block, 0], marks.at[block] = records, at
    return most


def items_shown(job: Arrays, level: Level) -> Ints:
    """Return how many items, in whole units, each class of a level shows, over all its records."""
    cells = [kernel.FIXED + kernel.EACH * index + 2 for index in range(len(job.sets))]
    return np.asarray(level.closed[:, cells].sum(axis=1) * level.closed[:, 3])


def _region(clusters: Ints, index: int) -> slice:
    """Return where the hidden items of clusters stand, of one item-set column; clusters come in order."""
    place = kernel.FIXED + kernel.EACH * index
    return slice(int(clusters[0, place]), int(clusters[-1, place] + clusters[-1, place + 1]))


def _inside(clusters: Ints, block: slice) -> NDArray[np.bool_]:
    """Return which rows of a block are those of some clusters."""
    steps = np.zeros(block.stop - block.start + 1, np.int8)
    steps[clusters[:, 0] - block.start] += 1
    steps[clusters[:, 1] - block.start] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8) > 0
