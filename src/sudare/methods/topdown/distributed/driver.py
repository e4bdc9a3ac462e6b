"""The driver of :mod:`sudare.methods.topdown.distributed.distributed_frame`: a worker that decides about clusters
without having their rows.

It takes its decisions by the code that :mod:`sudare.methods.topdown.frame` and
:mod:`sudare.methods.topdown.item_sets` take theirs by. What differs is where numbers come from: all those of a level
are asked for at once, and then looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import UnsupportedError
from sudare.kernels.topdown import children as scattering
from sudare.kernels.topdown import item_choices as kernel
from sudare.kernels.topdown import shard_summaries, splits, value_orders
from sudare.methods.topdown.distributed.questions import (
    ChooseItems,
    CountNodes,
    CountValues,
    CoverPlaces,
    Fork,
    Question,
    TallyChildren,
    Task,
    Tree,
    count_bits,
    item_fork,
    joined,
    pack,
    starts,
)
from sudare.methods.topdown.frame import Ints, Level, runs
from sudare.methods.topdown.item_sets import MARKS, Choices, Offer, Reals, SetJob, SetWorker
from sudare.models import Groups, Requirements
from sudare.table import Table

MOST_CLUSTERS = 1 << 18
"""Clusters that the driver takes from round to round, where one attribute is specialized in all of them."""
CELLS = 1 << 23
"""About how many numbers shards send at a time: some 100 MB."""
NOTHING_COVERED = shard_summaries.Covered(
    begin=np.zeros(1, np.int64),
    inside=np.zeros(0, np.int64),
    low=np.zeros((0, 0), np.int32),
    high=np.zeros((0, 0), np.int32),
    bits=np.zeros((0, 0), np.uint64),
)
"""The empty answer for places where only the loss of a cluster is asked for."""

Map = tuple[Ints, Ints]
"""The codes of items that a cluster hides, ascending, and the nodes that they are by now."""


class SpreadJob(SetJob):
    """A table being split that is not here: what the kernels need to know of it, without rows."""

    def __init__(
        self, table: Table, records: int, requirements: Requirements, mode: int, choices: Choices | None
    ) -> None:
        self.start = None
        self.choices = choices or Choices()
        self.describe(table, requirements, mode)
        self.records = self.size = records
        self.budget = requirements.budget(records)
        self.totals: list[Ints] = []

    def root(self) -> Ints:
        """Return the line of the cluster that holds everything; its last cell is the number of its node."""
        line = [0, self.records, self.budget, self.records] + [0, 1, 0, 0] * len(self.sets)
        attributes = len(self.columns) + len(self.sets)
        return np.array([line + [0] * (1 + attributes // MARKS) + [0]], dtype=np.int64)

    def everybody(self, people: int) -> Groups:
        """Return all records as one group."""
        present = [np.flatnonzero(total) for total in self.totals]
        listed = [(np.array([0, len(c)]), c, total[c]) for c, total in zip(present, self.totals, strict=True)]
        return self.groups(np.array([self.records]), [np.array([people])], listed)


class Driver(SetWorker):
    """The tree so far, and the steps that make it grow.

    ``child`` and ``forks`` are the tree, ``hidden`` what its open leaves hide of each item-set column. ``opened``,
    ``closed`` and ``dropped`` become the lines of its leaves: small enough, final, and suppressed.
    """

    job: SpreadJob

    def __init__(self, job: SpreadJob, ask: Callable[[Task], list[Any]], apart: bool) -> None:
        super().__init__(job)
        self.ask_shards, self.apart = ask, apart
        self.child: list[int] = [-1]
        self.forks: dict[int, Fork] = {}
        self.hidden: dict[int, list[Map]] = {0: [_everything(column) for column in job.sets]}
        self.held: list[dict[int, tuple[Ints, Ints]]] = []
        nothing = job.root()[:0]
        self.opened = self.closed = self.dropped = nothing

    def tree(self) -> Tree:
        """Return the tree in the form for the shards."""
        return Tree(np.array(self.child, dtype=np.int64), pack([self.forks[node] for node in sorted(self.forks)]))

    def grow(self, most: int, told: Callable[[int], None]) -> None:
        """Split all clusters of more than ``most`` records, level by level, until there are none."""
        clusters = self.job.root()
        while len(clusters):
            large = clusters[:, 3] > most
            self.opened = np.concatenate([self.opened, clusters[~large]])
            clusters = clusters[large]
            levels = [self.split(clusters[batch]) for batch in runs(self._cells(clusters), CELLS)]
            self.closed = np.concatenate([self.closed, *(level.closed for level in levels)])
            self.dropped = np.concatenate([self.dropped, *(level.dropped for level in levels)])
            clusters = np.concatenate([clusters[:0], *(level.open for level in levels)])
            told(self.job.records - int(clusters[:, 3].sum()))

    def grow_in_rounds(self, told: Callable[[int], None]) -> None:
        """Specialize one attribute for all clusters at a time, until nothing can be specialized."""
        root = self.job.root()
        self.closed, self.dropped = self.job.rounds(root, self._measured(root), self._specialize_all, told)

    def _specialize_all(self, clusters: Ints, attribute: int) -> list[tuple[Level, Reals]]:
        if len(clusters) > MOST_CLUSTERS:
            raise UnsupportedError(
                f"order: global is not possible with more than {MOST_CLUSTERS:,} classes if a table is spread over "
                "many machines: one machine compares all of them, round by round.",
                hint="remove it from the policy, or run on one machine, where it works.",
            )
        found = []
        for batch in runs(self._cells(clusters), CELLS):
            level = self.split(clusters[batch], attribute)
            lost = [self._measured(lines) for lines in (level.open, level.closed)]
            found.append((level, np.concatenate(lost)))
        return found

    def _measured(self, clusters: Ints) -> Reals:
        """Return the loss of each attribute in each cluster, asked for anew."""
        job = self.job
        found = [np.zeros((0, len(job.columns) + len(job.sets)))]
        for batch in runs(self._cells(clusters), CELLS):
            lines = clusters[batch]
            self._turn_to(lines)
            values = [CountValues(job.axes.kind, job.axes.start)] if job.columns else []
            self.held = [{} for _ in job.sets]  # no item is ranked, so none is chosen
            answers = self._ask(*values, *self._rank(lines))
            for question, counts in zip(values, answers, strict=False):
                covering, table = self._order(question, counts)
                ends = splits.Ends(counts.low, counts.high)
                self.summary = shard_summaries.Summary(covering.orders, table, ends, NOTHING_COVERED)
            self._note_hidden(answers[len(values) :])
            found.append(self.losses(lines))
        return np.concatenate(found)

    def _cells(self, clusters: Ints) -> Ints:
        """Return about how many numbers shards send for each cluster."""
        job = self.job
        places = value_orders.most_places(job.axes.kind, np.diff(job.axes.start), job.records)
        hidden = [sum(len(codes) for codes, _ in self.hidden[node]) for node in clusters[:, -1].tolist()]
        return np.asarray(int(places.sum()) * (2 + len(places)) + np.array(hidden, dtype=np.int64))

    def split(self, clusters: Ints, only: int = -1) -> Level:
        """Part each cluster once, where that can be done; ``only`` names the one attribute to be specialized."""
        self._turn_to(clusters)
        self._look(clusters, only)
        if self.job.sets or only >= 0:
            return self._carry_out(clusters, *self.decide(clusters, only))
        chosen, _ = self.best_splits(clusters)
        return self._carry_out(clusters, np.where(chosen.attribute >= 0, 0, -1), chosen, [])

    def _turn_to(self, clusters: Ints) -> None:
        """Make these the clusters that questions are about."""
        self.nodes = clusters[:, -1].copy()
        self.spots = {node: spot for spot, node in enumerate(self.nodes.tolist())}

    def _ask(self, *questions: Question) -> list[Any]:
        return self.ask_shards(Task(self.tree(), self.nodes, questions)) if questions else []

    def _spots(self, clusters: Ints) -> Ints:
        """Return the places of clusters of this level in the last questions."""
        return np.array([self.spots[node] for node in clusters[:, -1].tolist()], dtype=np.int64)

    def _look(self, clusters: Ints, only: int = -1) -> None:
        """Ask all questions about every cluster: about values and items, then about their order and ranks.

        Items of other attributes than ``only`` stay as they are.
        """
        job, axes = self.job, self.job.axes
        values = [CountValues(axes.kind, axes.start)] if job.columns else []
        asked = [index for index in range(len(job.sets)) if only < 0 or only == len(job.columns) + index]
        questions, slots = self._count_nodes(asked)
        answers = self._ask(*values, *questions)
        self._settle(clusters, asked, slots, answers[len(values) :])
        choosing = self._rank(clusters)
        counted = answers[: len(values)]
        ordered = [self._order(question, counts) for question, counts in zip(values, counted, strict=True)]
        covering = [question for question, _ in ordered]
        answers = self._ask(*covering, *choosing)
        for (question, table), counts, covered in zip(ordered, counted, answers, strict=False):
            ends = splits.Ends(counts.low, counts.high)
            self.summary = shard_summaries.Summary(question.orders, table, ends, question.complete(covered))
        for offer, chosen in zip(self.offers, answers[len(covering) :], strict=True):
            offer.parts.records[:] = chosen.records
            offer.parts.gain[:] = chosen.gain.astype(np.float64) / kernel.PORTION
        self._note_hidden(answers[len(covering) :])

    def _note_hidden(self, answers: list[shard_summaries.Chosen]) -> None:
        """Note what the records of clusters hide of each item-set column."""
        self.shares_hidden = np.zeros((len(self.nodes), len(self.job.sets)))
        for index, chosen in enumerate(answers):
            self.shares_hidden[:, index] = chosen.hidden.astype(np.float64) / kernel.PORTION

    # single values

    def _order(self, question: CountValues, counted: shard_summaries.Counts) -> tuple[CoverPlaces, Ints]:
        """Put the values of each cluster in order; return the question what places cover, and their records."""
        job, axes = self.job, self.job.axes
        attributes = len(axes.kind)
        pair = question.pairs(counted.keys)
        begin = np.searchsorted(pair, np.arange(len(self.nodes) * attributes + 1))
        code = (counted.keys % axes.start[-1] - axes.start[pair % attributes]).astype(np.int32)
        places, table = np.zeros(len(begin) - 1, np.int64), np.zeros(len(code), np.int64)
        shift, low = np.full(len(places), -1, np.int64), counted.low.reshape(-1).astype(np.int64)
        orders = shard_summaries.Orders(begin, code, np.zeros(len(code), np.int32), places, low, shift)
        by_code = job.mode == splits.MEDIAN
        shard_summaries.order_counts(orders, counted.counts, by_code, axes, self.buffers, table)
        for index in np.flatnonzero(counted.many).tolist():
            ends = int(low[index]), int(counted.high.reshape(-1)[index])
            shift[index] = value_orders.bin_width(*ends)
            places[index] = (ends[1] - ends[0] >> int(shift[index])) + 1
        several = places.reshape(-1, attributes)
        lines = starts(np.where(several > 1, several, 0).sum(axis=1))
        return CoverPlaces(axes.kind, orders, lines, job.mode == splits.LEAST_LOSS), table

    def _score(self, clusters: Ints, room: splits.Splits, best: splits.Splits | None, only: int, before: Reals) -> Ints:
        """Score splits as a worker does, from the answers of the shards."""
        job = self.job
        search = splits.Search(job.requirements.least_rows, job.mode, only, every=best is None)
        found = splits.Found(room, best or room, before)
        ends: Ints = shard_summaries.score_covered(
            clusters, self._spots(clusters), self.summary, search, job.axes, self.buffers, self.covers, found
        )
        return ends

    def single_losses(self, clusters: Ints) -> Reals:
        """Return the loss per record of each single-valued attribute in each cluster, not weighted."""
        if not self.job.columns:
            return np.zeros((len(clusters), 0))
        spots, ends = self._spots(clusters), self.summary.ends
        return np.asarray(
            shard_summaries.covered_losses(spots, self.summary.orders, ends.low[spots], ends.high[spots], self.job.axes)
        )

    def hidden_shares(self, clusters: Ints) -> Reals:
        """Return, for each cluster and item-set column, the sum over records of the share of items that is hidden."""
        return self.shares_hidden[self._spots(clusters)]

    def _valid(self, members: Ints, owner: Ints, tried: splits.Splits) -> NDArray[np.bool_]:
        """Return which splits leave both sides, but for a dropped one, with all requirements kept."""
        spots = self._spots(members)[owner]
        maps: dict[tuple[int, int], tuple[NDArray[np.int32], NDArray[np.int32]]] = {}
        forks = [
            self._value_fork(maps, int(spot), int(a), int(place), int(shape))
            for spot, a, place, shape in zip(spots, tried.attribute, tried.place, tried.shape, strict=True)
        ]
        rows = np.stack([tried.left, members[owner, 3] - tried.left], axis=1).reshape(-1)
        holds = self._children_keep(forks, spots, rows).reshape(-1, 2)
        left = holds[:, 0] | (tried.drop == splits.DROP_LEFT)
        right = holds[:, 1] | (tried.drop == splits.DROP_RIGHT)
        return np.asarray(left & right)

    def _value_fork(self, maps: dict[Any, Any], spot: int, a: int, place: int, shape: int) -> Fork:
        """Return the fork that a split of a single value is; forks of one cluster and attribute share a map."""
        orders, covered = self.summary.orders, self.summary.covered
        pair = spot * len(self.job.columns) + a
        first, last = int(orders.begin[pair]), int(orders.begin[pair + 1])
        if orders.shift[pair] >= 0:
            several = orders.places[pair - a : pair]
            at = int(covered.begin[spot]) + int(several[several > 1].sum())
            filled = np.flatnonzero(covered.inside[at : at + int(orders.places[pair])])
            return Fork(a, int(orders.low[pair]) + (int(filled[place]) + 1 << int(orders.shift[pair])) - 1)
        if self.job.axes.kind[a] == value_orders.NUMBER:
            return Fork(a, int(orders.code[first + place]))
        codes, places = maps.setdefault((spot, a), (orders.code[first:last], orders.place_of[first:last]))
        return Fork(a, place, shape, codes, places)

    # items

    def _count_nodes(self, asked: list[int]) -> tuple[list[CountNodes], list[list[Ints]]]:
        """Return the question how many records hold each hidden node, column by column, and the nodes it is about."""
        questions, slots = [], []
        for index in asked:
            maps = [self.hidden[node][index] for node in self.nodes.tolist()]
            nodes = [np.unique(now) for _, now in maps]
            begin = starts([len(different) for different in nodes])
            where = [
                np.searchsorted(different, now) + first
                for different, (_, now), first in zip(nodes, maps, begin.tolist(), strict=False)
            ]
            questions.append(
                CountNodes(
                    index,
                    starts([len(codes) for codes, _ in maps]),
                    joined([codes for codes, _ in maps], np.int32),
                    joined(where, np.int32),
                    int(begin[-1]),
                )
            )
            slots.append(nodes)
        return questions, slots

    def _settle(self, clusters: Ints, asked: list[int], slots: list[list[Ints]], answers: list[Ints]) -> None:
        """Disclose what all records of a cluster hold, and give up what too few hold, or replace it by its parent."""
        self.held = [{} for _ in self.job.sets]
        waiting = True
        while waiting:
            waiting = False
            for index, nodes, counts in zip(asked, slots, answers, strict=True):
                each = np.split(counts, starts([len(different) for different in nodes])[1:-1])
                for spot, (different, held) in enumerate(zip(nodes, each, strict=True)):
                    waiting |= self._settle_one(clusters[spot], index, different, held)
            if waiting:
                questions, slots = self._count_nodes(asked)
                answers = self._ask(*questions)

    def _settle_one(self, line: Ints, index: int, nodes: Ints, held: Ints) -> bool:
        """Settle one cluster and column, where so many records hold each node; say if it has to be counted again."""
        forest, least = self.job.forests[index], self.job.requirements.least_rows
        place, node, total = kernel.FIXED + kernel.EACH * index, int(line[-1]), int(line[3])
        _, now = self.hidden[node][index]
        if total < least:
            return False
        shared, rare = held == total, (held < least) & (held > 0)
        for common in nodes[shared].tolist():
            line[place + 2] += kernel.in_units(forest.share[common])
            if forest.share[common] > 0.0:
                line[place + 3] |= kernel.mark(common)
        become = np.where(shared | (held < least), -1, nodes)
        lift = bool(self.desks[index].lift[0]) and bool(rare.any())
        if lift:
            become[rare] = self._parents(nodes[rare], index, int(line[place + 3]))
        self._become(line, index, become[np.searchsorted(nodes, now)])
        kept = become >= 0
        self.held[index][node] = nodes[kept], held[kept]
        return lift

    def _parents(self, nodes: Ints, index: int, marks: int) -> Ints:
        """Return the parents that nodes can be replaced by, -1 where there is none or it is disclosed."""
        parent = self.job.forests[index].parent[nodes]
        return np.where((parent < 0) | (marks >> (parent % 62) & 1 > 0), -1, parent)

    def _become(self, line: Ints, index: int, nodes: Ints) -> None:
        """Change what the hidden items of a cluster are; -1 are hidden no longer."""
        hidden = self.hidden[int(line[-1])]
        kept = nodes >= 0
        hidden[index] = hidden[index][0][kept], nodes[kept]
        line[kernel.FIXED + kernel.EACH * index + 1] = np.count_nonzero(kept)

    def _rank(self, clusters: Ints) -> list[ChooseItems]:
        """Rank the hidden items of each cluster, and return the question which of them records choose."""
        questions = []
        self.offers: list[Offer] = []
        self.ranked: list[list[Map]] = []
        for index, desk in enumerate(self.desks):
            nodes, maps = [], []
            for line in clusters:
                ranked = self._ranked(line, index, desk)
                rank = np.full(len(desk.rank), -1, np.int64)
                rank[ranked] = np.arange(len(ranked))
                codes, now = self.hidden[int(line[-1])][index]
                maps.append((codes[rank[now] >= 0], rank[now][rank[now] >= 0]))
                nodes.append(ranked)
            begin = starts([len(ranked) for ranked in nodes])
            parts, result = kernel.parts(int(begin[-1])), kernel.outcome(len(clusters))
            parts.node[:], result.ends[:] = joined(nodes, np.int64), begin[1:]
            self.offers.append(Offer(parts, result, np.ones(int(begin[-1]), dtype=np.bool_), np.zeros(0)))
            self.ranked.append(maps)
            questions.append(
                ChooseItems(
                    index,
                    starts([len(codes) for codes, _ in maps]),
                    joined([codes for codes, _ in maps], np.int32),
                    joined([ranks + first for (_, ranks), first in zip(maps, begin.tolist(), strict=False)], np.int32),
                    int(begin[-1]),
                    clusters[:, kernel.FIXED + kernel.EACH * index + 2] / kernel.UNIT,
                )
            )
        return questions

    def _ranked(self, line: Ints, index: int, desk: kernel.Desk) -> Ints:
        """Return the items of one cluster by rank."""
        choices, least = self.job.choices, self.job.requirements.least_rows
        nodes, held = self.held[index].get(int(line[-1]), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
        desk.touched[: len(nodes)], desk.held[nodes] = nodes, held
        count = kernel.rank_items(len(nodes), line[3], line[2], choices.ranking(least), desk)
        ranked = [kernel.ranked_item(place, desk) for place in range(count)]
        desk.held[nodes] = 0
        return np.array(ranked, dtype=np.int64)

    def _offer(self, clusters: Ints, index: int) -> Offer:
        """Return the answers that are already there."""
        return self.offers[index]

    def _item_fork(self, offers: list[Offer | None], index: int, spot: int) -> Fork:
        """Return the fork that disclosing items of one column is in one cluster, as it is resolved now."""
        offer = offers[index]
        assert offer is not None
        first, last = int(offer.result.ends[spot - 1]) if spot else 0, int(offer.result.ends[spot])
        codes, ranks = self.ranked[index][spot]
        return item_fork(index, codes, ranks, offer.parts.child[first:last], int(offer.result.children[spot]))

    def _send(self, clusters: Ints, way: Ints, offers: list[Offer | None], family: scattering.Children) -> None:
        """Count the records of the children of clusters that disclose items."""
        self.sent = way, offers
        for spot in np.flatnonzero(way > 0).tolist():
            offer = offers[int(way[spot]) - 1]
            assert offer is not None
            parts, result, base = offer.parts, offer.result, int(family.begin[spot])
            first, last = int(result.ends[spot - 1]) if spot else 0, int(result.ends[spot])
            made = first + np.flatnonzero(parts.child[first:last] >= 0)
            family.node[base + parts.child[made]] = parts.node[made]
            family.records[base + parts.child[made]] = parts.records[made]
            end = int(family.begin[spot + 1]) - 1
            family.records[end] += clusters[spot, 3] - parts.records[made].sum()
            family.left_out[end] = result.fate[spot] == kernel.LEFT_OUT

    # requirements

    def _children_hold(self, clusters: Ints, which: Ints, family: scattering.Children) -> NDArray[np.bool_]:
        """Return which children of some clusters keep the requirements."""
        way, offers = self.sent
        forks = [self._item_fork(offers, int(way[spot]) - 1, spot) for spot in which.tolist()]
        return self._children_keep(forks, which, family.records)

    def _children_keep(self, forks: list[Fork], owner: Ints, rows: Ints) -> NDArray[np.bool_]:
        """Return which children of forks keep the requirements, where they have so many records."""
        job = self.job
        subjects = job.requirements.counts_subjects
        people = job.tallied[-1].size // 64 if subjects and not self.apart else 1
        width = sum(len(total) for total in job.totals) + people
        begin = starts([fork.children for fork in forks])
        holds = np.zeros(int(begin[-1]), dtype=np.bool_)
        for run in runs(np.diff(begin) * width, CELLS):
            question = TallyChildren(pack(forks[run]), owner[run], job.requirements.columns, subjects, self.apart)
            [found] = self._ask(question)
            different, listed = [], []
            for counts in found[: len(job.totals)]:
                group, codes = np.nonzero(counts)
                different.append(np.bincount(group, minlength=len(counts)))
                listed.append((starts(different[-1]), codes, counts[group, codes]))
            if subjects:
                different.append(found[-1] if self.apart else count_bits(found[-1]))
            children = slice(int(begin[run.start]), int(begin[run.stop]))
            holds[children] = job.requirements.holds(job.groups(rows[children], different, listed))
        return holds

    # the tree

    def _carry_out(self, clusters: Ints, way: Ints, chosen: splits.Splits, offers: list[Offer | None]) -> Level:
        """Make the children of clusters; return the outcome of each cluster."""
        job = self.job
        family = self._family(clusters, way, offers)
        self._send(clusters, way, offers, family)
        which = np.flatnonzero(way == 0)
        left = family.begin[which]
        family.records[left], family.records[left + 1] = chosen.left[which], clusters[which, 3] - chosen.left[which]
        family.left_out[left] = chosen.drop[which] == splits.DROP_LEFT
        family.left_out[left + 1] = chosen.drop[which] == splits.DROP_RIGHT
        lines = np.zeros((len(family.records), clusters.shape[1]), dtype=np.int64)
        tail = kernel.FIXED + kernel.EACH * len(job.sets)
        for spot in np.flatnonzero(way >= 0).tolist():
            base, end, line = int(family.begin[spot]), int(family.begin[spot + 1]), clusters[spot]
            scattering.new_lines(line, tail, family.records, family.left_out, lines, base, end - base)
            lines[base:end, -1] = len(self.child) + np.arange(end - base)
            if way[spot] > 0:
                self.forks[int(line[-1])] = self._item_fork(offers, int(way[spot]) - 1, spot)
            else:
                split = (int(array[spot]) for array in (chosen.attribute, chosen.place, chosen.shape))
                self.forks[int(line[-1])] = _shortest(self._value_fork({}, spot, *split))
            self._hand_down(line, int(way[spot]) - 1, family.node[base:end], lines[base:end])
        closed, reopened = self._climb(clusters[way < 0], offers)
        return Level(np.concatenate([lines[~family.left_out], reopened]), closed, lines[family.left_out])

    def _hand_down(self, line: Ints, disclosing: int, nodes: Ints, lines: Ints) -> None:
        """Make the nodes of the children of one cluster, with what they hide and disclose."""
        self.child[int(line[-1])] = len(self.child)
        hidden = self.hidden.pop(int(line[-1]))
        for node, own in zip(nodes.tolist(), lines, strict=True):
            self.child.append(-1)
            maps = []
            for index, (codes, now) in enumerate(hidden):
                given = node if index == disclosing else -1
                place = kernel.FIXED + kernel.EACH * index
                scattering.inherit(line, place, given, self.job.shares[index], own)
                kept = now != given
                maps.append((codes[kept], now[kept]) if given >= 0 else (codes, now))
                own[place + 1] = len(maps[-1][0])
            self.hidden[int(own[-1])] = maps

    def _climb(self, closed: Ints, offers: list[Offer | None]) -> tuple[Ints, Ints]:
        """Replace what clusters that cannot be parted still hide by the nodes above; return those that are closed."""
        again = np.zeros(len(closed), dtype=np.bool_)
        for index, column in enumerate(self.job.sets):
            place = kernel.FIXED + kernel.EACH * index
            climbs = column.taxonomy is not None and offers[index] is not None
            for spot in np.flatnonzero(closed[:, place + 1] > 0).tolist() if climbs else []:
                _, now = self.hidden[int(closed[spot, -1])][index]
                self._become(closed[spot], index, self._parents(now, index, int(closed[spot, place + 3])))
                again[spot] |= closed[spot, place + 1] > 0
        return closed[~again], closed[again]


def _everything(column: Any) -> Map:
    """Return what a cluster hides of a column before anything is disclosed: all items, as leaves."""
    codes = np.arange(column.size, dtype=np.int64)
    return codes, codes if column.taxonomy is None else column.taxonomy.path[:, -1].astype(np.int64)


def _shortest(fork: Fork) -> Fork:
    """Return a fork of a single value that names only the codes that go left."""
    if fork.codes is None or fork.places is None:
        return fork
    left = fork.places == fork.place if fork.shape == value_orders.SINGLE else fork.places <= fork.place
    codes = fork.codes[left].copy()
    return Fork(fork.column, 0, value_orders.PREFIX, codes, np.zeros(len(codes), np.int32))
