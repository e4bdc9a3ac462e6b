"""Encoding: an Arrow column becomes codes and a dictionary, once.

Missing cells become a value of their own (the last code). Text that is said to be numeric is parsed as
integers, decimals, dates or times, whichever all of its cells are. Not-a-number counts as missing, infinity is an
error. Messages name columns, counts and record numbers, never cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.errors import DataError, Problem
from sudare.table.column import Column, ItemSets, smallest

_INTEGER = r"^[+-]?\d{1,18}$"
_LONG_INTEGER = r"^[+-]?\d{1,38}$"  # as fractions, different ones would become the same
_DECIMAL = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_DATE = r"^\d{4}-\d{2}-\d{2}$"
_TIME = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$"
_EXACT_NUMBER = r"^-?(0|[1-9]\d{0,17}|(0|[1-9]\d{0,8})\.\d{1,6})$"
_LOCAL = r"^-?[\d.]*,\d+$|^\d{1,2}[./]\d{1,2}[./]\d{2,4}$"
_PADDED = r"^[+-]?0\d"
_NAN = r"^[+-]?(?i:nan)$"
_INFINITE = r"^[+-]?(?i:inf(inity)?)$"


def encode_column(
    name: str,
    cells: pa.ChunkedArray | pa.Array,
    *,
    kind: Literal["numeric", "categorical"] | None = None,
    missing: Sequence[str] = (),
    order: Sequence[str] | None = None,
    weight: float = 1.0,
) -> Column:
    """Encode a single-valued column. Without a kind, what looks like numbers or dates is numeric.

    ``missing`` lists texts that stand for a missing cell; ``order`` ranks the categories of an ordered column.
    """
    cells = _plain(name, cells, missing)
    if kind == "numeric" or (kind is None and order is None):
        cells = numbers(name, cells, strict=kind == "numeric")
    text = pa.types.is_large_string(cells.type)
    if not text and (kind == "categorical" or order is not None):
        cells, text = cells.cast(pa.large_string()), True
    encoded = cells.dictionary_encode()
    values, indices = encoded.dictionary, encoded.indices
    ranked = _ranked(name, values, order) if order is not None else pc.array_sort_indices(values).to_numpy()
    rank = np.empty(len(values) + 1, dtype=np.int64)
    rank[ranked] = np.arange(len(values))
    rank[-1] = len(values)  # the code of missing cells
    codes = rank[pc.fill_null(indices, len(values)).to_numpy()]
    has_missing = indices.null_count > 0
    values = values.take(pa.array(ranked))
    return Column(
        name=name,
        kind="categorical" if text else "numeric",
        codes=smallest(codes, len(values) + int(has_missing)),
        values=values,
        missing=has_missing,
        positions=None if text else positions(values),
        weight=weight,
    )


def encode_items(
    name: str,
    cells: pa.ChunkedArray | pa.Array,
    *,
    separator: str | None = None,
    missing: Sequence[str] = (),
    weight: float = 1.0,
) -> ItemSets:
    """Encode an item-set column: lists, or text with a separator. Repeated, empty and null items count once or not."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if not pa.types.is_nested(cells.type):
        cells = pc.split_pattern(_plain(name, cells, missing).cast(pa.large_string()), pattern=separator or ",")
    kind = cells.type
    try:
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
            raise pa.ArrowTypeError(kind)  # Arrow's own cast of list views gives lists with wrong ends
        cells = cells.cast(pa.large_list(pa.large_string()))
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        raise DataError(Problem(f"column '{name}'", f"holds {kind}, which is not a list of items.")) from None
    null = cells.is_null().to_numpy(zero_copy_only=False)
    items = pc.utf8_trim_whitespace(pc.list_flatten(cells))
    owner = np.repeat(np.arange(len(cells)), pc.fill_null(pc.list_value_length(cells), 0).to_numpy())
    kept = pc.fill_null(pc.not_equal(items, ""), False).to_numpy(zero_copy_only=False)
    encoded = items.filter(pa.array(kept)).dictionary_encode()
    ranked = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(ranked), dtype=np.int64)
    rank[ranked] = np.arange(len(ranked))
    size = max(len(ranked), 1)
    pairs = np.unique(owner[kept] * size + rank[encoded.indices.to_numpy()])
    holder, codes = np.divmod(pairs, size)
    return ItemSets(
        name=name,
        offsets=np.searchsorted(holder, np.arange(len(cells) + 1)).astype(np.int64),
        items=smallest(codes, len(ranked)),
        values=encoded.dictionary.take(pa.array(ranked)),
        missing=bool(null.any()),
        weight=weight,
    )


def numbers(name: str, cells: pa.Array, *, strict: bool) -> pa.Array:
    """Return numbers, dates or times as such; text is parsed.

    Strictly, text that is none of them is an error. Otherwise it is returned as it is, and so are numbers with
    leading zeros, which are rather codes.
    """
    if pa.types.is_large_string(cells.type):
        return _parsed(name, cells, strict=strict)
    return cells


