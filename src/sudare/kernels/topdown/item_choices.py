"""Which item each record of a cluster would disclose, and what becomes of the cluster then.

The hidden items of one item-set column stand in ``items``: a cluster's records one after the other, from where the
cluster's line says. How many a record still hides, and how many it had at first, stand together in one cell of
``extra`` (see :data:`HIDDEN`). With a hierarchy the items are nodes of its tree, else ``parent`` is -1 throughout.

A line of ``clusters`` is (first row, last row, budget, records) and then, for each item-set column, (where its items
begin, how many are hidden, what is disclosed: the sum of 1 - share of the nodes, in units of 1 / UNIT, and which inner
nodes are, see :func:`mark`); cells behind those mark attributes that are closed for the cluster.

What is summed over records is summed in whole units, which floats hold exactly: the order of records must not matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import ZERO, sort_stable

HIDDEN = 16
"""A cell holds the items that a record hides in its lower bits, as many as this, and all that it had above them."""
UNIT = 1 << 20
PORTION = 1 << 24
"""Shares of a record's items are added up in units of one by this: exact for half a billion records."""
SLACK = 1e-9
"""An item of exactly theta records is ranked, whatever the product that theta is was rounded to."""
EACH = 4
"""Cells per item-set column in a cluster's line, which begin at FIXED."""
FIXED = 4
REST = -1
"""The part of the records that disclose nothing."""
NO, WHOLE, KEPT, LEFT_OUT, JOINED = 0, 1, 2, 3, 4
"""What becomes of the remainder: no split at all; there is none; a cluster of its own; left out; another part joins."""


class Hidden(NamedTuple):
    """The hidden items of item-set column ``column``; how many each record hides stands in ``extra[:, cell]``."""

    items: NDArray[Any]
    extra: NDArray[np.uint32]
    cell: int
    column: int


class ItemMaps(NamedTuple):
    """What the items of each cluster are mapped to: those of cluster c, and their numbers, begin at ``begin[c]``."""

    begin: NDArray[np.int64]
    code: NDArray[Any]
    number: NDArray[Any]


class Ranking(NamedTuple):
    """Which items are ranked: those that max(beta * records, least) records hold.

    With ``alone`` only one item of each cluster is chosen: the best-ranked one that leaves ``least`` records, none, or
    few enough to be left out. With ``viable`` only such items are ranked: if all but a few records hold an item, and
    it is ranked first, these few cannot be a cluster, and the cluster is not split at all. With ``scored`` the records
    that hold an item count as often as its score says.
    """

    least: int
    beta: float
    alone: bool
    viable: bool
    scored: bool


class Rules(NamedTuple):
    """What decides about a remainder: how many records a child has at least, and whether a part may join it.

    ``weight`` is that of the column.
    """

    least: int
    join: bool
    weight: float


class Forest(NamedTuple):
    """The nodes of one item-set column: their parents (-1: none that can be shown) and what showing them loses."""

    parent: NDArray[np.int64]
    share: NDArray[np.float64]


class Desk(NamedTuple):
    """Working space of one worker for one item-set column; counts are zero between uses.

    ``score`` has the scores of the nodes, in whole units.
    """

    held: NDArray[np.int64]
    rank: NDArray[np.int64]
    stamp: NDArray[np.int64]
    touched: NDArray[np.int64]
    keys: NDArray[np.int64]
    order: NDArray[np.int64]
    spare: NDArray[np.int64]
    lift: NDArray[np.bool_]
    score: NDArray[np.int64]


class Parts(NamedTuple):
    """The ranked items of clusters, one line each: the node, the records that choose it, their sum of 1 / items.

    ``child`` is the number of the part in its cluster once that is decided, REST for one that discloses nothing.
    """

    node: NDArray[np.int64]
    records: NDArray[np.int64]
    gain: NDArray[np.float64]
    child: NDArray[np.int64]


class Outcome(NamedTuple):
    """What a split would do to each cluster, one line each."""

    ends: NDArray[np.int64]
    gain: NDArray[np.float64]
    bits: NDArray[np.float64]
    fate: NDArray[np.int64]
    children: NDArray[np.int64]


def desk(forest: Forest, score: NDArray[np.int64] | None = None) -> Desk:
    """Return working space for the nodes of a column; it also says whether any of them has a parent.

    Without scores, all nodes have the same.
    """
    held, rank, stamp, touched, keys, order, spare = np.zeros((7, len(forest.share) + 1), np.int64)
    lift = np.array([bool((forest.parent >= 0).any())])
    return Desk(held, rank, stamp, touched, keys, order, spare, lift, held[:0] if score is None else score)


def parts(capacity: int) -> Parts:
    """Return room for this many parts."""
    return Parts(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.float64),
        np.empty(capacity, np.int64),
    )


