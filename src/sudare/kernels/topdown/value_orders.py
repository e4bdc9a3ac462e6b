"""The order in which a cluster's values of one attribute are cut, and the loss of covering some of them.

A cluster is a range of ``rows``, a matrix of codes with one line per atom. The values of an attribute are put in an
*order* of places: ascending codes for numbers, most frequent first for categories, and for a tree the children of
the lowest node over the cluster, most frequent first. Everything follows from counts, smallest and largest
codes: never from the order of the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel, part_of_kernel

NUMBER, SET, TREE = 0, 1, 2
PREFIX, SINGLE = 0, 1
ZERO, NONE = np.int64(0), np.int64(-1)  # typed: a literal would compile every function a second time
WORDS = 4
"""Categories of one attribute in one cluster are tracked as bits; this many 64-bit words at most.

An attribute with more categories than that in a cluster counts as unchanged by splits of *other* attributes.
"""

BINS = 1024
"""Thresholds of a number that are scored at most: a cluster with more different values than that is cut into bins.

The bins are ranges of equally many codes, so that a threshold is at most a thousandth of the cluster's values off.
"""


class Axes(NamedTuple):
    """The attributes, as flat arrays: attribute ``a`` owns ``start[a]:start[a + 1]`` of the per-code arrays.

    ``place`` is the position of a number in [0, 1], with 2 for missing; ``path`` holds the node of each code at
    each depth (``levels[a]`` per code, from ``path_start[a]``) and ``share`` the loss of each node. ``elsewhere[0]`` is
    what a record that is left out loses in columns that are not among these. ``other`` is the code that stands for
    several categories at once, or -1, and ``more`` how many more than one these are.
    """

    kind: NDArray[np.int8]
    start: NDArray[np.int64]
    place: NDArray[np.float64]
    levels: NDArray[np.int64]
    path_start: NDArray[np.int64]
    path: NDArray[np.int32]
    share: NDArray[np.float64]
    weight: NDArray[np.float64]
    elsewhere: NDArray[np.float64]
    other: NDArray[np.int64]
    more: NDArray[np.float64]


class Atoms(NamedTuple):
    """The rows of a table that is being split: a line of codes per atom, and how many records each atom stands for."""

    codes: NDArray[Any]
    amounts: NDArray[np.uint32]


class Extents(NamedTuple):
    """What sets of records cover, one line each: smallest and largest code, and categories as bits."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    bits: NDArray[np.uint64]


class Scratch(NamedTuple):
    """Buffers that one worker uses again and again; see :func:`scratch`.

    A call counts references to every array that it is given, which takes as long as the work on a small cluster. So
    what only some kernels need has bundles of its own (:class:`Covers`).
    """

    visit: NDArray[np.int64]
    stamp: NDArray[np.int64]
    amount: NDArray[np.int64]
    lookup: NDArray[np.int32]
    present: NDArray[np.int32]
    codes: NDArray[np.int32]
    keys: NDArray[np.int64]
    order: NDArray[np.int64]
    spare: NDArray[np.int64]
    table: NDArray[np.int64]


class Covers(NamedTuple):
    """Buffers for what the places of a cluster cover: each, each with all behind it, and both sides of a split."""

    at_place: Extents
    from_place: Extents
    sides: Extents