def plain_numbers(name: str, cells: pa.Array) -> pa.Array:
    """Return a column of text as numbers or dates if they say exactly the same, else as it is.

    A plus sign, leading zeros, more digits than a fraction holds, or words such as nan speak against it.
    """
    distinct = cells.unique().drop_null()
    if not len(distinct) or not _all(distinct, f"({_EXACT_NUMBER})|({_TIME})"):
        return cells
    found = _parsed(name, cells.cast(pa.large_string()), strict=False)
    return cells if pa.types.is_large_string(found.type) or found.null_count != cells.null_count else found


def looks_numeric(values: pa.Array) -> bool:
    """Say whether some text looks like a number or a date."""
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
    if pa.types.is_integer(kind) and len(values) and max(abs(values[0].as_py()), abs(values[-1].as_py())) > 2**53:
        whole = values.to_numpy()
        return np.asarray((whole.astype(np.uint64) - whole[:1].astype(np.uint64)), dtype=np.float64)
    places = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    with np.errstate(over="ignore"):
        too_wide = len(places) > 0 and np.isinf(places[-1] - places[0])
    return places / 4 if too_wide else places


def _plain(name: str, cells: pa.ChunkedArray | pa.Array, missing: Sequence[str]) -> pa.Array:
    """Return one plain array: text as large_string without the texts for missing, else a number or date type."""
    if isinstance(cells, pa.ChunkedArray):
        if pa.types.is_string(cells.type):
            cells = cells.cast(pa.large_string())  # all chunks together may be too long for 32-bit offsets
        cells = cells.combine_chunks()
    kind = cells.type
    if pa.types.is_dictionary(kind):
        cells = cells.dictionary_decode()
        kind = cells.type
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        cells = cells.cast(pa.large_string())
    elif pa.types.is_string(kind) or pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        cells = cells.cast(pa.large_string())
        if missing:
            lost = pc.is_in(cells, value_set=pa.array(list(missing), pa.large_string()))
            cells = pc.if_else(lost, pa.scalar(None, pa.large_string()), cells)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
              or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))):  # fmt: skip
        raise DataError(Problem(f"column '{name}'", f"holds {kind}, which is neither text, numbers, dates nor a list."))
    if pa.types.is_floating(kind):
        return _finite(name, cells.cast(pa.float32()) if pa.types.is_float16(kind) else cells)
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return cells.cast(pa.decimal128(kind.precision, kind.scale))  # Arrow makes no dictionaries of the short ones
    return cells


def _finite(name: str, cells: pa.Array) -> pa.Array:
    """Return fractions without not-a-number, which is missing, and without minus zero, which is zero."""
    infinite = pc.sum(pc.is_inf(cells)).as_py() or 0
    if infinite:
        raise DataError(_infinite(name, infinite))
    cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, cells.type), cells)
    return pc.add(cells, pa.scalar(0.0, cells.type))


def _parsed(name: str, cells: pa.Array, *, strict: bool) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(cells)
    distinct = trimmed.unique().drop_null()
    if not strict and (not len(distinct) or _any(distinct, _PADDED)):
        return cells
    if not len(distinct):
        return trimmed.cast(pa.float64())
    infinite = pc.match_substring_regex(trimmed, _INFINITE)
    if strict and pc.any(infinite).as_py():
        raise DataError(_infinite(name, pc.sum(infinite).as_py()))
    if _any(distinct, _NAN):
        trimmed = pc.if_else(pc.match_substring_regex(trimmed, _NAN), pa.scalar(None, trimmed.type), trimmed)
        distinct = trimmed.unique().drop_null()
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
                return _finite(name, parsed) if pa.types.is_floating(kind) else parsed
            except pa.ArrowInvalid:
                continue  # such as the thirtieth of February
    if not strict:
        return cells
    good = pc.match_substring_regex(trimmed, f"({_DECIMAL})|({_TIME})")
    bad = np.flatnonzero(pc.fill_null(pc.invert(good), False).to_numpy(zero_copy_only=False))
    if len(bad):
        what = f"{len(bad)} of {len(cells)} cells are not numbers or dates (the first in record {bad[0] + 1})."
    else:
        what = "mixes numbers and dates, or holds dates that do not exist."
    hint = "make it kind: categorical, or name the texts for missing in source.missing."
    if len(bad) and _all(trimmed.take(pa.array(bad)), _LOCAL):
        hint = "write numbers with a point, as 1.5, and dates as 2024-03-05."
    raise DataError(Problem(f"column '{name}'", what, hint))


def _ranked(name: str, values: pa.Array, order: Sequence[str]) -> NDArray[np.int64]:
    """Return the codes in the order that the policy gives for an ordered column."""
    place = {text: index for index, text in enumerate(order)}
    ranks = [place.get(text, -1) for text in values.to_pylist()]
    absent = ranks.count(-1)
    if absent:
        raise DataError(
            Problem(f"column '{name}'", f"{absent} of its {len(ranks)} values are not in the policy's order.")
        )
    return np.argsort(np.array(ranks, dtype=np.int64), kind="stable")


def _infinite(name: str, count: int) -> Problem:
    return Problem(f"column '{name}'", f"{count} cells are infinite.", "correct them, or mark them as missing.")


def _any(values: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())


def _all(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())
