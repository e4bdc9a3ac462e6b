"""L-clustering step by step as published: quadratic, and at random."""

from __future__ import annotations

import numpy as np

from sudare.kernels.covers import begin_cover, cover_loss, grow_cover, loss_with, part_loss
from sudare.kernels.ordering import kernel


@kernel
def _joined_loss(space, low, high, bits, low2, high2, bits2):
    """Return what the smallest cover over two covers loses."""
    total = 0.0
    for a in range(len(low)):
        total += part_loss(space, a, min(low[a], low2[a]), max(high[a], high2[a]), bits[a] | bits2[a])
    return total


@kernel
def cluster_as_published(codes, values, space, k, diverse, draws, result):
    """Fill in the cluster of each record; returns how many clusters there are.

    ``draws`` are random words, one for each record. The distance of two is what both lose by being joined.
    """
    rows, attributes = codes.shape
    most = rows // max(k, diverse, 1) + 2
    low, high = np.zeros((most, attributes), np.int64), np.zeros((most, attributes), np.int64)
    bits, loss = np.zeros((most, attributes), np.uint64), np.zeros(most)
    left, after = np.arange(rows), np.full(rows, -1, np.int64)  # records left; chains of the records of clusters
    first, last = np.full(most, -1, np.int64), np.full(most, -1, np.int64)
    in_stock = np.zeros(values.max() + 1, np.int64)
    for row in range(rows):
        in_stock[values[row]] += 1
    held = np.zeros(len(in_stock), np.int64)
    remaining, count, drawn = rows, 0, 0
    while remaining >= k and np.count_nonzero(in_stock) >= diverse:
        place = np.int64(draws[drawn] % np.uint64(remaining))
        drawn += 1
        row = left[place]
        remaining -= 1
        left[place] = left[remaining]
        begin_cover(codes, row, space, low[count], high[count], bits[count])
        loss[count], first[count], last[count] = 0.0, row, row
        held[:] = 0
        held[values[row]] = 1
        in_stock[values[row]] -= 1
        size, different, joined_other = 1, 1, False
        while size < k or different < diverse:
            nearest, best = -1, np.inf
            for index in range(remaining):
                other = left[index]
                if different < diverse and held[values[other]] > 0:
                    continue
                joined = loss_with(codes, other, space, low[count], high[count], bits[count], np.inf)
                if 2 * joined - loss[count] < best:
                    nearest, best = index, 2 * joined - loss[count]
            partner = -1
            for cluster in range(count):
                joined = _joined_loss(
                    space, low[count], high[count], bits[count], low[cluster], high[cluster], bits[cluster]
                )
                if 2 * joined - loss[count] - loss[cluster] < best:
                    partner, best = cluster, 2 * joined - loss[count] - loss[cluster]
            if partner >= 0:  # which has enough for both
                for a in range(attributes):
                    low[partner, a] = min(low[count, a], low[partner, a])
                    high[partner, a] = max(high[count, a], high[partner, a])
                    bits[partner, a] |= bits[count, a]
                loss[partner] = cover_loss(space, low[partner], high[partner], bits[partner])
                after[last[partner]] = first[count]
                last[partner] = last[count]
                joined_other = True
                break
            if nearest < 0:
                break
            row = left[nearest]
            remaining -= 1
            left[nearest] = left[remaining]
            grow_cover(codes, row, space, low[count], high[count], bits[count])
            loss[count] = cover_loss(space, low[count], high[count], bits[count])
            after[last[count]] = row
            last[count] = row
            in_stock[values[row]] -= 1
            different += held[values[row]] == 0
            held[values[row]] += 1
            size += 1
        count += not joined_other
    for cluster in range(count):
        row = first[cluster]
        while row >= 0:
            result[row] = cluster
            row = after[row]
    for step in range(remaining):  # at random, to the nearest cluster each
        place = step + np.int64(draws[drawn] % np.uint64(remaining - step))
        drawn += 1
        left[step], left[place] = left[place], left[step]
        row = left[step]
        nearest, best = -1, np.inf
        for cluster in range(count):
            joined = loss_with(codes, row, space, low[cluster], high[cluster], bits[cluster], np.inf)
            if 2 * joined - loss[cluster] < best:
                nearest, best = cluster, 2 * joined - loss[cluster]
        result[row] = max(nearest, 0)
        if nearest >= 0:
            grow_cover(codes, row, space, low[nearest], high[nearest], bits[nearest])
            loss[nearest] = cover_loss(space, low[nearest], high[nearest], bits[nearest])
    return max(count, 1)
