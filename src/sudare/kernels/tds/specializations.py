"""Groups of atoms that are split by specializing one node of one attribute, and what each split would tell.

An atom is a line of ``atoms``: the codes of its attributes, then its class and its number of records. A group is the
range ``start[g]:end[g]`` of them; all its atoms show the same node in every attribute. From ``begin[a]`` on, ``slot``
has the child of that node that each code of attribute a is below, and ``fan`` how many children it has (0: a leaf).
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import sort_stable


@kernel
def information(counts, classes, whole, weight):
    """Return what one group adds to the information of the table: doubt about its class, and about which group it is.

    ``counts`` has its records by class; ``weight`` is that of the first, one less it that of the second.
    """
    size = 0.0
    for index in range(classes):
        size += counts[index]
    if size == 0.0:
        return 0.0
    doubt = 0.0
    for index in range(classes):
        if counts[index] > 0.0:
            doubt -= counts[index] * np.log2(counts[index] / size)
    return (weight * doubt - (1.0 - weight) * size * np.log2(size / whole)) / whole


@kernel
def gains(atoms, start, end, chosen, begin, slot, fan, classes, whole, weight, result):
    """Put into ``result`` how much each chosen group's information falls if its node is specialized, by attribute."""
    attributes = len(begin) - 1
    widest = 1
    for place in range(len(fan)):
        widest = max(widest, fan[place])
    own = np.zeros(classes)
    tally = np.zeros((widest, classes))
    for index in range(len(chosen)):
        first, last = start[chosen[index]], end[chosen[index]]
        own[:] = 0.0
        for line in range(first, last):
            own[atoms[line, attributes]] += atoms[line, attributes + 1]
        before = information(own, classes, whole, weight)
        for attribute in range(attributes):
            at = begin[attribute]
            width = fan[at + atoms[first, attribute]]
            if width < 2:
                result[index, attribute] = 0.0
                continue
            tally[:width] = 0.0
            for line in range(first, last):
                tally[slot[at + atoms[line, attribute]], atoms[line, attributes]] += atoms[line, attributes + 1]
            after = 0.0
            for child in range(width):
                after += information(tally[child], classes, whole, weight)
            result[index, attribute] = before - after


@kernel
def least_parts(atoms, start, end, chosen, attributes, begin, slot, fan, records, result):
    """Put into ``result`` the records of the smallest part of each chosen group if its node is specialized.

    Column p of the atoms has the codes of ``attributes[p]``, and ``records`` is the column of the numbers of records. A
    leaf is one part: the group. The last column of the result is the group itself.
    """
    widest = 1
    for place in range(len(fan)):
        widest = max(widest, fan[place])
    tally = np.zeros(widest, np.int64)
    for index in range(len(chosen)):
        first, last = start[chosen[index]], end[chosen[index]]
        size = np.int64(0)
        for line in range(first, last):
            size += np.int64(atoms[line, records])
        result[index, len(attributes)] = size
        for place in range(len(attributes)):
            at = begin[attributes[place]]
            width = fan[at + atoms[first, place]]
            result[index, place] = size
            if width < 2:
                continue
            tally[:width] = 0
            for line in range(first, last):
                tally[slot[at + atoms[line, place]]] += np.int64(atoms[line, records])
            for child in range(width):
                if 0 < tally[child] < result[index, place]:
                    result[index, place] = tally[child]


@kernel
def find_parts(atoms, start, end, chosen, attribute, records, slot, width, part_of):
    """Find the children of one attribute's node that the chosen groups have records of, group by group, ascending.

    ``slot`` is of this attribute's codes, ``records`` the column of numbers of records. Returns the group (its place
    among the chosen ones), the child, the atoms and the records of each part; ``part_of`` gets the part of each atom,
    those of the chosen groups one after another. Only what is there is counted: a node may have very many children.
    """
    owner, child = np.empty(len(part_of), np.int64), np.empty(len(part_of), np.int64)
    lines, amount = np.zeros(len(part_of), np.int64), np.zeros(len(part_of), np.int64)
    number = np.full(width, -1, np.int64)
    found, order, spare = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.int64)
    parts, at = 0, 0
    for index in range(len(chosen)):
        first, last = start[chosen[index]], end[chosen[index]]
        there = 0
        for line in range(first, last):
            into = slot[atoms[line, attribute]]
            if number[into] < 0:
                number[into] = 0
                found[there] = into
                order[there] = there
                there += 1
        sort_stable(found, order, spare, there)
        for place in range(there):
            into = found[order[place]]
            number[into] = parts + place
            owner[parts + place], child[parts + place] = index, into
        for line in range(first, last):
            part = number[slot[atoms[line, attribute]]]
            lines[part] += 1
            amount[part] += atoms[line, records]
            part_of[at] = part
            at += 1
        for place in range(there):
            number[found[place]] = -1
        parts += there
    return owner[:parts], child[:parts], lines[:parts], amount[:parts]


@kernel
def sort_parts(atoms, start, end, chosen, begin, part_of, spare):
    """Sort the atoms of the chosen groups by their parts, which begin at these lines; ``begin`` is used up."""
    columns = atoms.shape[1]
    at = 0
    for index in range(len(chosen)):
        first, last = start[chosen[index]], end[chosen[index]]
        for line in range(first, last):
            place = begin[part_of[at]]
            begin[part_of[at]] += 1
            at += 1
            for column in range(columns):
                spare[place, column] = atoms[line, column]
        for line in range(first, last):
            for column in range(columns):
                atoms[line, column] = spare[line, column]
