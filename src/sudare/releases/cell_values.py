"""Numbers and days from the text of a released cell: a value, or the end of an interval."""

from __future__ import annotations

import calendar
import math
import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from sudare.core.sizes import EXACT

EPOCH = date(1970, 1, 1).toordinal()
"""The number of the day from which most libraries count."""
_NUMBER = re.compile(r"^-?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?$")
_PERIOD = re.compile(r"^(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[T ].*)?$", re.S)
_QUARTER = re.compile(r"^(\d{4})-Q([1-4])$")
_CLOCK = re.compile(r"^(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?$")
_DURATION = re.compile(r"^PT(-?\d+(?:\.\d+)?)S$")


def is_missing(cell: Any) -> bool:
    """Return whether a single cell is missing: None, an empty text, not-a-number, or what pandas says for these."""
    if cell is None or (isinstance(cell, str) and not cell):
        return True
    if type(cell).__name__ == "NAType":  # of pandas, and no comparison with it is true or false
        return True
    return bool(cell != cell)


def value_text(value: Any) -> str:
    """Return a value that is no text as a release writes it; a time on a day that is midnight is its day."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    elif isinstance(value, np.timedelta64):
        value = value.astype("timedelta64[us]").item()
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return f"PT{(Decimal(value // timedelta(microseconds=1)) / 1_000_000).normalize():f}S"
    if isinstance(value, datetime) and value.tzinfo is None and value.time() == time():
        return value.date().isoformat()
    return number_text(value)


def number_text(value: Any) -> str:
    """Return a number, a date or a time as a release writes it."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < EXACT else repr(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def number_in(text: str) -> float | None:
    """Return the number that a text says, if it is one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def is_written_number(text: str) -> bool:
    """Return whether a text is a number as a release writes it; with leading zeros it is a code."""
    return bool(_NUMBER.match(text)) and number_in(text) is not None


def period(text: str) -> tuple[int, int] | None:
    """Return the first and the last day of a year, a month or a day; None if a text is none of these."""
    found = _PERIOD.match(text)
    if found is None:
        return None
    year, month, day = (None if part is None else int(part) for part in found.groups())
    if day is None and len(text) > (4 if month is None else 7):
        return None
    try:
        first = date(year or 0, month or 1, day or 1)
        last_month = month or 12
        last = date(first.year, last_month, day or calendar.monthrange(first.year, last_month)[1])
    except ValueError:
        return None
    return first.toordinal(), last.toordinal()


def days_in(text: str) -> tuple[int, int] | None:
    """Return the first and the last day of a day, a month, a quarter or a year; None if a text is none of these."""
    quarter = _QUARTER.match(text)
    if quarter is None:
        return period(text)
    year, number = quarter[1], int(quarter[2])
    first, last = period(f"{year}-{3 * number - 2:02d}"), period(f"{year}-{3 * number:02d}")
    return None if first is None or last is None else (first[0], last[1])


def day_span(text: str) -> tuple[float, float] | None:
    """Return where a text says that days begin and end, counted from 1970.

    A time on a day is more exact than its day.
    """
    if "T" in text or " " in text:
        moment = moment_in(text)
        return None if moment is None else (moment, moment)
    days = days_in(text)
    return None if days is None else (float(days[0] - EPOCH), float(days[1] - EPOCH))


def moment_in(text: str) -> float | None:
    """Return where a time on a day stands, in days from 1970; one with a zone by the clock of the whole world."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)


def seconds_in(text: str) -> float | None:
    """Return the seconds that a time of day or a duration says, as a release writes them."""
    clock, duration = _CLOCK.match(text), _DURATION.match(text)
    if duration is not None:
        return float(duration[1])
    if clock is None:
        return None
    hours, minutes, seconds = (float(part or 0) for part in clock.groups())
    return 3600 * hours + 60 * minutes + seconds
