"""Records moved out of groups into a residue, until all of these are l-eligible.

A group is the range ``start[g]:start[g + 1]`` of entries; entry ``e`` has ``have[e]`` records of value ``code[e]``,
each value once. A group is *l-eligible* if it has at least l times as many records as any of its most frequent values,
its *pillars*. It is *fat* if it has more than that, else *thin*. ``diverse`` is l.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import sort_stable

TOP, SHORT, ROUNDS = 0, 1, 2
"""What ``state`` has of the residue: the records of a pillar, how many it lacks to be eligible, and rounds made."""


class Stock(NamedTuple):
    """The groups: their entries, records, and records of a pillar; the residue, by value; and its ``state``."""

    start: NDArray[np.int64]
    code: NDArray[np.int64]
    have: NDArray[np.int64]
    size: NDArray[np.int64]
    top: NDArray[np.int64]
    residue: NDArray[np.int64]
    state: NDArray[np.int64]


class Room(NamedTuple):
    """Room for lists of a group's entries."""

    entry: NDArray[np.int64]
    key: NDArray[np.int64]
    order: NDArray[np.int64]
    spare: NDArray[np.int64]


@kernel
def trim(start, have, diverse, moved):
    """Move as few records as possible out of each group to make it eligible; ``moved`` gets how many of each entry.

    That leaves at most h records of each value, for the largest h that will do. What h leaves, less l times h, is
    concave in h and 0 for h = 0. So all smaller h would do as well, and the largest is found by halving.
    """
    for group in range(len(start) - 1):
        first, last = start[group], start[group + 1]
        size, low, high = 0, 0, 0
        for entry in range(first, last):
            size += have[entry]
            high = max(high, have[entry])
        if size >= diverse * high:
            continue
        while high - low > 1:  # low will do, high will not
            middle = (low + high) // 2
            size = 0
            for entry in range(first, last):
                size += min(have[entry], middle)
            if size >= diverse * middle:
                low = middle
            else:
                high = middle
        for entry in range(first, last):
            moved[entry] = max(have[entry] - low, 0)
            have[entry] -= moved[entry]


@kernel
def level(stock, diverse):
    """Move records out of eligible groups until the residue is eligible, too; all groups stay so.

    First without more records of any of its pillars; then in rounds, which may raise them. If all records together are
    eligible this ends, and each round takes at least l off what the residue lacks.
    """
    groups, widest = len(stock.size), 1
    for group in range(groups):
        _measure(group, stock)
        widest = max(widest, stock.start[group + 1] - stock.start[group])
    room = Room(
        np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64)
    )
    # one record at a time comes first: it never moves more than is lacking
    for group in range(groups):
        _give_spare(group, diverse, stock, room)
    pillars, order = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    chosen, mark = np.zeros(groups, np.int64), np.zeros(len(stock.residue), np.int64)
    while stock.state[SHORT] > 0:
        _by_pillars(stock, diverse, pillars, order)
        for index in range(groups):
            _drain(order[index], diverse, stock, room)
        if stock.state[SHORT] <= 0:
            return
        found = _choose(stock, mark, chosen)
        if found == 0:  # only if all records together are not eligible
            return
        stock.state[ROUNDS] += 1
        for index in range(found):
            if stock.state[SHORT] > 0:
                _give_pillars(chosen[index], diverse, stock)
        for index in range(found):
            _give_spare(chosen[index], diverse, stock, room)


@kernel
def _measure(group, stock):
    """Find a group's records, and those of a pillar."""
    size, top = 0, 0
    for entry in range(stock.start[group], stock.start[group + 1]):
        size += stock.have[entry]
        top = max(top, stock.have[entry])
    stock.size[group], stock.top[group] = size, top


