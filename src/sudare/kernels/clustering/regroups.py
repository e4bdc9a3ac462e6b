"""Whole clusters changed at once: one is dissolved, or two neighbours are joined and parted anew.

Single moves stop where every record would have to wait for another one; these steps get further from there.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.clustering.cover_losses import begin_cover, cover_loss, grow_cover, loss_with
from sudare.kernels.clustering.item_limits import may_all_come, may_stand_alone
from sudare.kernels.clustering.moves import WORTH, best_target, chain, joined_loss, listed_in, nearby, put, unchain
from sudare.kernels.clustering.promise_gaps import gap
from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import sort_stable

LARGEST = 256
"""Records of clusters that are dissolved, or joined and parted anew, at most."""
PARTNERS = 4
"""Neighbours that each cluster is joined with in a pass, those first that lose least together."""


@kernel
def dissolve(codes, values, space, around, promise, members, shapes):
    """Give the records of a cluster that has changed to its neighbours, one by one, where that loses less in all.

    Returns how many clusters are gone, and what that gained.
    """
    attributes = codes.shape[1]
    clusters = len(members.first)
    seen, found = np.zeros(clusters + 1, np.int64), np.empty(clusters, np.int64)
    listed = np.empty(len(values), np.int64)
    low, high = np.zeros((LARGEST, attributes), np.int64), np.zeros((LARGEST, attributes), np.int64)
    bits, loss, went = np.zeros((LARGEST, attributes), np.uint64), np.zeros(LARGEST), np.zeros(LARGEST, np.int64)
    changed = np.zeros(LARGEST, np.bool_)
    gone, gained = 0, 0.0
    for cluster in range(clusters):
        size = shapes.size[cluster]
        if size == 0 or not shapes.changed[cluster] or size > LARGEST or shapes.loss[cluster] == 0.0:
            continue
        count = listed_in(cluster, members, listed)
        budget, done = size * shapes.loss[cluster] - WORTH, 0
        while done < count:
            row = listed[done]
            target, more = best_target(
                row, cluster, codes, values, space, around, promise, members, shapes, budget, seen, found
            )
            if target < 0:
                break
            low[done], high[done], bits[done] = shapes.low[target], shapes.high[target], shapes.bits[target]
            loss[done], went[done], changed[done] = shapes.loss[target], target, shapes.changed[target]
            put(row, target, codes, values, space, shapes)
            budget -= more
            done += 1
        if done == count and (
            not len(promise.items.l) or may_all_come(listed, went, count, shapes.size, members, promise.items)
        ):
            for index in range(count):
                unchain(cluster, listed[index], members)
                chain(went[index], listed[index], members)
            shapes.size[cluster], shapes.loss[cluster], shapes.distinct[cluster] = 0, 0.0, 0
            shapes.counts[cluster] = 0
            gone += 1
            gained += budget + WORTH
            continue
        for index in range(done - 1, -1, -1):
            target, value = went[index], values[listed[index]]
            shapes.low[target], shapes.high[target], shapes.bits[target] = low[index], high[index], bits[index]
            shapes.loss[target], shapes.changed[target] = loss[index], changed[index]
            shapes.size[target] -= 1
            shapes.counts[target, value] -= 1
            shapes.distinct[target] -= shapes.counts[target, value] == 0
    return gone, gained


@kernel
def _farthest(codes, start, pool, count, space, low, high, bits):
    """Return the place of the record that has least in common with one."""
    begin_cover(codes, start, space, low, high, bits)
    far, most = 0, -1.0
    for index in range(count):
        apart = loss_with(codes, pool[index], space, low, high, bits, np.inf)
        if apart > most:
            far, most = index, apart
    return far


@kernel
def _best_cut(codes, values, pool, order, count, space, needs, promise, tally, keep, low, high, bits, limit):
    """Return where a list of records is best cut in two that have what they need and keep promises, and their loss.

    None (-1) if that is not below the limit.
    """
    k, diverse, rest = needs.k, needs.diverse, tally[1]
    tally[:] = 0
    tally = tally[0]
    different = 0
    for place in range(count):  # from the end: what the records from this one on lose
        index = count - 1 - place
        row = pool[order[index]]
        if place == 0:
            begin_cover(codes, row, space, low, high, bits)
        else:
            grow_cover(codes, row, space, low, high, bits)
        different += tally[values[row]] == 0
        tally[values[row]] += 1
        keep[index] = np.inf
        if place + 1 >= k and different >= diverse:
            keep[index] = (place + 1) * cover_loss(space, low, high, bits)
    rest[:] = tally
    tally[:] = 0
    different, chosen, best = 0, -1, limit
    for index in range(count - k):
        row = pool[order[index]]
        if index == 0:
            begin_cover(codes, row, space, low, high, bits)
        else:
            grow_cover(codes, row, space, low, high, bits)
        different += tally[values[row]] == 0
        tally[values[row]] += 1
        rest[values[row]] -= 1
        if index + 1 >= k and different >= diverse and keep[index + 1] < best:
            total = (index + 1) * cover_loss(space, low, high, bits) + keep[index + 1]
            if total < best:
                if len(promise.kind) and (
                    gap(tally, index + 1, promise) > 0.0 or gap(rest, count - index - 1, promise) > 0.0
                ):
                    continue
                if len(promise.items.l) and not (
                    may_stand_alone(pool, order, 0, index + 1, promise.items)
                    and may_stand_alone(pool, order, index + 1, count, promise.items)
                ):
                    continue
                chosen, best = index + 1, total
    return chosen, best


@kernel
def _settle(cluster, pool, order, first, last, codes, values, space, members, shapes):
    """Let a cluster, which holds nothing, hold some records of the pool."""
    shapes.counts[cluster] = 0
    shapes.size[cluster], shapes.distinct[cluster] = 0, 0
    for index in range(first, last):
        row = pool[order[index]]
        chain(cluster, row, members)
        put(row, cluster, codes, values, space, shapes)


@kernel
def part_anew(codes, values, space, around, needs, promise, members, shapes):
    """Join each cluster that has changed with neighbours, one at a time, and part the two anew where that loses less.

    The records of both are ordered from one end to the other: by how much nearer they are to one of two that are far
    apart. Then the best place for a cut is found. A cluster that is large enough is parted by itself. A cluster that
    loses nothing is no neighbour. Returns how often that was done, and what it gained.
    """
    attributes, clusters = codes.shape[1], len(members.first)
    seen, found = np.zeros(clusters + 1, np.int64), np.empty(clusters, np.int64)
    listed = np.empty(len(values), np.int64)
    free = np.empty(clusters, np.int64)
    free_count = 0
    for cluster in range(clusters):
        if shapes.size[cluster] == 0:
            free[free_count] = cluster
            free_count += 1
    pool, order, spare = np.empty(LARGEST, np.int64), np.empty(LARGEST, np.int64), np.empty(LARGEST, np.int64)
    keys, keep = np.empty(LARGEST), np.empty(LARGEST)
    partner, together = np.empty(PARTNERS + 1, np.int64), np.empty(PARTNERS + 1)
    tally, k = np.zeros((2, shapes.counts.shape[1]), np.int64), needs.k
    low, high = np.zeros(attributes, np.int64), np.zeros(attributes, np.int64)
    bits, near_one = np.zeros(attributes, np.uint64), np.empty(LARGEST)
    done, gained = 0, 0.0
    for cluster in range(clusters):
        size = shapes.size[cluster]
        if size == 0 or not shapes.changed[cluster] or shapes.loss[cluster] == 0.0 or size >= LARGEST:
            continue
        shapes.changed[cluster] = False
        count = listed_in(cluster, members, listed)
        # neighbours by what both would lose together
        partners = 0
        seen[clusters] += 1
        seen[cluster] = seen[clusters]
        others = 0
        for index in range(count):
            others = nearby(listed[index], around, members, seen, found, others)
        for index in range(others):
            to = found[index]
            held = shapes.size[to]
            if held + size > LARGEST or held + size < 2 * k:
                continue
            more = (
                (size + held) * joined_loss(cluster, to, space, shapes)
                - size * shapes.loss[cluster]
                - held * shapes.loss[to]
            )
            place = partners
            while place > 0 and together[place - 1] > more:
                partner[place], together[place] = partner[place - 1], together[place - 1]
                place -= 1
            if place < PARTNERS:
                partner[place], together[place] = to, more
                partners = min(partners + 1, PARTNERS)
        for turn in range(-1, partners):
            to = -1 if turn < 0 else partner[turn]
            if turn < 0 and (shapes.size[cluster] < 2 * k or free_count == 0):
                continue
            count = listed_in(cluster, members, listed)
            for index in range(count):
                pool[index] = listed[index]
            before = count * shapes.loss[cluster]
            if to >= 0:
                more_rows = listed_in(to, members, listed)
                if count + more_rows > LARGEST:
                    continue
                for index in range(more_rows):
                    pool[count + index] = listed[index]
                count += more_rows
                before += more_rows * shapes.loss[to]
            one = _farthest(codes, pool[0], pool, count, space, low, high, bits)
            other = _farthest(codes, pool[one], pool, count, space, low, high, bits)
            begin_cover(codes, pool[one], space, low, high, bits)
            for index in range(count):
                near_one[index] = loss_with(codes, pool[index], space, low, high, bits, np.inf)
            begin_cover(codes, pool[other], space, low, high, bits)
            for index in range(count):
                keys[index] = near_one[index] - loss_with(codes, pool[index], space, low, high, bits, np.inf)
                order[index] = index
            sort_stable(keys, order, spare, count)
            cut, best = _best_cut(
                codes, values, pool, order, count, space, needs, promise, tally, keep, low, high, bits, before - WORTH
            )
            if cut < 0:
                continue
            for index in range(count):
                unchain(members.of_row[pool[index]], pool[index], members)
            if to < 0:
                free_count -= 1
                to = free[free_count]
            _settle(cluster, pool, order, 0, cut, codes, values, space, members, shapes)
            _settle(to, pool, order, cut, count, codes, values, space, members, shapes)
            done += 1
            gained += before - best
            if shapes.loss[cluster] == 0.0:
                break
    return done, gained
