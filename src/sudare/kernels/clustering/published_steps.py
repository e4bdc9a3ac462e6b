"""L-clustering step by step as published, at random.

Of equally near records the first in the order of their lines is taken, of equally near clusters the oldest. Lines that
are neighbours and agree in everything are one *run*: a tree over runs finds the nearest record, so that most of the
others need not be looked at. Clusters are compared one by one, each only until it is seen to be too far.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.clustering.cover_losses import BIT, begin_cover, grow_cover, loss_with, part_loss
from sudare.kernels.clustering.neighbour_tree import DEEP, FAR, Tree, at_least, build, tell, tell_all
from sudare.kernels.topdown.value_orders import kernel, popcount

SLACK = 1e-9
"""What sums of parts may be off by; a distance that is not seen to be too far is found exactly."""


@kernel
def _runs(codes, values):
    """Return the run of each line, and the first line of each run."""
    rows, attributes = codes.shape
    run_of, begin = np.zeros(rows, np.int64), np.zeros(rows + 1, np.int64)
    count = 1
    for row in range(1, rows):
        same = values[row] == values[row - 1]
        for a in range(attributes):
            same = same and codes[row, a] == codes[row - 1, a]
        if not same:
            begin[count] = row
            count += 1
        run_of[row] = count - 1
    begin[count] = rows
    return run_of, begin[: count + 1]


@kernel
def _tree_over(codes, space):
    """Return a tree over some lines, the number of its nodes, and the first line of each node."""
    lines, attributes = codes.shape
    room = 2 * lines
    tree = Tree(
        np.arange(lines),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.full(room, -1, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(lines, np.int64),
        np.zeros((room, attributes), np.int64),
        np.zeros((room, attributes), np.int64),
        np.zeros((room, attributes), np.uint64),
    )
    nodes = build(codes, space, tree)
    least = np.full(room, lines, np.int64)
    for node in range(nodes - 1, -1, -1):
        for index in range(tree.start[node], tree.end[node] if tree.left[node] < 0 else tree.start[node]):
            least[node] = min(least[node], tree.order[index])
        if tree.left[node] >= 0:
            least[node] = min(least[tree.left[node]], least[tree.left[node] + 1])
    return tree, nodes, least


@kernel
def _nearest_run(codes, space, tree, least, gives, given, low, high, bits, wanted):
    """Return the first of the runs that widen a cover least, among those with a wanted value, and its loss then."""
    found, best = np.int64(-1), FAR
    waiting, bounds, count = np.zeros(DEEP, np.int64), np.zeros(DEEP), 1
    start, end, left_of, order = tree.start, tree.end, tree.left, tree.order
    while count > 0:
        count -= 1
        node, bound = waiting[count], bounds[count]
        if bound > best or (bound == best and least[node] > found) or not given[node] & wanted:
            continue
        left = left_of[node]
        if left < 0:
            for index in range(start[node], end[node]):
                run = order[index]
                if gives[run] & wanted:
                    loss = loss_with(codes, run, space, low, high, bits, best)
                    if loss < best or (loss == best and run < found):
                        found, best = run, loss
            continue
        one = at_least(space, tree, left, low, high, bits, best) if given[left] & wanted else FAR
        other = at_least(space, tree, left + 1, low, high, bits, best) if given[left + 1] & wanted else FAR
        # the nearer one is looked at first: what is put on top
        first_is_nearer = one < other or (one == other and least[left] < least[left + 1])
        for turn in range(2):
            nearer = first_is_nearer == (turn == 1)
            bound = one if nearer else other
            if bound <= best and bound < FAR:
                waiting[count], bounds[count] = left if nearer else left + 1, bound
                count += 1
    return found, best


@kernel
def _measure(space, low, high, bits, parts):
    """Find what each attribute of a cover loses; returns the sum."""
    total = 0.0
    for a in range(len(low)):
        parts[a] = part_loss(space, a, low[a], high[a], bits[a])
        total += parts[a]
    return total


@kernel
def _nearest_cluster(space, low, high, bits, parts, loss, own, own_loss, count, best):
    """Return the cluster nearest to the one in line ``own`` if it is nearer than ``best``, and how near.

    The distance of two is what both lose by being joined; what ``own`` loses counts as ``own_loss``.
    """
    partner, attributes = np.int64(-1), low.shape[1]
    for cluster in range(count):
        if best <= 0:
            break
        apart, joined = 0.0, 0.0
        for a in range(attributes):
            least, most = min(low[own, a], low[cluster, a]), max(high[own, a], high[cluster, a])
            part = part_loss(space, a, least, most, bits[own, a] | bits[cluster, a])
            joined += part
            apart += 2 * part - parts[own, a] - parts[cluster, a]
            if apart > best + SLACK:
                break
        else:
            far = 2 * joined - own_loss - loss[cluster]
            if far < best:
                partner, best = cluster, far
    return partner, best


@kernel
def cluster_as_published(codes, values, space, k, diverse, draws, result):
    """Fill in the cluster of each record; returns how many clusters there are.

    ``draws`` are random words, one for each record. The distance of two is what both lose by being joined. Values are
    below 64; records have to be in an order that does not depend on the one they came in.
    """
    rows, attributes = codes.shape
    most = rows // max(k, diverse, 1) + 2
    low, high = np.zeros((most, attributes), np.int64), np.zeros((most, attributes), np.int64)
    bits, parts, loss = np.zeros((most, attributes), np.uint64), np.zeros((most, attributes)), np.zeros(most)
    first, last, after = np.full(most, -1, np.int64), np.full(most, -1, np.int64), np.full(rows, -1, np.int64)
    run_of, begin = _runs(codes, values)
    runs = len(begin) - 1
    begin_of, end_of = begin[:-1].copy(), begin[1:]  # the first record of a run that may be left
    of_run, stock = np.empty((runs, attributes), codes.dtype), np.zeros(runs, np.int64)
    gives = np.zeros(runs, np.uint64)
    for run in range(runs):
        stock[run] = end_of[run] - begin_of[run]
        gives[run] = BIT << np.uint64(values[begin_of[run]])
        for a in range(attributes):
            of_run[run, a] = codes[begin_of[run], a]
    tree, nodes, least = _tree_over(of_run, space)
    given = np.zeros(nodes, np.uint64)
    tell_all(nodes, tree, gives, given)
    left, place_of = np.arange(rows), np.arange(rows)  # the records left, and where each of them stands there
    remaining, count, drawn = rows, np.int64(0), 0
    while remaining >= k and popcount(given[0]) >= diverse:
        row = left[np.int64(draws[drawn] % np.uint64(remaining))]
        drawn += 1
        begin_cover(codes, row, space, low[count], high[count], bits[count])
        parts[count], loss[count], first[count], last[count] = 0.0, 0.0, row, row
        size, held = 0, np.uint64(0)
        while True:
            size += 1
            held |= BIT << np.uint64(values[row])
            remaining -= 1
            left[place_of[row]] = left[remaining]
            place_of[left[remaining]] = place_of[row]
            place_of[row] = -1
            run = run_of[row]
            stock[run] -= 1
            if stock[run] == 0:
                gives[run] = np.uint64(0)
                tell(run, tree, gives, given)
            different = popcount(held)
            if size >= k and different >= diverse:
                count += 1
                break
            wanted = ~held if different < diverse else ~np.uint64(0)
            run, joined = _nearest_run(
                of_run, space, tree, least, gives, given, low[count], high[count], bits[count], wanted
            )
            best = 2 * joined - loss[count] if run >= 0 else np.inf
            partner, best = _nearest_cluster(space, low, high, bits, parts, loss, count, loss[count], count, best)
            if partner >= 0:  # which has enough for both
                for a in range(attributes):
                    low[partner, a] = min(low[count, a], low[partner, a])
                    high[partner, a] = max(high[count, a], high[partner, a])
                    bits[partner, a] |= bits[count, a]
                loss[partner] = _measure(space, low[partner], high[partner], bits[partner], parts[partner])
                after[last[partner]] = first[count]
                last[partner] = last[count]
                break
            if run < 0:
                count += 1
                break
            while place_of[begin_of[run]] < 0:
                begin_of[run] += 1
            row = begin_of[run]
            grow_cover(codes, row, space, low[count], high[count], bits[count])
            loss[count] = _measure(space, low[count], high[count], bits[count], parts[count])
            after[last[count]] = row
            last[count] = row
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
        begin_cover(codes, row, space, low[count], high[count], bits[count])  # in a line that is free
        parts[count] = 0.0
        nearest, _ = _nearest_cluster(space, low, high, bits, parts, loss, count, 0.0, count, np.inf)
        result[row] = max(nearest, 0)
        if nearest >= 0:
            grow_cover(codes, row, space, low[nearest], high[nearest], bits[nearest])
            loss[nearest] = _measure(space, low[nearest], high[nearest], bits[nearest], parts[nearest])
    return max(count, 1)
