"""A column of numbers, dates or times: each cell becomes its middle, its ends, or a number drawn within it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import EXACT
from sudare.releases.cell_reader import Choice, Interval, label_of
from sudare.releases.numeric.numeric_options import NumericOptions
from sudare.releases.numeric.shown_column import FIRST_YEAR, LAST_YEAR, Leaves, ShownColumn
from sudare.releases.numeric.spans import Axis, Floats, Spans, read_spans, spans_on


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """How a column becomes numbers. What shows nothing is anywhere from ``low`` to ``high``, which the column shows.

    ``ranged`` says that its cells may be ranges. Otherwise they are values, and stay one column. In a column of dates
    that shows ``years``, a number of four digits is a year.
    """

    name: str
    axis: Axis
    whole: bool
    low: float
    high: float
    leaves: Leaves = field(default_factory=dict)
    ranged: bool = True
    years: bool = False

    @classmethod
    def of(cls, shown: ShownColumn, leaves: Leaves, kind: str | None, *, dates: bool = False) -> NumberColumn | None:
        """Return how a column becomes numbers; None if it does not.

        Without a kind, a column of text is one of numbers if each of its cells is. Sets of numbers are categories.
        With ``dates`` it is known to be one of dates, so that its years are ranges of days, and no numbers.
        """
        dates = (dates or kind == "dates") and kind not in ("categorical", "items")
        if dates:
            shown = shown.with_years()
            if kind == "dates" and shown.axis not in (None, "day"):
                raise _unread(shown.name, "cells that are no dates")
        if shown.axis is not None and not (kind == "categorical" and shown.axis == "number"):
            places = shown.places[np.isfinite(shown.places)]
            whole = _are_whole(places) and shown.axis != "second"
            return cls(shown.name, shown.axis, whole, *_reach(places, places), leaves, ranged=False)
        if not shown.is_text or kind in ("categorical", "items"):
            return None
        found = _with_labels(shown, leaves, ("day",)) if dates else None
        if found is None and kind != "dates":
            numbers = kind == "numeric" or dates or not _are_categories(shown)
            found = read_spans(shown.values()) or (_with_labels(shown, leaves, tuple(_NAMES)) if numbers else None)
        if found is None and (dates or kind == "numeric"):
            if shown.values().null_count == len(shown.read):
                found = spans_on("day" if dates else "number", shown.values())
            elif kind in ("dates", "numeric"):
                raise _unread(shown.name, "cells that are no dates" if kind == "dates" else _NO_NUMBERS)
        if found is None:
            return None
        reach = _reach(found.low[found.known], found.high[found.known])
        if np.isnan(reach[0]) and leaves:  # the column shows nothing, but its hierarchy has the values
            reach = _hull(found.axis, [leaf for below in leaves.values() for leaf in below])
        years = dates and found.axis == "day" and _shows_years(shown)
        return cls(shown.name, found.axis, found.whole, *reach, leaves, ranged=not shown.literal, years=years)

    @property
    def empty(self) -> bool:
        """Whether the column shows no number at all."""
        return bool(np.isnan(self.low))

    def names(self, options: NumericOptions) -> list[str]:
        """Return the names of the new columns."""
        both = self.ranged and options.ranges == "ends"
        return [f"{self.name}_low", f"{self.name}_high"] if both else [self.name]

    def encode(
        self, shown: ShownColumn, options: NumericOptions, generator: np.random.Generator | None = None
    ) -> dict[str, pa.Array]:
        """Return the cells as numbers: the new columns by name, their missing cells as nulls."""
        shown = shown.with_years() if self.years else shown
        low, high = self.ends(shown, options)
        names = self.names(options)
        if len(names) == 2:
            made = [number_array(low, self.whole), number_array(high, self.whole)]
        elif self.ranged and options.ranges == "draw":
            assert generator is not None
            made = [number_array(self._drawn(low, high, generator), self.whole)]
        elif not self.ranged and shown.is_number:
            made = [shown.plain()]
        else:
            made = [number_array(low + (high - low) / 2, self.whole and not self.ranged)]
        return dict(zip(names, made, strict=True))

    def ends(self, shown: ShownColumn, options: NumericOptions) -> tuple[Floats, Floats]:
        """Return where the cell of each row begins and ends, NaN if it is missing."""
        if shown.axis is not None:
            if shown.axis != self.axis:
                raise self._strange(shown.axis)
            low = np.where(np.isfinite(shown.places), shown.places, np.nan)
            return low, low
        spans = spans_on(self.axis, shown.values())
        low, high = spans.low, spans.high
        unread = np.flatnonzero(~spans.known & ~shown.missing & ~shown.hidden)
        hidden = shown.hidden.copy()
        for place in unread.tolist():
            low[place], high[place] = self._labelled(shown, place)
        unknown = unread[np.isnan(low[unread])]
        if len(unknown):
            if len(unknown) == np.count_nonzero(~shown.missing & ~shown.hidden):  # not one cell is of this kind
                strange = shown.values().take(pa.array(unknown))
                for axis in _NAMES:
                    if spans_on(axis, strange).known.any():
                        raise self._strange(axis)
            if options.unknown == "error":
                raise _unread(self.name, f"cells that are no {_NAMES[self.axis]}")
            hidden[unknown] = options.unknown == "share"
        if options.everything == "share":
            low[hidden], high[hidden] = self.low, self.high
        row = shown.read.of_row
        return low[row], high[row]

    def _strange(self, axis: Axis) -> DataError:
        """Return what to raise about cells on another axis, which nothing was learnt about."""
        what = f"has {_NAMES[axis]} here, and had {_NAMES[self.axis]} before."
        hint = f"give it {_NAMES[self.axis]} here, too."
        if (axis, self.axis) == ("day", "number") and self.whole and FIRST_YEAR <= self.low <= self.high <= LAST_YEAR:
            hint = f'if it shows dates as years, pass the policy, or say so: kinds={{"{self.name}": "dates"}}.'
        return DataError(Problem(f"column '{self.name}'", what, hint))

    def _labelled(self, shown: ShownColumn, place: int) -> tuple[float, float]:
        return _hull(self.axis, _members(shown, place, self.leaves))

    def _drawn(self, low: Floats, high: Floats, generator: np.random.Generator) -> Floats:
        found = low.copy()
        wide = np.flatnonzero(high > low)
        if self.whole:
            found[wide] = generator.integers(low[wide].astype(np.int64), high[wide].astype(np.int64), endpoint=True)
        else:
            found[wide] = generator.uniform(low[wide], high[wide])
        return found


def number_array(places: Floats, whole: bool) -> pa.Array:
    """Return numbers as an array, as whole ones if they are, with nulls for those that are missing."""
    missing = np.isnan(places)
    if whole and np.abs(places[~missing]).max(initial=0.0) < EXACT and _are_whole(places[~missing]):
        return pa.array(np.where(missing, 0, places).astype(np.int64), mask=missing)
    return pa.array(places, mask=missing)


def _are_whole(places: Floats) -> bool:
    return bool(np.all(places == np.floor(places)))


_NAMES: dict[Axis, str] = {"number": "numbers", "day": "dates", "second": "times"}
_NO_NUMBERS = "cells that are no numbers, dates or times"


def _reach(low: Floats, high: Floats) -> tuple[float, float]:
    return (float(low.min()), float(high.max())) if len(low) else (np.nan, np.nan)


def _unread(name: str, what: str) -> DataError:
    hint = f'if it holds categories, say so: kinds={{"{name}": "categorical"}}.'
    return DataError(Problem(f"column '{name}'", f"has {what}.", hint))


def _are_categories(shown: ShownColumn) -> bool:
    """Return whether some cells are sets of plain numbers: unless it is known to hold numbers, these are categories."""
    sets = [cell.members for cell in shown.cells if isinstance(cell, Choice)]
    return any(member and "-" not in member.lstrip("-") for each in sets for member in each)


def _shows_years(shown: ShownColumn) -> bool:
    """Return whether some cell of a column of dates is a year."""
    return bool(pc.any(pc.match_substring_regex(shown.values(), r"^\d{4}$")).as_py())


def _with_labels(shown: ShownColumn, leaves: Leaves, axes: Iterable[Axis]) -> Spans | None:
    """Return the spans of a column on one of some axes, where cells may be labels, or sets; None if it is on none."""
    texts = shown.values()
    there = texts.is_valid().to_numpy(zero_copy_only=False)
    if not there.any():
        return None
    for axis in axes:
        found = spans_on(axis, texts)
        rest = np.flatnonzero(there & ~found.known)
        for place in rest.tolist():
            found.low[place], found.high[place] = _hull(axis, _members(shown, place, leaves))
            if np.isnan(found.low[place]):
                break
        else:
            whole = found.whole and all(_is_whole(axis, _members(shown, place, leaves)) for place in rest.tolist())
            return Spans(axis, found.low, found.high, whole)
    return None


def _members(shown: ShownColumn, place: int, leaves: Leaves) -> list[str]:
    """Return the values that a cell stands for, if it is a label or a set."""
    cell = shown.cells[place]
    if isinstance(cell, Choice):
        given: list[str] = [member for member in cell.members if member is not None]
    elif isinstance(cell, Interval):
        return []
    else:
        given = [label_of(cell) or ""]
    return [leaf for each in given for leaf in leaves.get(each, (each,))]


def _hull(axis: Axis, members: list[str]) -> tuple[float, float]:
    """Return the smallest and the largest place of some values, NaN if one is not on the axis."""
    if not members:
        return np.nan, np.nan
    found = spans_on(axis, pa.array(members, pa.large_string()))
    return float(found.low.min()), float(found.high.max())


def _is_whole(axis: Axis, members: list[str]) -> bool:
    return spans_on(axis, pa.array(members, pa.large_string())).whole
