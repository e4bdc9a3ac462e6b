"""The audit of a release on Spark: executors audit their rows, and only findings come back."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sudare.audits import Alone, AuditorInput, AuditReport, Elsewhere, audit_release
from sudare.audits.class_tables import Whole
from sudare.audits.distributed_audit import (
    Bucket,
    Counting,
    Layout,
    labels_of,
    look_at_cells,
    look_at_sets,
    merged,
    merged_sets,
    needs_whole,
    prove_bucket,
    sizes_of,
    to_look_at,
    whole_of,
)
from sudare.audits.release_columns import Release
from sudare.audits.run import naming_other_method
from sudare.audits.transformation_cells import Tally
from sudare.audits.transformation_proofs import Forms
from sudare.audits.uniqueness import Found as Unique
from sudare.audits.uniqueness import look, parted
from sudare.core.errors import UnsupportedError
from sudare.core.sizes import MANY_ROWS
from sudare.engines.spark.spark import Parcel, Spark, keys_for
from sudare.engines.spark.spark_unique_records import rare_on, single_on
from sudare.methods import method_of
from sudare.policy import Policy

BUCKET = MANY_ROWS
"""The rows that are proven in one place, about."""
MOST_COUNTED = 20_000_000
"""The combinations of values that come to the driver, where a promise cannot be proven otherwise."""
MEMORY = 2 << 30
"""What the audit may take of an executor's memory; what is more goes to files."""


@dataclass(frozen=True)
class Proven:
    """What an audit found: its report, and the number and the squared sizes of classes, where there are any."""

    report: AuditReport
    classes: int = 0
    squares: int = 0


def prove(
    spark: Spark,
    frame: Any,
    where: str,
    policy: Policy,
    *,
    told: AuditorInput,
    mechanism: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Proven:
    """Prove every promise of a policy on a release, as :func:`sudare.audits.run.audit_release` does."""
    with naming_other_method(told, policy):
        return _prove(spark, frame, where, policy, told.about(policy), mechanism, say)


def _prove(
    spark: Spark,
    frame: Any,
    where: str,
    policy: Policy,
    told: AuditorInput,
    mechanism: Mapping[str, Any] | None,
    say: Callable[[str], None],
) -> Proven:
    started = time.perf_counter()
    say("reading the release")
    schema = spark.schema(frame, where)
    others, limits = parted(policy)
    layout = Layout(where, tuple(schema.names), tuple(schema.types), others)
    made_by = told.maker(policy)
    recoding = method_of(str(made_by)).recoding
    if recoding == "apart":
        what = f"a release by {made_by} consists of two files, and cannot be proven on Spark."
        raise UnsupportedError(what, hint="audit it without an engine.")
    layout.check()

    def single(sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]) -> list[Alone]:
        return [Alone(*found) for found in single_on(spark, frame, sets, of, within)]

    def rare(name: str, least: int, of: str | None, within: Sequence[str]) -> int:
        return rare_on(spark, frame, name, least, of, within)

    if recoding == "drawn":
        return Proven(_drawn(spark, frame, layout, policy, single, told, mechanism, say))
    rows, unique = int(spark.tally(frame, ()).counts[0]), Unique()
    if rows:
        say("counting what is unique")
        held = Release(where, tuple(schema.names), tuple(schema.types), count=_nothing, single=single, rare=rare)
        unique = look(None, held, others, limits, rows, made_by)
    cells = _cells(spark, frame, layout, told, say)
    if recoding == "sets":
        drawn = told.mechanism() if mechanism is None else mechanism
        looked = spark.parcels(frame, layout.needed, _Looking(layout, drawn))
        parts = [pickle.loads(head) for head in spark.heads(looked, from_rows=True)]
        report = merged_sets(parts, layout, told=told, mechanism=drawn, unique=unique, cells=cells, started=started)
        return Proven(report)
    return _classes(spark, frame, layout, rows, unique, cells, told, started, say)


def _cells(
    spark: Spark, frame: Any, layout: Layout, told: AuditorInput, say: Callable[[str], None]
) -> list[Mapping[str, Tally]]:
    """Return what executors find in the cells of transformed columns."""
    forms = Forms.of(layout.policy, told)
    names = to_look_at(layout, forms)
    if not names:
        return []
    say("looking at transformed columns")
    looked = spark.parcels(frame, names, _Forms(layout, forms))
    return [pickle.loads(head) for head in spark.heads(looked, from_rows=True)]


