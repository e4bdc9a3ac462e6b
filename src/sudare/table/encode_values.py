"""Kinds of the distinct values of a column (text, numbers, dates or times), and their positions on an axis.

Text that is said to be numeric is parsed as integers, decimals, dates or times, whichever all of its values are.
Not-a-number counts as missing, infinity is an error. Messages name columns, counts and record numbers, never cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.core.shown_places import SHOWN, first_places
from sudare.core.sizes import EXACT
from sudare.table.column import kind_name
from sudare.table.raw_codes import Raw
from sudare.table.value_spellings import TWICE, fold

_INTEGER = r"^[+-]?\d{1,18}$"
_LONG_INTEGER = r"^[+-]?\d{1,38}$"  # as fractions, different ones would become the same
_DECIMAL = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_DATE = r"^\d{4}-\d{2}-\d{2}$"
_TIME = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$"
_EXACT_NUMBER = r"^-?(0|[1-9]\d{0,17}|(0|[1-9]\d{0,8})\.\d{1,6})$"
_ANY_NUMBER = r"^-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_NO_CODE = r"\.|[eE][+-]"  # 12e5 may be a code, as 125 may
_LOCAL = r"^-?[\d.]*,\d+$|^\d{1,2}[./]\d{1,2}[./]\d{2,4}$"
_PADDED = r"^[+-]?0\d"
_NAN = r"^[+-]?(?i:nan)$"
_INFINITE = r"^[+-]?(?i:inf(inity)?)$"


def plain_cells(name: str, cells: pa.Array) -> pa.Array:
    """Return cells in a type that can be encoded (also with a dictionary of such a type), or raise."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return cells
    if not (pa.types.is_null(kind) or pa.types.is_string_view(kind) or _on_axis(kind)):
        what = f"holds {kind_name(kind)}, which is neither text, numbers, dates nor a list."
        raise DataError(Problem(f"column '{name}'", what))
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_null(kind) or pa.types.is_string_view(kind):
        return cells.cast(pa.large_string())
    if pa.types.is_float16(kind):
        return cells.cast(pa.float32())
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return cells.cast(pa.decimal128(kind.precision, kind.scale))  # Arrow makes no dictionaries of the short ones
    return cells


def _on_axis(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
    )


def plain_values(name: str, raw: Raw, missing: Sequence[str]) -> pa.Array:
    """Return distinct values with nulls for those that stand for a missing cell; truth values become text."""
    values = raw.values
    if pa.types.is_boolean(values.type):
        return values.cast(pa.large_string())
    if pa.types.is_floating(values.type):
        return _finite(name, values, raw)
    if pa.types.is_large_string(values.type) and missing:
        lost = pc.is_in(values, value_set=pa.array(list(missing), pa.large_string()))
        return pc.if_else(lost, pa.scalar(None, pa.large_string()), values)
    return values


def numbers(name: str, values: pa.Array, raw: Raw | None = None, *, strict: bool) -> pa.Array:
    """Return numbers, dates or times as such; text is parsed. ``raw`` are the cells, if there are more than values.

    Strictly, text that is none of them is an error. Otherwise it is returned unchanged, and so are numbers with leading
    zeros, which are rather codes.
    """
    if pa.types.is_large_string(values.type):
        cells = raw or Raw(values, np.arange(1, len(values) + 1, dtype=np.uint32), False)
        return _parsed(name, values, cells, strict=strict)
    return values


def plain_numbers(name: str, cells: pa.Array) -> pa.Array:
    """Return a column of text as numbers or dates if this loses nothing, otherwise unchanged.

    A plus sign, leading zeros, more digits than a float holds, or words such as nan prevent it.
    """
    encoded = cells.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.large_string())
    if not len(distinct) or not _all(distinct, f"({_EXACT_NUMBER})|({_TIME})"):
        return cells
    places = pc.add(pc.fill_null(encoded.indices, -1), 1).to_numpy().astype(np.uint32)
    found = _parsed(name, distinct, Raw(distinct, places, encoded.null_count > 0), strict=False)
    return cells if pa.types.is_large_string(found.type) or found.null_count else found.take(encoded.indices)


def nearest_numbers(name: str, cells: pa.Array) -> pa.Array:
    """Return a column of text as numbers or dates, also where a float is only the nearest to what the text says.

    These are numbers with many digits or an exponent, such as ``1e-07``. Whole numbers must fit without loss, and what
    may be a code stays text: leading zeros, a plus sign, or nothing but forms such as ``12e5``.
    """
    found = plain_numbers(name, cells)
    if found.type != cells.type:
        return found
    encoded = cells.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.large_string())
    if not len(distinct) or not _all(distinct, _ANY_NUMBER) or not _any(distinct, _NO_CODE):
        return cells
    numbers = distinct.cast(pa.float64())
    return cells if pc.any(pc.is_inf(numbers)).as_py() else numbers.take(encoded.indices)


def looks_numeric(values: pa.Array) -> bool:
    """Return whether some text looks like a number or a date."""
    text = values.cast(pa.large_string())
    return _any(text, _DECIMAL) or _any(text, _TIME)


