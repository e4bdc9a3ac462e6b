"""Clusters grown from the nearest records, the cheapest clusters first.

Atoms are lines of ``codes``; ``have[x, v]`` are the records of atom x with sensitive value v that are in no cluster.
An atom that keeps the requirements by itself is a cluster from the beginning, and may give away what it does not need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.cover_losses import (
    BIT,
    Cover,
    Needs,
    Space,
    begin_cover,
    cover_loss,
    empty_cover,
    grow_cover,
    loss_with,
)
from sudare.kernels.clustering.neighbour_tree import (
    FAR,
    Branches,
    Offers,
    Tree,
    empty_branches,
    nearest,
    update_offer,
    update_offers,
)
from sudare.kernels.clustering.promise_gaps import Promise, gap, gap_with, helpful_kinds
from sudare.kernels.compiled import kernel

OWNERS = 4
"""Clusters that an atom remembers, of those that hold its records."""
EVERYTHING = ~np.uint64(0)
WIDER = 8
"""A cluster may have so many times the records that it needs in the best case."""
LAST = 4.0
"""No cover loses as much: the threshold at which whatever is left has failed."""


class Stock(NamedTuple):
    """The records of atoms that are in no cluster: by value, in all, and how many different values.

    ``whole`` says that an atom is a cluster of its own, ``gives`` which values it can give away.
    """

    have: NDArray[np.int32]
    total: NDArray[np.int64]
    distinct: NDArray[np.int64]
    whole: NDArray[np.bool_]
    gives: NDArray[np.uint64]


class Clusters(NamedTuple):
    """The clusters: covers, what a record of them loses, and sizes; ``owners`` are some that hold an atom's records.

    ``counts`` are the records of each cluster by kind; without promises it has no lines.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]
    loss: NDArray[np.float64]
    size: NDArray[np.int64]
    owners: NDArray[np.int64]
    counts: NDArray[np.int32]


class Taken(NamedTuple):
    """Which atom gave a record, with which value, to which cluster, one line after the other."""

    atom: NDArray[np.int64]
    value: NDArray[np.int64]
    cluster: NDArray[np.int64]


class Atoms(NamedTuple):
    """The atoms: their codes, the space these are in, a tree over all, and the nearest other atoms of each."""

    codes: NDArray[np.uint32]
    space: Space
    tree: Tree
    near: NDArray[np.int64]


class Limits(NamedTuple):
    """The limit of the first round and the factor by which it rises; and, beside promises, what bounds the work.

    A cluster needs about ``expected[v]`` records if it begins with one of kind v; it is given up at :data:`WIDER` times
    as many. Its first ``free`` records may be of any of the kinds ``light``, which need few others. So many records
    may be taken in vain (``vain``).
    """

    first: float
    factor: float
    expected: NDArray[np.int64]
    free: int
    light: np.uint64
    vain: int


class Growth(NamedTuple):
    """Clusters being grown, and working space.

    ``known`` is how many clusters an atom has remembered. Below the limit ``patience`` an atom need not try again: less
    and less is left. ``vain[0]`` counts records that were taken in vain. ``cover`` and ``counts``, by value, are those
    of the cluster that is tried.
    """

    atoms: Atoms
    stock: Stock
    needs: Needs
    promise: Promise
    limits: Limits
    clusters: Clusters
    taken: Taken
    offers: Offers
    known: NDArray[np.int64]
    patience: NDArray[np.float64]
    vain: NDArray[np.int64]
    cover: Cover
    counts: NDArray[np.int64]
    branches: Branches


@kernel
def _may_give(atom, stock, needs, promise):
    """Return the values that an atom can give away, as the bits of a word."""
    have, total, distinct, whole = stock.have, stock.total, stock.distinct, stock.whole
    word = np.uint64(0)
    for value in range(have.shape[1]):
        if have[atom, value] > 0 and (
            not whole[atom]
            or (
                total[atom] > needs.k
                and (have[atom, value] > 1 or distinct[atom] > needs.diverse)
                and (len(promise.kind) == 0 or gap_with(have[atom], total[atom], value, -1, promise) == 0.0)
            )
        ):
            word |= BIT << np.uint64(value)
    return word


