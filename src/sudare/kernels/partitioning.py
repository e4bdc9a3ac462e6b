"""Sets for people with several records: each person has a random partition of the domain, and shows its parts.

Sets that were drawn for each value by itself would tell that different sets have different truths. Parts of one
partition are equal or have nothing in common, whatever the truths are, and tell nothing about each other.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.ordering import kernel


@kernel
def _take(place, items, where, count):
    """Take the item at a place out of the first ``count``: it changes places with the last of them."""
    item, last = items[place], items[count - 1]
    items[place], items[count - 1] = last, item
    where[last], where[item] = place, count - 1
    return item


@kernel
def draw_parts(person, truth, size, width, words, lines):
    """Fill in the part of each (person, truth), in ascending order; those of a person stand one after another.

    A person's values are put into a random order, as far as it is needed. From the front, each ``width`` of them are a
    part. If some are left over at the end, they are a part together with the first of the first part, as many as are
    missing; which of its two parts such a value shows is decided by chance. ``words`` are random, ``width + 2`` for
    each pair.
    """
    parts, rest = size // width, size % width
    shared = width - rest if rest else 0  # values of the first part that are also in the last
    values, at_value = np.arange(size), np.arange(size)
    places, at_place = np.arange(size), np.arange(size)
    value_of, place_of = np.zeros(size, np.int64), np.zeros(size, np.int64)
    filled, placed = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    owner, free_values, free_places, word = np.int64(-1), size, size, 0
    for pair in range(len(person)):
        if pair == 0 or person[pair] != person[pair - 1]:
            owner, free_values, free_places = pair, size, size
        true = np.int64(truth[pair])
        if placed[true] != owner:
            chosen = np.int64(words[word] % np.uint64(free_places))
            place = _take(chosen, places, at_place, free_places)
            free_places -= 1
            _take(at_value[true], values, at_value, free_values)
            free_values -= 1
            value_of[place], place_of[true] = true, place
            filled[place], placed[true] = owner, owner
        word += 1
        place = place_of[true]
        part = min(place // width, parts)
        if place < shared and words[word] & np.uint64(1):
            part = parts
        word += 1
        for index in range(width):
            if part < parts:
                place = part * width + index
            else:
                place = index if index < shared else parts * width + index - shared
            if filled[place] != owner:
                chosen = np.int64(words[word] % np.uint64(free_values))
                value = _take(chosen, values, at_value, free_values)
                free_values -= 1
                _take(at_place[place], places, at_place, free_places)
                free_places -= 1
                value_of[place], place_of[value] = value, place
                filled[place], placed[value] = owner, owner
            word += 1
            # into its place among those that are there
            value, at = value_of[place], index
            while at > 0 and lines[pair, at - 1] > value:
                lines[pair, at] = lines[pair, at - 1]
                at -= 1
            lines[pair, at] = value
