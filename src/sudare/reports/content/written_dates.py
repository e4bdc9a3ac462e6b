"""Dates in texts: days and months of a year, in the spellings of several languages. Years alone are none.

A range from the first day of a year to the last of one shows years only.
"""

from __future__ import annotations

import datetime
import re

_YEAR = r"(?:1[89]|20)\d\d"
_MONTH = (
    r"(?:Jan(?:uary|uar|vier)?|Feb(?:ruary|ruar)?|F[ée]vr?(?:ier)?|Mar(?:ch|s|zo)?|M[äa]rz|Apr(?:il)?"
    r"|Avr(?:il)?|Abr(?:il)?|May|Mai|Mayo|"
    r"June?|Juni|Juin|Junio|July?|Juli|Juillet|Julio|Aug(?:ust)?|Ao[ûu]t|Agosto|Sept?(?:ember|embre|iembre)?"
    r"|O[ckt]t(?:ober|obre|ubre)?|"
    r"Nov(?:ember|embre|iembre)?|De[czs](?:ember|[eé]mbre|iembre)?|Enero|Febrero|Dic(?:iembre)?)"
)
_FIRST = re.compile(
    rf"(?<![\d.,])({_YEAR})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?!\d|[.-]\d)|({_YEAR})年(\d{{1,2}})月(\d{{1,2}})日"
)
_LAST = re.compile(rf"(?<![\d.,-])(\d{{1,2}})([-/.]) ?(\d{{1,2}})\2 ?({_YEAR})(?!\d|[.-]\d)")
_SHORT = re.compile(r"(?<![\d./-])(\d{1,2})/(\d{1,2})/\d\d(?![\d/])")
_SHORT_ALONE = re.compile(r"(\d{1,2})([.-])(\d{1,2})\2\d\d")
_NAMED = re.compile(
    rf"(?<!\w)\d{{1,2}}(?:st|nd|rd|th|\.|er)?[ -](?:of |de )?(?i:{_MONTH})\.?(?!\w)"
    rf"|(?<!\w)(?i:{_MONTH})\.?[ -]\d{{1,2}}(?:st|nd|rd|th)?(?![\w.%])"
    rf"|(?<!\w)(?i:{_MONTH})\.?[ ,-]+(?:of |de |del )?{_YEAR}(?!\d)"
)
_MONTHS = re.compile(
    rf"{_YEAR}[-/](?:0[1-9]|1[0-2])|{_YEAR}[ -]?Q[1-4]|Q[1-4][ -/]?{_YEAR}|{_YEAR}-?W\d\d|{_YEAR}年\d{{1,2}}月"
    rf"|(?:0[1-9]|1[0-2])/{_YEAR}"
)
_ONLY_MONTH = re.compile(rf"(?i:{_MONTH})\.?|\d{{1,2}}月")
_COMPACT = re.compile(rf"({_YEAR})(\d\d)(\d\d)")
_MONTH_BEGINS = (
    "jan|f[eé][bv]|mar|m[äa]r|apr|avr|abr|ma[iy]|jun|juin|jul|juil|aug|ao[uû]|ago|sep|o[ck]t|nov|d[eé][czs]|dic|ene"
)
QUICK = (
    r"\d[-/.]\d{1,2}[-/.] ?\d|(1[89]|20)\d\d[-/](0|1)\d|(0|1)\d/(1[89]|20)\d\d|\d[ -]?[QW]\d|Q\d[ -/]?\d|[年月]"
    rf"|(?i:({_MONTH_BEGINS})[a-zéäû]*[ .,-]+(of |de |del )?\d|\d(st|nd|rd|th|er)?[ .-]+(of |de )?({_MONTH_BEGINS}))"
)
"""What a value with a date holds at least."""


def has_date(text: str) -> bool:
    """Return whether a text holds a day, or a month of a year."""
    if any(_is_day(*_numbers(found)) for found in _FIRST.finditer(text)):
        return True
    if any(_is_some_day(found[4], found[1], found[3]) for found in _LAST.finditer(text)):
        return True
    if any(_is_some_day("2000", found[1], found[2]) for found in _SHORT.finditer(text)):
        return True
    return _NAMED.search(text) is not None


def is_month(text: str) -> bool:
    """Return whether a text is a month, a quarter or a week of a year, or a day with a short year, and nothing else."""
    short = _SHORT_ALONE.fullmatch(text)
    if short is not None and _is_some_day("2000", short[1], short[3]):
        return True
    return _MONTHS.fullmatch(text) is not None


def is_only_month(text: str) -> bool:
    """Return whether a text is the name of a month."""
    return _ONLY_MONTH.fullmatch(text) is not None


def is_compact(text: str) -> bool:
    """Return whether a text is a day in eight digits, such as 20190314; other numbers look the same."""
    found = _COMPACT.fullmatch(text)
    return found is not None and _is_day(*found.groups())


def years_only(low: str, high: str) -> bool:
    """Return whether a range of days is one of whole years."""
    return low[4:10] == "-01-01" and high[4:10] == "-12-31"


def without_dates(text: str) -> str:
    """Return a text without its dates, of which the digits are no other number."""
    for pattern in (_FIRST, _LAST):
        text = pattern.sub(" x ", text)
    return text


def _numbers(found: re.Match[str]) -> tuple[str, str, str]:
    return (found[1], found[3], found[4]) if found[1] else (found[5], found[6], found[7])


def _is_some_day(year: str, one: str, other: str) -> bool:
    return _is_day(year, one, other) or _is_day(year, other, one)


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        datetime.date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True
