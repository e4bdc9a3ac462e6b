"""Transformed columns of rows on Spark: executors apply the steps, and the rows stay where they are.

Steps that go cell by cell are applied on the way to the shards; nothing is stored, and rows that Spark computes again
are the same. Three kinds of work need rows that are stored once, beside the target: random steps and samples, which
must not be drawn again, and steps that look at a whole column. The columns of the latter come to the driver with the
numbers of their records. It applies the same code as on one machine, and the cells go back by these numbers.

Keys are in the functions that Spark sends to executors, and nowhere else: no plan and no setting names them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, Problem, UnsupportedError
from sudare.core.randomness import Entropy
from sudare.engines.invalid_cells import check_cells
from sudare.engines.spark.spark import Parcel, Spark, partition, plain_type
from sudare.pipeline.request import Request
from sudare.pipeline.spark.spark_targets import SparkTarget
from sudare.sources.cell_cleaner import CellProblemsError
from sudare.transformations.column_steps import columns_beside
from sudare.transformations.item_cells import OfItems
from sudare.transformations.noise import Noise
from sudare.transformations.pseudonym_step import Pseudonyms
from sudare.transformations.pseudonyms import PseudonymCheck
from sudare.transformations.rounded_numbers import Rounding
from sudare.transformations.step import Findings, Step, is_text
from sudare.transformations.transformation_facts import facts
from sudare.transformations.transformed_columns import Transformed

MOST_GATHERED = 200_000_000
"""The cells that the driver holds at once, of columns that are transformed as a whole."""
_OF_PARTITION = 33
"""The bits of a record's number that count the records of a partition."""


@dataclass(frozen=True, eq=False)
class Turned:
    """Rows whose columns are transformed, at the latest when they become shards: by ``through``, if that is left to do.

    ``schema`` has the types of the transformed columns, and ``read`` the columns to read.
    """

    request: Request
    frame: Any
    schema: pa.Schema
    read: Sequence[str]
    work: Transformed | None = None
    through: Through | None = None

    def cutting(self, cut: Callable[[Iterator[pa.RecordBatch]], Iterable[Parcel]]) -> Callable[[Any], Iterable[Parcel]]:
        """Return what makes shards, of rows that are transformed on the way."""
        return cut if self.through is None else _Cutting(self.through, cut)

    def checked(self, heads: list[bytes]) -> list[bytes]:
        """Return the heads of shards as they are without transformations; raise what was wrong with cells.

        What the certificate says goes to the request.
        """
        if self.work is None:
            return heads
        if self.through is not None:
            found = [pickle.loads(head) for head in heads]
            heads = [head for head, _ in found]
            for _, told in found:
                told.add_to(self.work)
        if problems := self.work.findings.problems():
            raise CellProblemsError(problems)
        self.request.transformations = list(facts(self.work))
        return heads


def turned(
    request: Request, spark: Spark, target: SparkTarget, frame: Any, schema: pa.Schema, names: Sequence[str]
) -> Turned:
    """Return the rows of a table with some columns, transformed as the policy says."""
    policy = request.policy
    if not policy.transforms:
        return Turned(request, frame, schema, names)
    kinds = {each.name: each.type for each in schema}
    work = Transformed.of(policy, kinds, names, request.seed)
    work.findings.start = None
    read = tuple(dict.fromkeys([*names, *columns_beside(policy, names)]))
    given = pa.schema([schema.field(name) for name in read])
    if not _stored(work):
        made = pa.schema([(name, work.kind(name, kinds[name])) for name in names])
        return Turned(request, frame, made, read, work, Through(work, given, made))
    return _Storing(request, spark, target, work, given).turned(frame, names)


def _stored(work: Transformed) -> bool:
    """Return whether rows have to be stored, since they would not be the same if Spark computed them again."""
    return work.sample is not None or work.whole or any(_random(step) for each in work.steps.values() for step in each)


def _random(step: Step) -> bool:
    return isinstance(step, Noise) or (isinstance(step, Rounding) and step.spec.how == "random")


