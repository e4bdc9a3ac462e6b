"""What all records of a class have in common: the items that it can show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import ZERO


class FlatSets(NamedTuple):
    """Item sets one after the other: record r holds ``items[offsets[r]:offsets[r + 1]]``, sorted."""

    offsets: NDArray[np.int64]
    items: NDArray[Any]


class ClassRows(NamedTuple):
    """The rows of classes: ``order`` lists those of class c from ``start[c]`` to ``start[c + 1]``."""

    order: NDArray[np.int64]
    start: NDArray[np.int64]


class ItemTree(NamedTuple):
    """A hierarchy of items: the node over each item at each depth, the root first, and what showing a node loses."""

    path: NDArray[np.integer[Any]]
    weight: NDArray[np.float64]


class InCommon(NamedTuple):
    """What the records of each class have in common: ``shown[c]`` nodes, listed in ``nodes`` from ``begin[c]``.

    ``disclosed`` is how many of them are items, and ``share`` what is lost per record.
    """

    begin: NDArray[np.int64]
    nodes: NDArray[np.integer[Any]]
    shown: NDArray[np.int64]
    share: NDArray[np.float64]
    disclosed: NDArray[np.int64]


class NodeSpace(NamedTuple):
    """Working space with a cell per node: the records that hold it, the one that was met last, whether it is shown."""

    held: NDArray[np.int64]
    stamp: NDArray[np.int64]
    shown: NDArray[np.bool_]


@kernel
def first_lengths(offsets, classes, lengths):
    """Put the number of items of the first record of each class into ``lengths``, which is -1 where none was seen."""
    for row in range(len(classes)):
        group = classes[row]
        if group >= 0 and lengths[group] < 0:
            lengths[group] = offsets[row + 1] - offsets[row]


@kernel
def common_items(sets, classes, first_class, last_class, common, filled):
    """Find the items that all records of each class hold, walking over the records as they stand.

    Classes from ``first_class`` below ``last_class`` are looked at. What class c has in common are at first the items
    of its first record, then those of them that the next one holds, too, and so on. ``common.shown`` is -1 before;
    ``filled`` and ``common.share`` count the records with items, and add up one by the number of them.
    """
    offsets, items = sets.offsets, sets.items
    begin, found, counts, inverse = common.begin, common.nodes, common.shown, common.share
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
def common_nodes(sets, classes, first_class, last_class, tree, common):
    """Find the lowest nodes that all records of each class hold, level by level from the leaves up.

    An item that is shown, or that is under a node that is shown, takes no part above.
    """
    size, levels = len(tree.weight), tree.path.shape[1]
    space = NodeSpace(np.zeros(size, np.int64), np.full(size, -1, np.int64), np.zeros(size, np.bool_))
    for group in range(first_class, last_class):
        rows = classes.order[classes.start[group] : classes.start[group + 1]]
        found, nodes = common.nodes[common.begin[group] :], ZERO
        for depth in range(levels - 1, 0, -1):
            _count_at(sets, rows, tree.path, depth, space)
            nodes = _list_common(sets, rows, tree.path, depth, space, found, nodes)
            if depth == levels - 1:
                common.disclosed[group] = nodes
        common.share[group] = _mean_loss(sets, rows, tree, space.shown)
        common.shown[group] = nodes
        for index in range(nodes):
            space.shown[found[index]] = False
        _sort(found, nodes)


@kernel
def _count_at(sets, rows, path, depth, space):
    """Count the rows that hold each node of a depth, by items that are not shown yet."""
    offsets, items = sets.offsets, sets.items
    count, stamp, shown = space.held, space.stamp, space.shown
    for place in range(len(rows)):
        row = rows[place]
        for index in range(offsets[row], offsets[row + 1]):
            code = np.int64(items[index])
            node = np.int64(path[code, depth])
            if stamp[node] != place and not _is_shown(path, code, depth, shown):
                stamp[node] = place
                count[node] += 1


@kernel
def _list_common(sets, rows, path, depth, space, found, nodes):
    """List the nodes of a depth that all rows hold behind so many others; return how many there are now.

    They are shown from then on, and the space is cleared.
    """
    offsets, items = sets.offsets, sets.items
    count, stamp, shown = space.held, space.stamp, space.shown
    before = nodes
    for index in range(offsets[rows[0]], offsets[rows[0] + 1]):
        node = np.int64(path[np.int64(items[index]), depth])
        if count[node] == len(rows):
            found[nodes] = node
            nodes += 1
            count[node] = -1
    for index in range(before, nodes):
        shown[found[index]] = True
    for place in range(len(rows)):
        row = rows[place]
        for index in range(offsets[row], offsets[row + 1]):
            node = np.int64(path[np.int64(items[index]), depth])
            count[node] = 0
            stamp[node] = -1
    return nodes


@kernel
def _mean_loss(sets, rows, tree, shown):
    """Return what the rows lose on average, where these nodes are shown."""
    offsets, items, path = sets.offsets, sets.items, tree.path
    lost = 0.0
    for place in range(len(rows)):
        first, last = offsets[rows[place]], offsets[rows[place] + 1]
        own = 0.0
        for index in range(first, last):
            code = np.int64(items[index])
            least = 1.0
            for depth in range(path.shape[1] - 1, 0, -1):
                node = np.int64(path[code, depth])
                if shown[node]:
                    least = tree.weight[node]
                    break
            own += least
        if last > first:
            lost += own / (last - first)
    return lost / len(rows)


@kernel
def _sort(nodes, count):
    """Put the first nodes of a list, which are few, into ascending order."""
    for index in range(count):
        node, place = nodes[index], index
        while place > 0 and nodes[place - 1] > node:
            nodes[place] = nodes[place - 1]
            place -= 1
        nodes[place] = node


@kernel
def _is_shown(path, code, depth, shown):
    """Say whether an item, or a node between it and a depth, is shown already."""
    found = False
    for lower in range(depth + 1, path.shape[1]):
        found = found or shown[np.int64(path[code, lower])]
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


@kernel
def cut_losses(sets, classes, told, shown, figures):
    """Add up, per class, what its records lose, each the mean of its items, and how many items are shown unchanged.

    ``told`` has for each item the node that it is shown as, its own leaf, and what that loses. ``shown`` has the nodes
    that each class shows, sorted; an item whose node is not among them is lost.
    """
    offsets, items = sets.offsets, sets.items
    cut, leaf, loss = told
    share, disclosed = figures
    for row in range(len(classes)):
        group = np.int64(classes[row])
        first, last = offsets[row], offsets[row + 1]
        if group < 0 or first == last:
            continue
        own = 0.0
        for index in range(first, last):
            item = items[index]
            low, high = shown.offsets[group], shown.offsets[group + 1]
            while low < high:
                middle = (low + high) // 2
                if shown.items[middle] < cut[item]:
                    low = middle + 1
                else:
                    high = middle
            if low < shown.offsets[group + 1] and shown.items[low] == cut[item]:
                own += loss[item]
                disclosed[group] += np.int64(cut[item] == leaf[item])
            else:
                own += 1.0
        share[group] += own / (last - first)