@kernel
def _change(atom, value, by, work):
    """Take a record out of an atom, or put it back."""
    stock = work.stock
    before = stock.have[atom, value]
    stock.have[atom, value] = before + by
    stock.total[atom] += by
    if before == 0:
        stock.distinct[atom] += 1
    elif before + by == 0:
        stock.distinct[atom] -= 1
    word = _may_give(atom, stock, work.needs, work.promise)
    if word != stock.gives[atom]:
        stock.gives[atom] = word
        update_offer(atom, work.atoms.tree, work.offers)


@kernel
def _pick(atom, stock, counts, wanted):
    """Choose the value that an atom gives, of those wanted: one that the cluster lacks, and then the most frequent."""
    chosen, most = -1, -1
    for value in range(len(counts)):
        if stock.gives[atom] & wanted & (BIT << np.uint64(value)):
            rank = np.int64(stock.have[atom, value])
            if counts[value] == 0:
                rank += np.int64(1) << np.int64(40)
            if rank > most:
                chosen, most = value, rank
    return chosen


@kernel
def _remember(atom, cluster, owners, known, whole):
    """Let an atom remember a cluster; one that is a cluster itself never forgets that one."""
    for place in range(min(known[atom], OWNERS)):
        if owners[atom, place] == cluster:
            return
    place = known[atom] % OWNERS
    if whole and place == 0 and known[atom] > 0:
        place = 1
    owners[atom, place] = cluster
    known[atom] += 1


@kernel
def _best_join(atom, value, work, limit):
    """Return the cluster that grows least by a record of an atom, among those around it, and by how much."""
    codes, space, near = work.atoms.codes, work.atoms.space, work.atoms.near
    clusters, known, promise = work.clusters, work.known, work.promise
    owners, loss, size = clusters.owners, clusters.loss, clusters.size
    chosen, best = -1, limit
    for turn in range(-1, near.shape[1]):
        other = atom if turn < 0 else near[atom, turn]
        if other < 0:
            break
        for place in range(min(known[other], OWNERS)):
            cluster = owners[other, place]
            most = (best + size[cluster] * loss[cluster]) / (size[cluster] + 1)
            if loss[cluster] > most:
                continue
            low, high, bits = clusters.low[cluster], clusters.high[cluster], clusters.bits[cluster]
            grown = loss_with(codes, atom, space, low, high, bits, most)
            more = (size[cluster] + 1) * grown - size[cluster] * loss[cluster]
            if more < best or (chosen < 0 and more <= best):
                if len(promise.kind) and gap_with(clusters.counts[cluster], size[cluster], value, 1, promise) > 0.0:
                    continue
                chosen, best = cluster, more
    return chosen, best


@kernel
def grow_clusters(atoms, nodes, stock, needs, promise, limits, clusters, taken):
    """Put every record into a cluster that has what it needs and keeps its promises, or leave it in stock.

    In rounds, with a limit that rises by a factor: an atom that has records left begins a cluster, which takes in the
    nearest records until it keeps the requirements; or its record joins a cluster nearby; whichever loses less per
    record that had no place yet. What loses more than the limit of the round waits for the next. Returns the number of
    records taken and of clusters. The tree has so many nodes.
    """
    size = len(atoms.codes)
    known, patience, counts = np.zeros(size, np.int64), np.zeros(size), np.zeros(stock.have.shape[1], np.int64)
    offers = Offers(stock.gives, np.zeros(nodes, np.uint64))
    cover, branches, vain = empty_cover(atoms.codes.shape[1]), empty_branches(), np.zeros(1, np.int64)
    work = Growth(
        atoms, stock, needs, promise, limits, clusters, taken, offers, known, patience, vain, cover, counts, branches
    )
    count = _begin_whole(work)
    update_offers(nodes, atoms.tree, offers)
    done, count = _begin_heavy(work, count)
    limit = limits.first
    while limit < LAST:
        left = 0
        for place in range(size):
            atom = atoms.tree.order[place]
            while stock.total[atom] > 0 and not stock.whole[atom]:
                counts[:] = 0
                value = _pick(atom, stock, counts, EVERYTHING)
                target, joining = _best_join(atom, value, work, limit)
                own = min(limit, joining) if target >= 0 else limit
                if patience[atom] <= own and (target < 0 or joining > 0.0):
                    more, loss = _try_cluster(atom, value, own, work, done, count)
                    if more > 0:
                        _keep_cluster(work, done, done + more, count, loss)
                        done += more
                        count += 1
                        continue
                if target < 0:
                    left += stock.total[atom]
                    break
                _join(atom, value, target, work, done)
                done += 1
        if left == 0:
            break
        limit *= limits.factor
    return done, count


