"""Polish: moves records between neighbouring classes, and splits joined classes again, while this reduces the loss.

Steps
    1. A record may leave a class that keeps the requirements without it. It goes to the class nearby whose loss grows
       least by it, if the two together then lose less. Nearby are the classes of the nearest distinct records. This is
       repeated until it gains next to nothing.
    2. A class is dissolved if its records, one after the other, find such places and all together lose less.
    3. Two neighbouring classes are joined, and parted anew at the best place of an order from one end to the other; one
       that is large enough is parted by itself.
    4. All this is repeated until it gains next to nothing.
    5. Requirements beyond numbers of records and of different values are tested after each pass; classes that fail join
       the class that grows least by them, and a pass that has not paid then is taken back. Where the kernels do not
       know a requirement, many classes fail. So the records that came to them or left them may also go back, whichever
       loses less.
    6. Where the items of sensitive sets are limited, all this is done without a look at the items first, and then with
       one: classes of more than 256 records then stay as they are.

Cost
    A pass tests every record of a class that may lose one against some ten classes, and parts each class that has
    changed with four neighbours; there are three to six passes.

Guarantee
    Every class keeps the requirements, and the loss is not above that of the given classes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener, silent
from sudare.kernels.clustering import moves as kernel
from sudare.kernels.clustering import regroups
from sudare.kernels.clustering.promise_gaps import Promise
from sudare.methods.class_counts import tallied
from sudare.methods.clustering.neighbourhoods import Field, Ints, in_order
from sudare.methods.clustering.promise_arrays import CHECKED_KINDS, NO_LIMITS, rules_of
from sudare.models import Requirements
from sudare.table import SUPPRESSED, Partition, Table

PASSES = 12
"""At most; on Adult there are three to six."""
LITTLE = 1e-3
"""A pass that gains less than this part of the loss is the last; on Adult a tenth of it takes off 0.1% more."""


def polish(
    table: Table,
    requirements: Requirements,
    partition: Partition,
    *,
    field: Field | None = None,
    near: Ints | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Move records between the classes of a local recoding, as long as that loses less.

    Suppressed or masked records stay so, and classes with item sets stay unchanged. ``field`` and ``near`` are what a
    method that has put the records in order may have found already.
    """
    last = partition.count - partition.masked
    if last < 2 or not table.single or table.sets:
        return partition
    if field is None:
        rows = in_order(table, np.flatnonzero(partition.shows_something), partition.classes)
        some = table.taken(rows)
        field, near = Field(some), None
    else:
        rows, some = np.arange(table.rows), table
    near = field.around() if near is None else near
    given = partition.classes[rows].astype(np.int64)
    # masked records show nothing, and are still a part of what distributions are measured against
    whole = table.taken(np.flatnonzero(partition.classes != SUPPRESSED)) if partition.masked else some
    found = Polisher(some, requirements, field, near, whole).run(given, last, progress or silent)
    return partition if found is None else with_classes(partition, rows, found)


def with_classes(partition: Partition, rows: Ints, found: Ints) -> Partition:
    """Return a partition with other classes for the rows that show something; masked rows stay the last class."""
    kept, numbers = np.unique(found, return_inverse=True)
    classes = partition.classes.copy()
    classes[rows] = numbers
    if partition.masked:
        classes[partition.classes == partition.count - 1] = len(kept)
    return replace(partition, classes=classes, count=len(kept) + partition.masked)


