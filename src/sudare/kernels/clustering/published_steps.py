"""L-clustering step by step as published, at random.

Of equally near records the first in the order of their lines is taken, of equally near clusters the oldest. Lines that
are neighbours and agree in everything are one *run*: a tree over runs finds the nearest record, so that most of the
others need not be looked at. Clusters are compared one by one, each only until it is seen to be too far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.cover_losses import (
    BIT,
    Cover,
    Space,
    begin_cover,
    grow_cover,
    loss_with,
    part_loss,
    set_loss,
    span_loss,
)
from sudare.kernels.clustering.neighbour_tree import (
    FAR,
    Offers,
    Tree,
    at_least,
    build,
    empty_branches,
    update_offer,
    update_offers,
)
from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import SET, popcount

SLACK = 1e-9
"""What sums of parts may be off by; a distance that is not seen to be too far is found exactly."""


class Runs(NamedTuple):
    """The run of each record, the first record of each run that may be left, its codes, and how many are left."""

    of_row: NDArray[np.int64]
    begin: NDArray[np.int64]
    codes: NDArray[np.uint32]
    stock: NDArray[np.int64]


class Grown(NamedTuple):
    """The clusters: covers, what each attribute and all lose, and chains of records: ``first``, ``after``, ``last``."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]
    parts: NDArray[np.float64]
    loss: NDArray[np.float64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    after: NDArray[np.int64]


class Remaining(NamedTuple):
    """The records that are in no cluster, and where each of them stands there; -1 for others."""

    rows: NDArray[np.int64]
    place: NDArray[np.int64]


class Steps(NamedTuple):
    """Records being clustered; ``least`` is the first run of each node of the tree."""

    codes: NDArray[np.uint32]
    values: NDArray[np.int64]
    space: Space
    runs: Runs
    tree: Tree
    least: NDArray[np.int64]
    offers: Offers
    clusters: Grown
    left: Remaining


@kernel
def _number_runs(codes, values):
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
def _find_runs(codes, values):
    """Return the runs of the records, and the sensitive value that each of them can give, as the bit of a word."""
    of_row, begin = _number_runs(codes, values)
    count = len(begin) - 1
    stock, gives = np.zeros(count, np.int64), np.zeros(count, np.uint64)
    of_run = np.empty((count, codes.shape[1]), codes.dtype)
    for run in range(count):
        stock[run] = begin[run + 1] - begin[run]
        gives[run] = BIT << np.uint64(values[begin[run]])
        for a in range(codes.shape[1]):
            of_run[run, a] = codes[begin[run], a]
    return Runs(of_row, begin[:-1].copy(), of_run, stock), gives


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
def _nearest_run(codes, space, tree, least, offers, cover, wanted):
    """Return the first of the runs that widen a cover least, among those with a wanted value, and its loss then."""
    gives, given = offers.of_atom, offers.of_node
    low, high, bits = cover.low, cover.high, cover.bits
    found, best = np.int64(-1), FAR
    waiting, bounds = empty_branches()
    start, end, left_of, order, count = tree.start, tree.end, tree.left, tree.order, 1
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
def _measure(cluster, space, clusters):
    """Find what each attribute of a cluster, and all together, lose."""
    total = 0.0
    for a in range(clusters.low.shape[1]):
        part = part_loss(space, a, clusters.low[cluster, a], clusters.high[cluster, a], clusters.bits[cluster, a])
        clusters.parts[cluster, a] = part
        total += part
    clusters.loss[cluster] = total


@kernel
def _nearest_cluster(space, clusters, own, own_loss, best):
    """Return the cluster before line ``own`` nearest to that one if it is nearer than ``best``, and how near.

    The distance of two is what both lose by being joined; what ``own`` loses counts as ``own_loss``.
    """
    low, high, bits, parts, loss = clusters.low, clusters.high, clusters.bits, clusters.parts, clusters.loss
    partner, attributes = np.int64(-1), low.shape[1]
    for cluster in range(own):
        if best <= 0:
            break
        apart, joined = 0.0, 0.0
        for a in range(attributes):
            if space.axes.kind[a] == SET:
                part = set_loss(space, a, bits[own, a] | bits[cluster, a])
            else:
                least, most = min(low[own, a], low[cluster, a]), max(high[own, a], high[cluster, a])
                part = span_loss(space, a, least, most)
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
def _begin(row, cluster, steps):
    """Let a line of clusters hold one record alone."""
    clusters = steps.clusters
    low, high, bits = clusters.low[cluster], clusters.high[cluster], clusters.bits[cluster]
    begin_cover(steps.codes, row, steps.space, low, high, bits)
    clusters.parts[cluster], clusters.loss[cluster] = 0.0, 0.0


@kernel
def _widen(row, cluster, steps):
    """Let the cover of a cluster hold one record more."""
    clusters = steps.clusters
    low, high, bits = clusters.low[cluster], clusters.high[cluster], clusters.bits[cluster]
    grow_cover(steps.codes, row, steps.space, low, high, bits)
    _measure(cluster, steps.space, clusters)


@kernel
def _merge(cluster, partner, steps):
    """Let another cluster have all records of one."""
    clusters = steps.clusters
    for a in range(clusters.low.shape[1]):
        clusters.low[partner, a] = min(clusters.low[cluster, a], clusters.low[partner, a])
        clusters.high[partner, a] = max(clusters.high[cluster, a], clusters.high[partner, a])
        clusters.bits[partner, a] |= clusters.bits[cluster, a]
    _measure(partner, steps.space, clusters)
    clusters.after[clusters.last[partner]] = clusters.first[cluster]
    clusters.last[partner] = clusters.last[cluster]


@kernel
def _take(row, remaining, steps):
    """Take a record out of those that are left, which are so many after that."""
    left, run = steps.left, steps.runs.of_row[row]
    left.rows[left.place[row]] = left.rows[remaining]
    left.place[left.rows[remaining]] = left.place[row]
    left.place[row] = -1
    steps.runs.stock[run] -= 1
    if steps.runs.stock[run] == 0:
        steps.offers.of_atom[run] = np.uint64(0)
        update_offer(run, steps.tree, steps.offers)


@kernel
def _grow(row, remaining, count, k, diverse, steps):
    """Grow a cluster from a record until it has enough, is joined to another, or nothing is left that it can take.

    Returns how many records remain and how many clusters there are.
    """
    clusters, runs, space = steps.clusters, steps.runs, steps.space
    _begin(row, count, steps)
    clusters.first[count], clusters.last[count] = row, row
    size, held = 0, np.uint64(0)
    while True:
        size += 1
        held |= BIT << np.uint64(steps.values[row])
        remaining -= 1
        _take(row, remaining, steps)
        different = popcount(held)
        if size >= k and different >= diverse:
            return remaining, count + 1
        wanted = ~held if different < diverse else ~np.uint64(0)
        cover = Cover(clusters.low[count], clusters.high[count], clusters.bits[count])
        run, joined = _nearest_run(runs.codes, space, steps.tree, steps.least, steps.offers, cover, wanted)
        best = 2 * joined - clusters.loss[count] if run >= 0 else np.inf
        partner, best = _nearest_cluster(space, clusters, count, clusters.loss[count], best)
        if partner >= 0:  # which has enough for both
            _merge(count, partner, steps)
            return remaining, count
        if run < 0:
            return remaining, count + 1
        while steps.left.place[runs.begin[run]] < 0:
            runs.begin[run] += 1
        row = runs.begin[run]
        _widen(row, count, steps)
        clusters.after[clusters.last[count]] = row
        clusters.last[count] = row


@kernel
def _empty_clusters(most, rows, attributes):
    """Return room for so many clusters of so many records."""
    low, high = np.zeros((most, attributes), np.int64), np.zeros((most, attributes), np.int64)
    bits, parts, loss = np.zeros((most, attributes), np.uint64), np.zeros((most, attributes)), np.zeros(most)
    first, last, after = np.full(most, -1, np.int64), np.full(most, -1, np.int64), np.full(rows, -1, np.int64)
    return Grown(low, high, bits, parts, loss, first, last, after)


@kernel
def cluster_as_published(codes, values, space, k, diverse, draws, result):
    """Fill in the cluster of each record; returns how many clusters there are.

    ``draws`` are random words, one for each record. The distance of two is what both lose by being joined. Values are
    below 64; records have to be in an order that does not depend on the one they came in.
    """
    rows, attributes = codes.shape
    clusters = _empty_clusters(rows // max(k, diverse, 1) + 2, rows, attributes)
    runs, gives = _find_runs(codes, values)
    tree, nodes, least = _tree_over(runs.codes, space)
    offers = Offers(gives, np.zeros(nodes, np.uint64))
    update_offers(nodes, tree, offers)
    left = Remaining(np.arange(rows), np.arange(rows))
    steps = Steps(codes, values, space, runs, tree, least, offers, clusters, left)
    remaining, count, drawn = rows, np.int64(0), 0
    while remaining >= k and popcount(offers.of_node[0]) >= diverse:
        row = left.rows[np.int64(draws[drawn] % np.uint64(remaining))]
        drawn += 1
        remaining, count = _grow(row, remaining, count, k, diverse, steps)
    for cluster in range(count):
        row = clusters.first[cluster]
        while row >= 0:
            result[row] = cluster
            row = clusters.after[row]
    for step in range(remaining):  # at random, to the nearest cluster each
        place = step + np.int64(draws[drawn] % np.uint64(remaining - step))
        drawn += 1
        left.rows[step], left.rows[place] = left.rows[place], left.rows[step]
        row = left.rows[step]
        _begin(row, count, steps)  # in a line that is free
        nearest, _ = _nearest_cluster(space, clusters, count, 0.0, np.inf)
        result[row] = max(nearest, 0)
        if nearest >= 0:
            _widen(row, nearest, steps)
    return max(count, 1)
