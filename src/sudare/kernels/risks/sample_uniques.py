"""Records that a combination of columns singles out, and the people that records of a release may be about."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel


@kernel
def open_rows(bits, parents, once):
    """Return the rows that none of some combinations single out; empty if no row among them could be alone.

    ``bits[p]`` has a bit for each row that combination ``p`` singles out, ``once`` says which rows occur once.
    """
    rows = len(once)
    found = np.empty(rows, np.int32)
    count, able = 0, False
    for word in range((rows + 63) // 64):
        closed = np.uint64(0)
        for parent in parents:
            closed |= bits[parent, word]
        for bit in range(min(64, rows - 64 * word)):
            if not (closed >> np.uint64(bit)) & np.uint64(1):
                row = 64 * word + bit
                found[count] = row
                count += 1
                able |= once[row]
    return found[:count] if able else found[:0]


@kernel
def combine_codes(codes, sizes, rows):
    """Return one number for the codes of each row, which differs where any of the codes do; it has to fit 64 bits."""
    keys = np.zeros(len(rows), np.uint64)
    for column in range(len(sizes)):
        size, line = np.uint64(sizes[column]), codes[column]
        for index in range(len(rows)):
            keys[index] = keys[index] * size + np.uint64(line[rows[index]])
    return keys


@kernel
def rows_alone(keys, rows, once, counts):
    """Return the rows that occur once and whose key no other row has; ``counts`` has a zero for each possible key.

    The counts are zero again afterwards, so that they serve many combinations.
    """
    for index in range(len(keys)):
        key = np.int64(keys[index])
        counts[key] = min(counts[key] + (1 if once[rows[index]] else 2), 2)
    found = np.empty(len(keys), np.int32)
    at = 0
    for index in range(len(keys)):
        if counts[np.int64(keys[index])] == 1:
            found[at] = rows[index]
            at += 1
    for index in range(len(keys)):
        counts[np.int64(keys[index])] = 0
    return found[:at]


@kernel
def rows_alone_by_lookup(keys, rows, once):
    """Return the same where there are too many possible keys to count each: by an open-addressed table."""
    bits = np.uint64(4)
    while np.int64(1) << np.int64(bits) < 2 * len(keys):
        bits += np.uint64(1)
    size = np.int64(1) << np.int64(bits)
    holder = np.full(size, -1, np.int32)  # the first row of a key; from the second on, -2 - that row
    for index in range(len(keys)):
        key = keys[index]
        slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> (np.uint64(64) - bits))
        while True:
            first = holder[slot]
            if first == -1:
                holder[slot] = index if once[rows[index]] else -2 - index
                break
            place = first if first >= 0 else -2 - first
            if keys[place] == key:
                holder[slot] = -2 - place
                break
            slot = (slot + 1) & (size - 1)
    found = np.empty(len(keys), np.int32)
    at = 0
    for slot in range(size):
        if holder[slot] >= 0:
            found[at] = rows[holder[slot]]
            at += 1
    return found[:at]


@kernel
def close_rows(bits, parents, own, alone):
    """Note that combination ``own`` singles out what its parts do, and some rows more."""
    for word in range(bits.shape[1]):
        for parent in parents:
            bits[own, word] |= bits[parent, word]
    for row in alone:
        bits[own, row // 64] |= np.uint64(1) << np.uint64(row % 64)


@kernel
def add_scores(scores, alone, points):
    """Add points to the scores of some rows."""
    for row in alone:
        scores[row] += points
