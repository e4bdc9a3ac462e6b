"""Columns in a text file, in the form that all programs read in the same way.

Programs agree on RFC 4180 and little else, and the audit accepts no other text. So a missing cell and an empty text are
both an empty field, written in the same form throughout the file, and control characters are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import Problem, TargetError
from sudare.policy import TextLayout
from sudare.releases.decimal_commas import LIKE_A_NUMBER
from sudare.releases.spreadsheet_formulas import escape, is_formula, is_text
from sudare.table import kind_name

_UNWRITABLE = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\x{feff}"
_PARQUET = "write the release as Parquet."


def check_names(names: Sequence[str], *, keep_formulas: bool, encoding: str = "utf-8") -> None:
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
    foreign = [name for name in names if not _fits(name, encoding)]
    if foreign:
        what = f"has characters in its name that {encoding} does not have."
        raise TargetError([Problem(f"column '{name}'", what, "rename it, or use encoding: utf-8.") for name in foreign])


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
            column = joined(column.cast(pa.list_(pa.string())))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        what = f"holds {kind_name(kind)}, which text cannot show."
        raise TargetError(Problem(f"column '{name}'", what, _PARQUET)) from None
    if _has_unwritable(column):
        what = "holds control characters or a byte order mark, which programs read differently."
        raise TargetError(Problem(f"column '{name}'", what, _PARQUET))
    return escape(column, keep=keep_formulas)


class TextFaults:
    """Counts the cells of a text file that its layout cannot show, in the whole file, and raises at its end."""

    def __init__(self, layout: TextLayout) -> None:
        self.layout = layout
        self._foreign: dict[str, int] = {}
        self._ambiguous: dict[str, int] = {}

    def look(self, name: str, column: pa.Array) -> None:
        """Count the faults of some cells of a column, as they are to be written."""
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        foreign = self.layout.encoding != "utf-8"
        ambiguous = self.layout.decimal == "," and name not in self.layout.numbers
        if not is_text(kind) or not (foreign or ambiguous):
            return
        counted = pc.value_counts(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column)
        texts, counts = counted.field(0), counted.field(1)
        if foreign:
            fits = [text is None or _fits(text, self.layout.encoding) for text in texts.to_pylist()]
            self._count(self._foreign, name, counts.filter(pc.invert(pa.array(fits, pa.bool_()))))
        if ambiguous:
            like = pc.fill_null(pc.match_substring_regex(texts, LIKE_A_NUMBER), False)
            self._count(self._ambiguous, name, counts.filter(like))

    @staticmethod
    def _count(found: dict[str, int], name: str, counts: pa.Array) -> None:
        number = pc.sum(counts).as_py() or 0
        if number:
            found[name] = found.get(name, 0) + number

    def check(self) -> None:
        """Raise if there were any."""
        of_encoding = f"cells have characters that {self.layout.encoding} does not have"
        of_commas = "cells that are no numbers would be read as numbers with a decimal comma"
        problems = [
            Problem(f"column '{name}'", f"{of_encoding}: {many}.", "use encoding: utf-8, or write Parquet.")
            for name, many in self._foreign.items()
        ] + [
            Problem(f"column '{name}'", f"{of_commas}: {many}.", "use decimal: '.', another separator, or Parquet.")
            for name, many in self._ambiguous.items()
        ]
        if problems:
            raise TargetError(problems)


def _fits(text: str, encoding: str) -> bool:
    """Return whether an encoding has a text, and gives it back."""
    try:
        return text.encode(encoding).decode(encoding) == text
    except UnicodeError:
        return False


def joined(lists: pa.Array) -> pa.Array:
    """Return item lists as text, joined by commas; nulls among the items are left out."""
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
