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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel


class Deck(NamedTuple):
    """All values in some order, of which the first may still be drawn, and where each of them stands."""

    values: NDArray[np.int64]
    where: NDArray[np.int64]


class Drawn(NamedTuple):
    """The values of a person's sets one after the other, the set that each value is in, and for whom it was drawn."""

    members: NDArray[np.int64]
    part_of: NDArray[np.int64]
    owner: NDArray[np.int64]


@kernel
def _take(place, values, where, count):
    """Take the value at a place out of the first ``count``: it changes places with the last of them."""
    value, last = values[place], values[count - 1]
    values[place], values[count - 1] = last, value
    where[last], where[value] = place, count - 1
    return value


@kernel
def _insert(line, index, value):
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
    deck = Deck(np.arange(size), np.arange(size))
    drawn = Drawn(np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, -1, np.int64))
    apart = np.zeros(width, np.int64)
    begin, word = 0, 0
    while begin < len(person):
        end = begin + 1
        while end < len(person) and person[end] == person[begin]:
            end += 1
        own, sets = truth[begin:end], lines[begin:end]
        if end - begin > size // width * width:
            word = _windows(own, sets, deck, drawn, words, word)
        else:
            free = size
            if end - begin > size // width:
                free, word = _leave_out(own, deck, apart, words, word, size % width)
            word = _parts(own, sets, begin, free, deck, drawn, words, word)
        begin = end


@kernel
def _leave_out(truth, deck, apart, words, word, rest):
    """Choose values that are in no set, among those that the person does not have; return how many are left."""
    size = len(deck.values)
    free = size
    for index in range(len(truth)):
        _take(deck.where[np.int64(truth[index])], deck.values, deck.where, free)
        free -= 1
    for number in range(rest):
        apart[number] = _take(np.int64(words[word] % np.uint64(free)), deck.values, deck.where, free)
        free -= 1
        word += 1
    for number in range(rest):
        _take(deck.where[apart[number]], deck.values, deck.where, size - number)
    return size - rest, word


@kernel
def _parts(truth, sets, person, free, deck, drawn, words, word):
    """Draw sets of a person without common values; the first ``free`` values of the deck may be in them."""
    width, parts = sets.shape[1], 0
    for pair in range(len(truth)):
        true = np.int64(truth[pair])
        if drawn.owner[true] != person:
            for index in range(width):
                if index == 0:
                    place = deck.where[true]
                else:
                    place = np.int64(words[word] % np.uint64(free))
                    word += 1
                value = _take(place, deck.values, deck.where, free)
                free -= 1
                drawn.members[parts * width + index] = value
                drawn.owner[value], drawn.part_of[value] = person, parts
            parts += 1
        first = drawn.part_of[true] * width
        for index in range(width):
            _insert(sets[pair], index, drawn.members[first + index])
    return word


@kernel
def _windows(truth, sets, deck, circle, words, word):
    """Put all values on a circle, and show neighbours; ``circle`` has them in its order, and the place of each."""
    size, width = len(deck.values), sets.shape[1]
    for place in range(size):
        value = _take(np.int64(words[word] % np.uint64(size - place)), deck.values, deck.where, size - place)
        circle.members[place], circle.part_of[value] = value, place
        word += 1
    before = np.int64(words[word] % np.uint64(width))
    word += 1
    for pair in range(len(truth)):
        at = circle.part_of[np.int64(truth[pair])]
        for index in range(width):
            _insert(sets[pair], index, circle.members[(at - before + index) % size])
    return word
