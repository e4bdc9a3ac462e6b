"""Clusters grown from the nearest records, the cheapest clusters first.

Atoms are lines of ``codes``; ``have[x, v]`` are the records of atom x with sensitive value v that are in no cluster.
An atom that keeps the requirements by itself is a cluster from the beginning, and may give away what it does not need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.cover_losses import BIT, begin_cover, cover_loss, grow_cover, loss_with
from sudare.kernels.clustering.neighbour_tree import DEEP, FAR, nearest, tell, tell_all
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


@kernel
def _may_give(atom, stock, k, diverse):
    """Return the values that an atom can give away, as the bits of a word."""
    have, total, distinct, whole = stock.have, stock.total, stock.distinct, stock.whole
    word = np.uint64(0)
    for value in range(have.shape[1]):
        if have[atom, value] > 0 and (
            not whole[atom] or (total[atom] > k and (have[atom, value] > 1 or distinct[atom] > diverse))
        ):
            word |= BIT << np.uint64(value)
    return word


@kernel
def _change(atom, value, by, stock, k, diverse, tree, given):
    """Take a record out of an atom, or put it back."""
    before = stock.have[atom, value]
    stock.have[atom, value] = before + by
    stock.total[atom] += by
    if before == 0:
        stock.distinct[atom] += 1
    elif before + by == 0:
        stock.distinct[atom] -= 1
    word = _may_give(atom, stock, k, diverse)
    if word != stock.gives[atom]:
        stock.gives[atom] = word
        tell(atom, tree, stock.gives, given)


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
def grow_clusters(codes, space, tree, nodes, near, stock, k, diverse, first_limit, factor, clusters, taken):
    """Put every record into a cluster of at least k records with at least so many values, or leave it in stock.

    In rounds, with a limit that rises by a factor: an atom that has records left begins a cluster, which takes in the
    nearest records until it keeps the requirements; or its record joins a cluster nearby; whichever loses less per
    record that had no place yet. What loses more than the limit of the round waits for the next. Returns the number of
    records taken and of clusters.
    """
    attributes, values = codes.shape[1], stock.have.shape[1]
    owners, known = clusters.owners, np.zeros(len(codes), np.int64)
    given = np.zeros(nodes, np.uint64)
    everything = np.uint64(0)
    for value in range(values):
        everything |= BIT << np.uint64(value)
    done, count = 0, 0
    for atom in range(len(codes)):
        stock.gives[atom] = _may_give(atom, stock, k, diverse)
        if stock.whole[atom]:
            begin_cover(codes, atom, space, clusters.low[count], clusters.high[count], clusters.bits[count])
            clusters.loss[count], clusters.size[count] = 0.0, stock.total[atom]
            _remember(atom, count, owners, known, True)
            count += 1
    tell_all(nodes, tree, stock.gives, given)
    low, high, bits = np.zeros(attributes, np.int64), np.zeros(attributes, np.int64), np.zeros(attributes, np.uint64)
    waiting, bounds = np.zeros(DEEP, np.int64), np.zeros(DEEP)
    counts = np.zeros(values, np.int64)
    patience = np.zeros(len(codes))  # the limit below which an atom need not try again: less and less is left
    limit = first_limit
    while limit < LAST:
        left = 0
        for place in range(len(codes)):
            atom = tree.order[place]
            while stock.total[atom] > 0 and not stock.whole[atom]:
                target, joining = _best_join(atom, codes, space, near, clusters, known, limit)
                own = min(limit, joining) if target >= 0 else limit
                made = False
                if patience[atom] <= own and (target < 0 or joining > 0.0):
                    begin_cover(codes, atom, space, low, high, bits)
                    counts[:] = 0
                    size, different, needy, loss, giver, start, word = 0, 0, 0, 0.0, atom, done, np.uint64(0)
                    while True:
                        value = _pick(giver, stock, counts, k - size <= diverse - different)
                        _change(giver, value, -1, stock, k, diverse, tree, given)
                        taken.atom[done], taken.value[done], taken.cluster[done] = giver, value, count
                        done += 1
                        size += 1
                        needy += not stock.whole[giver]
                        different += counts[value] == 0
                        counts[value] += 1
                        word |= BIT << np.uint64(value)
                        if size >= k and different >= diverse:
                            made = size * loss <= own * needy
                            patience[atom] = 0.0 if made else size * loss / needy
                            break
                        wanted = everything & ~word if k - size <= diverse - different else everything
                        giver, loss = nearest(
                            codes, space, tree, stock.gives, given, low, high, bits, wanted, loss, FAR, waiting, bounds
                        )
                        # that it will exceed its limit is told early, as if it grew evenly: on Adult this takes half
                        # the time and makes no difference that could be told from chance
                        foreseen = loss * max(k, diverse) / (size + 1.0)
                        if giver < 0 or foreseen > own:
                            patience[atom] = FAR if giver < 0 else foreseen
                            break
                        grow_cover(codes, giver, space, low, high, bits)
                    if made:
                        clusters.low[count], clusters.high[count], clusters.bits[count] = low, high, bits
                        clusters.loss[count], clusters.size[count] = loss, size
                        for line in range(start, done):
                            other = taken.atom[line]
                            if stock.whole[other]:
                                clusters.size[owners[other, 0]] -= 1
                            _remember(other, count, owners, known, stock.whole[other])
                        count += 1
                        continue
                    for line in range(start, done):
                        _change(taken.atom[line], taken.value[line], 1, stock, k, diverse, tree, given)
                    done = start
                if target < 0:
                    left += stock.total[atom]
                    break
                counts[:] = 0
                value = _pick(atom, stock, counts, False)
                _change(atom, value, -1, stock, k, diverse, tree, given)
                taken.atom[done], taken.value[done], taken.cluster[done] = atom, value, target
                done += 1
                grow_cover(codes, atom, space, clusters.low[target], clusters.high[target], clusters.bits[target])
                clusters.size[target] += 1
                clusters.loss[target] = cover_loss(
                    space, clusters.low[target], clusters.high[target], clusters.bits[target]
                )
                _remember(atom, target, owners, known, False)
        if left == 0:
            break
        limit *= factor
    return done, count


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
        grow_cover(codes, atom, space, clusters.low[chosen], clusters.high[chosen], clusters.bits[chosen])
        clusters.size[chosen] += 1
        clusters.loss[chosen] = cover_loss(space, clusters.low[chosen], clusters.high[chosen], clusters.bits[chosen])
