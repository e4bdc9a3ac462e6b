"""Where released cells of numbers, dates and times begin and end, many at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.releases.cell_values import day_span, seconds_in

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Axis = Literal["number", "day", "second"]
"""What numbers stand for: themselves, days from 1970-01-01, or seconds of a time of day or a duration."""

_INTERVAL = r"^\[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)(?P<close>[\])])$"
_BAND = r"^\[?(?P<low>-?\d[\d.]*)-(?P<high>\d[\d.]*)(?P<close>[\])]?)$"
"""Bands as hierarchies and sources name them: ``20-39``, ``[60-70)``."""
_NUMBER = r"^-?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?$"
_DIGIT = r"\d"


@dataclass(frozen=True, eq=False)
class Spans:
    """The ends of some cells on one axis, NaN for those that are not on it; ``whole``: there are only whole numbers."""

    axis: Axis
    low: Floats
    high: Floats
    whole: bool

    @property
    def known(self) -> Mask:
        """Which cells are on the axis."""
        return ~np.isnan(self.low)


def spans_on(axis: Axis, texts: pa.Array) -> Spans:
    """Return where cells begin and end on an axis."""
    texts = texts.cast(pa.large_string())
    low_texts, high_texts, half = _ends(texts, _INTERVAL)
    low, high = _PLACES[axis](low_texts)[0], _PLACES[axis](high_texts)[1]
    if axis == "number":
        first, last, open_ = _ends(texts, _BAND)
        begin, end = _numbers(first)[0], _numbers(last)[1]
        bands = np.isnan(low) & (begin < end)
        low, high, half = np.where(bands, begin, low), np.where(bands, end, high), half | (open_ & bands)
    wrong = ~(low <= high)
    low[wrong] = high[wrong] = np.nan
    known = ~wrong
    whole = axis != "second" and bool(np.all(_is_whole(low[known]) & _is_whole(high[known]) & ~half[known]))
    return Spans(axis, low, high, whole)


def read_spans(texts: pa.Array) -> Spans | None:
    """Return where cells begin and end on the axis that has all of them; None if there is none.

    Nulls are on every axis. Years alone are numbers; beside months, quarters or days they are dates.
    """
    there = texts.is_valid().to_numpy(zero_copy_only=False)
    if not there.any():
        return None
    for axis in _PLACES:
        found = spans_on(axis, texts)
        if found.known[there].all():
            return found
    return None


def _ends(texts: pa.Array, pattern: str) -> tuple[pa.Array, pa.Array, Mask]:
    """Return the texts of both ends, and whether the upper one is excluded; what does not match is both its ends."""
    found = pc.extract_regex(texts, pattern)
    low, high = (pc.coalesce(pc.struct_field(found, end), texts) for end in ("low", "high"))
    half = pc.fill_null(pc.equal(pc.struct_field(found, "close"), ")"), False)
    return low, high, np.asarray(half.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _is_whole(places: Floats) -> Mask:
    return np.asarray(places == np.floor(places))


def _numbers(texts: pa.Array) -> tuple[Floats, Floats]:
    written = pc.and_(pc.match_substring_regex(texts, _NUMBER), pc.match_substring_regex(texts, _DIGIT))
    wide = pc.if_else(written, texts, pa.scalar(None, texts.type)).cast(pa.float64())
    places = np.array(wide.to_numpy(zero_copy_only=False), dtype=np.float64)
    places[~np.isfinite(places)] = np.nan
    return places, places.copy()


def _one_by_one(span: Callable[[str], tuple[float, float] | None]) -> Callable[[pa.Array], tuple[Floats, Floats]]:
    """Return a reader of many texts, each different one of which is read once."""

    def read(texts: pa.Array) -> tuple[Floats, Floats]:
        coded = texts.dictionary_encode()
        none = (np.nan, np.nan)
        spans = np.array([*(span(text) or none for text in coded.dictionary.to_pylist()), none], dtype=np.float64)
        at = pc.fill_null(coded.indices, len(spans) - 1).to_numpy(zero_copy_only=False)
        return spans[at, 0], spans[at, 1]

    return read


def _seconds(text: str) -> tuple[float, float] | None:
    found = seconds_in(text)
    return None if found is None else (found, found)


_PLACES: dict[Axis, Callable[[pa.Array], tuple[Floats, Floats]]] = {
    "number": _numbers,
    "day": _one_by_one(day_span),
    "second": _one_by_one(_seconds),
}
"""How the texts of each axis are read, in the order in which they are tried."""
