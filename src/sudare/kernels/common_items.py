"""What all records of a class have in common: the items that it can show."""

from __future__ import annotations

import numpy as np

from sudare.kernels.topdown.value_orders import ZERO, kernel


@kernel
def first_lengths(offsets, classes, lengths):
    """Put the number of items of the first record of each class into ``lengths``, which is -1 where none was seen."""
    for row in range(len(classes)):
        group = classes[row]
        if group >= 0 and lengths[group] < 0:
            lengths[group] = offsets[row + 1] - offsets[row]


@kernel
def common_items(offsets, items, classes, first_class, last_class, begin, found, counts, filled, inverse):
    """Find the items that all records of each class hold, walking over the records as they stand.

    Classes from ``first_class`` below ``last_class`` are looked at. What class c has in common goes to ``found``, from
    ``begin[c]``: at first the items of its first record, then those of them that the next one holds, too, and so on.
    ``counts[c]``, -1 before, tells how many there are; ``filled`` and ``inverse`` count the records with items, and
    add up one by the number of them.
    """
    for row in range(len(classes)):
        group = np.int64(classes[row])
        if group < first_class or group >= last_class:
            continue
        left, right, at = offsets[row], offsets[row + 1], begin[group]
        if right > left:
            filled[group] += 1
            inverse[group] += 1.0 / (right - left)
        count = counts[group]
        if count < 0:
            for index in range(right - left):
                found[at + index] = items[left + index]
            counts[group] = right - left
            continue
        kept = ZERO
        for index in range(count):  # both are sorted
            item = found[at + index]
            while left < right and items[left] < item:
                left += 1
            if left < right and items[left] == item:
                found[at + kept] = item
                kept += 1
        counts[group] = kept


@kernel
def common_nodes(
    offsets, items, order, starts, first_class, last_class, path, weight, begin, found, shown, share, disclosed
):
    """Find the lowest nodes that all records of each class hold, level by level from the leaves up.

    An item that is shown, or that is under a node that is shown, takes no part above. ``shown[c]`` becomes the
    number of nodes of class c, listed in ``found`` from ``begin[c]``; ``disclosed[c]`` the leaves among them.
    ``weight`` is what showing a node loses.
    """
    levels = path.shape[1]
    count = np.zeros(len(weight), np.int64)
    stamp = np.full(len(weight), -1, np.int64)
    state = np.zeros(len(weight), np.bool_)
    for group in range(first_class, last_class):
        low, high = starts[group], starts[group + 1]
        at, nodes = begin[group], ZERO
        for depth in range(levels - 1, 0, -1):
            for place in range(low, high):
                row = order[place]
                for index in range(offsets[row], offsets[row + 1]):
                    code = np.int64(items[index])
                    node = np.int64(path[code, depth])
                    if stamp[node] != place and not _is_shown(path, code, depth, levels, state):
                        stamp[node] = place
                        count[node] += 1
            row = order[low]
            before = nodes
            for index in range(offsets[row], offsets[row + 1]):
                node = np.int64(path[np.int64(items[index]), depth])
                if count[node] == high - low:
                    found[at + nodes] = node
                    nodes += 1
                    count[node] = -1
            for index in range(before, nodes):
                state[found[at + index]] = True
            for place in range(low, high):
                row = order[place]
                for index in range(offsets[row], offsets[row + 1]):
                    node = np.int64(path[np.int64(items[index]), depth])
                    count[node] = 0
                    stamp[node] = -1
            if depth == levels - 1:
                disclosed[group] = nodes
        lost = 0.0
        for place in range(low, high):
            row = order[place]
            own = 0.0
            for index in range(offsets[row], offsets[row + 1]):
                code = np.int64(items[index])
                least = 1.0
                for depth in range(levels - 1, 0, -1):
                    node = np.int64(path[code, depth])
                    if state[node]:
                        least = weight[node]
                        break
                own += least
            if offsets[row + 1] > offsets[row]:
                lost += own / (offsets[row + 1] - offsets[row])
        share[group] = lost / (high - low)
        for index in range(nodes):
            node = found[at + index]
            state[node] = False
            place = at + index  # found level by level, listed in order
            while place > at and found[place - 1] > node:
                found[place] = found[place - 1]
                place -= 1
            found[place] = node
        shown[group] = nodes


@kernel
def _is_shown(path, code, depth, levels, state):
    """Say whether an item, or a node between it and a depth, is shown already."""
    found = False
    for lower in range(depth + 1, levels):
        found = found or state[np.int64(path[code, lower])]
    return found


@kernel
def squeeze(begin, found, counts, starts, result):
    """Copy the runs of ``found``, which begin at ``begin``, to where ``starts`` says, without the gaps."""
    for group in range(len(counts)):
        for index in range(counts[group]):
            result[starts[group] + index] = found[begin[group] + index]


@kernel
def own_loss(offsets, items, classes, loss):
    """Return the sum, over records of a class, of the mean loss of their items, and how many items lose nothing."""
    total, whole = 0.0, ZERO
    for row in range(len(classes)):
        first, last = offsets[row], offsets[row + 1]
        if classes[row] < 0 or first == last:
            continue
        own = 0.0
        for index in range(first, last):
            own += loss[items[index]]
            whole += np.int64(loss[items[index]] == 0.0)
        total += own / (last - first)
    return total, whole
