"""The best groups of records on a line: exact, by dynamic programming."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel


@kernel
def cut_line(values, k, sizes):
    """Return how many groups there are; ``sizes`` has their sizes, from the last group of the line to the first.

    ``values`` ascend, and there are at least k. A best solution has groups of neighbours, with k to 2k - 1 records.
    What a group loses is found from differences to its last value, so that large values lose no digits.
    """
    count = len(values)
    least, chosen = np.full(count + 1, np.inf), np.zeros(count + 1, np.int32)
    least[0] = 0.0
    part = 1.0 / np.arange(1, 2 * k + 1)
    for end in range(k, count + 1):
        last, total, squares, best, size = values[end - 1], 0.0, 0.0, np.inf, 0
        for taken in range(1, min(2 * k - 1, end) + 1):
            off = last - values[end - taken]
            total += off
            squares += off * off
            if taken >= k:
                loss = least[end - taken] + max(squares - total * total * part[taken - 1], 0.0)
                if loss < best:
                    best, size = loss, taken
        least[end], chosen[end] = best, size
    made, end = 0, count
    while end > 0:
        sizes[made] = chosen[end]
        end -= chosen[end]
        made += 1
    return made


@kernel
def cut_lines(values, start, k, groups):
    """Cut several lines, one after the other in ``values``; groups are numbered through all of them."""
    made, sizes = 0, np.empty(len(values) // k + 1, np.int32)
    for line in range(len(start) - 1):
        count = cut_line(values[start[line] : start[line + 1]], k, sizes)
        end = start[line + 1]
        for g in range(count):
            groups[end - sizes[g] : end] = made + count - 1 - g
            end -= sizes[g]
        made += count
    return made
