"""The top-down frame for a table on many machines.

Steps
    1. The *driver* knows what the table may hold and how many records it has, but none of them. It keeps a tree of what
       was decided, and its open clusters.
    2. Level by level it asks all *shards*, each some of the rows, about the clusters that have too many records to be
       solved in one place: how often values occur; then, with the values in order, what each place covers. From the
       merged answers it scores splits by the same code as if it had the rows, and so it does with items of sets. Where
       more than row counts is required, children are tested by the histograms that shards tell.
    3. With ``order: global`` the driver specializes one attribute in all clusters at a time. It asks what clusters
       lose, and goes on until nothing can be specialized; the parts are then classes.
    4. Otherwise what is left are the *parts*: clusters small enough, and some that cannot be split. The rows of each
       part come together, and are solved there by the usual job, which goes on where the driver stopped.

Guarantee
    The classes are the very ones that the method makes of the whole table in one place, whatever the shards, the order
    of their rows, and the size of a part: what happens in a cluster depends on its content alone.

Cost
    Two passes over the rows for each level, and more where requirements fail or items have a hierarchy; there are about
    log2(n / part) levels. The driver holds counts and extents of as many clusters as a batch has.

Deviations
    None in what is decided. What needs a look at all finished classes is refused: see :func:`spread_down`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import ParameterError, PolicyUnmetError, UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.core.sizes import MANY_ROWS
from sudare.kernels.topdown import splits
from sudare.methods.topdown import item_trials
from sudare.methods.topdown.distributed.driver import Driver, SpreadJob
from sudare.methods.topdown.distributed.questions import CountNodes, Task, Tree, joined, pack, starts
from sudare.methods.topdown.frame import Ints, Job, Start, runs
from sudare.methods.topdown.item_scores import Rank
from sudare.methods.topdown.item_sets import Choices, choices_of, job_with
from sudare.models import Requirements
from sudare.table import SUPPRESSED, ItemSets, Partition, Table

Gather = Callable[[Task], Iterable[list[Any]]]
"""Run a task on every shard; return the answers, of which some may be merged already (``task.merge``)."""
Hidden = tuple[Ints, NDArray[np.int32], NDArray[np.int32]]
"""Where the hidden items of each part begin in one column, their codes, and the nodes that they are by now."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What the driver knows of a table: ``table`` has its dictionaries and no rows, ``records`` is how many there are.

    ``totals`` has how often each code occurs in each sensitive column that the requirements name, ``people`` is the
    number of data subjects, where they are counted.
    """

    table: Table
    records: int
    totals: Mapping[str, Ints]
    people: int = 0


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan of the driver: which part each row belongs to, and how each part is solved.

    ``part`` is the part of each leaf of the tree, SUPPRESSED for suppressed rows. ``lines``, ``final`` and ``hidden``
    are those of the parts (see :class:`sudare.methods.topdown.frame.Start`); ``final`` ones are classes.
    """

    tree: Tree
    part: NDArray[np.int32]
    lines: Ints
    final: NDArray[np.bool_]
    hidden: tuple[Hidden, ...]
    totals: tuple[Ints, ...]
    requirements: Requirements
    mode: int
    choices: Choices | None

    @property
    def records(self) -> Ints:
        """The number of records of each part."""
        return self.lines[:, 3]

    def route(self, shard: Table) -> NDArray[np.int32]:
        """Return the part of each row of a shard, SUPPRESSED for a suppressed one."""
        order, first, last = self.tree.routed(shard).nodes
        leaves = np.flatnonzero(self.tree.child < 0)
        parts = np.empty(shard.rows, dtype=np.int32)
        numbers = np.repeat(self.part[leaves], (last - first)[leaves])
        places = joined([np.arange(first[leaf], last[leaf]) for leaf in leaves.tolist()], np.int64)
        parts[order[places]] = numbers
        return parts

    def bundles(self, most: int) -> NDArray[np.int32]:
        """Return a bundle for each part, of at most about so many records, to be solved together."""
        numbers = np.zeros(len(self.lines), dtype=np.int32)
        for number, run in enumerate(runs(self.records, most)):
            numbers[run] = number
        return numbers

    def solve(self, table: Table, parts: NDArray[np.integer[Any]], *, progress: Listener | None = None) -> Partition:
        """Return the classes of all rows of some parts; ``parts`` is what :meth:`route` says of each row.

        The rows may stand in any order, but all rows of a part have to be there. Classes are numbered from 0, those of
        the first part first.
        """
        kept = np.flatnonzero(parts != SUPPRESSED)
        numbers, of_row, counts = np.unique(parts[kept], return_inverse=True, return_counts=True)
        if not np.array_equal(counts, self.records[numbers]):
            raise ParameterError(
                f"rows of a part are missing; got {counts.sum()}, and the parts have {self.records[numbers].sum()}."
            )
        order = np.argsort(of_row, kind="stable")
        start = Start(
            of_row=of_row[order].astype(np.uint32),
            lines=self.lines[numbers],
            final=self.final[numbers],
            hidden=[_some(hidden, numbers) for hidden in self.hidden],
            totals=self.totals,
        )
        make = Job if self.choices is None else job_with(self.choices)
        rows = _with_own_people(table.taken(kept[order]))
        found = make(rows, self.requirements, self.mode, start).run(progress or silent)
        classes = np.full(len(parts), SUPPRESSED, dtype=found.classes.dtype)
        classes[kept[order]] = found.classes
        return Partition(classes, found.count)


