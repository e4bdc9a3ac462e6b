"""The verbs of sudare, and the one place that wires the rooms together."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines, hierarchies
from sudare.audit import AuditReport, audit_release
from sudare.errors import (
    AuditFailedError,
    DataError,
    PolicyError,
    Problem,
    SudareError,
    TargetError,
    UnsupportedError,
    did_you_mean,
)
from sudare.methods import METHODS
from sudare.models import MODELS, Requirements, named_codes
from sudare.policy import AlphaKAnonymitySpec, ColumnSpec, Policy, SourceSpec, TClosenessSpec
from sudare.progress import Listener, silent
from sudare.release import (
    certificate_path,
    check_target,
    is_text,
    kind_name,
    place,
    private_folder,
    render,
    write_table,
)
from sudare.release.certificate import make_certificate
from sudare.table import Column, ItemSets, Table, encode_column, encode_items, looks_numeric, plain_numbers

Data = Any
"""A path, a pandas or Polars DataFrame, an Arrow table, or a DuckDB relation."""


@dataclass(frozen=True)
class Release:
    """A finished, audited release: its rows (unless they went to a file) and its certificate."""

    certificate: dict[str, Any]
    data: Any = None
    path: Path | None = None

    @property
    def loss(self) -> dict[str, float]:
        """The loss figures, by metric."""
        return dict(self.certificate["loss"])

    def __repr__(self) -> str:
        facts = self.certificate
        where = f" at {self.path}" if self.path else ""
        return (
            f"<sudare.Release{where}: {facts['rows_out']} of {facts['rows_in']} records in {facts['classes']} classes, "
            f"GCP {facts['loss']['gcp']:.4f}>"
        )


def load_policy(policy: Policy | Mapping[str, Any] | str | Path) -> Policy:
    """Return a checked policy, from a file, a mapping, or a policy itself; everything wrong is said at once."""
    if isinstance(policy, str | Path):
        return Policy.load(policy, methods=METHODS)
    return Policy.parse(policy, methods=METHODS)


def anonymize(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    out: str | Path | None = None,
    method: str | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Release:
    """Make a release of a table that keeps a policy, prove it from the written file, and only then hand it over.

    With ``out`` the release is placed there with its certificate beside it; without, it comes back in the kind of
    table that was given. ``method`` overrides the policy's. ``seed`` fixes the shuffling, for tests. ``progress`` is
    a listener (see :mod:`sudare.progress`). The given data is never changed.
    """
    listener = progress or silent
    checked = load_policy(policy)
    entry, options = _method(checked, method)
    target = Path(out) if out is not None else None
    if target is not None:
        _check_out(target, data, policy, checked)
    seconds: dict[str, float] = {}

    with _timed("read", seconds, listener):
        arrow, give_back = read(data, checked)
        # in a text file an empty field is a missing cell, so empty texts cannot be told from missing ones there
        text_out = target is not None and is_text(target)
        table = encode(arrow, checked, blanks_are_missing=text_out)
        requirements = Requirements(
            tuple(MODELS[spec.model](**spec.parameters()) for spec in checked.require), checked.suppression.limit
        )
    with private_folder(target.parent if target else None) as folder:
        with _timed("method", seconds, listener):
            partition = entry.load()(table, requirements, **options, seed=seed, progress=listener)
        with _timed("render", seconds, listener):
            rows, shown = render(
                table,
                partition,
                checked.released,
                order=checked.release.order,
                subjects=checked.release.subjects if requirements.counts_subjects else None,
                seed=seed,
            )
        with _timed("write", seconds, listener):
            written = folder / f"release{target.suffix if target else '.parquet'}"
            write_table(_typed(rows, checked, table.sensitive) if _is_text(data) and not text_out else rows, written)
        with _timed("audit", seconds, listener):
            report = audit_release(written, checked, scratch=folder)
            report.raise_if_failed()
        certificate = make_certificate(
            shown=shown,
            order=checked.release.order,
            method={"name": entry.name, **options},
            columns={
                role: checked.named(role) for role in ("quasi", "sensitive", "insensitive", "subject", "identifier")
            },
            audit=report.to_dict(),
            seconds=seconds,
            policy_sha256=checked.sha256,
        )
        if target is None:
            import pyarrow.parquet as pq

            return Release(certificate, give_back(pq.read_table(written)))
        place(written, target, certificate)
    return Release(certificate, path=target)


def audit(
    release: Data, policy: Policy | Mapping[str, Any] | str | Path, *, progress: Callable[[str], None] | None = None
) -> AuditReport:
    """Prove a release again, from the file alone (any tool may have made it).

    Where a certificate stands beside the file, the file must also be the one it speaks of.
    """
    checked = load_policy(policy)
    if not isinstance(release, str | Path):
        return audit_release(engines.adopt(release)[0], checked, progress=progress)
    path = Path(release)
    paper = certificate_path(path)
    certificate: Mapping[str, Any] | None = None
    if paper.exists():
        try:
            certificate = json.loads(paper.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise AuditFailedError(Problem(paper.name, "is not a certificate that can be read.")) from None
        if not isinstance(certificate, Mapping):
            raise AuditFailedError(Problem(paper.name, "is not a certificate."))
    return audit_release(path, checked, certificate=certificate, progress=progress)


def draft(data: Data, *, name: str = "", encoding: str = "utf-8", delimiter: str | None = None) -> str:
    """Draft a policy by looking at the columns; read every line of it before use.

    ``encoding`` and ``delimiter`` say how a text file is written; the draft repeats them under ``source``.
    """
    from sudare.draft import draft_policy

    if isinstance(data, str | Path):
        path, source = Path(data), SourceSpec.checked(encoding=encoding, delimiter=delimiter)
        form = engines.TextForm(source.delimiter, source.encoding)
        arrow = engines.read_file(path, engines.file_columns(path, form), form)
        return draft_policy(arrow, name=name or path.name, source=source)
    return draft_policy(engines.adopt(data)[0], name=name)


def hierarchy_gaps(data: Data, policy: Policy | Mapping[str, Any] | str | Path, column: str) -> list[str]:
    """Return the values of a column that its hierarchy lacks (these are data: look at them, do not log them)."""
    checked = load_policy(policy)
    spec = checked.columns.get(column)
    if spec is None:
        raise PolicyError(
            Problem("columns", f"'{column}' is not a column of this policy.", did_you_mean(column, checked.columns))
        )
    where = spec.hierarchy
    if where is None or (where.file is None and where.tree is None) or spec.role == "identifier":
        raise PolicyError(Problem(f"columns.{column}", "has no hierarchy from a file or a tree."))
    arrow, _ = read(data, checked)
    encoded = _encode_cells(
        column, arrow.column(column), spec.model_copy(update={"hierarchy": None}), checked, checked.source.missing
    )
    if not isinstance(encoded, Column):
        raise PolicyError(Problem(f"columns.{column}", "is an item set, which has no hierarchy."))
    tree = (
        hierarchies.load(checked.folder / where.file, where.delimiter) if where.file
        else hierarchies.from_tree(where.tree or {})
    )  # fmt: skip
    return [str(value) for value in hierarchies.missing_values(tree, encoded.values).to_pylist()]


def read(data: Data, policy: Policy) -> tuple[pa.Table, Callable[[pa.Table], Any]]:
    """Return the columns that the policy names as Arrow, and how to give a table back in the kind that came."""
    names = [name for name, spec in policy.columns.items() if spec.role != "identifier"]
    if isinstance(data, str | Path):
        source = policy.source
        form = engines.TextForm(source.delimiter, source.encoding, tuple(source.missing))
        path = Path(data)
        # identifiers are not read, but a policy that names one which is not there is a mistake
        engines.check_columns(path.name, policy.columns, engines.file_columns(path, form))
        return _without_views(engines.read_file(path, names, form)), lambda table: table

    def wanted(there: list[str]) -> list[str]:
        engines.check_columns("the table", policy.columns, there)
        return names

    arrow, give_back = engines.adopt(data, wanted)
    return _without_views(arrow), give_back


def _without_views(arrow: pa.Table) -> pa.Table:
    """Turn Arrow's views and half floats, which many functions do not take, into the plain types."""
    for index, column in enumerate(arrow.schema):
        if pa.types.is_string_view(column.type):
            arrow = arrow.set_column(index, column.name, arrow.column(index).cast(pa.large_string()))
        elif pa.types.is_float16(column.type):
            arrow = arrow.set_column(index, column.name, arrow.column(index).cast(pa.float32()))
        elif pa.types.is_binary_view(column.type):
            arrow = arrow.set_column(index, column.name, arrow.column(index).cast(pa.large_binary()))
        elif pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type):
            # Arrow's own cast of these gives lists with wrong ends
            rows = arrow.column(index).to_pylist()
            arrow = arrow.set_column(index, column.name, pa.array(rows, pa.large_list(column.type.value_type)))
    return arrow


