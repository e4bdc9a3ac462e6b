"""Masks and redaction: texts of which only the first and last characters are shown, and empty cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sudare.policy import MaskSpec
from sudare.transformations.step import Findings, Place, by_value, is_text, text_kind


@dataclass(frozen=True)
class Mask:
    """Replaces all characters of a text but the first and last few; a text without others is masked whole."""

    place: Place
    spec: MaskSpec
    beside: tuple[str, ...] = ()
    whole: bool = False

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return text_kind(given)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the masked cells."""
        if not is_text(cells.type):
            what = "are no texts, so they cannot be masked"
            findings.note(self.place, cells.is_valid(), what, "use top, round or band for numbers, truncate for dates.")
            return pa.nulls(len(cells), pa.string())
        return by_value(cells, self._masked).cast(self.kind(cells.type))

    def _masked(self, values: pa.Array) -> pa.Array:
        values = values.cast(pa.large_string())
        first, last = self.spec.keep_first, self.spec.keep_last
        length = pc.utf8_length(values).cast(pa.int64())
        hidden = pc.subtract(length, first + last)
        short = pc.less_equal(hidden, 0)
        marks = pc.binary_repeat(pa.scalar(self.spec.mark, pa.large_string()), pc.if_else(short, length, hidden))
        begin = pc.utf8_slice_codeunits(values, 0, first) if first else pa.scalar("", pa.large_string())
        end = pc.utf8_slice_codeunits(values, -last) if last else pa.scalar("", pa.large_string())
        shown = pc.binary_join_element_wise(begin, marks, end, pa.scalar("", pa.large_string()))
        return pc.if_else(short, marks, shown)


@dataclass(frozen=True)
class Redaction:
    """Empties all cells."""

    place: Place
    beside: tuple[str, ...] = ()
    whole: bool = False

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return text_kind(given) if not pa.types.is_nested(given) else given

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return empty cells."""
        return pa.nulls(len(cells), self.kind(cells.type))