def outcome(clusters: int) -> Outcome:
    """Return room for what becomes of this many clusters."""
    return Outcome(
        np.zeros(clusters, np.int64),
        np.zeros(clusters, np.float64),
        np.zeros(clusters, np.float64),
        np.zeros(clusters, np.int64),
        np.zeros(clusters, np.int64),
    )


@kernel
def mark(node):
    """Return the bit that says that an inner node is disclosed; a few nodes share one, which costs only a chance."""
    return np.int64(1) << (node % np.int64(62))


@kernel
def in_units(share):
    """Return what showing a node of this share discloses, in whole units."""
    return np.int64((1.0 - share) * UNIT)


@kernel
def _count(hidden, first, last, at, count, touched):
    """Count the records that hold each node; return how many nodes there are."""
    items, extra, cell = hidden.items, hidden.extra, hidden.cell
    found = ZERO
    for row in range(first, last):
        many = np.int64(extra[row, cell] & np.uint32(0xFFFF))
        for index in range(at, at + many):
            node = np.int64(items[index])
            if count[node] == 0:
                touched[found] = node
                found += 1
            count[node] += 1
        at += many
    return found


@kernel
def _sweep(hidden, first, last, begin, least, marks, forest, space):
    """Take out nodes that all records hold, and those that too few do; return how many hidden ones are left.

    With ``space.lift`` too rare nodes are replaced by their parents, each once per record, unless those are disclosed.
    """
    items, extra, cell = hidden.items, hidden.extra, hidden.cell
    parent, count, stamp, lift = forest.parent, space.held, space.stamp, space.lift[0]
    total = last - first
    read, write = begin, begin
    for row in range(first, last):
        cellful = extra[row, cell]
        many = np.int64(cellful & np.uint32(0xFFFF))
        mine = write
        for index in range(read, read + many):
            node = np.int64(items[index])
            held = count[node]
            if held == total:
                continue
            if held < least:
                if not lift:
                    continue
                node = parent[node]
                if node < 0 or marks & mark(node) != 0:
                    continue
            if lift:
                if stamp[node] == row + 1:
                    continue
                stamp[node] = row + 1
            items[write] = node
            write += 1
        read += many
        extra[row, cell] = (cellful & np.uint32(0xFFFF0000)) | np.uint32(write - mine)
    return write - begin


@kernel
def settle(hidden, clusters, cluster, least, forest, space):
    """Disclose what all records of one cluster hold, and give up what too few of them hold.

    What is given up is replaced by its parent, where there is one that can be shown, and counted again. Returns how
    many nodes are left; they are listed in ``space.touched``, and ``space.held`` says how many records hold each.
    """
    share, count, touched = forest.share, space.held, space.touched
    line = clusters[cluster]
    first, last = line[0], line[1]
    place = FIXED + EACH * hidden.column
    begin = line[place]
    if line[place + 1] == 0:
        return ZERO
    while True:
        found = _count(hidden, first, last, begin, count, touched)
        rare = shared = given = ZERO
        for index in range(found):
            node = touched[index]
            if count[node] == last - first:
                shared += 1
                given += in_units(share[node])
                if share[node] > 0.0:
                    line[place + 3] |= mark(node)
            elif count[node] < least:
                rare += 1
        if rare + shared == 0:
            return found
        line[place + 1] = _sweep(hidden, first, last, begin, least, line[place + 3], forest, space)
        line[place + 2] += given
        again = space.lift[0] and rare > 0
        kept = _forget(found, last - first, least, again, forest.parent, space)
        if not again:
            return kept


@kernel
def _forget(found, total, least, everything, parent, space):
    """Clear the counts of nodes that are hidden no longer, or of all, and list the others; return how many these are.

    ``found`` nodes are listed before, of a cluster of ``total`` records.
    """
    count, touched, stamp, lift = space.held, space.touched, space.stamp, space.lift[0]
    kept = ZERO
    for index in range(found):
        node = touched[index]
        if lift:
            stamp[node] = 0
            if parent[node] >= 0:
                stamp[parent[node]] = 0
        if everything or count[node] < least or count[node] == total:
            count[node] = 0
        else:
            touched[kept] = node
            kept += 1
    return kept


