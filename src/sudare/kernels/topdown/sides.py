"""Carrying splits out, and looking at what they would leave on each side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_counts import Listed, is_dense, list_noted, list_range, note_once
from sudare.kernels.topdown.value_orders import NONE, ZERO, goes_left, order_values


class Side(NamedTuple):
    """One side of a split of an attribute whose values are in order; see :func:`goes_left`."""

    attribute: int
    lookup: NDArray[np.int32]
    place: int
    shape: int
    is_left: bool


@kernel
def carry_out(atoms, extra, clusters, chosen, by_code, axes, buffers, spare):
    """Reorder the rows of each cluster so that the left side of its split comes first; return where it ends.

    Stable, and in place but for ``spare``. A cluster whose split has attribute -1 is left alone.
    """
    rows, amounts = atoms.codes, atoms.amounts
    codes, others = rows.shape[1], extra.shape[1]
    middles = np.empty(len(clusters), np.int64)
    for cluster in range(len(clusters)):
        a = np.int64(chosen.attribute[cluster])
        first, last = clusters[cluster, 0], clusters[cluster, 1]
        middles[cluster] = last
        if a < 0:
            continue
        order_values(rows, amounts, first, last, a, by_code, axes, buffers, ZERO)
        lookup = buffers.lookup[axes.start[a] :]
        place, shape = np.int64(chosen.place[cluster]), np.int64(chosen.shape[cluster])
        write, kept = first, 0
        for row in range(first, last):
            if goes_left(lookup, place, shape, rows[row, a]):
                if write != row:
                    for b in range(codes):
                        rows[write, b] = rows[row, b]
                    for b in range(others):
                        extra[write, b] = extra[row, b]
                    amounts[write] = amounts[row]
                write += 1
            else:
                for b in range(codes):
                    spare[kept, b] = rows[row, b]
                for b in range(others):
                    spare[kept, codes + b] = extra[row, b]
                spare[kept, codes + others] = amounts[row]
                kept += 1
        middles[cluster] = write
        for index in range(kept):
            for b in range(codes):
                rows[write + index, b] = spare[index, b]
            for b in range(others):
                extra[write + index, b] = spare[index, codes + b]
            amounts[write + index] = spare[index, codes + others]
    return middles


@kernel
def tally_sides(atoms, carried, clusters, tried, by_code, axes, buffers, counter):
    """Count the values of one carried column on both sides of splits, ``tried[i]`` being one of ``clusters[i]``.

    Splits of one cluster stand one after the other. Returns the number of different values per side (left and right
    of split i at 2 i and 2 i + 1), and, if they are listed, the values (ascending) and how many records have them, side
    after side.
    """
    rows, amounts = atoms.codes, atoms.amounts
    distinct = np.zeros(2 * len(clusters), np.int64)
    listed = _room_for(clusters, counter)
    at = ZERO
    ordered_row, ordered_attribute = NONE, NONE
    for index in range(len(clusters)):
        first, last = clusters[index, 0], clusters[index, 1]
        a = np.int64(tried.attribute[index])
        if ordered_row != first or ordered_attribute != a:
            order_values(rows, amounts, first, last, a, by_code, axes, buffers, ZERO)
            ordered_row, ordered_attribute = first, a
        lookup = buffers.lookup[axes.start[a] :]
        place, shape = np.int64(tried.place[index]), np.int64(tried.shape[index])
        for number in range(2):
            side = Side(a, lookup, place, shape, number == 0)
            found, low, high = _count_side(atoms, carried, first, last, side, counter.cells)
            distinct[2 * index + number] = found
            if not counter.listing:
                for row in range(first, last):
                    counter.cells[np.int64(carried[row])] = 0
            elif is_dense(low, high, last - first):
                at = list_range(counter.cells, low, high, listed, at)
            else:
                noted = ZERO
                for row in range(first, last):
                    noted = note_once(np.int64(carried[row]), counter.cells, buffers.keys, buffers.order, noted)
                at = list_noted(noted, buffers.keys, buffers.order, buffers.spare, counter.cells, listed, at)
    return distinct, listed.codes[:at], listed.counts[:at]


@kernel
def _room_for(clusters, counter):
    """Return room for the values on both sides of splits of these clusters, if they are listed."""
    room = ZERO
    if counter.listing:
        for index in range(len(clusters)):
            room += 2 * min(clusters[index, 1] - clusters[index, 0], len(counter.cells))
    return Listed(np.empty(room, np.int64), np.empty(room, np.int64))


@kernel
def _count_side(atoms, carried, first, last, side, count):
    """Count the values of the records on one side; return how many there are, the smallest and the largest."""
    rows, amounts, lookup = atoms.codes, atoms.amounts, side.lookup
    found = ZERO
    low, high = np.int64(len(count)), NONE
    for row in range(first, last):
        if goes_left(lookup, side.place, side.shape, rows[row, side.attribute]) != side.is_left:
            continue
        code = np.int64(carried[row])
        if count[code] == 0:
            found += 1
            low, high = min(low, code), max(high, code)
        count[code] += amounts[row]
    return found, low, high
