"""Item sets on flat arrays: record ``i`` holds ``items[offsets[i]:offsets[i + 1]]``."""

from __future__ import annotations

from sudare.kernels.topdown.value_orders import kernel


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


NOTHING = (1 << 32) - 1
"""What :func:`settle` drops."""


@kernel
def settle(items, offsets, lookup, first, last, most):
    """Replace the items of the records from first to last by ``lookup[item]``, sorted, each once; in place.

    What becomes ``NOTHING`` is dropped. The items move together, towards the start of the first record, and
    ``offsets`` follows, but for the end of the last record, which may be another call's start. Returns that end, and
    the number of records that hold more than ``most`` items.
    """
    too_many = 0
    write = offsets[first]
    for record in range(first, last):
        read, end = offsets[record], offsets[record + 1]
        start = write
        offsets[record] = start
        if end - read > 32:
            for index in range(read, end):
                code = lookup[items[index]]
                if code != NOTHING:
                    items[write] = code
                    write += 1
            size = write - start
            for root in range(size // 2 - 1, -1, -1):
                _sift(items, start, root, size)
            for place in range(size - 1, 0, -1):
                items[start], items[start + place] = items[start + place], items[start]
                _sift(items, start, 0, place)
            stop, write = write, start
            for index in range(start, stop):
                if write == start or items[write - 1] != items[index]:
                    items[write] = items[index]
                    write += 1
        else:
            for index in range(read, end):  # what is written never passes what is read
                code = lookup[items[index]]
                if code == NOTHING:
                    continue
                place = write
                while place > start and items[place - 1] > code:
                    place -= 1
                if place > start and items[place - 1] == code:
                    continue
                for move in range(write, place, -1):
                    items[move] = items[move - 1]
                items[place] = code
                write += 1
        if write - start > most:
            too_many += 1
    return write, too_many
