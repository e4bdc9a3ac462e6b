"""Parting clusters into any number of children: who goes where, what the children hold, and the move itself.

The lines of ``clusters`` are those of :mod:`sudare.kernels.topdown.item_choices`. ``way[c]`` is how cluster c is
parted: -1 not, 0 by a split of a single value, 1 + s by the items of item-set column s. ``part[row]`` is the child of
a record within its cluster. Children of all clusters are numbered through: those of cluster c begin at ``begin[c]``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.topdown.item_choices import EACH, FIXED, HIDDEN, in_units, mark
from sudare.kernels.topdown.value_orders import NONE, ZERO, goes_left, kernel, order_values, sort_stable


class Children(NamedTuple):
    """The children of all clusters: their records, the node that each discloses (-1: none), who is left out."""

    begin: NDArray[np.int64]
    records: NDArray[np.int64]
    node: NDArray[np.int64]
    left_out: NDArray[np.bool_]


def children(counts: NDArray[np.int64]) -> Children:
    """Return room for so many children of each cluster."""
    begin = np.concatenate(([0], np.cumsum(counts)))
    total = int(begin[-1])
    return Children(begin, np.zeros(total, np.int64), np.full(total, -1, np.int64), np.zeros(total, np.bool_))


@kernel
def send_by_item(clusters, which, chosen, out, result, part, family):
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
def send_by_value(rows, amounts, clusters, which, chosen, by_code, axes, buffers, part, family):
    """Send the records of clusters to the left (0) or right (1) side of a split of a single value."""
    begin, records = family.begin, family.records
    for turn in range(len(which)):
        cluster = which[turn]
        first, last = clusters[cluster, 0], clusters[cluster, 1]
        a = np.int64(chosen.attribute[cluster])
        order_values(rows, amounts, first, last, a, by_code, axes, buffers, ZERO)
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
def tally_children(extra, column, clusters, which, family, order, count, listing):
    """Count the values of one carried column in the children of clusters, child after child.

    Returns the number of different values per child and, with ``listing``, the values (ascending) and how many
    records have them. ``count`` is working space with a cell per value, all zero before and after.
    """
    begin, records = family.begin, family.records
    total, room = ZERO, ZERO
    for turn in range(len(which)):
        total += begin[which[turn] + 1] - begin[which[turn]]
        room += clusters[which[turn], 1] - clusters[which[turn], 0]
    distinct = np.zeros(total, np.int64)
    codes = np.empty(room if listing else 1, np.int64)
    counts = np.empty(room if listing else 1, np.int64)
    keys = np.empty(1, np.int64)
    places = np.empty(1, np.int64)
    spare = np.empty(1, np.int64)
    at, line = ZERO, ZERO
    for turn in range(len(which)):
        cluster = which[turn]
        position = clusters[cluster, 0]
        for child in range(begin[cluster], begin[cluster + 1]):
            found = ZERO
            low, high = np.int64(len(count)), NONE
            for index in range(position, position + records[child]):
                code = np.int64(extra[order[index], column])
                if count[code] == 0:
                    found += 1
                    low, high = min(low, code), max(high, code)
                count[code] += 1
            distinct[line] = found
            line += 1
            if listing and high - low < 8 * records[child] + 64:
                for code in range(low, high + 1):
                    if count[code] > 0:
                        codes[at], counts[at] = code, count[code]
                        at += 1
            elif listing:  # few of many values: sort those that occur; a negative count marks one that is listed
                if len(keys) < found:
                    keys = np.empty(2 * found, np.int64)
                    places = np.empty(2 * found, np.int64)
                    spare = np.empty(2 * found, np.int64)
                listed = ZERO
                for index in range(position, position + records[child]):
                    code = np.int64(extra[order[index], column])
                    if count[code] > 0:
                        count[code] = -count[code]
                        keys[listed], places[listed] = code, listed
                        listed += 1
                sort_stable(keys, places, spare, found)
                for entry in range(found):
                    code = keys[places[entry]]
                    codes[at], counts[at] = code, -count[code]
                    at += 1
            for index in range(position, position + records[child]):
                count[np.int64(extra[order[index], column])] = 0
            position += records[child]
    return distinct, codes[:at], counts[:at]


@kernel
def scatter(rows, extra, items, clusters, way, part, cells, share, family, lines, places, spare, spare_items):
    """Move the records of parted clusters, and their hidden items, so that each child is a run; stable.

    ``cells`` are the columns of ``extra`` that count items, ``share[s, node]`` what a node of column s loses. The lines
    of the children are written to ``lines``. ``places``, ``spare`` and ``spare_items`` have room for the largest.
    """
    begin, records, nodes, left_out = family.begin, family.records, family.node, family.left_out
    sets = len(cells)
    at = np.zeros(1, np.int64)
    for cluster in range(len(clusters)):
        if way[cluster] < 0:
            continue
        base, count = begin[cluster], begin[cluster + 1] - begin[cluster]
        if len(at) < count:
            at = np.zeros(2 * count, np.int64)
        first, last = clusters[cluster, 0], clusters[cluster, 1]
        new_lines(clusters[cluster], FIXED + EACH * sets, records, left_out, lines, base, count)
        disclosing = way[cluster] - 1  # the column whose items are disclosed, if it is one
        for column in range(sets):
            cell, place = cells[column], FIXED + EACH * column
            for child in range(base, base + count):
                inherit(
                    clusters[cluster],
                    place,
                    nodes[child] if column == disclosing else NONE,
                    share[column],
                    lines[child],
                )
            if clusters[cluster, place + 1] == 0:
                for child in range(count):
                    lines[base + child, place] = clusters[cluster, place]
                continue
            for row in range(first, last):
                child = base + np.int64(part[row])
                hidden = np.int64(extra[row, cell] & np.uint32(0xFFFF))
                lines[child, place + 1] += hidden - np.int64(column == disclosing and nodes[child] >= 0)
            position = clusters[cluster, place]
            for child in range(count):
                lines[base + child, place] = position
                at[child] = position - clusters[cluster, place]
                position += lines[base + child, place + 1]
            read = clusters[cluster, place]
            for row in range(first, last):
                child = np.int64(part[row])
                hidden = np.int64(extra[row, cell] & np.uint32(0xFFFF))
                given = nodes[base + child] if column == disclosing else NONE
                write = at[child]
                for index in range(read, read + hidden):
                    if np.int64(items[index]) != given:
                        spare_items[write] = items[index]
                        write += 1
                at[child] = write
                read += hidden
                if given >= 0:
                    extra[row, cell] -= np.uint32(1)
            start = clusters[cluster, place]
            for index in range(position - start):
                items[start + index] = spare_items[index]
        for child in range(count):
            at[child] = lines[base + child, 0] - first
        for row in range(first, last):
            child = np.int64(part[row])
            places[row - first] = at[child]
            at[child] += 1
        _move(extra, places, spare, first, last)
        _move(rows, places, spare, first, last)


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
def fill_hidden(offsets, given, bounds, begin, codes, nodes, lookup, stamp, extra, cell, items, at, runs):
    """List the hidden items of records that are in several clusters, those of cluster c from row ``bounds[c]`` on.

    An item of cluster c whose code is at i of ``codes[begin[c] : begin[c + 1]]`` is hidden as ``nodes[i]``, each node
    once per record; all others are not. They go to ``items``, from ``at`` on; ``extra`` gets the numbers of records,
    ``runs[c]`` where those of a cluster begin and how many there are. ``lookup`` is -1 throughout, ``stamp`` 0 before.
    """
    for cluster in range(len(bounds) - 1):
        runs[cluster, 0] = at
        for index in range(begin[cluster], begin[cluster + 1]):
            lookup[codes[index]] = nodes[index]
        for row in range(bounds[cluster], bounds[cluster + 1]):
            mine = at
            for index in range(offsets[row], offsets[row + 1]):
                node = lookup[np.int64(given[index])]
                if node >= 0 and stamp[node] != row + 1:
                    stamp[node] = row + 1
                    items[at] = node
                    at += 1
            extra[row, cell] = np.uint32(offsets[row + 1] - offsets[row]) << np.uint32(HIDDEN) | np.uint32(at - mine)
        for index in range(begin[cluster], begin[cluster + 1]):
            lookup[codes[index]] = -1
        runs[cluster, 1] = at - runs[cluster, 0]
