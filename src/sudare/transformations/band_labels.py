"""Bands: a number shows the band that it is in, of one width or between given edges.

Where all numbers and ends are whole, a band names its first and last number, ``[20, 24]``; otherwise it is half-open,
``[20, 25)``. Below the first edge stands ``< 18``, and from the last one on ``>= 65``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.sizes import EXACT
from sudare.policy import BandSpec
from sudare.transformations.number_cells import is_small, plain_text, read_numbers
from sudare.transformations.step import Findings, Place, is_text, text_kind

_CONTEXT = Context(prec=400)
"""Enough digits for the end of any band."""
_UNITS = 8.0
"""A quotient so few units of rounding below a whole number is that number: 0.3 opens the band [0.3, 0.4)."""


@dataclass(frozen=True)
class Bands:
    """Shows numbers as bands. Of texts all are looked at before, to know whether the numbers are whole."""

    place: Place
    spec: BandSpec
    of_text: bool
    beside: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether all cells are needed at once."""
        return self.of_text

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return text_kind(given)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the bands of the cells."""
        numbers = read_numbers(cells, self.place, findings)
        values: NDArray[Any] = numbers.values
        closed = numbers.whole
        if is_text(cells.type) and not closed:
            closed = bool((values == np.floor(values)).all())
        if self.spec.edges is not None:
            index = np.searchsorted(np.asarray(self.spec.edges), values, side="right")
            return self._shown(index, numbers.there, _between(self.spec.edges, closed=closed), cells.type)
        width = self.spec.width or 1.0
        if numbers.whole and width.is_integer() and is_small(width):
            different, index = np.unique(values // int(width), return_inverse=True)
            return self._shown(index.reshape(-1), numbers.there, _of_width(different, width, closed=True), cells.type)
        quotient = values / width
        nearest = np.round(quotient)
        close = np.abs(quotient - nearest) <= _UNITS * np.finfo(np.float64).eps * np.maximum(np.abs(quotient), 1.0)
        far = numbers.there & ~(np.abs(quotient) < EXACT)
        findings.note(self.place, pa.array(far), "are too large for bands of this width", "use a larger width.")
        band = np.where(far, 0.0, np.where(close, nearest, np.floor(quotient)))
        different, index = np.unique(band.astype(np.int64), return_inverse=True)
        return self._shown(index.reshape(-1), numbers.there, _of_width(different, width, closed=closed), cells.type)

    def _shown(self, index: NDArray[Any], there: NDArray[np.bool_], labels: list[str], given: pa.DataType) -> pa.Array:
        return pa.array(labels, self.kind(given)).take(pa.array(index, mask=~there))


def _of_width(bands: NDArray[np.int64], width: float, *, closed: bool) -> list[str]:
    """Return the labels of bands by their numbers, with exact ends."""
    unit = Decimal(str(width))
    if not (closed and width.is_integer()):
        ends = [(_CONTEXT.multiply(each, unit), _CONTEXT.multiply(each + 1, unit)) for each in map(int, bands)]
        return [f"[{_plain(low)}, {_plain(high)})" for low, high in ends]
    if width == 1:
        return [str(each) for each in bands.tolist()]
    return [f"[{each * int(width)}, {(each + 1) * int(width) - 1}]" for each in bands.tolist()]


def _plain(number: Decimal) -> str:
    """Return a number without an exponent and without zeros at the end of its fraction."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _between(edges: list[float], *, closed: bool) -> list[str]:
    whole = closed and all(edge.is_integer() for edge in edges)
    inner = []
    for low, high in pairwise(edges):
        if whole:
            alone = high - low == 1
            inner.append(plain_text(low) if alone else f"[{plain_text(low)}, {plain_text(high - 1)}]")
        else:
            inner.append(f"[{plain_text(low)}, {plain_text(high)})")
    return [f"< {plain_text(edges[0])}", *inner, f">= {plain_text(edges[-1])}"]
