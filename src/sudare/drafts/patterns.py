"""Patterns in the values of a column: identifiers, dates, postal codes, lists of items, free text."""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

_LOOKED_AT = 300  # characters of a cell: no pattern below needs more, and a novel in a cell must not take minutes
_MOST = 0.5
_NEARLY_ALL = 0.9
_SOME = 0.1  # an e-mail address is telling even where it stands inside other text

_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]{2,}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_URL = re.compile(r"(https?|ftp)://\S+|www\.\S+", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\}?", re.IGNORECASE)
_HASH = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{24,}", re.IGNORECASE)
_PHONE = re.compile(r"\+?[\d(][\d\s()./-]{5,}\d")
_LONG_DIGITS = re.compile(r"\d{9,}")
_DECIMAL = re.compile(r"[+-]?\d+\.\d+")
_DATE = re.compile(
    r"(?:(?P<y1>\d{4})[-/.年](?P<m1>\d{1,2})[-/.月](?P<d1>\d{1,2})日?"  # the year first
    r"|(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y2>\d{4}|\d{2})"  # the year last, the month first or second
    r"|(?P<d3>\d{1,2})[. -]+(?P<m3>[^\W\d_]{3,10})[. -]+(?P<y3>\d{4}|\d{2}))"  # the month in letters
    r"(?P<clock>[T ]\d.*)?"  # a time of day behind it
)
_MONTHS = re.compile(
    "jan|ene|gen|fe[bv]|fév|mar|mär|mrz|maa|mrt|a[bpv]r|ma[iyjg]|jun|jui|giu|jul|lug|a[ugo][ugo]|aoû|sep|set|okt|oct|out|ott|"
    "nov|de[czs]|déc|dic|dez"
)
_CLOCK = re.compile(r"(?P<mark>[T ])\d{1,2}:\d{2}(?P<seconds>:\d{2}(\.\d+)?)?$")
_MONTHS_OF_A_YEAR = 12
_YEARS = range(1850, 2101)
_COMPACT_DATE = re.compile(r"((?:18|19|20)\d\d)(\d\d)(\d\d)")

_SEPARATORS = (",", ";", "|")
_LONGEST_ITEM = 20
_ITEM_REPEATS = 3
_SENTENCE = 40
_SENTENCE_BLANKS = 4


def looks_like(values: Sequence[str], *, numeric: bool) -> tuple[str, bool]:
    """Return which identifiers most values look like, as a plural or an empty string, and whether this is certain.

    Digits alone are not certain: amounts can look the same, so the number of different values must decide. ``numeric``
    columns can only be long numbers: a number is neither an address nor a telephone.
    """
    values = [value[:_LOOKED_AT].strip() for value in values]
    if not values:
        return "", False
    if not numeric:
        if _share(values, lambda value: _EMAIL.search(value) is not None) >= _SOME:
            return "e-mail addresses", True
        for what, test in _TELLING.items():
            if _share(values, test) >= _MOST:
                return what, True
        if _share(values, _is_phone) >= _MOST:
            return "telephone or identity numbers", False
    if _share(values, lambda value: _LONG_DIGITS.fullmatch(value) is not None) >= _NEARLY_ALL:
        return "long numbers such as those of cards and accounts", False
    return "", False


def looks_like_dates(values: Sequence[str]) -> bool:
    """Whether nearly all texts are dates in any of the common spellings."""
    return bool(values) and _share(values, lambda value: _is_date(value[:_LOOKED_AT].strip())) >= _NEARLY_ALL


def date_form(values: Sequence[str]) -> str:
    """Return the format that most of some dates have, as ``source.dates`` takes it; none if it has no word for it.

    Where a text can be read in two ways, the day stands first: only a person knows.
    """
    forms = Counter(form for value in values if (form := _form(value[:_LOOKED_AT].strip())))
    return max(forms, key=forms.__getitem__) if forms else ""


def looks_like_compact_dates(values: Sequence[str]) -> bool:
    """Whether all numbers are dates written in one, such as year, month and day in eight digits.

    Record numbers that begin with a year look the same, except for numbers that are not a day of the calendar.
    """
    return bool(values) and all(map(_is_compact_date, values))


def is_free_text(values: Sequence[str]) -> bool:
    """Whether the values are sentences on average: long, with many blanks."""
    if not values:
        return False
    blanks = sum(value.count(" ") + value.count("\n") for value in values)
    return sum(map(len, values)) > _SENTENCE * len(values) and blanks >= _SENTENCE_BLANKS * len(values)


