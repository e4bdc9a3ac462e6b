"""Scoring the binary splits of clusters.

A *split* is an attribute, a place in the order of its values (see :mod:`sudare.kernels.topdown.value_orders`), and a
shape: PREFIX (up to the place | the rest) or SINGLE (that place alone | the rest). A split may drop one of its sides,
if the budget of the cluster allows it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel, part_of_kernel
from sudare.kernels.topdown.value_orders import (
    NONE,
    NUMBER,
    SET,
    SINGLE,
    TREE,
    WORDS,
    ZERO,
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


def overwrite(target: Splits, where: NDArray[np.int64], given: Splits) -> None:
    """Overwrite some of the splits."""
    for into, array in zip(target, given, strict=True):
        into[where] = array  # type: ignore[index]


class Search(NamedTuple):
    """Which splits are looked for: those whose sides have at least ``least`` records, rated by ``mode``.

    LEAST_LOSS rates a split by the loss of all records and attributes after it; a dropped record loses everything.
    WIDEST prefers the attribute with the largest loss, cut near its median; MEDIAN the same, median cut only. With
    ``only`` not NONE, splits of other attributes are not listed. ``every`` asks for all of them and not just the best.
    """

    least: int
    mode: int
    only: int
    every: bool


class Found(NamedTuple):
    """Where the splits of clusters go; lower scores are better, and the first of equal ones wins.

    All splits of ``every`` search are listed in ``room``, one cluster after the other. Otherwise ``room`` is working
    space, and ``best`` gets the best of each cluster, at the cluster's number; its attribute is -1 if there is none.
    ``before`` gets the loss of each cluster as it is (LEAST_LOSS).
    """

    room: Splits
    best: Splits
    before: NDArray[np.float64]


class Ends(NamedTuple):
    """The smallest and the largest code of each attribute in a cluster, or one line of them for each of several."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]


class Layout(NamedTuple):
    """How the places of all attributes of a cluster stand one after the other.

    ``places`` is their number and ``offset`` where they begin, ``words`` the words of bits that each set needs (0: too
    many). ``active`` lists the attributes that have more than one place, the only ones that take room. ``rare`` has the
    place of each attribute's category that stands for several, or -1 if the cluster has none.
    """

    places: NDArray[np.int64]
    offset: NDArray[np.int64]
    words: NDArray[np.int64]
    active: NDArray[np.int64]
    rare: NDArray[np.int64]


class Cut(NamedTuple):
    """One split of a cluster, without its score and what it drops; ``left`` is the number of records on the left."""

    attribute: int
    place: int
    shape: int
    left: int


class Terms(NamedTuple):
    """What the splits of one cluster are measured by: its records, what it may drop, and losses.

    No split changes what each record loses as ``settled``. ``everything`` is what a dropped record loses, ``before``
    what all records lose without a split.
    """

    total: int
    budget: int
    least: int
    settled: float
    everything: float
    before: float


@kernel
def extent_loss(axes, layout, extents, line, a, used):
    """Return the loss per record of a line of extents; it covers ``used`` categories of attribute a itself."""
    low, high, bits = extents.low[line], extents.high[line], extents.bits[line]
    loss = 0.0
    for index in range(len(layout.active)):
        b = layout.active[index]
        if axes.kind[b] != SET:
            loss += axes.weight[b] * range_loss(axes, b, low[b], high[b])
            continue
        if b == a:
            loss += set_loss(axes, b, used, axes.weight[b])
            continue
        distinct, spot = ZERO, layout.rare[b]
        if layout.words[b] == 0:
            distinct = layout.places[b]
        else:
            for word in range(layout.words[b]):
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
def _clear(layout, extents, line):
    """Make a line cover nothing."""
    low, high, bits = extents.low[line], extents.high[line], extents.bits[line]
    for index in range(len(layout.active)):
        b = layout.active[index]
        low[b], high[b] = 2147483647, -1
        for word in range(b * WORDS, b * WORDS + layout.words[b]):
            bits[word] = 0


