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
def side_loss(axes, a, places, span, low, high, bits, active, used):
    """Return the loss per record of a side, whose extents are given; ``used`` places of attribute a itself."""
    loss = 0.0
    for index in range(len(active)):
        b = active[index]
        if axes.kind[b] != SET:
            loss += axes.weight[b] * range_loss(axes, b, low[b], high[b])
            continue
        if b == a:
            distinct = np.int64(used)
        elif span[b] == 0:
            distinct = places[b]
        else:
            distinct = np.int64(0)
            for word in range(span[b]):
                distinct += popcount(bits[b * WORDS + word])
        if distinct > 1:
            loss += axes.weight[b] * distinct / (axes.start[b + 1] - axes.start[b])
    return loss


@kernel
def score_cluster(rows, amounts, cluster, least, mode, axes, buffers, out, at_out):
    """List the splits of one cluster whose sides have at least ``least`` records; return how many there are.

    LEAST_LOSS scores a split by the loss of all records and attributes after it; a dropped record loses everything.
    WIDEST prefers the attribute with the largest loss, cut near its median; MEDIAN the same, median cut only.
    """
    first, last, budget, total = cluster[0], cluster[1], cluster[2], cluster[3]
    if total < 2 * least and (budget == 0 or total <= least):
        return ZERO
    attributes = rows.shape[1]
    places = np.empty(attributes, np.int64)
    offset = np.empty(attributes, np.int64)
    span = np.zeros(attributes, np.int64)
    active = np.empty(attributes, np.int64)
    actives = np.int64(0)
    at = np.int64(0)
    for a in range(attributes):
        offset[a] = at
        places[a] = order_values(rows, amounts, first, last, a, mode == MEDIAN, axes, buffers, at)
        if axes.kind[a] == SET and places[a] <= 64 * WORDS:
            span[a] = (places[a] + 63) // 64
        if places[a] > 1:
            active[actives] = a
            actives += 1
            at += places[a]
    active = active[:actives]
    if actives == 0:
        return ZERO
    whole_low = np.empty(attributes, np.int32)
    whole_high = np.empty(attributes, np.int32)
    for index in range(actives):
        b = active[index]
        whole_low[b], whole_high[b] = rows[first, b], rows[first, b]
    for row in range(first, last):
        for index in range(actives):
            b = active[index]
            code = np.int32(rows[row, b])
            whole_low[b], whole_high[b] = min(whole_low[b], code), max(whole_high[b], code)
    if mode != LEAST_LOSS:
        return _score_widest(
            total, least, mode, axes, buffers, active, places, offset, whole_low, whole_high, out, at_out
        )
    low, high, bits = buffers.low, buffers.high, buffers.bits
    for place in range(at):
        for index in range(actives):
            b = active[index]
            low[place, b], high[place, b] = 2147483647, -1
            for word in range(span[b]):
                bits[place, b * WORDS + word] = 0
    here = np.empty(attributes, np.int64)
    code = np.empty(attributes, np.int32)
    word = np.empty(attributes, np.int64)
    bit = np.empty(attributes, np.uint64)
    for row in range(first, last):
        for index in range(actives):
            b = active[index]
            code[b] = rows[row, b]
            spot = np.int64(buffers.lookup[axes.start[b] + rows[row, b]])
            here[b] = offset[b] + spot
            word[b] = b * WORDS + min(spot >> 6, WORDS - 1)
            bit[b] = np.uint64(1) << np.uint64(spot & 63)
        for outer in range(actives):
            place = here[active[outer]]
            for inner in range(actives):
                b = active[inner]
                if axes.kind[b] == SET:
                    bits[place, word[b]] |= bit[b]
                else:
                    low[place, b], high[place, b] = min(low[place, b], code[b]), max(high[place, b], code[b])
    whole_bits = np.zeros(attributes * WORDS, np.uint64)
    for index in range(actives):
        b = active[index]
        if span[b] > 0:
            for spot in range(places[b]):
                whole_bits[b * WORDS + (spot >> 6)] |= np.uint64(1) << np.uint64(spot & 63)
    before = total * side_loss(axes, NONE, places, span, whole_low, whole_high, whole_bits, active, ZERO)
    return _score_least_loss(total, budget, least, before, axes, buffers, active, places, span, offset, out, at_out)


@kernel
def _score_widest(total, least, mode, axes, buffers, active, places, offset, low, high, out, at_out):
    loss = np.empty(len(active), np.float64)
    for index in range(len(active)):
        b = active[index]
        if axes.kind[b] == SET:
            loss[index] = -axes.weight[b] * places[b] / (axes.start[b + 1] - axes.start[b])
        else:
            loss[index] = -axes.weight[b] * range_loss(axes, b, low[b], high[b])
    for index in range(len(active)):
        buffers.order[index] = index
    sort_stable(loss, buffers.order, buffers.spare, len(active))
    found = np.int64(0)
    for turn in range(len(active)):
        a = active[buffers.order[turn]]
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
def _merge(active, span, low, high, bits, other_low, other_high, other_bits):
    """Widen one side's extents by another's."""
    for index in range(len(active)):
        b = active[index]
        low[b], high[b] = min(low[b], other_low[b]), max(high[b], other_high[b])
        for word in range(b * WORDS, b * WORDS + span[b]):
            bits[word] |= other_bits[word]


@kernel
def _copy(active, span, low, high, bits, other_low, other_high, other_bits):
    """Set one side's extents to another's."""
    for index in range(len(active)):
        b = active[index]
        low[b], high[b] = other_low[b], other_high[b]
        for word in range(b * WORDS, b * WORDS + span[b]):
            bits[word] = other_bits[word]


