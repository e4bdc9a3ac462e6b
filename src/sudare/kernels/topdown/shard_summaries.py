"""What a shard, some of the rows of a table, tells about clusters whose rows are in many shards.

Rows are sent down a *tree* of *forks* that were decided before, and what they are in each open cluster is added up:
counts, smallest and largest codes, bits. Summaries of shards are merged by sums, minima, maxima and ors, and scored as
:mod:`sudare.kernels.topdown.splits` scores what it counted itself.

"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.item_choices import PORTION, portions_hidden
from sudare.kernels.topdown.splits import (
    LEAST_LOSS,
    Ends,
    count_lines,
    cover_places,
    has_rare,
    keep_best,
    lay_out,
    part_rare,
    score_least_loss,
    score_widest,
    too_small,
)
from sudare.kernels.topdown.value_orders import (
    BINS,
    NONE,
    NUMBER,
    SET,
    SINGLE,
    WORDS,
    ZERO,
    order_counted,
    range_loss,
    set_loss,
)

NOWHERE = 2147483647
"""What ``lookup`` says of a code that is in no map."""


class Shard(NamedTuple):
    """Some rows of a table, in 32-bit codes: record r holds ``items[offsets[s, r]:offsets[s, r + 1]]`` of item set s.

    ``lookup`` is working space with a cell per code, NOWHERE throughout between uses.
    """

    rows: NDArray[np.uint32]
    items: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    lookup: NDArray[np.int32]


class Ranges(NamedTuple):
    """The rows of a shard cluster by cluster: ``order`` lists those of cluster c from ``first[c]`` to ``last[c]``."""

    order: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


class Counts(NamedTuple):
    """How often codes occur in clusters, and the ends of the codes.

    ``keys`` are cluster * codes + code, with the codes of all attributes numbered through as in the axes. A number with
    more than BINS different values is not counted: ``many`` says so.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    many: NDArray[np.bool_]


class Chosen(NamedTuple):
    """How many records choose each rank, what that gains, and what the records of each cluster hide; whole units."""

    records: NDArray[np.int64]
    gain: NDArray[np.int64]
    hidden: NDArray[np.int64]


class Forks(NamedTuple):
    """Ways to part clusters, one line each: by the attribute ``column``, or by the items of set -1 - ``column``.

    A number goes left (0) if its code is at most ``place``. Other forks have a map: from code to place, which goes left
    as a split's ``shape`` says, or from item to rank. Map m owns ``begin[m]:begin[m + 1]`` of ``code`` and
    ``place_of``; forks may share one. A record goes where its item of the lowest rank does,
    ``child[child_begin[f] + rank]``, and to the last of its ``children`` without one, or where that says REST.
    """

    column: NDArray[np.int64]
    place: NDArray[np.int64]
    shape: NDArray[np.int64]
    map: NDArray[np.int64]
    children: NDArray[np.int64]
    child_begin: NDArray[np.int64]
    child: NDArray[np.int64]
    begin: NDArray[np.int64]
    code: NDArray[np.int32]
    place_of: NDArray[np.int32]


class Orders(NamedTuple):
    """The orders of values, by pairs of cluster and attribute: how many places, and the place of each code.

    Pair p owns ``begin[p]:begin[p + 1]`` of ``code`` and ``place_of``. One in bins owns nothing; its places are ranges
    of 1 << ``shift[p]`` codes from ``low[p]`` on, of which some may be empty. ``shift`` is -1 elsewhere.
    """

    begin: NDArray[np.int64]
    code: NDArray[np.int32]
    place_of: NDArray[np.int32]
    places: NDArray[np.int64]
    low: NDArray[np.int64]
    shift: NDArray[np.int64]


class Covered(NamedTuple):
    """What the places of clusters cover, one line each, those of cluster c from ``begin[c]``; and records in bins.

    Lines are those of attributes with several places, one after the other (see
    :func:`sudare.kernels.topdown.splits.lay_out`).
    """

    begin: NDArray[np.int64]
    inside: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    bits: NDArray[np.uint64]


class Summary(NamedTuple):
    """What shards told of clusters, all together; ``table`` has the records at places of pairs that are not in bins."""

    orders: Orders
    table: NDArray[np.int64]
    ends: Ends
    covered: Covered


