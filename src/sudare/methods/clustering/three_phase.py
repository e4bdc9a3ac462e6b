"""Three-phase: groups of equal quasi-identifiers stay unchanged, and as few records as possible leave them.

A set of records is *l-eligible* if none of its sensitive values, those that are most frequent (its *pillars*) included,
has more than 1/l of them. That implies distinct and entropy l-diversity.

Steps
    1. Records with the same quasi-identifiers are a group. From each group that is not l-eligible, records of its
       pillars move to the residue R, until it is. If R is eligible then, nothing less would have done.
    2. Else R lacks records. Groups that have more than l times the records of a pillar (*fat* ones) give one of a value
       that is no pillar of R; the others (*thin* ones) give one of each of their pillars, if none of these is a pillar
       of R. So R lacks one less by each record, as its own pillars gain none.
    3. When all groups are thin and share a pillar with R, there are rounds. Groups are chosen greedily, as for a set
       cover, until no pillar of R is a pillar of all of them. Each gives one record of each of its pillars, and then,
       as in phase 2, what it has to spare. Phase 2 is tried again before each round, until R is eligible.
    4. Groups that do not keep all requirements go to R as a whole, before phase 2 and at the end. If R does not keep
       them, groups join it, the smallest first, until it does.
    5. Groups are classes, and show their values. R is one class (``one``), or is split further (``split``) into classes
       that keep the requirements and are l-eligible, in two ways, of which the one that loses less is taken. The first
       splits R as :mod:`sudare.methods.topdown.top_down` does it. As R has more of the frequent values than other
       records, this soon comes to an end; so the second splits it into classes of entropy l-diversity, treats these
       as groups in steps 1 to 4, and goes on with the residue of that, as long as it shrinks.

Cost
    Phases 1 and 2 are linear in the records, once these are sorted. A round of phase 3 reads all groups a few times; on
    most tables there is none. Splitting the residue takes longest: some ten times as long as all else.

Guarantee
    Every class keeps all requirements and is l-eligible. No record is left out, whatever the policy allows. The result
    depends on the multiset of records alone. If nothing but l-diversity is required, R has as few records as possible
    if phase 1 ends it, at most l - 1 more if phase 2 does, and at most l times as many in any case:

    - What phase 1 moves is in any residue: it leaves min(count, h) records of each value of a group, for the largest h
      that makes it eligible, and no eligible part of the group has more of any. So every residue has l h1 records at
      least, where h1 is how many a pillar of R has after phase 1.
    - Phase 2 leaves that as it is. A thin group has l pillars at most, so that R ends with l h1 + l - 1 at most.
    - While R is not eligible it has at most l - 1 pillars, so that a round chooses at most as many groups. Each of them
      gives l records at least, until it is thin again, while a pillar of R gains one less than there are groups, at
      most. So what R lacks falls by l at least in each round; there are h1 rounds at most; a pillar of R has at most
      (l - 1) h1 - (l - 2) records before the last; and R ends with l (l - 1) h1 + l - 1, at most l times l h1.
    - A pillar of R that is one of all groups, these being thin, has more than 1/l of all records: no choice fails.

    If all records together are not l-eligible, no classes of them are, and the method refuses. Others, which count the
    different values, may still keep distinct l-diversity.

Deviations
    The paper knows one requirement and one sensitive column. With several, the one with the largest l is that whose
    eligibility is kept, and the others are kept as they are defined. The paper suppresses values of the residue.

Reference
    Xiao, Yi, Tao: The hardness and approximation algorithms for l-diversity. EDBT 2010.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import PolicyUnmetError, Problem
from sudare.core.progress import Listener, silent
from sudare.kernels.clustering import eligibility as kernel
from sudare.kernels.topdown.splits import LEAST_LOSS
from sudare.methods.class_counts import everybody, refuse_item_sets, tallied
from sudare.methods.clustering.neighbourhoods import Ints, in_order
from sudare.methods.topdown.frame import Job
from sudare.metrics import METRICS
from sudare.models import AlphaKAnonymity, LDiversity, Requirements, describe
from sudare.table import Partition, Table, generalize

SHRINKS = 0.9
"""The residue of a residue is split again if it is at most this part of it."""


def three_phase(
    table: Table,
    requirements: Requirements,
    *,
    residue: Literal["split", "one"] = "split",
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Keep groups of equal records unchanged, and generalize the rest (see the module's description).

    ``residue`` says whether the rest is split into classes or is one. ``seed`` is there for the common signature:
    nothing is drawn.
    """
    del seed
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    refuse_item_sets(table)
    requirements = Requirements(requirements.models)
    model = _largest(requirements)
    problems = requirements.unmet(everybody(table, requirements))
    if model is not None and not any(problem.where == describe(model) for problem in problems):
        problems += _not_eligible(table, model)
    if problems:
        raise PolicyUnmetError(problems)
    listener("decide", 0.0, 1.0)
    groups = _Groups(table, requirements, model)
    groups.even_out()
    groups.join()
    listener("decide", 0.5, 1.0)
    classes = groups.classes()
    count, rest = groups.kept, np.sort(groups.rows[groups.outside])
    if residue == "one":
        classes[rest] = count
        count += bool(len(rest))
    elif len(rest):
        found = _split(
            table, rest, requirements, model, lambda _, done, total: listener("decide", 0.5 + done / 4, total)
        )
        if model is not None and found.count < len(rest) // model.least_rows:
            found = _better(table.taken(rest), found, _peeled(table, rest, requirements, model))
        classes[rest] = found.classes + count
        count += found.count
    listener("decide", 1.0, 1.0)
    return Partition(classes, count, facts={"residue": len(rest), **groups.facts})


