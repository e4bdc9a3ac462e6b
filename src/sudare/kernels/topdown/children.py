"""Parting clusters into any number of children: who goes where, what the children hold, and the move itself.

The lines of ``clusters`` are those of :mod:`sudare.kernels.topdown.item_choices`. ``way[c]`` is how cluster c is
parted: -1 not, 0 by a split of a single value, 1 + s by the items of item-set column s. ``part[row]`` is the child of
a record within its cluster. Children of all clusters are numbered through: those of cluster c begin at ``begin[c]``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.item_choices import EACH, FIXED, HIDDEN, in_units, mark
from sudare.kernels.topdown.value_counts import Listed, is_dense, list_noted, list_range, note_once
from sudare.kernels.topdown.value_orders import NONE, ZERO, goes_left, order_values


class Children(NamedTuple):
    """The children of all clusters: their records, the node that each discloses (-1: none), who is left out."""

    begin: NDArray[np.int64]
    records: NDArray[np.int64]
    node: NDArray[np.int64]
    left_out: NDArray[np.bool_]


class Records(NamedTuple):
    """What moves with records: their codes, what is carried beside these, their hidden items, and their children."""

    rows: NDArray[Any]
    extra: NDArray[np.uint32]
    items: NDArray[Any]
    part: NDArray[Any]


class SetColumns(NamedTuple):
    """The item-set columns: which cell of ``extra`` counts the items of each, and what showing a node loses."""

    cells: NDArray[np.int64]
    share: NDArray[np.float64]


class Spare(NamedTuple):
    """Working space for the largest cluster: places of its records, cells of them all, and hidden items."""

    places: NDArray[np.uint32]
    cells: NDArray[np.uint32]
    items: NDArray[Any]


class Lookup(NamedTuple):
    """Working space: what a code is mapped to, -1 throughout, and when a node was met last, 0 before."""

    node: NDArray[np.int64]
    stamp: NDArray[np.int64]


def children(counts: NDArray[np.int64]) -> Children:
    """Return room for so many children of each cluster."""
    begin = np.concatenate(([0], np.cumsum(counts)))
    total = int(begin[-1])
    return Children(begin, np.zeros(total, np.int64), np.full(total, -1, np.int64), np.zeros(total, np.bool_))


@kernel
def assign_by_item(clusters, which, chosen, out, result, part, family):
    """Turn the ranks that records chose into the numbers of their children."""
    begin, records, nodes = family.begin, family.records, family.node
    for turn in range(len(which)):
        cluster = which[turn]
        first, last = clusters[cluster, 0], clusters[cluster, 1]
        ranks = result.ends[cluster - 1] if cluster > 0 else ZERO
        count = result.ends[cluster] - ranks
        rest = result.children[cluster] - 1
        base = begin[cluster]
        for index in range(ranks, ranks + count):
            if out.child[index] >= 0:
                nodes[base + out.child[index]] = out.node[index]
        for row in range(first, last):
            rank = np.int64(chosen[row])
            child = out.child[ranks + rank] if rank < count else NONE
            if child < 0:
                child = rest
            part[row] = child
            records[base + child] += 1


@kernel
def assign_by_value(atoms, clusters, which, chosen, by_code, axes, buffers, part, family):
    """Say which records of clusters go to the left (0) or right (1) side of a split of a single value."""
    rows, begin, records = atoms.codes, family.begin, family.records
    for turn in range(len(which)):
        cluster = which[turn]
        first, last = clusters[cluster, 0], clusters[cluster, 1]
        a = np.int64(chosen.attribute[cluster])
        order_values(rows, atoms.amounts, first, last, a, by_code, axes, buffers, ZERO)
        lookup = buffers.lookup[axes.start[a] :]
        place, shape = np.int64(chosen.place[cluster]), np.int64(chosen.shape[cluster])
        base = begin[cluster]
        for row in range(first, last):
            child = 0 if goes_left(lookup, place, shape, rows[row, a]) else 1
            part[row] = child
            records[base + child] += 1


@kernel
def arrange(clusters, which, part, family, order):
    """List the rows of clusters child by child in ``order``, from each cluster's first row on."""
    begin, records = family.begin, family.records
    at = np.zeros(1, np.int64)
    for turn in range(len(which)):
        cluster = which[turn]
        count = begin[cluster + 1] - begin[cluster]
        if len(at) < count:
            at = np.zeros(2 * count, np.int64)
        first, last = clusters[cluster, 0], clusters[cluster, 1]
        position = first
        for child in range(count):
            at[child] = position
            position += records[begin[cluster] + child]
        for row in range(first, last):
            child = np.int64(part[row])
            order[at[child]] = row
            at[child] += 1


