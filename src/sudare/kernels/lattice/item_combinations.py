"""Combinations of items that occur in too few records, found around one item at a time.

Sets are kept once each with a weight, and by item as well as by record. What an item is shown as is its *label*: a
number, or -1 if it is hidden. Labels are full subtrees: codes with the same label stand next to each other, so
that a label met twice in a set is met twice in a row. No list of combinations is ever made; memory grows with the
items of the sets around one label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.flat_sets import sort_within


class Sets(NamedTuple):
    """Different sets, ``weight`` records each, and for each item the sets that hold it, from ``first`` on."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    weight: NDArray[np.int64]
    first: NDArray[np.int64]
    holders: NDArray[np.int32]


class Tally(NamedTuple):
    """Buffers that are used again and again, and ``degree``: in how many rare combinations each label stands."""

    degree: NDArray[np.int64]
    visit: NDArray[np.int64]
    stamp: NDArray[np.int64]
    number: NDArray[np.int64]
    support: NDArray[np.int64]
    light: NDArray[np.bool_]
    touched: NDArray[np.int64]
    slot: NDArray[np.int64]


class Limits(NamedTuple):
    """Which combinations are rare: those of at most so many labels that fewer than k records hold.

    Each of them adds ``change`` to the degree of each of its labels.
    """

    most: int
    k: int
    change: int


class Focus(NamedTuple):
    """The label ``own``, that of the codes low to high, around which combinations are looked for.

    With ``after`` only labels that follow it join it, so that a walk over all labels meets each combination once.
    """

    own: int
    low: int
    high: int
    after: bool


class Surroundings(NamedTuple):
    """The sets around a label next to each other, without it; a -1 before each is where combinations start.

    ``of`` is the set of each place of ``flat``, ``ends`` where each set ends, ``amounts`` how many records it is.
    """

    flat: NDArray[np.int32]
    of: NDArray[np.int32]
    ends: NDArray[np.int64]
    amounts: NDArray[np.int64]


def tally(labels: int, sets: int) -> Tally:
    """Return buffers for labels below ``labels`` and so many sets."""
    return Tally(
        degree=np.zeros(labels, np.int64),
        visit=np.zeros(1, np.int64),
        stamp=np.zeros(sets, np.int64),
        number=np.zeros(labels, np.int64),
        support=np.zeros(labels, np.int64),
        light=np.zeros(labels, np.bool_),
        touched=np.zeros(labels, np.int64),
        slot=np.zeros(labels, np.int64),
    )


def distinct_sets(offsets: NDArray[np.int64], items: NDArray[np.int32], size: int) -> Sets:
    """Group equal sets of items below ``size``; empty sets are left out."""
    order = np.argsort(_mix(offsets, items), kind="stable")
    order = order[np.diff(offsets)[order] > 0]
    new = _unlike_the_last(offsets, items, order)
    starts = np.flatnonzero(new)
    weight = np.diff(np.append(starts, len(order)))
    chosen = order[starts]
    begin = np.concatenate(([0], np.cumsum(np.diff(offsets)[chosen]))).astype(np.int64)
    kept = _copied(offsets, items, chosen, begin)
    first, holders = _by_item(begin, kept, np.int64(size))
    return Sets(begin, kept, weight.astype(np.int64), first, holders)


@kernel
def _mix(offsets, items):
    """Return a number for each set that equal sets share, and different ones hardly ever (a multiply and shift)."""
    mixed = np.empty(len(offsets) - 1, np.uint64)
    for record in range(len(mixed)):
        value = np.uint64(offsets[record + 1] - offsets[record])
        for place in range(offsets[record], offsets[record + 1]):
            value = (value ^ np.uint64(items[place])) * np.uint64(0x9E3779B97F4A7C15)
            value ^= value >> np.uint64(29)
        mixed[record] = value
    return mixed


@kernel
def _unlike_the_last(offsets, items, order):
    """Say of each set of an order whether it differs from the one before."""
    new = np.ones(len(order), np.bool_)
    for index in range(1, len(order)):
        here, there = offsets[order[index]], offsets[order[index - 1]]
        size = offsets[order[index] + 1] - here
        if size != offsets[order[index - 1] + 1] - there:
            continue
        step = 0
        while step < size and items[here + step] == items[there + step]:
            step += 1
        new[index] = step < size
    return new