def positions(values: pa.Array) -> NDArray[np.float64]:
    """Return where ascending numbers, dates (in days) and times (in seconds) stand on their axis.

    Only differences and their ratios count: whole numbers that a float does not hold start from their smallest, and
    fractions whose range it does not hold are scaled down.
    """
    kind = values.type
    if pa.types.is_date32(kind):
        return np.asarray(values.cast(pa.int32()).to_numpy(), dtype=np.float64)
    if pa.types.is_date64(kind):
        return np.asarray(values.cast(pa.int64()).to_numpy() / 86_400_000, dtype=np.float64)
    if pa.types.is_temporal(kind):
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[getattr(kind, "unit", "ms")]
        whole = values.cast(pa.int32()).cast(pa.int64()) if pa.types.is_time32(kind) else values.cast(pa.int64())
        return np.asarray(whole.to_numpy() / per_second, dtype=np.float64)
    if pa.types.is_integer(kind) and len(values) and max(abs(values[0].as_py()), abs(values[-1].as_py())) > EXACT:
        whole = values.to_numpy()
        return np.asarray((whole.astype(np.uint64) - whole[:1].astype(np.uint64)), dtype=np.float64)
    places = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    with np.errstate(over="ignore"):
        too_wide = len(places) > 0 and np.isinf(places[-1] - places[0])
    return places / 4 if too_wide else places


def without_blanks(values: pa.Array) -> pa.Array:
    """Return distinct values with nulls for texts that hold nothing but blanks."""
    if not pa.types.is_large_string(values.type):
        return values
    blank = pc.equal(pc.utf8_trim_whitespace(values), "")
    if not pc.any(blank).as_py():
        return values
    return pc.if_else(blank, pa.scalar(None, values.type), values)


def ranked(
    name: str, values: pa.Array, order: Sequence[str], keys: pa.Array | None = None, *, by_worth: bool = True
) -> NDArray[np.int64]:
    """Return the codes in the order that the policy gives for an ordered column.

    ``keys`` are what the values are compared by, where spellings are merged.
    """
    if keys is not None:
        values, order = keys, [fold(word, numbers=by_worth) for word in order]
        again = len(order) - len(set(order))
        if again:
            what = f"names {again} values twice, in two spellings."
            raise DataError(Problem(f"columns.{name}.order", what, TWICE))
    place = {text: index for index, text in enumerate(order)}
    ranks = [place.get(text, -1) for text in values.to_pylist()]
    absent = ranks.count(-1)
    if absent:
        raise DataError(
            Problem(f"column '{name}'", f"{absent} of its {len(ranks)} values are not in the policy's order.")
        )
    return np.argsort(np.array(ranks, dtype=np.int64), kind="stable")


def _finite(name: str, values: pa.Array, raw: Raw) -> pa.Array:
    """Return fractions without not-a-number, which is missing, and without minus zero, which is zero."""
    infinite = pc.is_inf(values)
    if pc.any(infinite).as_py():
        raise DataError(_infinite(name, raw.count(infinite)))
    values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    return pc.add(values, pa.scalar(0.0, values.type))


def _parsed(name: str, values: pa.Array, raw: Raw, *, strict: bool) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(values)
    distinct = trimmed.drop_null()
    if not strict and (not len(distinct) or _any(distinct, _PADDED)):
        return values
    if not len(distinct):
        return trimmed.cast(pa.float64())
    infinite = pc.match_substring_regex(trimmed, _INFINITE)
    if strict and pc.any(infinite).as_py():
        raise DataError(_infinite(name, raw.count(infinite)))
    if _any(distinct, _NAN):
        trimmed = pc.if_else(pc.match_substring_regex(trimmed, _NAN), pa.scalar(None, trimmed.type), trimmed)
        distinct = trimmed.drop_null()
    for pattern, kind in (
        (_INTEGER, pa.int64()),
        (_LONG_INTEGER, pa.decimal128(38, 0)),
        (_DECIMAL, pa.float64()),
        (_DATE, pa.date32()),
        (_TIME, pa.timestamp("us")),
        (_TIME, pa.timestamp("ns")),
    ):
        if len(distinct) and _all(distinct, pattern):
            try:
                plain = pc.replace_substring_regex(trimmed, r"^\+", "")
                parsed = plain.cast(kind)
                return _finite(name, parsed, raw) if pa.types.is_floating(kind) else parsed
            except pa.ArrowInvalid:
                continue  # such as the thirtieth of February
    if not strict:
        return values
    raise DataError(_not_numbers(name, trimmed, raw))


def _not_numbers(name: str, trimmed: pa.Array, raw: Raw) -> Problem:
    """Return what is wrong with text that was said to be numeric."""
    bad = pc.fill_null(pc.invert(pc.match_substring_regex(trimmed, f"({_DECIMAL})|({_TIME})")), False)
    hint = (
        f"correct them, or list their texts as missing: source: {{missing: {{{name!r}: [...]}}}}; with "
        "kind: categorical all cells are words."
    )
    if not pc.any(bad).as_py():
        return Problem(f"column '{name}'", "mixes numbers and dates, or holds dates that do not exist.", hint)
    where = first_places([place + 1 for place in raw.first(bad, SHOWN + 1)], "record")
    what = f"{raw.count(bad)} of {len(raw.codes)} cells are not numbers or dates ({where})."
    if _all(trimmed.filter(bad), _LOCAL):
        hint = 'set source: {decimal: ","} or source: {dates: dd.mm.yyyy}, or write 1.5 and 2024-03-05.'
    return Problem(f"column '{name}'", what, hint)


def _infinite(name: str, count: int) -> Problem:
    return Problem(
        f"column '{name}'",
        f"{count} cell{'s are' if count != 1 else ' is'} infinite.",
        "correct them, or mark them as missing.",
    )


def _any(values: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())


def _all(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())
