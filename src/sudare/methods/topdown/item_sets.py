"""Specialization of item sets: which attribute a cluster specializes next, and how.

This is the part of the method top-down that knows item sets; :mod:`sudare.methods.topdown.frame` is the frame. A worker
looks at all clusters of its share at once, column by column, and no object is made for a single cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sudare.core.progress import Listener
from sudare.core.sizes import CODES_16
from sudare.kernels.topdown import children, splits
from sudare.kernels.topdown import item_choices as kernel
from sudare.kernels.topdown.value_counts import Counter
from sudare.methods.topdown import item_trials
from sudare.methods.topdown.frame import Ints, Job, Level, Marks, Start, Worker, shares
from sudare.methods.topdown.item_scores import Rank, item_scores
from sudare.methods.topdown.item_trials import ALONE, AS_ASKED, OTHER_RANK
from sudare.models import Requirements
from sudare.table import ItemSets, Partition, Table, chunks

Reals = NDArray[np.float64]
MARKS = 62
"""Attributes that are closed for a cluster are marked in cells of its line, so many in each."""
SMALL_SPARE = 1 << 22
"""Working space of so many numbers is kept, however little of it is used."""


@dataclass(frozen=True)
class Choices:
    """What the user of the method may choose about item sets (see :mod:`sudare.methods.topdown.top_down`).

    ``scores`` are those by which items are ranked if they are ``scored``, column by column (see
    :mod:`sudare.methods.topdown.item_scores`). With ``trials`` small clusters are split in several ways (see
    :mod:`sudare.methods.topdown.item_trials`), which takes scores even if items are not ``scored``; if the table is
    ``small``, it is as a whole.
    """

    beta: float = 0.0
    alone: bool = False
    join: bool = True
    everywhere: bool = False
    items_first: bool = False
    scores: tuple[Ints, ...] | None = None
    scored: bool = False
    trials: bool = False
    small: bool = False

    def ranking(self, least: int, way: int = AS_ASKED, *, other_rank: bool = False) -> kernel.Ranking:
        """Return which items are ranked, where clusters have at least so many records.

        With ``other_rank`` everything is ranked by the other ranking.
        """
        return kernel.Ranking(
            least,
            self.beta,
            alone=self.alone or way == ALONE,
            viable=self.items_first,
            scored=self.scored != (other_rank != (way == OTHER_RANK)),
        )


def choices_of(
    sets: Sequence[ItemSets],
    records: int,
    held: Callable[[int], Ints],
    *,
    order: str,
    objective: str,
    items: str,
    remainder: str,
    beta: float,
    rank: Rank,
) -> Choices:
    """Return what the options of the method say; ``held(i)`` are the records that hold each item of set column i."""
    alone, items_first = items == "one-by-one", objective == "items"
    # with weights, the number of items is not what the user is after
    trials = items_first and order == "per-cluster" and not alone and rank in ("frequency", "information")
    return Choices(
        beta,
        alone=alone,
        join=remainder == "join",
        everywhere=order == "global",
        items_first=items_first,
        scores=item_scores(sets, "information" if trials else rank, held, records),
        scored=rank != "frequency",
        trials=trials,
        small=records <= item_trials.SMALL_TABLE,
    )


class SetJob(Job):
    """A table with item sets being split. Its rows are records; their hidden items stand in ``items``, set by set."""

    choices: Choices

    def describe(self, table: Table, requirements: Requirements, mode: int) -> None:
        """Note what does not depend on the records but on what they may hold."""
        super().describe(table, requirements, mode)
        self.sets = list(table.sets.values())
        self.forests = [_forest(column) for column in self.sets]
        nodes = max((len(forest.share) for forest in self.forests), default=1)
        self.shares = np.zeros((max(len(self.sets), 1), nodes))
        for index, forest in enumerate(self.forests):
            self.shares[index, : len(forest.share)] = forest.share
        self.weights = np.array([column.weight for column in self.sets])

    def fill(self, table: Table) -> None:
        """Fill the rows and the items; equal records stay apart, for with item sets there are few of them."""
        self.cells = np.arange(len(self.sets)) + 1 + len(self.tallied)
        self.fill_records(len(self.sets))
        kind = np.uint16 if self.shares.shape[1] < CODES_16 else np.uint32
        self.begin = np.concatenate(([0], np.cumsum([len(column.items) for column in self.sets]))).astype(np.int64)
        self.items = self.storage.empty(int(self.begin[-1]), kind)
        self.ranks = self.storage.empty((len(self.sets), self.records), kind)
        self.part = self.storage.empty(self.records, kind)
        if self.start is not None:
            self._fill_hidden(self.start)
            return
        for index, column in enumerate(self.sets):
            region = self.items[self.begin[index] : self.begin[index + 1]]
            for part in chunks(len(region)):
                codes = column.items[part]
                region[part] = codes if column.taxonomy is None else column.taxonomy.path[codes, -1]
            for part in chunks(self.records):
                held = np.diff(column.offsets[part.start : part.stop + 1]).astype(np.uint32)
                self.extra[part, self.cells[index]] = held << np.uint32(kernel.HIDDEN) | held

    def _fill_hidden(self, start: Start) -> None:
        """Fill the items with those that the clusters of the start still hide, as the nodes that they are by now."""
        bounds = np.searchsorted(start.of_row, np.arange(len(start.lines) + 1))
        self.hidden_runs = np.zeros((len(start.lines), len(self.sets), 2), dtype=np.int64)
        for index, (column, (begin, codes, nodes)) in enumerate(zip(self.sets, start.hidden, strict=True)):
            lookup = children.Lookup(np.full(column.size, -1, np.int64), np.zeros(self.shares.shape[1], np.int64))
            children.fill_hidden(
                column.offsets, column.items, bounds, kernel.ItemMaps(begin, codes, nodes), self.hidden(index),
                self.begin[index], self.hidden_runs[:, index], lookup,
            )  # fmt: skip

    def hidden(self, index: int) -> kernel.Hidden:
        """Return the hidden items of one item-set column, as kernels take them."""
        return kernel.Hidden(self.items, self.extra, self.cells[index], index)

    def root(self) -> Ints:
        """Return the line of the cluster that holds everything, or the lines of those that there are at the start."""
        if self.start is not None:
            lines = super().root()
            for index in range(len(self.sets)):
                place = kernel.FIXED + kernel.EACH * index
                lines[:, place : place + 2] = self.hidden_runs[:, index]
            return lines
        line = [0, self.records, self.budget, self.records]
        for index in range(len(self.sets)):
            line += [int(self.begin[index]), int(self.begin[index + 1] - self.begin[index]), 0, 0]
        attributes = len(self.columns) + len(self.sets)
        return np.array([line + [0] * (1 + attributes // MARKS)], dtype=np.int64)

    def worker(self) -> SetWorker:
        """Return a new worker for this job."""
        return SetWorker(self)

    def run(self, listener: Listener) -> Partition:
        """Split until nothing can be split: each cluster by itself, or one attribute for all clusters at a time."""
        if self.choices.everywhere:
            return self._run_in_rounds(listener)
        if self.choices.trials and self.choices.small:
            return self._run_as_a_whole(listener)
        return super().run(listener)

    def _run_as_a_whole(self, listener: Listener) -> Partition:
        """Split a small table on one core, which tries everything twice."""
        listener("decide", 0.0, 1.0)
        marks = Marks(self.storage, len(self.rows))
        root = self.root()
        done = self.start.final if self.start is not None else np.zeros(len(root), dtype=np.bool_)
        marks.note(Level(root[:0], root[done], root[:0]))
        if not done.all():
            self.worker().finish_whole(root[~done], marks)
        listener("decide", 1.0, 1.0)
        return self.partition(marks)

    def _run_in_rounds(self, listener: Listener) -> Partition:
        """Specialize one attribute for all clusters at a time; in a round, clusters are dealt out to all cores."""
        workers = self.workers()
        with ThreadPoolExecutor(len(workers)) as pool:

            def specialize(clusters: Ints, turn: int) -> list[tuple[Level, Reals]]:
                pairs = zip(workers, shares(clusters, len(workers)), strict=False)
                return list(pool.map(lambda pair: pair[0].specialize(pair[1], turn), pairs))

            root = self.root()
            closed, dropped = self.rounds(
                root, workers[0].losses(root), specialize, lambda done: listener("decide", done / self.records, 1.0)
            )
        marks = Marks(self.storage, len(self.rows))
        marks.note(Level(root[:0], closed, dropped))
        return self.partition(marks)

    def rounds(
        self,
        clusters: Ints,
        losses: Reals,
        specialize: Callable[[Ints, int], list[tuple[Level, Reals]]],
        told: Callable[[int], None],
    ) -> tuple[Ints, Ints]:
        """Specialize, round by round, the attribute that loses most over the whole table, in every cluster open for it.

        A cluster that cannot be split by it is closed for that attribute, and so are the clusters it is split into.
        ``specialize`` parts clusters by an attribute, and returns what open, then closed ones lose. Losses are added up
        in the order of the rows, so that it makes no difference who does so. Returns final and suppressed clusters.
        """
        tail = kernel.FIXED + kernel.EACH * len(self.sets)
        closed, dropped = [clusters[:0]], [clusters[:0]]
        settled = np.zeros(losses.shape[1])
        done = 0
        while True:
            order = np.argsort(clusters[:, 0])
            clusters, losses = clusters[order], losses[order]
            going = self._is_open(clusters)
            finished = ~going.any(axis=1)
            settled += losses[finished].sum(axis=0)
            closed.append(clusters[finished])
            clusters, losses, going = clusters[~finished], losses[~finished], going[~finished]
            done += int(closed[-1][:, 3].sum() + dropped[-1][:, 3].sum())
            told(done)
            if not len(clusters):
                return np.concatenate(closed), np.concatenate(dropped)
            loss = settled + losses.sum(axis=0)
            turn = max(np.flatnonzero(going.any(axis=0)).tolist(), key=loss.__getitem__)
            mine = going[:, turn]
            levels = specialize(clusters[mine], turn)
            for level, _ in levels:
                level.closed[:, tail + turn // MARKS] |= 1 << turn % MARKS
            dropped.append(np.concatenate([level.dropped for level, _ in levels]))
            kept = [lines for level, _ in levels for lines in (level.open, level.closed)]
            clusters = np.concatenate([clusters[~mine], *kept])
            losses = np.concatenate([losses[~mine], *(lost for _, lost in levels)])

    def _is_open(self, lines: Ints) -> NDArray[np.bool_]:
        """Return for which attributes clusters are open."""
        tail, attributes = kernel.FIXED + kernel.EACH * len(self.sets), len(self.columns) + len(self.sets)
        marks = [lines[:, tail + index // MARKS] >> (index % MARKS) & 1 for index in range(attributes)]
        return np.stack(marks, axis=1) == 0 if attributes else np.zeros((len(lines), 0), dtype=np.bool_)


def _forest(column: ItemSets) -> kernel.Forest:
    if column.taxonomy is None:
        return kernel.Forest(np.full(column.size, -1, np.int64), np.zeros(column.size))
    parent = column.taxonomy.parent.astype(np.int64)
    return kernel.Forest(np.where(parent <= 0, -1, parent), column.taxonomy.share)


@dataclass
class Offer:
    """What disclosing items of one column would do to each cluster."""

    parts: kernel.Parts
    result: kernel.Outcome
    valid: NDArray[np.bool_]
    lost: Reals


class SetWorker(Worker):
    """One thread's buffers, and the steps it does on its share of the clusters of a level."""

    job: SetJob

    def __init__(self, job: SetJob) -> None:
        super().__init__(job)
        scores = job.choices.scores or [None] * len(job.forests)
        self.desks = [kernel.desk(forest, score) for forest, score in zip(job.forests, scores, strict=True)]
        self._spares: dict[str, NDArray[Any]] = {}
        self.way, self.other_rank = AS_ASKED, False

    def split(self, clusters: Ints, only: int = -1) -> Level:
        """Part each cluster once, where that can be done; ``only`` names the one attribute to be specialized."""
        return self._carry_out(clusters, *self.decide(clusters, only))

    def finish(self, clusters: Ints, marks: Marks) -> None:
        """Split clusters until none of them can be split, and mark what becomes of them."""
        if self.job.choices.trials:
            self._finish_in_ways(clusters, marks)
        else:
            super().finish(clusters, marks)

    def finish_whole(self, root: Ints, marks: Marks) -> None:
        """Split the cluster that holds everything until nothing can be split, by both rankings."""

        def finish(clusters: Ints, way: int) -> Ints:
            self.other_rank = way == OTHER_RANK
            return np.array([self._finish_in_ways(clusters, marks)])

        item_trials.keep_best(self.job, root, marks, (AS_ASKED, OTHER_RANK), finish)

    def _finish_in_ways(self, clusters: Ints, marks: Marks) -> int:
        """Split clusters until none of them can be split, small ones in several ways; return how much is shown."""
        job = self.job
        small, shown, least = [clusters[:0]], 0, job.requirements.least_rows
        most = item_trials.small(least)
        while len(clusters) and not job.stopped:
            few = clusters[:, 3] <= most
            small.append(clusters[few])
            level = self.split(clusters[~few])
            marks.note(level)
            shown += int(item_trials.items_shown(job, level).sum())
            clusters = level.open
        clusters = np.concatenate(small)
        if not len(clusters):
            return shown
        clusters = clusters[np.argsort(clusters[:, 0])]
        narrow = clusters[:, 3] <= item_trials.NARROW * least

        def split_down(clusters: Ints, way: int) -> Ints:
            tried = narrow if way == ALONE else np.ones(len(clusters), dtype=np.bool_)
            found = np.where(tried, 0, -1)
            first, going = clusters[:, 0].copy(), clusters[tried]
            self.way = way
            while len(going) and not job.stopped:
                level = self.split(going)
                marks.note(level)
                owner = np.searchsorted(first, level.closed[:, 0], side="right") - 1
                np.add.at(found, owner, item_trials.items_shown(job, level))
                going = level.open
            self.way = AS_ASKED
            return found

        return shown + int(item_trials.keep_best(job, clusters, marks, (AS_ASKED, OTHER_RANK, ALONE), split_down).sum())

    def specialize(self, clusters: Ints, attribute: int) -> tuple[Level, Reals]:
        """Part each cluster by one attribute, where that can be done; return what open, then closed ones lose."""
        level = self.split(clusters, attribute)
        return level, np.concatenate([self.losses(level.open), self.losses(level.closed)])

    def decide(self, clusters: Ints, only: int = -1) -> tuple[Ints, splits.Splits, list[Offer | None]]:
        """Return the chosen split of each cluster, -1 for none, and all possible splits."""
        job = self.job
        singles = len(job.columns)
        items_first = job.choices.items_first
        chosen, before = splits.splits(len(clusters)), np.zeros(len(clusters))
        chosen.attribute[:] = -1
        if singles and only < singles and not items_first:
            chosen, before = self.best_splits(clusters, only)
        one_score = only < 0 and job.mode == splits.LEAST_LOSS and not items_first
        if singles and not one_score and clusters[:, 2].any():
            before = self.losses(clusters)[:, :singles].sum(axis=1)  # what leaving records out is weighed against
        asked = [only < 0 or only == singles + index for index in range(len(job.sets))]
        offers = [self._offer(clusters, index) if ask else None for index, ask in enumerate(asked)]
        worth = self._worth(clusters, chosen, before, offers)
        way = _best(worth)
        if not job.requirements.only_rows:
            self._keep_requirements(clusters, worth, way, offers)
        if singles and items_first:
            others = np.flatnonzero(way < 0)
            found, _ = self.best_splits(clusters[others])
            splits.overwrite(chosen, others, found)
            way[others[found.attribute >= 0]] = 0
        return way, chosen, offers

    def _offer(self, clusters: Ints, index: int) -> Offer:
        """Let the records of each cluster choose among the hidden items of one column."""
        job, least = self.job, self.job.requirements.least_rows
        hidden = clusters[:, kernel.FIXED + kernel.EACH * index + 1]
        # an item is ranked only if so many records hold it
        most = int(np.minimum(hidden // max(least, 1), len(job.forests[index].share)).sum())
        parts, result = kernel.parts(most), kernel.outcome(len(clusters))
        ranking = job.choices.ranking(least, self.way, other_rank=self.other_rank)
        kernel.rank_and_choose(
            job.hidden(index), clusters, ranking, job.forests[index], self.desks[index], job.ranks[index], parts, result
        )
        return Offer(parts, result, np.ones(most, dtype=np.bool_), np.zeros(0))

    def _worth(
        self, clusters: Ints, chosen: splits.Splits, before: Reals, offers: list[Offer | None]
    ) -> NDArray[np.float64]:
        """Return the worth of each possible split of each cluster, -inf for one that is not possible.

        A part that costs many bits (of log2 of records per cluster) leaves little for others: with ``least-loss`` the
        worth is the loss that goes away per bit. With ``widest`` it is the loss that is there.
        """
        job = self.job
        records = np.maximum(clusters[:, 3], 1).astype(np.float64)
        worth = np.full((len(clusters), 1 + len(offers)), -np.inf)
        disclosed = self._disclosed(clusters)
        lost = float(job.axes.weight.sum()) - before / records + disclosed.sum(axis=1)
        for index, offer in enumerate(offers):
            if offer is None:
                continue
            self._resolve(clusters, np.arange(len(clusters)), index, offer, lost)
            offer.lost = lost
            possible = offer.result.fate != kernel.NO
            gain, bits = offer.result.gain, offer.result.bits
            if job.mode != splits.LEAST_LOSS:
                gain, bits = (job.weights[index] - disclosed[:, index]) * records, records
            worth[possible, 1 + index] = gain[possible] / np.maximum(bits[possible], 1e-9)
        possible = np.flatnonzero(chosen.attribute >= 0)
        if len(possible):
            total, inside = records[possible], chosen.left[possible].astype(np.float64)
            bits = inside * np.log2(total / inside) + (total - inside) * np.log2(total / (total - inside))
            gain = before[possible] - chosen.score[possible]
            if job.mode != splits.LEAST_LOSS:
                loss = self.single_losses(clusters[possible]) * job.axes.weight
                gain, bits = total * loss.max(axis=1), total
            bits = np.where(chosen.drop[possible] == splits.KEEP, bits, 0.0)
            worth[possible, 0] = gain / np.maximum(bits, 1e-9)
        return worth

    def losses(self, clusters: Ints) -> Reals:
        """Return the loss of each attribute in each cluster, over all its records and weighted; item sets come last."""
        job = self.job
        singles = self.single_losses(clusters) * clusters[:, 3:4] * job.axes.weight
        return np.concatenate([singles, self.hidden_shares(clusters) * job.weights], axis=1)

    def single_losses(self, clusters: Ints) -> Reals:
        """Return the loss per record of each single-valued attribute in each cluster, not weighted."""
        return np.asarray(splits.losses(self.job.rows, clusters, self.job.axes, self.buffers))

    def hidden_shares(self, clusters: Ints) -> Reals:
        """Return, for each cluster and item-set column, the sum over records of the share of items that is hidden."""
        job = self.job
        shares = [kernel.hidden_share(job.extra, cell, clusters, index) for index, cell in enumerate(job.cells)]
        return np.stack(shares, axis=1) if shares else np.zeros((len(clusters), 0))

    def _disclosed(self, clusters: Ints) -> Reals:
        """Return the weighted share of items that the records of each cluster disclose by now, on average.

        An empty set has nothing to hide, but suppressing its record still loses it. The figures are needed only if
        records may be suppressed, or to find the worst attribute.
        """
        if not clusters[:, 2].any() and self.job.mode == splits.LEAST_LOSS:
            return np.zeros((len(clusters), len(self.job.sets)))
        hidden = self.hidden_shares(clusters) * self.job.weights
        return np.asarray(self.job.weights - hidden / np.maximum(clusters[:, 3:4], 1))

    def _resolve(self, clusters: Ints, which: Ints, index: int, offer: Offer, lost: Reals) -> None:
        job = self.job
        rules = kernel.Rules(job.requirements.least_rows, job.choices.join, float(job.weights[index]))
        kernel.resolve(clusters, which, rules, job.shares[index], lost, offer.parts, offer.valid, offer.result)

    def _family(self, clusters: Ints, way: Ints, offers: list[Offer | None]) -> children.Children:
        counts = np.where(way == 0, 2, 0)
        for index, offer in enumerate(offers):
            if offer is not None:
                counts = np.where(way == 1 + index, offer.result.children, counts)
        return children.children(counts)

    def _send(self, clusters: Ints, way: Ints, offers: list[Offer | None], family: children.Children) -> None:
        """Assign the records of clusters that disclose items to children."""
        for index, offer in enumerate(offers):
            which = np.flatnonzero(way == 1 + index)
            if offer is not None and len(which):
                children.assign_by_item(
                    clusters, which, self.job.ranks[index], offer.parts, offer.result, self.job.part, family
                )
                gone = which[offer.result.fate[which] == kernel.LEFT_OUT]
                family.left_out[family.begin[gone + 1] - 1] = True

    def _keep_requirements(self, clusters: Ints, worth: Reals, way: Ints, offers: list[Offer | None]) -> None:
        """Test the children of clusters that disclose items; what fails goes to the remainder.

        If the remainder itself fails, the parts that gain least join it, more and more of them. If nothing is left of a
        split, the cluster takes its next best one. Splits of single values were tested already.
        """
        tries = np.zeros(len(clusters), dtype=np.int64)
        untested = way > 0
        while untested.any():
            which = np.flatnonzero(untested)
            now = np.where(untested, way, -1)
            family = self._family(clusters, now, offers)
            self._send(clusters, now, offers, family)
            holds = self._children_hold(clusters, which, family)
            holds[family.left_out] = True
            owner = np.repeat(np.arange(len(clusters)), np.diff(family.begin))
            failed = np.unique(owner[np.logical_not(holds)])
            untested[:] = False
            for index, offer in enumerate(offers):
                mine = failed[way[failed] == 1 + index]
                if offer is None or not len(mine):
                    continue
                kernel.exclude(mine, offer.parts, offer.result, family.begin, holds, tries, offer.valid)
                self._resolve(clusters, mine, index, offer, offer.lost)
                given_up = mine[offer.result.fate[mine] == kernel.NO]
                worth[given_up, 1 + index] = -np.inf
                untested[mine] = True
            again = np.flatnonzero(untested)
            way[again] = _best(worth[again])
            untested &= way > 0

    def _children_hold(self, clusters: Ints, which: Ints, family: children.Children) -> NDArray[np.bool_]:
        """Return which children of some clusters keep the requirements."""
        job = self.job
        order = np.empty(int(clusters[which, 1].max()) - int(clusters[which, 0].min()), dtype=np.int64)
        shifted = clusters.copy()
        low = int(clusters[which, 0].min())
        shifted[:, :2] -= low
        extra, part = job.extra[low:], job.part[low:]
        children.arrange(shifted, which, part, family, order)
        distinct, listed = [], []
        for index, column in enumerate(job.tallied):
            listing = column.name in job.requirements.columns
            different, codes, counts = children.tally_children(
                extra[:, 1 + index], shifted, which, family, order, Counter(self.counts[index], listing)
            )
            distinct.append(different)
            listed.append((np.concatenate(([0], np.cumsum(different))), codes, counts))
        # all children are those of these clusters, in their order
        return np.asarray(job.requirements.holds(job.groups(family.records, distinct, listed)))

    def _carry_out(self, clusters: Ints, way: Ints, chosen: splits.Splits, offers: list[Offer | None]) -> Level:
        """Split the clusters; return the outcome of each."""
        job = self.job
        family = self._family(clusters, way, offers)
        self._send(clusters, way, offers, family)
        which = np.flatnonzero(way == 0)
        if len(which):
            children.assign_by_value(
                job.atoms, clusters, which, chosen, job.mode == splits.MEDIAN, job.axes, self.buffers,
                job.part, family,
            )  # fmt: skip
            family.left_out[family.begin[which] + 0] |= chosen.drop[which] == splits.DROP_LEFT
            family.left_out[family.begin[which] + 1] |= chosen.drop[which] == splits.DROP_RIGHT
        parted = clusters[way >= 0]
        largest = int((parted[:, 1] - parted[:, 0]).max(initial=0))
        hidden = [
            int(parted[:, kernel.FIXED + kernel.EACH * index + 1].max(initial=0)) for index in range(len(job.sets))
        ]
        lines = np.empty((len(family.records), clusters.shape[1]), dtype=np.int64)
        table = children.Records(job.rows, job.extra, job.items, job.part)
        spare = children.Spare(
            self._spare("places", largest, np.uint32),
            self._spare("cells", largest * max(job.rows.shape[1], job.extra.shape[1]), np.uint32),
            self._spare("items", max(hidden, default=0), job.items.dtype),
        )
        children.scatter(table, children.SetColumns(job.cells, job.shares), clusters, way, family, lines, spare)
        closed, reopened = self._climb(clusters[way < 0], offers)
        return Level(np.concatenate([lines[~family.left_out], reopened]), closed, lines[family.left_out])

    def _spare(self, name: str, size: int, kind: DTypeLike) -> NDArray[Any]:
        """Return working space that is used again by the next level, unless it is as large as only the first need."""
        found = self._spares.pop(name, None)
        if found is None or len(found) < size or len(found) > max(8 * size, SMALL_SPARE):
            del found
            found = self.job.storage.empty(size, kind)
        self._spares[name] = found
        return found

    def _climb(self, closed: Ints, offers: list[Offer | None]) -> tuple[Ints, Ints]:
        """Replace what clusters that cannot be parted still hide by the nodes above; return those that are closed."""
        job = self.job
        again = np.zeros(len(closed), dtype=np.bool_)
        for index, (column, forest, desk) in enumerate(zip(job.sets, job.forests, self.desks, strict=True)):
            hidden = closed[:, kernel.FIXED + kernel.EACH * index + 1] > 0
            if column.taxonomy is not None and offers[index] is not None and hidden.any():
                lines = closed[hidden]
                again[np.flatnonzero(hidden)] |= kernel.lift_all(job.hidden(index), lines, forest, desk)
                closed[hidden] = lines
        return closed[~again], closed[again]


def _best(worth: Reals) -> Ints:
    """Return the best split in each row, -1 for none."""
    return np.where(worth.max(axis=1) > -np.inf, worth.argmax(axis=1), -1)


def job_with(choices: Choices) -> type[Job]:
    """Return the kind of job that keeps to these choices."""
    return type("ChosenJob", (SetJob,), {"choices": choices})
