"""A column of numbers, dates or times: each cell becomes its middle, its ends, or a number drawn within it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import EXACT
from sudare.releases.cell_reader import Choice, Interval, label_of
from sudare.releases.numeric.numeric_options import NumericOptions
from sudare.releases.numeric.shown_column import Leaves, ShownColumn
from sudare.releases.numeric.spans import Axis, Floats, Spans, read_spans, spans_on


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """How a column becomes numbers. What shows nothing is anywhere from ``low`` to ``high``, which the column shows.

    ``ranged`` says that its cells may be ranges. Otherwise they are values, and stay one column.
    """

    name: str
    axis: Axis
    whole: bool
    low: float
    high: float
    leaves: Leaves = field(default_factory=dict)
    ranged: bool = True

    @classmethod
    def of(cls, shown: ShownColumn, leaves: Leaves, kind: str | None) -> NumberColumn | None:
        """Return how a column becomes numbers; None if it does not.

        Without a kind, a column of text is one of numbers if each of its cells is. Sets of numbers are categories.
        """
        if shown.axis is not None and not (kind == "categorical" and shown.axis == "number"):
            places = shown.places[np.isfinite(shown.places)]
            whole = _are_whole(places) and shown.axis != "second"
            return cls(shown.name, shown.axis, whole, *_reach(places, places), leaves, ranged=False)
        if not shown.is_text or kind in ("categorical", "items"):
            return None
        found = read_spans(shown.values()) or _with_labels(shown, leaves, kind)
        if found is None and kind == "numeric":
            if not shown.values().null_count == len(shown.read):
                raise _unread(shown.name, "cells that are no numbers, dates or times")
            found = spans_on("number", shown.values())
        if found is None:
            return None
        reach = _reach(found.low[found.known], found.high[found.known])
        if np.isnan(reach[0]) and leaves:  # the column shows nothing, but its hierarchy has the values
            reach = _hull(found.axis, [leaf for below in leaves.values() for leaf in below])
        return cls(shown.name, found.axis, found.whole, *reach, leaves, ranged=not shown.literal)

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
                raise _unread(self.name, f"values of another kind than the {_NAMES[self.axis]} it had")
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
            if options.unknown == "error":
                raise _unread(self.name, f"cells that are no {_NAMES[self.axis]}")
            hidden[unknown] = options.unknown == "share"
        if options.everything == "share":
            low[hidden], high[hidden] = self.low, self.high
        row = shown.read.of_row
        return low[row], high[row]

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


def _reach(low: Floats, high: Floats) -> tuple[float, float]:
    return (float(low.min()), float(high.max())) if len(low) else (np.nan, np.nan)


def _unread(name: str, what: str) -> DataError:
    hint = f'if it holds categories, say so: kinds={{"{name}": "categorical"}}.'
    return DataError(Problem(f"column '{name}'", f"has {what}.", hint))


def _with_labels(shown: ShownColumn, leaves: Leaves, kind: str | None) -> Spans | None:
    """Return the spans of a column where some cells are labels, or sets; None if they cannot be read.

    A set of plain numbers is one of categories, unless the column is known to hold numbers.
    """
    plain = [cell.members for cell in shown.cells if isinstance(cell, Choice)]
    if kind != "numeric" and any(member and "-" not in member.lstrip("-") for each in plain for member in each):
        return None
    texts = shown.values()
    there = texts.is_valid().to_numpy(zero_copy_only=False)
    if not there.any():
        return None
    for axis in _NAMES:
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