def _nothing(names: Sequence[str]) -> Any:
    raise AssertionError("unique records are counted by Spark")


def _classes(
    spark: Spark,
    frame: Any,
    layout: Layout,
    rows: int,
    unique: Unique,
    cells: Sequence[Mapping[str, Tally]],
    told: AuditorInput,
    started: float,
    say: Callable[[str], None],
) -> Proven:
    count = max(-(-rows // BUCKET), 1)
    keys = keys_for(count)
    counted = spark.parcels(frame, layout.needed, _Counting(Counting(layout, count, MEMORY), keys), keep=True)
    parts = [pickle.loads(head) for head in spark.heads(counted, from_rows=True)]
    whole = whole_of(parts, rows) if needs_whole(layout.policy) else None
    say("proving what is promised of classes")
    found: list[Bucket] = spark.gather(
        spark.deal(counted, count), _Proving(layout, whole, told.has_figures_of(layout.policy))
    )

    def tally(names: Sequence[str]) -> pa.Table:
        tallied = spark.tally(frame, names)
        _check_counted(len(tallied.counts))
        return tallied.cells.append_column("\0", pa.array(tallied.counts))

    report = merged(found, layout, tally, told=told, unique=unique, cells=cells, started=started)
    spark.forget(counted)
    sizes = sizes_of(found)
    return Proven(report, sizes.classes, sizes.squares)


def _drawn(
    spark: Spark,
    frame: Any,
    layout: Layout,
    policy: Policy,
    single: Callable[..., list[Alone]],
    told: AuditorInput,
    mechanism: Mapping[str, Any] | None,
    say: Callable[[str], None],
) -> AuditReport:
    """Prove a release with randomly drawn values, from value counts."""
    held: dict[tuple[str, ...], pa.Table] = {}

    def count(names: Sequence[str]) -> pa.Table:
        if tuple(names) not in held:
            tallied = spark.tally(frame, names)
            _check_counted(len(tallied.counts))
            held[tuple(names)] = tallied.cells.append_column("\0", pa.array(tallied.counts))
        return held[tuple(names)]

    given = Elsewhere(layout.where, layout.names, layout.types, count, single=single)
    return audit_release(given, policy, told=told, mechanism=mechanism, progress=say)


def _check_counted(combinations: int) -> None:
    if combinations > MOST_COUNTED:
        what = f"a promise must be proven from {combinations:,} different combinations of values, which are too many."
        raise UnsupportedError(what, hint="use fewer or coarser columns, or prove it on one machine.")


@dataclass(frozen=True)
class _Counting:
    """Makes parcels of counted rows."""

    count: Counting
    keys: Sequence[int]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Parcel]:
        layout = self.count.layout
        labels = needs_whole(layout.policy)
        for bucket, table in self.count(batches):
            head = labels_of(table, layout) if labels else {}
            yield Parcel(self.keys[bucket], pickle.dumps(head), pickle.dumps((bucket, table), 5))


@dataclass(frozen=True)
class _Proving:
    """Proves the buckets of a partition."""

    layout: Layout
    whole: Whole | None
    figures: bool

    def __call__(self, parcels: Iterator[Parcel]) -> Iterator[Bucket]:
        tables: dict[int, list[pa.Table]] = {}
        for parcel in parcels:
            bucket, table = pickle.loads(parcel.body)
            tables.setdefault(bucket, []).append(table)
        for bucket in sorted(tables):
            rows = pa.concat_tables(tables.pop(bucket))
            yield prove_bucket(rows, self.layout, self.whole, memory=MEMORY, figures=self.figures)


@dataclass(frozen=True)
class _Looking:
    """Checks sets, and returns its findings in the head of a parcel."""

    layout: Layout
    mechanism: Any

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Parcel]:
        yield Parcel(0, pickle.dumps(look_at_sets(batches, self.layout, self.mechanism)), b"")


@dataclass(frozen=True)
class _Forms:
    """Looks at the cells of transformed columns, and returns its findings in the head of a parcel."""

    layout: Layout
    forms: Forms

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Parcel]:
        yield Parcel(0, pickle.dumps(look_at_cells(batches, self.layout, self.forms)), b"")
