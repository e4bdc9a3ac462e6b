"""Moving records between clusters while that loses less, and the requirements of both hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.cover_losses import (
    begin_cover,
    cover_loss,
    grow_cover,
    loss_with,
    loss_without,
    part_loss,
    second_values,
)
from sudare.kernels.clustering.item_limits import may_come, may_go
from sudare.kernels.clustering.promise_gaps import gap_with
from sudare.kernels.compiled import kernel

LOOKED_AT = 8
"""Records of a neighbouring atom whose clusters are tried."""
WORTH = 1e-9
"""A move has to gain more than this, so that rounding does not move records to and fro."""


class Members(NamedTuple):
    """The cluster of each record, and the records of each cluster as a chain: ``first``, then ``after``."""

    of_row: NDArray[np.int64]
    first: NDArray[np.int64]
    after: NDArray[np.int64]
    before: NDArray[np.int64]


class Around(NamedTuple):
    """Where to look for clusters: the atom of each record, the atoms around each, and the records by atom.

    Those of atom x stand in ``rows`` from ``begin[x]``.
    """

    atom_of: NDArray[np.int64]
    near: NDArray[np.int64]
    begin: NDArray[np.int64]
    rows: NDArray[np.int64]


class Shapes(NamedTuple):
    """The covers of clusters, what a record of each loses, their sizes, and their records by sensitive value.

    ``changed`` are those that have other records than when they were last looked at as a whole.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]
    loss: NDArray[np.float64]
    size: NDArray[np.int64]
    counts: NDArray[np.int32]
    distinct: NDArray[np.int64]
    changed: NDArray[np.bool_]


@kernel
def chain(cluster, row, members):
    """Put a record into the chain of a cluster."""
    first = members.first[cluster]
    members.after[row], members.before[row] = first, -1
    if first >= 0:
        members.before[first] = row
    members.first[cluster] = row
    members.of_row[row] = cluster


@kernel
def unchain(cluster, row, members):
    """Take a record out of the chain of a cluster."""
    before, after = members.before[row], members.after[row]
    if before >= 0:
        members.after[before] = after
    else:
        members.first[cluster] = after
    if after >= 0:
        members.before[after] = before


@kernel
def listed_in(cluster, members, result):
    """List the records of a cluster; return how many they are."""
    count, row = 0, members.first[cluster]
    while row >= 0:
        result[count] = row
        count += 1
        row = members.after[row]
    return count


@kernel
def shape(codes, values, space, members, shapes):
    """Fill in the chains and the shapes of clusters, from the cluster of each record."""
    listed, spare = np.empty(len(values), np.int64), np.zeros((5, codes.shape[1]), np.int64)
    for row in range(len(values) - 1, -1, -1):
        cluster = members.of_row[row]
        chain(cluster, row, members)
        shapes.size[cluster] += 1
        shapes.distinct[cluster] += shapes.counts[cluster, values[row]] == 0
        shapes.counts[cluster, values[row]] += 1
    for cluster in range(len(members.first)):
        count = listed_in(cluster, members, listed)
        if count:
            second_values(
                codes, listed, count, space, shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster], spare
            )
            shapes.loss[cluster] = cover_loss(space, shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster])


@kernel
def put(row, cluster, codes, values, space, shapes):
    """Let the shape of a cluster hold one record more."""
    low, high, bits = shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster]
    if shapes.size[cluster] == 0:
        begin_cover(codes, row, space, low, high, bits)
    else:
        grow_cover(codes, row, space, low, high, bits)
    shapes.loss[cluster] = cover_loss(space, low, high, bits)
    shapes.size[cluster] += 1
    shapes.distinct[cluster] += shapes.counts[cluster, values[row]] == 0
    shapes.counts[cluster, values[row]] += 1
    shapes.changed[cluster] = True


@kernel
def nearby(row, around, members, seen, found, count):
    """Add the clusters around a record to those found; ``seen`` marks them with the number that is its last entry."""
    atom, visit = around.atom_of[row], seen[len(seen) - 1]
    for turn in range(-1, around.near.shape[1]):
        other = atom if turn < 0 else around.near[atom, turn]
        if other < 0:
            break
        first = around.begin[other]
        for place in range(first, min(around.begin[other + 1], first + LOOKED_AT)):
            to = members.of_row[around.rows[place]]
            if seen[to] != visit:
                seen[to] = visit
                found[count] = to
                count += 1
    return count


@kernel
def may_leave(cluster, value, needs, promise, shapes):
    """Return whether a cluster that has records enough keeps what it promises without a record of a kind."""
    counts = shapes.counts[cluster]
    if counts[value] == 1 and shapes.distinct[cluster] <= needs.diverse:
        return False
    return len(promise.kind) == 0 or gap_with(counts, shapes.size[cluster], value, -1, promise) == 0.0