@kernel
def tally_children(carried, clusters, which, family, order, counter):
    """Count the values of one carried column in the children of clusters, child after child.

    Returns the number of different values per child and, if they are listed, the values (ascending) and how many
    records have them.
    """
    begin, records, count = family.begin, family.records, counter.cells
    total, room, longest = ZERO, ZERO, ZERO
    for turn in range(len(which)):
        total += begin[which[turn] + 1] - begin[which[turn]]
        room += clusters[which[turn], 1] - clusters[which[turn], 0]
        for child in range(begin[which[turn]], begin[which[turn] + 1]):
            longest = max(longest, records[child])
    distinct = np.zeros(total, np.int64)
    if not counter.listing:
        room, longest = ZERO, ZERO
    listed = Listed(np.empty(room, np.int64), np.empty(room, np.int64))
    longest = min(longest, len(count))
    keys, places, spare = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    at, line = ZERO, ZERO
    for turn in range(len(which)):
        position = clusters[which[turn], 0]
        for child in range(begin[which[turn]], begin[which[turn] + 1]):
            rows = order[position : position + records[child]]
            distinct[line], low, high = _count_rows(carried, rows, count)
            line += 1
            if counter.listing and is_dense(low, high, records[child]):
                at = list_range(count, low, high, listed, at)
            elif counter.listing:
                noted = ZERO
                for index in range(len(rows)):
                    noted = note_once(np.int64(carried[rows[index]]), count, keys, places, noted)
                at = list_noted(noted, keys, places, spare, count, listed, at)
            else:
                for index in range(len(rows)):
                    count[np.int64(carried[rows[index]])] = 0
            position += records[child]
    return distinct, listed.codes[:at], listed.counts[:at]


@kernel
def _count_rows(carried, rows, count):
    """Count the values of some rows; return how many there are, the smallest and the largest."""
    found = ZERO
    low, high = np.int64(len(count)), NONE
    for index in range(len(rows)):
        code = np.int64(carried[rows[index]])
        if count[code] == 0:
            found += 1
            low, high = min(low, code), max(high, code)
        count[code] += 1
    return found, low, high


@kernel
def scatter(table, sets, clusters, way, family, lines, spare):
    """Move the records of parted clusters, and their hidden items, so that each child is a run; stable.

    The lines of the children are written to ``lines``.
    """
    begin = family.begin
    most = ZERO
    for cluster in range(len(clusters)):
        most = max(most, begin[cluster + 1] - begin[cluster])
    at, nothing = np.zeros(most, np.int64), np.full(most, -1, np.int64)
    for cluster in range(len(clusters)):
        if way[cluster] < 0:
            continue
        line, base, count = clusters[cluster], begin[cluster], begin[cluster + 1] - begin[cluster]
        new_lines(line, FIXED + EACH * len(sets.cells), family.records, family.left_out, lines, base, count)
        own = lines[base : base + count]
        for column in range(len(sets.cells)):
            place = FIXED + EACH * column
            # the nodes that children disclose of this column
            nodes = family.node[base : base + count] if column == way[cluster] - 1 else nothing[:count]
            for child in range(count):
                inherit(line, place, nodes[child], sets.share[column], own[child])
            if line[place + 1] == 0:
                own[:, place] = line[place]
            else:
                _scatter_items(table, line, sets.cells[column], place, nodes, own, at, spare.items)
        first, last = line[0], line[1]
        for child in range(count):
            at[child] = own[child, 0] - first
        for row in range(first, last):
            child = np.int64(table.part[row])
            spare.places[row - first] = at[child]
            at[child] += 1
        _move(table.extra, spare.places, spare.cells, first, last)
        _move(table.rows, spare.places, spare.cells, first, last)


