"""Groups that keep limits on sensitive values: parts that are cut while both sides keep them, and annealing that does.

A *kind* of records is what they hold in all sensitive columns that limits read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.promise_gaps import Promise, gap
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
from sudare.kernels.microaggregation.random_steps import (
    AROUND,
    STRIDE,
    below,
    neighbour,
    random_state,
    taken,
)

TRIED = 3
"""Columns in which a part may be cut: those in which its records are farthest apart."""
SAMPLE = 1024
"""Records by which this is measured."""
NOBODY = np.int64(-1)
"""In place of a record. As a number in the source it would have :func:`keeps` compiled anew."""


class Needs(NamedTuple):
    """What a group needs: k records, so many ``diverse`` kinds, and what a promise asks for (nothing if it is empty).

    ``kind`` is that of each record. ``tally`` is working space with a zero for each kind.
    """

    k: int
    diverse: int
    kind: NDArray[np.int64]
    promise: Promise
    tally: NDArray[np.int64]


@kernel
def keeps(rows, leaving, coming, needs):
    """Return whether some records keep the limits if one leaves and another one comes (-1: nobody)."""
    kind, tally = needs.kind, needs.tally
    size, different = np.int64(0), np.int64(0)
    for at in range(len(rows) + 1):
        row = coming if at == len(rows) else rows[at]
        if row >= 0 and row != leaving:
            different += tally[kind[row]] == 0
            tally[kind[row]] += 1
            size += 1
    kept = size >= needs.k and different >= needs.diverse
    if kept and len(needs.promise.kind):
        kept = gap(tally, size, needs.promise) == 0.0
    for row in rows:
        tally[kind[row]] = 0
    if coming >= 0:
        tally[kind[coming]] = 0
    return kept


@kernel
def _spreads(points, rows, spread):
    """Find how far apart records are in each column, by some of them."""
    apart = 1 + (len(rows) - 1) // SAMPLE
    for c in range(points.shape[1]):
        total, square, count = 0.0, 0.0, 0
        for at in range(0, len(rows), apart):
            off_first = points[rows[at], c] - points[rows[0], c]
            total += off_first
            square += off_first * off_first
            count += 1
        spread[c] = square - total * total / count


@kernel
def _dealt(rows, needs):
    """Let the lower half of the records of each kind come first, and return how many these are; rows are ascending."""
    found, kinds = np.empty(len(rows), np.int64), np.empty(len(rows))  # as columns are: sorting is compiled once
    for at in range(len(rows)):
        kinds[at] = needs.kind[rows[at]]
    by_kind = np.argsort(kinds, kind="mergesort")
    low, high, last = 0, len(rows), 0
    while last < len(rows):
        first = last
        while last < len(rows) and kinds[by_kind[last]] == kinds[by_kind[first]]:
            last += 1
        lower = first + (last // 2 - first // 2)
        for at in range(first, lower):
            found[low] = rows[by_kind[at]]
            low += 1
        for at in range(lower, last):
            high -= 1
            found[high] = rows[by_kind[at]]
    rows[:] = found
    return low


@kernel
def split_parts(points, rows, start, needs, groups):
    """Cut parts of the records in two while both sides keep the limits; return how many groups these are then.

    Part p has the records ``rows[start[p]]`` to ``rows[start[p + 1] - 1]``. It is cut in the middle of a column, or, if
    that does not do, in the middle of each kind of records, so that both sides have as many of it.
    """
    made, k, tries = 0, needs.k, min(TRIED, points.shape[1])
    spread, by_column = np.empty(points.shape[1]), np.empty(len(rows))
    waiting = np.empty((128, 2), np.int64)
    for p in range(len(start) - 1):
        waiting[0, 0], waiting[0, 1], count = start[p], start[p + 1], 1
        while count > 0:
            count -= 1
            first, last = waiting[count, 0], waiting[count, 1]
            part, size, cut = rows[first:last], last - first, 0
            if size >= 2 * k:
                _spreads(points, part, spread)
                before, widest = part.copy(), np.argmax(spread)
                for turn in range(tries + 1):
                    c = np.argmax(spread) if turn < tries else widest
                    spread[c] = -1.0
                    for at in range(size):
                        by_column[at] = points[part[at], c]
                    part[:] = part[np.argsort(by_column[:size], kind="mergesort")]
                    middle = size // 2 // k * k if turn < tries else _dealt(part, needs)
                    if keeps(part[:middle], NOBODY, NOBODY, needs) and keeps(part[middle:], NOBODY, NOBODY, needs):
                        cut = middle
                        break
                    part[:] = before
            if cut > 0:
                # the smaller one is next, so that few parts ever wait
                smaller = 2 * cut < size
                waiting[count, 0], waiting[count, 1] = (first + cut, last) if smaller else (first, first + cut)
                waiting[count + 1, 0], waiting[count + 1, 1] = (first, first + cut) if smaller else (first + cut, last)
                count += 2
            else:
                for row in part:
                    groups[row] = made
                made += 1
    return made


@kernel
def anneal_limited(points, nearby, groups, needs, heats, steps, seed):
    """Take random steps that keep the limits, while the temperature falls from the first of ``heats`` to the second."""
    count = len(points)
    total, size, member, of, slot = groups.total, groups.size, groups.member, groups.of, groups.slot
    value, start, near = nearby.value, nearby.start, nearby.near
    reach, room = min(near.shape[1], AROUND), member.shape[1]
    state = random_state(seed)
    heat, cooling = heats[0], (heats[1] / heats[0]) ** (STRIDE / steps)
    for step in range(steps):
        if step % STRIDE == 0:
            heat *= cooling
        i = below(state, count)
        g, h = of[i], of[neighbour(state, value, start, near, reach, i)]
        if g == h:
            continue
        there, other = size[g], size[h]
        if step % 2 and there > needs.k and other < room:
            cost = off(points, i, total, h, other) * other / (other + 1)
            cost -= off(points, i, total, g, there) * there / (there - 1)
            if (
                taken(state, cost, heat)
                and keeps(member[g, :there], i, NOBODY, needs)
                and keeps(member[h, :other], NOBODY, i, needs)
            ):
                move(points, total, size, member, of, slot, i, h)
        else:
            j = member[h, below(state, other)]
            if taken(state, swap_cost(points, total, i, j, g, h, there, other), heat) and (
                needs.kind[i] == needs.kind[j]
                or (keeps(member[g, :there], i, j, needs) and keeps(member[h, :other], j, i, needs))
            ):
                swap(points, total, member, of, slot, i, j)


@kernel
def improve_limited(points, blocks, first, last, search, needs, groups, there):
    """Search in some blocks of whole groups, each by itself; ``groups`` has the group of each record, in and out."""
    fresh, old = np.full(there, -1, np.int64), np.empty(there, np.int64)
    for b in range(first, last):
        rows = blocks.rows[blocks.start[b] : blocks.start[b + 1]]
        count = len(rows)
        local, of, kind = np.empty((count, points.shape[1])), np.zeros(count, np.int64), np.empty(count, np.int64)
        for at in range(count):
            local[at], kind[at] = points[rows[at]], needs.kind[rows[at]]
        made = renumbered(groups, rows, fresh, of)
        for at in range(count):
            old[of[at]] = groups[rows[at]]
        most = np.bincount(of).max()
        lists = grouped(local, of, made, most + needs.k)
        before = squares(local, lists)
        if made > 1 and before > 0.0:
            heats = (search.hot * before / count, search.cold * before / count)
            own = Needs(needs.k, needs.diverse, kind, needs.promise, needs.tally)
            nearby = nearest_values(local, search.reach)
            anneal_limited(local, nearby, lists, own, heats, np.int64(count * search.steps), search.seed + b)
            if squares(local, lists) < before or not search.keep:
                for at in range(count):
                    groups[rows[at]] = old[lists.of[at]]
