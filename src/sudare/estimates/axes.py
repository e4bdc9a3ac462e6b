"""Axes of numbers and of days, for generalized cells and the bands of a question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.sizes import EXACT
from sudare.estimates.partition import NEAR, band_label, band_of, days_between, ends_of, too_narrow
from sudare.estimates.question import By, Range
from sudare.releases import Choice, Interval
from sudare.releases.cell_reader import HalfOpen
from sudare.releases.cell_values import EPOCH, days_in, is_written_number, number_in

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Wanted = Range | tuple[str | None, ...] | None


@dataclass(frozen=True)
class Axis:
    """What numbers or days lie on: whether they are whole, or days, and where the first and the last cell are."""

    low: float
    high: float
    whole: bool
    days: bool

    def span(self, text: str) -> tuple[float, float]:
        """Return where a value begins and ends."""
        found = days_in(text) if self.days else (float(text), float(text))
        assert found is not None
        return found


def axis_of(told: Sequence[Any], by: By | None, wanted: Wanted) -> Axis | None:
    """Return the axis that all cells lie on; None if they are no numbers and no days."""
    ends: list[str] = []
    halves = False
    for cell in told:
        if isinstance(cell, Choice):
            ends += [each for each in cell.members if each is not None]
        elif isinstance(cell, Interval | HalfOpen):
            ends += [cell.low, cell.high]
            halves |= isinstance(cell, HalfOpen)
        elif isinstance(cell, str):
            ends.append(cell)
    unit = by is not None and by.unit is not None
    dated = isinstance(wanted, Range) and any(end is not None and number_in(str(end)) is None for end in _both(wanted))
    # a year by itself is a number, too
    if ends and not unit and not dated and all(map(is_written_number, ends)):
        places = [float(end) for end in ends]
        return Axis(min(places), max(places), not halves and all(each == math.floor(each) for each in places), False)
    if not ends or (by is not None and by.width is not None):
        return None
    spans = [days_in(end) for end in ends]
    if any(span is None for span in spans):
        return None
    return Axis(min(span[0] for span in spans if span), max(span[1] for span in spans if span), True, True)


def _both(wanted: Range) -> tuple[Any, Any]:
    return wanted.low, wanted.high


def ranges(name: str, axis: Axis, wanted: Wanted) -> Iterable[tuple[float, float]]:
    """Return the stretches of an axis that a condition allows."""
    if wanted is None:
        return [(-math.inf, math.inf)]
    if isinstance(wanted, Range):
        return [days_between(name, wanted) if axis.days else ends_of(name, wanted)]
    if axis.days:
        found = [span for each in wanted if each is not None and (span := days_in(each)) is not None]
        return sorted(set(found))
    numbers = {number for each in wanted if each is not None and (number := number_in(each)) is not None}
    return [(number, number) for number in sorted(numbers)]


class Bins:
    """What an axis is cut into: bands, whole numbers, or units of days. All are numbered in the order of the axis."""

    def __init__(self, name: str, axis: Axis, by: By | None) -> None:
        self.name, self.whole, self.days = name, axis.whole, axis.days
        self.one = by is None
        self.unit = None if by is None or by.unit == "day" else by.unit
        self.width = 1.0 if by is None or by.width is None else float(by.width)
        self.coarse = {"year": "Y", "month": "M"}.get(str(self.unit), "D")

    def of(self, places: Floats) -> Ints:
        """Return the part that each place is in."""
        if self.one:
            return np.zeros(len(places), dtype=np.int64)
        if self.days:
            return self._from_days(places).astype(f"datetime64[{self.coarse}]").astype(np.int64)
        bands = band_of(places, self.width)
        if np.abs(bands).max(initial=0.0) > EXACT:
            raise too_narrow(self.name, self.width)
        return bands.astype(np.int64)

    def begin(self, bins: Ints) -> Floats:
        """Return the first place of each part."""
        if self.one:
            return np.full(len(bins), -math.inf)
        if self.days:
            return bins.astype(f"datetime64[{self.coarse}]").astype("datetime64[D]").astype(np.float64) + EPOCH
        edges: Floats = bins.astype(np.float64) * self.width
        # an edge that is a whole number but for rounding belongs to the part that begins there
        return np.asarray(np.ceil(edges - NEAR * self.width), dtype=np.float64) if self.whole else edges

    def end(self, bins: Ints) -> Floats:
        """Return the last place of each part, or where it ends if places are not whole."""
        if self.one:
            return np.full(len(bins), math.inf)
        return np.asarray(self.begin(bins + 1) - (1 if self.whole else 0), dtype=np.float64)

    def labels(self, bins: Ints) -> list[Any]:
        """Return what parts are called."""
        if self.one:
            return [""] * len(bins)
        if self.days:
            return [str(text) for text in np.datetime_as_string(bins.astype(f"datetime64[{self.coarse}]"))]
        return [band_label(each, self.width, self.whole) for each in bins.tolist()]

    @staticmethod
    def _from_days(places: Floats) -> NDArray[np.datetime64]:
        return (places - EPOCH).astype(np.int64).astype("datetime64[D]")