@kernel
def _find_children(shard, forks, fork, order, first, last, side):
    """Say to which child of a fork the rows that ``order`` lists from first to last go."""
    rows, items, offsets, lookup = shard.rows, shard.items, shard.offsets, shard.lookup
    column, place = forks.column[fork], forks.place[fork]
    if column >= 0 and forks.map[fork] < 0:
        for index in range(first, last):
            side[index] = np.int32(np.int64(rows[order[index], column]) > place)
        return
    begin, end = forks.begin[forks.map[fork]], forks.begin[forks.map[fork] + 1]
    code, place_of = forks.code, forks.place_of
    for index in range(begin, end):
        lookup[code[index]] = place_of[index]
    if column >= 0:
        alone = forks.shape[fork] == SINGLE
        for index in range(first, last):
            here = np.int64(lookup[rows[order[index], column]])
            side[index] = np.int32(here != place if alone else here > place)
    else:
        own, child, rest = offsets[-1 - column], forks.child, forks.children[fork] - 1
        start = forks.child_begin[fork]
        for index in range(first, last):
            best = np.int64(NOWHERE)
            for where in range(own[order[index]], own[order[index] + 1]):
                best = min(best, np.int64(lookup[items[where]]))
            to = NONE if best == NOWHERE else child[start + best]
            side[index] = np.int32(rest if to < 0 else to)
    for index in range(begin, end):
        lookup[code[index]] = NOWHERE


@kernel
def route(shard, forks, child, nodes):
    """Send the rows down a tree: the children of node n are nodes from ``child[n]`` on, which is -1 for a leaf.

    The forks are those of the nodes that are no leaves, in their order. ``nodes.order`` has all rows before, and lists
    them leaf by leaf after; ``nodes`` then says where the rows of each node are. Parents come before their children.
    """
    order, first, last = nodes.order, nodes.first, nodes.last
    side = np.empty(len(order), np.int32)
    spare = np.empty(len(order), np.int64)
    fork = ZERO
    first[0], last[0] = 0, len(order)
    for node in range(len(child)):
        if child[node] < 0:
            continue
        low, high, base = first[node], last[node], child[node]
        count = forks.children[fork]
        for index in range(base, base + count):
            last[index] = 0
        if high > low:
            _find_children(shard, forks, fork, order, low, high, side)
        fork += 1
        for index in range(low, high):
            last[base + side[index]] += 1
        position = low
        for index in range(base, base + count):
            first[index] = position
            position += last[index]
            last[index] = first[index]
        for index in range(low, high):
            to = base + side[index]
            spare[last[to]] = order[index]
            last[to] += 1
        for index in range(low, high):
            order[index] = spare[index]


@kernel
def count_values(rows, first, last, axes, buffers, out):
    """Count the codes of each attribute in each cluster; return how many counts there are."""
    keys, counts, low, high, many = out.keys, out.counts, out.low, out.high, out.many
    stamp, amount = buffers.stamp, buffers.amount
    codes = axes.start[-1]
    at = ZERO
    for cluster in range(len(first)):
        for a in range(len(axes.kind)):
            base, begin = axes.start[a], at
            most = BINS if axes.kind[a] == NUMBER else axes.start[a + 1] - base
            buffers.visit[0] += 1
            visit = buffers.visit[0]
            for row in range(first[cluster], last[cluster]):
                code = np.int64(rows[row, a])
                low[cluster, a], high[cluster, a] = min(low[cluster, a], code), max(high[cluster, a], code)
                if many[cluster, a]:
                    continue
                where = base + code
                if stamp[where] != visit:
                    if at - begin == most:
                        many[cluster, a] = True
                        continue
                    stamp[where] = visit
                    amount[where] = 0
                    keys[at] = cluster * codes + where
                    at += 1
                amount[where] += 1
            if many[cluster, a]:
                at = begin
            for index in range(begin, at):
                counts[index] = amount[keys[index] - cluster * codes]
    return at


@kernel
def order_counts(orders, count, by_code, axes, buffers, table):
    """Put the values of pairs of cluster and attribute in order; their codes are ascending, and occur so often.

    ``table[begin[p] + place]`` becomes the number of records at a place. Pairs without codes are left alone.
    """
    begin, code, places, place_of = orders.begin, orders.code, orders.places, orders.place_of
    attributes = len(axes.kind)
    for pair in range(len(begin) - 1):
        a, first = pair % attributes, begin[pair]
        found = begin[pair + 1] - first
        if found == 0:
            continue
        base = axes.start[a]
        for index in range(found):
            buffers.present[index] = code[first + index]
            buffers.amount[base + code[first + index]] = count[first + index]
        places[pair] = 1
        buffers.lookup[base + code[first]], buffers.table[0] = 0, count[first]
        if found > 1:
            places[pair] = order_counted(found, a, by_code, axes, buffers, ZERO)
        for index in range(found):
            place_of[first + index] = buffers.lookup[base + code[first + index]]
        for place in range(places[pair]):
            table[first + place] = buffers.table[place]


