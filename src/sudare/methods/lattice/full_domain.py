"""Full-domain generalization: every quasi-identifier at one level everywhere, with the least possible loss.

Steps
    1. A node of the lattice has a level of its hierarchy for each quasi-identifier (without a hierarchy: as it is, or
       nothing at all). An item set at its highest level shows no item. Its classes are the records that then show the
       same; classes that do not keep the requirements are left out, up to the suppression limit.
    2. A first answer: the node that shows nothing, then a walk from the untouched table upwards, always to the
       neighbour that loses least.
    3. The lattice is searched as a tree, one attribute after the other, those with most values first. A branch has
       fixed some levels; the others are still open. Its groups, with all open attributes untouched, are made from those
       of the branch one level below, and not from the records.
    4. A branch is given up if what it loses at least is more than the best answer loses: cells only lose more at higher
       levels, and records that are too few even with every open attribute at the highest level that is still
       affordable are left out in the whole branch (their number is monotone). These records are dropped from the
       branch's groups, which become fewer on the way.
    5. Models of sensitive values are tested at the nodes that are left; histograms are rolled up like the groups.
    6. With a time limit the most promising branch is always the next, and the answer comes with the least loss that
       any node not yet excluded could have. Without one the search goes depth first, and ends with the proof.

Cost
    Linear in the distinct records for the first groups; then in the groups that are read, which are fewer and fewer. On
    Adult some 2% of the nodes are counted; the others are excluded by bounds. Memory: the groups of the branches that
    are open (with a time limit they are made again where they would exceed 256 MiB).

Guarantee
    Every class keeps all requirements, and no node that keeps them loses less (``facts`` says so, or how far the answer
    may be from it). The result depends on the multiset of records alone; of equal losses the one with the fewest
    records left out is taken, and then the lower levels of the first quasi-identifiers.
    Limits against the whole release are measured against what is released: classes that fail are left out, and the
    others are measured again until none fails.

Names
    ``incognito`` is this search under k-anonymity, ``l-incognito`` under l-diversity.

References
    Samarati: Protecting respondents' identities in microdata release. TKDE 13(6), 2001.
    LeFevre, DeWitt, Ramakrishnan: Incognito: efficient full-domain k-anonymity. SIGMOD 2005.
    Kohlmayer, Prasser, Eckert, Kemper, Kuhn: Flash: efficient, stable and optimal k-anonymity. PASSAT 2012.
"""

from __future__ import annotations

import bisect
import heapq
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import PolicyUnmetError, Problem
from sudare.core.progress import Listener, silent
from sudare.methods.class_counts import everybody
from sudare.methods.lattice.lattice import Grouped, Lattice, Levels, Node
from sudare.models import Requirements
from sudare.table import SUPPRESSED, Partition, Table

Loss = Literal["arx", "gcp", "discernibility", "class-size", "entropy", "precision"]

SAME = 1e-12
"""Losses that differ by no more than this part of themselves are equal: they are sums in different orders."""
FEW = 3
"""A branch of so few nodes is not cleared first: that would take as long as judging them."""
HELD = 1 << 28
"""Bytes of groups that waiting branches may hold."""
WAITING = 1 << 20
"""Branches that may wait; with more of them, the one at hand is finished first."""