def _largest(requirements: Requirements) -> LDiversity | None:
    """Return the l-diversity with the largest l, the first of equal ones."""
    models = [model for model in requirements.of_groups if isinstance(model, LDiversity)]
    return max(models, key=lambda model: model.least_rows, default=None)


def _not_eligible(table: Table, model: LDiversity) -> list[Problem]:
    """Return what is wrong if all records together are not l-eligible."""
    top = int(np.bincount(table.sensitive[model.column].codes).max())
    if table.rows >= model.least_rows * top:
        return []
    most = table.rows // top
    what = (
        f"three-phase lets no value of column '{model.column}' have more than 1/{model.least_rows} of a class, and the "
        f"most frequent one has {top:,} of all {table.rows:,} records. "
        f"{f'The largest l possible is {most:,}.' if most > 1 else 'No l is possible.'}"
    )
    return [Problem(describe(model), what, "require a possible l, or use top-down or l-clustering.")]


def _split(
    table: Table, rest: Ints, requirements: Requirements, model: LDiversity | None, listener: Listener
) -> Partition:
    """Split some records, which keep the requirements, into classes that keep them and are l-eligible."""
    if model is not None:
        least = model.least_rows
        requirements = Requirements((*requirements.models, AlphaKAnonymity(1 / least, least, model.column)))
    job = Job(table.taken(rest), requirements, LEAST_LOSS)
    for index, name in enumerate(requirements.columns):
        # limits against the whole release are not against the residue
        column = table.sensitive[name]
        job.totals[index] = np.bincount(column.codes, minlength=column.size).astype(np.int64)
    return job.run(listener)


def _peeled(table: Table, rest: Ints, requirements: Requirements, model: LDiversity) -> Partition:
    """Split some records loosely, take out of the classes what keeps them from being eligible, and go on with that."""
    loose = Requirements((*requirements.models, LDiversity(model.least_rows, model.column, "entropy")))
    classes, count, all_of_them = np.full(table.rows, -1, dtype=np.int32), 0, rest
    while len(rest):
        labels = np.full(table.rows, -1, dtype=np.int64)
        labels[rest] = _split(table, rest, loose, None, silent).classes
        groups = _Groups(table, requirements, model, rest, labels)
        groups.even_out()
        groups.join()
        outside = np.sort(groups.rows[groups.outside])
        if len(outside) > SHRINKS * len(rest):
            found = _split(table, rest, requirements, model, silent)
            classes[rest] = found.classes + count
            count += found.count
            break
        numbers = groups.classes()
        classes[numbers >= 0] = numbers[numbers >= 0] + count
        count += groups.kept
        rest = outside
    return Partition(classes[all_of_them], count)


def _better(table: Table, first: Partition, second: Partition) -> Partition:
    """Return the partition that loses less."""
    losses = [METRICS["gcp"](generalize(table, partition)).total for partition in (first, second)]
    return first if losses[0] <= losses[1] else second