@kernel
def _begin_heavy(work, count):
    """Let records of kinds that need many others begin clusters, or join one, while others are there to be had.

    The kinds that need most come first. Returns the number of records taken and of clusters.
    """
    stock, order, expected = work.stock, work.atoms.tree.order, work.limits.expected
    kinds, done = np.argsort(-expected, kind="mergesort"), 0
    for index in range(len(kinds)):
        value = kinds[index]
        if work.limits.light & (BIT << np.uint64(value)):
            continue
        for place in range(len(order)):
            atom = order[place]
            while stock.have[atom, value] > 0 and not stock.whole[atom] and work.patience[atom] < FAR:
                target, _ = _best_join(atom, value, work, FAR)
                if target >= 0:
                    _join(atom, value, target, work, done)
                    done += 1
                    continue
                more, loss = _try_cluster(atom, value, FAR, work, done, count)
                if more == 0:
                    break
                _keep_cluster(work, done, done + more, count, loss)
                done += more
                count += 1
    return done, count


@kernel
def _begin_whole(work):
    """Let atoms that keep the requirements by themselves be clusters, and find what all can give; return how many."""
    atoms, stock, clusters = work.atoms, work.stock, work.clusters
    count = 0
    for atom in range(len(atoms.codes)):
        stock.gives[atom] = _may_give(atom, stock, work.needs, work.promise)
        if stock.whole[atom]:
            low, high, bits = clusters.low[count], clusters.high[count], clusters.bits[count]
            begin_cover(atoms.codes, atom, atoms.space, low, high, bits)
            clusters.loss[count], clusters.size[count] = 0.0, stock.total[atom]
            if len(work.promise.kind):
                clusters.counts[count] = stock.have[atom]
            _remember(atom, count, clusters.owners, work.known, True)
            count += 1
    return count


@kernel
def _try_cluster(atom, value, limit, work, start, number):
    """Begin a cluster with a record of an atom, and take the nearest records until it keeps the requirements.

    Returns its size and what a record of it loses. The size is 0 if that is more than the limit, per record that had no
    place yet: then all records are put back. Records are noted from line ``start`` on, for the cluster ``number``.
    """
    codes, space, tree = work.atoms.codes, work.atoms.space, work.atoms.tree
    stock, needs, limits, cover, counts, taken = (
        work.stock, work.needs, work.limits, work.cover, work.counts, work.taken,
    )  # fmt: skip
    begin_cover(codes, atom, space, cover.low, cover.high, cover.bits)
    counts[:] = 0
    size, different, needy, loss, giver, word = 0, 0, 0, 0.0, atom, np.uint64(0)
    made, expected = False, limits.expected[value]
    if work.vain[0] > limits.vain:
        return 0, loss
    while True:
        _change(giver, value, -1, work)
        taken.atom[start + size], taken.value[start + size], taken.cluster[start + size] = giver, value, number
        size += 1
        needy += not stock.whole[giver]
        different += counts[value] == 0
        counts[value] += 1
        word |= BIT << np.uint64(value)
        if size >= needs.k and different >= needs.diverse and _keeps(counts, size, work.promise):
            made = size * loss <= limit * needy
            work.patience[atom] = 0.0 if made else size * loss / needy
            break
        wanted = ~word if needs.k - size <= needs.diverse - different else limits.light
        if len(work.promise.kind) and size >= limits.free:
            if size >= WIDER * expected:
                work.patience[atom] = FAR
                break
            wanted = helpful_kinds(counts, size, work.offers.of_node[0], work.promise)
        giver, loss = nearest(codes, space, tree, work.offers, cover, wanted, loss, work.branches)
        # a cluster that would exceed its limit if it kept growing evenly is given up early: on Adult this halves the
        # time, and the loss changes by no more than chance does
        foreseen = loss * max(expected, size + 1) / (size + 1.0)
        if giver < 0 or foreseen > limit:
            work.patience[atom] = FAR if giver < 0 else foreseen
            break
        grow_cover(codes, giver, space, cover.low, cover.high, cover.bits)
        value = _pick(giver, stock, counts, wanted)
    if made:
        return size, loss
    work.vain[0] += size
    for line in range(start, start + size):
        _change(taken.atom[line], taken.value[line], 1, work)
    return 0, loss


