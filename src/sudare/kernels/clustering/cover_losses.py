"""Covers of a few records, and what they lose: grown by a record, or without one of them.

A cover is a line per attribute: the smallest and the largest code of numbers, trees and ordered categories, and other
categories as the bits of a word. Where there are more than 64, each digit of their codes is an attribute: records are
then compared a little less exactly, while what is shown of them is exact. A set of n categories loses
(n - ``alone``) / ``scale[a]``, one alone nothing: NCP has 0 and the number of categories there, the loss of ARX 1 and
one less. A code that stands for several categories counts as these beside others; alone it loses nothing that could be
avoided.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import SET, Axes, popcount, range_loss

BIT = np.uint64(1)
RANKED = 3
"""A kind of attribute beside those of top-down: ordered categories, of which a cover has all between two."""


class Space(NamedTuple):
    """The attributes as :class:`~sudare.kernels.topdown.value_orders.Axes` has them, and how categories count."""

    axes: Axes
    scale: NDArray[np.float64]
    alone: float


class Cover(NamedTuple):
    """A cover: the smallest and the largest code of each attribute, and categories as the bits of a word.

    The small kernels below take its arrays one by one: to take them out of a bundle costs as much as the work.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]


class Needs(NamedTuple):
    """What a cluster needs: at least k records, and so many different sensitive values."""

    k: int
    diverse: int


@kernel
def empty_cover(attributes):
    """Return room for a cover."""
    return Cover(np.zeros(attributes, np.int64), np.zeros(attributes, np.int64), np.zeros(attributes, np.uint64))


@kernel
def set_loss(space, a, bits):
    """Return what a set of categories loses, with the weight of its attribute."""
    count = np.float64(popcount(bits))
    if count < 2.0:
        return 0.0
    if space.axes.other[a] >= 0 and bits >> np.uint64(space.axes.other[a]) & BIT:
        count += space.axes.more[a]
    return space.axes.weight[a] * (count - space.alone) / space.scale[a]


@kernel
def span_loss(space, a, low, high):
    """Return what all values between two lose, with the weight of their attribute."""
    if space.axes.kind[a] == RANKED:
        return space.axes.weight[a] * (high - low + 1.0 - space.alone) / space.scale[a] if high > low else 0.0
    return space.axes.weight[a] * range_loss(space.axes, a, low, high)


@kernel
def part_loss(space, a, low, high, bits):
    """Return what one attribute of a cover loses, with its weight."""
    if space.axes.kind[a] == SET:
        return set_loss(space, a, bits)
    return span_loss(space, a, low, high)


@kernel
def cover_loss(space, low, high, bits):
    """Return what a record of this cover loses, over all attributes."""
    total = 0.0
    for a in range(len(low)):
        total += part_loss(space, a, low[a], high[a], bits[a])
    return total


@kernel
def begin_cover(codes, line, space, low, high, bits):
    """Let a cover hold one record alone."""
    for a in range(len(low)):
        code = np.int64(codes[line, a])
        if space.axes.kind[a] == SET:
            low[a], high[a], bits[a] = 0, 0, BIT << np.uint64(code)
        else:
            low[a], high[a], bits[a] = code, code, np.uint64(0)


@kernel
def grow_cover(codes, line, space, low, high, bits):
    """Let a cover hold one record more."""
    for a in range(len(low)):
        code = np.int64(codes[line, a])
        if space.axes.kind[a] == SET:
            bits[a] |= BIT << np.uint64(code)
        else:
            low[a], high[a] = min(low[a], code), max(high[a], code)


@kernel
def loss_with(codes, line, space, low, high, bits, limit):
    """Return what a cover loses with one record more; no more exactly than that it is above a limit."""
    total = 0.0
    for a in range(len(low)):
        code = np.int64(codes[line, a])
        if space.axes.kind[a] == SET:
            total += set_loss(space, a, bits[a] | (BIT << np.uint64(code)))
        else:
            total += span_loss(space, a, min(low[a], code), max(high[a], code))
        if total > limit:
            break
    return total


@kernel
def second_values(codes, members, count, space, low, high, bits, spare):
    """Find the cover of some records, and what is needed to take one of them out.

    Into the lines of ``spare`` go, by attribute: the second smallest and second largest codes, how many records have
    the smallest and the largest, and which categories occur once (as a word).
    """
    for a in range(len(low)):
        if space.axes.kind[a] == SET:
            word, twice = np.uint64(0), np.uint64(0)
            for index in range(count):
                bit = BIT << np.uint64(codes[members[index], a])
                twice |= word & bit
                word |= bit
            low[a], high[a], bits[a] = 0, 0, word
            spare[4, a] = np.int64(word & ~twice)
            continue
        least, next_least, most, next_most, of_least, of_most = 1 << 40, 1 << 40, -1, -1, 0, 0
        for index in range(count):
            code = np.int64(codes[members[index], a])
            if code < least:
                next_least, least, of_least = least, code, 1
            elif code == least:
                of_least += 1
            elif code < next_least:
                next_least = code
            if code > most:
                next_most, most, of_most = most, code, 1
            elif code == most:
                of_most += 1
            elif code > next_most:
                next_most = code
        low[a], high[a], bits[a] = least, most, np.uint64(0)
        spare[0, a], spare[1, a], spare[2, a], spare[3, a] = next_least, next_most, of_least, of_most


@kernel
def loss_without(codes, line, space, low, high, bits, spare):
    """Return what a cover of several records loses without one of them; see :func:`second_values`."""
    total = 0.0
    for a in range(len(low)):
        code = np.int64(codes[line, a])
        if space.axes.kind[a] == SET:
            bit = BIT << np.uint64(code)
            word = bits[a] & ~bit if np.uint64(spare[4, a]) & bit else bits[a]
            total += set_loss(space, a, word)
            continue
        least, most = low[a], high[a]
        if code == least and spare[2, a] == 1:
            least = spare[0, a]
        if code == most and spare[3, a] == 1:
            most = spare[1, a]
        total += span_loss(space, a, least, most)
    return total