@kernel
def _copied(offsets, items, chosen, begin):
    copied = np.empty(begin[-1], np.int32)
    for index in range(len(chosen)):
        start = offsets[chosen[index]]
        for step in range(begin[index + 1] - begin[index]):
            copied[begin[index] + step] = items[start + step]
    return copied


@kernel
def _by_item(offsets, items, size):
    first = np.zeros(size + 1, np.int64)
    for place in range(len(items)):
        first[items[place] + 1] += 1
    for item in range(size):
        first[item + 1] += first[item]
    at = first.copy()
    holders = np.empty(len(items), np.int32)
    for record in range(len(offsets) - 1):
        for place in range(offsets[record], offsets[record + 1]):
            holders[at[items[place]]] = record
            at[items[place]] += 1
    return first, holders


@kernel
def count_items(offsets, items, rows, size):
    """Return in how many of the rows each item occurs."""
    count = np.zeros(size, np.int64)
    for index in range(len(rows)):
        for place in range(offsets[rows[index]], offsets[rows[index] + 1]):
            count[items[place]] += 1
    return count


@kernel
def relabel(offsets, items, rows, labels, out):
    """Write the labels of each row to ``out``, ascending and each once; return where each row's begin.

    ``out`` has room for all items of the rows.
    """
    starts = np.zeros(len(rows) + 1, np.int64)
    at = 0
    ascending = True
    for index in range(len(rows)):
        first = at
        for place in range(offsets[rows[index]], offsets[rows[index] + 1]):
            label = labels[items[place]]
            if label < 0 or (at > first and out[at - 1] == label):
                continue
            ascending = ascending and (at == first or out[at - 1] < label)
            out[at] = label
            at += 1
        starts[index + 1] = at
    if ascending:
        return starts
    sort_within(out, starts)
    at = 0
    first = 0  # where the row began before the rows above it shrank
    for index in range(len(rows)):
        last = starts[index + 1]
        for place in range(first, last):
            if place == first or out[place] != out[at - 1]:
                out[at] = out[place]
                at += 1
        first = last
        starts[index + 1] = at
    return starts


@kernel
def longest_shown(sets, labels):
    """Return the largest number of labels in a set."""
    offsets, items = sets.offsets, sets.items
    longest = 0
    for record in range(len(offsets) - 1):
        size = 0
        previous = -1
        for place in range(offsets[record], offsets[record + 1]):
            label = labels[items[place]]
            if label >= 0 and label != previous:
                size += 1
                previous = label
        longest = max(longest, size)
    return longest


@kernel
def support_of(sets, low, high, buffers):
    """Return how many records hold an item from low to high."""
    first, holders, weight, stamp = sets.first, sets.holders, sets.weight, buffers.stamp
    buffers.visit[0] += 1
    visit = buffers.visit[0]
    total = 0
    for index in range(first[low], first[high + 1]):
        record = holders[index]
        if stamp[record] != visit:
            stamp[record] = visit
            total += weight[record]
    return total


@kernel
def rare_around(sets, labels, focus, limits, buffers):
    """Return how many combinations with one label are rare.

    A set of k records or more makes nothing rare: where there are only such, nobody looks further.
    """
    first, holders, weight, stamp = sets.first, sets.holders, sets.weight, buffers.stamp
    total, risky = 0, False
    buffers.visit[0] += 1
    visit = buffers.visit[0]
    for index in range(first[focus.low], first[focus.high + 1]):
        record = holders[index]
        if stamp[record] != visit:
            stamp[record] = visit
            total += weight[record]
            risky = risky or weight[record] < limits.k
    if not risky:
        return 0
    rare = 0
    if total < limits.k:
        rare += 1
        buffers.degree[focus.own] += limits.change
    if limits.most == 1:
        return rare
    found, places, holding = _count_around(sets, labels, focus, limits.k, buffers)
    for index in range(found):
        label = buffers.touched[index]
        buffers.number[label] = 0
        if buffers.support[label] < limits.k:
            rare += 1
            buffers.degree[focus.own] += limits.change
            buffers.degree[label] += limits.change
    if limits.most == 2 or found < 2:
        return rare
    around = _copy_around(sets, labels, focus, places + holding, holding, buffers)
    return rare + _rare_deeper(focus.own, around, limits, buffers)