@kernel
def _join(layout, target, line, one, first, other, second):
    """Make a line cover what two lines cover; it may be one of them."""
    low, high, bits = target.low[line], target.high[line], target.bits[line]
    low_1, high_1, bits_1 = one.low[first], one.high[first], one.bits[first]
    low_2, high_2, bits_2 = other.low[second], other.high[second], other.bits[second]
    for index in range(len(layout.active)):
        b = layout.active[index]
        low[b], high[b] = min(low_1[b], low_2[b]), max(high_1[b], high_2[b])
        for word in range(b * WORDS, b * WORDS + layout.words[b]):
            bits[word] = bits_1[word] | bits_2[word]


@kernel
def too_small(cluster, least):
    """Say whether the numbers of a cluster, its records and its budget, forbid any split."""
    budget, total = cluster[2], cluster[3]
    return total < 2 * least and (budget == 0 or total <= least)


@kernel
def score_cluster(atoms, cluster, search, axes, buffers, covers, out, at_out):
    """List the splits of one cluster from ``at_out`` on; return how many there are, and its loss before any split."""
    if too_small(cluster, search.least):
        return ZERO, 0.0
    first, last = cluster[0], cluster[1]
    rows, amounts = atoms.codes, atoms.amounts
    places = np.empty(rows.shape[1], np.int64)
    rare = np.empty(rows.shape[1], np.int64)
    at, parted, before = ZERO, ZERO, 0.0
    for a in range(rows.shape[1]):
        places[a] = order_values(rows, amounts, first, last, a, search.mode == MEDIAN, axes, buffers, at)
        rare[a] = find_rare(axes, a, buffers)
        if places[a] > 1:
            at += places[a]
    layout = lay_out(places, rare, axes.kind)
    if len(layout.active) == 0:
        return ZERO, 0.0
    if has_rare(layout):
        parted = part_rare(cluster[3], search, axes, buffers.table, layout, out, at_out)
    if search.mode == LEAST_LOSS:
        cover_places(rows, first, last, axes, buffers.lookup, covers.at_place, layout)
        found, before = score_least_loss(cluster, search, axes, buffers.table, covers, layout, out, at_out + parted)
    else:
        ends = _find_ends(rows, first, last, layout.active)
        found = score_widest(cluster[3], search, axes, buffers, layout, ends, out, at_out + parted)
    return parted + found, before


@part_of_kernel
def _find_ends(rows, first, last, active):
    """Return the smallest and the largest code of each attribute that has more than one."""
    low = np.empty(rows.shape[1], np.int32)
    high = np.empty(rows.shape[1], np.int32)
    for index in range(len(active)):
        b = active[index]
        low[b], high[b] = rows[first, b], rows[first, b]
    for row in range(first, last):
        for index in range(len(active)):
            b = active[index]
            code = np.int32(rows[row, b])
            low[b], high[b] = min(low[b], code), max(high[b], code)
    return Ends(low, high)


@kernel
def lay_out(places, rare, kind):
    """Return the layout of so many places."""
    attributes = len(places)
    words = np.zeros(attributes, np.int64)
    offset = np.empty(attributes, np.int64)
    active = np.empty(attributes, np.int64)
    actives, at = ZERO, ZERO
    for a in range(attributes):
        offset[a] = at
        if kind[a] == SET and places[a] <= 64 * WORDS:
            words[a] = (places[a] + 63) // 64
        if places[a] > 1:
            active[actives] = a
            actives += 1
            at += places[a]
    return Layout(places, offset, words, active[:actives], rare)


@kernel
def count_lines(layout):
    """Return how many places all active attributes have together."""
    lines = ZERO
    for index in range(len(layout.active)):
        lines += layout.places[layout.active[index]]
    return lines


@kernel
def has_rare(layout):
    """Say whether a cluster has a category that stands for several, among others."""
    found = False
    for index in range(len(layout.active)):
        found = found or layout.rare[layout.active[index]] >= 0
    return found