def encode(arrow: pa.Table, policy: Policy, *, blanks_are_missing: bool = False) -> Table:
    """Encode a table as the policy describes it; what is wrong with any of its columns is said at once."""
    tokens = [text for text in policy.source.missing if text] + ([""] if blanks_are_missing else [])
    problems: list[Problem] = []
    quasi: dict[str, Column | ItemSets] = {}
    sensitive: dict[str, Column] = {}
    subject: Column | None = None
    needed = {getattr(spec, "column", None) for spec in policy.require}
    for name, spec in policy.columns.items():
        if spec.role in ("identifier", "insensitive") or (spec.role == "sensitive" and name not in needed):
            continue
        try:
            encoded = _encode_cells(name, arrow.column(name), spec, policy, tokens)
        except SudareError as error:
            problems += error.problems
            continue
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            kind = kind_name(arrow.schema.field(name).type)
            problems.append(Problem(f"column '{name}'", f"holds {kind}, which cannot be {spec.role}."))
            continue
        if spec.role == "quasi":
            quasi[name] = encoded
        elif isinstance(encoded, ItemSets):
            problems.append(Problem(f"columns.{name}", f"an item set cannot be {spec.role}."))
        elif spec.role == "subject":
            subject = encoded
        else:
            sensitive[name] = encoded
    carried = [name for name, spec in policy.columns.items() if spec.role in ("sensitive", "insensitive")]
    problems += [
        Problem(f"column '{name}'", f"holds {kind_name(kind)}, which a release cannot show.", "leave it out.")
        for name, kind in ((name, arrow.schema.field(name).type) for name in carried)
        if not _can_be_carried(kind)
    ]
    problems += _unknown_values(policy, sensitive)
    problems += _unclear_orders(policy, sensitive)
    if problems:
        raise DataError(problems)
    return Table(arrow.num_rows, quasi, sensitive, subject, arrow.select(carried))