def most_places(kinds: NDArray[np.int8], sizes: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
    """Return how many places each attribute can have in a cluster of at most ``largest`` atoms."""
    return np.minimum(np.where(kinds == NUMBER, np.minimum(sizes, BINS), sizes), largest)


def scratch(axes: Axes, largest: int, tallied: int = 0) -> Scratch:
    """Return buffers for these attributes, clusters of at most ``largest`` atoms, and tallied columns of some size."""
    sizes = np.diff(axes.start)
    codes, attributes = int(sizes.sum()), len(sizes)
    most = most_places(axes.kind, sizes, largest)
    places = int(most.sum())
    longest = max(int(most.max(initial=1)), attributes, min(tallied, largest))
    return Scratch(
        visit=np.zeros(1, np.int64),
        stamp=np.zeros(codes, np.int64),
        amount=np.zeros(codes, np.int64),
        lookup=np.zeros(codes, np.int32),
        present=np.zeros(places, np.int32),
        codes=np.zeros(longest, np.int32),
        keys=np.zeros(longest, np.int64),
        order=np.zeros(longest, np.int64),
        spare=np.zeros(longest, np.int64),
        table=np.zeros(places, np.int64),
    )


def covers(axes: Axes, largest: int) -> Covers:
    """Return buffers for what is covered, for these attributes and clusters of at most ``largest`` atoms."""
    sizes = np.diff(axes.start)
    places = int(most_places(axes.kind, sizes, largest).sum())
    return Covers(_extents(places, len(sizes)), _extents(places + 1, len(sizes)), _extents(2, len(sizes)))


def _extents(lines: int, attributes: int) -> Extents:
    return Extents(
        np.zeros((lines, attributes), np.int32),
        np.zeros((lines, attributes), np.int32),
        np.zeros((lines, attributes * WORDS), np.uint64),
    )


@kernel
def popcount(word):
    """Count the bits of a 64-bit word (the usual divide-and-conquer sums)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def sort_stable(keys, order, spare, size):
    """Put ``order[:size]`` into ascending order of ``keys[order]``, ties as they stand (a merge sort, bottom up).

    NumPy's own sorts take seconds to compile inside a kernel; this one takes none, and most lists are short.
    """
    width = 1
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            left, right = low, middle
            for index in range(low, high):
                if left < middle and (right >= high or keys[order[left]] <= keys[order[right]]):
                    spare[index] = order[left]
                    left += 1
                else:
                    spare[index] = order[right]
                    right += 1
        for index in range(size):
            order[index] = spare[index]
        width *= 2


@kernel
def range_loss(axes, a, low, high):
    """Return the loss of a number or a tree cell that covers the codes from low to high."""
    if low == high:
        return 0.0
    if axes.kind[a] == NUMBER:
        return min(axes.place[axes.start[a] + high] - axes.place[axes.start[a] + low], 1.0)
    levels = axes.levels[a]
    base = axes.path_start[a]
    node = axes.path[base + low * levels]
    for depth in range(1, levels):
        left = axes.path[base + low * levels + depth]
        if left != axes.path[base + high * levels + depth]:
            break
        node = left
    return axes.share[node]


@part_of_kernel
def set_loss(axes, a, count, weight):
    """Return the loss of a set that stands for so many categories, with a weight."""
    return weight * count / (axes.start[a + 1] - axes.start[a] + axes.more[a]) if count > 1.0 else 0.0


@kernel
def order_values(rows, amounts, first, last, a, by_code, axes, buffers, at):
    """Put the values of one attribute in a cluster in order; return how many places there are.

    Fills ``lookup`` (code to place) for the codes that occur and ``table[at + place]`` (records per place).
    """
    # arrays are taken out of their bundles before loops: numba counts references each time one is
    stamp, amount, present = buffers.stamp, buffers.amount, buffers.present
    base = axes.start[a]
    most = BINS if axes.kind[a] == NUMBER else axes.start[a + 1] - base
    low, high = np.int64(rows[first, a]), np.int64(rows[first, a])
    buffers.visit[0] += 1
    visit = buffers.visit[0]
    found = np.int64(0)
    for row in range(first, last):
        code = np.int64(rows[row, a])
        where = base + code
        if stamp[where] != visit:
            if found == most:
                return _order_in_bins(rows, amounts, first, last, a, buffers.lookup[base:], buffers.table[at:])
            stamp[where] = visit
            amount[where] = 0
            present[at + found] = code
            found += 1
            low, high = min(low, code), max(high, code)
        amount[where] += amounts[row]
    if found == 1:
        buffers.lookup[base + low] = 0
        buffers.table[at] = amount[base + low]
        return found
    if high - low < 4 * found:  # dense: walking the range is cheaper than sorting
        found = np.int64(0)
        for code in range(low, high + 1):
            if stamp[base + code] == visit:
                present[at + found] = code
                found += 1
    else:
        for index in range(found):
            buffers.keys[index] = present[at + index]
            buffers.order[index] = index
        sort_stable(buffers.keys, buffers.order, buffers.spare, found)
        for index in range(found):
            present[at + index] = buffers.keys[buffers.order[index]]
    return order_counted(found, a, by_code, axes, buffers, at)


@part_of_kernel
def order_counted(found, a, by_code, axes, buffers, at):
    """Put values that were counted in order; return how many places there are.

    There are ``found`` of them, more than one, ascending from ``present[at]``; ``amount`` says how many have each.
    """
    base = axes.start[a]
    places = found
    for index in range(found):
        code = buffers.present[at + index]
        buffers.codes[index] = code
        buffers.lookup[base + code] = index
        buffers.table[at + index] = buffers.amount[base + code]
    if axes.kind[a] == NUMBER or (axes.kind[a] == SET and by_code):
        return places
    if axes.kind[a] == TREE:  # codes below one child of the lowest common node share a place
        levels, path = axes.levels[a], axes.path_start[a]
        low, high = np.int64(buffers.present[at]), np.int64(buffers.present[at + found - 1])
        depth = 1
        while axes.path[path + low * levels + depth] == axes.path[path + high * levels + depth]:
            depth += 1
        places = np.int64(0)
        child = -1
        for index in range(found):
            code = np.int64(buffers.present[at + index])
            node = axes.path[path + code * levels + depth]
            if node != child:
                child = node
                buffers.table[at + places] = 0
                places += 1
            buffers.table[at + places - 1] += buffers.amount[base + code]
            buffers.lookup[base + code] = places - 1
    for index in range(places):
        buffers.keys[index] = -buffers.table[at + index]
        buffers.order[index] = index
    sort_stable(buffers.keys, buffers.order, buffers.spare, places)  # most frequent first, ties by code
    for index in range(places):
        old = buffers.order[index]
        buffers.spare[old] = index
        buffers.table[at + index] = -buffers.keys[old]
    for index in range(found):
        where = base + np.int64(buffers.codes[index])
        buffers.lookup[where] = buffers.spare[buffers.lookup[where]]
    return places


@kernel
def bin_width(low, high):
    """Return the logarithm of how many codes share a bin, where those from low to high go into BINS of them."""
    shift = np.int64(0)
    while (high - low) >> shift >= BINS:
        shift += 1
    return shift


@kernel
def _order_in_bins(rows, amounts, first, last, a, lookup, table):
    """Order a number that has very many values in the cluster by ranges of codes instead."""
    low, high = np.int64(rows[first, a]), np.int64(rows[first, a])
    for row in range(first, last):
        code = np.int64(rows[row, a])
        low, high = min(low, code), max(high, code)
    shift = bin_width(low, high)
    inside = np.zeros(BINS, np.int64)
    for row in range(first, last):
        inside[(np.int64(rows[row, a]) - low) >> shift] += amounts[row]
    place = np.empty(BINS, np.int32)
    places = np.int64(0)
    for index in range(BINS):
        if inside[index] > 0:
            place[index] = places
            table[places] = inside[index]
            places += 1
    for row in range(first, last):
        code = np.int64(rows[row, a])
        lookup[code] = place[(code - low) >> shift]
    return places


@kernel
def goes_left(lookup, place, shape, code):
    """Say on which side of a split a code falls; ``lookup`` begins at the codes of the split's attribute."""
    return lookup[code] == place if shape == SINGLE else lookup[code] <= place