@kernel
def part_rare(total, search, axes, table, layout, out, at_out):
    """List splits of the category that stands for several from all others, where that is worth it; before any other.

    Everybody in a class with that category loses what it stands for. Splits that are chosen one by one spread its
    records over many classes, and by then these are too few in each to be split off.
    """
    least = search.least
    found = ZERO
    for index in range(len(layout.active)):
        a = layout.active[index]
        if layout.rare[a] < 0 or axes.more[a] == 0.0 or (search.only >= 0 and a != search.only):
            continue
        amount = table[layout.offset[a] + layout.rare[a]]
        if amount >= least and total - amount >= least:
            gain = parting_gain(axes, a, layout.active, total, amount, least)
            if gain > 0.0:
                _write(out, at_out + found, -gain, Cut(a, layout.rare[a], np.int64(SINGLE), amount), np.int64(KEEP))
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
def cover_places(rows, first, last, axes, lookup, at_place, layout):
    """Find what the records at each place of each attribute cover of all attributes, in one pass over the rows."""
    low, high, bits = at_place.low, at_place.high, at_place.bits
    start, kind = axes.start, axes.kind
    active, offset = layout.active, layout.offset
    for place in range(count_lines(layout)):
        _clear(layout, at_place, place)
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
def score_widest(total, search, axes, buffers, layout, ends, out, at_out):
    """List the splits of the attributes, those with the largest loss first (WIDEST, MEDIAN); return how many there are.

    ``buffers.table`` has the records at their places, ``ends`` are those of what the cluster covers.
    """
    least = search.least
    loss = _attribute_losses(axes, layout, ends)
    for index in range(len(loss)):
        buffers.order[index] = index
    sort_stable(loss, buffers.order, buffers.spare, len(loss))
    found = ZERO
    for turn in range(len(layout.active)):
        a = layout.active[buffers.order[turn]]
        if search.only >= 0 and a != search.only:
            continue
        count, left = layout.places[a], ZERO
        best, best_score, best_left = NONE, 2.0, ZERO
        for place in range(count - 1):
            left += buffers.table[layout.offset[a] + place]
            score = abs(2 * left - total) / total
            # a tree cell narrows only where a side is left with a single child
            useful = axes.kind[a] != TREE or place == 0 or place == count - 2
            if search.mode == WIDEST and useful and left >= least and total - left >= least:
                _write(out, at_out + found, turn + score, Cut(a, place, ZERO, left), ZERO)
                found += 1
            if useful and score < best_score:
                best, best_score, best_left = place, score, left
        if search.mode == MEDIAN and best >= 0 and best_left >= least and total - best_left >= least:
            _write(out, at_out + found, float(turn), Cut(a, best, ZERO, best_left), ZERO)
            found += 1
    return found


@kernel
def _attribute_losses(axes, layout, ends):
    """Return the loss of each active attribute in a cluster that covers what lies between these ends, negative."""
    loss = np.empty(len(layout.active), np.float64)
    for index in range(len(loss)):
        b = layout.active[index]
        if axes.kind[b] == SET:
            count = layout.places[b] + (axes.more[b] if layout.rare[b] >= 0 else 0.0)
            loss[index] = -set_loss(axes, b, count, axes.weight[b])
        else:
            loss[index] = -axes.weight[b] * range_loss(axes, b, ends.low[b], ends.high[b])
    return loss


@kernel
def _write(out, at, score, cut, drop):
    """Write one split."""
    out.score[at] = score
    out.attribute[at] = cut.attribute
    out.place[at] = cut.place
    out.shape[at] = cut.shape
    out.drop[at] = drop
    out.left[at] = cut.left


@kernel
def score_least_loss(cluster, search, axes, table, covers, layout, out, at_out):
    """List the splits that lose less than none would (LEAST_LOSS).

    ``table`` has the records at the places of the cluster, ``covers.at_place`` what they cover. Returns how many splits
    there are, and the loss of the cluster before any.
    """
    here, after, sides = covers.at_place, covers.from_place, covers.sides
    before_place, around_place = ZERO, np.int64(1)  # lines of sides
    terms = _terms_of(cluster, search.least, axes, here, sides, layout)
    found = ZERO
    for index in range(len(layout.active)):
        a = layout.active[index]
        if search.only >= 0 and a != search.only:
            continue
        at, count, rare = layout.offset[a], layout.places[a], layout.rare[a]
        more = axes.more[a] if rare >= 0 else 0.0
        _clear(layout, after, count)
        for place in range(count - 1, -1, -1):
            _join(layout, after, place, after, place + 1, here, at + place)
        _clear(layout, sides, before_place)
        left = ZERO
        for place in range(count):
            amount = table[at + place]
            # a place in the middle against both ends; alone, the first and the last are prefixes already
            ways = _fits(amount, terms) if axes.kind[a] != NUMBER and 0 < place < count - 1 else 0
            if ways > 0:
                _join(layout, sides, around_place, sides, before_place, after, place + 1)
                own = more if place == rare else 0.0
                inner = extent_loss(axes, layout, here, at + place, a, 1.0 + own)
                outer = extent_loss(axes, layout, sides, around_place, a, count - 1.0 + more - own)
                cut = Cut(a, place, np.int64(SINGLE), amount)
                found += _write_ways(terms, ways, cut, inner, outer, out, at_out + found)
            _join(layout, sides, before_place, sides, before_place, here, at + place)
            left += amount
            ways = _fits(left, terms) if place < count - 1 else 0
            if ways > 0:
                own = more if place >= rare else 0.0
                inner = extent_loss(axes, layout, sides, before_place, a, place + 1.0 + own)
                outer = extent_loss(axes, layout, after, place + 1, a, count - place - 1.0 + more - own)
                found += _write_ways(terms, ways, Cut(a, place, ZERO, left), inner, outer, out, at_out + found)
    return found, terms.before


