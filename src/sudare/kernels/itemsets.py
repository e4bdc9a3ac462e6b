"""Item sets on flat arrays: record ``i`` holds ``items[offsets[i]:offsets[i + 1]]``."""

from __future__ import annotations

from sudare.kernels.ordering import kernel


@kernel
def sort_within(items, offsets):
    """Sort the items of each record, in place (an insertion sort, then heaps: most sets are short)."""
    for record in range(len(offsets) - 1):
        first, last = offsets[record], offsets[record + 1]
        size = last - first
        if size > 32:
            for root in range(size // 2 - 1, -1, -1):
                _sift(items, first, root, size)
            for end in range(size - 1, 0, -1):
                items[first], items[first + end] = items[first + end], items[first]
                _sift(items, first, 0, end)
            continue
        for index in range(first + 1, last):
            item = items[index]
            place = index
            while place > first and items[place - 1] > item:
                items[place] = items[place - 1]
                place -= 1
            items[place] = item


@kernel
def _sift(items, first, root, size):
    while 2 * root + 1 < size:
        child = 2 * root + 1
        if child + 1 < size and items[first + child] < items[first + child + 1]:
            child += 1
        if items[first + root] >= items[first + child]:
            return
        items[first + root], items[first + child] = items[first + child], items[first + root]
        root = child
