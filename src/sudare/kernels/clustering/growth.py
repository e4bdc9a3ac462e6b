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
from sudare.kernels.topdown.value_orders import kernel

OWNERS = 4
"""Clusters that an atom remembers, of those that hold its records."""
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
    """The clusters: covers, what a record of them loses, and sizes; ``owners`` are some that hold an atom's records."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]
    loss: NDArray[np.float64]
    size: NDArray[np.int64]
    owners: NDArray[np.int64]


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
    """The limit of the first round, and the factor by which it rises."""

    first: float
    factor: float


class Growth(NamedTuple):
    """Clusters being grown, and working space.

    ``known`` is how many clusters an atom has remembered. Below the limit ``patience`` an atom need not try again: less
    and less is left. ``cover`` and ``counts``, by value, are those of the cluster that is tried.
    """

    atoms: Atoms
    stock: Stock
    needs: Needs
    clusters: Clusters
    taken: Taken
    offers: Offers
    known: NDArray[np.int64]
    patience: NDArray[np.float64]
    cover: Cover
    counts: NDArray[np.int64]
    branches: Branches


@kernel
def _may_give(atom, stock, needs):
    """Return the values that an atom can give away, as the bits of a word."""
    have, total, distinct, whole = stock.have, stock.total, stock.distinct, stock.whole
    word = np.uint64(0)
    for value in range(have.shape[1]):
        if have[atom, value] > 0 and (
            not whole[atom] or (total[atom] > needs.k and (have[atom, value] > 1 or distinct[atom] > needs.diverse))
        ):
            word |= BIT << np.uint64(value)
    return word


@kernel
def _change(atom, value, by, stock, needs, tree, offers):
    """Take a record out of an atom, or put it back."""
    before = stock.have[atom, value]
    stock.have[atom, value] = before + by
    stock.total[atom] += by
    if before == 0:
        stock.distinct[atom] += 1
    elif before + by == 0:
        stock.distinct[atom] -= 1
    word = _may_give(atom, stock, needs)
    if word != stock.gives[atom]:
        stock.gives[atom] = word
        update_offer(atom, tree, offers)


@kernel
def _pick(atom, stock, counts, lacking):
    """Choose the value that an atom gives: one that the cluster lacks, if it does, and of several the most frequent."""
    chosen, most = -1, -1
    for value in range(len(counts)):
        if stock.gives[atom] & (BIT << np.uint64(value)):
            rank = np.int64(stock.have[atom, value])
            if counts[value] == 0:
                rank += np.int64(1) << np.int64(40)
            elif lacking:
                continue
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
def _best_join(atom, codes, space, near, clusters, known, limit):
    """Return the cluster that grows least by a record of an atom, among those around it, and by how much."""
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
                chosen, best = cluster, more
    return chosen, best


@kernel
def grow_clusters(atoms, nodes, stock, needs, limits, clusters, taken):
    """Put every record into a cluster of at least k records with at least so many values, or leave it in stock.

    In rounds, with a limit that rises by a factor: an atom that has records left begins a cluster, which takes in the
    nearest records until it keeps the requirements; or its record joins a cluster nearby; whichever loses less per
    record that had no place yet. What loses more than the limit of the round waits for the next. Returns the number of
    records taken and of clusters. The tree has so many nodes.
    """
    size = len(atoms.codes)
    known, patience, counts = np.zeros(size, np.int64), np.zeros(size), np.zeros(stock.have.shape[1], np.int64)
    offers = Offers(stock.gives, np.zeros(nodes, np.uint64))
    cover, branches = empty_cover(atoms.codes.shape[1]), empty_branches()
    work = Growth(atoms, stock, needs, clusters, taken, offers, known, patience, cover, counts, branches)
    done, count = 0, _begin_whole(work)
    update_offers(nodes, atoms.tree, offers)
    limit = limits.first
    while limit < LAST:
        left = 0
        for place in range(size):
            atom = atoms.tree.order[place]
            while stock.total[atom] > 0 and not stock.whole[atom]:
                target, joining = _best_join(atom, atoms.codes, atoms.space, atoms.near, clusters, known, limit)
                own = min(limit, joining) if target >= 0 else limit
                if patience[atom] <= own and (target < 0 or joining > 0.0):
                    more, loss = _try_cluster(atom, own, work, done, count)
                    if more > 0:
                        _keep_cluster(work, done, done + more, count, loss)
                        done += more
                        count += 1
                        continue
                if target < 0:
                    left += stock.total[atom]
                    break
                _join(atom, target, work, done)
                done += 1
        if left == 0:
            break
        limit *= limits.factor
    return done, count


@kernel
def _begin_whole(work):
    """Let atoms that keep the requirements by themselves be clusters, and find what all can give; return how many."""
    atoms, stock, clusters = work.atoms, work.stock, work.clusters
    count = 0
    for atom in range(len(atoms.codes)):
        stock.gives[atom] = _may_give(atom, stock, work.needs)
        if stock.whole[atom]:
            low, high, bits = clusters.low[count], clusters.high[count], clusters.bits[count]
            begin_cover(atoms.codes, atom, atoms.space, low, high, bits)
            clusters.loss[count], clusters.size[count] = 0.0, stock.total[atom]
            _remember(atom, count, clusters.owners, work.known, True)
            count += 1
    return count


@kernel
def _try_cluster(atom, limit, work, start, number):
    """Begin a cluster with a record of an atom, and take the nearest records until it keeps the requirements.

    Returns its size and what a record of it loses. The size is 0 if that is more than the limit, per record that had no
    place yet: then all records are put back. Records are noted from line ``start`` on, for the cluster ``number``.
    """
    codes, space, tree = work.atoms.codes, work.atoms.space, work.atoms.tree
    stock, needs, offers, cover, counts = work.stock, work.needs, work.offers, work.cover, work.counts
    k, diverse, taken, branches = needs.k, needs.diverse, work.taken, work.branches
    everything = ~np.uint64(0)
    begin_cover(codes, atom, space, cover.low, cover.high, cover.bits)
    counts[:] = 0
    size, different, needy, loss, giver, word = 0, 0, 0, 0.0, atom, np.uint64(0)
    made = False
    while True:
        value = _pick(giver, stock, counts, k - size <= diverse - different)
        _change(giver, value, -1, stock, needs, tree, offers)
        taken.atom[start + size], taken.value[start + size], taken.cluster[start + size] = giver, value, number
        size += 1
        needy += not stock.whole[giver]
        different += counts[value] == 0
        counts[value] += 1
        word |= BIT << np.uint64(value)
        if size >= k and different >= diverse:
            made = size * loss <= limit * needy
            work.patience[atom] = 0.0 if made else size * loss / needy
            break
        wanted = ~word if k - size <= diverse - different else everything
        giver, loss = nearest(codes, space, tree, offers, cover, wanted, loss, branches)
        # that it will exceed its limit is told early, as if it grew evenly: on Adult this takes half the time and makes
        # no difference that could be told from chance
        foreseen = loss * max(k, diverse) / (size + 1.0)
        if giver < 0 or foreseen > limit:
            work.patience[atom] = FAR if giver < 0 else foreseen
            break
        grow_cover(codes, giver, space, cover.low, cover.high, cover.bits)
    if made:
        return size, loss
    for line in range(start, start + size):
        _change(taken.atom[line], taken.value[line], 1, stock, needs, tree, offers)
    return 0, loss


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
        _remember(atom, number, clusters.owners, work.known, stock.whole[atom])


@kernel
def _join(atom, cluster, work, line):
    """Let a record of an atom join a cluster."""
    clusters, space = work.clusters, work.atoms.space
    work.counts[:] = 0
    value = _pick(atom, work.stock, work.counts, False)
    _change(atom, value, -1, work.stock, work.needs, work.atoms.tree, work.offers)
    work.taken.atom[line], work.taken.value[line], work.taken.cluster[line] = atom, value, cluster
    low, high, bits = clusters.low[cluster], clusters.high[cluster], clusters.bits[cluster]
    grow_cover(work.atoms.codes, atom, space, low, high, bits)
    clusters.size[cluster] += 1
    clusters.loss[cluster] = cover_loss(space, low, high, bits)
    _remember(atom, cluster, clusters.owners, work.known, False)


@kernel
def join_rest(codes, atoms, rows, space, clusters, count, result):
    """Let records that found no place join the cluster that grows least by each."""
    for index in range(len(rows)):
        atom = atoms[index]
        chosen, best = -1, np.inf
        for cluster in range(count):
            held = clusters.size[cluster]
            most = (best + held * clusters.loss[cluster]) / (held + 1)
            if clusters.loss[cluster] <= most:
                low, high, bits = clusters.low[cluster], clusters.high[cluster], clusters.bits[cluster]
                more = (held + 1) * loss_with(codes, atom, space, low, high, bits, most) - held * clusters.loss[cluster]
                if more < best:
                    chosen, best = cluster, more
        result[rows[index]] = chosen
        low, high, bits = clusters.low[chosen], clusters.high[chosen], clusters.bits[chosen]
        grow_cover(codes, atom, space, low, high, bits)
        clusters.size[chosen] += 1
        clusters.loss[chosen] = cover_loss(space, low, high, bits)
