"""Positions of dates and times on an axis, from their released text."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

TEMPORAL = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?|\d\d:\d\d(:\d\d(\.\d+)?)?|PT-?\d+(\.\d+)?S"
"""What dates, times and durations look like, for DuckDB to choose by."""
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:(Z)|([+-])(\d\d):?(\d\d)(?::(\d\d))?)?)?"
)
_CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_DURATION = re.compile(r"PT(-?\d+(?:\.\d+)?)S")
_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400


class Place(NamedTuple):
    """A place on an axis, in days or seconds."""

    unit: str
    at: float


def place_of(text: str) -> Place | None:
    """Return where a date stands, in days since 1970, or a time or duration, in seconds; None if it is none of them."""
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        try:
            days = date(*map(int, moment.groups()[:3])).toordinal() - _EPOCH
        except ValueError:
            return None
        if moment[4] is None:
            return Place("day", float(days))
        ahead = (int(moment[10] or 0) * 60 + int(moment[11] or 0)) * 60 + int(moment[12] or 0)
        seconds = days * _DAY + _clock(moment[4], moment[5], moment[6]) - (-ahead if moment[9] == "-" else ahead)
        return Place("second", _with_fraction(seconds, moment[7]))
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        return Place("second", _with_fraction(_clock(clock[1], clock[2], clock[3]), clock[4]))
    duration = _DURATION.fullmatch(text)
    return None if duration is None else Place("second", float(duration[1]))


def _clock(hours: str, minutes: str, seconds: str | None) -> int:
    return (int(hours) * 60 + int(minutes)) * 60 + int(seconds or 0)


def _with_fraction(seconds: int, digits: str | None) -> float:
    # in whole numbers until the end: a float holds no nanoseconds of our days
    return (seconds * 10**9 + int((digits or "0").ljust(9, "0"))) / 10**9