@kernel
def _keeps(counts, size, promise):
    """Return whether a cluster keeps its promises."""
    return len(promise.kind) == 0 or gap(counts, size, promise) == 0.0


@kernel
def _keep_cluster(work, start, end, number, loss):
    """Keep the cluster that was just grown, of the records in these lines."""
    stock, clusters, taken, cover = work.stock, work.clusters, work.taken, work.cover
    clusters.low[number], clusters.high[number], clusters.bits[number] = cover.low, cover.high, cover.bits
    clusters.loss[number], clusters.size[number] = loss, end - start
    for line in range(start, end):
        atom = taken.atom[line]
        if stock.whole[atom]:
            clusters.size[clusters.owners[atom, 0]] -= 1
        if len(work.promise.kind):
            clusters.counts[number, taken.value[line]] += 1
            if stock.whole[atom]:
                clusters.counts[clusters.owners[atom, 0], taken.value[line]] -= 1
        _remember(atom, number, clusters.owners, work.known, stock.whole[atom])


@kernel
def _join(atom, value, cluster, work, line):
    """Let a record of an atom join a cluster."""
    clusters, space = work.clusters, work.atoms.space
    _change(atom, value, -1, work)
    if len(work.promise.kind):
        clusters.counts[cluster, value] += 1
    work.taken.atom[line], work.taken.value[line], work.taken.cluster[line] = atom, value, cluster
    low, high, bits = clusters.low[cluster], clusters.high[cluster], clusters.bits[cluster]
    grow_cover(work.atoms.codes, atom, space, low, high, bits)
    clusters.size[cluster] += 1
    clusters.loss[cluster] = cover_loss(space, low, high, bits)
    _remember(atom, cluster, clusters.owners, work.known, False)


@kernel
def _best_of_all(atom, value, codes, space, promise, clusters, count, strict):
    """Return the cluster that grows least by a record, of all, or of those that keep their promises with it."""
    chosen, best = -1, np.inf
    for cluster in range(count):
        held = clusters.size[cluster]
        most = (best + held * clusters.loss[cluster]) / (held + 1)
        if clusters.loss[cluster] <= most:
            low, high, bits = clusters.low[cluster], clusters.high[cluster], clusters.bits[cluster]
            more = (held + 1) * loss_with(codes, atom, space, low, high, bits, most) - held * clusters.loss[cluster]
            if more < best:
                if strict and gap_with(clusters.counts[cluster], held, value, 1, promise) > 0.0:
                    continue
                chosen, best = cluster, more
    return chosen


@kernel
def join_rest(codes, atoms, rows, values, space, promise, clusters, count, result):
    """Let records that found no place join the cluster that grows least by each, and keeps its promises if one does."""
    for index in range(len(rows)):
        atom, value, chosen = atoms[index], values[index], -1
        if len(promise.kind):
            chosen = _best_of_all(atom, value, codes, space, promise, clusters, count, True)
        if chosen < 0:
            chosen = _best_of_all(atom, value, codes, space, promise, clusters, count, False)
        result[rows[index]] = chosen
        low, high, bits = clusters.low[chosen], clusters.high[chosen], clusters.bits[chosen]
        grow_cover(codes, atom, space, low, high, bits)
        clusters.size[chosen] += 1
        clusters.loss[chosen] = cover_loss(space, low, high, bits)
        if len(promise.kind):
            clusters.counts[chosen, value] += 1
