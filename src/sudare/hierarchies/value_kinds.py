"""What kind of values a column holds, in words for messages: names of types mean nothing to users."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_CODES = "for codes and names use a built-in hierarchy, prefix or a file; for dates use dates."
_WORDS = (
    "if these texts stand for a missing value, list them (in a policy below source: {missing: ...}, for "
    "`sudare hierarchy make` with --missing); otherwise correct them."
)


def kind_in_words(kind: pa.DataType) -> str:
    """Return what values of a type are."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    if is_number(kind):
        return "numbers"
    if pa.types.is_boolean(kind):
        return "truth values"
    if pa.types.is_date(kind):
        return "dates"
    if pa.types.is_timestamp(kind):
        return "dates with a time"
    if pa.types.is_time(kind):
        return "times of day"
    return "durations" if pa.types.is_duration(kind) else "values of another kind"


def is_number(kind: pa.DataType) -> bool:
    """Return whether a type is one of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def not_numbers(values: pa.Array) -> tuple[str, str]:
    """Return what distinct values are that should be numbers, and a hint.

    A few words make a column of numbers one of text. So it is said how many there are, but never which.
    """
    held = kind_in_words(values.type)
    if held != "text":
        return held, _CODES
    words = len(values) - int(pc.sum(pc.match_substring_regex(values, _NUMBER)).as_py() or 0)
    if words in (0, len(values)):
        return held, _CODES
    are = "is no number" if words == 1 else "are no numbers"
    return f"text ({words:,} of its {len(values):,} distinct values {are})", _WORDS