def _encode_cells(
    name: str, cells: pa.ChunkedArray, spec: ColumnSpec, policy: Policy, missing: Sequence[str]
) -> Column | ItemSets:
    if spec.kind == "items" or pa.types.is_nested(cells.type):
        return encode_items(name, cells, separator=spec.separator, missing=missing, weight=spec.weight)
    column = encode_column(name, cells, kind=_kind(spec), missing=missing, order=spec.order, weight=spec.weight)
    if spec.hierarchy is None or (spec.role == "sensitive" and not _measured_by_tree(name, policy)):
        return column
    tree = hierarchies.build(spec.hierarchy, column.values, folder=policy.folder, column=name)
    order, taxonomy = tree.taxonomy(column.values, column.missing)
    return column.reordered(order, taxonomy)


def _can_be_carried(kind: pa.DataType) -> bool:
    """Say whether all formats of a release can hold a type, inside others too."""
    if pa.types.is_union(kind) or pa.types.is_run_end_encoded(kind) or pa.types.is_interval(kind):
        return False
    if pa.types.is_decimal(kind):
        return bool(kind.scale >= 0)
    inner = [kind.field(place) for place in range(kind.num_fields)]
    if pa.types.is_struct(kind) and len({field.name for field in inner}) < len(inner):
        return False
    return all(_can_be_carried(field.type) for field in inner)


