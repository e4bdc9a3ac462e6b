"""Moving records between clusters while that loses less, and the requirements of both hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.covers import cover_loss, grow_cover, loss_with, loss_without, part_loss, second_values
from sudare.kernels.ordering import kernel

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


class Shapes(NamedTuple):
    """The covers of clusters, what a record of each loses, their sizes, and their records by sensitive value."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]
    loss: NDArray[np.float64]
    size: NDArray[np.int64]
    counts: NDArray[np.int32]
    distinct: NDArray[np.int64]


@kernel
def _link(cluster, row, members):
    first = members.first[cluster]
    members.after[row], members.before[row] = first, -1
    if first >= 0:
        members.before[first] = row
    members.first[cluster] = row
    members.of_row[row] = cluster


@kernel
def _unlink(cluster, row, members):
    before, after = members.before[row], members.after[row]
    if before >= 0:
        members.after[before] = after
    else:
        members.first[cluster] = after
    if after >= 0:
        members.before[after] = before


@kernel
def _list(cluster, members, result):
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
        _link(cluster, row, members)
        shapes.size[cluster] += 1
        shapes.distinct[cluster] += shapes.counts[cluster, values[row]] == 0
        shapes.counts[cluster, values[row]] += 1
    for cluster in range(len(members.first)):
        count = _list(cluster, members, listed)
        if count:
            second_values(
                codes, listed, count, space, shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster], spare
            )
            shapes.loss[cluster] = cover_loss(space, shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster])


@kernel
def move_records(codes, values, space, near, atom_of, begin, rows, k, diverse, members, shapes, listed):
    """Move each record that may leave its cluster to the one nearby that loses least by it, if both together lose less.

    ``rows`` lists the records by atom, those of atom x from ``begin[x]``; ``near`` are the atoms around each. Returns
    how many were moved and what that gained, over all records.
    """
    attributes = codes.shape[1]
    spare = np.zeros((5, attributes), np.int64)
    seen, visit = np.full(len(members.first), -1, np.int64), 0
    moved, gained = 0, 0.0
    for cluster in range(len(members.first)):
        if shapes.size[cluster] <= k or shapes.loss[cluster] == 0.0:
            continue
        low, high, bits = shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster]
        count = _list(cluster, members, listed)
        second_values(codes, listed, count, space, low, high, bits, spare)
        shapes.loss[cluster] = cover_loss(space, low, high, bits)
        index = 0
        while index < count and shapes.size[cluster] > k:
            row = listed[index]
            index += 1
            value = values[row]
            if shapes.counts[cluster, value] == 1 and shapes.distinct[cluster] <= diverse:
                continue
            size = shapes.size[cluster]
            after = loss_without(codes, row, space, low, high, bits, spare)
            gain = size * shapes.loss[cluster] - (size - 1) * after
            target, best = -1, gain - WORTH
            visit += 1
            seen[cluster] = visit
            atom = atom_of[row]
            for turn in range(-1, near.shape[1]):
                other = atom if turn < 0 else near[atom, turn]
                if other < 0:
                    break
                for place in range(begin[other], min(begin[other + 1], begin[other] + LOOKED_AT)):
                    to = members.of_row[rows[place]]
                    if seen[to] == visit:
                        continue
                    seen[to] = visit
                    held = shapes.size[to]
                    most = (best + held * shapes.loss[to]) / (held + 1)
                    if shapes.loss[to] > most:
                        continue
                    grown = loss_with(codes, row, space, shapes.low[to], shapes.high[to], shapes.bits[to], most)
                    more = (held + 1) * grown - held * shapes.loss[to]
                    if more < best:
                        target, best = to, more
            if target < 0:
                continue
            _unlink(cluster, row, members)
            _link(target, row, members)
            shapes.counts[cluster, value] -= 1
            shapes.distinct[cluster] -= shapes.counts[cluster, value] == 0
            shapes.distinct[target] += shapes.counts[target, value] == 0
            shapes.counts[target, value] += 1
            shapes.size[cluster] -= 1
            shapes.size[target] += 1
            grow_cover(codes, row, space, shapes.low[target], shapes.high[target], shapes.bits[target])
            shapes.loss[target] = cover_loss(space, shapes.low[target], shapes.high[target], shapes.bits[target])
            moved += 1
            gained += gain - best
            count = _list(cluster, members, listed)
            second_values(codes, listed, count, space, low, high, bits, spare)
            shapes.loss[cluster] = cover_loss(space, low, high, bits)
            index = 0
    return moved, gained


@kernel
def find_partners(failing, space, near, atom_of, begin, rows, members, shapes, into):
    """Let each failing cluster name the other one, among those around its records, that it widens least."""
    for index in range(len(failing)):
        cluster = failing[index]
        low, high, bits = shapes.low[cluster], shapes.high[cluster], shapes.bits[cluster]
        chosen, best = -1, np.inf
        row = members.first[cluster]
        while row >= 0:
            atom = atom_of[row]
            for turn in range(-1, near.shape[1]):
                other = atom if turn < 0 else near[atom, turn]
                if other < 0:
                    break
                for place in range(begin[other], min(begin[other + 1], begin[other] + LOOKED_AT)):
                    to = members.of_row[rows[place]]
                    if to == cluster:
                        continue
                    joined = 0.0
                    for a in range(len(low)):
                        joined += part_loss(
                            space, a, min(low[a], shapes.low[to, a]), max(high[a], shapes.high[to, a]),
                            bits[a] | shapes.bits[to, a],
                        )  # fmt: skip
                    size, held = shapes.size[cluster], shapes.size[to]
                    more = (size + held) * joined - size * shapes.loss[cluster] - held * shapes.loss[to]
                    if more < best:
                        chosen, best = to, more
            row = members.after[row]
        into[cluster] = chosen if chosen >= 0 else (cluster + 1) % len(into)