@kernel
def _clear(active, span, low, high, bits):
    """Set a side's extents to those of nothing."""
    for index in range(len(active)):
        b = active[index]
        low[b], high[b] = 2147483647, -1
        for word in range(b * WORDS, b * WORDS + span[b]):
            bits[word] = 0


@kernel
def _score_least_loss(total, budget, least, before, axes, buffers, active, places, span, offset, out, at_out):
    attributes = len(places)
    everything = 0.0
    for index in range(attributes):
        everything += axes.weight[index]
    low, high, bits = buffers.low, buffers.high, buffers.bits
    low_after, high_after, bits_after = buffers.low_after, buffers.high_after, buffers.bits_after
    side_low = np.empty(attributes, np.int32)
    side_high = np.empty(attributes, np.int32)
    side_bits = np.empty(attributes * WORDS, np.uint64)
    rest_low = np.empty(attributes, np.int32)
    rest_high = np.empty(attributes, np.int32)
    rest_bits = np.empty(attributes * WORDS, np.uint64)
    found = np.int64(0)
    for turn in range(len(active)):
        a = active[turn]
        at, count = offset[a], places[a]
        _clear(active, span, low_after[count], high_after[count], bits_after[count])
        for place in range(count - 1, -1, -1):
            _copy(
                active,
                span,
                low_after[place],
                high_after[place],
                bits_after[place],
                low_after[place + 1],
                high_after[place + 1],
                bits_after[place + 1],
            )
            _merge(
                active,
                span,
                low_after[place],
                high_after[place],
                bits_after[place],
                low[at + place],
                high[at + place],
                bits[at + place],
            )
        _clear(active, span, side_low, side_high, side_bits)
        left = np.int64(0)
        for place in range(count):
            here = buffers.table[at + place]
            for shape in range(2):
                if shape == SINGLE:
                    # a place in the middle against both ends; the first and the last are prefixes already
                    if axes.kind[a] == NUMBER or place == 0 or place == count - 1 or count < 3:
                        continue
                    inside = here
                    _copy(active, span, rest_low, rest_high, rest_bits, side_low, side_high, side_bits)
                    _merge(
                        active,
                        span,
                        rest_low,
                        rest_high,
                        rest_bits,
                        low_after[place + 1],
                        high_after[place + 1],
                        bits_after[place + 1],
                    )
                else:
                    if place == count - 1:
                        continue
                    inside = left + here
                outside = total - inside
                kept = inside >= least and outside >= least
                drop_left = inside <= budget and outside >= least
                drop_right = outside <= budget and inside >= least
                if not (kept or drop_left or drop_right):
                    continue
                if shape == SINGLE:
                    inside_loss = side_loss(
                        axes, a, places, span, low[at + place], high[at + place], bits[at + place], active, np.int64(1)
                    )
                    outside_loss = side_loss(axes, a, places, span, rest_low, rest_high, rest_bits, active, count - 1)
                else:
                    _copy(active, span, rest_low, rest_high, rest_bits, side_low, side_high, side_bits)
                    _merge(
                        active,
                        span,
                        rest_low,
                        rest_high,
                        rest_bits,
                        low[at + place],
                        high[at + place],
                        bits[at + place],
                    )
                    inside_loss = side_loss(axes, a, places, span, rest_low, rest_high, rest_bits, active, place + 1)
                    outside_loss = side_loss(
                        axes,
                        a,
                        places,
                        span,
                        low_after[place + 1],
                        high_after[place + 1],
                        bits_after[place + 1],
                        active,
                        count - place - 1,
                    )
                for drop in range(3):
                    if drop == KEEP and kept:
                        after = inside * inside_loss + outside * outside_loss
                    elif drop == DROP_LEFT and drop_left:
                        after = inside * everything + outside * outside_loss
                    elif drop == DROP_RIGHT and drop_right:
                        after = inside * inside_loss + outside * everything
                    else:
                        continue
                    if after < before * (1.0 - 1e-12):
                        _put(out, at_out + found, after, a, place, shape, drop, inside)
                        found += 1
            _merge(active, span, side_low, side_high, side_bits, low[at + place], high[at + place], bits[at + place])
            left += here
    return found


@kernel
def score_splits(rows, amounts, clusters, least, mode, axes, buffers, room, every, out):
    """Score the splits of clusters, whose lines are (first row, last row, budget, records), into ``out``.

    With ``every`` all of them are listed one cluster after the other; the returned array tells where each cluster's
    end. Without it only the best of each cluster is kept, at the cluster's number; its attribute is -1 if there is
    none. ``room`` is working space. Scores are better when lower; the first of equal ones wins.
    """
    ends = np.empty(len(clusters), np.int64)
    at = np.int64(0)
    for cluster in range(len(clusters)):
        if every:
            at += score_cluster(rows, amounts, clusters[cluster], least, mode, axes, buffers, out, at)
            ends[cluster] = at
            continue
        found = score_cluster(rows, amounts, clusters[cluster], least, mode, axes, buffers, room, ZERO)
        out.attribute[cluster] = -1
        chosen = 0
        for index in range(found):
            if room.score[index] < room.score[chosen]:
                chosen = index
        if found:
            _put(
                out,
                cluster,
                room.score[chosen],
                np.int64(room.attribute[chosen]),
                np.int64(room.place[chosen]),
                np.int64(room.shape[chosen]),
                np.int64(room.drop[chosen]),
                room.left[chosen],
            )
        ends[cluster] = cluster + 1
    return ends
