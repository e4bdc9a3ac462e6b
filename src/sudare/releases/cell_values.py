"""Numbers and days from the text of a released cell: a value, or the end of an interval."""

from __future__ import annotations

import calendar
import math
import re
from datetime import date

EPOCH = date(1970, 1, 1).toordinal()
"""The number of the day from which most libraries count."""
_NUMBER = re.compile(r"^-?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?$")
_PERIOD = re.compile(r"^(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[T ].*)?$", re.S)
_QUARTER = re.compile(r"^(\d{4})-Q([1-4])$")


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
