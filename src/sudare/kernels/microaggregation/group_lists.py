"""Lists of groups of records, what it costs to change them, and the nearest others of each record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel, sum_of_kernel


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


class Nearby(NamedTuple):
    """The distinct records, their copies (from ``start[v]`` to ``start[v + 1]``), and the nearest of each."""

    value: NDArray[np.int64]
    start: NDArray[np.int64]
    near: NDArray[np.int64]


@kernel
def nearest_values(points, most):
    """Return the distinct records among some that are in order, and the nearest of each.

    It is among its nearest ones itself if there are copies of it, or if there are so few distinct records.
    """
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
    most = min(most, values)
    near = np.empty((values, most), np.int64)
    distance, far = np.empty(values), np.empty(most)
    for v in range(values):
        distance[:] = 0.0
        for c in range(width):
            column, middle = columns[c], columns[c, v]
            for other in range(values):
                off = column[other] - middle
                distance[other] += off * off
        if start[v + 1] - start[v] == 1 and most < values:
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
def grouped(points, groups, room, most):
    """Put groups, numbered from 0, into lists of at most so many records; there is room for so many groups."""
    count, width = points.shape
    found = Groups(
        groups.copy(),
        np.zeros(room, np.int64),
        np.zeros((room, width)),
        np.zeros((room, most), np.int64),
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
def off(points, i, total, g, size):
    """Return the squared distance of a record from the mean of a group."""
    part, found = 1.0 / size, 0.0
    for c in range(points.shape[1]):
        off = points[i, c] - total[g, c] * part
        found += off * off
    return found


@sum_of_kernel
def swap_cost(points, total, i, j, g, h, size, other):
    """Return what the sum changes by when two records of different groups change places."""
    part, rest = 1.0 / size, 1.0 / other
    both, found = part + rest, 0.0
    for c in range(points.shape[1]):
        off = points[j, c] - points[i, c]
        found += off * (2.0 * (total[h, c] * rest - total[g, c] * part) - off * both)
    return found


@kernel
def move(points, total, size, member, of, slot, i, g):
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
def swap(points, total, member, of, slot, i, j):
    """Let two records of different groups change places."""
    g, h = of[i], of[j]
    member[g, slot[i]], member[h, slot[j]] = j, i
    slot[i], slot[j] = slot[j], slot[i]
    of[i], of[j] = h, g
    for c in range(points.shape[1]):
        off = points[j, c] - points[i, c]
        total[g, c] += off
        total[h, c] -= off


@kernel
def squares(points, groups):
    """Return the sum of squared distances of all records from the means of their groups, which are added up anew."""
    found, total = 0.0, groups.total
    total[:] = 0.0
    for i in range(len(points)):
        for c in range(points.shape[1]):
            total[groups.of[i], c] += points[i, c]
    for i in range(len(points)):
        found += off(points, i, total, groups.of[i], groups.size[groups.of[i]])
    return found


@kernel
def renumbered(groups, rows, fresh, of):
    """Number the groups of some records from 0, and return how many there are; ``fresh`` is -1 for each of them."""
    made = 0
    for at in range(len(rows)):
        g = groups[rows[at]]
        if fresh[g] < 0:
            fresh[g] = made
            made += 1
        of[at] = fresh[g]
    return made
