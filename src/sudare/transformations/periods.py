"""Truncating: dates show their year, quarter, month or week, and texts their first characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sudare.policy import TruncateSpec
from sudare.transformations.date_cells import dates_only
from sudare.transformations.step import Findings, Place, by_value, is_text, plain, text_kind

_LOST = "make it a column of text: numbers have lost the zeros at their beginning."


@dataclass(frozen=True)
class Beginning:
    """Shows the first characters of texts."""

    place: Place
    spec: TruncateSpec
    beside: tuple[str, ...] = ()
    whole: bool = False

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return text_kind(given)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the beginnings of the cells."""
        if not is_text(cells.type):
            findings.note(self.place, cells.is_valid(), "are no texts, so they have no first characters", _LOST)
            return pa.nulls(len(cells), pa.string())
        before = findings.figures.get(self.place, {}).get("lost_zeros", True)
        findings.figures[self.place] = {"lost_zeros": bool(before and _lost_zeros(cells))}
        return pc.utf8_slice_codeunits(plain(cells), 0, self.spec.keep).cast(self.kind(cells.type))


def _lost_zeros(cells: pa.Array) -> bool:
    """Return whether texts look like codes that were numbers: digits of several lengths, none with a zero first."""
    texts = pc.utf8_trim_whitespace(cells.unique().cast(pa.large_string())).drop_null()
    texts = texts.filter(pc.not_equal(texts, ""))
    digits = len(texts) > 1 and pc.all(pc.match_substring_regex(texts, r"^[1-9][0-9]*$")).as_py()
    return bool(digits) and len(pc.unique(pc.utf8_length(texts))) > 1


@dataclass(frozen=True)
class Period:
    """Shows the period that a date is in."""

    place: Place
    spec: TruncateSpec
    beside: tuple[str, ...] = ()
    whole: bool = False

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return pa.int64() if self.spec.to == "year" and not is_text(given) else text_kind(given)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the periods of the cells."""
        dates = dates_only(cells, self.place, findings)
        return by_value(dates, self._labels).cast(self.kind(cells.type))

    def _labels(self, dates: pa.Array) -> pa.Array:
        if self.spec.to == "year":
            return pc.year(dates)
        if self.spec.to == "month":
            return pc.strftime(dates, format="%Y-%m")
        if self.spec.to == "week":
            parts = pc.iso_calendar(dates)
            year, week = _padded(parts.field("iso_year"), 4), _padded(parts.field("iso_week"), 2)
            return pc.binary_join_element_wise(year, week, "-W")
        return pc.binary_join_element_wise(_padded(pc.year(dates), 4), _padded(pc.quarter(dates), 1), "-Q")


def _padded(numbers: pa.Array, digits: int) -> pa.Array:
    return pc.utf8_lpad(numbers.cast(pa.string()), digits, "0")
