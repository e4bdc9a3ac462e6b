"""Columns in a text file, in the form that all programs read in the same way.

Programs agree on RFC 4180 and little else, and the audit accepts no other text. So a missing cell and an empty text are
both an empty field, written in the same form throughout the file, and control characters are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import Problem, TargetError
from sudare.releases.spreadsheet_formulas import escape, is_formula, is_text
from sudare.table import kind_name

_UNWRITABLE = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\x{feff}"
_PARQUET = "write the release as Parquet."


def check_names(names: Sequence[str], *, keep_formulas: bool) -> None:
    """Raise if the names of columns cannot stand in the header of a text file."""
    formulas = [] if keep_formulas else [name for name in names if is_formula(name)]
    if formulas:
        what = "is a name that a spreadsheet would run as a formula."
        hint = "rename it, write the release as Parquet, or set release: {formulas: keep}."
        raise TargetError([Problem(f"column '{name}'", what, hint) for name in formulas])
    unwritable = [name for name in names if _any_match(pa.array([name], pa.string()))]
    if unwritable:
        what = "has control characters or a byte order mark in its name, which programs read differently."
        hint = "rename it, or write the release as Parquet."
        raise TargetError([Problem(f"column '{name}'", what, hint) for name in unwritable])


def as_text(name: str, column: pa.Array, *, keep_formulas: bool) -> pa.Array:
    """Return what the database can write of a column, or raise; item lists are joined by commas.

    Texts that spreadsheets would run as formulas are escaped, unless they are to be kept.
    """
    kind = column.type
    try:
        if pa.types.is_float16(kind) or pa.types.is_decimal256(kind) or getattr(kind, "tz", None):
            return column.cast(pa.string())  # the database would show a time in the zone of this machine
        if pa.types.is_string_view(kind):
            column = column.cast(pa.large_string())
        if pa.types.is_nested(kind):
            column = _joined(column.cast(pa.list_(pa.string())))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        what = f"holds {kind_name(kind)}, which text cannot show."
        raise TargetError(Problem(f"column '{name}'", what, _PARQUET)) from None
    if _has_unwritable(column):
        what = "holds control characters or a byte order mark, which programs read differently."
        raise TargetError(Problem(f"column '{name}'", what, _PARQUET))
    return escape(column, keep=keep_formulas)


def _joined(lists: pa.Array) -> pa.Array:
    if pc.list_flatten(lists).null_count:  # joined, a list with a null would be null as a whole
        rows = ([item for item in row if item is not None] if row is not None else None for row in lists.to_pylist())
        lists = pa.array(rows, lists.type)
    return pc.binary_join(lists, ",")


def _has_unwritable(column: pa.Array) -> bool:
    if pa.types.is_dictionary(column.type):
        # it may hold what no row shows
        return _has_unwritable(column.dictionary) and _has_unwritable(pc.unique(column).dictionary_decode())
    return is_text(column.type) and _any_match(column)


def _any_match(texts: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, _UNWRITABLE)).as_py())