@kernel
def _count_around(sets, labels, focus, k, buffers):
    """Count the records that hold each other label beside one, and say whether a set of fewer than k does.

    Returns how many labels there are, how often they occur in sets, and how many sets hold the one.
    """
    offsets, items, weight, first, holders = sets.offsets, sets.items, sets.weight, sets.first, sets.holders
    stamp, number, support, light = buffers.stamp, buffers.number, buffers.support, buffers.light
    low, high, after = focus.low, focus.high, focus.after
    found, places, holding = 0, 0, 0
    buffers.visit[0] += 1
    visit = buffers.visit[0]
    for index in range(first[low], first[high + 1]):
        record = holders[index]
        if stamp[record] == visit:
            continue
        stamp[record] = visit
        amount = weight[record]
        previous = -1
        holding += 1
        for place in range(offsets[record], offsets[record + 1]):
            code = items[place]
            if code <= high and (after or code >= low):
                continue
            label = labels[code]
            if label < 0 or label == previous:
                continue
            previous = label
            places += 1
            if number[label] == 0:
                buffers.touched[found] = label
                found += 1
                support[label] = 0
                light[label] = False
            number[label] += 1
            support[label] += amount
            light[label] = light[label] or amount < k
    return found, places, holding


@kernel
def _copy_around(sets, labels, focus, room, holding, buffers):
    """Return the sets around a label, of which there are so many, with labels that a set of few records holds."""
    offsets, items, weight, first, holders = sets.offsets, sets.items, sets.weight, sets.first, sets.holders
    stamp, light, low, high = buffers.stamp, buffers.light, focus.low, focus.high
    flat, of = np.empty(room, np.int32), np.empty(room, np.int32)
    ends, amounts = np.empty(holding, np.int64), np.empty(holding, np.int64)
    at, copied = 0, 0
    buffers.visit[0] += 1
    visit = buffers.visit[0]
    for index in range(first[low], first[high + 1]):
        record = holders[index]
        if stamp[record] == visit:
            continue
        stamp[record] = visit
        flat[at] = -1
        of[at] = copied
        at += 1
        previous = -1
        for place in range(offsets[record], offsets[record + 1]):
            code = items[place]
            if code <= high and (focus.after or code >= low):
                continue
            label = labels[code]
            if label < 0 or label == previous:
                continue
            previous = label
            if light[label]:
                flat[at] = label
                of[at] = copied
                at += 1
        ends[copied] = at
        amounts[copied] = weight[record]
        copied += 1
    return Surroundings(flat[:at], of, ends, amounts)


@kernel
def _rare_deeper(own, around, limits, buffers):
    """Count the rare combinations of ``own`` with two or more labels of the sets around it, depth first.

    Each combination grows to the right only. ``spots`` is a stack of places in ``flat``: those of the last label of a
    combination, one for each set that holds it.
    """
    number, support, light, slot = buffers.number, buffers.support, buffers.light, buffers.slot
    deepest = min(limits.most, len(around.flat)) + 1
    spots = np.empty(2 * len(around.flat) + 16, np.int64)
    last_label = np.empty(64, np.int64)
    begins = np.empty(65, np.int64)  # the places of a group end where those of the next begin
    cursor = np.zeros(deepest, np.int64)
    upto = np.zeros(deepest, np.int64)
    chosen = np.empty(deepest, np.int64)
    last_label[0], begins[0], begins[1], upto[0] = -1, 0, _find_starts(around.flat, spots), 1
    rare, depth = 0, 0
    while depth >= 0:
        if cursor[depth] == upto[depth]:
            depth -= 1
            continue
        group = cursor[depth]
        cursor[depth] += 1
        chosen[depth] = last_label[group]
        first, last = begins[group], begins[group + 1]
        found = _count_behind(around, spots, first, last, limits.k, buffers)
        groups, top = upto[depth], begins[upto[depth]]
        for index in range(found):
            label = buffers.touched[index]
            if depth > 0 and support[label] < limits.k:
                rare += 1
                buffers.degree[own] += limits.change
                buffers.degree[label] += limits.change
                for level in range(1, depth + 1):
                    buffers.degree[chosen[level]] += limits.change
            slot[label] = -1
            if depth + 2 < limits.most and light[label]:
                if groups + 2 > len(last_label):
                    last_label, begins = _longer(last_label, 2 * groups + 4), _longer(begins, 2 * groups + 5)
                last_label[groups] = label
                slot[label] = top
                top += number[label]
                groups += 1
                begins[groups] = top
            number[label] = 0
        if groups == upto[depth]:
            continue
        if top > len(spots):
            spots = _longer(spots, 2 * top)
        _put_spots(around, spots, first, last, slot)
        depth += 1
        cursor[depth], upto[depth] = upto[depth - 1], groups
    return rare