def find_separator(values: Sequence[str]) -> str:
    """Return what separates items in most cells, or an empty string.

    Items are short and come back in other cells, and not every cell has the same number of them: this sets
    lists apart from a person's name with a comma, from addresses and from decimal commas.
    """
    best, most = "", _MOST
    for separator in _SEPARATORS:
        split = [[item.strip() for item in value[:_LOOKED_AT].split(separator)] for value in values]
        several = sum(len(items) > 1 for items in split) / len(values) if values else 0.0
        if several <= most:
            continue
        items = [item for cell in split for item in cell if item]
        short = sum(map(len, items)) <= _LONGEST_ITEM * len(items)
        repeated = len(items) >= _ITEM_REPEATS * len(set(items))
        if short and repeated and len({len(cell) for cell in split}) > 1:
            best, most = separator, several
    return best


def one_length(values: pa.Array) -> tuple[int, int]:
    """Return how many characters all values have if they are codes of digits, and where one hyphen stands in them.

    Both are 0 if there is none. All values are checked: a hierarchy of prefixes allows no exception.
    """
    if not len(values):
        return 0, 0
    lengths = pc.min_max(pc.utf8_length(values))
    length = lengths["max"].as_py()
    if lengths["min"].as_py() != length or not 3 <= length <= 9:
        return 0, 0
    if pc.all(pc.match_substring_regex(values, r"^[0-9]+$")).as_py():
        return length, 0
    hyphens = pc.min_max(pc.find_substring(values, "-"))
    place = hyphens["max"].as_py()
    if hyphens["min"].as_py() == place >= 2 and pc.all(pc.match_substring_regex(values, r"^[0-9]+-[0-9]+$")).as_py():
        return length, place
    return 0, 0


def _share(values: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, values)) / len(values)


def _is_date(value: str) -> bool:
    """Return whether a text is a day of the calendar: record numbers can have the same form."""
    found = _DATE.fullmatch(value)
    if found is None:
        return _is_compact_date(value)
    if found["y1"]:
        return _is_day(found["y1"], found["m1"], found["d1"])
    if found["y2"]:
        return _is_day(found["y2"], found["a"], found["b"]) or _is_day(found["y2"], found["b"], found["a"])
    return _MONTHS.match(found["m3"].lower()) is not None and _is_day(found["y3"], "1", found["d3"])


def _form(value: str) -> str:
    if _is_compact_date(value):
        return "yyyymmdd"
    found = _DATE.fullmatch(value)
    if found is None or "年" in value:
        return ""
    clock = _CLOCK.search(value)
    if found["clock"] and clock is None:
        return ""
    time = "" if clock is None else f"{clock['mark']}hh:mm{':ss' if clock['seconds'] else ''}"
    if found["y1"]:
        return f"yyyy{value[4]}mm{value[4]}dd{time}"
    if found["y2"]:
        mark, year = value[len(found["a"])], "y" * len(found["y2"])
        first, second = ("dd", "mm") if int(found["b"]) <= _MONTHS_OF_A_YEAR else ("mm", "dd")
        return f"{first}{mark}{second}{mark}{year}{time}"
    start, end = found.span("m3")
    between = value[len(found["d3"]) : start], value[end : found.start("y3")]
    return f"dd{between[0]}mmm{between[1]}{'y' * len(found['y3'])}{time}"


def _is_compact_date(value: str) -> bool:
    found = _COMPACT_DATE.fullmatch(value)
    return found is not None and _is_day(*found.groups())


def _is_day(year: str, month: str, day: str) -> bool:
    number = int(year)
    try:
        datetime.date(number if len(year) > 2 else 2000, int(month), int(day))
    except ValueError:
        return False
    return len(year) == 2 or number in _YEARS


def _is_internet_address(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _is_phone(value: str) -> bool:
    """Digits with the usual marks between them; also what social security and identity numbers look like."""
    digits = sum(letter.isdecimal() for letter in value)
    marked = digits < len(value) or value.startswith("0")
    plain = _DECIMAL.fullmatch(value) is None and not _is_date(value)
    return 7 <= digits <= 15 and marked and plain and _PHONE.fullmatch(value) is not None


_TELLING: dict[str, Callable[[str], bool]] = {
    "bank account numbers": lambda value: _IBAN.fullmatch(value.replace(" ", "").upper()) is not None,
    "internet addresses": lambda value: _URL.fullmatch(value) is not None or _is_internet_address(value),
    "technical ids": lambda value: _UUID.fullmatch(value) is not None or _HASH.fullmatch(value) is not None,
}
