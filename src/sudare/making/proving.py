"""The audit of a release that Spark holds: it goes to where the rows are, and nothing but findings comes back."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from sudare.audit import Alone, AuditReport, Elsewhere, audit_release
from sudare.audit.building import Whole
from sudare.audit.scattered import (
    OF_THE_WHOLE,
    Bucket,
    Counting,
    Layout,
    labels_of,
    look_at_sets,
    merged,
    merged_sets,
    prove_bucket,
    whole_of,
)
from sudare.audit.sources import Release
from sudare.audit.uniqueness import joined, look, parted
from sudare.engines.spark import Parcel, Spark, keys_for
from sudare.engines.spark_singles import single_on
from sudare.errors import UnsupportedError
from sudare.policy import Policy

BUCKET = 1 << 20
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
    method: str | None = None,
    certificate: Mapping[str, Any] | None = None,
    mechanism: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Proven:
    """Prove every promise of a policy on a release, as :func:`sudare.audit.audit_release` does."""
    say("reading the release")
    schema = spark.schema(frame, where)
    made_by = maker_of(policy, method, certificate)
    others, limits = parted(policy)
    proven = _proven(spark, frame, where, schema, others, made_by, certificate, mechanism, say)
    say("counting what is unique")

    def single(sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]) -> list[Alone]:
        return [Alone(*found) for found in single_on(spark, frame, sets, of, within)]

    held = Release(where, tuple(schema.names), tuple(schema.types), count=_nothing, single=single)
    found = look(None, held, others, limits, proven.report.rows, made_by)
    return replace(proven, report=joined(proven.report, found, certificate))


def _nothing(names: Sequence[str]) -> Any:
    raise AssertionError("what is unique is counted by Spark")


def maker_of(policy: Policy, method: str | None, certificate: Mapping[str, Any] | None) -> str:
    """Return the method that made a release, as it is named to the audit."""
    named = (certificate or {}).get("method")
    return str(method or (named.get("name") if isinstance(named, Mapping) else None) or policy.method.name)


def _proven(
    spark: Spark,
    frame: Any,
    where: str,
    schema: pa.Schema,
    policy: Policy,
    made_by: str,
    certificate: Mapping[str, Any] | None,
    mechanism: Mapping[str, Any] | None,
    say: Callable[[str], None],
) -> Proven:
    """Prove what is promised of classes, of sets or of values that are drawn."""
    started = time.perf_counter()
    layout = Layout(where, tuple(schema.names), tuple(schema.types), policy)
    if made_by == "anatomy":
        what = "a release by anatomy is two files, and is not proven on Spark."
        raise UnsupportedError(what, hint="audit it without an engine.")
    layout.check()
    if made_by == "pram":
        return Proven(_drawn(spark, frame, layout, certificate, mechanism, say))
    if made_by == "dummies":
        looked = spark.parcels(frame, layout.needed, _Looking(layout))
        parts = [pickle.loads(head) for head in spark.heads(looked, from_rows=True)]
        return Proven(merged_sets(parts, layout, certificate=certificate, started=started))
    return _classes(spark, frame, layout, certificate, started, say)


def _classes(
    spark: Spark,
    frame: Any,
    layout: Layout,
    certificate: Mapping[str, Any] | None,
    started: float,
    say: Callable[[str], None],
) -> Proven:
    rows = spark.tally(frame, ()).counts[0]
    count = max(-(-int(rows) // BUCKET), 1)
    keys = keys_for(count)
    counted = spark.parcels(frame, layout.needed, _Counting(Counting(layout, count, MEMORY), keys), keep=True)
    parts = [pickle.loads(head) for head in spark.heads(counted, from_rows=True)]
    whole = whole_of(parts, int(rows)) if any(s.model in OF_THE_WHOLE for s in layout.policy.require) else None
    say("proving what is promised of classes")
    found: list[Bucket] = spark.gather(spark.deal(counted, count), _Proving(layout, whole))

    def tally(names: Sequence[str]) -> pa.Table:
        told = spark.tally(frame, names)
        _check_counted(len(told.counts))
        return told.cells.append_column("\0", pa.array(told.counts))

    report = merged(found, layout, tally, certificate=certificate, started=started)
    spark.forget(counted)
    return Proven(report, sum(bucket.classes for bucket in found), sum(bucket.squares for bucket in found))


def _drawn(
    spark: Spark,
    frame: Any,
    layout: Layout,
    certificate: Mapping[str, Any] | None,
    mechanism: Mapping[str, Any] | None,
    say: Callable[[str], None],
) -> AuditReport:
    """Prove a release whose values were drawn, from how often there is what."""
    held: dict[tuple[str, ...], pa.Table] = {}

    def count(names: Sequence[str]) -> pa.Table:
        if tuple(names) not in held:
            told = spark.tally(frame, names)
            _check_counted(len(told.counts))
            held[tuple(names)] = told.cells.append_column("\0", pa.array(told.counts))
        return held[tuple(names)]

    given = Elsewhere(layout.where, layout.names, layout.types, count)
    return audit_release(
        given, layout.policy, method="pram", certificate=certificate, mechanism=mechanism, progress=say
    )


def _check_counted(combinations: int) -> None:
    if combinations > MOST_COUNTED:
        what = f"a promise has to be proven from {combinations:,} different combinations of values, which are too many."
        raise UnsupportedError(what, hint="use fewer or coarser columns, or prove it on one machine.")


@dataclass(frozen=True)
class _Counting:
    """Makes parcels of counted rows."""

    count: Counting
    keys: Sequence[int]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Parcel]:
        layout = self.count.layout
        labels = any(spec.model in OF_THE_WHOLE for spec in layout.policy.require)
        for bucket, table in self.count(batches):
            head = labels_of(table, layout) if labels else {}
            yield Parcel(self.keys[bucket], pickle.dumps(head), pickle.dumps((bucket, table), 5))


@dataclass(frozen=True)
class _Proving:
    """Proves the buckets of a partition."""

    layout: Layout
    whole: Whole | None

    def __call__(self, parcels: Iterator[Parcel]) -> Iterator[Bucket]:
        tables: dict[int, list[pa.Table]] = {}
        for parcel in parcels:
            bucket, table = pickle.loads(parcel.body)
            tables.setdefault(bucket, []).append(table)
        for bucket in sorted(tables):
            yield prove_bucket(pa.concat_tables(tables.pop(bucket)), self.layout, self.whole, memory=MEMORY)


@dataclass(frozen=True)
class _Looking:
    """Looks at sets, and tells what it found in the head of a parcel."""

    layout: Layout

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Parcel]:
        yield Parcel(0, pickle.dumps(look_at_sets(batches, self.layout)), b"")