@kernel
def cover(rows, first, last, orders, axes, lookup, at_place, covered):
    """Count the records in bins, and find what the places of clusters cover, unless ``covered`` has no room for it.

    ``lookup`` and ``at_place`` are buffers.
    """
    attributes = len(axes.kind)
    start, with_extents = axes.start, len(covered.low) > 0
    for cluster in range(len(first)):
        places = orders.places[cluster * attributes : (cluster + 1) * attributes]
        layout = lay_out(places, places, axes.kind)  # which category is rare makes no difference here
        words, offset, active = layout.words, layout.offset, layout.active
        base = covered.begin[cluster]
        for index in range(len(active)):
            a = active[index]
            pair = cluster * attributes + a
            for entry in range(orders.begin[pair], orders.begin[pair + 1]):
                lookup[start[a] + orders.code[entry]] = orders.place_of[entry]
            if orders.shift[pair] >= 0:
                low, shift = orders.low[pair], orders.shift[pair]
                for row in range(first[cluster], last[cluster]):
                    code = np.int64(rows[row, a])
                    lookup[start[a] + code] = (code - low) >> shift
                    covered.inside[base + offset[a] + ((code - low) >> shift)] += 1
        if not with_extents:
            continue
        cover_places(rows, first[cluster], last[cluster], axes, lookup, at_place, layout)
        for line in range(count_lines(layout)):
            for index in range(len(active)):
                a = active[index]
                covered.low[base + line, a], covered.high[base + line, a] = (
                    at_place.low[line, a],
                    at_place.high[line, a],
                )
                for word in range(a * WORDS, a * WORDS + words[a]):
                    covered.bits[base + line, word] = at_place.bits[line, word]


@kernel
def find_rare_place(orders, pair, other):
    """Return the place of the category that stands for several, or -1 if a pair has none."""
    if other >= 0:
        for entry in range(orders.begin[pair], orders.begin[pair + 1]):
            if orders.code[entry] == other:
                return np.int64(orders.place_of[entry])
    return NONE


@kernel
def score_covered(clusters, where, summary, search, axes, buffers, covers, found):
    """Score the splits of clusters from what shards told of them; see
    :func:`sudare.kernels.topdown.splits.score_splits`.

    That of cluster c stands at ``where[c]``.
    """
    room, best, before = found.room, found.best, found.before
    ends = np.empty(len(clusters), np.int64)
    at = ZERO
    for cluster in range(len(clusters)):
        count, before[cluster] = _score_one(
            clusters[cluster], where[cluster], summary, search, axes, buffers, covers, room, at
        )
        if search.every:
            at += count
            ends[cluster] = at
        else:
            keep_best(room, count, best, cluster)
            ends[cluster] = cluster + 1
    return ends


@kernel
def _score_one(cluster, spot, summary, search, axes, buffers, covers, room, at):
    """List the splits of one cluster from ``at`` on; return how many there are, and its loss before any split."""
    if too_small(cluster, search.least):
        return ZERO, 0.0
    layout = _fill_places(spot, summary, search.mode == LEAST_LOSS, axes, buffers.table, covers.at_place)
    if len(layout.active) == 0:
        return ZERO, 0.0
    parted, before = ZERO, 0.0
    if has_rare(layout):
        parted = part_rare(cluster[3], search, axes, buffers.table, layout, room, at)
    if search.mode == LEAST_LOSS:
        found, before = score_least_loss(cluster, search, axes, buffers.table, covers, layout, room, at + parted)
    else:
        ends = Ends(summary.ends.low[spot], summary.ends.high[spot])
        found = score_widest(cluster[3], search, axes, buffers, layout, ends, room, at + parted)
    return parted + found, before


@kernel
def _fill_places(spot, summary, with_extents, axes, amounts, at_place):
    """Fill in the records at the places of a cluster, and what they cover; return how the places are laid out.

    Of attributes in bins, only bins that are not empty are places.
    """
    orders, table, covered = summary.orders, summary.table, summary.covered
    attributes = len(axes.kind)
    raw = orders.places[spot * attributes : (spot + 1) * attributes]
    lines = lay_out(raw, raw, axes.kind).offset
    base = covered.begin[spot]
    places = np.empty(attributes, np.int64)
    rare = np.empty(attributes, np.int64)
    for a in range(attributes):
        rare[a] = find_rare_place(orders, spot * attributes + a, axes.other[a])
        places[a] = raw[a]
        if orders.shift[spot * attributes + a] >= 0:
            places[a] = np.count_nonzero(covered.inside[base + lines[a] : base + lines[a] + raw[a]])
    layout = lay_out(places, rare, axes.kind)
    for index in range(len(layout.active)):
        a = layout.active[index]
        pair, to = spot * attributes + a, layout.offset[a]
        in_bins = orders.shift[pair] >= 0
        for place in range(raw[a]):
            line = base + lines[a] + place
            amount = covered.inside[line] if in_bins else table[orders.begin[pair] + place]
            if amount == 0:
                continue
            amounts[to] = amount
            if with_extents:
                _copy_extent(layout, covered, line, at_place, to)
            to += 1
    return layout


