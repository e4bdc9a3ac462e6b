"""The frame that top-down methods share: split all open clusters, level by level, until none can be split.

The methods differ in which split they prefer; the frame sees to it that both sides of every split keep all
requirements, hands the suppression budget down with the records, and keeps both cores busy. The result of a cluster
depends on its content alone, so clusters can be solved anywhere and in any order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import PolicyUnmetError
from sudare.core.progress import Listener, silent
from sudare.core.sizes import CODES_16, MANY_ROWS
from sudare.kernels.class_rows import look_up, number_marked
from sudare.kernels.topdown import sides, value_orders
from sudare.kernels.topdown import splits as kernel
from sudare.kernels.topdown.value_counts import Counter
from sudare.methods.attribute_arrays import describe_axes
from sudare.methods.class_counts import refuse_item_sets, tallied
from sudare.methods.masked_records import masked
from sudare.models import Groups, Histograms, Requirements
from sudare.table import SUPPRESSED, Partition, Storage, Table, chunks, find_atoms

TRIES = 1000
"""How many of a cluster's best splits are tested at most, where more than row counts is required.

It bounds the work to 1000 passes over a cluster that cannot be split; a table has to be odd to need more.
"""
BLOCK = MANY_ROWS
"""Rows of the clusters that one worker finishes at a time, at most."""
SMALL_TABLE = 4096
"""Rows that one core splits as fast as several."""
LISTED = 1 << 21
"""How many splits, or entries of histograms, are held at a time: some 100 MB."""

Ints = NDArray[np.int64]


def split_down(
    table: Table,
    requirements: Requirements,
    mode: int,
    *,
    progress: Listener | None = None,
    job: type[Job] | None = None,
) -> Partition:
    """Split the table into classes that keep the requirements; ``mode`` is one of the kernel's preferences.

    ``job`` does the work; the one below knows only single-valued columns. If masked records would not keep the
    requirements as a class, none is suppressed.
    """
    if job is None:
        refuse_item_sets(table)
    make = job or Job
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    first = make(table, requirements, mode)
    unmet = requirements.unmet(first.whole)
    if unmet:
        raise PolicyUnmetError(unmet)
    partition = first.run(listener)
    del first  # its arrays are as large as the table
    if requirements.masked:
        shown = masked(table, requirements, partition)
        return shown or make(table, Requirements(requirements.models), mode).run(listener)
    if partition.suppressed and requirements.depends_on_whole and not _holds_after_all(table, requirements, partition):
        partition = _split_the_rest(table, requirements, partition, mode, listener, make)
    return partition


def _split_the_rest(
    table: Table, requirements: Requirements, partition: Partition, mode: int, listener: Listener, make: type[Job]
) -> Partition:
    """Split the released records once more, without further suppression.

    Suppression changed the distribution of the whole release, to which the limits refer; this time they refer to the
    distribution of the remaining records. If these cannot keep the requirements, all records stay.
    """

    def again(stage: str, done: float, total: float) -> None:
        listener("decide again", done, total)

    kept = np.flatnonzero(partition.classes != SUPPRESSED)
    requirements = Requirements(requirements.models)
    rest = make(table.taken(kept), requirements, mode)
    if requirements.unmet(rest.whole):
        return make(table, requirements, mode).run(again)
    found = rest.run(again)
    classes = np.full(table.rows, SUPPRESSED, dtype=partition.classes.dtype)
    classes[kept] = found.classes
    return Partition(classes, found.count)


@dataclass(frozen=True, eq=False)
class Start:
    """Clusters that a job begins with, instead of one that holds everything: some of a larger table's.

    ``of_row`` says, ascending, which of them each record is in. ``lines`` has a line for each, as :meth:`Job.root`
    would have it, but for where its rows and items are. Those that are ``final`` are classes already. ``hidden`` has,
    for each item-set column, the codes of the items that are hidden and what each is by now, a node; first of all
    where those of each cluster begin. ``totals`` are the histograms of the sensitive columns in the whole table, in
    the order of the requirements.
    """

    of_row: NDArray[np.uint32]
    lines: Ints
    final: NDArray[np.bool_]
    hidden: Sequence[tuple[Ints, Ints, Ints]]
    totals: Sequence[Ints]


class Job:
    """One table being split: its rows in the order of their clusters, and what the kernels need to know of it.

    With a ``start`` it is some clusters of a larger table that are split on, and against that table's distributions.
    """

    def __init__(self, table: Table, requirements: Requirements, mode: int, start: Start | None = None) -> None:
        self.start = start
        self.describe(table, requirements, mode)
        self.of_row: NDArray[np.integer[Any]] | None = None
        self.cluster_of: NDArray[np.integer[Any]] | None = start.of_row if start is not None else None
        self.fill(table)
        self.size = len(self.rows)
        self.totals = list(start.totals) if start is not None else []
        self.totals += [column.frequencies() for column in self.tallied[len(self.totals) :]]

    def describe(self, table: Table, requirements: Requirements, mode: int) -> None:
        """Note what does not depend on the records but on what they may hold."""
        self.requirements, self.mode, self.records = requirements, mode, table.rows
        self.storage = table.storage
        self.columns = list(table.single.values())
        self.tallied = [table.sensitive[name] for name in requirements.columns]
        if requirements.counts_subjects:
            assert table.subject is not None  # the policy was checked
            self.tallied.append(table.subject)
        self.axes = describe_axes(self.columns, sum(column.weight for column in table.sets.values()))
        self.budget = requirements.budget(table.rows)
        self.stopped = False

    def fill(self, table: Table) -> None:
        """Fill the rows: one for each atom, or one for each record where atoms would be as many."""
        everything = [*self.columns, *self.tallied]
        codes, sizes = [c.codes for c in everything], [c.size for c in everything]
        where = 0
        if self.start is not None:  # records of different clusters stay apart, and atoms stand by cluster
            codes, sizes, where = [self.start.of_row, *codes], [len(self.start.lines), *sizes], 1
        atoms = find_atoms(codes, sizes, table.rows, table.storage, runs=table.runs)
        width = where + len(self.columns)
        if atoms is None:
            self.fill_records(0)
            return
        self.of_row = atoms.of_row
        self.rows = np.ascontiguousarray(atoms.codes[:, where:width].astype(self._code_type))
        self.amounts = atoms.count.astype(np.uint32)
        self.extra = np.empty((len(self.rows), 1 + len(self.tallied)), dtype=np.uint32)
        self.extra[:, 0] = np.arange(len(self.rows))
        self.extra[:, 1:] = atoms.codes[:, width:]
        if where:
            self.cluster_of = atoms.codes[:, 0]

    def fill_records(self, more: int) -> None:
        """Fill the rows with one for each record; leave room for ``more`` cells beside each."""
        self.rows = self.storage.empty((self.records, len(self.columns)), self._code_type)
        for index, column in enumerate(self.columns):
            self.rows[:, index] = column.codes
        self.amounts = self.storage.empty(self.records if self.columns else 0, np.uint32)
        self.amounts[:] = 1
        self.extra = self.storage.empty((self.records, 1 + len(self.tallied) + more), np.uint32)
        for part in chunks(self.records):
            self.extra[part, 0] = np.arange(part.start, part.stop, dtype=np.uint32)
        for index, column in enumerate(self.tallied):
            self.extra[:, 1 + index] = column.codes

    @property
    def atoms(self) -> value_orders.Atoms:
        """The rows, as kernels take them."""
        return value_orders.Atoms(self.rows, self.amounts)

    @property
    def _code_type(self) -> Any:
        widest = max((column.size for column in self.columns), default=1)
        return np.uint16 if widest <= CODES_16 else np.uint32

    def root(self) -> Ints:
        """Return the line of the cluster that holds everything, or the lines of those that there are at the start."""
        if self.start is None or self.cluster_of is None:
            return np.array([[0, len(self.rows), self.budget, self.records]], dtype=np.int64)
        lines = self.start.lines.copy()
        bounds = np.searchsorted(self.cluster_of, np.arange(len(lines) + 1))
        lines[:, 0], lines[:, 1] = bounds[:-1], bounds[1:]
        return lines

    def workers(self) -> list[Any]:
        """Return a worker for each core that is worth one."""
        count = max(1, min(os.cpu_count() or 1, 16)) if len(self.rows) > SMALL_TABLE else 1
        return [self.worker() for _ in range(count)]

    def worker(self) -> Worker:
        """Return a new worker for this job."""
        return Worker(self)

    @property
    def whole(self) -> Groups:
        """All records as one group."""
        present = [np.flatnonzero(total) for total in self.totals]
        listed = [
            (np.array([0, len(codes)]), codes, total[codes]) for codes, total in zip(present, self.totals, strict=True)
        ]
        return self.groups(np.array([self.records]), [np.array([len(codes)]) for codes in present], listed)

    def most_splits(self, sizes: Ints) -> Ints:
        """Return the most splits of clusters with these numbers of atoms: two shapes, three choices to suppress."""
        places = value_orders.most_places(self.axes.kind, np.diff(self.axes.start), self.size)
        return np.asarray(6 * np.minimum(sizes[:, None], places[None, :]).sum(axis=1) + 1)

    def run(self, listener: Listener) -> Partition:
        """Split until nothing can be split; return the classes, numbered in the order of their rows.

        Clusters above the size of a block are split level by level, dealt out to the workers. Then runs of clusters of
        about a block each are finished one by one: what a worker touches then stays in its processor's memory.
        """
        workers = self.workers()
        count = len(workers)
        block = min(max(len(self.rows) // (8 * count), 1 << 12), BLOCK)
        clusters = self.root()
        done = self.start.final if self.start is not None else np.zeros(len(clusters), dtype=np.bool_)
        marks = Marks(self.storage, len(self.rows))
        marks.note(Level(clusters[:0], clusters[done], clusters[:0]))
        waiting = [clusters[:0]]
        clusters = clusters[~done]
        listener("decide", 0.0, 1.0)
        with ThreadPoolExecutor(count) as pool:
            try:
                while len(clusters):
                    large = clusters[:, 1] - clusters[:, 0] > block
                    waiting.append(clusters[~large])
                    pairs = zip(workers, shares(clusters[large], count), strict=False)
                    solved = list(pool.map(lambda pair: pair[0].split(pair[1]), pairs))
                    for level in solved:
                        marks.note(level)
                    clusters = np.concatenate([level.open for level in solved]) if solved else clusters[:0]
                    listener("decide", 0.0, 1.0)
                self._finish(np.concatenate(waiting), block, workers, pool, marks, listener)
            except BaseException:
                self.stopped = True  # so that no thread goes on for long
                raise
        listener("decide", 1.0, 1.0)
        return self.partition(marks)

    def _finish(
        self,
        clusters: Ints,
        block: int,
        workers: list[Worker],
        pool: ThreadPoolExecutor,
        marks: Marks,
        listener: Listener,
    ) -> None:
        """Split runs of clusters down to the end, each run by whichever worker is free."""
        clusters = clusters[np.argsort(clusters[:, 0])]
        free = SimpleQueue[Worker]()
        for worker in workers:
            free.put(worker)

        def finish(run: slice) -> int:
            worker = free.get()
            try:
                worker.finish(clusters[run], marks)
            finally:
                free.put(worker)
            return int((clusters[run, 1] - clusters[run, 0]).sum())

        tasks = [pool.submit(finish, run) for run in runs(clusters[:, 1] - clusters[:, 0], block)]
        done = 0
        for task in as_completed(tasks):
            done += task.result()
            listener("decide", done / len(self.rows), 1.0)

    def partition(self, marks: Marks) -> Partition:
        """Return the classes that were marked, numbered in the order of their rows."""
        of_line = self.storage.empty(len(self.rows), np.int32)
        count = number_marked(self.extra, marks.at, of_line)
        if self.of_row is None:
            return Partition(of_line, count)
        classes = self.storage.empty(self.records, np.int32)
        look_up(of_line, self.of_row, classes)
        return Partition(classes, count)

    def groups(self, rows: Ints, distinct: Sequence[Ints], listed: Sequence[tuple[Ints, Ints, Ints]]) -> Groups:
        """Put tallies of the carried columns into the form that models read."""
        subjects = distinct[-1] if self.requirements.counts_subjects else None
        histograms = {
            column.name: Histograms(*tally, total, column)
            for column, tally, total in zip(self.tallied, listed, self.totals, strict=False)
            if column.name in self.requirements.columns
        }
        return Groups(rows, subjects, histograms)


@dataclass
class Level:
    """The outcome of some clusters: to be split further, final, or suppressed."""

    open: Ints
    closed: Ints
    dropped: Ints


class Marks:
    """What has become of the rows: ``at`` is 1 where a class begins, and 2 where rows begin that are left out.

    There may be as many classes as rows, so nothing else is kept of a cluster that is finished.
    """

    def __init__(self, storage: Storage, rows: int) -> None:
        self.at = storage.zeros(rows, np.uint8)

    def note(self, level: Level) -> None:
        """Mark the clusters of a level that are finished."""
        self.at[level.closed[:, 0]] = 1
        self.at[level.dropped[:, 0]] = 2


class Worker:
    """One thread's buffers, and the steps it does on its share of the clusters of a level."""

    def __init__(self, job: Job) -> None:
        self.job = job
        heaviest = max((len(total) for total in job.totals), default=0)
        self.buffers = value_orders.scratch(job.axes, job.size, heaviest)
        self.covers = value_orders.covers(job.axes, job.size)
        self.room = kernel.splits(int(job.most_splits(np.array([job.size]))[0]))
        self.counts = [np.zeros(len(total), np.int64) for total in job.totals]

    def finish(self, clusters: Ints, marks: Marks) -> None:
        """Split clusters until none of them can be split, and mark what becomes of them."""
        while len(clusters) and not self.job.stopped:
            level = self.split(clusters)
            marks.note(level)
            clusters = level.open

    def best_splits(self, clusters: Ints, only: int = -1) -> tuple[kernel.Splits, NDArray[np.float64]]:
        """Return the best split of each cluster that keeps the requirements, and what each loses before it.

        ``only`` is the one attribute to be split, if it is not -1. A split's attribute is -1 where there is none.
        """
        chosen, before = kernel.splits(len(clusters)), np.zeros(len(clusters))
        if self.job.requirements.only_rows:
            self._score(clusters, self.room, chosen, only, before)
        else:
            chosen.attribute[:] = -1
            for batch in self._batches(clusters):
                self._choose_valid(clusters, batch, chosen, only, before[batch])
        return chosen, before

    def split(self, clusters: Ints) -> Level:
        """Split each cluster once, where that can be done."""
        job = self.job
        chosen, _ = self.best_splits(clusters)
        by_code = job.mode == kernel.MEDIAN
        largest = int((clusters[:, 1] - clusters[:, 0]).max(initial=0))
        spare = np.empty((largest, job.rows.shape[1] + job.extra.shape[1] + 1), dtype=np.uint32)
        middles = sides.carry_out(job.atoms, job.extra, clusters, chosen, by_code, job.axes, self.buffers, spare)
        return self._next(clusters, chosen, middles)

    def _next(self, clusters: Ints, chosen: kernel.Splits, middles: Ints) -> Level:
        was_split = chosen.attribute >= 0
        closed = clusters[~was_split]
        first, last, budget, records = clusters[was_split].T
        middle, drop, inside = middles[was_split], chosen.drop[was_split], chosen.left[was_split]
        outside = records - inside
        spent = budget - np.where(drop == kernel.DROP_LEFT, inside, outside)  # if one side is left out
        left_share = np.where(drop == kernel.KEEP, budget * inside // records, spent)
        right_share = np.where(drop == kernel.KEEP, budget - left_share, spent)
        left = np.stack([first, middle, left_share, inside], axis=1)
        right = np.stack([middle, last, right_share, outside], axis=1)
        dropped = np.concatenate([left[drop == kernel.DROP_LEFT], right[drop == kernel.DROP_RIGHT]])
        kept = np.concatenate([left[drop != kernel.DROP_LEFT], right[drop != kernel.DROP_RIGHT]])
        return Level(kept, closed, dropped)

    def _score(
        self, clusters: Ints, room: kernel.Splits, best: kernel.Splits | None, only: int, before: NDArray[np.float64]
    ) -> Ints:
        """Put the best split of each cluster into ``best``, or list all of them in ``room`` if there is none."""
        job = self.job
        search = kernel.Search(job.requirements.least_rows, job.mode, only, every=best is None)
        found = kernel.Found(room, best or room, before)
        ends: Ints = kernel.score_splits(job.atoms, clusters, search, job.axes, self.buffers, self.covers, found)
        return ends

    def _batches(self, clusters: Ints) -> Iterator[slice]:
        """Cut the clusters into runs whose splits fit into the room of LISTED (one cluster at least)."""
        sizes = clusters[:, 1] - clusters[:, 0]
        yield from runs(self.job.most_splits(sizes), LISTED)

    def _choose_valid(
        self, clusters: Ints, batch: slice, chosen: kernel.Splits, only: int, before: NDArray[np.float64]
    ) -> None:
        """Find the best split of each cluster both sides of which keep the requirements.

        Splits are tested from the best downwards, a few at first and then more and more, all clusters at once.
        """
        members = clusters[batch]
        sizes = members[:, 1] - members[:, 0]
        room = kernel.splits(int(self.job.most_splits(sizes).sum()))
        ends = self._score(members, room, None, only, before)
        listed = kernel.pick(room, slice(ends[-1]))
        owner = np.repeat(np.arange(len(members)), np.diff(ends, prepend=0))
        ranked = np.lexsort((listed.score, owner))  # stable: the first of equal scores comes first
        begin = np.concatenate(([0], ends[:-1]))
        rank = np.arange(len(ranked)) - begin[owner[ranked]]
        place_in_ranking = np.empty(len(ranked), dtype=np.int64)
        place_in_ranking[ranked] = np.arange(len(ranked))
        unsolved = np.ones(len(members), dtype=np.bool_)
        low, high = 0, 1
        while low < TRIES:
            tried = ranked[(rank >= low) & (rank < high) & unsolved[owner[ranked]]]
            if not len(tried):
                break
            # by attribute, so that its values are put in order once for all of its splits
            tried = tried[np.lexsort((listed.attribute[tried], owner[tried]))]
            valid = tried[self._valid(members, owner[tried], kernel.pick(listed, tried))]
            valid = valid[np.argsort(place_in_ranking[valid], kind="stable")]
            solved, where = np.unique(owner[valid], return_index=True)
            kernel.overwrite(chosen, batch.start + solved, kernel.pick(listed, valid[where]))
            unsolved[solved] = False
            low, high = high, min(4 * high, TRIES)

    def _valid(self, members: Ints, owner: Ints, tried: kernel.Splits) -> NDArray[np.bool_]:
        """Return which splits leave both sides, but for a dropped one, with all requirements kept."""
        job = self.job
        sizes = members[:, 1] - members[:, 0]
        heaviest = max(len(total) for total in job.totals)
        passed = np.zeros(len(owner), dtype=np.bool_)
        for part in runs(2 * np.minimum(sizes[owner], heaviest), LISTED):
            some = kernel.pick(tried, part)
            rows = np.stack([some.left, members[owner[part], 3] - some.left], axis=1).reshape(-1)
            distinct, listed = [], []
            for index, column in enumerate(job.tallied):
                listing = column.name in job.requirements.columns
                different, codes, counts = sides.tally_sides(
                    job.atoms, job.extra[:, 1 + index], members[owner[part]], some,
                    job.mode == kernel.MEDIAN, job.axes, self.buffers, Counter(self.counts[index], listing),
                )  # fmt: skip
                distinct.append(different)
                listed.append((np.concatenate(([0], np.cumsum(different))), codes, counts))
            holds = job.requirements.holds(job.groups(rows, distinct, listed)).reshape(-1, 2)
            passed[part] = (holds[:, 0] | (some.drop == kernel.DROP_LEFT)) & (
                holds[:, 1] | (some.drop == kernel.DROP_RIGHT)
            )
        return passed


def runs(amounts: Ints, most: int) -> Iterator[slice]:
    """Cut a list into slices whose amounts add up to at most ``most``, or that are one long."""
    first, total = 0, 0
    for index, amount in enumerate(amounts.tolist()):
        if index > first and total + amount > most:
            yield slice(first, index)
            first, total = index, 0
        total += amount
    if len(amounts):
        yield slice(first, len(amounts))


def shares(clusters: Ints, count: int) -> list[Ints]:
    """Deal the clusters out to workers, about equally many rows to each, in the order of their rows."""
    if count == 1 or len(clusters) < 2:
        return [clusters] if len(clusters) else []
    ordered = clusters[np.argsort(clusters[:, 0])]
    sizes = np.cumsum(ordered[:, 1] - ordered[:, 0])
    cuts = np.searchsorted(sizes, sizes[-1] * np.arange(1, count) / count)
    return [share for share in np.split(ordered, cuts) if len(share)]


def _holds_after_all(table: Table, requirements: Requirements, partition: Partition) -> bool:
    """Check the finished classes against the distribution of what is released."""
    return bool(requirements.holds(tallied(table, requirements, partition.classes, partition.count)).all())
