"""The audit of a release on many machines: each audits its rows, and the findings are merged.

1. Each machine counts its rows by the columns of the promises, and distributes them by their quasi-identifiers
   (:class:`Counting`). So all records of a class are in the same bucket.
2. Each bucket is proven as a release of its own (:func:`prove_bucket`), by the same SQL as any release. A promise about
   the distribution of the whole release gets that distribution (:class:`~sudare.audits.class_tables.Whole`).
3. The findings are merged (:func:`merged`): a promise holds if it holds in every bucket.

Promises about fewer columns, or about an item-set column as a whole, are proven separately, from counts of these
columns. Each machine looks at the cells of transformed columns in its own rows (:func:`look_at_cells`). This file does
not know how rows are moved: the engine does that.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sudare.audits.audit_report import AuditReport, Guarantee
from sudare.audits.auditor_input import AuditorInput
from sudare.audits.cell_counts import CellCounts, added
from sudare.audits.cell_equality import comparable, value
from sudare.audits.certificate_checks import Found, Sizes
from sudare.audits.class_tables import Whole, build_classes
from sudare.audits.dummy_draws import doubts, order_of
from sudare.audits.hidden_values import SETS, Sets, facts_of, judged_sets, read_sets
from sudare.audits.model_definitions import subjects_apart
from sudare.audits.model_proofs import PROOFS
from sudare.audits.opened_release import open_release, read_by_promises, unreadable_columns
from sudare.audits.release_columns import Elsewhere, Release, Sums, digest_of, sums_of_lines
from sudare.audits.report_assembly import conclude
from sudare.audits.run import (
    audit_release,
    columns_kept_back,
    database,
    no_values_in_errors,
    set_requirements,
)
from sudare.audits.transformation_cells import Tally
from sudare.audits.transformation_proofs import Forms
from sudare.audits.transformation_proofs import merged as added_up
from sudare.audits.uniqueness import Found as Unique
from sudare.audits.value_spellings import same_texts
from sudare.core.errors import DataError, Problem
from sudare.core.sizes import MANY_ROWS
from sudare.policy import Policy

MANY = "\0many"


@dataclass(frozen=True)
class Layout:
    """The columns of a release, and those of them that promises are about."""

    where: str
    names: tuple[str, ...]
    types: tuple[Any, ...]
    policy: Policy

    @property
    def needed(self) -> list[str]:
        """The columns that promises are about, as written in the release."""
        wanted = {*self.policy.quasi, *read_by_promises(self.policy)}
        return [name for name in self.names if name in wanted]

    def kind(self, name: str) -> Any:
        """Return the type of a column."""
        return self.types[self.names.index(name)]

    def check(self) -> None:
        """Raise if the columns cannot be audited against the policy."""
        problems = unreadable_columns(self.names, self.policy)
        if problems:
            raise DataError(problems)

    def opened(self) -> Release:
        """Return the columns as those of a release, of which nothing is read."""
        return Release(self.where, self.names, self.types)

    def release(self, rows: Any) -> Release:
        """Return counted rows as a release."""
        table = rows.rename_columns([*self.needed, MANY])

        def count(names: Sequence[str]) -> Any:
            return table.select([*names, MANY])

        held = Elsewhere(self.where, self.names, self.types, count)
        return open_release(held, self.policy)


@dataclass(frozen=True)
class Counting:
    """Counts rows by the columns that promises are about, and deals them out to so many buckets."""

    layout: Layout
    buckets: int
    memory: int | None = None

    def __call__(self, batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
        """Return the counted rows of each bucket, as a table whose last column is the number of equal rows.

        Batches have the needed columns, in their order.
        """
        names = self.layout.needed
        first = next(batches, None)
        if first is None:
            return
        cells = [f"c{at}" for at in range(len(names))]
        schema = pa.schema([pa.field(cell, kind) for cell, kind in zip(cells, first.schema.types, strict=True)])

        def given() -> Iterator[Any]:
            yield pa.RecordBatch.from_arrays(first.columns, schema=schema)
            for batch in batches:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

        with database(None, self.memory) as connection, no_values_in_errors(self.layout.where):
            connection.register("rows", pa.RecordBatchReader.from_batches(schema, given()))
            # DuckDB takes -0.0 for 0.0, which are not written alike
            exact = "".join(f", CAST(c{at} AS VARCHAR)" for at, kind in enumerate(schema.types) if _is_float(kind))
            keys = ", ".join(cells)
            connection.execute(
                f"CREATE TEMP TABLE counted AS SELECT {keys}, count(*) AS many FROM rows GROUP BY {keys}{exact}"
            )
            shown = ", ".join(self._shown(name, f"c{at}") for at, name in enumerate(names) if self._is_quasi(name))
            bucket = f"md5_number_lower(CAST(row({shown}) AS VARCHAR)) % {self.buckets}"
            connection.execute(f"CREATE TEMP TABLE dealt AS SELECT *, CAST({bucket} AS INTEGER) AS bucket FROM counted")
            for (number,) in connection.execute("SELECT DISTINCT bucket FROM dealt ORDER BY bucket").fetchall():
                query = f"SELECT {keys}, many FROM dealt WHERE bucket = {number}"
                yield number, connection.sql(query).to_arrow_reader(MANY_ROWS).read_all()

    def _is_quasi(self, name: str) -> bool:
        return name in self.layout.policy.quasi

    def _shown(self, name: str, column: str) -> str:
        cell = comparable(column, self.layout.kind(name), self.layout.policy.columns[name])
        return cell.of(cell.raw)


def _is_float(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind))


def labels_of(rows: Any, layout: Layout) -> dict[str, dict[str | None, int]]:
    """Return how often each value of the sensitive columns occurs in counted rows, by the text that it shows."""
    found: dict[str, dict[str | None, int]] = {}
    with database(None, None) as connection, no_values_in_errors(layout.where):
        connection.register("rows", rows.rename_columns([*(f"c{at}" for at in range(rows.num_columns - 1)), "many"]))
        for at, name in enumerate(layout.needed):
            if layout.policy.columns[name].role == "sensitive":
                spec = layout.policy.columns[name]
                cell = value(f"c{at}", layout.kind(name), spec)
                counted = connection.execute(
                    f"SELECT {cell.of(cell.raw)} AS label, CAST(sum(many) AS BIGINT) FROM rows GROUP BY label"
                ).fetchall()
                same = same_texts((label for label, _ in counted), spec)
                mine: Counter[str | None] = Counter()
                for label, many in counted:
                    mine[same[label]] += many
                found[name] = dict(mine)
    return found


def whole_of(parts: Iterable[Mapping[str, Mapping[str | None, int]]], rows: int) -> Whole:
    """Merge the sensitive values of parts."""
    counts: dict[str, dict[str | None, int]] = {}
    for part in parts:
        for name, found in part.items():
            mine = counts.setdefault(name, {})
            for label, many in found.items():
                mine[label] = mine.get(label, 0) + many
    tables = {
        name: pa.table({"label": pa.array(list(found), pa.string()), "n": pa.array(list(found.values()), pa.int64())})
        for name, found in counts.items()
    }
    return Whole(rows, tables)


@dataclass
class Bucket:
    """What was found in a bucket: its rows, classes, and how these are spread over them; and the guarantees.

    ``shown`` are the counts of its cells, if requested.
    """

    rows: int = 0
    classes: int = 0
    sizes: Sizes = field(default_factory=lambda: Sizes(0, 0))
    guarantees: list[Guarantee] = field(default_factory=list)
    sums: Sums = (0, 0, 0)
    shown: dict[str, CellCounts] = field(default_factory=dict)


def needs_whole(policy: Policy) -> bool:
    """Return whether a class is compared with the whole release."""
    return any(PROOFS[spec.model].needs_whole for spec in policy.require)


def in_buckets(policy: Policy) -> list[Any]:
    """Return the promises that can be proven bucket by bucket: all that are about whole classes."""
    return [spec for spec in policy.require if not _apart(spec, policy)]


def _apart(spec: Any, policy: Policy) -> bool:
    columns = getattr(spec, "columns", None)
    return spec.model == "km-anonymity" or (columns is not None and set(columns) != set(policy.quasi))


def prove_bucket(
    rows: Any, layout: Layout, whole: Whole | None, *, memory: int | None = None, figures: bool = False
) -> Bucket:
    """Prove what is promised of classes on the counted rows of a bucket; with ``figures``, see what they show."""
    policy = layout.policy
    asked = policy.model_copy(update={"require": in_buckets(policy)})
    found = Bucket()
    with (
        closing(layout.release(rows)) as opened,
        database(None, memory) as connection,
        no_values_in_errors(layout.where),
    ):
        classes = build_classes(connection, opened, asked, whole)
        found.guarantees = [PROOFS[spec.model].prove(classes, spec) for spec in asked.require]
        if policy.numbers_subjects == "per-class":
            found.guarantees.append(subjects_apart(classes))
        found.rows, found.classes = classes.rows, classes.count
        found.sizes = classes.sizes()
        found.shown = classes.shown() if figures else {}
        found.sums = sums_of_lines(connection, rows)
    return found


def merged(
    buckets: Sequence[Bucket],
    layout: Layout,
    count: Callable[[Sequence[str]], Any],
    *,
    told: AuditorInput | None = None,
    unique: Unique | None = None,
    cells: Sequence[Mapping[str, Tally]] = (),
    started: float | None = None,
) -> AuditReport:
    """Put the findings of all buckets together; ``count`` counts rows of the release by some columns.

    ``unique`` is what was found of uniqueness, and ``cells`` what machines found of transformed columns.
    """
    policy, begun = layout.policy, time.perf_counter() if started is None else started
    rows = sum(bucket.rows for bucket in buckets)
    if not rows:
        raise DataError(Problem(layout.where, "has no rows, so there is nothing to prove."))
    together = [_together(parts) for parts in zip(*(bucket.guarantees for bucket in buckets), strict=True)]
    guarantees = [
        _of_columns(spec, layout, count) if _apart(spec, policy) else together.pop(0) for spec in policy.require
    ]
    guarantees += together  # what is proven although no requirement asks for it
    digest = digest_of(layout.needed, _added(buckets))
    classes = sum(bucket.classes for bucket in buckets)
    seen = unique or Unique()
    forms = Forms.of(policy, told or AuditorInput())
    guarantees += [*seen.guarantees, *_of_cells(forms, cells, layout), *columns_kept_back(layout.opened(), policy)]
    # buckets without columns were not asked what they show
    shown = added(bucket.shown for bucket in buckets) or None
    found = Found(
        rows,
        guarantees,
        digest,
        sizes_of(buckets),
        warnings=seen.warnings,
        shown=shown,
        transformed=forms.proven,
    )
    return conclude(policy, told or AuditorInput(), found, classes=classes, problems=(), started=begun)


def sizes_of(buckets: Sequence[Bucket]) -> Sizes:
    """Add up how records are spread over classes; a class is in one bucket."""
    parts = [bucket.sizes for bucket in buckets]
    return Sizes(
        sum(part.classes for part in parts),
        sum(part.squares for part in parts),
        tuple(sorted({size for part in parts for size in part.blank})),
        any(part.apart for part in parts),
    )


def _added(parts: Iterable[Bucket | Hidden]) -> Sums:
    lower, upper, many = zip((0, 0, 0), *(part.sums for part in parts), strict=True)
    return sum(lower), sum(upper), sum(many)


def _of_columns(spec: Any, layout: Layout, count: Callable[[Sequence[str]], Any]) -> Guarantee:
    """Prove a promise about some columns alone, from value counts."""
    policy = layout.policy
    wanted = [spec.column] if spec.model == "km-anonymity" else list(spec.columns)
    subjects = policy.named("subject") if getattr(spec, "count", "") == "subjects" else []
    kept = {name: about for name, about in policy.columns.items() if name in (*wanted, *subjects)}
    alone = policy.model_copy(update={"columns": kept, "require": [spec]})
    held = Elsewhere(layout.where, layout.names, layout.types, count, digest=lambda: "")
    report = audit_release(held, alone, method="top-down")
    return report.guarantees[0]


def _together(parts: Sequence[Guarantee]) -> Guarantee:
    """Make one guarantee of those of all buckets."""
    first = parts[0]
    achieved = [part.achieved for part in parts]
    return Guarantee(
        first.model,
        first.parameters,
        first.required,
        _figure(first.model, achieved),
        all(part.holds for part in parts),
        sum(part.offending_classes for part in parts),
        _note(first.model, [part.note for part in parts]),
    )


def _figure(model: str, achieved: Sequence[Any]) -> Any:
    """Return the worst of some figures; people that are numbered anew in each class are added up."""
    return sum(achieved) if model == "subjects per class" else PROOFS[model].worst(achieved)


def _note(model: str, told: Sequence[str]) -> str:
    said = [note for note in told if note]
    if model == "delta-disclosure" and said:
        counted = sum(int(found.group()) for note in said if (found := re.search(r"\d+", note)))
        return re.sub(r"\d+", str(counted), said[0], count=1)
    return said[0] if said else ""


# -- cells of transformed columns


def look_at_cells(batches: Iterator[Any], layout: Layout, forms: Forms) -> dict[str, Tally]:
    """Look at the cells of some rows; batches have the columns of :func:`to_look_at`, in their order."""
    found: list[dict[str, Tally]] = []
    names = to_look_at(layout, forms)
    for batch in batches:
        if not batch.num_rows:
            continue
        table = pa.Table.from_batches([batch]).rename_columns(names)
        with database(None, None) as connection, no_values_in_errors(layout.where):
            opened = Release(layout.where, tuple(names), tuple(table.schema.types), table=table)
            found.append(forms.look(connection, opened))
    return added_up(found)


def to_look_at(layout: Layout, forms: Forms) -> list[str]:
    """Return the transformed columns whose cells prove something, as written in the release."""
    wanted = forms.looked_at(layout.names)
    return [name for name in layout.names if name in wanted]


def _of_cells(forms: Forms, parts: Sequence[Mapping[str, Tally]], layout: Layout) -> list[Guarantee]:
    """Return what all machines found; columns that none of them looked at are not proven."""
    return forms.guarantees(added_up(parts), layout.names)


# -- values that are hidden in sets


@dataclass
class Hidden:
    """What was found in some rows of a release that hides values in sets: what the sets hold, by column."""

    rows: int = 0
    sets: dict[str, Sets] = field(default_factory=dict)
    sums: Sums = (0, 0, 0)


def look_at_sets(batches: Iterator[Any], layout: Layout, mechanism: Any) -> Hidden:
    """Check the sets of some rows; batches have the needed columns, in their order."""
    found, policy, names = Hidden(), layout.policy, layout.needed
    for batch in batches:
        if not batch.num_rows:
            continue
        table = pa.Table.from_batches([batch]).rename_columns(names)
        found.rows += batch.num_rows
        with database(None, None) as connection, no_values_in_errors(layout.where):
            opened = Release(layout.where, tuple(names), tuple(table.schema.types), table=table)
            for spec in set_requirements(policy, SETS):
                order = order_of(facts_of(mechanism, spec.column))
                _take_in(found, spec.column, read_sets(connection, opened, policy, spec.column, int(spec.l), order))
            counted = table.append_column(MANY, pa.array([1] * batch.num_rows, pa.int64()))
            found.sums = _added([found, Hidden(sums=sums_of_lines(connection, counted))])
    return found


def _take_in(found: Hidden, column: str, more: Sets) -> None:
    mine = found.sets.setdefault(column, Sets())
    least = [each for each in (mine.least, more.least) if each is not None]
    mine.least = min(least) if least else None
    mine.short += more.short
    mine.seen |= more.seen
    mine.shown.add(more.shown)


def merged_sets(
    parts: Sequence[Hidden],
    layout: Layout,
    *,
    told: AuditorInput,
    mechanism: Any,
    unique: Unique,
    cells: Sequence[Mapping[str, Tally]] = (),
    started: float,
) -> AuditReport:
    """Put what was found in all sets together, and in the ``cells`` of transformed columns."""
    whole = Hidden()
    for part in parts:
        whole.rows += part.rows
        for column, found in part.sets.items():
            _take_in(whole, column, found)
    if not whole.rows:
        raise DataError(Problem(layout.where, "has no rows, so there is nothing to prove."))
    asked = set_requirements(layout.policy, SETS)
    guarantees = [judged_sets(whole.sets[spec.column], spec) for spec in asked]
    forms = Forms.of(layout.policy, told)
    guarantees += [*unique.guarantees, *_of_cells(forms, cells, layout)]
    guarantees += columns_kept_back(layout.opened(), layout.policy)
    seen = {spec.column: whole.sets[spec.column].seen for spec in asked}
    digest = digest_of(layout.needed, _added(parts))
    found_all = Found(whole.rows, guarantees, digest, seen=seen, warnings=unique.warnings, transformed=forms.proven)
    problems, people = list[Problem](), bool(layout.policy.subject)
    for spec in asked:
        told_here = facts_of(mechanism, spec.column)
        problems += doubts(whole.sets[spec.column].shown, spec.column, told_here, people=people)
    return conclude(layout.policy, told, found_all, classes=None, problems=problems, started=started)
