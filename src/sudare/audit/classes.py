"""The equivalence classes of a release, and how its sensitive values spread over them, as DuckDB tables.

    record    one row per record: q0, q1, ... (quasi-identifiers), s0, s1, ... (sensitive values), who (the subject)
    class     one row per equivalence class: class_id, its q0, q1, ..., and its size
    member    one row per record: class_id, s0, s1, ...
    whole_j   one row per value of sensitive column j: value_id, label, n, overall (its share of the release)
    spread_j  one row per class and value that occurs in it: class_id, value_id, n, share, overall, size

Two records are in one class if every released quasi-identifier is the same: a missing value equals a missing
value and nothing else, a set equals the same set in any order. Everything after ``record`` works on numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sudare.audit.reading import Release, readable
from sudare.errors import DataError, Problem
from sudare.policy import ColumnSpec, Policy

DEFAULT_SEPARATOR = ","
"""Splits a text cell of ``kind: items`` where the policy names no separator."""

_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


@dataclass
class Classes:
    """The tables above; the ones per sensitive column are made when first asked for."""

    connection: Any
    policy: Policy
    rows: int
    count: int
    quasi: Mapping[str, str]
    sensitive: Mapping[str, str]
    types: Mapping[str, str]
    _spread: set[str] = field(default_factory=set)

    def run(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        rows: list[tuple[Any, ...]] = self.connection.execute(sql, dict(parameters or {})).fetchall()
        return rows

    def judge(self, sql: str, parameters: Mapping[str, Any] | None = None, *, of: int | None = None) -> Judgement:
        """Sum up a query that gives each class one row (class_id, figure, holds).

        A class that the query lost, or whose verdict is neither true nor false, counts as offending: the proof
        has to be about all of them.
        """
        [(lowest, highest, judged, kept)] = self.run(
            f"SELECT min(figure), max(figure), count(*), count(*) FILTER (WHERE holds) FROM ({sql})", parameters
        )
        expected = self.count if of is None else of
        return Judgement(lowest, highest, max(expected, judged) - kept)

    def spread(self, column: str) -> tuple[str, str]:
        """Return the names of ``spread_j`` and ``whole_j`` of a sensitive column."""
        cell = self.sensitive[column]
        spread, whole = f"spread_{cell}", f"whole_{cell}"
        if column not in self._spread:
            self._spread.add(column)
            self.run(
                f"""
                CREATE TEMP TABLE {whole} AS
                SELECT row_number() OVER () AS value_id, {cell} AS label, n, n / $rows AS overall
                FROM (SELECT {cell}, count(*) AS n FROM member GROUP BY {cell})
            """,
                {"rows": self.rows},
            )
            self.run(f"""
                CREATE TEMP TABLE {spread} AS
                SELECT class_id, value_id, part.n, part.n / size AS share, overall, size
                FROM (SELECT class_id, {cell}, count(*) AS n FROM member GROUP BY class_id, {cell}) AS part
                JOIN {whole} AS whole ON part.{cell} IS NOT DISTINCT FROM whole.label
                JOIN class USING (class_id)
            """)
        return spread, whole

    def as_released(self, column: str, labels: Sequence[str]) -> list[str]:
        """Return a policy's words for values of a column as the column's own text: '5' is '5.0' among floats."""
        kind = self.types[column]
        if kind == "VARCHAR" or not labels:
            return list(labels)
        rows = self.run(
            f"""
            SELECT coalesce(CAST(TRY_CAST(label AS {kind}) AS VARCHAR), label)
            FROM (SELECT unnest($labels) AS label, generate_subscripts($labels, 1) AS place) ORDER BY place
            """,
            {"labels": list(labels)},
        )
        return [label for (label,) in rows]


@dataclass(frozen=True)
class Judgement:
    """The smallest and largest figure over all classes, and how many classes do not keep the promise."""

    lowest: Any
    highest: Any
    offending: int

    @property
    def holds(self) -> bool:
        """Whether every class keeps the promise."""
        return self.offending == 0


def build_classes(connection: Any, release: Release, policy: Policy) -> Classes:
    """Read the columns the requirements need, and number the classes."""
    used = {column for spec in policy.require if (column := getattr(spec, "column", None)) is not None}
    quasi = {name: f"q{number}" for number, name in enumerate(policy.quasi)}
    sensitive = {name: f"s{number}" for number, name in enumerate(policy.sensitive) if name in used}
    rows = _load(connection, release, policy, quasi, sensitive, policy.subject if policy.counts_subjects else None)
    keys = ", ".join(quasi.values())
    connection.execute(f"""
        CREATE TEMP TABLE class AS
        SELECT row_number() OVER () AS class_id, {keys}, count(*) AS size FROM record GROUP BY {keys}
    """)
    if sensitive:
        same = " AND ".join(f"record.{cell} IS NOT DISTINCT FROM class.{cell}" for cell in quasi.values())
        values = ", ".join(sensitive.values())
        connection.execute(f"CREATE TEMP TABLE member AS SELECT class_id, {values} FROM record JOIN class ON {same}")
    [(count,)] = connection.execute("SELECT count(*) FROM class").fetchall()
    types = {name: _sql_type(release.types[release.names.index(name)]) for name in sensitive}
    return Classes(connection, policy, rows, count, quasi, sensitive, types)


def _load(
    connection: Any,
    release: Release,
    policy: Policy,
    quasi: Mapping[str, str],
    sensitive: Mapping[str, str],
    subject: str | None,
) -> int:
    """Make the table ``record`` and return the number of its rows."""

    def cell(name: str) -> str:
        position = release.names.index(name)
        return _comparable(f"c{position}", release.types[position], policy.columns[name])

    def value(name: str) -> str:
        """Return a sensitive cell: spellings of one number are no diversity."""
        position = release.names.index(name)
        if not pa.types.is_floating(release.types[position]):
            return cell(name)
        return f"CASE WHEN isnan(c{position}) THEN NULL ELSE c{position} + 0 END"

    cells = [f"{cell(name)} AS {alias}" for name, alias in quasi.items()]
    cells += [f"CAST({value(name)} AS VARCHAR) AS {alias}" for name, alias in sensitive.items()]
    if subject is not None:
        cells.append(f"CAST({cell(subject)} AS VARCHAR) AS who")
    columns = [*quasi, *sensitive, *([] if subject is None else [subject])]
    with readable(release.where):
        source = release.source(connection, columns)
        connection.execute(f"CREATE TEMP TABLE record AS SELECT {', '.join(cells)} FROM {source}")
        connection.unregister("source")
        rows = int(connection.execute("SELECT count(*) FROM record").fetchone()[0])
        if not rows:
            raise DataError(Problem(release.where, "has no rows, so there is nothing to prove anything about."))
        release.check_read(rows)
    return rows


def _comparable(cell: str, kind: Any, spec: ColumnSpec) -> str:
    """Return the SQL of a cell in a form in which equal means: released as the same thing."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if any(is_kind(kind) for is_kind in _LISTS):
        # A tag keeps a missing item apart from all others; list_distinct would drop it.
        return f"list_sort(list_distinct([coalesce('v' || item, 'n') FOR item IN CAST({cell} AS VARCHAR[])]))"
    if spec.kind == "items":
        separator = (spec.separator or DEFAULT_SEPARATOR).replace("'", "''")
        text = f"CAST({cell} AS VARCHAR)"
        items = f"list_sort(list_distinct(string_split({text}, '{separator}')))"
        return f"CASE WHEN {text} = '' THEN CAST([] AS VARCHAR[]) ELSE {items} END"
    if pa.types.is_floating(kind) or pa.types.is_null(kind):
        return f"CAST({cell} AS VARCHAR)"  # as text, because -0.0 equals 0.0 as a number
    return cell


def _sql_type(kind: Any) -> str:
    """Return the SQL type in which a policy's word for a value of this column has to be read."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    readings = (
        (pa.types.is_boolean, "BOOLEAN"),
        (pa.types.is_integer, "HUGEINT"),
        (pa.types.is_float32, "FLOAT"),
        (pa.types.is_floating, "DOUBLE"),
        (pa.types.is_date, "DATE"),
        (pa.types.is_timestamp, "TIMESTAMP"),
    )
    return next((name for is_kind, name in readings if is_kind(kind)), "VARCHAR")