class _Groups:
    """The groups of equal quasi-identifiers, or of some records that have the same labels, and what has left them.

    ``rows`` are the records by group and sensitive value, and then by all other used columns. An entry is the records
    of a group with one value: the first ``moved`` of them have left, and ``left`` are left.
    """

    def __init__(
        self,
        table: Table,
        requirements: Requirements,
        model: LDiversity | None,
        some: Ints | None = None,
        labels: Ints | None = None,
    ) -> None:
        self.table, self.requirements = table, requirements
        rows = in_order(table, some)
        group = _equal(table, rows) if labels is None else labels[rows]
        self.count = int(group.max()) + 1
        self.diverse, values, kinds = 1, np.zeros(len(rows), np.int64), 1
        if model is not None:
            column = table.sensitive[model.column]
            self.diverse, values, kinds = model.least_rows, column.codes[rows].astype(np.int64), column.size
        pair = group * kinds + values
        by_pair = np.argsort(pair, kind="stable")
        self.rows, self.group = rows[by_pair], group[by_pair]
        pairs, first, self.entry, self.left = np.unique(
            pair[by_pair], return_index=True, return_inverse=True, return_counts=True
        )
        self.place = np.arange(len(rows)) - first[self.entry]  # among the records of its entry
        self.start = np.searchsorted(pairs, np.arange(self.count + 1) * kinds)
        self.code, self.kinds = pairs % kinds, kinds
        self.moved = np.zeros(len(pairs), np.int64)
        self.facts: dict[str, Any] = {"phase": 1, "rounds": 0}

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Which records (in the order of ``rows``) have left."""
        return np.asarray(self.place < self.moved[self.entry])

    @property
    def kept(self) -> int:
        """How many groups have records left."""
        return int(np.count_nonzero(self._sizes()))

    def classes(self) -> NDArray[np.int32]:
        """Return the number of each record's group, of those that have records left; -1 for one that is in none."""
        numbers = np.cumsum(self._sizes() > 0) - 1
        classes = np.full(self.table.rows, -1, dtype=np.int32)
        classes[self.rows] = np.where(self.outside, -1, numbers[self.group])
        return classes

    def even_out(self) -> None:
        """Move records out until all groups and what left them are eligible, and all groups keep the requirements."""
        if self.diverse > 1:
            kernel.trim(self.start, self.left, np.int64(self.diverse), self.moved)
        self._give_up_failing()
        residue = np.bincount(self.code, weights=self.moved, minlength=self.kinds).astype(np.int64)
        top = int(residue.max())
        state = np.array([top, self.diverse * top - int(self.moved.sum()), 0])
        if state[kernel.SHORT] <= 0:
            return
        before = self.left.copy()
        sizes, tops = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        stock = kernel.Stock(self.start, self.code, self.left, sizes, tops, residue, state)
        kernel.level(stock, np.int64(self.diverse))
        assert state[kernel.SHORT] <= 0  # all records together are eligible
        self.moved += before - self.left
        rounds = int(state[kernel.ROUNDS])
        self.facts = {"phase": 3 if rounds else 2, "rounds": rounds}
        self._give_up_failing()

    def join(self) -> None:
        """Let groups join what has left, the smallest first, until that keeps the requirements.

        Groups keep them, so that those with one more joined keep them if those without it do: the fewest are found by
        halving.
        """
        outside, sizes = self.outside, self._sizes()
        if not outside.any():
            return
        rank = np.empty(self.count, dtype=np.int64)
        rank[np.argsort(sizes, kind="stable")] = np.arange(self.count)
        low, high = -1, int(np.count_nonzero(sizes == 0))  # those of rank below high are joined; low will not do
        step = 1
        while not self._holds(outside | (rank[self.group] < high)):
            low, high, step = high, min(high + step, self.count), 2 * step
        while low >= 0 and high - low > 1:
            middle = (low + high) // 2
            if self._holds(outside | (rank[self.group] < middle)):
                high = middle
            else:
                low = middle
        self._give_up(rank < high)

    def _sizes(self) -> Ints:
        """Return how many records each group has left."""
        return np.add.reduceat(self.left, self.start[:-1])

    def _holds(self, chosen: NDArray[np.bool_]) -> bool:
        """Return whether some records would keep the requirements as a class."""
        classes = np.full(self.table.rows, -1, dtype=np.int8)
        classes[self.rows[chosen]] = 0
        groups = tallied(self.table, self.requirements, classes, 1, against_all=True)
        return bool(self.requirements.holds(groups).all())

    def _give_up(self, groups: NDArray[np.bool_]) -> None:
        """Move all records of some groups out."""
        entries = np.repeat(groups, np.diff(self.start))
        self.moved[entries] += self.left[entries]
        self.left[entries] = 0

    def _give_up_failing(self) -> None:
        """Move all records of those groups out that do not keep the requirements."""
        there = np.flatnonzero(self._sizes())
        if not len(there):
            return
        groups = tallied(self.table, self.requirements, self.classes(), len(there), against_all=True)
        failing = np.zeros(self.count, dtype=np.bool_)
        failing[there] = ~self.requirements.holds(groups)
        self._give_up(failing)


def _equal(table: Table, rows: Ints) -> Ints:
    """Number the groups of equal quasi-identifiers among records that are sorted by them."""
    fresh = np.zeros(len(rows), dtype=np.int64)
    for column in table.single.values():
        codes = column.codes[rows]
        fresh[1:] |= codes[1:] != codes[:-1]
    return np.cumsum(fresh)