@dataclass(frozen=True)
class Told:
    """What executors found out about some records: what is wrong with cells, and what to check of pseudonyms."""

    rows: int
    findings: Findings
    checks: dict[tuple[str, int], PseudonymCheck]

    def add_to(self, work: Transformed) -> None:
        """Add all of it to what the driver knows."""
        work.findings.add(self.findings)
        for name, number, step in _with_pseudonyms(work):
            if (name, number) in self.checks:
                step.check.merge(self.checks[name, number])
                work.findings.checks[step.place] = step.problems


def _with_pseudonyms(work: Transformed) -> Iterator[tuple[str, int, Pseudonyms]]:
    for name, steps in work.steps.items():
        for number, step in enumerate(steps):
            own = step.step if isinstance(step, OfItems) else step
            if isinstance(own, Pseudonyms):
                yield name, number, own


@dataclass(eq=False)
class Through:
    """What executors do with batches of rows: columns ``given`` in this order become columns ``made``.

    Some columns are among these a second time, ``raw``: as they were given.
    """

    work: Transformed
    given: pa.Schema
    made: pa.Schema
    raw: Sequence[str] = ()
    rows: int = field(default=0, init=False)

    def batch(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        """Return the columns of a batch of rows, transformed."""
        named = pa.RecordBatch.from_arrays(batch.columns, names=self.given.names)
        check_cells(named)
        # times with a zone come in that of the session
        cells = [
            each if each.type == kind.type else each.cast(kind.type)
            for each, kind in zip(named.columns, self.given, strict=True)
        ]
        chosen = self.work.sampled(pa.RecordBatch.from_arrays(cells, schema=self.given))
        self.rows += len(chosen)
        columns = dict(zip(chosen.schema.names, chosen.columns, strict=True))
        found = self.work.columns(columns) if self.work.steps else columns
        return {**found, **{_raw(name): columns[name] for name in self.raw}}

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the transformed batches."""
        for batch in batches:
            if len(batch):
                found = self.batch(batch)
                yield pa.RecordBatch.from_arrays(
                    [found[kind.name].cast(kind.type) for kind in self.made], schema=self.made
                )

    def take(self) -> Told:
        """Return what was found out since this was asked last."""
        work, rows, self.rows = self.work, self.rows, 0
        findings, work.findings = replace(work.findings, checks={}), Findings(None)
        return Told(rows, findings, {(name, at): step.check.take() for name, at, step in _with_pseudonyms(work)})


@dataclass(frozen=True, eq=False)
class _Cutting:
    """Makes shards of transformed rows; their heads also tell what was found out on the way."""

    through: Through
    cut: Callable[[Iterator[pa.RecordBatch]], Iterable[Parcel]]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Parcel]:
        for parcel in self.cut(self.through(batches)):
            yield parcel._replace(head=pickle.dumps((parcel.head, self.through.take()), 5))


@dataclass(frozen=True, eq=False)
class _Drawing:
    """Makes rows that are stored: the transformed columns, the number of each record, and what was found out.

    The latter is in a last row of its own.
    """

    through: Through
    seed: int | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.seed is not None:
            self.through.work = _seeded(self.through.work, self.seed + 1 + partition())
        number = partition() << _OF_PARTITION
        for batch in self.through(batches):
            numbers = pa.array(np.arange(number, number + len(batch)))
            number += len(batch)
            yield self._row([*batch.columns, numbers, pa.nulls(len(batch), pa.binary())])
        nothing = [pa.nulls(1, kind) for kind in (*self.through.made.types, pa.int64())]
        yield self._row([*nothing, pa.array([pickle.dumps(self.through.take(), 5)], pa.binary())])

    def _row(self, columns: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(columns, names=[f"c{at}" for at in range(len(columns))])


def _seeded(work: Transformed, seed: int) -> Transformed:
    """Return work whose random words come from a seed of its own, in tests."""
    entropy = Entropy(seed)

    def own(step: Any) -> Any:
        return replace(step, entropy=entropy) if hasattr(step, "entropy") else step

    steps = {name: [own(step) for step in each] for name, each in work.steps.items()}
    return replace(work, steps=steps, sample=own(work.sample), entropy=entropy)


@dataclass(frozen=True, eq=False)
class _Storing:
    """Stores rows once, and lets the driver transform the columns that it needs as a whole."""

    request: Request
    spark: Spark
    target: SparkTarget
    work: Transformed
    given: pa.Schema

    def turned(self, frame: Any, names: Sequence[str]) -> Turned:
        """Return the stored rows, with all columns transformed."""
        work, spark = self.work, self.spark
        gathered = {name: steps for name, steps in work.steps.items() if any(step.whole for step in steps)}
        beside = dict.fromkeys(name for steps in gathered.values() for step in steps for name in step.beside)
        raw = [name for name in beside if name not in gathered]
        others = {name: steps for name, steps in work.steps.items() if name not in gathered}
        of_cells = replace(work, steps=others, findings=Findings(None))
        kinds = [(name, of_cells.kind(name, self.given.field(name).type)) for name in names]
        made = pa.schema([*kinds, *((_raw(name), self.given.field(name).type) for name in raw)])
        through = Through(of_cells, self.given, made, raw)
        plain = [*(plain_type(kind) for kind in made.types), pa.int64(), pa.binary()]
        columns = pa.schema([(f"c{at}", kind) for at, kind in enumerate(plain)])
        drawn = spark.changed(frame, self.given.names, _Drawing(through, self.request.seed), columns)
        stored = self.target.stash(drawn, "rows")
        number, note = columns.names[-2:]
        notes = spark.fetch(stored.where(stored[note].isNotNull()).select(note)).column(0)
        told: list[Told] = [pickle.loads(each) for each in notes.to_pylist()]
        for each in told:
            each.add_to(work)
        rows = stored.where(stored[note].isNull()).drop(note)
        count = sum(each.rows for each in told)
        if not count:
            where = Problem("sample", "holds no records.", "sample a larger share.")
            raise DataError(where if work.sample is not None else Problem(self.target.where, "has no records."))
        places = {name: f"c{at}" for at, name in enumerate(made.names)}
        if gathered and not work.findings.problems():
            rows = self._joined(rows, number, gathered, raw, places, count)
        chosen = rows.select(*(places[name] for name in names)).toDF(*names)
        return Turned(self.request, chosen, spark.schema(chosen), names, work)

    def _joined(
        self,
        rows: Any,
        number: str,
        gathered: dict[str, list[Step]],
        raw: Sequence[str],
        places: dict[str, str],
        count: int,
    ) -> Any:
        """Return rows with columns that the driver transforms; ``places`` then says where these are."""
        spark, wanted = self.spark, [*gathered, *(_raw(name) for name in raw)]
        if count * (len(wanted) + 1) > MOST_GATHERED:
            first = next(iter(gathered))
            what = f"{count:,} records are too many: the driver transforms this column as a whole."
            hint = "use transformations that go cell by cell, or run on one machine."
            raise UnsupportedError(Problem(f"columns.{first}.transform", what, hint))
        found = spark.fetch(rows.select(number, *(places[name] for name in wanted))).sort_by(number)
        given = {}
        for name, column in zip([*gathered, *raw], found.columns[1:], strict=True):
            cells, kind = _one(column), self.given.field(name).type
            given[name] = cells if is_text(kind) else cells.cast(kind)
        own = replace(self.work, steps=gathered)
        shown = own.columns(given)
        table = pa.table({
            number: found.column(0),
            **{f"d{at}": shown[name].cast(self._kind(name)) for at, name in enumerate(gathered)},
        })  # fmt: skip
        drawn = self.target.stash(spark.of_table(table), "columns")
        places |= {name: f"d{at}" for at, name in enumerate(gathered)}
        return rows.join(drawn, number)

    def _kind(self, name: str) -> pa.DataType:
        return plain_type(self.work.kind(name, self.given.field(name).type))


def _raw(name: str) -> str:
    """Return how a column is called that is kept as it was given."""
    return f"\0{name}"


def _one(cells: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece; text of more than two gigabytes needs offsets of 64 bits."""
    if is_text(cells.type):
        cells = cells.cast(pa.large_string())
    found = cells.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
