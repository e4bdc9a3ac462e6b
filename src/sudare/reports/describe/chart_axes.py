"""Numbers, dates and times on one axis each, and the round bins that an axis is cut into.

Dates and times on dates stand in days from 1970, times of the day in hours, durations in seconds, numbers as they are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.releases import Interval
from sudare.releases.cell_reader import HalfOpen
from sudare.releases.cell_values import day_span, number_in
from sudare.releases.value_texts import value_texts
from sudare.reports.describe.disclosure_control import Crowd, merged
from sudare.table import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_BINS = 30
UNITS = (("D", 1, 10), ("M", 1, 7), ("M", 3, 7), ("Y", 1, 4), ("Y", 2, 4), ("Y", 5, 4), ("Y", 10, 4), ("Y", 50, 4))
"""What days are put together to: a unit of numpy, how many of them, and the letters that name one."""
_CLOCK = re.compile(r"^(?:(\d+) days?,? )?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?$")


def kind_of(column: Column) -> str:
    """Return what a column's values are, in a word: category, number, date, time or duration."""
    kind = column.values.type
    if column.positions is None:
        return "category"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    return "time" if pa.types.is_time(kind) else "duration" if pa.types.is_duration(kind) else "number"


def places_of(column: Column) -> Floats:
    """Return where each value of a column stands on its axis."""
    assert column.positions is not None
    kind = column.values.type
    if pa.types.is_timestamp(kind):
        return column.positions / 86_400
    if pa.types.is_time(kind):
        return column.positions / 3_600
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        # positions of very large numbers count from the smallest one
        wide = column.values.cast(pa.float64(), safe=False)
        return np.asarray(wide.to_numpy(zero_copy_only=False), dtype=np.float64)
    return column.positions


@dataclass
class Axis:
    """The axis of a column: what its values are, where they stand, and whether these places are whole."""

    column: Column
    kind: str
    places: Floats
    whole: bool
    _known: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, column: Column) -> Axis:
        """Return the axis of a column of numbers, dates or times."""
        places = places_of(column)
        kind = kind_of(column)
        whole = kind in ("number", "date") and bool(np.all(places == np.floor(places)))
        return cls(column, kind, places, whole)

    def span(self, text: str) -> tuple[float, float] | None:
        """Return where the value that a text says begins and ends; None if it says none."""
        if self.kind == "number":
            number = number_in(text)
            return None if number is None else (number, number)
        if self.kind == "date":
            found = day_span(text)
            if found is not None:
                return found
        clock = _CLOCK.match(text) if self.kind in ("time", "duration") else None
        if clock is not None:
            days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
            place = 24 * days + hours + minutes / 60 + seconds / 3600
            return (place, place) if self.kind == "time" else (3600 * place, 3600 * place)
        if not self._known:  # Arrow reads no times from text, so that they are looked up
            texts = value_texts(self.column).to_pylist()
            self._known = dict(zip(texts, self.places.tolist(), strict=True))
        known = self._known.get(text)
        return None if known is None else (known, known)

    def interval(self, cell: Any) -> tuple[float, float] | None:
        """Return what a released cell covers, if it is an interval or a value."""
        if not isinstance(cell, Interval | HalfOpen):
            return self.span(cell) if isinstance(cell, str) else None
        low, high = self.span(cell.low), self.span(cell.high)
        return None if low is None or high is None else (low[0], high[1])


@dataclass(frozen=True, eq=False)
class Bins:
    """What an axis is cut into: the inner edges, and what each bin is called. The outer bins have no end.

    ``reach`` is what all but the outermost people lie between.
    """

    edges: Floats
    labels: list[str]
    whole: bool
    reach: tuple[float, float] = (-math.inf, math.inf)

    def __len__(self) -> int:
        return len(self.labels)

    def of(self, places: Floats) -> Ints:
        """Return the bin of each place."""
        return np.searchsorted(self.edges, places, side="right").astype(np.int64)

    def spread(self, low: Floats, high: Floats) -> Floats:
        """Return how intervals spread evenly over the bins: a line for each."""
        extra = 1.0 if self.whole else 0.0
        length = np.maximum(high - low + extra, 1e-300)
        edges = np.concatenate(([-np.inf], self.edges, [np.inf]))
        below = np.clip(edges[None, :] - low[:, None], 0.0, length[:, None]) / length[:, None]
        shares: Floats = np.diff(below, axis=1)
        point = high + extra <= low
        if np.any(point):
            shares[point] = 0.0
            shares[np.flatnonzero(point), self.of(low[point])] = 1.0
        return shares