@kernel
def _by_pillars(stock, diverse, pillars, order):
    """Count the pillars of each group, and put the groups in order, those with few of them first."""
    begin = np.zeros(diverse + 2, np.int64)
    for group in range(len(pillars)):
        pillars[group] = 0
        if stock.size[group] > 0:
            pillars[group], _ = _shared(group, stock, stock.residue, np.int64(-1))
        begin[pillars[group] + 1] += 1  # a thin group has l at most
    for number in range(diverse + 1):
        begin[number + 1] += begin[number]
    for group in range(len(pillars)):
        order[begin[pillars[group]]] = group
        begin[pillars[group]] += 1


@kernel
def _shared(group, stock, mark, number):
    """Return how many pillars a group has, and how many of these have this mark."""
    pillars, shared = 0, 0
    for entry in range(stock.start[group], stock.start[group + 1]):
        if stock.have[entry] == stock.top[group]:
            pillars += 1
            if mark[stock.code[entry]] == number:
                shared += 1
    return pillars, shared


@kernel
def _move(group, entry, diverse, stock):
    """Move a record to the residue."""
    stock.have[entry] -= 1
    stock.size[group] -= 1
    stock.state[SHORT] -= 1
    value = stock.code[entry]
    stock.residue[value] += 1
    if stock.residue[value] > stock.state[TOP]:
        stock.state[TOP] += 1
        stock.state[SHORT] += diverse


@kernel
def _give_spare(group, diverse, stock, room):
    """Move records of a fat group that are of no pillar of the residue, until the group is thin.

    All such values give a record in turn, the rarest in the residue first, so that few of them become pillars. There is
    one always: a residue that is not eligible has fewer than l pillars, and no group of fewer values is eligible.
    """
    while stock.state[SHORT] > 0 and stock.size[group] > diverse * stock.top[group]:
        found = 0
        for entry in range(stock.start[group], stock.start[group + 1]):
            held = stock.residue[stock.code[entry]]
            if stock.have[entry] > 0 and held < stock.state[TOP]:
                room.entry[found], room.key[found], room.order[found] = entry, held, found
                found += 1
        sort_stable(room.key, room.order, room.spare, found)
        for index in range(found):
            if stock.state[SHORT] == 0 or stock.size[group] == diverse * stock.top[group]:
                break
            _move(group, room.entry[room.order[index]], diverse, stock)
        _measure(group, stock)  # with fewer records of its pillars it can spare more


@kernel
def _give_pillars(group, diverse, stock):
    """Move one record of each pillar of a thin group, which stays eligible."""
    top = stock.top[group]
    for entry in range(stock.start[group], stock.start[group + 1]):
        if stock.have[entry] == top:
            _move(group, entry, diverse, stock)
    _measure(group, stock)


@kernel
def _drain(group, diverse, stock, room):
    """Move records of a group, never of a pillar of the residue, until it is thin and shares a pillar with that."""
    while stock.state[SHORT] > 0 and stock.size[group] > 0:
        _give_spare(group, diverse, stock, room)
        if stock.state[SHORT] <= 0 or _shared(group, stock, stock.residue, stock.state[TOP])[1] > 0:
            return
        _give_pillars(group, diverse, stock)


@kernel
def _choose(stock, mark, chosen):
    """Choose groups such that no pillar of the residue is a pillar of all of them, greedily; return how many.

    Each time the group that has fewest of the values that all chosen before have in common; among those the one with
    fewest pillars of its own, then the first. Values in common are marked with one more than the groups chosen.
    """
    common, count = 0, 0
    for value in range(len(mark)):
        mark[value] = stock.residue[value] == stock.state[TOP]
        common += mark[value]
    while common > 0:
        best, least, fewest = -1, common, 0
        for group in range(len(stock.size)):
            if stock.size[group] == 0:
                continue
            pillars, shared = _shared(group, stock, mark, count + 1)
            if shared < least or (best >= 0 and shared == least and pillars < fewest):
                best, least, fewest = group, shared, pillars
        if best < 0:
            return 0
        chosen[count] = best
        count, common = count + 1, least
        for entry in range(stock.start[best], stock.start[best + 1]):
            if stock.have[entry] == stock.top[best] and mark[stock.code[entry]] == count:
                mark[stock.code[entry]] += 1
    return count
