"""The frame that top-down methods share: split all open clusters, level by level, until none can be split.

The methods differ in which split they prefer; the frame sees to it that both sides of every split keep all
requirements, hands the suppression budget down with the records, and keeps both cores busy. What happens in a
cluster depends on its content alone, so that clusters can be solved anywhere and in any order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from sudare.errors import PolicyUnmetError, UnsupportedError
from sudare.kernels import ordering, sides
from sudare.kernels import splits as kernel
from sudare.models import Groups, Histograms, Requirements
from sudare.progress import Listener, silent
from sudare.table import SUPPRESSED, Column, Partition, Table, find_atoms

TRIES = 1000
"""How many of a cluster's best splits are tested at most, where more than row counts is required.

It bounds the work to 1000 passes over a cluster that cannot be split; a table has to be odd to need more.
"""
LISTED = 1 << 21
"""How many splits, or entries of histograms, are held at a time: some 100 MB."""

Ints = NDArray[np.int64]


def split_down(table: Table, requirements: Requirements, mode: int, *, progress: Listener | None = None) -> Partition:
    """Split the table into classes that keep the requirements; ``mode`` is one of the kernel's preferences."""
    if table.sets:
        raise UnsupportedError(
            f"top-down methods do not generalize item sets yet; got {', '.join(map(repr, table.sets))}.",
            hint="leave it out of the policy, so that it is left out of the release.",
        )
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    job = _Job(table, requirements, mode)
    unmet = requirements.unmet(job.whole)
    if unmet:
        raise PolicyUnmetError(unmet)
    partition = job.run(listener)
    if partition.suppressed and requirements.depends_on_whole and not _holds_after_all(table, requirements, partition):
        partition = _split_the_rest(table, requirements, partition, mode, listener)
    return partition


def _split_the_rest(
    table: Table, requirements: Requirements, partition: Partition, mode: int, listener: Listener
) -> Partition:
    """Split what is released once more, and leave nothing else out.

    Leaving records out moved the distribution of the whole release, which the limits are measured against; this time
    they are measured against that of the records that stay. If these cannot keep the requirements, all records stay.
    """

    def again(stage: str, done: float, total: float) -> None:
        listener("decide again", done, total)

    kept = np.flatnonzero(partition.classes != SUPPRESSED)
    requirements = Requirements(requirements.models)
    rest = _Job(table.taken(kept), requirements, mode)
    if requirements.unmet(rest.whole):
        return _Job(table, requirements, mode).run(again)
    found = rest.run(again)
    classes = np.full(table.rows, SUPPRESSED, dtype=np.int64)
    classes[kept] = found.classes
    return Partition(classes, found.count)


