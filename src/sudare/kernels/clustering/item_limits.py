"""Limits for the items of sets: of each item a cluster may hold 1/l of its records at most.

Items are counted anew whenever a record may move, since there are far more items than clusters have records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel

LARGEST = 256
"""Clusters of more records neither give records away nor take them in, where items are limited."""


class ItemLimits(NamedTuple):
    """Which items each record holds (those of record i from ``begin[i]``), and l of each item; empty without limits.

    ``held`` is working space: one number for each item, 0 between two calls.
    """

    begin: NDArray[np.int64]
    items: NDArray[np.int64]
    l: NDArray[np.int64]  # noqa: E741
    held: NDArray[np.int64]


@kernel
def _count(row, limits):
    """Count the items of a record."""
    for place in range(limits.begin[row], limits.begin[row + 1]):
        limits.held[limits.items[place]] += 1


@kernel
def _within(row, size, limits):
    """Return whether a cluster of a size may hold so many of the items of a record, and forget these counts."""
    within = True
    for place in range(limits.begin[row], limits.begin[row + 1]):
        item = limits.items[place]
        within = within and limits.held[item] * limits.l[item] <= size
        limits.held[item] = 0
    return within


@kernel
def may_go(row, cluster, size, members, limits):
    """Return whether a cluster of a size keeps the limits without one of its records."""
    if size > LARGEST:
        return False
    other = members.first[cluster]
    while other >= 0:
        if other != row:
            _count(other, limits)
        other = members.after[other]
    within, other = True, members.first[cluster]
    while other >= 0:
        if other != row:
            within = _within(other, size - 1, limits) and within
        other = members.after[other]
    return within


@kernel
def may_come(row, cluster, size, members, limits):
    """Return whether a cluster of a size keeps the limits with one record more. All that it lacks becomes rarer."""
    if size >= LARGEST:
        return False
    other = members.first[cluster]
    while other >= 0:
        _count(other, limits)
        other = members.after[other]
    _count(row, limits)
    within, other = _within(row, size + 1, limits), members.first[cluster]
    while other >= 0:
        _within(other, size + 1, limits)  # which only forgets the counts
        other = members.after[other]
    return within


@kernel
def may_all_come(rows, went, count, sizes, members, limits):
    """Return whether clusters keep the limits with all records that are to come to them.

    ``sizes`` count these records; the chains of the clusters do not have them yet.
    """
    for index in range(count):
        cluster = went[index]
        other = members.first[cluster]
        while other >= 0:
            _count(other, limits)
            other = members.after[other]
        for place in range(count):
            if went[place] == cluster:
                _count(rows[place], limits)
        within, other = True, members.first[cluster]
        for place in range(count):
            if went[place] == cluster:
                within = _within(rows[place], sizes[cluster], limits) and within
        while other >= 0:
            within = _within(other, sizes[cluster], limits) and within
            other = members.after[other]
        if not within:
            return False
    return True


@kernel
def may_stand_alone(rows, order, first, last, limits):
    """Return whether some records of a list keep the limits as a cluster of their own."""
    for index in range(first, last):
        _count(rows[order[index]], limits)
    within = True
    for index in range(first, last):
        within = _within(rows[order[index]], last - first, limits) and within
    return within
