"""Cuts of all trees and their groups, the state of top-down specialization.

Only the groups that show a node are touched when it is specialized. What a specialization gains is the sum of what it
gains in each of these groups, so that only the sums that such a group is part of have to be brought up to date.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.tds import specializations as kernel
from sudare.methods.tds.trees import ROOT, Tree, tree_of
from sudare.models import Groups, Histograms, KAnonymity, Requirements
from sudare.table import Column, Partition, Table, find_atoms

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Candidate = tuple[int, int]
"""An attribute and a node of its cut."""
Score = Literal["table-info", "gain-ratio", "info-gain", "anony-loss"]
LARGE = 1 << 15
"""So many atoms are worth a second thread."""


class Parts(NamedTuple):
    """The parts that groups fall into: group, child, atoms and records of each; and the part of each atom."""

    owner: Ints
    child: Ints
    lines: Ints
    records: Ints
    of_line: Ints


class Grouping:
    """Records by what they show in some attributes.

    ``atoms`` has the codes of these, then the class, the number of records, the atom's own number, and the codes of
    further columns that models ask for. ``carrying`` lists the groups that show each node.
    """

    def __init__(self, table: Table, attributes: Sequence[int], columns: list[Column], more: Sequence[Column]) -> None:
        assert table.target is not None  # the policy was checked
        self.attributes = list(attributes)
        own = [columns[index] for index in attributes]
        everything = [*own, table.target, *more]
        found = find_atoms([c.codes for c in everything], [c.size for c in everything], table.rows, table.storage)
        width = len(own)
        lines = table.rows if found is None else len(found.count)
        # one type for all tables: each other one would be compiled anew
        self.atoms = np.empty((lines, len(everything) + 2), dtype=np.uint32)
        for place, column in enumerate(everything):
            into = place if place <= width else place + 2
            self.atoms[:, into] = column.codes if found is None else found.codes[:, place]
        self.atoms[:, width + 1] = 1 if found is None else found.count
        self.atoms[:, width + 2] = np.arange(lines)
        self.of_row = None if found is None else found.of_row
        self.extra = {column.name: width + 3 + place for place, column in enumerate(more)}
        self.spare = np.empty_like(self.atoms)
        self.start, self.end, self.count = np.zeros(1, dtype=np.int64), np.array([lines]), 1
        self.carrying = {(index, ROOT): [np.zeros(1, dtype=np.int64)] for index in attributes}

    @property
    def records(self) -> int:
        """The column of the numbers of records."""
        return len(self.attributes) + 1

    def members(self, candidate: Candidate) -> Ints:
        """Return the groups that show a node."""
        lists = self.carrying[candidate]
        if len(lists) > 1:
            lists[:] = [np.concatenate(lists)]
        return lists[0]

    def split(self, candidate: Candidate, slot: Ints, names: list[int], trees: list[Tree]) -> Ints:
        """Split the groups that show a node into those of its children; return all that are new or smaller now.

        ``slot`` is the child of each code, ``names`` are the children.
        """
        members = self.members(candidate)
        parts = self._parts(candidate, slot, len(names))
        first = np.concatenate(([True], parts.owner[1:] != parts.owner[:-1]))
        before = np.cumsum(parts.lines) - parts.lines
        begin = self.start[members[parts.owner]] + before - before[first][parts.owner]
        kernel.sort_parts(self.atoms, self.start, self.end, members, begin.copy(), parts.of_line, self.spare)
        ids = members[parts.owner]
        fresh = int(np.count_nonzero(~first))
        ids[~first] = self.count + np.arange(fresh)
        self._make_room(self.count + fresh)
        self.start[ids], self.end[ids] = begin, begin + parts.lines
        self.count += fresh
        del self.carrying[candidate]
        by_child = np.argsort(parts.child, kind="stable")
        bounds = np.searchsorted(parts.child[by_child], np.arange(len(names) + 1))
        for number, name in enumerate(names):
            self.carrying[candidate[0], name] = [ids[by_child[bounds[number] : bounds[number + 1]]]]
        for other in self.attributes:
            if other != candidate[0]:
                self._enter(other, ids[~first], trees[other])
        return ids

    def _enter(self, attribute: int, fresh: Ints, tree: Tree) -> None:
        """Enter new groups among those that show the nodes of another attribute."""
        nodes = self.shown(attribute, fresh, tree)
        order = np.argsort(nodes, kind="stable")
        ranked = nodes[order]
        for low in np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1]))) if len(ranked) else ():
            high = np.searchsorted(ranked, ranked[low], side="right")
            self.carrying[attribute, int(ranked[low])].append(fresh[order[low:high]])

    def shown(self, attribute: int, groups: Ints, tree: Tree) -> Ints:
        """Return the node that each of some groups shows in an attribute."""
        return np.asarray(tree.now[self.atoms[self.start[groups], self.attributes.index(attribute)]])

    def parts(self, candidate: Candidate, tree: Tree) -> Parts:
        """Return what specializing a node would make of the groups that show it."""
        return self._parts(candidate, tree.slot, tree.children_of(candidate[1]))

    def _parts(self, candidate: Candidate, slot: Ints, width: int) -> Parts:
        members = self.members(candidate)
        place = self.attributes.index(candidate[0])
        of_line = np.empty(int((self.end[members] - self.start[members]).sum()), dtype=np.int64)
        owner, child, lines, records = kernel.find_parts(
            self.atoms, self.start, self.end, members, place, self.records, slot, np.int64(width), of_line
        )
        return Parts(owner, child, lines, records, of_line)

    def tallies(self, candidate: Candidate, column: Column, parts: Parts) -> tuple[Ints, Ints, Ints]:
        """Return the histogram of a column over the parts: begin, codes and numbers."""
        members = self.members(candidate)
        sizes = self.end[members] - self.start[members]
        lines = np.repeat(self.start[members] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        key = parts.of_line * column.size + self.atoms[lines, self.extra[column.name]]
        keys, where = np.unique(key, return_inverse=True)
        amounts = np.bincount(where, weights=self.atoms[lines, self.records]).astype(np.int64)
        owner, codes = np.divmod(keys, column.size)
        return np.searchsorted(owner, np.arange(len(parts.owner) + 1)), codes, amounts

    def _make_room(self, count: int) -> None:
        if count > len(self.start):
            room = np.zeros(max(count, 2 * len(self.start)) - len(self.start), dtype=np.int64)
            self.start, self.end = np.concatenate((self.start, room)), np.concatenate((self.end, room))

    def least_parts(self, groups: Ints, begin: Ints, slot: Ints, fan: Ints) -> Ints:
        """Return the records of the smallest part of some groups by each of the attributes, and of the groups."""
        found = np.empty((len(groups), len(self.attributes) + 1), dtype=np.int64)
        attributes = np.array(self.attributes, dtype=np.int64)
        kernel.least_parts(
            self.atoms, self.start, self.end, groups, attributes, begin, slot, fan, np.int64(self.records), found
        )
        return found

    def copy(self) -> Grouping:
        """Return groups that can be split on their own."""
        twin = copy(self)
        twin.atoms, twin.start, twin.end = self.atoms.copy(), self.start.copy(), self.end.copy()
        twin.carrying = {key: list(lists) for key, lists in self.carrying.items()}
        return twin


class Anonymity:
    """The records of the smallest group by some attributes, now and after each specialization.

    Both only fall: a specialization makes groups smaller, and so are then the parts that another one would make. Thus
    what changes is enough to bring them up to date.
    """

    def __init__(self) -> None:
        self.now = np.iinfo(np.int64).max
        self.after: dict[Candidate, int] = {}

    def update(self, grouping: Grouping, groups: Ints, found: Ints, trees: list[Tree]) -> None:
        """Take in the smallest parts of groups that are new or smaller."""
        self.now = min(self.now, int(found[:, -1].min()))
        for place, index in enumerate(grouping.attributes):
            nodes = grouping.shown(index, groups, trees[index])
            order = np.argsort(nodes, kind="stable")
            begin = np.flatnonzero(np.concatenate(([True], nodes[order][1:] != nodes[order][:-1])))
            least = np.minimum.reduceat(found[order, place], begin)
            for node, one in zip(nodes[order[begin]].tolist(), least.tolist(), strict=True):
                self.after[index, node] = min(self.after.get((index, node), one), one)

    def loss(self, candidate: Candidate) -> int:
        """Return by how much the smallest group shrinks."""
        return self.now - min(self.now, self.after[candidate])

    def copy(self) -> Anonymity:
        """Return an independent copy."""
        twin = copy(self)
        twin.after = dict(self.after)
        return twin


class Cut:
    """A cut of all trees: its groups, its information about the class, and the gain of each specialization."""

    def __init__(self, table: Table, requirements: Requirements, weight: float, score: Score = "table-info") -> None:
        assert table.target is not None  # the policy was checked
        self.requirements, self.weight, self.score = requirements, weight, score
        self.columns = list(table.single.values())
        self.rows, self.classes = table.rows, table.target.size
        self.trees = [tree_of(column, class_counts(column, table.target)) for column in self.columns]
        names = [column.name for column in self.columns]
        self.whole, partial = requirements.split(names)
        self.tallied = [table.sensitive[name] for name in requirements.columns]
        if requirements.counts_subjects and table.subject is not None:
            self.tallied.append(table.subject)
        self.subject = table.subject
        self.totals = {column.name: np.bincount(column.codes, minlength=column.size) for column in self.tallied}
        self.groups = Grouping(table, range(len(names)), self.columns, self.tallied)
        self.partial = [(model, self._grouping(table, model, names)) for model in partial]
        self.anonymity: list[tuple[Grouping, Anonymity]] = []
        if score == "anony-loss":
            required = [grouping for _, grouping in self.partial]
            required += [self.groups] if self.whole.models or not required else []
            self.anonymity = [(grouping, Anonymity()) for grouping in required]
        self.begin = np.cumsum([0, *(column.size for column in self.columns)])
        self.open: dict[Candidate, float] = {}
        self.gain = np.zeros((1, len(names)))
        self.steps = 0
        everything = np.zeros(1, dtype=np.int64)
        self.information = float(
            kernel.information(class_totals(table.target), np.int64(self.classes), float(self.rows), self.weight)
        )
        for index, tree in enumerate(self.trees):
            for name in tree.branching([ROOT]):
                self._offer((index, name))
        self._rescore(everything)
        for grouping, _ in self.anonymity:
            self._bring_up_to_date(grouping, everything)

    def _grouping(self, table: Table, model: KAnonymity, names: list[str]) -> Grouping:
        asked = [index for index, name in enumerate(names) if name in (model.columns or ())]
        return Grouping(table, asked, self.columns, [])

    def ranked(self) -> list[Candidate]:
        """Return the specializations that are left, the best first; of equal ones that of the first attribute."""

        def rank(candidate: Candidate) -> tuple[float, int, int]:
            return -round(self.scored(candidate), 12), *candidate

        return sorted(self.open, key=rank)

    def scored(self, candidate: Candidate) -> float:
        """Return the score of a specialization that is left."""
        losses = [one.loss(candidate) for grouping, one in self.anonymity if candidate[0] in grouping.attributes]
        lost = sum(losses) / len(losses) if losses else 0.0
        return self.open[candidate] / lost if lost > 0 else self.open[candidate]

    def valid(self, candidate: Candidate) -> bool:
        """Return whether all requirements hold after a specialization; what fails now fails ever after."""
        index, node = candidate
        tree = self.trees[index]
        children = tree.children_of(node)
        for model, grouping in self.partial:
            if index in grouping.attributes:
                if children * model.k > self.rows:
                    return False
                if not model.holds(Groups(grouping.parts(candidate, tree).records)).all():
                    return False
        if children * self.whole.least_rows > self.rows:
            return False  # which need not be counted; and there may be too many to count
        parts = self.groups.parts(candidate, tree)
        if parts.records.min() < self.whole.least_rows:
            return False
        if self.whole.only_rows:
            return True
        histograms, subjects = {}, None
        for column in self.tallied:
            if column is self.subject:
                subjects = np.diff(self.groups.tallies(candidate, column, parts)[0])
            if column.name in self.whole.columns:
                tally = self.groups.tallies(candidate, column, parts)
                histograms[column.name] = Histograms(*tally, self.totals[column.name], column)
        return bool(self.whole.holds(Groups(parts.records, subjects, histograms)).all())

    def specialize(self, candidate: Candidate) -> None:
        """Replace a node by its children, in all groups that show it."""
        index, node = candidate
        tree = self.trees[index]
        self.information -= self._sum(candidate)
        del self.open[candidate]
        self._add(self.groups.members(candidate), -1.0, but=index)
        slot = tree.slot.copy()
        names = tree.specialize(node)
        for _, grouping in self.partial:
            if index in grouping.attributes:
                self._bring_up_to_date(grouping, grouping.split(candidate, slot, names, self.trees))
        changed = self.groups.split(candidate, slot, names, self.trees)
        self._bring_up_to_date(self.groups, changed)
        for name in tree.branching(names):
            self._offer((index, name))
        self._rescore(changed)
        self.steps += 1

    def drop(self, candidate: Candidate) -> None:
        """Forget a specialization: it is not valid, and need not be scored again."""
        del self.open[candidate]
        self.trees[candidate[0]].close(candidate[1])

    def _offer(self, candidate: Candidate) -> None:
        """Enter a node that has children among the candidates, unless all its records are of one class."""
        tree = self.trees[candidate[0]]
        if not tree.mixed(candidate[1]):
            return
        if self.score == "gain-ratio":
            self.open[candidate] = tree.gain_ratio(candidate[1])
        else:
            self.open[candidate] = 0.0 if self.score == "table-info" else tree.gain(candidate[1])

    def _bring_up_to_date(self, grouping: Grouping, groups: Ints) -> None:
        """Find how small groups can become that are new or smaller, if the score asks for it."""
        for one, anonymity in self.anonymity:
            if one is grouping:
                slot, fan = (np.concatenate([getattr(tree, name) for tree in self.trees]) for name in ("slot", "fan"))
                found = grouping.least_parts(groups, self.begin, slot, fan)
                anonymity.update(grouping, groups, found, self.trees)

    def _rescore(self, groups: Ints) -> None:
        """Find what specializations gain in some groups, and put it into the sums."""
        if self.groups.count > len(self.gain):
            more = np.zeros((max(self.groups.count, 2 * len(self.gain)) - len(self.gain), len(self.columns)))
            self.gain = np.concatenate((self.gain, more))
        slot = np.concatenate([tree.slot for tree in self.trees])
        fan = np.concatenate([tree.fan for tree in self.trees])
        found = np.empty((len(groups), len(self.columns)))

        def score(part: slice) -> None:
            kernel.gains(
                self.groups.atoms, self.groups.start, self.groups.end, groups[part], self.begin, slot, fan,
                np.int64(self.classes), float(self.rows), self.weight, found[part],
            )  # fmt: skip

        sizes = np.cumsum(self.groups.end[groups] - self.groups.start[groups])
        if sizes[-1] < LARGE:
            score(slice(None))
        else:
            middle = int(np.searchsorted(sizes, sizes[-1] // 2))
            with ThreadPoolExecutor(min(os.cpu_count() or 1, 2)) as pool:
                list(pool.map(score, (slice(0, middle), slice(middle, None))))
        self.gain[groups] = found
        self._add(groups, 1.0)

    def _add(self, groups: Ints, sign: float, but: int = -1) -> None:
        """Put what some groups gain into the sums, or take it out."""
        for index, tree in enumerate(self.trees):
            if index == but or self.score != "table-info":
                continue
            nodes = self.groups.shown(index, groups, tree)
            sums = np.bincount(nodes, weights=self.gain[groups, index])
            for node in np.unique(nodes).tolist():
                if (index, node) in self.open:
                    self.open[index, node] += sign * float(sums[node])

    def _sum(self, candidate: Candidate) -> float:
        """Return what a specialization gains in all groups that show its node."""
        return float(self.gain[self.groups.members(candidate), candidate[0]].sum())

    def partition(self) -> Partition:
        """Return the groups as classes, in the order of their atoms."""
        groups = self.groups
        order = np.argsort(groups.start[: groups.count])
        number = np.empty(groups.count, dtype=np.int32)
        number[order] = np.arange(groups.count)
        of_atom = np.empty(len(groups.atoms), dtype=np.int32)
        sizes = (groups.end - groups.start)[: groups.count][order]
        of_atom[groups.atoms[:, len(groups.attributes) + 2]] = np.repeat(np.arange(groups.count), sizes)
        classes = of_atom if groups.of_row is None else of_atom[groups.of_row]
        cuts = {column.name: tree.cut() for column, tree in zip(self.columns, self.trees, strict=True)}
        return Partition(classes, groups.count, cuts)

    def identity(self) -> bytes:
        """Return a key that identifies this cut, independent of the path to it."""
        return b"".join(_first_of_each(tree.now).tobytes() for tree in self.trees)

    def copy(self) -> Cut:
        """Return an independent copy of the cut."""
        twin = copy(self)
        twin.trees = [tree.copy() for tree in self.trees]
        twin.groups = self.groups.copy()
        twin.partial = [(model, grouping.copy()) for model, grouping in self.partial]
        own = {id(self.groups): twin.groups}
        own |= {id(old): new for (_, old), (_, new) in zip(self.partial, twin.partial, strict=True)}
        twin.anonymity = [(own[id(grouping)], one.copy()) for grouping, one in self.anonymity]
        twin.open, twin.gain = dict(self.open), self.gain.copy()
        return twin


def _first_of_each(nodes: Ints) -> Ints:
    """Return, for each code, the first one that shows the same node."""
    _, first, where = np.unique(nodes, return_index=True, return_inverse=True)
    return np.asarray(first[where])


def class_counts(column: Column, target: Column) -> Ints:
    """Return the records of each code by class."""
    key = column.codes.astype(np.int64) * target.size + target.codes
    return np.bincount(key, minlength=column.size * target.size).reshape(column.size, target.size)


def class_totals(target: Column) -> Reals:
    """Return the records of each class."""
    return np.bincount(target.codes, minlength=target.size).astype(np.float64)