def full_domain(
    table: Table,
    requirements: Requirements,
    *,
    loss: Loss = "arx",
    time_limit: float | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Find the levels that lose least (see the module's description).

    ``loss`` is what is to be least, with the weights of the columns; ``time_limit`` is in seconds. ``seed`` is there
    for the common signature: nothing is drawn.
    """
    del seed
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    lattice = Lattice(table, requirements, loss)
    search = Search(lattice, None if time_limit is None else time.monotonic() + time_limit)
    for decided in search.run():
        listener("decide", decided / lattice.size, 1.0)
    listener("decide", 1.0, 1.0)
    if not search.found:
        raise unmet(lattice, search)
    return lattice.partition(search.ties[0].levels, search.facts())


def at_levels(
    table: Table,
    requirements: Requirements,
    levels: Mapping[str, int],
    *,
    unusable: NDArray[np.bool_] | None = None,
) -> Partition:
    """Recode a table at given levels; ``unusable`` records are suppressed in any case."""
    usable = np.arange(table.rows) if unusable is None else np.flatnonzero(~unusable)
    budget = requirements.budget(table.rows) - (table.rows - len(usable))
    lattice = Lattice(table if unusable is None else table.taken(usable), requirements, "arx")
    chosen = tuple(levels[name] for name in lattice.names)
    lattice.budget = budget
    node, keeps = lattice.look(chosen)
    if not keeps and requirements.masked and node.suppressed <= budget:
        what = f"its levels mask {node.suppressed:,} records, which do not keep the requirements as a class."
        raise PolicyUnmetError(Problem("plan", what, "make a new plan for these records, or drop the masked records."))
    if not keeps:
        out = table.rows - len(usable) + node.suppressed
        most = requirements.budget(table.rows)
        what = f"its levels would suppress {out:,} of {table.rows:,} records; the policy allows {most:,}."
        raise PolicyUnmetError(Problem("plan", what, "make a new plan for these records."))
    facts = {
        "levels": dict(zip(lattice.names, chosen, strict=True)),
        "heights": dict(zip(lattice.names, lattice.top, strict=True)),
    }
    partition = lattice.partition(chosen, facts)
    if unusable is None:
        return partition
    classes = np.full(table.rows, SUPPRESSED, dtype=partition.classes.dtype)
    classes[usable] = partition.classes
    return replace(partition, classes=classes)


@dataclass(order=True)
class Branch:
    """Some attributes at fixed levels: what any node of it loses at least, and its groups (None: to be made again)."""

    bound: float
    depth: int  # negative, so that of equal bounds the longer branch comes first
    fixed: Levels
    groups: Grouped | None = field(compare=False)


class Search:
    """Branch and bound over a lattice for its best nodes, ``wanted`` of them and those that are as good as the last.

    ``found`` holds them from the best; until the search has ended there may be better ones.
    """

    def __init__(self, lattice: Lattice, deadline: float | None = None, wanted: int = 1) -> None:
        self.lattice, self.deadline, self.wanted = lattice, deadline, wanted
        self.order = sorted(range(len(lattice.axes)), key=lambda index: -lattice.axes[index].size)
        tops = [lattice.axes[index].top + 1 for index in self.order]
        self.below = [math.prod(tops[depth:]) for depth in range(len(tops) + 1)]  # nodes of a branch, by its length
        self.found: list[Node] = []
        self.judged: set[Levels] = set()
        self.checked = self.decided = 0
        self.held = 0
        self.floor = math.inf  # what any node of the branches that were not finished loses at least
        self.late = False

    def run(self) -> Iterator[int]:
        """Search; yields how many nodes are decided, every now and then."""
        yield from self._walk_up()
        waiting = [Branch(-math.inf, 0, (), self.lattice.root)]
        while waiting and not self._out_of_time():
            branch = heapq.heappop(waiting) if self.deadline is not None else waiting.pop()
            yield from self._explore(branch, waiting)
            yield self.decided
        self.floor = min([self.floor, *(branch.bound for branch in waiting)])

    @property
    def ties(self) -> list[Node]:
        """The nodes with the same loss as the best one, which comes first: it suppresses the fewest records."""
        equal = [node for node in self.found if node.loss <= _at_most(self.found[0].loss)]
        return sorted(equal, key=lambda node: (node.suppressed, node.levels))

    def facts(self) -> dict[str, Any]:
        """Return what a certificate says about the search."""
        best = self.ties[0]
        proven = min(self.floor, best.loss) if self.late else best.loss
        return {
            "loss": self.lattice.loss,
            "value": round(float(best.loss), 9),
            "at_least": round(max(float(proven), 0.0), 9),
            "optimal": bool(proven >= best.loss),
            "levels": dict(zip(self.lattice.names, best.levels, strict=True)),
            "heights": dict(zip(self.lattice.names, self.lattice.top, strict=True)),
            "ties": len(self.ties) - 1,
            "nodes": self.lattice.size,
            "checked": self.checked,
        }

    # -- the first answer ----------------------------------------------------------------------------------------

    def _walk_up(self) -> Iterator[int]:
        """Go from the untouched table to the neighbour that loses least, until it must lose more than the best."""
        lattice = self.lattice
        self._judge(lattice.top, lattice.at(lattice.top))
        levels, groups = [0] * len(lattice.axes), lattice.root
        self._judge(tuple(levels), groups)
        while not self._out_of_time():
            nearby = []
            for index, axis in enumerate(lattice.axes):
                if levels[index] == axis.top or self._out_of_time():
                    continue
                above = lattice.step(groups, [(index, levels[index], levels[index] + 1)])
                there = [level + (place == index) for place, level in enumerate(levels)]
                self._judge(tuple(there), above)
                nearby.append((lattice.bound(above, lattice.least), index, above))
                yield self.decided
            if not nearby:
                return
            _, index, groups = min(nearby, key=lambda found: found[:2])
            levels[index] += 1
            if lattice.bound(groups) > self._worst():
                return

    # -- the proof -----------------------------------------------------------------------------------------------

    def _explore(self, branch: Branch, waiting: list[Branch]) -> Iterator[int]:
        """Follow a branch down along the most promising parts; what is passed by waits."""
        stack = [branch]
        while stack:
            branch = stack.pop()
            if self._out_of_time():
                waiting += [branch, *stack]
                return
            if branch.bound > self._worst():
                self._release(branch)
                self.decided += self.below[len(branch.fixed)]
                continue
            parts = sorted(self._parts(branch), reverse=True)
            yield self.decided
            if self.deadline is None or len(waiting) > WAITING:
                stack += parts
                continue
            stack += parts[-1:]
            for part in parts[:-1]:
                heapq.heappush(waiting, part)

    def _parts(self, branch: Branch) -> list[Branch]:
        """Fix one attribute more, at each of its levels; nodes are judged at once."""
        lattice = self.lattice
        groups = self._groups(branch)
        depth = len(branch.fixed)
        index = self.order[depth]
        axis = lattice.axes[index]
        parts: list[Branch] = []
        for level in range(axis.top + 1):
            fixed = (*branch.fixed, level)
            if level:
                groups = lattice.step(groups, [(index, level - 1, level)])
            if depth + 1 == len(self.order):
                self._judge(self._levels(fixed), groups)
                self.decided += 1
                continue
            bound = lattice.bound(groups)
            if bound > self._worst():  # and so are all levels above
                self.decided += (axis.top + 1 - level) * self.below[depth + 1]
                break
            part = self._cleared(fixed, groups, bound)
            if part is None:
                self.decided += self.below[depth + 1]
            else:
                parts.append(part)
        return parts

    def _cleared(self, fixed: Levels, groups: Grouped, bound: float) -> Branch | None:
        """Drop the records that no node of a branch can release; None if none of its nodes can be the best."""
        lattice = self.lattice
        if self.below[len(fixed)] > FEW:
            hope = lattice.hopeful(groups, self._levels(fixed), self._highest(fixed, groups, bound))
            if not hope.all():
                groups = groups.chosen(hope)
                bound = lattice.bound(groups)
                if groups.lost > lattice.budget or bound > self._worst():
                    return None
        if self.deadline is None or groups is lattice.root:
            return Branch(bound, -len(fixed), fixed, groups)
        size = groups.keys.nbytes + groups.rows.nbytes + groups.losses.nbytes
        if self.held + size > HELD:
            return Branch(bound, -len(fixed), fixed, None)
        self.held += size
        return Branch(bound, -len(fixed), fixed, groups)

    def _highest(self, fixed: Levels, groups: Grouped, bound: float) -> list[int]:
        """Return the highest level that each attribute can have in a node that is not worse than the best."""
        lattice = self.lattice
        highest = list(lattice.top)
        for index, level in zip(self.order, fixed, strict=False):
            highest[index] = level
        if not lattice.separable:
            return highest
        spare = self._worst() - bound
        for index in self.order[len(fixed) :]:
            axis = lattice.axes[index]
            # the means are over all records; those that are lost may have had the largest part of them
            cost = axis.means - axis.means[0] - groups.lost / lattice.records * axis.left_out
            while highest[index] and cost[highest[index]] > spare:
                highest[index] -= 1
        return highest

    def _groups(self, branch: Branch) -> Grouped:
        """Return the groups of a branch, made again if they were not kept."""
        if branch.groups is None:
            return self.lattice.at(self._levels(branch.fixed))
        self._release(branch)
        return branch.groups

    def _release(self, branch: Branch) -> None:
        groups = branch.groups
        if self.deadline is not None and groups is not None and groups is not self.lattice.root:
            self.held -= groups.keys.nbytes + groups.rows.nbytes + groups.losses.nbytes

    def _levels(self, fixed: Levels) -> Levels:
        """Return the levels of a branch in the order of the columns, 0 where they are open."""
        levels = [0] * len(self.order)
        for index, level in zip(self.order, fixed, strict=False):
            levels[index] = level
        return tuple(levels)

    # -- answers -------------------------------------------------------------------------------------------------

    def _judge(self, levels: Levels, groups: Grouped) -> None:
        if levels in self.judged:
            return
        self.checked += 1
        if len(self.judged) < WAITING:
            self.judged.add(levels)
        node = self.lattice.judge(levels, groups, self._worst())
        if node is not None:
            bisect.insort(self.found, node)
            worst = self._worst()
            while self.found[-1].loss > worst:
                self.found.pop()

    def _worst(self) -> float:
        """Return the loss above which nothing is of interest."""
        return math.inf if len(self.found) < self.wanted else _at_most(self.found[self.wanted - 1].loss)

    def _out_of_time(self) -> bool:
        self.late = self.late or (self.deadline is not None and time.monotonic() > self.deadline)
        return self.late


def _at_most(loss: float) -> float:
    """Return what is still equal to a loss."""
    return loss + SAME * max(abs(loss), 1.0)


def unmet(lattice: Lattice, search: Search) -> PolicyUnmetError:
    """Return the error that there is no answer, and why."""
    problems = lattice.requirements.unmet(everybody(lattice.table, lattice.requirements))
    if not problems:
        found = "was found in time" if search.late else "keeps the requirements"
        what = f"none {found} that suppresses at most {lattice.budget:,} of {lattice.records:,} records."
        hint = "allow more time." if search.late else "raise suppression.limit, or require less."
        problems = [Problem("levels", what, hint)]
    return PolicyUnmetError(problems)
