"""People and the released classes that they may be in: each class allows some codes in every column.

The codes of a column are cut into ranges, mostly of one code each. For a range, the classes that allow any of its codes
are bits in a line of words. Those that may allow a person are what the lines of the person's codes have in common;
columns whose ranges have several codes are then compared one by one. Of item sets a class shows labels, all of which a
person has to hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel


class People(NamedTuple):
    """``lines[i]`` are the lines of a person's codes, ``codes[i]`` the codes in columns that are compared one by one.

    ``held[begin[i]:begin[i + 1]]`` are the labels of the person's sets.
    """

    lines: NDArray[np.int64]
    codes: NDArray[np.int64]
    begin: NDArray[np.int64]
    held: NDArray[np.int64]


class Classes(NamedTuple):
    """``allowed[line]`` has a bit for each class, of which there are ``groups``.

    ``cells[c]`` are the cells of class ``c`` in columns that are compared one by one, with ``low``, ``high``, ``word``
    and ``bits`` as in :func:`allow_codes`. The class shows the labels ``needed[begin[c]:begin[c + 1]]``, of ``labels``
    different ones.
    """

    allowed: NDArray[np.uint64]
    cells: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    word: NDArray[np.int64]
    bits: NDArray[np.uint64]
    begin: NDArray[np.int64]
    needed: NDArray[np.int64]
    labels: int
    groups: int


@kernel
def allow_codes(cells, low, high, word, bits, ranges, allowed):
    """Set the bits of the classes that allow some code of each range, a line for each range.

    A cell allows the codes from ``low`` to ``high``; if ``word`` is not -1 only those with a bit in ``bits`` from there
    on, which is asked for in ranges of one code.
    """
    able = np.empty(len(low), np.bool_)
    for line in range(len(ranges)):
        first, last = ranges[line, 0], ranges[line, 1]
        for cell in range(len(low)):
            able[cell] = low[cell] <= last and high[cell] >= first
            if able[cell] and word[cell] >= 0 and first == last:
                able[cell] = bool((bits[word[cell] + (first >> 6)] >> np.uint64(first & 63)) & np.uint64(1))
        for group in range(len(cells)):
            if able[cells[group]]:
                allowed[line, group >> 6] |= np.uint64(1) << np.uint64(group & 63)


@kernel
def find_matches(people, classes, person, stamp, found):
    """Put the classes that a person may be in into ``found``, and return how many there are; ``stamp`` is by label."""
    for place in range(people.begin[person], people.begin[person + 1]):
        stamp[people.held[place]] = person
    count = 0
    columns = people.lines.shape[1]
    for word in range((classes.groups + 63) // 64):
        common = ~np.uint64(0)
        for column in range(columns):
            common &= classes.allowed[people.lines[person, column], word]
            if common == np.uint64(0):
                break
        group = 64 * word
        while common != np.uint64(0) and group < classes.groups:
            fits = bool(common & np.uint64(1))
            if fits:
                for column in range(people.codes.shape[1]):
                    code, cell = people.codes[person, column], classes.cells[group, column]
                    fits = classes.low[cell] <= code <= classes.high[cell]
                    if fits and classes.word[cell] >= 0:
                        bits = classes.bits[classes.word[cell] + (code >> 6)]
                        fits = bool((bits >> np.uint64(code & 63)) & np.uint64(1))
                    if not fits:
                        break
            if fits:
                for place in range(classes.begin[group], classes.begin[group + 1]):
                    if stamp[classes.needed[place]] != person:
                        fits = False
                        break
            if fits:
                found[count] = group
                count += 1
            common >>= np.uint64(1)
            group += 1
    return count


@kernel
def weigh_people(people, classes, weight, first, last, result):
    """Add up, for people from ``first`` to before ``last``, the weights of the classes that each may be in."""
    found, stamp = np.empty(classes.groups, np.int64), np.full(classes.labels, -1, np.int64)
    for person in range(first, last):
        total = 0.0
        for index in range(find_matches(people, classes, person, stamp, found)):
            total += weight[found[index]]
        result[person] = total


@kernel
def weigh_classes(people, classes, weight, first, last, result):
    """Add up, for each class, the weights of those people who may be in it."""
    found, stamp = np.empty(classes.groups, np.int64), np.full(classes.labels, -1, np.int64)
    for person in range(first, last):
        for index in range(find_matches(people, classes, person, stamp, found)):
            result[found[index]] += weight[person]


NEAR = 1e-9
"""Counts that differ by less are equal: some are sums of fractions."""


@kernel
def judge(counts, values, much, own, result):
    """Judge the guess of the most frequent value, ties at random: with all counts, and without one record of ``own``.

    ``counts`` are by value, of which the first ``much`` of ``values`` have any. Where there is nothing to go by, the
    result is -1.
    """
    top, other, ties, others = 0.0, 0.0, 0, 0
    without = counts[own] - 1.0 if own >= 0 else -1.0
    for index in range(much):
        value = values[index]
        if counts[value] > top + NEAR:
            top, ties = counts[value], 1
        elif counts[value] > top - NEAR:
            ties += 1
        if value != own:
            if counts[value] > other + NEAR:
                other, others = counts[value], 1
            elif counts[value] > other - NEAR:
                others += 1
    result[0], result[1] = 0.0, 0.0
    if top <= NEAR:
        result[0] = -1.0
    elif own >= 0 and counts[own] > top - NEAR:
        result[0] = 1.0 / ties
    if without <= NEAR and other <= NEAR:
        result[1] = -1.0
    elif without > other + NEAR:
        result[1] = 1.0
    elif without > other - NEAR:
        result[1] = 1.0 / (others + 1)


class Counts(NamedTuple):
    """A class has ``counts[begin[c]:begin[c + 1]]`` of ``values``, which are below ``size``."""

    begin: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.float64]
    size: int


@kernel
def guess_values(people, classes, histogram, own, first, last, result):
    """Judge, for some people, the guess from all classes that each may be in (see :func:`judge`); ``own`` is true."""
    found, stamp = np.empty(classes.groups, np.int64), np.full(classes.labels, -1, np.int64)
    total, met = np.zeros(histogram.size, np.float64), np.empty(histogram.size, np.int64)
    for person in range(first, last):
        much = 0
        for index in range(find_matches(people, classes, person, stamp, found)):
            group = found[index]
            for place in range(histogram.begin[group], histogram.begin[group + 1]):
                value = histogram.values[place]
                if total[value] == 0.0:
                    met[much] = value
                    much += 1
                total[value] += histogram.counts[place]
        judge(total, met, much, own[person], result[person])
        for index in range(much):
            total[met[index]] = 0.0


@kernel
def guess_in_class(groups, histogram, own, result):
    """Judge, for each person, the guess from the one class that the person is in (see :func:`judge`)."""
    total, met = np.zeros(histogram.size, np.float64), np.empty(histogram.size, np.int64)
    for person in range(len(groups)):
        much = 0
        for place in range(histogram.begin[groups[person]], histogram.begin[groups[person] + 1]):
            met[much] = histogram.values[place]
            total[histogram.values[place]] = histogram.counts[place]
            much += 1
        judge(total, met, much, own[person], result[person])
        for index in range(much):
            total[met[index]] = 0.0