class _Job:
    """One table being split: its rows in the order of their clusters, and what the kernels need to know of it."""

    def __init__(self, table: Table, requirements: Requirements, mode: int) -> None:
        self.requirements, self.mode, self.records = requirements, mode, table.rows
        columns = list(table.single.values())
        self.tallied = [table.sensitive[name] for name in requirements.columns]
        if requirements.counts_subjects:
            assert table.subject is not None  # the policy was checked
            self.tallied.append(table.subject)
        everything = [*columns, *self.tallied]
        self.atoms = find_atoms([c.codes for c in everything], [c.size for c in everything], table.rows)
        width = len(columns)
        widest = max((column.size for column in columns), default=1)
        kind = np.uint16 if widest <= 1 << 16 else np.uint32
        self.rows = np.ascontiguousarray(self.atoms.codes[:, :width].astype(kind))
        self.amounts = self.atoms.count.astype(np.uint32)
        self.extra = np.empty((len(self.rows), 1 + len(self.tallied)), dtype=np.uint32)
        self.extra[:, 0] = np.arange(len(self.rows))
        self.extra[:, 1:] = self.atoms.codes[:, width:]
        self.axes = describe_axes(columns)
        self.places = ordering.most_places(self.axes.kind, np.diff(self.axes.start), len(self.rows))
        self.totals = [
            np.bincount(self.extra[:, 1 + i], weights=self.amounts, minlength=column.size).astype(np.int64)
            for i, column in enumerate(self.tallied)
        ]
        self.budget = int(requirements.limit * table.rows + 1e-9)

    @property
    def whole(self) -> Groups:
        """All records as one group."""
        present = [np.flatnonzero(total) for total in self.totals]
        listed = [
            (np.array([0, len(codes)]), codes, total[codes]) for codes, total in zip(present, self.totals, strict=True)
        ]
        return self.groups(np.array([self.records]), [np.array([len(codes)]) for codes in present], listed)

    def most_splits(self, sizes: Ints) -> Ints:
        """Return how many splits clusters of these numbers of atoms have at most: two shapes, three ways to drop."""
        return np.asarray(6 * np.minimum(sizes[:, None], self.places[None, :]).sum(axis=1) + 1)

    def run(self, listener: Listener) -> Partition:
        """Split level by level; return the classes, numbered in the order of their rows."""
        open_clusters = np.array([[0, len(self.rows), self.budget, self.records]], dtype=np.int64)
        closed: list[Ints] = []
        dropped: list[Ints] = []
        count = max(1, min(os.cpu_count() or 1, 16)) if len(self.rows) > 4096 else 1
        workers = [_Worker(self) for _ in range(count)]
        with ThreadPoolExecutor(count) as pool:
            while len(open_clusters):
                listener("decide", self._done(open_clusters), 1.0)
                shares = _shares(open_clusters, count)
                solved = list(pool.map(lambda pair: pair[0].split(pair[1]), zip(workers, shares, strict=False)))
                closed += [level.closed for level in solved]
                dropped += [level.dropped for level in solved]
                open_clusters = np.concatenate([level.open for level in solved])
        listener("decide", 1.0, 1.0)
        return self._partition(np.concatenate(closed), np.concatenate(dropped))

    def _done(self, open_clusters: Ints) -> float:
        """Guess how much of the work is behind: how far each open cluster is on the way down to k records."""
        sizes = open_clusters[:, 1] - open_clusters[:, 0]
        deepest = log(max(len(self.rows) / self.requirements.least_rows, 2.0))
        depth = np.minimum(np.log(len(self.rows) / sizes) / deepest, 1.0)
        return 1.0 - float(((1.0 - depth) * sizes).sum()) / len(self.rows)

    def _partition(self, closed: Ints, dropped: Ints) -> Partition:
        closed = closed[np.argsort(closed[:, 0])]
        ranges = np.concatenate([closed, dropped])  # every row is in one of them
        numbers = np.concatenate([np.arange(len(closed)), np.full(len(dropped), SUPPRESSED)])
        order = np.argsort(ranges[:, 0])
        class_of_atom = np.empty(len(self.rows), dtype=np.int64)
        class_of_atom[self.extra[:, 0]] = np.repeat(numbers[order], (ranges[:, 1] - ranges[:, 0])[order])
        return Partition(class_of_atom[self.atoms.of_row], len(closed))

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
class _Level:
    """What became of some clusters: those to be split further, those that are final, those left out."""

    open: Ints
    closed: Ints
    dropped: Ints


class _Worker:
    """One thread's buffers, and the steps it does on its share of the clusters of a level."""

    def __init__(self, job: _Job) -> None:
        self.job = job
        heaviest = max((len(total) for total in job.totals), default=0)
        self.buffers = ordering.scratch(job.axes, len(job.rows), heaviest)
        self.room = kernel.splits(int(job.most_splits(np.array([len(job.rows)]))[0]))
        self.counts = [np.zeros(len(total), np.int64) for total in job.totals]

    def split(self, clusters: Ints) -> _Level:
        """Split each cluster once, where that can be done."""
        job = self.job
        chosen = kernel.splits(len(clusters))
        if job.requirements.only_rows:
            self._score(clusters, self.room, best=chosen)
        else:
            chosen.attribute[:] = -1
            for batch in self._batches(clusters):
                self._choose_valid(clusters, batch, chosen)
        by_code = job.mode == kernel.MEDIAN
        largest = int((clusters[:, 1] - clusters[:, 0]).max(initial=0))
        spare = np.empty((largest, job.rows.shape[1] + job.extra.shape[1] + 1), dtype=np.uint32)
        middles = sides.carry_out(
            job.rows, job.amounts, job.extra, clusters, chosen, by_code, job.axes, self.buffers, spare
        )
        return self._next(clusters, chosen, middles)

    def _next(self, clusters: Ints, chosen: kernel.Splits, middles: Ints) -> _Level:
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
        return _Level(kept, closed, dropped)

    def _score(self, clusters: Ints, room: kernel.Splits, *, best: kernel.Splits | None) -> Ints:
        """Put the best split of each cluster into ``best``, or list all of them in ``room`` if there is none."""
        job = self.job
        least, every = job.requirements.least_rows, best is None
        ends: Ints = kernel.score_splits(
            job.rows, job.amounts, clusters, least, job.mode, job.axes, self.buffers, room, every, best or room
        )
        return ends

    def _batches(self, clusters: Ints) -> Iterator[slice]:
        """Cut the clusters into runs whose splits fit into the room of LISTED (one cluster at least)."""
        sizes = clusters[:, 1] - clusters[:, 0]
        yield from runs(self.job.most_splits(sizes), LISTED)

    def _choose_valid(self, clusters: Ints, batch: slice, chosen: kernel.Splits) -> None:
        """Find the best split of each cluster both sides of which keep the requirements.

        Splits are tested from the best downwards, a few at first and then more and more, all clusters at once.
        """
        members = clusters[batch]
        sizes = members[:, 1] - members[:, 0]
        room = kernel.splits(int(self.job.most_splits(sizes).sum()))
        ends = self._score(members, room, best=None)
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
            kernel.put(chosen, batch.start + solved, kernel.pick(listed, valid[where]))
            unsolved[solved] = False
            low, high = high, min(4 * high, TRIES)

    def _valid(self, members: Ints, owner: Ints, tried: kernel.Splits) -> NDArray[np.bool_]:
        """Say which splits leave both sides, but for a dropped one, with all requirements kept."""
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
                    job.rows, job.amounts, job.extra, 1 + index, members, owner[part], some,
                    job.mode == kernel.MEDIAN, job.axes, self.buffers, self.counts[index], listing,
                )  # fmt: skip
                distinct.append(different)
                listed.append((np.concatenate(([0], np.cumsum(different))), codes, counts))
            holds = job.requirements.holds(job.groups(rows, distinct, listed)).reshape(-1, 2)
            passed[part] = (holds[:, 0] | (some.drop == kernel.DROP_LEFT)) & (
                holds[:, 1] | (some.drop == kernel.DROP_RIGHT)
            )
        return passed