def _unknown_values(policy: Policy, sensitive: Mapping[str, Column]) -> list[Problem]:
    """Find values that a promise names and the data does not have: misspelled, it would promise nothing."""
    problems = []
    for number, spec in enumerate(policy.require):
        if isinstance(spec, AlphaKAnonymitySpec) and spec.values and spec.column in sensitive:
            absent = named_codes(sensitive[spec.column], spec.values).count(-1)
            if absent:
                what = f"names {absent} values that column '{spec.column}' does not have."
                problems.append(Problem(f"require.{number}.values", what, "write them as they are in the data."))
    return problems


def _unclear_orders(policy: Policy, sensitive: Mapping[str, Column]) -> list[Problem]:
    """Find ordered columns whose order a reader of the release could not tell from the release alone."""
    problems = []
    for number, spec in enumerate(policy.require):
        if not isinstance(spec, TClosenessSpec) or spec.distance != "ordered" or spec.column not in sensitive:
            continue
        column, given = sensitive[spec.column], policy.columns[spec.column]
        if pa.types.is_duration(column.values.type):
            what = f"column '{spec.column}' holds durations, whose text has another order."
            problems.append(Problem(f"require.{number}", what, "give them as numbers."))
        elif (
            column.kind == "categorical"
            and (given.kind, given.order) == (None, None)
            and policy.suppression.limit > 0
            and looks_numeric(column.values)
        ):
            what = f"some values of '{spec.column}' look like numbers or dates, so that its order is unclear."
            problems.append(Problem(f"require.{number}", what, "say kind: categorical, or give its order."))
    return problems


def _measured_by_tree(name: str, policy: Policy) -> bool:
    """Say whether a sensitive column needs its tree; without, its values stay in their own order."""
    return any(
        isinstance(spec, TClosenessSpec) and spec.column == name and spec.distance == "hierarchical"
        for spec in policy.require
    )


def _kind(spec: ColumnSpec) -> Any:
    """Return the kind to encode as: a subject is a name tag whatever it looks like, prefixes are of text."""
    if spec.role == "subject" or (spec.hierarchy is not None and spec.hierarchy.prefix is not None):
        return "categorical"
    return spec.kind


def _method(policy: Policy, override: str | None) -> tuple[Any, dict[str, Any]]:
    if override is None or override == policy.method.name:
        return METHODS[policy.method.name], policy.method.options
    if override not in METHODS:
        raise UnsupportedError(f"'{override}' is not a method.", hint=f"use one of {', '.join(METHODS)}.")
    return METHODS[override], {}


def _check_out(target: Path, data: Data, policy: Any, checked: Policy) -> None:
    check_target(target)
    given_trees = [spec.hierarchy.file for spec in checked.columns.values() if spec.hierarchy is not None]
    trees = [checked.folder / file for file in given_trees if file is not None]
    for path in (target, certificate_path(target)):
        for given in (data, policy, *trees):
            if isinstance(given, str | Path) and path.exists() and Path(given).exists() and path.samefile(given):
                what = "is the source itself." if given is data else "is part of the policy."
                raise TargetError(Problem(str(path), what, "choose another name for the release."))


def _is_text(data: Data) -> bool:
    return isinstance(data, str | Path) and engines.file_kind(Path(data)) == "text"


def _typed(rows: pa.Table, policy: Policy, decided: Collection[str]) -> pa.Table:
    """Give carried columns that came as text the type they look like, for formats that have types.

    Not those that a promise was decided on: they are rendered as the values that were counted.
    """
    for index, name in enumerate(rows.schema.names):
        spec, column = policy.columns[name], rows.column(name)
        carried = spec.role in ("sensitive", "insensitive") and name not in decided
        if carried and spec.kind != "categorical" and pa.types.is_string(column.type):
            rows = rows.set_column(index, name, plain_numbers(name, column.combine_chunks()))
    return rows


@contextmanager
def _timed(stage: str, seconds: dict[str, float], listener: Listener) -> Iterator[None]:
    listener(stage, 0, 0)
    started = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - started
