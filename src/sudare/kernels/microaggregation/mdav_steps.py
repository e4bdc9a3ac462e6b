"""The steps of MDAV: groups of k records around those that are farthest from the middle, and from each other."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel


@kernel
def _distances(columns, count, point, distance):
    """Find the squared distances of the first ``count`` records from a point."""
    distance[:count] = 0.0
    for c in range(len(columns)):
        column, middle = columns[c], point[c]
        for i in range(count):
            off = column[i] - middle
            distance[i] += off * off


@kernel
def _farthest(distance, gone, count):
    """Return the first record of those at the greatest distance."""
    found, most = -1, -1.0
    for i in range(count):
        if distance[i] > most and not gone[i]:
            found, most = i, distance[i]
    return found


@kernel
def _nearest(distance, gone, count, wanted, found, far):
    """Put the nearest ``wanted`` records into ``found``, the nearest first."""
    have, limit = 0, np.inf
    for i in range(count):
        if distance[i] < limit and not gone[i]:
            place = have if have < wanted else wanted - 1
            while place > 0 and far[place - 1] > distance[i]:
                far[place], found[place] = far[place - 1], found[place - 1]
                place -= 1
            far[place], found[place] = distance[i], i
            have = min(have + 1, wanted)
            if have == wanted:
                limit = far[wanted - 1]


@kernel
def mdav(columns, k, groups):
    """Give each record its group, and return how many groups there are; ``columns[c]`` are the values of a column."""
    width, count = columns.shape
    columns, names = columns.copy(), np.arange(count)
    distance, gone = np.empty(count), np.zeros(count, np.bool_)
    found, far = np.empty(k, np.int64), np.empty(k)
    sums, point = np.zeros(width), np.empty(width)
    for c in range(width):
        sums[c] = columns[c].sum()
    left, made = count, 0
    while left >= 2 * k:
        for c in range(width):
            point[c] = sums[c] / left
        _distances(columns, count, point, distance)
        chosen = _farthest(distance, gone, count)
        for turn in range(2 if left >= 3 * k else 1):
            for c in range(width):
                point[c] = columns[c, chosen]
            _distances(columns, count, point, distance)
            if turn == 0:
                opposite = _farthest(distance, gone, count)
            distance[chosen] = -1.0  # it is in its own group, whoever equals it
            _nearest(distance, gone, count, k, found, far)
            inside = False
            for i in found:
                groups[names[i]] = made
                gone[i] = True
                inside |= i == opposite
                for c in range(width):
                    sums[c] -= columns[c, i]
            made += 1
            left -= k
            if turn == 0 and inside:  # the others are all equally far from the first one
                opposite = 0
                while gone[opposite]:
                    opposite += 1
            chosen = opposite
        if 4 * left < 3 * count:  # those that are gone make place, and the others stay in their order
            at = 0
            for i in range(count):
                if not gone[i]:
                    for c in range(width):
                        columns[c, at] = columns[c, i]
                    names[at] = names[i]
                    at += 1
            gone[:at] = False
            count = at
    for i in range(count):
        if not gone[i]:
            groups[names[i]] = made
    return made + 1