def _least_part(choices: Choices, least: int) -> int:
    """Return the size of clusters that are not split here, since a worker tries several ways to do so."""
    if not choices.trials:
        return 0
    return item_trials.SMALL_TABLE if choices.small else item_trials.small(least)


def _with_own_people(table: Table) -> Table:
    """Number the people of a table again: counting them takes memory for every number."""
    if table.subject is None:
        return table
    different, codes = np.unique(table.subject.codes, return_inverse=True)
    people = replace(table.subject, codes=codes.astype(np.uint32), values=pa.nulls(len(different)), missing=False)
    return replace(table, subject=people)


def _some(hidden: Hidden, numbers: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the hidden items of some parts alone."""
    begin, codes, nodes = hidden
    lengths = np.diff(begin)[numbers]
    places = np.repeat(begin[numbers] - starts(lengths)[:-1], lengths) + np.arange(lengths.sum())
    return starts(lengths), codes[places].astype(np.int64), nodes[places].astype(np.int64)


def spread_top_down(
    shape: Shape,
    requirements: Requirements,
    gather: Gather,
    *,
    most: int = MANY_ROWS,
    split: Literal["least-loss", "widest"] = "least-loss",
    order: Literal["per-cluster", "global"] = "per-cluster",
    objective: Literal["loss", "items"] = "loss",
    items: Literal["rank-choose-split", "one-by-one"] = "rank-choose-split",
    remainder: Literal["join", "close"] = "join",
    beta: float = 0.0,
    rank: Rank = "frequency",
    polish: bool = False,
    sensitive: Literal["seen", "blind"] = "seen",
    slack: float = 0.05,
    apart: bool = False,
    progress: Listener | None = None,
) -> Plan:
    """Plan the method top-down for a table that is spread out, with the options that the method has.

    See :func:`spread_down` for ``gather``, ``most``, ``apart``, and what is refused.
    """
    del slack  # belongs to what is refused
    _refuse(polish, "polish", "polish moves records between finished classes")
    _refuse(sensitive == "blind", "sensitive: blind", "each cluster examines all its records before it is split")
    free = [name for name in shape.table.sets if requirements.free(name)]
    _refuse(bool(free), "item sets that only k^m-anonymity limits", "they are recoded once for the whole table")
    sets = list(shape.table.sets.values())
    choices = choices_of(
        sets,
        shape.records,
        lambda index: _held(sets[index], index, gather),
        order=order,
        objective=objective,
        items=items,
        remainder=remainder,
        beta=beta,
        rank=rank,
    )
    return spread_down(
        shape,
        requirements.for_groups(free),
        splits.LEAST_LOSS if split == "least-loss" else splits.WIDEST,
        gather,
        most=max(most, _least_part(choices, requirements.least_rows)),
        # rounds are over when parts are solved
        choices=replace(choices, everywhere=False) if shape.table.sets else None,
        in_rounds=order == "global",
        apart=apart,
        progress=progress,
    )


def _held(column: ItemSets, index: int, gather: Gather) -> Ints:
    """Return how many records of all shards hold each item of an item-set column."""
    codes = np.arange(column.size, dtype=np.int32)
    question = CountNodes(index, starts([column.size]), codes, codes, column.size)
    task = Task(Tree(np.full(1, -1, np.int64), pack([])), np.zeros(1, np.int64), (question,))
    [held] = task.merged(gather(task))
    return np.asarray(held)


def spread_mondrian(
    shape: Shape,
    requirements: Requirements,
    gather: Gather,
    *,
    most: int = MANY_ROWS,
    polish: bool = False,
    sensitive: Literal["seen", "blind"] = "seen",
    slack: float = 0.05,
    apart: bool = False,
    progress: Listener | None = None,
) -> Plan:
    """Plan the method mondrian for a table that is spread out; see :func:`spread_down`."""
    del slack
    _refuse(polish, "polish", "polish moves records between finished classes")
    _refuse(sensitive == "blind", "sensitive: blind", "each cluster examines all its records before it is split")
    _refuse(bool(shape.table.sets), "item sets", "mondrian does not generalize them, but top-down does")
    return spread_down(
        shape, Requirements(requirements.models), splits.MEDIAN, gather, most=most, apart=apart, progress=progress
    )


def spread_down(
    shape: Shape,
    requirements: Requirements,
    mode: int,
    gather: Gather,
    *,
    most: int,
    choices: Choices | None = None,
    in_rounds: bool = False,
    apart: bool = False,
    progress: Listener | None = None,
) -> Plan:
    """Split a table on many machines until its clusters have at most ``most`` records, or cannot be split.

    ``gather`` runs a task on every shard. ``apart`` says that nobody has records in two shards: then people are counted
    in their shard, by any codes that distinguish them there, instead of sending bits of everybody. ``choices`` are
    those about item sets. With ``in_rounds`` one attribute is specialized in all clusters at a time: then the driver
    goes on to the end, whatever ``most`` is, and all parts are classes.

    Suppressed records cannot be masked here, and no record can be suppressed if limits refer to the distribution of the
    whole release: both need a second pass once all classes are known.
    """
    leaves_out = requirements.budget(shape.records) > 0
    _refuse(leaves_out and requirements.masked, "masked records", "whether they may stay is known only at the end")
    _refuse(
        leaves_out and requirements.depends_on_whole,
        "suppression with limits against the whole release",
        "suppressing records changes the distribution that the limits refer to",
    )
    job = SpreadJob(shape.table, shape.records, requirements, mode, choices)
    job.totals = [np.asarray(shape.totals[name], dtype=np.int64) for name in requirements.columns]
    unmet = requirements.unmet(job.everybody(shape.people))
    if unmet:
        raise PolicyUnmetError(unmet)
    driver = Driver(job, lambda task: task.merged(gather(task)), apart)
    listener = progress or silent
    listener("decide", 0.0, 1.0)

    def told(done: int) -> None:
        listener("decide", done / max(shape.records, 1), 1.0)

    if in_rounds:
        driver.grow_in_rounds(told)
    else:
        driver.grow(most, told)
    return _plan(driver, requirements, mode, choices)


def _refuse(refused: bool, what: str, why: str) -> None:
    if refused:
        raise UnsupportedError(
            f"{what} is not possible if a table is spread over many machines: {why}.",
            hint="remove it from the policy, or run on one machine, where it works.",
        )


def _plan(driver: Driver, requirements: Requirements, mode: int, choices: Choices | None) -> Plan:
    """Number the parts in the order of their leaves, and keep of the driver what is needed to route and to solve."""
    lines, final = np.concatenate([driver.opened, driver.closed]), np.arange(len(driver.opened) + len(driver.closed))
    is_final = final >= len(driver.opened)
    order = np.argsort(lines[:, 0], kind="stable")
    lines, is_final = lines[order], is_final[order]
    nodes = lines[:, -1]
    part = np.full(len(driver.child), SUPPRESSED, dtype=np.int32)
    part[nodes] = np.arange(len(lines))
    hidden = []
    for index in range(len(driver.job.sets)):
        nothing = np.zeros(0, np.int64)
        maps = [
            (nothing, nothing) if done else driver.hidden[node][index]
            for node, done in zip(nodes.tolist(), is_final.tolist(), strict=True)
        ]
        hidden.append(
            (
                starts([len(codes) for codes, _ in maps]),
                joined([codes for codes, _ in maps], np.int32),
                joined([known for _, known in maps], np.int32),
            )
        )
    # a line without sets ends behind the records; its node is of no use any longer
    width = 4 if choices is None else lines.shape[1] - 1
    return Plan(
        driver.tree(), part, lines[:, :width].copy(), is_final, tuple(hidden), tuple(driver.job.totals), requirements,
        mode, choices,
    )  # fmt: skip
