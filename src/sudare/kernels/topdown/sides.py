"""Carrying splits out, and looking at what they would leave on each side."""

from __future__ import annotations

import numpy as np

from sudare.kernels.topdown.value_orders import NONE, ZERO, goes_left, kernel, order_values, sort_stable


@kernel
def carry_out(rows, amounts, extra, clusters, chosen, by_code, axes, buffers, spare):
    """Reorder the rows of each cluster so that the left side of its split comes first; return where it ends.

    Stable, and in place but for ``spare``. A cluster whose split has attribute -1 is left alone.
    """
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
def tally_sides(rows, amounts, extra, column, clusters, owner, tried, by_code, axes, buffers, count, listing):
    """Count the values of one carried column on both sides of splits, ``tried[i]`` being one of cluster ``owner[i]``.

    Returns the number of different values per side (left and right of split i at 2 i and 2 i + 1), and, with
    ``listing``, the values (ascending) and how many records have them, side after side. ``count`` is working space
    with a cell per value, all zero before and after.
    """
    sides = 2 * len(owner)
    distinct = np.zeros(sides, np.int64)
    room = np.int64(0)
    for index in range(len(owner)):
        size = clusters[owner[index], 1] - clusters[owner[index], 0]
        room += min(2 * min(size, len(count)), 2 * size)
    codes = np.empty(room if listing else 0, np.int64)
    counts = np.empty(room if listing else 0, np.int64)
    at = np.int64(0)
    ordered_cluster, ordered_attribute = NONE, NONE
    for index in range(len(owner)):
        first, last = clusters[owner[index], 0], clusters[owner[index], 1]
        a = np.int64(tried.attribute[index])
        if ordered_cluster != owner[index] or ordered_attribute != a:
            order_values(rows, amounts, first, last, a, by_code, axes, buffers, ZERO)
            ordered_cluster, ordered_attribute = owner[index], a
        lookup = buffers.lookup[axes.start[a] :]
        place, shape = np.int64(tried.place[index]), np.int64(tried.shape[index])
        for side in range(2):
            found = np.int64(0)
            low, high = np.int64(len(count)), NONE
            for row in range(first, last):
                if goes_left(lookup, place, shape, rows[row, a]) != (side == 0):
                    continue
                code = np.int64(extra[row, column])
                if count[code] == 0:
                    found += 1
                    low, high = min(low, code), max(high, code)
                count[code] += amounts[row]
            distinct[2 * index + side] = found
            if not listing:
                for row in range(first, last):
                    count[np.int64(extra[row, column])] = 0
            elif high - low < 8 * (last - first) + 64:  # walk the range of values
                for code in range(low, high + 1):
                    if count[code] > 0:
                        codes[at], counts[at] = code, count[code]
                        count[code] = 0
                        at += 1
            else:  # few of many values: sort those that occur; a count turned negative marks one that is listed
                for row in range(first, last):
                    code = np.int64(extra[row, column])
                    if count[code] > 0:
                        count[code] = -count[code]
                        buffers.keys[found - 1], buffers.order[found - 1] = code, found - 1
                        found -= 1
                found = distinct[2 * index + side]
                sort_stable(buffers.keys, buffers.order, buffers.spare, found)
                for entry in range(found):
                    code = buffers.keys[buffers.order[entry]]
                    codes[at], counts[at] = code, -count[code]
                    count[code] = 0
                    at += 1
    return distinct, codes[:at], counts[:at]
