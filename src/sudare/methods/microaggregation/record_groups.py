"""Groups of near records, for microaggregation.

Steps
    1. Records are put in an order by their values, so that nothing depends on the order of the rows. Of a value that
       3k - 1 records or more share, all but 2k - 1 are a group that loses nothing.
    2. One column is cut exactly, by dynamic programming (:mod:`sudare.kernels.microaggregation.line_groups`).
    3. Otherwise MDAV makes the first groups. Simulated annealing improves them: records move to the groups of their
       neighbours, or change places; groups are dissolved, and others are made
       (:mod:`sudare.kernels.microaggregation.annealing`).
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

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener, silent
from sudare.kernels.microaggregation import annealing as kernel
from sudare.kernels.microaggregation.group_lists import Blocks
from sudare.kernels.microaggregation.line_groups import cut_lines
from sudare.methods.clustering.neighbourhoods import Ints
from sudare.methods.microaggregation.limited_groups import Limits as Limits
from sudare.methods.microaggregation.limited_groups import limited_groups
from sudare.methods.microaggregation.record_blocks import near_blocks

Floats = NDArray[np.float64]

SEED = 1
"""The search takes the same way each time, unless a test asks for another."""
LANES = 4
"""Records get columns of zeros up to a multiple of so many: as many numbers are added up at a time."""
BLOCK = 2048
"""Records of a block, at most, but for large groups; a class that is not much larger is not parted."""
WHOLE = 8192
"""Records of a class that is searched as one block, at most."""
GROUPS = 32
"""Groups that a block has room for, at least."""
STEPS, MANY_STEPS = 10_000_000, 25_000_000
"""Steps in all, for one block and for many on several cores; on the data of CASC twice as many take another 0.5% off."""
MOST_STEPS, LEAST_STEPS = 20_000, 150
"""Steps for each record, at most and at least."""
HOT, COLD = 30.0, 3e-4
"""The first and the last temperature, in mean squared errors; with outliers, a few records make up most of these."""
WARM = 1.0
"""The first temperature of many records: with few steps for each, a higher one would only lose what MDAV found."""
ROUNDS, FEW_ROUNDS = 8, 5
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


def canonical_order(points: Floats, classes: Ints, kinds: Ints | None = None) -> Ints:
    """Return an order by class, values and kind, in which equal records stand side by side.

    The first key is one number made of all values: few records agree in it that are not equal.
    """
    key = np.zeros(len(points))
    for c, column in enumerate(points.T):
        key += np.sqrt(1.0 + c) * column
    order = np.lexsort((key, classes)) if classes.any() else np.argsort(key, kind="stable")
    tied = np.zeros(len(points) + 1, np.bool_)
    tied[1:-1] = (key[order[1:]] == key[order[:-1]]) & (classes[order[1:]] == classes[order[:-1]])
    there = np.flatnonzero(tied[1:] | tied[:-1])  # records that agree with the one before or after
    if len(there):
        rows, run = order[there], np.cumsum(~tied[:-1])[there]
        keys = [column[rows] for column in points.T] + [run]
        order[there] = rows[np.lexsort(keys if kinds is None else [kinds[rows], *keys])]
    return np.asarray(order, dtype=np.int64)


def starts(classes: Ints) -> Ints:
    """Return where each of some ascending classes begins, and where the last one ends."""
    return np.concatenate(([0], np.flatnonzero(np.diff(classes)) + 1, [len(classes)])).astype(np.int64)


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
    room = np.zeros((len(rest), -(-points.shape[1] // LANES) * LANES))
    room[:, : points.shape[1]] = points[rest]
    found, made = _searched(room, starts(classes[rest]), k, seed, listener)
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

        def told(part: float, before: int = done, size: int = len(own)) -> None:
            listener("decide", (before + part * size) / count, 1.0)

        number = _in_rounds(points[inside], search, own, told)
        own += made
        made += number
        done += len(own)
    return groups, made


def _in_rounds(points: Floats, search: kernel.Search, groups: Ints, told: Callable[[float], None]) -> int:
    """Search many records of one class block by block, several times; return how many groups there are."""
    most = max(BLOCK, GROUPS * search.k)
    rounds = ROUNDS if search.steps >= MIDDLE else FEW_ROUNDS
    cooling = (search.cold / WARM) ** (1.0 / rounds)
    made = 0
    for turn in range(rounds):
        hot, seed = WARM * cooling**turn, search.seed + 7919 * turn
        if turn == 0:
            parts = near_blocks(points, np.ones(len(points), np.int64), most, seed)
        else:
            sizes = np.bincount(groups, minlength=made)
            middles = np.stack([np.bincount(groups, column, minlength=made) / sizes for column in points.T], axis=1)
            by_group = np.argsort(groups, kind="stable")
            begin = np.concatenate(([0], np.cumsum(sizes)))
            parts = [
                np.sort(
                    by_group[
                        np.repeat(begin[part] - np.cumsum(sizes[part]) + sizes[part], sizes[part])
                        + np.arange(sizes[part].sum())
                    ]
                )
                for part in near_blocks(middles, sizes, most, seed)
            ]
        blocks = Blocks(np.concatenate(parts), np.concatenate(([0], np.cumsum([len(part) for part in parts]))))
        each = search._replace(
            begin=turn == 0, keep=turn > 0, hot=hot, cold=hot * cooling, steps=search.steps / rounds, seed=seed
        )
        made = _improved(points, blocks, each, groups, made, lambda part, turn=turn: told((turn + part) / rounds))
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
            for first, last in zip(ends[:-1], ends[1:], strict=True)
        ]
        for number, task in enumerate(tasks):
            task.result()
            told((number + 1) / len(tasks))
    offsets = np.cumsum(counts) - counts
    groups[blocks.rows] += np.repeat(offsets, np.diff(blocks.start))
    return int(counts.sum())
