"""Shifting dates: all dates and times of one person move by the same number of days.

The number follows from the person and the key, so it is the same in every table and every release that use the key.
Intervals between the dates of a person stay as they are, to the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.policy import ShiftSpec
from sudare.transformations.date_cells import day_texts
from sudare.transformations.secret_keys import SecretKey
from sudare.transformations.shift_offsets import Offsets
from sudare.transformations.step import Findings, Place, inner, is_text, plain, text_kind

FIRST, LAST = -719_162, 2_932_896
"""The days from 0001-01-01 to 9999-12-31, counted from 1970: no format of files has more."""
_ZONE = r"(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)$"
_CLOCK = r"^([T ]\d{1,2}(:\d{2}(:\d{2}([.,]\d+)?)?)?( ?[AaPp][Mm])?( ?(Z|UTC|GMT|[+-]\d{2}(:?\d{2})?))?)?$"
"""What may follow a date. Anything else might be another date, which would not move, or a remark."""
_MORE = "have more than a date and a time, which would be shown as it is"
_OUTSIDE = "would leave the years 1 to 9999 when they are shifted"
_SECONDS = 86_400
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class Shift:
    """Moves the dates of each person, who is in the column ``beside``."""

    place: Place
    spec: ShiftSpec
    key: SecretKey
    person: str
    whole: bool = False

    @cached_property
    def offsets(self) -> Offsets:
        """The offsets of people."""
        return Offsets(self.key, self.spec.days)

    @property
    def beside(self) -> tuple[str, ...]:
        """The column that says whom a record is about."""
        return (self.person,)

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        given = inner(given)
        return text_kind(given) if is_text(given) else given

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the shifted cells."""
        cells = plain(cells)
        moves = self.moves(beside[self.person])
        findings.note(self.place, pc.and_(cells.is_valid(), moves.is_null()), *self._nobody)
        if is_text(cells.type):
            return self._texts(cells, moves, findings)
        if pa.types.is_date(cells.type):
            return self._moved_days(cells.cast(pa.date32()), moves, findings).cast(cells.type)
        if pa.types.is_timestamp(cells.type):
            return self._moved_times(cells, moves, findings)
        findings.note(self.place, cells.is_valid(), "are no dates", "shift dates and times only.")
        return pa.nulls(len(cells), cells.type)

    def moves(self, persons: pa.Array) -> pa.Array:
        """Return by how many days the dates of each person move."""
        return self.offsets.of(persons)

    def note_nobody(self, count: int, findings: Findings) -> None:
        """Note that so many dates have nobody whose offset they could move by."""
        findings.noted(self.place, count, *self._nobody)

    def note_outside(self, count: int, findings: Findings) -> None:
        """Note that so many dates would leave the calendar."""
        findings.noted(self.place, count, _OUTSIDE, self._hint)

    @property
    def _nobody(self) -> tuple[str, str]:
        what = f"have a date but nobody in '{self.person}' whose offset it could move by"
        return what, "fill that column, or make these dates missing."

    def _texts(self, cells: pa.Array, moves: pa.Array, findings: Findings) -> pa.Array:
        days, rest = day_texts(cells, self.place, findings)
        clock = pc.fill_null(pc.match_substring_regex(rest, _CLOCK), True)
        more = pc.and_(days.is_valid(), pc.invert(clock))
        findings.note(self.place, more, _MORE, "write dates as 2024-03-05 or 2024-03-05T10:00:00.")
        zones = pc.unique(pc.struct_field(pc.extract_regex(rest, _ZONE), "zone").drop_null())
        findings.zones.setdefault(self.person, {}).setdefault(self.place, set()).update(zones.to_pylist())
        moved = self._moved_days(days, moves, findings)
        return pc.binary_join_element_wise(moved.cast(pa.large_string()), rest, pa.scalar("", pa.large_string())).cast(
            self.kind(cells.type)
        )

    def _moved_days(self, days: pa.Array, moves: pa.Array, findings: Findings) -> pa.Array:
        moved = pc.add(days.cast(pa.int32()).cast(pa.int64()), moves)
        return self._within(moved, moved, findings).cast(pa.int32()).cast(pa.date32())

    def _moved_times(self, cells: pa.Array, moves: pa.Array, findings: Findings) -> pa.Array:
        unit = _SECONDS * _PER_SECOND[cells.type.unit]
        stamps: NDArray[np.int64] = cells.cast(pa.int64()).fill_null(0).to_numpy()
        days: NDArray[np.int64] = moves.fill_null(0).to_numpy()
        there = pc.and_(cells.is_valid(), moves.is_valid())
        day = pa.array(stamps // unit + days, mask=~np.asarray(there))
        moved = stamps + days * unit
        # nanoseconds end in 2262: what wraps around there has another sign than its day
        wrapped = pa.array((moved // unit) != stamps // unit + days)
        moved_or_none = pa.array(moved, mask=~np.asarray(there))
        findings.note(self.place, pc.and_(there, wrapped), "would leave the dates of their type", self._hint)
        return self._within(moved_or_none, day, findings).cast(cells.type)

    @property
    def _hint(self) -> str:
        return "correct dates that lie so far away, or make them missing."

    def _within(self, moved: pa.Array, days: pa.Array, findings: Findings) -> pa.Array:
        """Return what has moved, without what would leave the calendar."""
        outside = pc.or_(pc.less(days, FIRST), pc.greater(days, LAST))
        findings.note(self.place, outside, _OUTSIDE, self._hint)
        return pc.if_else(pc.fill_null(outside, True), pa.scalar(None, moved.type), moved)


def zone_problems(shifts: Mapping[str, tuple[Shift, pa.DataType]]) -> list[Problem]:
    """Return a problem if dates of one person would move in several time zones: their days begin at other times."""
    zones: dict[str, dict[str, str]] = {}
    for name, (shift, kind) in shifts.items():
        zone = getattr(inner(kind), "tz", None)
        if zone is not None:
            zones.setdefault(shift.person, {})[name] = zone
    problems = []
    for person, found in zones.items():
        if len(set(found.values())) > 1:
            named = " and ".join(f"'{name}'" for name in found)
            what = f"{named} are in different time zones, so the times of one person in '{person}' are in several."
            problems.append(Problem("columns", what, "convert them to one time zone."))
    return problems