@kernel
def _terms_of(cluster, least, axes, at_place, sides, layout):
    """Return what the splits of a cluster are measured by; the first line of ``sides`` becomes what it covers."""
    everything, settled = axes.elsewhere[0], 0.0
    for b in range(len(layout.places)):
        everything += axes.weight[b]
        if layout.places[b] == 1 and layout.rare[b] >= 0:  # all records have the category that stands for several
            settled += set_loss(axes, b, 1.0 + axes.more[b], axes.weight[b])
    a = layout.active[0]
    _clear(layout, sides, 0)
    for place in range(layout.places[a]):
        _join(layout, sides, 0, sides, 0, at_place, layout.offset[a] + place)
    before = cluster[3] * (settled + extent_loss(axes, layout, sides, ZERO, NONE, 0.0))
    return Terms(cluster[3], cluster[2], least, settled, everything, before)


@kernel
def _write_ways(terms, ways, cut, inner, outer, out, at):
    """Write the ways to make a cut that lose less than none would; the sides lose so much per record."""
    found = ZERO
    for drop in range(3):
        if ways >> drop & 1:
            inside = terms.everything if drop == DROP_LEFT else terms.settled + inner
            outside = terms.everything if drop == DROP_RIGHT else terms.settled + outer
            score = cut.left * inside + (terms.total - cut.left) * outside
            if score < terms.before * (1.0 - 1e-12):
                _write(out, at + found, score, cut, drop)
                found += 1
    return found


@kernel
def _fits(inside, terms):
    """Return which ways to split the numbers of records allow, a bit each: KEEP, DROP_LEFT, DROP_RIGHT."""
    budget, least = terms.budget, terms.least
    outside = terms.total - inside
    ways = np.int64(inside >= least and outside >= least) << KEEP
    ways |= np.int64(inside <= budget and outside >= least) << DROP_LEFT
    return ways | np.int64(outside <= budget and inside >= least) << DROP_RIGHT


@kernel
def score_splits(atoms, clusters, search, axes, buffers, covers, found):
    """Score the splits of clusters, whose lines are (first row, last row, budget, records).

    The returned array tells where each cluster's splits end in ``found.room``, or in ``found.best``.
    """
    room, best, before = found.room, found.best, found.before
    ends = np.empty(len(clusters), np.int64)
    at = ZERO
    for cluster in range(len(clusters)):
        # the only call: each further one would be compiled into this function once more
        count, before[cluster] = score_cluster(atoms, clusters[cluster], search, axes, buffers, covers, room, at)
        if search.every:
            at += count
            ends[cluster] = at
        else:
            keep_best(room, count, best, cluster)
            ends[cluster] = cluster + 1
    return ends


@kernel
def keep_best(room, count, best, cluster):
    """Put the first of the best of so many splits into ``best``, at the cluster's number."""
    best.attribute[cluster] = -1
    chosen = 0
    for index in range(count):
        if room.score[index] < room.score[chosen]:
            chosen = index
    if count:
        best.score[cluster] = room.score[chosen]
        best.attribute[cluster] = room.attribute[chosen]
        best.place[cluster] = room.place[chosen]
        best.shape[cluster] = room.shape[chosen]
        best.drop[cluster] = room.drop[chosen]
        best.left[cluster] = room.left[chosen]


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
