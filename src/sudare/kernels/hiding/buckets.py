"""Anatomy's groups: one record from each of the largest buckets, again and again."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel


@kernel
def _before(one, other, left):
    """Say whether a bucket comes before another one: with more records, or else by its number."""
    return left[one] > left[other] or (left[one] == left[other] and one < other)


@kernel
def _sink(heap, size, place, left):
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and _before(heap[child + 1], heap[child], left):
            child += 1
        if not _before(heap[child], heap[place], left):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def group_buckets(start, rows, least, groups):
    """Put the records into groups, each with so many different values; returns how many groups there are.

    ``rows[start[v]:start[v + 1]]`` are the records of value v, in the order in which they are taken. While that many
    buckets hold records, the largest give one each to a new group. Records that are left over keep -1 in ``groups``.
    """
    values = len(start) - 1
    left = np.empty(values, np.int64)
    heap, size = np.empty(values, np.int64), 0
    for value in range(values):
        left[value] = start[value + 1] - start[value]
        if left[value] > 0:
            heap[size] = value
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sink(heap, size, place, left)
    taken = np.empty(least, np.int64)
    count = 0
    while size >= least:
        for turn in range(least):
            value = heap[0]
            taken[turn] = value
            size -= 1
            heap[0] = heap[size]
            _sink(heap, size, np.int64(0), left)
        for turn in range(least):
            value = taken[turn]
            left[value] -= 1
            groups[rows[start[value] + left[value]]] = count
            if left[value] > 0:  # back again, and up to its place
                place = size
                heap[place] = value
                size += 1
                while place > 0 and _before(heap[place], heap[(place - 1) // 2], left):
                    heap[place], heap[(place - 1) // 2] = heap[(place - 1) // 2], heap[place]
                    place = (place - 1) // 2
        count += 1
    return count


@kernel
def join_leftover(rows, values, groups, count, holds, places):
    """Let each record that is left over join a group that does not hold its value, trying from a place of its own.

    ``holds`` are pairs of a group and a value in ascending order, as group times the number of values plus value.
    Returns how many found no group.
    """
    lost = 0
    kinds = values.max() + 1
    added = np.empty(len(rows), np.int64)
    for index in range(len(rows)):
        row = rows[index]
        value = np.int64(values[row])
        found = np.int64(-1)
        for step in range(count):
            group = (places[index] + step) % count
            key = group * kinds + value
            at = np.searchsorted(holds, key)
            if at < len(holds) and holds[at] == key:
                continue
            free = True
            for earlier in range(index):
                if added[earlier] == key:
                    free = False
                    break
            if free:
                found = group
                break
        added[index] = found * kinds + value
        groups[row] = found
        lost += found < 0
    return lost
