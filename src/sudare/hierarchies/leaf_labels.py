"""Labels of leaves: the values of a column as text, to be found in a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

# Offsets of 64 bits: the distinct texts of one large column may pass two gigabytes.
TEXT = pa.large_string()

# Above this a double no longer holds every whole number, and writing it out in full would invent digits.
_WHOLE_LIMIT = 2.0**53


def distinct(values: pa.Array) -> pa.Array:
    """Return each value once, in the order of first appearance, without nulls and without dictionary encoding."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return pc.unique(values.drop_null())


def text(values: pa.Array) -> pa.Array:
    """Return the usual spelling of each value: what a leaf that is made from it is called.

    Whole floats are written as integers, dates and times as in ISO 8601 (a space before the time of day, no
    trailing zeros of a second), decimals with the digits their type has.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        return text(values.dictionary_decode())
    if pa.types.is_null(kind):
        return pa.nulls(len(values), TEXT)
    if pa.types.is_floating(kind):
        return _of_floats(values)
    written = pc.cast(values, TEXT)
    if pa.types.is_timestamp(kind):
        written = pc.replace_substring_regex(written, r"(\.\d*?)0+($|[+Z-])", r"\1\2")
        written = pc.replace_substring_regex(written, r"\.($|[+Z-])", r"\1")
    return written


def spellings(values: pa.Array) -> Iterator[pa.Array]:
    """Yield all spellings by which a leaf may name the values, the usual one first; null where there is none."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.dictionary_decode(), kind.value_type
    usual = text(values)
    yield usual
    if pa.types.is_floating(kind):
        whole = pc.match_substring_regex(usual, r"^-?\d+$")
        yield _where(whole, pc.replace_substring_regex(usual, r"$", ".0"))
    elif pa.types.is_decimal(kind):
        yield _without_zeros(usual)
    elif pa.types.is_timestamp(kind):
        midnight = pc.match_substring_regex(usual, r" 00:00:00(Z|[+-]\d+)?$")
        yield _where(midnight, pc.replace_substring_regex(usual, r" .*$", ""))
        yield pc.replace_substring(usual, " ", "T")


def _of_floats(values: pa.Array) -> pa.Array:
    if pa.types.is_float16(values.type):
        values = pc.cast(values, pa.float32())
    wide = pc.cast(values, pa.float64())
    whole = pc.and_(pc.equal(pc.floor(wide), wide), pc.less(pc.abs(wide), _WHOLE_LIMIT))
    whole = pc.fill_null(whole, False)
    digits = pc.cast(pc.cast(pc.if_else(whole, wide, 0.0), pa.int64()), TEXT)
    # The cast of the original type: a 32-bit 0.1 is "0.1", but not once it has been widened.
    return pc.if_else(whole, digits, pc.cast(values, TEXT))


def _without_zeros(written: pa.Array) -> pa.Array:
    shorter = pc.replace_substring_regex(written, r"(\.\d*?)0+$", r"\1")
    return pc.replace_substring_regex(shorter, r"\.$", "")


def _where(condition: pa.Array, written: pa.Array) -> pa.Array:
    return pc.if_else(condition, written, pa.scalar(None, TEXT))
