"""Moving records between classes with item sets, while that loses less.

What a class loses is computed from its records each time: classes are small, and what its records have in common may
grow by any record that leaves. The items of a record are sorted, so the common ones of a class follow from merging.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering.moves import WORTH, Members, chain, listed_in, unchain
from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import SET, Axes, range_loss, set_loss

NEIGHBOURS = 2
"""Classes on each side of a place in a list of classes that are tried."""
LARGEST = 256
"""A class of more records stays as it is: what it loses is computed from all of them for every record tried."""
MOST_CANDIDATES = 48
"""Classes that are tried for a record, at most."""
NOBODY = np.int64(-1)


class Records(NamedTuple):
    """What records hold: codes of single values, and items of set s from ``offsets[s, r]`` on, numbered through.

    A record loses ``weight[s]`` times the share of its items that is hidden, or, with ``counted``, their number.
    """

    codes: NDArray[Any]
    axes: Axes
    items: NDArray[np.int64]
    offsets: NDArray[np.int64]
    weight: NDArray[np.float64]
    counted: bool


class Classes(NamedTuple):
    """The records of classes, how many there are, and what each class loses."""

    members: Members
    size: NDArray[np.int64]
    loss: NDArray[np.float64]


class Shown(NamedTuple):
    """What classes show: the items of class c from ``begin[c]`` on; and the classes that show item i, ascending."""

    begin: NDArray[np.int64]
    items: NDArray[np.int64]
    by_item: NDArray[np.int64]
    classes: NDArray[np.int64]


class Desk(NamedTuple):
    """Working space: rows of a class, common items, when codes, items and classes were met last, and candidates."""

    rows: NDArray[np.int64]
    common: NDArray[np.int64]
    code_met: NDArray[np.int64]
    item_met: NDArray[np.int64]
    class_met: NDArray[np.int64]
    candidates: NDArray[np.int64]
    visit: NDArray[np.int64]


def desk(records: Records, classes: int, items: int) -> Desk:
    """Return working space for records in so many classes, that hold so many different items."""
    rows, codes = len(records.codes), max(int(records.axes.start[-1]), 1)
    longest = int(np.diff(records.offsets, axis=1).max(initial=0)) + 1
    return Desk(
        np.empty(rows + 1, np.int64),
        np.empty(longest, np.int64),
        np.zeros(codes, np.int64),
        np.zeros(max(items, 1), np.int64),
        np.zeros(max(classes, 1), np.int64),
        np.empty(MOST_CANDIDATES, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def common_items(records, column, rows, count, common):
    """Write the items that so many rows have in common; return how many these are."""
    items, offsets = records.items, records.offsets[column]
    first = rows[0]
    found = offsets[first + 1] - offsets[first]
    for index in range(found):
        common[index] = items[offsets[first] + index]
    for turn in range(1, count):
        if found == 0:
            break
        row, kept = rows[turn], 0
        at, end = offsets[row], offsets[row + 1]
        for index in range(found):
            while at < end and items[at] < common[index]:
                at += 1
            if at < end and items[at] == common[index]:
                common[kept] = common[index]
                kept += 1
        found = kept
    return found


@kernel
def rows_loss(records, rows, count, space):
    """Return what so many rows lose as a class."""
    if count == 0:
        return 0.0
    axes, codes = records.axes, records.codes
    single = 0.0
    for a in range(codes.shape[1]):
        low, high = np.int64(codes[rows[0], a]), np.int64(codes[rows[0], a])
        if axes.kind[a] != SET:
            for turn in range(1, count):
                code = np.int64(codes[rows[turn], a])
                low, high = min(low, code), max(high, code)
            single += axes.weight[a] * range_loss(axes, a, low, high)
            continue
        space.visit[0] += 1
        visit, different = space.visit[0], 0
        for turn in range(count):
            where = axes.start[a] + np.int64(codes[rows[turn], a])
            different += space.code_met[where] != visit
            space.code_met[where] = visit
        several = axes.other[a] >= 0 and space.code_met[axes.start[a] + axes.other[a]] == visit
        single += set_loss(axes, a, different + (axes.more[a] if several else 0.0), axes.weight[a])
    total = count * single
    for column in range(len(records.weight)):
        offsets = records.offsets[column]
        shown = common_items(records, column, rows, count, space.common)
        for turn in range(count):
            had = offsets[rows[turn] + 1] - offsets[rows[turn]]
            if had > 0:
                hidden = float(had - shown)
                total += records.weight[column] * (hidden if records.counted else hidden / had)
    return total


@kernel
def loss_with_change(records, cluster, gone, new, members, space):
    """Return what a class loses without one record, or with one more; -1 is nobody."""
    count, row = 0, members.first[cluster]
    while row >= 0:
        if row != gone:
            space.rows[count] = row
            count += 1
        row = members.after[row]
    if new >= 0:
        space.rows[count] = new
        count += 1
    return rows_loss(records, space.rows, count, space)


@kernel
def form(records, classes, space):
    """Fill in the chains, sizes and losses of classes, from the class of each record."""
    members = classes.members
    for row in range(len(members.of_row) - 1, -1, -1):
        chain(members.of_row[row], row, members)
        classes.size[members.of_row[row]] += 1
    for cluster in range(len(classes.size)):
        classes.loss[cluster] = loss_with_change(records, cluster, NOBODY, NOBODY, members, space)


@kernel
def show(records, classes, space, begin, items):
    """List what classes show, all columns together; with no room for items only where those of each class begin."""
    at = 0
    for cluster in range(len(classes.size)):
        begin[cluster] = at
        count = listed_in(cluster, classes.members, space.rows)
        if count > 0:
            for column in range(len(records.weight)):
                found = common_items(records, column, space.rows, count, space.common)
                for index in range(found):
                    if len(items) > 0:
                        items[at + index] = space.common[index]
                at += found
    begin[len(classes.size)] = at


@kernel
def _note(cluster, own, classes, space, count):
    """Add a class to the candidates, if it is another one and new; return how many there are."""
    if cluster != own and 0 < classes.size[cluster] < LARGEST and space.class_met[cluster] != space.visit[0]:
        space.class_met[cluster] = space.visit[0]
        if count < MOST_CANDIDATES:
            space.candidates[count] = cluster
            count += 1
    return count


@kernel
def _find_candidates(records, row, classes, shown, space):
    """List classes that a record could join without hiding what they show; return how many.

    These are its neighbours by number, and those with the nearest numbers that show an item of the record.
    """
    own, number = classes.members.of_row[row], len(classes.size)
    space.visit[0] += 1
    count = 0
    for cluster in range(max(own - NEIGHBOURS, 0), min(own + NEIGHBOURS + 1, number)):
        count = _note(cluster, own, classes, space, count)
    for column in range(len(records.weight)):
        for index in range(records.offsets[column, row], records.offsets[column, row + 1]):
            item = records.items[index]
            space.item_met[item] = space.visit[0]
            first, last = shown.by_item[item], shown.by_item[item + 1]
            middle = first + np.searchsorted(shown.classes[first:last], own)
            for place in range(max(middle - NEIGHBOURS, first), min(middle + NEIGHBOURS + 1, last)):
                count = _note(shown.classes[place], own, classes, space, count)
    kept = 0
    for turn in range(count):
        cluster = space.candidates[turn]
        fits = True
        for index in range(shown.begin[cluster], shown.begin[cluster + 1]):
            if space.item_met[shown.items[index]] != space.visit[0]:
                fits = False
                break
        if fits:
            space.candidates[kept] = cluster
            kept += 1
    return kept


@kernel
def _find_place(records, row, most, classes, shown, space):
    """Return the class that grows least by a record, if that is less than ``most``, else -1; and what it then loses."""
    count = _find_candidates(records, row, classes, shown, space)
    best, least, lost = NOBODY, most, 0.0
    for turn in range(count):
        cluster = space.candidates[turn]
        then = loss_with_change(records, cluster, NOBODY, row, classes.members, space)
        if then - classes.loss[cluster] < least:
            best, least, lost = cluster, then - classes.loss[cluster], then
    return best, lost


@kernel
def move_records(records, least, classes, shown, space):
    """Move each record of a class of more than ``least`` to the best class nearby; return what that gains."""
    members, gained = classes.members, 0.0
    for row in range(len(members.of_row)):
        own = members.of_row[row]
        if classes.size[own] <= least or classes.size[own] > LARGEST:
            continue
        without = loss_with_change(records, own, row, NOBODY, members, space)
        best, lost = _find_place(records, row, classes.loss[own] - without - WORTH, classes, shown, space)
        if best < 0:
            continue
        gained += classes.loss[own] - without - (lost - classes.loss[best])
        unchain(own, row, members)
        chain(best, row, members)
        classes.size[own] -= 1
        classes.size[best] += 1
        classes.loss[own], classes.loss[best] = without, lost
    return gained


@kernel
def dissolve(records, classes, shown, space):
    """Give up classes whose records, one after the other, find places that lose less; return what that gains."""
    members, gained = classes.members, 0.0
    own_rows, places, before = np.empty(LARGEST, np.int64), np.empty(LARGEST, np.int64), np.empty(LARGEST, np.float64)
    for cluster in range(len(classes.size)):
        count = classes.size[cluster]
        if count == 0 or count > LARGEST:
            continue
        listed_in(cluster, members, own_rows)
        left, done = classes.loss[cluster] - WORTH, 0
        while done < count:
            row = own_rows[done]
            best, lost = _find_place(records, row, left, classes, shown, space)
            if best < 0:
                break
            left -= lost - classes.loss[best]
            places[done], before[done] = best, classes.loss[best]
            unchain(cluster, row, members)
            chain(best, row, members)
            classes.size[best] += 1
            classes.loss[best] = lost
            done += 1
        if done == count:
            classes.size[cluster] = 0
            classes.loss[cluster] = 0.0
            gained += left + WORTH
            continue
        for turn in range(done - 1, -1, -1):
            unchain(places[turn], own_rows[turn], members)
            chain(cluster, own_rows[turn], members)
            classes.size[places[turn]] -= 1
            classes.loss[places[turn]] = before[turn]
    return gained
