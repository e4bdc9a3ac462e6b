"""The equality of cells, as SQL: as written in the file, and as values.

Many cells of a release are written in the same way. So records are first grouped by their cells as written, and only
the distinct cells are converted to the form that compares values. The first grouping must never join cells that differ
in this form. Where DuckDB's equality would do so (``-0.0`` equals ``0.0``), the cell is compared as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from sudare.policy import ColumnSpec

DEFAULT_SEPARATOR = ","
"""Splits a text cell of ``kind: items`` where the policy names no separator."""

USUAL_SEPARATORS = {"|": "'|'", ";": "';'", ",": "','", "/": "'/'", "\t": "a tab"}
"""What people use to separate the items of a text, and how messages name it."""

_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_SQL_TYPES = (
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_integer, "HUGEINT"),
    (pa.types.is_float32, "FLOAT"),
    (pa.types.is_floating, "DOUBLE"),
    (pa.types.is_date, "DATE"),
    (pa.types.is_timestamp, "TIMESTAMP"),
)


@dataclass(frozen=True)
class Cell:
    """A column's cells as SQL: ``raw`` is the cell as written, ``shown`` converts it to its value.

    ``shown`` is None if cells that are written differently always have different values.
    """

    raw: str
    shown: Callable[[str], str] | None = None

    def of(self, alias: str) -> str:
        """Return the SQL of what a raw cell of this name shows."""
        return alias if self.shown is None else self.shown(alias)


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is one of lists."""
    return any(is_kind(kind) for is_kind in _LISTS)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    return any(is_kind(kind) for is_kind in _TEXTS)


def comparable(column: str, kind: Any, spec: ColumnSpec) -> Cell:
    """Return the cells of a quasi-identifier."""
    kind = _without_dictionary(kind)
    if is_list(kind):
        inner = _without_dictionary(kind.value_type)
        exact = pa.types.is_list(kind) and (is_text(inner) or pa.types.is_integer(inner))
        return Cell(column if exact else f"CAST({column} AS VARCHAR[])", _set_of_list)
    if spec.kind == "items":
        return Cell(f"CAST({column} AS VARCHAR)", partial(_set_of_text, spec.separator or DEFAULT_SEPARATOR))
    if pa.types.is_floating(kind) or pa.types.is_null(kind):
        return Cell(f"CAST({column} AS VARCHAR)")
    return Cell(column)


def value(column: str, kind: Any, spec: ColumnSpec) -> Cell:
    """Return the cells of a sensitive column, shown as text: spellings of one number are no diversity."""
    if pa.types.is_floating(kind):
        return Cell(column, lambda raw: f"CAST(CASE WHEN isnan({raw}) THEN NULL ELSE {raw} + 0 END AS VARCHAR)")
    cell = comparable(column, kind, spec)
    return Cell(cell.raw, lambda raw: f"CAST({cell.of(raw)} AS VARCHAR)")


def person(column: str, kind: Any, spec: ColumnSpec) -> Cell:
    """Return the cells of the subject: whole numbers unchanged, everything else as text."""
    if pa.types.is_integer(kind):
        return Cell(column)
    cell = comparable(column, kind, spec)
    return Cell(f"CAST({cell.of(cell.raw)} AS VARCHAR)")


def listed_items(raw: str, kind: Any, spec: ColumnSpec) -> str:
    """Return the SQL of the items of a raw cell as a list of texts, as they are written; null for a missing set."""
    if is_list(_without_dictionary(kind)):
        return f"CAST({raw} AS VARCHAR[])"
    mark = (spec.separator or DEFAULT_SEPARATOR).replace("'", "''")
    return f"string_split(CAST({raw} AS VARCHAR), '{mark}')"


def sql_type(kind: Any) -> str:
    """Return the SQL type in which a policy's word for a value of this column has to be read."""
    kind = _without_dictionary(kind)
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return next((name for is_kind, name in _SQL_TYPES if is_kind(kind)), "VARCHAR")


def _set_of_list(raw: str) -> str:
    # A tag keeps a missing item apart from all others; list_distinct would drop it.
    return f"list_sort(list_distinct([coalesce('v' || item, 'n') FOR item IN CAST({raw} AS VARCHAR[])]))"


def _set_of_text(separator: str, raw: str) -> str:
    mark = separator.replace("'", "''")
    items = f"list_sort(list_distinct(string_split({raw}, '{mark}')))"
    return f"CASE WHEN {raw} = '' THEN CAST([] AS VARCHAR[]) ELSE {items} END"


def _without_dictionary(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
