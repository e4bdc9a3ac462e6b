"""Simulated annealing of groups of near records: moves, swaps, groups that are dissolved and groups that are made.

What is to be small is the sum of squared distances of the records from the means of their groups. Every group keeps
from k to 2k - 1 records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sudare.kernels.compiled import kernel
from sudare.kernels.microaggregation.group_lists import (
    grouped,
    move,
    nearest_values,
    off,
    renumbered,
    squares,
    swap,
    swap_cost,
)
from sudare.kernels.microaggregation.mdav_steps import mdav
from sudare.kernels.microaggregation.random_steps import AROUND, STRIDE, WORST, below, neighbour, random_state, taken

DISSOLVED = 6
"""Of 256 steps, so many try to dissolve a group, and as many to make one."""
PLACES = 6
"""Neighbours that a record of a dissolved group looks at, to find the best place."""


class Search(NamedTuple):
    """How to search: groups of k to 2k - 1 records, and temperatures from ``hot`` to ``cold`` mean squared errors.

    There are so many ``steps`` for each record, between it and the nearest ``reach`` others. ``begin`` says that MDAV
    makes the groups to begin with, and ``keep`` that these are kept if the search finds none better.
    """

    k: int
    begin: bool
    keep: bool
    hot: float
    cold: float
    steps: float
    reach: int
    seed: int


@kernel
def _dissolve(points, nearby, groups, k, heat, state, g, into):
    """Try to let the records of a group join the groups of their neighbours."""
    total, size, member, of, slot = groups.total, groups.size, groups.member, groups.of, groups.slot
    value, start, near = nearby.value, nearby.start, nearby.near
    reach, count = min(near.shape[1], AROUND), size[g]
    cost, gain = 0.0, 0.0
    for at in range(count):
        gain += off(points, member[g, at], total, g, count)
    for at in range(count):  # as if each of them was the only one to move
        i = member[g, at]
        best, into[at] = np.inf, -1
        for _ in range(PLACES):
            h = of[neighbour(state, value, start, near, reach, i)]
            if h != g and size[h] < 2 * k - 1:
                step = off(points, i, total, h, size[h]) * size[h] / (size[h] + 1)
                if step < best:
                    best, into[at] = step, h
        cost += best
        if cost > gain + WORST * heat:
            return
    cost = -gain
    for at in range(count - 1, -1, -1):
        i, h = member[g, at], into[at]
        into[at] = i
        if size[h] == 2 * k - 1:
            cost = np.inf
        else:
            cost += off(points, i, total, h, size[h]) * size[h] / (size[h] + 1)
            move(points, total, size, member, of, slot, i, h)
    if taken(state, cost, heat):
        groups.used[0] -= 1
        last, at = groups.numbers[groups.used[0]], groups.place[g]
        groups.numbers[at], groups.numbers[groups.used[0]] = last, g
        groups.place[last], groups.place[g] = at, groups.used[0]
    else:
        for at in range(count):
            if of[into[at]] != g:
                move(points, total, size, member, of, slot, into[at], g)


@kernel
def _gather(points, nearby, groups, k, heat, state, i, chosen, origin):
    """Try to make a group of a record and near ones whose groups can spare them."""
    total, size, member, of, slot = groups.total, groups.size, groups.member, groups.of, groups.slot
    start, near = nearby.start, nearby.near
    used, found, spared = groups.used[0], 0, size[of[i]] > k
    if used == len(size) or not spared:
        return
    g, v, cost = groups.numbers[used], nearby.value[i], 0.0
    for at in range(-1, near.shape[1]):
        other = v if at < 0 else near[v, at]
        if at >= 0 and other == v:
            continue
        for j in range(start[other], start[other + 1]):
            h = of[j]
            spare = size[h] - k
            for before in range(found):
                spare -= origin[before] == h
            if spare > 0 and found < k:
                chosen[found], origin[found] = j, h
                found += 1
        if found == k:
            break
    if found < k:
        return
    for at in range(k):
        j, h = chosen[at], origin[at]
        cost -= off(points, j, total, h, size[h]) * size[h] / (size[h] - 1)
        if at > 0:
            cost += off(points, j, total, g, at) * at / (at + 1)
        move(points, total, size, member, of, slot, j, g)
    if taken(state, cost, heat):
        groups.used[0] += 1
    else:
        for at in range(k):
            move(points, total, size, member, of, slot, chosen[at], origin[at])


@kernel
def anneal(points, nearby, groups, k, heats, steps, seed):
    """Take random steps while the temperature falls from the first of ``heats`` to the second."""
    count = len(points)
    total, size, member, of, slot = groups.total, groups.size, groups.member, groups.of, groups.slot
    value, start, near = nearby.value, nearby.start, nearby.near
    reach = min(near.shape[1], AROUND)
    state = random_state(seed)
    chosen, origin = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
    heat, cooling = heats[0], (heats[1] / heats[0]) ** (STRIDE / steps)
    for step in range(steps):
        if step % STRIDE == 0:
            heat *= cooling
        kind = below(state, 256)
        i = below(state, count)
        if kind < DISSOLVED:
            if groups.used[0] > 1:
                _dissolve(points, nearby, groups, k, heat, state, of[i], chosen)
            continue
        if kind < 2 * DISSOLVED:
            _gather(points, nearby, groups, k, heat, state, i, chosen, origin)
            continue
        g, h = of[i], of[neighbour(state, value, start, near, reach, i)]
        if g == h:
            continue
        there, other = size[g], size[h]
        if kind % 2 and there > k and other < 2 * k - 1:
            cost = off(points, i, total, h, other) * other / (other + 1)
            cost -= off(points, i, total, g, there) * there / (there - 1)
            if taken(state, cost, heat):
                move(points, total, size, member, of, slot, i, h)
        else:
            j = member[h, below(state, other)]
            if taken(state, swap_cost(points, total, i, j, g, h, there, other), heat):
                swap(points, total, member, of, slot, i, j)


@kernel
def improve_blocks(points, blocks, first, last, search, groups, there, counts):
    """Search in some blocks of records, each by itself.

    ``groups`` has the group of each record, of which ``there`` are; on return its number within its block, of which
    there are ``counts[b]``.
    """
    k, fresh = search.k, np.full(there, -1, np.int64)
    for b in range(first, last):
        rows = blocks.rows[blocks.start[b] : blocks.start[b + 1]]
        count = len(rows)
        local, of = np.empty((count, points.shape[1])), np.zeros(count, np.int64)
        for at in range(count):
            local[at] = points[rows[at]]
        made = mdav(local.T.copy(), k, of) if search.begin else renumbered(groups, rows, fresh, of)
        steps = np.int64(count * search.steps)
        lists = grouped(local, of, max(count // k, 1), 2 * k)
        before = squares(local, lists)
        if made > 1 and before > 0.0 and steps > 0:
            heats = (search.hot * before / count, search.cold * before / count)
            anneal(local, nearest_values(local, search.reach), lists, k, heats, steps, search.seed + b)
            if squares(local, lists) < before or not search.keep:
                made = lists.used[0]
                for at in range(count):
                    of[at] = lists.place[lists.of[at]]
        for at in range(count):
            groups[rows[at]] = of[at]
        counts[b] = made
