"""A tree over atoms that finds the one that widens a cover least, among those that can still give a record.

Nodes halve the atoms along the attribute that loses most. Each node knows the range of codes and the categories of its
atoms, which bounds what any of them would cost, and the sensitive values that they can still give, as bits of a word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.cover_losses import (
    BIT,
    begin_cover,
    empty_cover,
    loss_with,
    part_loss,
    set_loss,
    span_loss,
)
from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import SET

LEAF = 8
"""Atoms of a leaf, at most, unless they are all alike."""
DEEP = 512
"""Branches that may wait in a search: twice as many as the tree is deep."""
LOOKED_INTO = 200
"""Leaves that a search looks into, at most, once it has found something.

Where records have next to nothing in common, no bound keeps a search from looking into all leaves, for next to nothing.
On Adult a search looks into some tens of them.
"""
FAR = 1e18


class Tree(NamedTuple):
    """``order`` lists the atoms, those of node i from ``start[i]`` to ``end[i]``; a leaf has no ``left``."""

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    left: NDArray[np.int64]
    parent: NDArray[np.int64]
    leaf_of: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]


class Offers(NamedTuple):
    """The sensitive values that each atom, and the atoms of each node together, can still give; the bits of a word."""

    of_atom: NDArray[np.uint64]
    of_node: NDArray[np.uint64]


class Branches(NamedTuple):
    """The nodes that wait in a search, and what their atoms cost at least."""

    node: NDArray[np.int64]
    bound: NDArray[np.float64]


@kernel
def empty_branches():
    """Return room for the branches of a search."""
    return Branches(np.zeros(DEEP, np.int64), np.zeros(DEEP))


@kernel
def build(codes, space, tree):
    """Fill a tree over all atoms; returns the number of its nodes. The right child follows the left one."""
    order, start, end, left, parent = tree.order, tree.start, tree.end, tree.left, tree.parent
    attributes = codes.shape[1]
    start[0], end[0], parent[0] = 0, len(order), -1
    spare = np.empty(len(order), np.int64)
    nodes, node = 1, 0
    while node < nodes:
        first, last = start[node], end[node]
        for a in range(attributes):
            low, high, bits = np.int64(1 << 40), np.int64(-1), np.uint64(0)
            for index in range(first, last):
                code = np.int64(codes[order[index], a])
                low, high = min(low, code), max(high, code)
                if space.axes.kind[a] == SET:
                    bits |= BIT << np.uint64(code)
            tree.low[node, a], tree.high[node, a], tree.bits[node, a] = low, high, bits
        left[node] = -1
        chosen, widest = -1, -1.0
        if last - first > LEAF:
            for a in range(attributes):
                if tree.low[node, a] < tree.high[node, a]:
                    loss = part_loss(space, a, tree.low[node, a], tree.high[node, a], tree.bits[node, a])
                    if loss > widest:
                        chosen, widest = a, loss
        if chosen < 0:
            for index in range(first, last):
                tree.leaf_of[order[index]] = node
        else:
            middle = _halve(codes, chosen, order, first, last, tree.low[node, chosen], tree.high[node, chosen], spare)
            left[node] = nodes
            for child in range(2):
                parent[nodes + child] = node
            start[nodes], end[nodes], start[nodes + 1], end[nodes + 1] = first, middle, middle, last
            nodes += 2
        node += 1
    return nodes


@kernel
def _halve(codes, a, order, first, last, low, high, spare):
    """Sort a range of atoms by whether their code is in the lower half; return where the upper half begins."""
    counts = np.zeros(high - low + 1, np.int64)
    for index in range(first, last):
        counts[codes[order[index], a] - low] += 1
    below, best, cut = 0, last - first, low
    for code in range(low, high):
        below += counts[code - low]
        off = abs(2 * below - (last - first))
        if off < best:
            best, cut = off, code
    at, kept = first, 0
    for index in range(first, last):
        if codes[order[index], a] <= cut:
            order[at] = order[index]
            at += 1
        else:
            spare[kept] = order[index]
            kept += 1
    for index in range(kept):
        order[at + index] = spare[index]
    return at


@kernel
def at_least(space, tree, node, low, high, bits, limit):
    """Return what a cover loses at least with any atom of a node."""
    total = 0.0
    for a in range(len(low)):
        if space.axes.kind[a] == SET:
            word = bits[a]
            if not word & tree.bits[node, a]:
                any_one = tree.bits[node, a]
                if space.axes.other[a] >= 0:  # the one that counts most only if there is nothing else
                    less = any_one & ~(BIT << np.uint64(space.axes.other[a]))
                    any_one = less if less else any_one
                word |= any_one & (~any_one + BIT)
            total += set_loss(space, a, word)
        else:
            least, most = low[a], high[a]
            if tree.low[node, a] > most:
                most = tree.low[node, a]
            elif tree.high[node, a] < least:
                least = tree.high[node, a]
            total += span_loss(space, a, least, most)
        if total > limit:
            break
    return total


@kernel
def update_offers(nodes, tree, offers):
    """Find what the atoms of each node can give."""
    for node in range(nodes - 1, -1, -1):
        offers.of_node[node] = _offer_of(node, tree, offers)


@kernel
def update_offer(atom, tree, offers):
    """Bring what nodes can give up to date after an atom has changed."""
    node = tree.leaf_of[atom]
    while node >= 0:
        word = _offer_of(node, tree, offers)
        if word == offers.of_node[node]:
            return
        offers.of_node[node] = word
        node = tree.parent[node]


@kernel
def _offer_of(node, tree, offers):
    """Return what the atoms of a node can give, from its atoms or its children."""
    if tree.left[node] >= 0:
        return offers.of_node[tree.left[node]] | offers.of_node[tree.left[node] + 1]
    word = np.uint64(0)
    for index in range(tree.start[node], tree.end[node]):
        word |= offers.of_atom[tree.order[index]]
    return word


@kernel
def nearest(codes, space, tree, offers, cover, wanted, floor, branches):
    """Return the atom that gives one of the wanted values and widens a cover least, and what the cover loses then.

    None (-1) if there is none. Nothing below ``floor``, what the cover loses now, has to be looked for.
    """
    gives, given = offers.of_atom, offers.of_node
    low, high, bits = cover.low, cover.high, cover.bits
    waiting, bounds = branches.node, branches.bound
    found, best, looked = -1, FAR, 0
    waiting[0], bounds[0], count = 0, 0.0, 1
    while count > 0:
        count -= 1
        node = waiting[count]
        if bounds[count] > best or (found >= 0 and bounds[count] >= best) or not given[node] & wanted:
            continue
        left = tree.left[node]
        if left < 0:
            for index in range(tree.start[node], tree.end[node]):
                atom = tree.order[index]
                if gives[atom] & wanted:
                    loss = loss_with(codes, atom, space, low, high, bits, best)
                    if loss < best or (found < 0 and loss <= best):
                        found, best = atom, loss
            looked += 1
            if found >= 0 and (best <= floor or looked >= LOOKED_INTO):
                break
            continue
        one = at_least(space, tree, left, low, high, bits, best) if given[left] & wanted else FAR
        other = at_least(space, tree, left + 1, low, high, bits, best) if given[left + 1] & wanted else FAR
        # the nearer one is looked at first: what is put on top
        for turn in range(2):
            nearer = (one <= other) == (turn == 1)
            bound = one if nearer else other
            if bound <= best:
                waiting[count], bounds[count] = left if nearer else left + 1, bound
                count += 1
    return found, best


@kernel
def _insert(atom, loss, have, atoms, losses):
    """Put an atom into its place among the nearest ``have`` ones, of which the last may fall out; return how many."""
    most = len(atoms)
    place = have if have < most else most - 1
    while place > 0 and losses[place - 1] > loss:
        losses[place], atoms[place] = losses[place - 1], atoms[place - 1]
        place -= 1
    losses[place], atoms[place] = loss, atom
    return min(have + 1, most)


@kernel
def nearest_atoms(codes, space, tree, first, last, result):
    """Put the nearest other atoms of each atom of a range into its line of ``result``, the nearest first (-1: none)."""
    most = result.shape[1]
    low, high, bits = empty_cover(codes.shape[1])
    waiting, bounds = empty_branches()
    losses = np.zeros(most)
    for atom in range(first, last):
        begin_cover(codes, atom, space, low, high, bits)
        near = result[atom]
        have, worst, looked = 0, FAR, 0
        waiting[0], bounds[0], count = 0, 0.0, 1
        while count > 0:
            count -= 1
            node = waiting[count]
            if bounds[count] >= worst:
                continue
            left = tree.left[node]
            if left < 0:
                for index in range(tree.start[node], tree.end[node]):
                    other = tree.order[index]
                    if other == atom:
                        continue
                    loss = loss_with(codes, other, space, low, high, bits, worst)
                    if loss < worst:
                        have = _insert(other, loss, have, near, losses)
                        if have == most:
                            worst = losses[most - 1]
                looked += 1
                if have == most and looked >= LOOKED_INTO:
                    break
                continue
            one = at_least(space, tree, left, low, high, bits, worst)
            two = at_least(space, tree, left + 1, low, high, bits, worst)
            for turn in range(2):
                nearer = (one <= two) == (turn == 1)
                bound = one if nearer else two
                if bound < worst:
                    waiting[count], bounds[count] = left if nearer else left + 1, bound
                    count += 1
        near[have:] = -1