@kernel
def _copy_extent(layout, covered, line, extents, to):
    """Copy what a place covers of the active attributes."""
    for index in range(len(layout.active)):
        b = layout.active[index]
        extents.low[to, b], extents.high[to, b] = covered.low[line, b], covered.high[line, b]
        for word in range(b * WORDS, b * WORDS + layout.words[b]):
            extents.bits[to, word] = covered.bits[line, word]


@kernel
def covered_losses(spots, orders, low, high, axes):
    """Return the loss per record of each attribute in each cluster, not weighted, from what the cluster covers.

    That of cluster c stands at ``spots[c]`` of the orders.
    """
    attributes = len(axes.kind)
    found = np.zeros(low.shape, np.float64)
    for cluster in range(len(low)):
        for a in range(len(axes.kind)):
            if axes.kind[a] != SET:
                found[cluster, a] = range_loss(axes, a, np.int64(low[cluster, a]), np.int64(high[cluster, a]))
                continue
            pair = spots[cluster] * attributes + a
            distinct = orders.begin[pair + 1] - orders.begin[pair]
            several = find_rare_place(orders, pair, axes.other[a]) >= 0
            found[cluster, a] = set_loss(axes, a, distinct + (axes.more[a] if several else 0.0), 1.0)
    return found


@kernel
def tally_forks(shard, forks, owner, clusters, codes, begin, counts):
    """Count the values of one column in the children that forks of clusters would make: fork f is one of ``owner[f]``.

    ``counts[begin[f] + child, code]`` is the number of records.
    """
    order, first, last = clusters.order, clusters.first, clusters.last
    side = np.empty(len(order), np.int32)
    for fork in range(len(owner)):
        low, high = first[owner[fork]], last[owner[fork]]
        if high > low:
            _find_children(shard, forks, fork, order, low, high, side)
        for index in range(low, high):
            counts[begin[fork] + side[index], codes[order[index]]] += 1


@kernel
def mark_forks(shard, forks, owner, clusters, codes, begin, bits):
    """Say which values of one column there are in the children of forks: a bit each, the first is the highest one."""
    order, first, last = clusters.order, clusters.first, clusters.last
    side = np.empty(len(order), np.int32)
    for fork in range(len(owner)):
        low, high = first[owner[fork]], last[owner[fork]]
        if high > low:
            _find_children(shard, forks, fork, order, low, high, side)
        for index in range(low, high):
            code = np.int64(codes[order[index]])
            bits[begin[fork] + side[index], code >> 3] |= np.uint8(128) >> np.uint8(code & 7)


@kernel
def count_nodes(shard, column, maps, clusters, stamp, counts):
    """Count the records that hold each node of an item-set column; the items of clusters are mapped to nodes.

    The nodes of all clusters are numbered through. A record counts once for a node. ``stamp`` is 0 before.
    """
    items, offsets, lookup = shard.items, shard.offsets[column], shard.lookup
    begin, code, number = maps.begin, maps.code, maps.number
    order, first, last = clusters.order, clusters.first, clusters.last
    for cluster in range(len(first)):
        for index in range(begin[cluster], begin[cluster + 1]):
            lookup[code[index]] = number[index]
        for index in range(first[cluster], last[cluster]):
            row = order[index]
            for where in range(offsets[row], offsets[row + 1]):
                to = lookup[items[where]]
                if to != NOWHERE and stamp[to] != row + 1:
                    stamp[to] = row + 1
                    counts[to] += 1
        for index in range(begin[cluster], begin[cluster + 1]):
            lookup[code[index]] = NOWHERE


@kernel
def choose_items(shard, column, maps, clusters, disclosed, chosen):
    """Let each record choose the item of the lowest rank; count the records, and add up their gains in whole units.

    The items of clusters are mapped to ranks, which are numbered through. ``chosen.hidden`` becomes the share of items
    that is hidden, of all records of a cluster, where so much is ``disclosed``.
    """
    items, offsets, lookup = shard.items, shard.offsets[column], shard.lookup
    begin, code, number = maps.begin, maps.code, maps.number
    order, first, last = clusters.order, clusters.first, clusters.last
    records, gain, hidden = chosen.records, chosen.gain, chosen.hidden
    for cluster in range(len(first)):
        for index in range(begin[cluster], begin[cluster + 1]):
            lookup[code[index]] = number[index]
        for index in range(first[cluster], last[cluster]):
            row = order[index]
            had = offsets[row + 1] - offsets[row]
            best = np.int64(NOWHERE)
            for where in range(offsets[row], offsets[row + 1]):
                best = min(best, np.int64(lookup[items[where]]))
            if best != NOWHERE:
                records[best] += 1
                gain[best] += PORTION // had
            if had > 0:
                hidden[cluster] += np.int64(portions_hidden(disclosed[cluster], had))
        for index in range(begin[cluster], begin[cluster + 1]):
            lookup[code[index]] = NOWHERE