@kernel
def _scatter_items(table, line, cell, place, nodes, own, at, spare):
    """Move the hidden items of one column of a cluster, without the nodes that its children disclose (-1: none).

    ``own`` are the lines of the children, where those of the column begin at ``place``.
    """
    extra, items, part = table.extra, table.items, table.part
    for row in range(line[0], line[1]):
        child = np.int64(part[row])
        hidden = np.int64(extra[row, cell] & np.uint32(0xFFFF))
        own[child, place + 1] += hidden - np.int64(nodes[child] >= 0)
    start = line[place]
    position = start
    for child in range(len(own)):
        own[child, place] = position
        at[child] = position - start
        position += own[child, place + 1]
    read = start
    for row in range(line[0], line[1]):
        child = np.int64(part[row])
        hidden = np.int64(extra[row, cell] & np.uint32(0xFFFF))
        given, write = nodes[child], at[child]
        for index in range(read, read + hidden):
            if np.int64(items[index]) != given:
                spare[write] = items[index]
                write += 1
        at[child] = write
        read += hidden
        if given >= 0:
            extra[row, cell] -= np.uint32(1)
    for index in range(position - start):
        items[start + index] = spare[index]


@kernel
def _move(matrix, places, spare, first, last):
    """Put each of the rows from ``first`` to ``last`` where ``places`` says, counted from the first."""
    width = matrix.shape[1]
    for row in range(first, last):
        to = np.int64(places[row - first]) * width
        for cell in range(width):
            spare[to + cell] = matrix[row, cell]
    for row in range(first, last):
        for cell in range(width):
            matrix[row, cell] = spare[(row - first) * width + cell]


@kernel
def inherit(cluster, place, node, share, line):
    """Write what a child discloses of the item-set column at ``place`` of the lines; ``node`` is new, unless -1."""
    line[place + 1] = 0
    line[place + 2] = cluster[place + 2]
    line[place + 3] = cluster[place + 3]
    if node >= 0:
        line[place + 2] += in_units(share[node])
        if share[node] > 0.0:
            line[place + 3] |= mark(node)


@kernel
def new_lines(cluster, tail, records, left_out, lines, base, count):
    """Write where the rows of the children are, and hand the budget down in proportion to their records.

    What stands in the line from ``tail`` on is handed down as it is.
    """
    budget, kept = cluster[2], ZERO
    for child in range(base, base + count):
        if left_out[child]:
            budget -= records[child]
        else:
            kept += records[child]
    position, before, spent = cluster[0], ZERO, ZERO
    for child in range(base, base + count):
        lines[child, 0] = position
        position += records[child]
        lines[child, 1] = position
        lines[child, 2] = 0
        lines[child, 3] = records[child]
        for cell in range(tail, len(cluster)):
            lines[child, cell] = cluster[cell]
        if not left_out[child]:
            before += records[child]
            upto = budget * before // kept
            lines[child, 2] = upto - spent
            spent = upto


@kernel
def fill_hidden(offsets, given, bounds, maps, hidden, at, runs, lookup):
    """List the hidden items of records that are in several clusters, those of cluster c from row ``bounds[c]`` on.

    Record r holds ``given[offsets[r]:offsets[r + 1]]``. Items that the maps have are hidden as the nodes there, each
    node once per record; all others are not. They go to ``hidden.items``, from ``at`` on, with the numbers of records;
    ``runs[c]`` becomes where those of a cluster begin and how many there are.
    """
    items, extra, cell = hidden.items, hidden.extra, hidden.cell
    begin, code, number = maps.begin, maps.code, maps.number
    node_of, stamp = lookup.node, lookup.stamp
    for cluster in range(len(bounds) - 1):
        runs[cluster, 0] = at
        for index in range(begin[cluster], begin[cluster + 1]):
            node_of[code[index]] = number[index]
        for row in range(bounds[cluster], bounds[cluster + 1]):
            mine = at
            for index in range(offsets[row], offsets[row + 1]):
                node = node_of[np.int64(given[index])]
                if node >= 0 and stamp[node] != row + 1:
                    stamp[node] = row + 1
                    items[at] = node
                    at += 1
            extra[row, cell] = np.uint32(offsets[row + 1] - offsets[row]) << np.uint32(HIDDEN) | np.uint32(at - mine)
        for index in range(begin[cluster], begin[cluster + 1]):
            node_of[code[index]] = -1
        runs[cluster, 1] = at - runs[cluster, 0]