@kernel
def best_target(row, cluster, codes, values, space, around, promise, members, shapes, limit, seen, found):
    """Return the cluster near a record, not its own, that loses least more by it, and how much; -1 above a limit.

    It has to keep its promises with the record.
    """
    seen[len(seen) - 1] += 1
    seen[cluster] = seen[len(seen) - 1]
    count = nearby(row, around, members, seen, found, 0)
    target, best = -1, limit
    for index in range(count):
        to = found[index]
        held = shapes.size[to]
        most = (best + held * shapes.loss[to]) / (held + 1)
        if shapes.loss[to] > most:
            continue
        grown = loss_with(codes, row, space, shapes.low[to], shapes.high[to], shapes.bits[to], most)
        more = (held + 1) * grown - held * shapes.loss[to]
        if more < best:
            if len(promise.kind) and gap_with(shapes.counts[to], held, values[row], 1, promise) > 0.0:
                continue
            if len(promise.items.l) and not may_come(row, to, held, members, promise.items):
                continue
            target, best = to, more
    return target, best


@kernel
def move_records(codes, values, space, around, needs, promise, members, shapes):
    """Move each record that may leave its cluster to the one nearby that loses least by it, if both together lose less.

    Returns how many were moved and what that gained, over all records.
    """
    clusters = len(members.first)
    spare = np.zeros((5, codes.shape[1]), np.int64)
    seen, found = np.zeros(clusters + 1, np.int64), np.empty(clusters, np.int64)
    listed = np.empty(len(values), np.int64)
    moved, gained = 0, 0.0
    for cluster in range(clusters):
        if shapes.size[cluster] <= needs.k or shapes.loss[cluster] == 0.0:
            continue
        low, high, bits = shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster]
        count = listed_in(cluster, members, listed)
        second_values(codes, listed, count, space, low, high, bits, spare)
        shapes.loss[cluster] = cover_loss(space, low, high, bits)
        index = 0
        while index < count and shapes.size[cluster] > needs.k:
            row = listed[index]
            index += 1
            value = values[row]
            if not may_leave(cluster, value, needs, promise, shapes):
                continue
            size = shapes.size[cluster]
            after = loss_without(codes, row, space, low, high, bits, spare)
            gain = size * shapes.loss[cluster] - (size - 1) * after
            target, best = best_target(
                row, cluster, codes, values, space, around, promise, members, shapes, gain - WORTH, seen, found
            )
            if target < 0 or (len(promise.items.l) and not may_go(row, cluster, size, members, promise.items)):
                continue
            unchain(cluster, row, members)
            chain(target, row, members)
            shapes.counts[cluster, value] -= 1
            shapes.distinct[cluster] -= shapes.counts[cluster, value] == 0
            shapes.size[cluster] -= 1
            shapes.changed[cluster] = True
            put(row, target, codes, values, space, shapes)
            moved += 1
            gained += gain - best
            count, index = count - 1, index - 1  # the last one takes its place in the list
            listed[index] = listed[count]
            second_values(codes, listed, count, space, low, high, bits, spare)
            shapes.loss[cluster] = cover_loss(space, low, high, bits)
    return moved, gained


@kernel
def joined_loss(one, other, space, shapes):
    """Return what a record loses where two clusters are one."""
    total = 0.0
    for a in range(shapes.low.shape[1]):
        total += part_loss(
            space, a, min(shapes.low[one, a], shapes.low[other, a]), max(shapes.high[one, a], shapes.high[other, a]),
            shapes.bits[one, a] | shapes.bits[other, a],
        )  # fmt: skip
    return total


@kernel
def find_partners(failing, space, around, members, shapes, into):
    """Let each failing cluster name the other one, among those around its records, that it widens least."""
    clusters = len(members.first)
    seen, found = np.zeros(clusters + 1, np.int64), np.empty(clusters, np.int64)
    for index in range(len(failing)):
        cluster = failing[index]
        seen[clusters] += 1
        seen[cluster] = seen[clusters]
        chosen, best, count = -1, np.inf, 0
        row = members.first[cluster]
        while row >= 0:
            count = nearby(row, around, members, seen, found, count)
            row = members.after[row]
        for place in range(count):
            to = found[place]
            size, held = shapes.size[cluster], shapes.size[to]
            more = (size + held) * joined_loss(cluster, to, space, shapes)
            more -= size * shapes.loss[cluster] + held * shapes.loss[to]
            if more < best:
                chosen, best = to, more
        into[cluster] = chosen if chosen >= 0 else (cluster + 1) % len(into)
