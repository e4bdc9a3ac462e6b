"""Sets for people with several records: each person shows sets that tell nothing about each other.

Sets that were drawn for each value by itself would be intersected. So each value of a person has one set, and:

- Sets of a person are equal or have nothing in common. They are drawn one after the other: a value that is in no set
  yet gets one, with others of the values that are in none. The probability of what is shown depends on how many sets
  there are, and how many different values the person has, and never on which values of the sets these are. So whoever
  sees the sets, and knows nothing else, believes each value of a set alike: 1/l.
- With more than |S| // l different values, some might be left over that are too few for a set. So that none is, the
  values that are in no set are chosen first, among those that the person does not have.
- With more different values than fit into sets without common values (l does not divide |S|, and the person has nearly
  all of S), the values are put on a circle in random order, and each shows the l neighbours that begin some places
  before it, the same number of places for all. What is shown is as likely for each of these numbers, so that beliefs
  are 1/l again; but whoever knows one of the values knows the number, and so the others.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.topdown.value_orders import kernel


@kernel
def _take(place, items, where, count):
    """Take the item at a place out of the first ``count``: it changes places with the last of them."""
    item, last = items[place], items[count - 1]
    items[place], items[count - 1] = last, item
    where[last], where[item] = place, count - 1
    return item


@kernel
def _put(line, index, value):
    """Put a value into its place among the first ``index`` of a line, which are in ascending order."""
    at = index
    while at > 0 and line[at - 1] > value:
        line[at] = line[at - 1]
        at -= 1
    line[at] = value


@kernel
def draw_parts(person, truth, size, width, words, lines):
    """Fill in the set of each (person, truth), in ascending order; those of a person stand one after another.

    Each pair is there once. ``words`` are random, ``width + 2`` for each pair.
    """
    values, where = np.arange(size), np.arange(size)
    members, part_of, owner = np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, -1, np.int64)
    apart = np.zeros(width, np.int64)
    begin, word = 0, 0
    while begin < len(person):
        end = begin + 1
        while end < len(person) and person[end] == person[begin]:
            end += 1
        if end - begin > size // width * width:
            word = _windows(truth, begin, end, values, where, members, part_of, width, words, word, lines)
        else:
            free = size
            if end - begin > size // width:
                free, word = _leave_out(truth, begin, end, values, where, apart, words, word, size % width)
            word = _parts(truth, begin, end, free, values, where, members, part_of, owner, width, words, word, lines)
        begin = end


@kernel
def _leave_out(truth, begin, end, values, where, apart, words, word, rest):
    """Choose values that are in no set, among those that the person does not have; return how many are left."""
    size = len(values)
    free = size
    for pair in range(begin, end):
        _take(where[np.int64(truth[pair])], values, where, free)
        free -= 1
    for number in range(rest):
        apart[number] = _take(np.int64(words[word] % np.uint64(free)), values, where, free)
        free -= 1
        word += 1
    for number in range(rest):
        _take(where[apart[number]], values, where, size - number)
    return size - rest, word


@kernel
def _parts(truth, begin, end, free, values, where, members, part_of, owner, width, words, word, lines):
    """Draw sets without common values; the first ``free`` values may be in them."""
    parts = 0
    for pair in range(begin, end):
        true = np.int64(truth[pair])
        if owner[true] != begin:
            for index in range(width):
                if index == 0:
                    place = where[true]
                else:
                    place = np.int64(words[word] % np.uint64(free))
                    word += 1
                value = _take(place, values, where, free)
                free -= 1
                members[parts * width + index] = value
                owner[value], part_of[value] = begin, parts
            parts += 1
        first = part_of[true] * width
        for index in range(width):
            _put(lines[pair], index, members[first + index])
    return word


@kernel
def _windows(truth, begin, end, values, where, circle, place_of, width, words, word, lines):
    """Put all values on a circle, and show neighbours."""
    size = len(values)
    for place in range(size):
        value = _take(np.int64(words[word] % np.uint64(size - place)), values, where, size - place)
        circle[place], place_of[value] = value, place
        word += 1
    before = np.int64(words[word] % np.uint64(width))
    word += 1
    for pair in range(begin, end):
        at = place_of[np.int64(truth[pair])]
        for index in range(width):
            _put(lines[pair], index, circle[(at - before + index) % size])
    return word
