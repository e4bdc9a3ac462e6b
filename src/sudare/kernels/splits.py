"""Scoring the binary splits of clusters.

A *split* is an attribute, a place in the order of its values (see :mod:`sudare.kernels.ordering`), and a shape: PREFIX
(up to the place | the rest) or SINGLE (that place alone | the rest). A split may drop one of its sides, if the budget
of the cluster allows it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.ordering import (
    NONE,
    NUMBER,
    SET,
    SINGLE,
    TREE,
    WORDS,
    ZERO,
    kernel,
    order_values,
    popcount,
    range_loss,
    set_loss,
    sort_stable,
)

KEEP, DROP_LEFT, DROP_RIGHT = 0, 1, 2
LEAST_LOSS, WIDEST, MEDIAN = 0, 1, 2


class Splits(NamedTuple):
    """Splits as parallel arrays; ``left`` is the number of records on the left side."""

    score: NDArray[np.float64]
    attribute: NDArray[np.int32]
    place: NDArray[np.int32]
    shape: NDArray[np.int8]
    drop: NDArray[np.int8]
    left: NDArray[np.int64]


def splits(capacity: int) -> Splits:
    """Return room for this many splits."""
    return Splits(
        np.empty(capacity, np.float64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int8),
        np.empty(capacity, np.int8),
        np.empty(capacity, np.int64),
    )


def pick(given: Splits, which: Any) -> Splits:
    """Return some of the splits."""
    return Splits(*(array[which] for array in given))


def put(target: Splits, where: NDArray[np.int64], given: Splits) -> None:
    """Overwrite some of the splits."""
    for into, array in zip(target, given, strict=True):
        into[where] = array  # type: ignore[index]


@kernel
def extent_loss(axes, a, places, span, rare, extents, line, active, used):
    """Return the loss per record of a line of extents; it covers ``used`` categories of attribute a itself.

    ``rare`` has the place of each attribute's category that stands for several, or -1 if the cluster has none.
    """
    low, high, bits = extents.low[line], extents.high[line], extents.bits[line]
    loss = 0.0
    for index in range(len(active)):
        b = active[index]
        if axes.kind[b] != SET:
            loss += axes.weight[b] * range_loss(axes, b, low[b], high[b])
            continue
        if b == a:
            loss += set_loss(axes, b, used, axes.weight[b])
            continue
        distinct, spot = ZERO, rare[b]
        if span[b] == 0:
            distinct = places[b]
        else:
            for word in range(span[b]):
                distinct += popcount(bits[b * WORDS + word])
            if spot >= 0 and not bits[b * WORDS + (spot >> 6)] >> np.uint64(spot & 63) & np.uint64(1):
                spot = NONE
        loss += set_loss(axes, b, distinct + (axes.more[b] if spot >= 0 else 0.0), axes.weight[b])
    return loss


@kernel
def find_rare(axes, a, buffers):
    """Return the place of the category that stands for several, of an attribute that was just put in order, or -1."""
    code = axes.other[a]
    if code < 0 or buffers.stamp[axes.start[a] + code] != buffers.visit[0]:
        return NONE
    return np.int64(buffers.lookup[axes.start[a] + code])


@kernel
def _clear(active, span, extents, line):
    """Make a line cover nothing."""
    low, high, bits = extents.low[line], extents.high[line], extents.bits[line]
    for index in range(len(active)):
        b = active[index]
        low[b], high[b] = 2147483647, -1
        for word in range(b * WORDS, b * WORDS + span[b]):
            bits[word] = 0


@kernel
def _join(active, span, target, line, one, first, other, second):
    """Make a line cover what two lines cover; it may be one of them."""
    low, high, bits = target.low[line], target.high[line], target.bits[line]
    low_1, high_1, bits_1 = one.low[first], one.high[first], one.bits[first]
    low_2, high_2, bits_2 = other.low[second], other.high[second], other.bits[second]
    for index in range(len(active)):
        b = active[index]
        low[b], high[b] = min(low_1[b], low_2[b]), max(high_1[b], high_2[b])
        for word in range(b * WORDS, b * WORDS + span[b]):
            bits[word] = bits_1[word] | bits_2[word]


@kernel
def too_small(cluster, least):
    """Say whether the numbers of a cluster, its records and its budget, forbid any split."""
    budget, total = cluster[2], cluster[3]
    return total < 2 * least and (budget == 0 or total <= least)


@kernel
def score_cluster(rows, amounts, cluster, least, mode, only, axes, buffers, out, at_out, before):
    """List the splits of one cluster whose sides have at least ``least`` records; return how many there are.

    LEAST_LOSS scores a split by the loss of all records and attributes after it; a dropped record loses everything.
    WIDEST prefers the attribute with the largest loss, cut near its median; MEDIAN the same, median cut only. With
    ``only`` not NONE, splits of other attributes are not listed. ``before[0]`` becomes the loss of all records
    before any split (LEAST_LOSS).
    """
    before[0] = 0.0
    first, last = cluster[0], cluster[1]
    if too_small(cluster, least):
        return ZERO
    attributes = rows.shape[1]
    places = np.empty(attributes, np.int64)
    rare = np.empty(attributes, np.int64)
    at = np.int64(0)
    for a in range(attributes):
        places[a] = order_values(rows, amounts, first, last, a, mode == MEDIAN, axes, buffers, at)
        rare[a] = find_rare(axes, a, buffers)
        if places[a] > 1:
            at += places[a]
    span, offset, active = lay_out(places, axes.kind)
    whole_low = np.empty(attributes, np.int32)
    whole_high = np.empty(attributes, np.int32)
    if len(active) == 0:
        return ZERO
    if mode == LEAST_LOSS:
        cover_places(rows, first, last, axes, buffers, active, span, offset, at)
    else:
        for index in range(len(active)):
            b = active[index]
            whole_low[b], whole_high[b] = rows[first, b], rows[first, b]
        for row in range(first, last):
            for index in range(len(active)):
                b = active[index]
                code = np.int32(rows[row, b])
                whole_low[b], whole_high[b] = min(whole_low[b], code), max(whole_high[b], code)
    return score_places(
        cluster, least, mode, only, axes, buffers, places, span, rare, offset, active, whole_low, whole_high, out,
        at_out, before,
    )  # fmt: skip


@kernel
def lay_out(places, kind):
    """Return how the places of all attributes of a cluster stand one after the other.

    That is: the words of bits that each set needs (0: too many), where its places begin, and which attributes have
    more than one, the only ones that take room.
    """
    attributes = len(places)
    span = np.zeros(attributes, np.int64)
    offset = np.empty(attributes, np.int64)
    active = np.empty(attributes, np.int64)
    actives, at = ZERO, ZERO
    for a in range(attributes):
        offset[a] = at
        if kind[a] == SET and places[a] <= 64 * WORDS:
            span[a] = (places[a] + 63) // 64
        if places[a] > 1:
            active[actives] = a
            actives += 1
            at += places[a]
    return span, offset, active[:actives]


@kernel
def score_places(
    cluster, least, mode, only, axes, buffers, places, span, rare, offset, active, low, high, out, at_out, before
):
    """List the splits of a cluster whose places are in order: ``table`` has their records.

    ``at_place`` has what they cover (LEAST_LOSS), ``low`` and ``high`` the ends of what the cluster covers (others).
    For ``rare`` see :func:`extent_loss`.
    """
    budget, total = cluster[2], cluster[3]
    parted = _part_rare(total, least, only, axes, buffers, active, rare, offset, out, at_out)
    at_out += parted
    if mode != LEAST_LOSS:
        return parted + _score_widest(
            total, least, mode, only, axes, buffers, active, places, rare, offset, low, high, out, at_out
        )
    settled = 0.0  # where all records have the category that stands for several, no split changes it
    for b in range(len(places)):
        if places[b] == 1 and rare[b] >= 0:
            settled += set_loss(axes, b, 1.0 + axes.more[b], axes.weight[b])
    a = active[0]
    _clear(active, span, buffers.sides, 0)
    for place in range(places[a]):
        _join(active, span, buffers.sides, 0, buffers.sides, 0, buffers.at_place, offset[a] + place)
    loss = extent_loss(axes, NONE, places, span, rare, buffers.sides, ZERO, active, 0.0)
    before[0] = total * (settled + loss)
    return parted + _score_least_loss(
        total, budget, least, before[0], settled, only, axes, buffers, active, places, span, rare, offset, out, at_out
    )


@kernel
def _part_rare(total, least, only, axes, buffers, active, rare, offset, out, at_out):
    """List splits of the category that stands for several from all others, where that is worth it; before any other.

    Everybody in a class with that category loses what it stands for. Splits that are chosen one by one spread its
    records over many classes, and by then these are too few in each to be split off.
    """
    found = ZERO
    for index in range(len(active)):
        a = active[index]
        if rare[a] < 0 or axes.more[a] == 0.0 or (only >= 0 and a != only):
            continue
        amount = buffers.table[offset[a] + rare[a]]
        if amount >= least and total - amount >= least:
            gain = parting_gain(axes, a, active, total, amount, least)
            if gain > 0.0:
                _put(out, at_out + found, -gain, a, rare[a], np.int64(SINGLE), np.int64(KEEP), amount)
                found += 1
    return found


@kernel
def parting_gain(axes, a, active, total, amount, least):
    """Estimate what is gained if the records of the category that stands for several are in classes of their own.

    Spread over classes of ``least`` records, they would make (1 - amount / total) ** least of these free of it, and the
    others lose what it stands for. Apart they are in amount / least classes in place of total / least, and n classes
    lose about n ** (-1 / d) of each of d columns.
    """
    share = set_loss(axes, a, 1.0 + axes.more[a], axes.weight[a])
    mixed = total * (1.0 - (1.0 - amount / total) ** least) - amount
    columns, weight = 0.0, 0.0
    for index in range(len(active)):
        if active[index] != a:
            columns += 1.0
            weight += axes.weight[active[index]]
    if columns == 0.0:
        return share * mixed
    apart = max(amount / least, 1.0) ** (-1.0 / columns) - max(total / least, 1.0) ** (-1.0 / columns)
    return share * mixed - weight * amount * apart


@kernel
def cover_places(rows, first, last, axes, buffers, active, span, offset, places):
    """Find what the records at each place of each attribute cover of all attributes, in one pass over the rows."""
    low, high, bits = buffers.at_place.low, buffers.at_place.high, buffers.at_place.bits
    lookup, start, kind = buffers.lookup, axes.start, axes.kind
    for place in range(places):
        _clear(active, span, buffers.at_place, place)
    attributes = rows.shape[1]
    here = np.empty(attributes, np.int64)
    code = np.empty(attributes, np.int32)
    word = np.empty(attributes, np.int64)
    bit = np.empty(attributes, np.uint64)
    ranges, sets = np.empty(attributes, np.int64), np.empty(attributes, np.int64)
    some_ranges, some_sets = ZERO, ZERO
    for index in range(len(active)):
        if kind[active[index]] == SET:
            sets[some_sets] = active[index]
            some_sets += 1
        else:
            ranges[some_ranges] = active[index]
            some_ranges += 1
    for row in range(first, last):
        for index in range(some_ranges):
            b = ranges[index]
            code[index] = rows[row, b]
            here[index] = offset[b] + np.int64(lookup[start[b] + rows[row, b]])
        for index in range(some_sets):
            b = sets[index]
            spot = np.int64(lookup[start[b] + rows[row, b]])
            here[some_ranges + index] = offset[b] + spot
            word[index] = b * WORDS + min(spot >> 6, WORDS - 1)
            bit[index] = np.uint64(1) << np.uint64(spot & 63)
        for outer in range(len(active)):
            place = here[outer]
            for inner in range(some_ranges):
                b, own = ranges[inner], code[inner]
                low[place, b], high[place, b] = min(low[place, b], own), max(high[place, b], own)
            for inner in range(some_sets):
                bits[place, word[inner]] |= bit[inner]


@kernel
def _score_widest(total, least, mode, only, axes, buffers, active, places, rare, offset, low, high, out, at_out):
    loss = np.empty(len(active), np.float64)
    for index in range(len(active)):
        b = active[index]
        if axes.kind[b] == SET:
            count = places[b] + (axes.more[b] if rare[b] >= 0 else 0.0)
            loss[index] = -set_loss(axes, b, count, axes.weight[b])
        else:
            loss[index] = -axes.weight[b] * range_loss(axes, b, low[b], high[b])
    for index in range(len(active)):
        buffers.order[index] = index
    sort_stable(loss, buffers.order, buffers.spare, len(active))
    found = np.int64(0)
    for turn in range(len(active)):
        a = active[buffers.order[turn]]
        if only >= 0 and a != only:
            continue
        left = np.int64(0)
        best, best_score, best_left = NONE, 2.0, ZERO
        for place in range(places[a] - 1):
            left += buffers.table[offset[a] + place]
            score = abs(2 * left - total) / total
            # a tree cell narrows only where a side is left with a single child
            useful = axes.kind[a] != TREE or place == 0 or place == places[a] - 2
            if mode == WIDEST and useful and left >= least and total - left >= least:
                _put(out, at_out + found, turn + score, a, place, ZERO, ZERO, left)
                found += 1
            if useful and score < best_score:
                best, best_score, best_left = place, score, left
        if mode == MEDIAN and best >= 0 and best_left >= least and total - best_left >= least:
            _put(out, at_out + found, float(turn), a, best, ZERO, ZERO, best_left)
            found += 1
    return found


@kernel
def _put(out, at, score, attribute, place, shape, drop, left):
    out.score[at] = score
    out.attribute[at] = attribute
    out.place[at] = place
    out.shape[at] = shape
    out.drop[at] = drop
    out.left[at] = left


@kernel
def _score_least_loss(
    total, budget, least, before, settled, only, axes, buffers, active, places, span, rare, offset, out, at_out
):
    everything = axes.elsewhere[0]
    for index in range(len(places)):
        everything += axes.weight[index]
    here, after, sides = buffers.at_place, buffers.from_place, buffers.sides
    before_place, around_place = 0, 1  # lines of sides
    found = ZERO
    for turn in range(len(active)):
        a = active[turn]
        if only >= 0 and a != only:
            continue
        at, count, more = offset[a], places[a], axes.more[a] if rare[a] >= 0 else 0.0
        _clear(active, span, after, count)
        for place in range(count - 1, -1, -1):
            _join(active, span, after, place, after, place + 1, here, at + place)
        _clear(active, span, sides, before_place)
        left = ZERO
        for place in range(count):
            amount = buffers.table[at + place]
            # a place in the middle against both ends; alone, the first and the last are prefixes already
            if axes.kind[a] != NUMBER and 0 < place < count - 1:
                room = _fits(amount, total, budget, least)
                if room > 0:
                    _join(active, span, sides, around_place, sides, before_place, after, place + 1)
                    own = more if place == rare[a] else 0.0
                    inner = settled + extent_loss(axes, a, places, span, rare, here, at + place, active, 1.0 + own)
                    outer = settled + extent_loss(
                        axes, a, places, span, rare, sides, np.int64(around_place), active, count - 1.0 + more - own
                    )
                    for drop in range(3):
                        if room >> drop & 1:
                            score = _loss_after(drop, amount, total - amount, inner, outer, everything)
                            if score < before * (1.0 - 1e-12):
                                _put(out, at_out + found, score, a, place, np.int64(SINGLE), drop, amount)
                                found += 1
            _join(active, span, sides, before_place, sides, before_place, here, at + place)
            left += amount
            room = _fits(left, total, budget, least)
            if room > 0 and place < count - 1:
                own = more if place >= rare[a] else 0.0
                inner = settled + extent_loss(
                    axes, a, places, span, rare, sides, np.int64(before_place), active, place + 1.0 + own
                )
                outer = settled + extent_loss(
                    axes, a, places, span, rare, after, place + 1, active, count - place - 1.0 + more - own
                )
                for drop in range(3):
                    if room >> drop & 1:
                        score = _loss_after(drop, left, total - left, inner, outer, everything)
                        if score < before * (1.0 - 1e-12):
                            _put(out, at_out + found, score, a, place, ZERO, drop, left)
                            found += 1
    return found


@kernel
def _fits(inside, total, budget, least):
    """Return which ways to split the numbers of records allow, a bit each: KEEP, DROP_LEFT, DROP_RIGHT."""
    outside = total - inside
    ways = np.int64(inside >= least and outside >= least) << KEEP
    ways |= np.int64(inside <= budget and outside >= least) << DROP_LEFT
    return ways | np.int64(outside <= budget and inside >= least) << DROP_RIGHT


@kernel
def _loss_after(drop, inside, outside, inner, outer, everything):
    """Return the loss of all records after a split; those of a dropped side lose everything."""
    if drop == DROP_LEFT:
        inner = everything
    elif drop == DROP_RIGHT:
        outer = everything
    return inside * inner + outside * outer


@kernel
def score_splits(rows, amounts, clusters, least, mode, only, axes, buffers, room, every, best, before):
    """Score the splits of clusters, whose lines are (first row, last row, budget, records).

    With ``every`` all of them are listed in ``room``, one cluster after the other; the returned array tells where each
    cluster's end. Without it ``room`` is working space, and the best of each cluster is put into ``best``, at the
    cluster's number; its attribute is -1 if there is none. Lower scores are better; the first of equal ones wins.
    ``before`` gets the loss of each cluster as it is.
    """
    ends = np.empty(len(clusters), np.int64)
    at = np.int64(0)
    for cluster in range(len(clusters)):
        # the only call: each further one would be compiled into this function once more
        found = score_cluster(
            rows, amounts, clusters[cluster], least, mode, only, axes, buffers, room, at, before[cluster : cluster + 1]
        )
        if every:
            at += found
            ends[cluster] = at
            continue
        keep_best(room, found, best, cluster)
        ends[cluster] = cluster + 1
    return ends


@kernel
def keep_best(room, found, best, cluster):
    """Put the first of the best of the ``found`` splits into ``best``, at the cluster's number."""
    best.attribute[cluster] = -1
    chosen = 0
    for index in range(found):
        if room.score[index] < room.score[chosen]:
            chosen = index
    if found:
        _put(
            best,
            cluster,
            room.score[chosen],
            np.int64(room.attribute[chosen]),
            np.int64(room.place[chosen]),
            np.int64(room.shape[chosen]),
            np.int64(room.drop[chosen]),
            room.left[chosen],
        )


@kernel
def losses(rows, clusters, axes, buffers):
    """Return the loss per record of each attribute in each cluster, not weighted."""
    stamp, kind, start = buffers.stamp, axes.kind, axes.start
    found = np.zeros((len(clusters), rows.shape[1]), np.float64)
    for cluster in range(len(clusters)):
        first, last = clusters[cluster, 0], clusters[cluster, 1]
        for a in range(rows.shape[1]):
            low, high = np.int64(rows[first, a]), np.int64(rows[first, a])
            if kind[a] != SET:
                for row in range(first, last):
                    code = np.int64(rows[row, a])
                    low, high = min(low, code), max(high, code)
                found[cluster, a] = range_loss(axes, a, low, high)
                continue
            buffers.visit[0] += 1
            visit = buffers.visit[0]
            distinct = ZERO
            for row in range(first, last):
                where = start[a] + np.int64(rows[row, a])
                distinct += np.int64(stamp[where] != visit)
                stamp[where] = visit
            several = axes.other[a] >= 0 and stamp[start[a] + axes.other[a]] == visit
            found[cluster, a] = set_loss(axes, a, distinct + (axes.more[a] if several else 0.0), 1.0)
    return found