def describe_axes(columns: Sequence[Column]) -> ordering.Axes:
    """Put the quasi-identifiers into the arrays that the kernels read."""
    kinds, places, levels, path_starts, paths, shares = [], [], [], [], [], []
    path_at = nodes_at = 0
    for column in columns:
        place = np.zeros(column.size)
        path_starts.append(path_at)
        levels.append(0)
        if column.taxonomy is not None:
            kinds.append(ordering.TREE)
            path = column.taxonomy.path
            levels[-1] = path.shape[1]
            paths.append((path + nodes_at).reshape(-1))
            shares.append(column.taxonomy.share)
            path_at += path.size
            nodes_at += len(column.taxonomy.parent)
        elif column.positions is not None:
            kinds.append(ordering.NUMBER)
            span = column.domain or 1.0
            place[: len(column.positions)] = (column.positions - column.positions[:1]) / span
            place[len(column.positions) :] = 2.0  # so far off that any interval with it is as wide as it gets
        else:
            kinds.append(ordering.SET)
        places.append(place)
    return ordering.Axes(
        kind=np.array(kinds, dtype=np.int8),
        start=np.cumsum([0, *(column.size for column in columns)]).astype(np.int64),
        place=np.concatenate(places) if places else np.zeros(0),
        levels=np.array(levels, dtype=np.int64),
        path_start=np.array(path_starts, dtype=np.int64),
        path=np.concatenate(paths).astype(np.int32) if paths else np.zeros(0, np.int32),
        share=np.concatenate(shares) if shares else np.zeros(0),
        weight=np.array([column.weight for column in columns]),
    )


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


def _shares(clusters: Ints, count: int) -> list[Ints]:
    """Deal the clusters out to workers, about equally many rows to each."""
    if count == 1 or len(clusters) == 1:
        return [clusters]
    ordered = clusters[np.argsort(clusters[:, 0])]
    sizes = np.cumsum(ordered[:, 1] - ordered[:, 0])
    cuts = np.searchsorted(sizes, sizes[-1] * np.arange(1, count) / count)
    return [share for share in np.split(ordered, cuts) if len(share)]


def _holds_after_all(table: Table, requirements: Requirements, partition: Partition) -> bool:
    """Check the finished classes against the distribution of what is released."""
    kept = partition.classes >= 0
    classes = partition.classes[kept]
    histograms = {}
    for name in requirements.columns:
        column = table.sensitive[name]
        pairs, counts = np.unique(classes * column.size + column.codes[kept], return_counts=True)
        owner, codes = np.divmod(pairs, column.size)
        start = np.searchsorted(owner, np.arange(partition.count + 1))
        total = np.bincount(column.codes[kept], minlength=column.size).astype(np.int64)
        histograms[name] = Histograms(start, codes, counts, total, column)
    subjects = None
    if requirements.counts_subjects and table.subject is not None:
        pairs = np.unique(classes * table.subject.size + table.subject.codes[kept])
        subjects = np.bincount(pairs // table.subject.size, minlength=partition.count)
    return bool(requirements.holds(Groups(partition.sizes, subjects, histograms)).all())
