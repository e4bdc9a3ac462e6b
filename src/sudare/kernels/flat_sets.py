"""Item sets on flat arrays: record ``i`` holds ``items[offsets[i]:offsets[i + 1]]``."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel


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
def keep_first(items, offsets, key_of, keys):
    """Drop items of each record whose key another one before them has, in place; return how many items are left.

    ``key_of`` has the key of each item, from 0 to ``keys``. The items move together, and ``offsets`` follows.
    """
    met = np.full(keys, -1, np.int64)  # the last record in which a key was met
    write, read = 0, offsets[0]
    for record in range(len(offsets) - 1):
        end = offsets[record + 1]
        offsets[record] = write
        for index in range(read, end):
            key = key_of[items[index]]
            if met[key] != record:
                met[key] = record
                items[write] = items[index]
                write += 1
        read = end
    offsets[len(offsets) - 1] = write
    return write


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


@kernel
def hash_sets(offsets, items, salt, found):
    """Put a number of 64 bits for the items of each record into ``found``; equal sets get the same."""
    for record in range(len(offsets) - 1):
        key = np.uint64(salt) + np.uint64(0x9E3779B97F4A7C15) * np.uint64(offsets[record + 1] - offsets[record] + 1)
        for index in range(offsets[record], offsets[record + 1]):
            key += np.uint64(items[index]) + np.uint64(1)
            key *= np.uint64(0xBF58476D1CE4E5B9)  # the multipliers of splitmix64
            key ^= key >> np.uint64(29)
            key *= np.uint64(0x94D049BB133111EB)
            key ^= key >> np.uint64(32)
        found[record] = key


@kernel
def are_sets_of(offsets, items, of_record, first):
    """Return whether every record holds the same items as the first record of its number."""
    for record in range(len(offsets) - 1):
        here, there = offsets[record], offsets[first[of_record[record]]]
        size = offsets[record + 1] - here
        if offsets[first[of_record[record]] + 1] - there != size:
            return False
        for index in range(size):
            if items[here + index] != items[there + index]:
                return False
    return True


@kernel
def most_held(start, codes, counts, offsets, items, left_out):
    """Return, for each group, how many of its records hold the item that most of them hold.

    Group ``g`` has ``counts[i]`` records with the set ``codes[i]``, for each i from ``start[g]`` to ``start[g + 1]``.
    Items that are ``left_out`` are not counted.
    """
    most = np.zeros(len(start) - 1, np.int64)
    held = np.zeros(len(left_out), np.int64)
    for group in range(len(start) - 1):
        top = np.int64(0)
        for entry in range(start[group], start[group + 1]):
            for index in range(offsets[codes[entry]], offsets[codes[entry] + 1]):
                item = items[index]
                if not left_out[item]:
                    held[item] += counts[entry]
                    if held[item] > top:
                        top = held[item]
        most[group] = top
        for entry in range(start[group], start[group + 1]):
            for index in range(offsets[codes[entry]], offsets[codes[entry] + 1]):
                held[items[index]] = 0
    return most
