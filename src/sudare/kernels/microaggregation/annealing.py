"""Simulated annealing of groups of near records: moves, swaps, groups that are dissolved and groups that are made.

What is to be small is the sum of squared distances of the records from the means of their groups. Every group keeps
from k to 2k - 1 records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel, part_of_kernel, sum_of_kernel
from sudare.kernels.microaggregation.mdav_steps import mdav

DISSOLVED = 6
"""Of 256 steps, so many try to dissolve a group, and as many to make one."""
AROUND = 24
"""Nearest records among which a step looks for another group."""
PLACES = 6
"""Neighbours that a record of a dissolved group looks at, to find the best place."""
STRIDE = 256
"""Steps between two temperatures."""
WORST = 20.0
"""A step that costs more temperatures than this is not taken; the probability would be below 1e-8."""


class Groups(NamedTuple):
    """Groups of records: ``member[g]`` lists the records of group g, and ``slot[i]`` is the place of i in its list.

    ``numbers`` are those of all groups, of which the first ``used[0]`` are there and the others are free; ``place`` is
    where a number stands in it.
    """

    of: NDArray[np.int64]
    size: NDArray[np.int64]
    total: NDArray[np.float64]
    member: NDArray[np.int64]
    slot: NDArray[np.int64]
    numbers: NDArray[np.int64]
    place: NDArray[np.int64]
    used: NDArray[np.int64]


class Blocks(NamedTuple):
    """The records of block b are ``rows[start[b]]`` to ``rows[start[b + 1] - 1]``, with equal ones side by side."""

    rows: NDArray[np.int64]
    start: NDArray[np.int64]


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


class Nearby(NamedTuple):
    """The distinct records, their copies (from ``start[v]`` to ``start[v + 1]``), and the nearest others of each."""

    value: NDArray[np.int64]
    start: NDArray[np.int64]
    near: NDArray[np.int64]


@kernel
def nearest_values(points, most):
    """Return the distinct records among some that are in order, and the nearest others of each, in no order."""
    count, width = points.shape
    value, start = np.zeros(count, np.int64), np.zeros(count + 1, np.int64)
    values = 0
    for i in range(count):
        if i > 0 and not (points[i] == points[i - 1]).all():
            values += 1
            start[values] = i
        value[i] = values
    values += 1
    start[values] = count
    columns = np.empty((width, values))
    for v in range(values):
        for c in range(width):
            columns[c, v] = points[start[v], c]
    most = min(most, values - 1)
    near = np.empty((values, most), np.int64)
    distance, far = np.empty(values), np.empty(max(most, 1))
    for v in range(values):
        distance[:] = 0.0
        for c in range(width):
            column, middle = columns[c], columns[c, v]
            for other in range(values):
                off = column[other] - middle
                distance[other] += off * off
        distance[v] = np.inf
        have, limit = 0, np.inf
        for other in range(values):
            if distance[other] < limit:
                place = have if have < most else most - 1
                while place > 0 and far[place - 1] > distance[other]:
                    far[place], near[v, place] = far[place - 1], near[v, place - 1]
                    place -= 1
                far[place], near[v, place] = distance[other], other
                have = min(have + 1, most)
                if have == most:
                    limit = far[most - 1]
    return Nearby(value, start[: values + 1], near)


@kernel
def grouped(points, groups, k):
    """Put groups, numbered from 0, into lists."""
    count, width = points.shape
    room = max(count // k, 1)
    found = Groups(
        groups.copy(),
        np.zeros(room, np.int64),
        np.zeros((room, width)),
        np.zeros((room, 2 * k), np.int64),
        np.zeros(count, np.int64),
        np.arange(room),
        np.arange(room),
        np.zeros(1, np.int64),
    )
    for i in range(count):
        g = groups[i]
        found.used[0] = max(found.used[0], g + 1)
        found.member[g, found.size[g]] = i
        found.slot[i] = found.size[g]
        found.size[g] += 1
        for c in range(width):
            found.total[g, c] += points[i, c]
    return found


@sum_of_kernel
def _off(points, i, total, g, size):
    """Return the squared distance of a record from the mean of a group."""
    part, found = 1.0 / size, 0.0
    for c in range(points.shape[1]):
        off = points[i, c] - total[g, c] * part
        found += off * off
    return found


@sum_of_kernel
def _swap_cost(points, total, i, j, g, h, size, other):
    """Return what the sum changes by when two records of different groups change places."""
    part, rest = 1.0 / size, 1.0 / other
    both, found = part + rest, 0.0
    for c in range(points.shape[1]):
        off = points[j, c] - points[i, c]
        found += off * (2.0 * (total[h, c] * rest - total[g, c] * part) - off * both)
    return found


@kernel
def _move(points, total, size, member, of, slot, i, g):
    """Move a record to a group."""
    old = of[i]
    left = size[old] - 1
    last = member[old, left]
    member[old, slot[i]], slot[last] = last, slot[i]
    member[g, size[g]], slot[i] = i, size[g]
    size[old] = left
    size[g] += 1
    of[i] = g
    for c in range(points.shape[1]):
        off = points[i, c]
        total[old, c] -= off
        total[g, c] += off
    if left == 0:
        total[old] = 0.0


@kernel
def _swap(points, total, member, of, slot, i, j):
    """Let two records of different groups change places."""
    g, h = of[i], of[j]
    member[g, slot[i]], member[h, slot[j]] = j, i
    slot[i], slot[j] = slot[j], slot[i]
    of[i], of[j] = h, g
    for c in range(points.shape[1]):
        off = points[j, c] - points[i, c]
        total[g, c] += off
        total[h, c] -= off


@part_of_kernel
def _drawn(state):
    """Return the next random word (xorshift64*), and leave it as the state."""
    word = state[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    state[0] = word
    return word * np.uint64(2685821657736338717)


@kernel
def _below(state, bound):
    """Return a random number below a bound."""
    return np.int64(((_drawn(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def _taken(state, cost, heat):
    """Return whether a step is taken that costs so much at a temperature."""
    return cost <= 0.0 or (
        cost < WORST * heat and np.float64(_drawn(state) >> np.uint64(11)) * 2.0**-53 < np.exp(-cost / heat)
    )


@kernel
def _neighbour(state, value, start, near, reach, i):
    """Return a random copy of one of the nearest records."""
    other = near[value[i], _below(state, reach)]
    first = start[other]
    return first + _below(state, start[other + 1] - first)


@kernel
def _dissolve(points, nearby, groups, k, heat, state, g, into):
    """Try to let the records of a group join the groups of their neighbours."""
    total, size, member, of, slot = groups.total, groups.size, groups.member, groups.of, groups.slot
    value, start, near = nearby.value, nearby.start, nearby.near
    reach, count = min(near.shape[1], AROUND), size[g]
    cost, gain = 0.0, 0.0
    for at in range(count):
        gain += _off(points, member[g, at], total, g, count)
    for at in range(count):  # as if each of them was the only one to move
        i = member[g, at]
        best, into[at] = np.inf, -1
        for _ in range(PLACES):
            h = of[_neighbour(state, value, start, near, reach, i)]
            if h != g and size[h] < 2 * k - 1:
                step = _off(points, i, total, h, size[h]) * size[h] / (size[h] + 1)
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
            cost += _off(points, i, total, h, size[h]) * size[h] / (size[h] + 1)
            _move(points, total, size, member, of, slot, i, h)
    if _taken(state, cost, heat):
        groups.used[0] -= 1
        last, at = groups.numbers[groups.used[0]], groups.place[g]
        groups.numbers[at], groups.numbers[groups.used[0]] = last, g
        groups.place[last], groups.place[g] = at, groups.used[0]
    else:
        for at in range(count):
            if of[into[at]] != g:
                _move(points, total, size, member, of, slot, into[at], g)


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
        for j in range(start[other], start[other + 1]):
            h = of[j]
            spare = size[h] - k
            for before in range(found):
                spare -= origin[before] == h
            if spare > 0 and found < k:
                chosen[found], origin[found] = j, h
                found += 1
    if found < k:
        return
    for at in range(k):
        j, h = chosen[at], origin[at]
        cost -= _off(points, j, total, h, size[h]) * size[h] / (size[h] - 1)
        if at > 0:
            cost += _off(points, j, total, g, at) * at / (at + 1)
        _move(points, total, size, member, of, slot, j, g)
    if _taken(state, cost, heat):
        groups.used[0] += 1
    else:
        for at in range(k):
            _move(points, total, size, member, of, slot, chosen[at], origin[at])


@kernel
def anneal(points, nearby, groups, k, heats, steps, seed):
    """Take random steps while the temperature falls from the first of ``heats`` to the second."""
    count = len(points)
    total, size, member, of, slot = groups.total, groups.size, groups.member, groups.of, groups.slot
    value, start, near = nearby.value, nearby.start, nearby.near
    reach = min(near.shape[1], AROUND)
    state = np.full(1, np.uint64(seed) * np.uint64(2) + np.uint64(1), np.uint64)
    for _ in range(8):
        _drawn(state)
    chosen, origin = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
    heat, cooling = heats[0], (heats[1] / heats[0]) ** (STRIDE / steps)
    if near.shape[1] == 0:
        return
    for step in range(steps):
        if step % STRIDE == 0:
            heat *= cooling
        kind = _below(state, 256)
        i = _below(state, count)
        if kind < DISSOLVED:
            if groups.used[0] > 1:
                _dissolve(points, nearby, groups, k, heat, state, of[i], chosen)
            continue
        if kind < 2 * DISSOLVED:
            _gather(points, nearby, groups, k, heat, state, i, chosen, origin)
            continue
        g, h = of[i], of[_neighbour(state, value, start, near, reach, i)]
        if g == h:
            continue
        there, other = size[g], size[h]
        if kind % 2 and there > k and other < 2 * k - 1:
            cost = _off(points, i, total, h, other) * other / (other + 1)
            cost -= _off(points, i, total, g, there) * there / (there - 1)
            if _taken(state, cost, heat):
                _move(points, total, size, member, of, slot, i, h)
        else:
            j = member[h, _below(state, other)]
            if _taken(state, _swap_cost(points, total, i, j, g, h, there, other), heat):
                _swap(points, total, member, of, slot, i, j)


@kernel
def _squares(points, groups):
    """Return the sum of squared distances of all records from the means of their groups."""
    found = 0.0
    for i in range(len(points)):
        found += _off(points, i, groups.total, groups.of[i], groups.size[groups.of[i]])
    return found


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
        made = 0
        if search.begin:
            made = mdav(local.T.copy(), k, of)
        else:
            for at in range(count):
                g = groups[rows[at]]
                if fresh[g] < 0:
                    fresh[g] = made
                    made += 1
                of[at] = fresh[g]
        steps = np.int64(count * search.steps)
        lists = grouped(local, of, k)
        before = _squares(local, lists)
        if made > 1 and before > 0.0 and steps > 0:
            heats = (search.hot * before / count, search.cold * before / count)
            anneal(local, nearest_values(local, search.reach), lists, k, heats, steps, search.seed + b)
            for g in range(lists.used[0]):
                lists.total[lists.numbers[g]] = 0.0
            for at in range(count):
                for c in range(local.shape[1]):
                    lists.total[lists.of[at], c] += local[at, c]
            if _squares(local, lists) < before or not search.keep:
                made = lists.used[0]
                for at in range(count):
                    of[at] = lists.place[lists.of[at]]
        for at in range(count):
            groups[rows[at]] = of[at]
        counts[b] = made
