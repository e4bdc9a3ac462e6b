"""Groups of near records that keep limits on their sensitive values.

Steps
    1. All records of a class are cut in two, again and again, while both sides keep the limits: in the middle of a
       column in which they are far apart, or in the middle of the records of each kind.
    2. Simulated annealing moves records between near groups, and lets them change places, while both groups keep the
       limits. Then groups that have become large enough are cut again.
    3. What the kernels cannot test (people, or very many kinds of sensitive values) is tested at the end. A group that
       fails joins the one that loses least by it, until all hold.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener
from sudare.kernels.microaggregation.annealed_blocks import Search
from sudare.kernels.microaggregation.group_lists import Blocks
from sudare.kernels.microaggregation.limited_moves import Needs, improve_limited, split_parts
from sudare.methods.class_counts import tallied
from sudare.methods.clustering.neighbourhoods import Ints
from sudare.methods.clustering.promise_arrays import CHECKED_KINDS, Rules, rules_of
from sudare.methods.microaggregation.record_blocks import group_blocks, joined_blocks, middles, near_blocks
from sudare.methods.microaggregation.record_order import canonical_order, padded, starts
from sudare.models import Requirements
from sudare.table import Table

Floats = NDArray[np.float64]

BLOCK, LARGEST = 2048, 16384
"""Records of a block, at most, unless groups are so large; larger blocks are not searched."""
STEPS = 4_000_000
"""Steps for a small table, in all."""
MOST_STEPS, LEAST_STEPS = 4_000, 100
"""Steps for each record, at most and at least."""
HOT, COLD = 3.0, 1e-3
"""The first and the last temperature, in mean squared errors."""
ROUNDS = 4
"""Times that groups are searched, and those that are large enough are cut."""
REACH = 24
"""Nearest others that are known of each record."""
PARTNERS = 512
"""Groups among which one that fails looks for the nearest, about."""


@dataclass(frozen=True, eq=False)
class Limits:
    """What every group has to keep: the requirements, and the table with the sensitive values of the same records.

    Distributions are measured against the whole table.
    """

    table: Table
    requirements: Requirements


def limited_groups(points: Floats, k: int, classes: Ints, limits: Limits, seed: int, listener: Listener) -> Ints:
    """Return the group of each record: k records or more of one class, which keep the limits if the class does."""
    rules = rules_of(limits.table, limits.requirements, CHECKED_KINDS)
    order = canonical_order(points, classes, rules.values)
    wide = padded(points[order])
    needs = needs_of(rules, k, rules.values[order])
    ordered = _searched(wide, classes[order], needs, seed, listener)
    return joined(wide, ordered, order, classes[order], limits, seed)


def needs_of(rules: Rules, k: int, kind: Ints) -> Needs:
    """Return what groups need, with working space of its own: threads do not share it."""
    promise = rules.promise
    promise = promise._replace(tally=promise.tally.copy(), extra=promise.extra.copy())
    kinds = max(rules.kinds, int(kind.max()) + 1)
    return Needs(max(k, rules.needs.k), rules.needs.diverse, kind, promise, np.zeros(kinds, np.int64))


def _searched(points: Floats, classes: Ints, needs: Needs, seed: int, listener: Listener) -> Ints:
    """Return groups of records that are in canonical order."""
    count = len(points)
    rows, groups = np.arange(count), np.zeros(count, np.int64)
    made = split_parts(points, rows, starts(classes), needs, groups)
    steps = min(max(STEPS / count, LEAST_STEPS), MOST_STEPS) / ROUNDS
    cooling = (COLD / HOT) ** (1 / ROUNDS)
    for turn in range(ROUNDS):
        listener("decide", turn / ROUNDS, 1.0)
        hot = HOT * cooling**turn
        search = Search(needs.k, False, turn == ROUNDS - 1, hot, hot * cooling, steps, REACH, seed + turn)
        blocks = _blocks(points, classes, groups, seed + turn)
        _improve(points, blocks, search, needs, groups, made)
        rows = np.argsort(groups, kind="stable")
        start = np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=made))))
        made = split_parts(points, rows, start, needs, groups)
    listener("decide", 1.0, 1.0)
    return groups


def _blocks(points: Floats, classes: Ints, groups: Ints, seed: int) -> Blocks:
    """Return blocks of near groups: each small class is one, and large classes are parted."""
    begin, parts = starts(classes), []
    for first, last in pairwise(begin):
        if last - first <= BLOCK:
            parts.append(np.arange(first, last))
        else:
            own = np.unique(groups[first:last], return_inverse=True)[1]
            found = group_blocks(points[first:last], own, int(own.max()) + 1, BLOCK, seed)
            parts += [first + part for part in np.split(found.rows, found.start[1:-1])]
    return joined_blocks(parts)


def _improve(points: Floats, blocks: Blocks, search: Search, needs: Needs, groups: Ints, made: int) -> None:
    """Search all blocks that are not too large, on all cores."""
    sizes = np.diff(blocks.start)
    fit = sizes <= LARGEST
    blocks = Blocks(blocks.rows[np.repeat(fit, sizes)], np.concatenate(([0], np.cumsum(sizes[fit]))))
    cores = os.cpu_count() or 1
    marks = np.linspace(0, len(blocks.rows), 4 * cores + 1)
    with ThreadPoolExecutor(cores) as pool:
        tasks = []
        for first, last in pairwise(np.unique(np.searchsorted(blocks.start, marks))):
            promise = needs.promise._replace(tally=needs.promise.tally.copy(), extra=needs.promise.extra.copy())
            own = needs._replace(promise=promise, tally=needs.tally.copy())
            tasks.append(pool.submit(improve_limited, points, blocks, first, last, search, own, groups, made))
        for task in tasks:
            task.result()


def joined(points: Floats, ordered: Ints, order: Ints, classes: Ints, limits: Limits, seed: int) -> Ints:
    """Join each group that does not keep the limits with a near one of its class, until all do.

    ``order`` says which records the points are. The groups are returned in the order of the table.
    """
    groups, turn = np.empty(len(points), np.int64), 0
    while True:
        ordered = np.unique(ordered, return_inverse=True)[1].astype(np.int64)
        groups[order] = ordered
        count = int(ordered.max()) + 1
        counts = tallied(limits.table, limits.requirements, groups, count, against_all=True)
        failing = ~limits.requirements.holds(counts)
        into = _partners(points, ordered, classes, failing, seed + turn) if failing.any() else np.arange(count)
        if (into == np.arange(count)).all():  # all hold, or a whole class does not
            return groups
        ordered, turn = into[ordered], turn + 1


def _partners(points: Floats, groups: Ints, classes: Ints, failing: NDArray[np.bool_], seed: int) -> Ints:
    """Return for each group the one that it becomes part of: those that fail join another one, if there is any."""
    sizes, where, home = np.bincount(groups), middles(points, groups, len(failing)), np.zeros(len(failing), np.int64)
    home[groups] = classes
    into = np.arange(len(failing))
    parts: list[Ints] = []
    for one in np.unique(home[failing]):
        own = np.flatnonzero(home == one)
        parts += [own[part] for part in near_blocks(where[own], np.ones(len(own), np.int64), PARTNERS, seed)]
    for part in parts:
        free = np.ones(len(part), np.bool_)  # of those that have not joined another one
        for at in np.flatnonzero(failing[part]):
            others = np.flatnonzero(free)
            others = others[others != at]
            if free[at] and len(others):
                near = part[others]
                cost = np.square(where[near] - where[part[at]]).sum(axis=1) * sizes[near]
                best = others[np.argmin(cost / (sizes[near] + sizes[part[at]]))]
                into[part[at]] = part[best]
                free[[at, best]] = False
    return into
