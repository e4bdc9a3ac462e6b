"""Normal texts: equal values are the same text, whatever column type or spelling a source gives them.

- Texts are trimmed and in NFC. One that is empty then is missing.
- Plain numbers are written in the shortest way: ``1``, ``1.0``, ``1.00`` and the number 1 are ``1``; ``.5`` is ``0.5``;
  ``-0`` is ``0``. Whole numbers are exact, however large. Fractions of floating-point numbers are the shortest ones
  that are read as the same number. Texts with leading zeros (``007``) and with exponents (``1e5``) are codes, and stay.
- Truth values are ``true`` and ``false``.
- Dates are ``2024-01-05``; dates with times are ``2024-01-05T10:00:00``, with as many digits of the fraction as it
  needs. Midnight is the date alone. A time with a zone or an offset is in UTC, and ends with ``Z``.

``NaN`` is missing. A value with a dictionary counts as the value.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.transformations.text_buffers import text_buffers

_TEXT = pa.large_string()
_BLANKS = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
                            0x202F, 0x205F, 0x3000)))  # fmt: skip
"""What Python strips off a text."""
_SHAPE = b"0000-00-00T00:00:00"
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d{1,9}))? ?(?:(Z)|([+-])(\d\d):?(\d\d)?)?", re.ASCII
)
_EXACT = float(1 << 63)


def normal_texts(cells: pa.Array) -> pa.Array:
    """Return cells as normal texts, of type ``large_string``; missing cells are null."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return normal_texts(cells.dictionary).take(cells.indices)
    if pa.types.is_null(kind):
        return cells.cast(_TEXT)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind):
        return cells.cast(_TEXT)
    if pa.types.is_floating(kind):
        return _floats(cells)
    if pa.types.is_decimal(kind):
        return _spelled(_without_exponents(cells.cast(_TEXT)))
    if pa.types.is_timestamp(kind):
        return _moments(cells)
    if pa.types.is_time(kind):
        texts = cells.cast(_TEXT)
        return texts if kind.unit == "s" else pc.replace_substring_regex(texts, r"\.?0*$", "")
    texts = cells.cast(_TEXT)
    return _spelled(_composed(texts))


def _floats(cells: pa.Array) -> pa.Array:
    cells = cells.cast(pa.float32()) if pa.types.is_float16(cells.type) else cells
    cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, cells.type), cells)
    numbers = cells.cast(pa.float64())
    whole = pc.and_(pc.equal(pc.trunc(numbers), numbers), pc.less(pc.abs(numbers), _EXACT))
    as_whole = pc.if_else(whole, numbers, pa.scalar(None, pa.float64())).cast(pa.int64()).cast(_TEXT)
    if as_whole.null_count == cells.null_count:
        return as_whole
    return pc.if_else(pc.fill_null(whole, True), as_whole, _without_exponents(cells.cast(_TEXT), numbers))


def _without_exponents(texts: pa.Array, numbers: pa.Array | None = None) -> pa.Array:
    """Return numbers that Arrow writes with an exponent in full; whole floating-point numbers are exact."""
    large = pc.fill_null(pc.match_substring_regex(texts, "[eE]"), False)
    if not pc.any(large).as_py():
        return texts
    full = [format(Decimal(text), "f") for text in texts.filter(large).to_pylist()]
    if numbers is not None:
        given = numbers.filter(large).to_pylist()
        full = [str(int(number)) if number.is_integer() else text for number, text in zip(given, full, strict=True)]
    return pc.replace_with_mask(texts, large, pa.array(full, _TEXT))


def _moments(cells: pa.Array) -> pa.Array:
    """Return dates with times; those with a zone are in UTC."""
    plain = cells.cast(pa.int64()).cast(pa.timestamp(cells.type.unit)).cast(_TEXT)
    if cells.type.tz is None:
        return _spelled(plain)
    return _spelled(pc.binary_join_element_wise(plain, pa.scalar("Z", _TEXT), pa.scalar("", _TEXT)))


def _composed(texts: pa.Array) -> pa.Array:
    """Return texts, of which those with other letters than ASCII are in NFC and trimmed."""
    other = pc.fill_null(pc.invert(pc.string_is_ascii(texts)), False)
    if not pc.any(other).as_py():
        return texts
    composed = pc.utf8_trim(pc.utf8_normalize(texts.filter(other), form="NFC"), characters=_BLANKS)
    return pc.replace_with_mask(texts, other, composed)


def _spelled(texts: pa.Array) -> pa.Array:
    """Return texts trimmed, with numbers and times in their one spelling."""
    from sudare.kernels.transformations.text_outlines import BY_HAND, copy_outlines, outline

    buffers = text_buffers(texts)
    count = len(texts)
    starts, stops, work = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.uint8)
    marks = np.frombuffer(_SHAPE, np.uint8)
    if outline(*buffers, marks, starts, stops, work):
        ends = np.zeros(count + 1, np.int64)
        content = np.empty(int((stops - starts).sum()), np.uint8)
        copy_outlines(buffers.data, starts, stops, work, ends, content)
        valid = pa.array(~buffers.nulls).buffers()[1] if buffers.nulls.any() else None
        made = pa.Array.from_buffers(_TEXT, count, [valid, pa.py_buffer(ends), pa.py_buffer(content)])
        by_hand = work == BY_HAND
        if by_hand.any():
            mask = pa.array(by_hand)
            some = made.filter(mask).dictionary_encode()
            spelled = pa.array([_by_hand(text) for text in some.dictionary.to_pylist()], _TEXT)
            made = pc.replace_with_mask(made, mask, spelled.take(some.indices))
        texts = made
    empty = pc.fill_null(pc.equal(pc.binary_length(texts), 0), False)
    return pc.if_else(empty, pa.scalar(None, _TEXT), texts) if pc.any(empty).as_py() else texts


def _by_hand(text: str) -> str:
    """Return a number, or a date with a time, whose one spelling is not a part of it."""
    found = _MOMENT.fullmatch(text)
    if found is not None:
        return _moment(text, found)
    if not re.fullmatch(r"-?\d*\.?\d*", text, re.ASCII):
        return text  # begins like a date with a time, and goes on in another way
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text)
    whole, _, fraction = digits.partition(".")
    fraction = fraction.rstrip("0")
    whole = whole or "0"
    if not fraction:
        return whole if whole == "0" else sign + whole
    return f"{sign}{whole}.{fraction}"


def _moment(text: str, found: re.Match[str]) -> str:
    """Return a date with a time, in UTC if its text has an offset."""
    day, minute, second, fraction, utc, sign, hours, minutes = found.groups()
    clock = minute + (second or ":00")
    rest = (fraction or "").rstrip("0")
    if utc or sign:
        shift = f"{sign}{hours}:{minutes or '00'}" if sign else "+00:00"
        try:
            moment = datetime.fromisoformat(f"{day}T{clock}{shift}").astimezone(UTC)
        except (ValueError, OverflowError):
            return text  # no such day or time, so only a text
        return f"{moment.replace(tzinfo=None).isoformat()}{'.' + rest if rest else ''}Z"
    if clock == "00:00:00" and not rest:
        return day
    return f"{day}T{clock}{'.' + rest if rest else ''}"
