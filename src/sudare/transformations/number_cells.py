"""Cells as numbers: of columns of numbers, and of texts that are numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.transformations.step import Findings, Place, inner, is_text, plain, text_kind

_WHOLE = r"^[+-]?\d{1,18}$"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_HINT = (
    "transform numbers only; list texts for missing cells in source.missing, and set source.decimal if it is a comma."
)
_LONG = r"^[+-]?0*[1-9]\d{15}"
"""Numbers before whose point there are so many digits that floating-point numbers may not hold all of them."""
_DIGITS = "have more digits than transformations of numbers keep"
_FEWER = "round them before, or make them texts that are no numbers."
_END = 2.0**63
_MOST_DIGITS = 38
"""The digits of a decimal that all formats can hold."""
Work = Callable[[NDArray[Any], NDArray[np.bool_]], NDArray[Any]]
"""Takes numbers and which of them are there, and returns what becomes of them; integers may become floats."""


@dataclass(frozen=True)
class Numbers:
    """Cells as numbers: int64 if all are whole, otherwise float64; ``there`` is false for missing ones."""

    values: NDArray[Any]
    there: NDArray[np.bool_]

    @property
    def whole(self) -> bool:
        """Whether all are integers by their type."""
        return bool(np.issubdtype(self.values.dtype, np.integer))


def read_numbers(cells: pa.Array, place: Place, findings: Findings, *, ranked: bool = False) -> Numbers:
    """Return cells as numbers; those that are none, or are not finite, are noted and count as missing.

    So are those that would lose digits, unless they are only ``ranked``.
    """
    if is_text(cells.type):
        coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        texts = pc.utf8_trim_whitespace(coded.dictionary.cast(pa.large_string()))
        good = pc.match_substring_regex(texts, _NUMBER)
        blank = pc.equal(texts, "")
        bad = pc.invert(pc.or_(good, blank)).take(coded.indices)
        findings.note(place, bad, "are no numbers", _HINT)
        texts = pc.if_else(good, texts, pa.scalar(None, pa.large_string()))
        whole = pc.all(pc.match_substring_regex(texts.drop_null(), _WHOLE)).as_py()
        texts = pc.replace_substring_regex(texts, r"^\+", "")
        if not (whole or ranked):
            findings.note(place, _lossy(texts).take(coded.indices), _DIGITS, _FEWER)
        values = (texts.cast(pa.int64()) if whole else texts.cast(pa.float64())).take(coded.indices)
    else:
        given = plain(cells)
        kind = given.type
        if pa.types.is_integer(kind):
            values = given.cast(pa.int64(), safe=False)
            if kind == pa.uint64():
                findings.note(place, pc.less(values, 0), "are numbers beyond 64 bits", "use smaller numbers.")
        elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            values = given.cast(pa.float64(), safe=False)
            if pa.types.is_decimal(kind) and not ranked:
                findings.note(place, pc.not_equal(values.cast(kind, safe=False), given), _DIGITS, _FEWER)
        else:
            findings.note(place, given.is_valid(), "are no numbers", _HINT)
            values = pa.nulls(len(given), pa.int64())
    there = np.array(values.is_valid().to_numpy(zero_copy_only=False))
    numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
    if np.issubdtype(numbers.dtype, np.floating):
        endless = there & ~np.isfinite(numbers)
        # not-a-number is missing everywhere else, too
        findings.note(place, pa.array(endless & ~np.isnan(numbers)), "are not finite", "correct them.")
        there &= ~endless
        numbers = np.where(there, numbers, 0.0)
    return Numbers(numbers, there)


def _lossy(texts: pa.Array) -> pa.Array:
    """Return which texts are numbers with more digits before the point than floating-point numbers hold."""
    long = pc.fill_null(pc.match_substring_regex(texts, _LONG), False)
    if not pc.any(long).as_py():
        return long
    some = texts.filter(long).to_pylist()
    lost = pa.array([Decimal(text) != Decimal(float(text)) for text in some], pa.bool_())
    return pc.replace_with_mask(long, long, lost)


def number_kind(given: pa.DataType, *, whole: bool, numbers: Sequence[float] = ()) -> pa.DataType:
    """Return the type that cells have after work on numbers; ``whole`` says that integers stay integers.

    Decimals get room for other values, and for the digits of some ``numbers``.
    """
    given = inner(given)
    if is_text(given):
        return text_kind(given)
    if pa.types.is_integer(given):
        return pa.int64() if whole else pa.float64()
    if pa.types.is_decimal(given):
        digits = [-int(Decimal(str(each)).normalize().as_tuple().exponent) for each in numbers]
        return pa.decimal128(_MOST_DIGITS, min(max([given.scale, *digits]), _MOST_DIGITS))
    # cells that are no numbers are noted, and nothing is left of them
    return given if pa.types.is_floating(given) else pa.float64()


def beyond_whole(values: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Return which numbers are beyond whole numbers of 64 bits, or so near to the last ones that they may be."""
    return np.asarray(np.abs(values) >= _END)


def is_small(number: float) -> bool:
    """Return whether a number is within whole numbers of 64 bits."""
    return abs(number) < _END


def written(values: NDArray[Any], there: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """Return numbers as cells of a type; of texts, whole numbers are written without a point."""
    if is_text(kind):
        return _texts(values, there).cast(kind)
    found = pa.array(values, mask=~there)
    return found.cast(kind, safe=False) if found.type != kind else found


def _texts(values: NDArray[Any], there: NDArray[np.bool_]) -> pa.Array:
    if np.issubdtype(values.dtype, np.integer):
        return pa.array(values, mask=~there).cast(pa.large_string())
    whole = (values == np.floor(values)) & (np.abs(values) < 1e15)
    if whole.all():
        return pa.array(values.astype(np.int64), mask=~there).cast(pa.large_string())
    different, place = np.unique(values, return_inverse=True)
    shown = [
        str(int(each)) if each == int(each) and abs(each) < 1e15 else plain_text(each) for each in different.tolist()
    ]
    return pa.array(shown, pa.large_string()).take(pa.array(np.asarray(place).reshape(-1), mask=~there))


def plain_text(number: float) -> str:
    """Return the shortest decimal text of a number, without an exponent."""
    text = repr(float(number) + 0.0)  # minus zero is zero
    if "e" not in text:
        return text.removesuffix(".0")
    return np.format_float_positional(number, trim="-")


def as_whole(number: float) -> int | float:
    """Return a number that is whole as an integer."""
    return int(number) if float(number).is_integer() else number
