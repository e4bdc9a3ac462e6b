"""Groups of records at one level of generalization, made from the groups at a finer one.

A group is a line of words of 64 bits, in which each attribute's cell has some bits of its own. A step to coarser levels
is described attribute by attribute: ``word``, ``shift`` and ``mask`` say where its cell is, and from ``begin`` on
``target`` has the cell that each cell becomes, and ``delta`` what that adds to the loss of a record.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.class_rows import mixed
from sudare.kernels.compiled import kernel


@kernel
def regroup(keys, rows, costs, word, shift, mask, begin, target, delta):
    """Generalize some attributes and join what becomes the same.

    Returns the new groups' words, records and losses per record, and for each given group the one it is part of.
    """
    count, width, steps = keys.shape[0], keys.shape[1], len(word)
    capacity = np.int64(16)
    while capacity < 2 * count:
        capacity *= 2
    last = capacity - 1
    slots = np.full(capacity, -1, np.int32)
    new_keys = np.empty((count + 1, width), np.uint64)
    new_rows = np.zeros(count, np.int64)
    new_costs = np.empty(count)
    into = np.empty(count, np.int32)
    found = 0
    for group in range(count):
        for index in range(width):
            new_keys[found, index] = keys[group, index]
        cost = costs[group]
        for step in range(steps):
            at = word[step]
            cell = np.int64((new_keys[found, at] >> shift[step]) & mask[step])
            place = begin[step] + cell
            # may wrap around, as it should: the difference may be negative
            new_keys[found, at] += np.uint64(target[place] - cell) << shift[step]
            cost += delta[place]
        hashed = np.uint64(0)
        for index in range(width):
            hashed = mixed(hashed ^ new_keys[found, index])
        slot = np.int64(hashed & np.uint64(last))
        while True:
            held = slots[slot]
            if held < 0:
                slots[slot] = found
                new_rows[found] = rows[group]
                new_costs[found] = cost
                into[group] = found
                found += 1
                break
            same = True
            for index in range(width):
                if new_keys[held, index] != new_keys[found, index]:
                    same = False
            if same:
                new_rows[held] += rows[group]
                into[group] = held
                break
            slot = (slot + 1) & last
    return new_keys[:found].copy(), new_rows[:found].copy(), new_costs[:found].copy(), into


@kernel
def settle(rows, costs, least):
    """Return, over the groups of at least so many records: records, loss, squares of records, and groups."""
    records, squares, groups = 0, 0.0, 0
    loss = 0.0
    for group in range(len(rows)):
        size = rows[group]
        if size >= least:
            records += size
            loss += size * costs[group]
            squares += float(size) * size
            groups += 1
    return records, loss, squares, groups


@kernel
def merge_entries(start, group, count, into, groups):
    """Bring a histogram of groups over to coarser ones; those that go into group -1 are left out.

    The entries stand by code, those of a code from ``start[code]``; so they do in what is returned.
    """
    stamp = np.full(groups, -1, np.int64)
    place = np.empty(groups, np.int64)
    new_start = np.zeros(len(start), np.int64)
    new_group = np.empty(len(group), np.int32)
    new_count = np.empty(len(group), np.int64)
    at = 0
    for code in range(len(start) - 1):
        for entry in range(start[code], start[code + 1]):
            target = into[group[entry]]
            if target < 0:
                continue
            if stamp[target] != code:
                stamp[target] = code
                place[target] = at
                new_group[at] = target
                new_count[at] = 0
                at += 1
            new_count[place[target]] += count[entry]
        new_start[code + 1] = at
    return new_start, new_group[:at].copy(), new_count[:at].copy()


@kernel
def by_group(start, group, count, groups):
    """Put entries that stand by code into the order of their groups, codes ascending within each."""
    begin = np.zeros(groups + 1, np.int64)
    for entry in range(len(group)):
        begin[group[entry] + 1] += 1
    for index in range(groups):
        begin[index + 1] += begin[index]
    at = begin[:-1].copy()
    codes = np.empty(len(group), np.int64)
    counts = np.empty(len(group), np.int64)
    for code in range(len(start) - 1):
        for entry in range(start[code], start[code + 1]):
            place = at[group[entry]]
            codes[place] = code
            counts[place] = count[entry]
            at[group[entry]] += 1
    return begin, codes, counts
