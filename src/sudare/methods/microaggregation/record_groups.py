"""Groups of near records, for microaggregation.

Steps
    1. Records are put in an order by their values, so that nothing depends on the order of the rows. Of a value that
       3k - 1 records or more share, all but 2k - 1 are a group that loses nothing.
    2. One column is cut exactly, by dynamic programming (:mod:`sudare.kernels.microaggregation.line_groups`).
    3. Otherwise MDAV makes the first groups. Simulated annealing improves them: records move to the groups of their
       neighbours, or change places; groups are dissolved, and others are made
       (:mod:`sudare.kernels.microaggregation.annealed_blocks`).
    4. Many records are parted into blocks of near ones, which are searched at the same time. Then the groups are parted
       anew, in other places, and the search goes on at a lower temperature. So no border between blocks remains.
    5. With limits on sensitive values, groups are made and moved so that each keeps them
       (:mod:`sudare.methods.microaggregation.limited_groups`).

Cost
    About n log n, and linear in the number of columns. Small tables take many steps for each record, about a second
    in all.

Guarantee
    Every group has k records or more, and fewer than 2k unless its records are equal or limits ask for more. A class
    of one block loses no more than with MDAV.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener, silent
from sudare.kernels.microaggregation import annealed_blocks as kernel
from sudare.kernels.microaggregation.group_lists import Blocks
from sudare.kernels.microaggregation.line_groups import cut_lines
from sudare.methods.clustering.neighbourhoods import Ints
from sudare.methods.microaggregation.limited_groups import Limits as Limits
from sudare.methods.microaggregation.limited_groups import limited_groups
from sudare.methods.microaggregation.record_blocks import group_blocks, joined_blocks, near_blocks
from sudare.methods.microaggregation.record_order import canonical_order, padded, starts

Floats = NDArray[np.float64]

SEED = 1
"""The search takes the same way each time, unless a test asks for another."""
BLOCK = 2048
"""Records of a block, at most, but for large groups; a class that is not much larger is not parted."""
WHOLE = 8192
"""Records of a class that is searched as one block, at most."""
GROUPS = 32
"""Groups that a block has room for, at least."""
STEPS, MANY_STEPS = 10_000_000, 25_000_000
"""Steps in all, for one block and for many on several cores; on the data of CASC twice as many lose 0.5% less."""
MOST_STEPS, LEAST_STEPS = 20_000, 150
"""Steps for each record, at most and at least."""
HOT, COLD = 30.0, 3e-4
"""The first and the last temperature, in mean squared errors; with outliers, a few records make up most of these."""
WARM = 1.0
"""The first temperature of many records: with few steps for each, a higher one would only lose what MDAV found."""
ROUNDS, FEW_ROUNDS = 8, 4
"""Times that many records are parted into blocks; fewer times if there are few steps for each."""
MIDDLE = 500
"""Fewer steps than this for each record are few."""
REACH, SHORT_REACH = 24, 12
"""Nearest others that are known of each record of a small table, and of a large one."""


def group_records(
    points: Floats,
    k: int,
    *,
    within: Ints | None = None,
    limits: Limits | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Ints:
    """Return the group of each record, from 0 without gaps, so that the squared distances inside groups are small.

    ``points`` has a row for each record, with columns that count equally (standardised) and no missing values. Every
    group has at least ``k`` records of one class of ``within``, and keeps ``limits``. Each class has to have k records
    and to keep the limits by itself. Without limits groups have fewer than 2k records, except for equal ones.

    The answer is the same for the same input. Another order of the rows gives the same groups of values. ``seed`` is
    for tests: another one takes another way through the search.
    """
    count = len(points)
    if not count:
        return np.zeros(0, np.int64)
    classes = (
        np.zeros(count, np.int64) if within is None else np.unique(within, return_inverse=True)[1].astype(np.int64)
    )
    if np.bincount(classes).min() < k:
        raise ValueError(f"there is a class of fewer than {k} records")
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    start = SEED if seed is None else seed
    if limits is not None:
        return limited_groups(points, k, classes, limits, start, listener)
    order = canonical_order(points, classes)
    groups = np.empty(count, np.int64)
    groups[order] = _ordered_groups(points[order], classes[order], k, start, listener)
    listener("decide", 1.0, 1.0)
    return groups


def _ordered_groups(points: Floats, classes: Ints, k: int, seed: int, listener: Listener) -> Ints:
    """Return groups of records that are in canonical order."""
    points = points[:, np.ptp(points, axis=0) > 0]
    groups = np.zeros(len(points), np.int64)
    if not points.shape[1]:
        return classes
    if points.shape[1] == 1:
        cut_lines(np.ascontiguousarray(points[:, 0]), starts(classes), k, groups)
        return groups
    locked, runs = _locked(points, classes, k)
    rest = np.flatnonzero(~locked)
    found, made = _searched(padded(points[rest]), starts(classes[rest]), k, seed, listener)
    groups[rest] = found
    groups[locked] = made + np.unique(runs[locked], return_inverse=True)[1]
    return groups


def _locked(points: Floats, classes: Ints, k: int) -> tuple[NDArray[np.bool_], Ints]:
    """Return which records are in groups of equal ones from the beginning, and the number of each record's value.

    Of equal records, 2k - 1 stay free: a group of k, and k - 1 that may help others.
    """
    fresh = np.ones(len(points), np.bool_)
    fresh[1:] = (classes[1:] != classes[:-1]) | (points[1:] != points[:-1]).any(axis=1)
    runs = np.cumsum(fresh) - 1
    first = np.flatnonzero(fresh)
    lengths = np.diff(np.append(first, len(points)))
    spare = np.where(lengths >= 3 * k - 1, lengths - (2 * k - 1), 0)
    return np.arange(len(points)) - first[runs] < spare[runs], runs


def _searched(points: Floats, start: Ints, k: int, seed: int, listener: Listener) -> tuple[Ints, int]:
    """Return groups of records by annealing, and how many there are; class c has those from ``start[c]`` on."""
    count, sizes = len(points), np.diff(start)
    whole = sizes <= max(WHOLE, 4 * GROUPS * k)
    steps = min(max((STEPS if whole.all() else MANY_STEPS) / count, LEAST_STEPS), MOST_STEPS)
    reach = REACH if whole.all() else SHORT_REACH
    groups, made, done = np.zeros(count, np.int64), 0, 0

    def told(part: float) -> None:
        listener("decide", part, 1.0)

    search = kernel.Search(k, True, True, HOT, COLD, steps, max(reach, k + k // 5), seed)
    rows = np.flatnonzero(np.repeat(whole, sizes))
    if len(rows):
        blocks = Blocks(rows, np.concatenate(([0], np.cumsum(sizes[whole]))))
        made = _improved(
            points, blocks, search, groups, 0, lambda part: listener("decide", part * len(rows) / count, 1.0)
        )
        done = len(rows)
    for c in np.flatnonzero(~whole):
        inside = slice(int(start[c]), int(start[c + 1]))
        own = groups[inside]

        number = _in_rounds(points[inside], search, own, _part_of(told, done / count, len(own) / count))
        own += made
        made += number
        done += len(own)
    return groups, made


def _part_of(told: Callable[[float], None], first: float, share: float) -> Callable[[float], None]:
    """Return what tells about a part of the work, as a share of all of it."""
    return lambda part: told(first + part * share)


def _in_rounds(points: Floats, search: kernel.Search, groups: Ints, told: Callable[[float], None]) -> int:
    """Search many records of one class block by block, several times; return how many groups there are."""
    most = max(BLOCK, GROUPS * search.k)
    rounds = ROUNDS if search.steps >= MIDDLE else FEW_ROUNDS
    cooling = (search.cold / WARM) ** (1.0 / rounds)
    made = 0
    for turn in range(rounds):
        hot, seed = WARM * cooling**turn, search.seed + 7919 * turn
        if turn == 0:
            blocks = joined_blocks(near_blocks(points, np.ones(len(points), np.int64), most, seed))
        else:
            blocks = group_blocks(points, groups, made, most, seed)
        each = search._replace(
            begin=turn == 0, keep=turn > 0, hot=hot, cold=hot * cooling, steps=search.steps / rounds, seed=seed
        )
        made = _improved(points, blocks, each, groups, made, _part_of(told, turn / rounds, 1 / rounds))
    return made


def _improved(
    points: Floats,
    blocks: Blocks,
    search: kernel.Search,
    groups: Ints,
    made: int,
    told: Callable[[float], None],
) -> int:
    """Search all blocks on all cores; return how many groups there are. ``made`` is how many there were."""
    count = len(blocks.start) - 1
    counts = np.zeros(count, np.int64)
    cores = os.cpu_count() or 1
    marks = np.linspace(0, len(blocks.rows), min(count, 16 * cores) + 1)
    ends = np.unique(np.searchsorted(blocks.start, marks))
    with ThreadPoolExecutor(cores) as pool:
        tasks = [
            pool.submit(kernel.improve_blocks, points, blocks, first, last, search, groups, made, counts)
            for first, last in pairwise(ends)
        ]
        for number, task in enumerate(tasks):
            task.result()
            told((number + 1) / len(tasks))
    offsets = np.cumsum(counts) - counts
    groups[blocks.rows] += np.repeat(offsets, np.diff(blocks.start))
    return int(counts.sum())
