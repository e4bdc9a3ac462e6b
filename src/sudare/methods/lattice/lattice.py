"""The lattice of a table: every combination of levels of its quasi-identifiers, and the groups at each.

A node of the lattice is a tuple of levels, one per quasi-identifier; 0 is untouched. Groups are always made from those
of a finer node, never from the records, and a histogram of sensitive values only where a test asks for it.

Of an item set, a whole set is a value: at a higher level each item becomes its node, and sets become equal. What a
record loses then depends on the items that it had, not only on what it shows. So groups carry what their records lose
in each item set at each level, and add it up when they are joined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import UnsupportedError
from sudare.kernels.lattice import level_groups
from sudare.methods.class_counts import refuse_free_sets
from sudare.metrics import LevelLoss, level_losses, set_losses
from sudare.models import Groups, Histograms, KAnonymity, Requirements
from sudare.table import SUPPRESSED, Column, ItemSets, Partition, Table, cut_at, find_atoms, height
from sudare.table.encode_items import settled
from sudare.table.encode_sets import number_sets

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]
Levels = tuple[int, ...]
Change = tuple[int, int, int]
"""An attribute, the level it is at, and the level it goes to."""

SEPARABLE = ("arx", "gcp", "precision", "entropy")
"""Losses that are a sum over cells; of the others only groups and their sizes matter."""
WORD = 64


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute: per level the cell of each code and the loss of a record in each cell, and where its bits are.

    ``means`` is what the attribute adds to the loss of the whole table at each level, if no record is suppressed. Of an
    item set a code is a whole set. Its ``losses`` are nothing, and ``parts`` has what a record of each code loses at
    each level.
    """

    column: Column | ItemSets
    cells: tuple[Ints, ...]
    losses: tuple[Reals, ...]
    left_out: float
    means: Reals
    word: int
    shift: int
    parts: Reals | None = None

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.cells[0])

    @property
    def top(self) -> int:
        """The level that shows nothing."""
        return len(self.cells) - 1

    @property
    def mask(self) -> int:
        """The bits of its cells."""
        return (1 << _bits(self.size)) - 1

    def move(self, low: int, high: int) -> tuple[Ints, Reals]:
        """Return what each cell of a level becomes at a higher one, and what a record loses by that."""
        target = np.empty(len(self.losses[low]), dtype=np.int64)
        target[self.cells[low]] = self.cells[high]
        return target, self.losses[high][target] - self.losses[low]


@dataclass(frozen=True, eq=False)
class SetParts:
    """What groups lose in item sets: ``sums`` has a column for each item set and level, ``now`` those of the node."""

    sums: Reals
    now: tuple[int, ...]

    def joined(self, into: NDArray[np.integer[Any]], groups: int, now: tuple[int, ...]) -> SetParts:
        """Return the parts of coarser groups."""
        sums = np.empty((groups, self.sums.shape[1]))
        for place in range(self.sums.shape[1]):
            sums[:, place] = np.bincount(into, self.sums[:, place], groups)
        return SetParts(sums, now)

    def per_record(self, rows: Ints) -> Reals:
        """Return what a record of each group loses on average."""
        return np.asarray(self.sums[:, self.now].sum(axis=1) / rows)


