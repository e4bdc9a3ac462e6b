"""Walking the rows of a table class by class."""

from __future__ import annotations

import numpy as np

from sudare.kernels.ordering import kernel, sort_stable


@kernel
def sort_by_class(classes, order, starts):
    """Return the rows of ``order`` by class, stably, those of class c from ``starts[c]``; class -1 is left out."""
    at = starts.copy()
    result = np.empty(starts[-1], np.int64)
    for index in range(len(order)):
        row = order[index]
        if classes[row] >= 0:
            result[at[classes[row]]] = row
            at[classes[row]] += 1
    return result


@kernel
def distinct_codes(codes, order, starts, size):
    """Return the different codes of each class, ascending within it, and where each class's begin.

    ``order`` lists the rows class by class as :func:`sort_by_class` does; codes are below ``size``.
    """
    stamp = np.full(size, -1, np.int64)
    begin = np.zeros(len(starts), np.int64)
    found = np.empty(len(order), np.int64)
    places = np.empty(len(order), np.int64)
    spare = np.empty(len(order), np.int64)
    at = 0
    for group in range(len(starts) - 1):
        low, high = size, -1
        first = at
        for index in range(starts[group], starts[group + 1]):
            code = np.int64(codes[order[index]])
            if stamp[code] != group:
                stamp[code] = group
                found[at] = code
                at += 1
                low, high = min(low, code), max(high, code)
        if high - low < 8 * (at - first) + 64:  # walk the range instead of sorting
            at = first
            for code in range(low, high + 1):
                if stamp[code] == group:
                    found[at] = code
                    at += 1
        else:
            for index in range(at - first):
                places[index] = first + index
            sort_stable(found, places, spare, np.int64(at - first))
            for index in range(at - first):
                spare[index] = found[places[index]]
            for index in range(at - first):
                found[first + index] = spare[index]
        begin[group + 1] = at
    return begin, found[:at]