@kernel
def lift_all(hidden, clusters, forest, space):
    """Replace every hidden node of the clusters by its parent, unless that is disclosed; return which have any left."""
    items, extra, cell = hidden.items, hidden.extra, hidden.cell
    parent, stamp = forest.parent, space.stamp
    left = np.zeros(len(clusters), np.bool_)
    for cluster in range(len(clusters)):
        place = FIXED + EACH * hidden.column
        first, last, begin = clusters[cluster, 0], clusters[cluster, 1], clusters[cluster, place]
        read, write = begin, begin
        marks = clusters[cluster, place + 3]
        for row in range(first, last):
            cellful = extra[row, cell]
            many = np.int64(cellful & np.uint32(0xFFFF))
            mine = write
            for index in range(read, read + many):
                node = parent[np.int64(items[index])]
                if node >= 0 and stamp[node] != row + 1 and marks & mark(node) == 0:
                    stamp[node] = row + 1
                    items[write] = node
                    write += 1
            read += many
            extra[row, cell] = (cellful & np.uint32(0xFFFF0000)) | np.uint32(write - mine)
        for index in range(begin, write):
            stamp[np.int64(items[index])] = 0
        clusters[cluster, place + 1] = write - begin
        left[cluster] = write > begin
    return left


@kernel
def rank_items(found, total, budget, ranking, space):
    """Rank the items that ``space.touched`` lists by the records that hold them, times scores; return how many.

    :func:`ranked_item` says which they are.
    """
    count, touched = space.held, space.touched
    keys, order, least = space.keys, space.order, ranking.least
    theta = max(ranking.beta * total - SLACK * total, float(least))
    ranked = ZERO
    for index in range(found):
        held = count[touched[index]]
        if held >= theta and (not ranking.viable or _leaves_cluster(total - held, budget, least)):
            # most frequent first, ties by code: one key for both, so that equal frequencies sort by code
            keys[index] = (total - held) * (len(count) + 1) + touched[index]
            order[ranked] = index
            ranked += 1
    sort_stable(keys, order, space.spare, ranked)
    if ranking.scored:
        for place in range(ranked):
            node = touched[order[place]]
            keys[order[place]] = -count[node] * space.score[node]
        sort_stable(keys, order, space.spare, ranked)
    if not ranking.alone:
        return ranked
    for index in range(ranked):
        if _leaves_cluster(total - count[touched[order[index]]], budget, least):
            order[0] = order[index]
            return np.int64(1)
    return ZERO


@kernel
def _leaves_cluster(without, budget, least):
    """Return whether the records that do not hold an item can be a cluster, or be left out."""
    return without >= least or without <= budget


@kernel
def ranked_item(index, space):
    """Return the item of a rank."""
    return space.touched[space.order[index]]


@kernel
def rank_and_choose(hidden, clusters, ranking, forest, space, chosen, out, result):
    """Tidy each cluster, rank its hidden items, and let each record choose the best-ranked one it holds.

    ``chosen[row]`` becomes the rank, or the number of ranks for a record without any. Returns nothing; the ranked
    items are listed in ``out``, cluster after cluster, up to ``result.ends``.
    """
    count, rank, touched = space.held, space.rank, space.touched
    place = FIXED + EACH * hidden.column
    at = ZERO
    for cluster in range(len(clusters)):
        first, last, budget = clusters[cluster, 0], clusters[cluster, 1], clusters[cluster, 2]
        result.ends[cluster] = at
        if last - first < ranking.least or clusters[cluster, place + 1] == 0:
            continue
        found = settle(hidden, clusters, cluster, ranking.least, forest, space)
        ranked = rank_items(found, last - first, budget, ranking, space)
        for index in range(found):
            rank[touched[index]] = ranked
            count[touched[index]] = 0
        for index in range(ranked):
            node = ranked_item(index, space)
            rank[node] = index
            out.node[at + index] = node
            out.records[at + index] = 0
            out.gain[at + index] = 0.0
        if ranked > 0:
            _choose(hidden, clusters[cluster], ranked, rank, chosen, out, at)
        for index in range(ranked):
            out.gain[at + index] /= PORTION
        at += ranked
        result.ends[cluster] = at


