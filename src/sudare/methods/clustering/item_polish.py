"""Polish of classes with item sets: records move to classes where they, or those they leave, show more.

Steps
    1. A record may leave a class that keeps the requirements without it. It goes to the class nearby that grows least
       by it, if both together then lose less. Nearby are the classes next to its own, which were split off last, and
       those that show an item of the record; a class comes into question only if the record holds all that it shows.
       Classes of more than 256 records stay as they are.
    2. A class is dissolved if its records, one after the other, find such places and all together lose less.
    3. Both are repeated until they gain next to nothing.
    4. Requirements beyond numbers of records are tested after each pass. Records that came to a class that fails, or
       left it, go back, and so on until all classes hold.

With ``items_first`` the number of items shown is what counts, and the loss of single values only among equal numbers.

Cost
    A pass tests every record against a few dozen classes at most, each in time that grows with the size of the class.
    There are a few passes.

Guarantee
    Every class keeps the requirements. The release loses no more than with the given classes, or shows no fewer items;
    otherwise these are returned.

Deviations
    With a hierarchy of items, moves look at items and not at the nodes above them; the comparison at the end does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.kernels.clustering import set_moves as kernel
from sudare.kernels.clustering.moves import Members
from sudare.methods.attribute_arrays import describe_axes
from sudare.methods.clustering.polish import taken_back, with_classes
from sudare.metrics import METRICS, item_figures
from sudare.models import KAnonymity, Requirements
from sudare.table import SUPPRESSED, ItemSets, Partition, Table, generalize

PASSES = 12
"""At most; there are two to five."""
LITTLE = 1e-3
"""A pass that gains less than this part of the loss is the last."""
TIE_BREAK = 1e-6
"""The weight of single values where items come first."""

Ints = NDArray[np.int64]


def polish_item_sets(
    table: Table,
    requirements: Requirements,
    partition: Partition,
    *,
    items_first: bool = False,
    progress: Listener | None = None,
) -> Partition:
    """Move records between classes of a table with item sets, as long as that loses less or shows more items.

    Suppressed or masked records stay so.
    """
    if requirements.least_rows > kernel.LARGEST:
        raise UnsupportedError(
            f"polish moves records between classes with item sets of at most {kernel.LARGEST} records, and the policy "
            f"requires {requirements.least_rows} or more.",
            hint="remove polish from the policy.",
        )
    last = partition.count - partition.masked
    if last < 2:
        return partition
    rows = _in_order(table, partition)
    some = table.taken(rows)
    # masked records show nothing, and are still a part of what distributions are measured against
    whole = table.taken(np.flatnonzero(partition.classes != SUPPRESSED)) if partition.masked else some
    found = _Polisher(some, requirements, items_first, whole).run(
        partition.classes[rows].astype(np.int64), last, progress or silent
    )
    if found is None:
        return partition
    polished = with_classes(partition, rows, found)
    return polished if _value(table, polished, items_first) > _value(table, partition, items_first) else partition


def _value(table: Table, partition: Partition, items_first: bool) -> tuple[float, float]:
    """Return what is better if it is more: items and then loss, or loss alone, with the weights of columns."""
    made = generalize(table, partition)
    lost = METRICS["gcp"](made).attributes
    weights = {name: column.weight for name, column in table.quasi.items()}
    loss = -sum(weights[name] * lost[name] for name in lost)
    return (sum(told["disclosed"] for told in item_figures(made).values()) if items_first else 0.0), loss


def _in_order(table: Table, partition: Partition) -> Ints:
    """Return the published records, sorted by class and by all they hold, so that their own order does not matter."""
    rows = np.flatnonzero(partition.shows_something)
    columns = [*table.single.values(), *table.sensitive.values(), *([table.subject] if table.subject else [])]
    keys = [partition.classes, *(column.codes for column in columns)]
    for column in table.sets.values():
        keys += [np.diff(column.offsets), _digests(column)]
    return np.asarray(rows[np.lexsort([key[rows] for key in reversed(keys)])])


def _digests(column: ItemSets) -> NDArray[np.uint64]:
    """Return a number for each set, which only equal sets share (but for a chance of one in 2^64)."""
    mixed = np.arange(1, column.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum((mixed ^ (mixed >> np.uint64(31)))[column.items])))
    return np.asarray(sums[column.offsets[1:]] - sums[column.offsets[:-1]])


class _Polisher:
    """One table being polished: what the kernel needs of it. It is the ``whole`` release, or some records of that."""

    def __init__(self, table: Table, requirements: Requirements, items_first: bool, whole: Table | None = None) -> None:
        self.table, self.requirements, self.whole = table, requirements, table if whole is None else whole
        columns, sets = list(table.single.values()), list(table.sets.values())
        codes = np.empty((table.rows, len(columns)), dtype=np.uint32)
        for index, column in enumerate(columns):
            codes[:, index] = column.codes
        begin = np.cumsum([0, *(column.size for column in sets)])
        held = [column.items.astype(np.int64) + first for column, first in zip(sets, begin.tolist(), strict=False)]
        where = np.cumsum([0, *(len(items) for items in held)])
        offsets = np.stack([column.offsets + at for column, at in zip(sets, where.tolist(), strict=False)])
        axes = describe_axes(columns)
        weight = np.array([column.weight for column in sets], dtype=np.float64)
        if items_first:
            axes = axes._replace(weight=axes.weight * TIE_BREAK)
            weight = np.ones(len(sets))
        self.items = int(begin[-1])
        self.records = kernel.Records(codes, axes, np.concatenate(held), offsets, weight, items_first)
        self.least = requirements.least_rows
        # whether the kernel's own test is all there is to test
        self.simple = all(isinstance(model, KAnonymity) and model.count == "rows" for model in requirements.of_groups)

    def run(self, of_row: Ints, count: int, listener: Listener) -> Ints | None:
        """Return better classes, or None if there are none."""
        space = kernel.desk(self.records, count, self.items)
        classes = self.formed(of_row, count, space)
        best, found = float(classes.loss.sum()), None
        for turn in range(PASSES):
            listener("polish", turn, PASSES)
            before = classes.members.of_row.copy()
            shown = self.shown(classes, space)
            kernel.move_records(self.records, self.least, classes, shown, space)
            kernel.dissolve(self.records, classes, self.shown(classes, space), space)
            if not self.simple:
                after = classes.members.of_row
                kept = taken_back(self.table, self.requirements, before, after, self.whole)
                classes = self.formed(kept, count, space)
            loss = float(classes.loss.sum())
            if loss < best:
                found = classes.members.of_row.copy()
            if loss >= best - LITTLE * best:
                break
            best = loss
        listener("polish", PASSES, PASSES)
        return found

    def formed(self, of_row: Ints, count: int, space: kernel.Desk) -> kernel.Classes:
        """Return the chains, sizes and losses of classes."""
        members = Members(
            of_row.copy(),
            np.full(count, -1, np.int64),
            np.full(len(of_row), -1, np.int64),
            np.full(len(of_row), -1, np.int64),
        )
        classes = kernel.Classes(members, np.zeros(count, np.int64), np.zeros(count))
        kernel.form(self.records, classes, space)
        return classes

    def shown(self, classes: kernel.Classes, space: kernel.Desk) -> kernel.Shown:
        """Return what classes show, and which classes show an item."""
        begin = np.zeros(len(classes.size) + 1, np.int64)
        kernel.show(self.records, classes, space, begin, np.zeros(0, np.int64))
        items = np.zeros(int(begin[-1]), np.int64)
        kernel.show(self.records, classes, space, begin, items)
        owner = np.repeat(np.arange(len(classes.size)), np.diff(begin))
        order = np.argsort(items, kind="stable")
        by_item = np.searchsorted(items[order], np.arange(self.items + 1))
        return kernel.Shown(begin, items, by_item, owner[order])