class Polisher:
    """One table being polished: what the kernel needs of it. It is the ``whole`` release, or some records of that."""

    def __init__(
        self, table: Table, requirements: Requirements, field: Field, near: Ints, whole: Table | None = None
    ) -> None:
        self.table, self.requirements, self.field = table, requirements, field
        self.whole = table if whole is None else whole
        self.rules = rules_of(table, requirements, CHECKED_KINDS, self.whole)
        self.values = self.rules.values
        rows = np.argsort(field.of_row, kind="stable")
        begin = np.searchsorted(field.of_row[rows], np.arange(len(field) + 1))
        self.around = kernel.Around(field.of_row, near, begin, rows)
        self.codes = field.codes[field.of_row]

    def run(self, classes: Ints, count: int, listener: Listener) -> Ints | None:
        """Return better classes, or None if there are none."""
        promise, found = self.rules.promise, None
        looks = [promise]
        if len(promise.items.l):  # large classes gain more by joining those that fail than by counting items
            looks.insert(0, promise._replace(items=NO_LIMITS))
        whole = len(looks) * PASSES
        for look, done in zip(looks, range(0, whole, PASSES), strict=True):
            at = classes if found is None else found
            better = self.passes(look, at, count, listener, done, whole)
            found = found if better is None else better
        listener("polish", whole, whole)
        return found

    def passes(
        self, promise: Promise, classes: Ints, count: int, listener: Listener, done: int, whole: int
    ) -> Ints | None:
        """Return better classes, as far as kernels look at a promise, or None if there are none.

        The listener hears that so many of the ``whole`` number of passes are ``done`` already.
        """
        members, shapes = self.shaped(classes, count)
        best, found = _total(shapes), None
        for turn in range(PASSES):
            listener("polish", done + turn, whole)
            before = members.of_row.copy()
            self.improve(promise, members, shapes)
            if not self.rules.exact:
                members, shapes = self.mended(before, members.of_row, count)
            tried, count = members.of_row, len(shapes.size)
            loss = _total(shapes)
            if loss < best:
                found = tried.copy()
            if loss >= best - LITTLE * best:
                break
            best = loss
        return found

    def improve(self, promise: Promise, members: kernel.Members, shapes: kernel.Shapes) -> None:
        """Move records until that gains little, then change whole classes."""
        codes, values, space, around, needs = self.codes, self.values, self.field.space, self.around, self.rules.needs
        for _ in range(PASSES):
            before = _total(shapes)
            _, gained = kernel.move_records(codes, values, space, around, needs, promise, members, shapes)
            if gained <= LITTLE * before:
                break
        regroups.dissolve(codes, values, space, around, promise, members, shapes)
        regroups.part_anew(codes, values, space, around, needs, promise, members, shapes)

    def mended(self, before: Ints, after: Ints, count: int) -> tuple[kernel.Members, kernel.Shapes]:
        """Return classes that keep the requirements, in the way that loses less."""
        ways = [self.shaped(*joined(self, after, count))]
        if not self.rules.complete:
            ways.append(self.shaped(taken_back(self.table, self.requirements, before, after, self.whole), count))
        return min(ways, key=lambda way: _total(way[1]))

    def shaped(self, classes: Ints, count: int) -> tuple[kernel.Members, kernel.Shapes]:
        """Return the chains and covers of classes."""
        attributes, values = self.codes.shape[1], int(self.values.max(initial=0)) + 1
        members = kernel.Members(
            classes.copy(),
            np.full(count, -1, np.int64),
            np.full(len(classes), -1, np.int64),
            np.full(len(classes), -1, np.int64),
        )
        shapes = kernel.Shapes(
            np.zeros((count, attributes), np.int64),
            np.zeros((count, attributes), np.int64),
            np.zeros((count, attributes), np.uint64),
            np.zeros(count),
            np.zeros(count, np.int64),
            np.zeros((count, values), np.int32),
            np.zeros(count, np.int64),
            np.ones(count, np.bool_),
        )
        kernel.shape(self.codes, self.values, self.field.space, members, shapes)
        return members, shapes


def _total(shapes: kernel.Shapes) -> float:
    """Return what all records lose."""
    return float((shapes.size * shapes.loss).sum())


def joined(work: Polisher, classes: Ints, count: int) -> tuple[Ints, int]:
    """Join each class that does not keep the requirements with the one that grows least by it, until all do."""
    while True:
        kept, classes = np.unique(classes, return_inverse=True)
        count = len(kept)
        holds = work.requirements.holds(tallied(work.table, work.requirements, classes, count, whole=work.whole))
        if holds.all() or count == 1:
            return classes, count
        members, shapes = work.shaped(classes, count)
        into = np.arange(count)
        kernel.find_partners(np.flatnonzero(~holds), work.field.space, work.around, members, shapes, into)
        classes = _roots(into)[classes]


def taken_back(table: Table, requirements: Requirements, before: Ints, after: Ints, whole: Table) -> Ints:
    """Take moves back until every class keeps the requirements; it does if all are. ``whole`` is all that is published.

    Moves are taken back by class: all those to it and from it.
    """
    after = after.copy()
    while True:
        kept, numbers = np.unique(after, return_inverse=True)
        holds = requirements.holds(tallied(table, requirements, numbers, len(kept), whole=whole))
        failed = np.zeros(int(max(before.max(), after.max())) + 1, dtype=np.bool_)
        failed[kept[~holds]] = True
        moved = (before != after) & (failed[before] | failed[after])
        if not moved.any():
            return after if holds.all() else before
        after[moved] = before[moved]


def _roots(into: NDArray[np.int64]) -> Ints:
    """Follow who joins whom to the end; if this is a circle, its first member is the end.

    With as many steps as there are classes everyone is on a circle, maybe one of a single class, and has been all round
    it. Steps are doubled, so that there are log2 of as many rounds, whatever is given: a loop until nothing changes
    would go round a circle of three for ever.
    """
    ahead, first = into, np.arange(len(into))
    for _ in range(len(into).bit_length()):
        first = np.minimum(first, first[ahead])  # of as many as ``ahead`` goes past, the one with the least number
        ahead = ahead[ahead]
    return np.asarray(first[ahead])