def cut(axis: Axis, counts: Ints, codes: NDArray[Any], crowd: Crowd) -> Bins | None:
    """Cut an axis into round bins of a crowd each; None if there are too few records, or no more than one bin.

    The range is that of all but the outermost people, so that the smallest and the largest number show in no edge.
    """
    places = axis.places
    reach = _reach(counts, codes, crowd)
    if reach is None:
        return None
    low, high = float(places[reach[0]]), float(places[reach[1]])
    if not math.isfinite(high - low) or high <= low:
        return None
    cuts = _by_day(low, high) if axis.kind == "date" else _round(low, high, axis)
    edges, begins, ends = cuts
    bins = np.searchsorted(edges, places, side="right").astype(np.int64)
    part = np.append(bins, 0)[codes]  # missing ones are dropped below
    there = codes < len(places)
    kept = Crowd(crowd.rows, crowd.least, None if crowd.people is None else crowd.people[there])
    own = merged(kept.heads(part[there], len(begins)), crowd)
    first = np.flatnonzero(np.append(True, np.diff(own) > 0))
    last = np.append(first[1:] - 1, len(begins) - 1)
    if len(first) < 2:
        return None
    names = [_label(begins[a], ends[b], a == 0, b == len(begins) - 1, axis) for a, b in zip(first, last, strict=True)]
    return Bins(edges[first[1:] - 1], names, axis.whole, (low, high))


def _reach(counts: Ints, codes: NDArray[Any], crowd: Crowd) -> tuple[int, int] | None:
    """Return the codes that a crowd of people is not above, and not below; None if there are too few of them.

    A person counts once on either side: who has many records far outside is no crowd.
    """
    if len(counts) < 2:
        return None
    if crowd.people is None:
        first = last = np.cumsum(counts)
    else:
        there = codes < len(counts)
        own, who = codes[there].astype(np.int64), crowd.people[there].astype(np.int64)
        lowest, highest = np.full((2, int(who.max(initial=-1)) + 1), -1)
        order = np.argsort(own, kind="stable")
        highest[who[order]] = own[order]  # of several, the last one stays
        lowest[who[order[::-1]]] = own[order[::-1]]
        first = np.cumsum(np.bincount(lowest[lowest >= 0], minlength=len(counts)))
        last = np.cumsum(np.bincount(highest[highest >= 0], minlength=len(counts)))
    total = int(first[-1])
    if total < 2 * crowd.least:
        return None
    return int(np.searchsorted(first, crowd.least)), int(np.searchsorted(last, total - crowd.least + 1))


def _round(low: float, high: float, axis: Axis) -> tuple[Floats, list[str], list[str]]:
    """Return inner edges that are round numbers, and the text of where each bin begins and ends."""
    wanted = (high - low) / (MOST_BINS - 2)
    power = 10.0 ** math.floor(math.log10(wanted)) if wanted > 0 else 1.0
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= wanted * (1 - 1e-9))
    step = max(step, 1.0) if axis.whole else step
    first, last = math.floor(low / step), math.ceil(high / step)
    last += int(last * step == high)  # the largest has a bin of its own, which begins with it
    grid = np.arange(first, last + 1)
    edges = grid[1:-1] * step
    begins = [_number(place * step, step) for place in grid[:-1].tolist()]
    after = 1.0 if axis.whole and step < 1e6 else 0.0
    ends = [_number(place * step - after, step) for place in grid[1:].tolist()]
    return np.asarray(edges, dtype=np.float64), begins, ends


def _by_day(low: float, high: float) -> tuple[Floats, list[str], list[str]]:
    """Return inner edges between days, months or years, and what the first and the last of each bin is called."""
    days = np.floor([low, high]).astype(np.int64).astype("datetime64[D]")
    for unit, many, letters in UNITS:  # noqa: B007 - the last one is for whatever is longer
        at = days.astype(f"datetime64[{unit}]").astype(np.int64)
        first, last = int(at[0] // many), int(at[1] // many)
        if last - first + 1 <= MOST_BINS:
            break
    grid = np.arange(first, last + 2) * many
    begin = grid[:-1].astype(f"datetime64[{unit}]")
    end = (grid[1:].astype(f"datetime64[{unit}]").astype("datetime64[D]") - 1).astype(f"datetime64[{unit}]")
    edges = begin[1:].astype("datetime64[D]").astype(np.float64)
    names = [[str(each)[:letters] for each in side.astype("datetime64[D]")] for side in (begin, end)]
    return np.asarray(edges, dtype=np.float64), names[0], names[1]


def _label(begin: str, end: str, first: bool, last: bool, axis: Axis) -> str:
    """Return what a bin is called; the outer ones do not say where they end."""
    closed = axis.whole or axis.kind == "date"
    unit = {"time": " h", "duration": " s"}.get(axis.kind, "")
    if last:
        return f"{begin}{unit} and more" if axis.kind != "date" else f"{begin} and later"
    if first:
        return f"up to {end}{unit}" if closed else f"below {end}{unit}"
    if begin == end:
        return begin
    return f"{begin} to {end}{unit}" if closed else f"{begin} to below {end}{unit}"


def _number(value: float, step: float) -> str:
    """Return a number with as many digits as its neighbours need."""
    if step >= 1e9 or abs(value) < 1 or value != math.floor(value):
        return f"{value:.6g}"
    if step >= 1e5 and abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{int(value):,}" if abs(value) >= 10_000 else f"{int(value)}"