@kernel
def _find_starts(flat, spots):
    """Put the places where combinations start into ``spots``; return how many there are."""
    count = 0
    for place in range(len(flat)):
        if flat[place] < 0:
            spots[count] = place
            count += 1
    return count


@kernel
def _count_behind(around, spots, first, last, k, buffers):
    """Count the records that hold each label behind some spots; return how many labels there are."""
    found = 0
    for index in range(first, last):
        own = around.of[spots[index]]
        amount = around.amounts[own]
        for place in range(spots[index] + 1, around.ends[own]):
            label = around.flat[place]
            if buffers.number[label] == 0:
                buffers.touched[found] = label
                found += 1
                buffers.support[label] = 0
                buffers.light[label] = False
            buffers.number[label] += 1
            buffers.support[label] += amount
            buffers.light[label] = buffers.light[label] or amount < k
    return found


@kernel
def _put_spots(around, spots, first, last, slot):
    """Put the places of labels behind some spots where ``slot`` says, unless that is -1."""
    for index in range(first, last):
        for place in range(spots[index] + 1, around.ends[around.of[spots[index]]]):
            label = around.flat[place]
            if slot[label] >= 0:
                spots[slot[label]] = place
                slot[label] += 1


@kernel
def _longer(array, size):
    longer = np.empty(size, np.int64)
    for index in range(len(array)):
        longer[index] = array[index]
    return longer


@kernel
def rare_pairs(sets, labels, rank, ranked, k, buffers):
    """Return how many single labels and pairs are rare, and add each to the degrees of its labels.

    The same as :func:`rare_among` over all codes with at most two labels, by a table of all pairs: faster if it fits.
    ``ranked`` lists the labels that occur, in the order of the codes, and ``rank`` is the place of each there.
    """
    offsets, items, weight, degree = sets.offsets, sets.items, sets.weight, buffers.degree
    size = len(ranked)
    table = np.zeros(size * size, np.int64)
    held = np.empty(size, np.int64)
    for record in range(len(weight)):
        found = 0
        for place in range(offsets[record], offsets[record + 1]):
            label = labels[items[place]]
            if label >= 0 and (found == 0 or rank[label] != held[found - 1]):
                held[found] = rank[label]
                found += 1
        for left in range(found):
            base = held[left] * size
            for right in range(left, found):
                table[base + held[right]] += weight[record]
    rare = 0
    for left in range(size):
        for right in range(left, size):
            if 0 < table[left * size + right] < k:
                rare += 1
                degree[ranked[left]] += 1
                if right > left:
                    degree[ranked[right]] += 1
    return rare


@kernel
def rare_among(sets, labels, low, high, taken_out, limits, buffers):
    """Return how many rare combinations have a label of the codes low to high, each counted once.

    ``taken_out``: any labels may stand in the combinations, and those of the range are hidden as the walk goes on (the
    caller puts them back if need be). Otherwise combinations begin in the range and go on to its right.
    """
    rare = 0
    code = low
    while code <= high:
        own, start = np.int64(labels[code]), code
        while code <= high and labels[code] == own:
            code += 1
        if own < 0:
            continue
        rare += rare_around(sets, labels, Focus(own, start, code - 1, not taken_out), limits, buffers)
        if taken_out:
            for hidden in range(start, code):
                labels[hidden] = -1
    return rare