@kernel
def _choose(hidden, line, ranked, rank, chosen, out, at):
    """Let each record of a cluster choose the best-ranked item it holds, and add it up in ``out``, from ``at`` on."""
    items, extra, cell = hidden.items, hidden.extra, hidden.cell
    records, gain = out.records, out.gain
    read = line[FIXED + EACH * hidden.column]
    for row in range(line[0], line[1]):
        cellful = extra[row, cell]
        many = np.int64(cellful & np.uint32(0xFFFF))
        had = np.int64(cellful >> np.uint32(HIDDEN))
        best = ranked
        for index in range(read, read + many):
            best = min(best, rank[np.int64(items[index])])
        read += many
        chosen[row] = best
        if best < ranked:
            records[at + best] += 1
            gain[at + best] += np.float64(PORTION // had)


@kernel
def resolve(clusters, which, rules, share, lost, out, valid, result):
    """Decide what becomes of the remainder of some clusters, and what that gains.

    ``valid`` says which parts may be clusters of their own. ``lost`` is what a record left out loses by it, per
    cluster. The numbers of the children go into ``out.child``.
    """
    for turn in range(len(which)):
        cluster = which[turn]
        begin = result.ends[cluster - 1] if cluster > 0 else ZERO
        end = result.ends[cluster]
        total, budget = clusters[cluster, 1] - clusters[cluster, 0], clusters[cluster, 2]
        children, inside, gain, cheapest = _number_parts(begin, end, rules.least, share, out, valid)
        rest = total - inside
        gain *= rules.weight
        cost = rest * lost[cluster]
        fate = _fate(rest, children, rest <= budget and gain > cost, rules)
        if fate == LEFT_OUT:
            gain -= cost
        elif fate == JOINED:
            gain -= rules.weight * out.gain[cheapest] * (1.0 - share[out.node[cheapest]])
            rest += out.records[cheapest]
            children -= 1
            _take_back(begin, end, cheapest, out)
        result.gain[cluster] = gain
        result.bits[cluster] = 0.0 if fate == NO else _bits(begin, end, total, rest if fate != LEFT_OUT else ZERO, out)
        result.fate[cluster] = fate
        result.children[cluster] = 0 if fate == NO else children + np.int64(fate != WHOLE)


@kernel
def _number_parts(begin, end, least, share, out, valid):
    """Number the parts that can be children; return how many, their records, what they gain, and which gains least."""
    children, inside, gain = ZERO, ZERO, 0.0
    cheapest, lowest = np.int64(-1), 0.0
    for index in range(begin, end):
        out.child[index] = REST
        if valid[index] and out.records[index] >= least:
            out.child[index] = children
            inside += out.records[index]
            worth = out.gain[index] * (1.0 - share[out.node[index]])
            gain += worth
            children += 1
            if cheapest < 0 or worth <= lowest:
                cheapest, lowest = index, worth
    return children, inside, gain, cheapest


@kernel
def _fate(rest, children, may_leave_out, rules):
    """Return what becomes of a remainder of so many records, beside so many children."""
    if children == 0:
        return NO
    if rest == 0:
        return WHOLE
    if rest >= rules.least:
        return KEPT
    if may_leave_out:
        return LEFT_OUT
    return JOINED if rules.join and children > 1 else NO


@kernel
def _take_back(begin, end, part, out):
    """Let a part be no child; those behind it move up."""
    gone = out.child[part]
    out.child[part] = REST
    for index in range(begin, end):
        if out.child[index] > gone:
            out.child[index] -= 1


@kernel
def _bits(begin, end, total, rest, out):
    """Return how many bits the records of a cluster gain by their children, of which the last may be a remainder."""
    bits = 0.0
    for index in range(begin, end):
        if out.child[index] >= 0:
            bits += out.records[index] * np.log2(total / out.records[index])
    return bits + rest * np.log2(total / rest) if rest > 0 else bits


@kernel
def portions_hidden(disclosed, had):
    """Return which share of so many items a record hides that discloses so much, in whole units."""
    return np.floor(max(1.0 - disclosed / had, 0.0) * PORTION)


@kernel
def hidden_share(extra, cell, clusters, column):
    """Return, for each cluster, the sum over its records of the share of their items that is not disclosed."""
    found = np.zeros(len(clusters), np.float64)
    for cluster in range(len(clusters)):
        disclosed = clusters[cluster, FIXED + EACH * column + 2] / UNIT
        for row in range(clusters[cluster, 0], clusters[cluster, 1]):
            had = np.int64(extra[row, cell] >> np.uint32(HIDDEN))
            if had > 0:
                found[cluster] += portions_hidden(disclosed, had)
        found[cluster] /= PORTION
    return found


@kernel
def exclude(which, out, result, begin, holds, tries, valid):
    """Mark parts of some clusters that may not be children: those that failed, or else those that gain least.

    ``holds`` says it of the children, those of cluster c from ``begin[c]``. Where no disclosing child failed it was
    the remainder, and twice as many parts as the last time (``tries``) go to it.
    """
    for turn in range(len(which)):
        cluster = which[turn]
        first = result.ends[cluster - 1] if cluster > 0 else ZERO
        failed = ZERO
        for index in range(first, result.ends[cluster]):
            child = out.child[index]
            if child >= 0 and not holds[begin[cluster] + child]:
                valid[index] = False
                failed += 1
        if failed > 0:
            continue
        for _ in range(1 << tries[cluster]):
            cheapest = np.int64(-1)
            for index in range(first, result.ends[cluster]):
                live = out.child[index] >= 0 and valid[index]
                if live and (cheapest < 0 or out.gain[index] <= out.gain[cheapest]):
                    cheapest = index
            if cheapest < 0:
                break
            valid[cheapest] = False
        tries[cluster] = min(tries[cluster] + 1, 20)
