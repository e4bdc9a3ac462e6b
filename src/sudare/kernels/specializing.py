"""Groups of atoms that are split by specializing one node of one attribute, and what each split would tell.

An atom is a line of ``atoms``: the codes of its attributes, then its class and its number of records. A group is the
range ``start[g]:end[g]`` of them; all its atoms show the same node in every attribute. From ``begin[a]`` on, ``slot``
has the child of that node that each code of attribute a is below, and ``fan`` how many children it has (0: a leaf).
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.ordering import kernel


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
def split_groups(atoms, start, end, chosen, attribute, slot, width, spare):
    """Sort the atoms of each chosen group by the child of one attribute's node; return where its children begin.

    ``slot`` is of this attribute's codes. The first child that is there stays in the group's place.
    """
    sizes = np.zeros((len(chosen), width), np.int64)
    at = np.zeros(width, np.int64)
    columns = atoms.shape[1]
    for index in range(len(chosen)):
        first, last = start[chosen[index]], end[chosen[index]]
        for line in range(first, last):
            sizes[index, slot[atoms[line, attribute]]] += 1
        total = first
        for child in range(width):
            at[child] = total
            total += sizes[index, child]
        for line in range(first, last):
            child = slot[atoms[line, attribute]]
            for column in range(columns):
                spare[at[child], column] = atoms[line, column]
            at[child] += 1
        for line in range(first, last):
            for column in range(columns):
                atoms[line, column] = spare[line, column]
    return sizes


@kernel
def child_records(atoms, start, end, chosen, attribute, records, slot, width):
    """Return how many records of each chosen group each child of its node would get; ``records`` is their column."""
    counts = np.zeros((len(chosen), width), np.int64)
    for index in range(len(chosen)):
        for line in range(start[chosen[index]], end[chosen[index]]):
            counts[index, slot[atoms[line, attribute]]] += atoms[line, records]
    return counts