class Grouped:
    """Groups at a node: their words, records and losses per record; ``lost`` records are out of it for good.

    ``parent`` are the groups that they were made from, ``into`` says where each of those went (-1: out for good).
    ``plain`` are the losses in single-valued columns alone, and ``parts`` those in item sets, if there are any.
    """

    def __init__(
        self,
        keys: NDArray[np.uint64],
        rows: Ints,
        losses: Reals,
        lost: int = 0,
        parent: Grouped | None = None,
        into: NDArray[np.int32] | None = None,
        parts: SetParts | None = None,
    ) -> None:
        self.keys, self.rows, self.plain, self.lost, self.parts = keys, rows, losses, lost, parts
        self.losses = losses if parts is None else losses + parts.per_record(rows)
        self.parent, self.into = parent, into
        self._entries: dict[str, tuple[Ints, NDArray[np.int32], Ints]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def entries(self, column: str) -> tuple[Ints, NDArray[np.int32], Ints]:
        """Return the histogram of a column by code: where each code begins, the groups that hold it, how often."""
        if column not in self._entries:
            assert self.parent is not None and self.into is not None  # the first groups have all of them
            self._entries[column] = level_groups.merge_entries(*self.parent.entries(column), self.into, len(self))
        return self._entries[column]

    def chosen(self, kept: Bools) -> Grouped:
        """Return some of the groups; the others are out for good."""
        into = np.full(len(kept), -1, dtype=np.int32)
        into[kept] = np.arange(np.count_nonzero(kept))
        lost = self.lost + int(self.rows[~kept].sum())
        parts = None if self.parts is None else SetParts(self.parts.sums[kept], self.parts.now)
        return Grouped(self.keys[kept], self.rows[kept], self.plain[kept], lost, self, into, parts)


@dataclass(frozen=True, order=True)
class Node:
    """A judged node, ordered from the best: its loss, and the number of suppressed records."""

    loss: float
    suppressed: int
    levels: Levels
    classes: int
    smallest: int
    largest: int


class Lattice:
    """A table, what it has to keep, and the loss that is to be least."""

    def __init__(self, table: Table, requirements: Requirements, loss: str) -> None:
        _check_sets(table, requirements, loss)
        requirements = requirements.for_groups(())
        self.table = table
        self.requirements, self.loss, self.records = requirements, loss, table.rows
        self.budget = requirements.budget(table.rows)
        self.columns = list(table.quasi.values())
        self.offset = 0.0
        self.of_row, self.axes, self.root = self._encode(table)
        self.names = [axis.column.name for axis in self.axes]
        self.left_out = sum(axis.left_out for axis in self.axes)
        self.whole, partial = requirements.split(self.names)
        self.least = self.whole.least_rows
        self.partial = [
            (model, [i for i, n in enumerate(self.names) if n in (model.columns or ())]) for model in partial
        ]
        self.worked = 0  # groups that were read, which is what time goes by
        self._moves: dict[tuple[Change, ...], tuple[NDArray[Any], ...]] = {}
        self.at(self.top)  # compiles, which no time limit is meant for

    @property
    def top(self) -> Levels:
        """The node that shows nothing."""
        return tuple(axis.top for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(axis.top + 1 for axis in self.axes)

    @property
    def separable(self) -> bool:
        """Whether the loss is a sum over cells."""
        return self.loss in SEPARABLE

    # -- making groups -------------------------------------------------------------------------------------------

    def _encode(self, table: Table) -> tuple[NDArray[np.integer[Any]], list[Axis], Grouped]:
        """Return the group of each record, the attributes, and the groups of untouched records."""
        own = [_codes(column) for column in self.columns]
        codes: list[NDArray[Any]] = [numbers for numbers, _ in own]
        sizes = [
            column.size if each is None else len(each) for column, (_, each) in zip(self.columns, own, strict=True)
        ]
        atoms = find_atoms(codes, sizes, table.rows, table.storage, runs=table.runs)
        if atoms is None:
            of_row: NDArray[np.integer[Any]] | None = None
            rows = np.ones(table.rows, dtype=np.int64)
        else:
            of_row, rows, codes = atoms.of_row, atoms.count, list(atoms.codes.T)
        cell_loss: Any = self.loss if self.separable else "gcp"
        axes, word, shift = [], 0, 0
        weights = sum(column.weight for column in self.columns) or 1.0
        for column, size, (numbers, different) in zip(self.columns, sizes, own, strict=True):
            if shift + _bits(size) > WORD:
                word, shift = word + 1, 0
            weight = column.weight / weights
            if isinstance(column, Column):
                loss = level_losses(column, cell_loss)
                self.offset += weight * loss.offset
                axes.append(_axis(column, loss, weight, word, shift))
            else:
                assert different is not None
                axes.append(_set_axis(column, different, numbers, weight, word, shift))
            shift += _bits(size)
        keys = np.zeros((len(rows), word + 1), dtype=np.uint64)
        losses = np.zeros(len(rows))
        for axis, given in zip(axes, codes, strict=True):
            cell = axis.cells[0][given]
            keys[:, axis.word] |= cell.astype(np.uint64) << np.uint64(axis.shift)
            losses += axis.losses[0][cell]
        parts = self._set_parts(axes, codes, rows)
        if of_row is None:  # most records differ, but not all
            nothing = np.zeros(0, dtype=np.int64)
            bits, delta = nothing.astype(np.uint64), np.zeros(0)
            keys, rows, losses, of_row = level_groups.regroup(
                keys, rows, losses, nothing, bits, bits, nothing, nothing, delta
            )
            parts = None if parts is None else parts.joined(of_row, len(rows), parts.now)
        root = Grouped(keys, rows, losses, parts=parts)
        tallied = [table.sensitive[name] for name in self.requirements.columns]
        if self.requirements.counts_subjects:
            assert table.subject is not None  # the policy was checked
            tallied.append(table.subject)
        self.tallied = {column.name: column for column in tallied}
        self.subject = table.subject.name if self.requirements.counts_subjects and table.subject else None
        self.totals = {column.name: np.bincount(column.codes, minlength=column.size) for column in tallied}
        for column in tallied:
            root._entries[column.name] = _entries(column, of_row, len(rows))
        return of_row, axes, root

    def _set_parts(self, axes: Sequence[Axis], codes: Sequence[NDArray[Any]], rows: Ints) -> SetParts | None:
        """Return what the first groups lose in item sets; None if there are none."""
        self.first_part: dict[int, int] = {}  # the first column of each item set
        sums: list[Reals] = []
        for index, (axis, own) in enumerate(zip(axes, codes, strict=True)):
            if axis.parts is not None:
                self.first_part[index] = sum(each.shape[1] for each in sums)
                sums.append(axis.parts[own] * rows[:, None])
        return SetParts(np.hstack(sums), tuple(self.first_part.values())) if sums else None

    def step(self, groups: Grouped, changes: Sequence[Change]) -> Grouped:
        """Return the groups with some attributes at higher levels."""
        wanted = tuple(change for change in changes if change[1] != change[2])
        if not wanted:
            return groups
        if wanted not in self._moves:
            self._moves[wanted] = self._described(wanted)
        keys, rows, losses, into = level_groups.regroup(groups.keys, groups.rows, groups.plain, *self._moves[wanted])
        self.worked += len(groups)
        parts = groups.parts
        if parts is not None:
            to = {index: high for index, _, high in wanted}
            places = zip(self.first_part.items(), parts.now, strict=True)
            now = tuple(first + to[index] if index in to else before for (index, first), before in places)
            parts = parts.joined(into, len(rows), now)
        return Grouped(keys, rows, losses, groups.lost, groups, into, parts)

    def _described(self, changes: Sequence[Change]) -> tuple[NDArray[Any], ...]:
        """Put changes into the form that the kernel reads."""
        axes = [self.axes[index] for index, _, _ in changes]
        moves = [self.axes[index].move(low, high) for index, low, high in changes]
        return (
            np.array([axis.word for axis in axes]),
            np.array([axis.shift for axis in axes], dtype=np.uint64),
            np.array([axis.mask for axis in axes], dtype=np.uint64),
            np.cumsum([0, *(len(target) for target, _ in moves)])[:-1],
            np.concatenate([target for target, _ in moves]),
            np.concatenate([delta for _, delta in moves]),
        )

    def at(self, levels: Sequence[int]) -> Grouped:
        """Return the groups of a node, made from the records' own."""
        return self.step(self.root, [(index, 0, level) for index, level in enumerate(levels)])

    # -- judging them --------------------------------------------------------------------------------------------

    def bound(self, groups: Grouped, least: int = 1) -> float:
        """Return what a node loses at least if its groups are these or unions of them.

        With ``least`` records per group it is what this node itself loses at least.
        """
        records, loss, squares, count = level_groups.settle(groups.rows, groups.losses, np.int64(least))
        if self.loss == "class-size" and least == 1:
            # classes join groups, and have the least number of records each
            count = min(count, records // max(self.least, 1))
        return self._figure(records, loss, squares, count)

    def _figure(self, records: int, loss: float, squares: float, groups: int) -> float:
        out = self.records - records
        if self.loss == "discernibility":
            return float(squares + float(out) * self.records)
        if self.loss == "class-size":
            return self.records / groups if groups else math.inf
        return float((loss + out * self.left_out) / max(self.records, 1)) - self.offset

    def hopeful(self, groups: Grouped, levels: Sequence[int], highest: Sequence[int]) -> Bools:
        """Return which groups can still be part of a class, at any levels from these up to the highest.

        A group that has too few records even at the highest levels has too few at all of them.
        """
        hope = np.ones(len(groups), dtype=np.bool_)
        everything = range(len(self.axes))
        for least, members in [(self.least, everything), *((m.k, some) for m, some in self.partial)]:
            if least < 2:
                continue
            reach = [high if index in members else self.axes[index].top for index, high in enumerate(highest)]
            coarse = self.step(groups, [(index, levels[index], reach[index]) for index in everything])
            enough = coarse.rows >= least
            hope &= enough if coarse is groups else enough[coarse.into]
        return hope

    def judge(self, levels: Levels, groups: Grouped, worst: float = math.inf) -> Node | None:
        """Return the figures of a node, or None if it suppresses too much, or certainly loses more than ``worst``."""
        if self.bound(groups, self.least) > worst:
            return None
        kept = self.keeps(groups, levels, worst, self.budget)
        return None if kept is None or not self._may_be_masked(groups, kept) else self._node(groups, levels, kept)

    def look(self, levels: Levels) -> tuple[Node, bool]:
        """Return the figures of a node, also if it suppresses too much, and whether it keeps the requirements."""
        groups = self.at(levels)
        kept = self.keeps(groups, levels, math.inf, self.records)
        if kept is None:
            return self._node(groups, levels, np.zeros(len(groups), dtype=np.bool_)), False
        node = self._node(groups, levels, kept)
        return node, node.suppressed <= self.budget and self._may_be_masked(groups, kept)

    def _node(self, groups: Grouped, levels: Levels, kept: Bools) -> Node:
        rows = groups.rows[kept]
        left = self.records - int(rows.sum())
        span = (int(rows.min()), int(rows.max())) if len(rows) else (0, 0)
        return Node(self._loss(groups, kept), left, tuple(levels), len(rows), *span)

    def keeps(self, groups: Grouped, levels: Levels, worst: float, budget: int) -> Bools | None:
        """Return which groups of a node are released; None if it suppresses too much, or all, or loses more.

        Suppression may change what the others are measured against: the distribution of the whole release, and the
        counts by fewer columns. So the rest is measured again until all of it passes.
        """
        masked = self.requirements.masked
        moving = bool(self.partial) or (self.whole.depends_on_whole and not masked)
        kept = groups.rows >= self.least
        overall = None  # at first the whole table, and with masked records always
        while self._affordable(groups, kept, budget):
            before = np.count_nonzero(kept)
            if not self.whole.only_rows:
                kept = self._pass(groups, kept, overall)
            for model, members in self.partial:
                kept = self._pass_partly(groups, kept, model, members, levels)
            settled = overall is not None or masked or (bool(kept.all()) and not groups.lost)
            if not moving or (settled and np.count_nonzero(kept) == before):
                break
            overall = None if masked else kept
            if self._loss(groups, kept) > worst:
                return None
        return kept if self._affordable(groups, kept, budget) and self._loss(groups, kept) <= worst else None

    def _loss(self, groups: Grouped, kept: Bools) -> float:
        rows = groups.rows[kept]
        squares = float((rows.astype(np.float64) ** 2).sum())
        return self._figure(int(rows.sum()), float((rows * groups.losses[kept]).sum()), squares, len(rows))

    def _affordable(self, groups: Grouped, kept: Bools, budget: int) -> bool:
        records = int(groups.rows[kept].sum())
        return records > 0 and self.records - records <= budget

    def _pass(self, groups: Grouped, kept: Bools, overall: Bools | None) -> Bools:
        """Test some groups, against the distribution of ``overall`` or of the whole table."""
        passed = np.zeros(len(kept), dtype=np.bool_)
        passed[kept] = self.whole.holds(self._tally(groups, kept, overall))
        return passed

    def _tally(self, groups: Grouped, chosen: Bools, overall: Bools | None) -> Groups:
        """Return some groups in the form that models read."""
        into = np.full(len(chosen), -1, dtype=np.int32)
        count = np.count_nonzero(chosen)
        into[chosen] = np.arange(count)
        histograms, subjects = {}, None
        for name, column in self.tallied.items():
            entries = level_groups.merge_entries(*groups.entries(name), into, count)
            start, codes, counts = level_groups.by_group(*entries, count)
            if name == self.subject:
                subjects = np.diff(start)
            if name in self.requirements.columns:
                total = self.totals[name] if overall is None else self._overall(groups, name, overall)
                histograms[name] = Histograms(start, codes, counts, total, column)
        return Groups(groups.rows[chosen], subjects, histograms)

    def _overall(self, groups: Grouped, name: str, chosen: Bools) -> Ints:
        """Return how often each code of a column occurs in some groups."""
        start, owner, amount = groups.entries(name)
        code = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return np.bincount(code, weights=amount * chosen[owner], minlength=len(start) - 1).astype(np.int64)

    def _pass_partly(
        self, groups: Grouped, kept: Bools, model: KAnonymity, members: list[int], levels: Levels
    ) -> Bools:
        """Test k-anonymity by fewer columns, over the records that are still there."""
        rest = groups.chosen(kept)
        if not len(rest):
            return kept
        others = [(index, level, self.axes[index].top) for index, level in enumerate(levels) if index not in members]
        coarse = self.step(rest, others)
        passed = kept.copy()
        holds = model.holds(Groups(coarse.rows))
        passed[kept] = holds if coarse is rest or coarse.into is None else holds[coarse.into]
        return passed

    def _may_be_masked(self, groups: Grouped, kept: Bools) -> bool:
        """Return whether the records that are not kept can stand as a class of their own, one that shows nothing."""
        count = self.records - int(groups.rows[kept].sum())
        if not count or not self.requirements.masked:
            return True
        histograms, subjects = {}, None
        for name, column in self.tallied.items():
            total = self.totals[name]
            outside = total - self._overall(groups, name, kept)
            codes = np.flatnonzero(outside)
            if name == self.subject:
                subjects = np.array([len(codes)])
            if name in self.requirements.columns:
                start = np.array([0, len(codes)])
                histograms[name] = Histograms(start, codes, outside[codes], total, column)
        return bool(self.requirements.holds(Groups(np.array([count]), subjects, histograms)).all())

    # -- deciding ------------------------------------------------------------------------------------------------

    def partition(self, levels: Levels, facts: Mapping[str, Any]) -> Partition:
        """Return the classes of a node, numbered by what they show."""
        groups = self.at(levels)
        kept = self.keeps(groups, levels, math.inf, self.records)
        assert kept is not None  # it was judged
        count = int(np.count_nonzero(kept))
        masked = self.requirements.masked and not kept.all()
        number = np.full(len(groups), count if masked else SUPPRESSED, dtype=np.int32)
        # by what they show: the order of the source would tell something about its records
        order = np.lexsort(groups.keys[kept].T)
        number[np.flatnonzero(kept)[order]] = np.arange(count)
        if groups.into is not None:
            number = number[groups.into]
        classes = number[self.of_row]
        cuts = {axis.column.name: cut_at(axis.column, level) for axis, level in zip(self.axes, levels, strict=True)}
        sets = frozenset(axis.column.name for axis in self.axes if axis.parts is not None)
        return Partition(classes, count + masked, cuts, masked, facts, by_sets=sets)


def _axis(column: Column, loss: LevelLoss, weight: float, word: int, shift: int) -> Axis:
    frequency = np.bincount(column.codes, minlength=column.size)
    cells, losses, means = [], [], []
    for level in range(height(column) + 1):
        _, first, cell = np.unique(cut_at(column, level), return_index=True, return_inverse=True)
        by_code = weight * loss.by_code[level]
        cells.append(cell.astype(np.int64))
        losses.append(by_code[first])
        means.append(float((frequency * by_code).sum()) / max(len(column), 1))
    return Axis(column, tuple(cells), tuple(losses), weight * loss.left_out, np.array(means), word, shift)


def _codes(column: Column | ItemSets) -> tuple[NDArray[Any], ItemSets | None]:
    """Return the code of each record, and for an item set the different sets that these stand for."""
    if isinstance(column, Column):
        return column.codes, None
    numbers, first = number_sets(column)
    return numbers, column.taken(first)


def _set_axis(column: ItemSets, different: ItemSets, codes: NDArray[Any], weight: float, word: int, shift: int) -> Axis:
    """Return the attribute of an item set: at each level, which sets show the same, and what they lose."""
    from sudare.kernels.flat_sets import NOTHING

    frequency = np.bincount(codes, minlength=len(different))
    cells, losses = [], []
    parts = np.empty((len(different), height(column) + 1))
    for level in range(height(column) + 1):
        cut = cut_at(column, level)
        shown = np.where(cut < 0, NOTHING, cut).astype(np.uint32)
        offsets, nodes = settled(different.items.astype(np.uint32), different.offsets.copy(), shown)
        cell, first = number_sets(replace(different, offsets=offsets, items=nodes))
        cells.append(cell.astype(np.int64))
        losses.append(np.zeros(len(first)))
        parts[:, level] = weight * set_losses(different, cut)
    means = frequency @ parts / max(len(column), 1)
    return Axis(column, tuple(cells), tuple(losses), weight, means, word, shift, parts)


def _check_sets(table: Table, requirements: Requirements, loss: str) -> None:
    """Raise if item sets cannot be recoded: the loss is not defined for them, or they take no part in classes."""
    if table.sets and loss == "entropy":
        what = f"the loss entropy is not defined for item sets; got {', '.join(map(repr, table.sets))}."
        raise UnsupportedError(what, hint="use another loss, such as arx or gcp.")
    refuse_free_sets(table, requirements)


def _bits(size: int) -> int:
    return max(int(size - 1).bit_length(), 1)


def _entries(column: Column, of_row: NDArray[np.integer[Any]], groups: int) -> tuple[Ints, Any, Ints]:
    """Return the histogram of a column over the first groups, by code."""
    owner = of_row.astype(np.uint32, copy=False)
    pairs = find_atoms([column.codes, owner], [column.size, groups], len(column))
    if pairs is None:
        order = np.argsort(column.codes, kind="stable")
        codes, group, count = column.codes[order], owner[order], np.ones(len(order), dtype=np.int64)
    else:
        codes, group, count = pairs.codes[:, 0], pairs.codes[:, 1], pairs.count
    start = np.searchsorted(codes, np.arange(column.size + 1))
    return start.astype(np.int64), group.astype(np.int32), count
