"""Ages above 89, in columns of ages and in texts, and years of birth that tell such an age.

Safe Harbor allows one category of 90 or more. In numbers this is the value 90, in texts "90+" and the like, and among
bands the one band that begins at 90. A single 95 beside it, or a range that ends in 95, tells ages in it apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sudare.releases.cell_reader import Choice, HalfOpen, Interval
from sudare.reports.content.released_values import Found, ReleasedValues, cell_of

OLDEST = 90
"""The one category of ages above 89 stands for this age and all above it."""

_BAND = re.compile(
    r"[\[(]?\s*(\d{1,3}(?:\.\d+)?)\s*(?:-|–|—|to|bis|à|a|\.\.|,|;|~|〜)\s*(<?)\s*(\d{1,3}(?:\.\d+)?)\s*([\])]?)"
)
_ABOVE = re.compile(
    r"(?:>=|≥|=>|over|above|[äa]b|from|ueber|über|plus de|más de)\s*(\d{1,3})|(>)\s*(\d{1,3})"
    r"|(\d{1,3})\s*(?:\+|plus|and (?:over|above|older|more)|or (?:over|above|older|more)|or more|u\. ?ä\."
    r"|und (?:älter|mehr)|et plus|y más|歳以上|以上)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\d.])(\d{1,3})(?:\.\d+)?(?![\d.]*\d)")
_SAID = re.compile(
    r"(?<![\w.,/-])(9\d|1[0-2]\d)(?:\.\d+)?[\s-]*(?:year[s]?|yrs?|y\.?o\.?|y/o|jahre?n?|[- ]?jährige?r?|ans"
    r"|años|anni|jaar|anos)\b"
    r"(?!\s*(?:of|ago|later))|(?<!\d)(9\d|1[0-2]\d)\s*(?:歳|才)|\b(?:aged?|alter|edad)\s*(?:of|is|=|:"
    r"|von)?\s*(9\d|1[0-2]\d)(?![\d.,%/])",
    re.IGNORECASE,
)
QUICK = r"(9|1[0-2])\d"


@dataclass(frozen=True)
class Ages:
    """Which values tell an age above 89 apart, and whether all others were understood."""

    old: Found
    unclear: bool


def old_ages(column: ReleasedValues, *, rounded: bool = False) -> Ages:
    """Return the values of a column of ages that tell ages above 89 apart.

    ``rounded`` says that rare ends of ranges moved outward, to round numbers: with 90 as the last age, [71, 100] is a
    range that ends there.
    """
    old: list[int] = []
    outward: list[int] = []
    last: dict[float, list[int]] = {}
    unclear = ends = False
    for place, text in enumerate(column.strings):
        if text is None or text == "*":
            continue
        spans = _spans(text, column.separator)
        unclear |= not spans
        ends |= any(high == OLDEST for _, high in spans)
        beyond = [(low, high) for low, high in spans if high > OLDEST and low != OLDEST]
        if beyond:
            moved = rounded and text.startswith("[") and all(low < OLDEST and high % 10 == 0 for low, high in beyond)
            (outward if moved else old).append(place)
        for low, high in spans:
            if low == OLDEST < high:
                last.setdefault(high, []).append(place)
    if not ends:
        old += outward
    if len(last) > 1 or (old and last):  # two bands above 89 tell the ages in them apart
        old += [place for places in last.values() for place in places]
    return Ages(column.of(old), unclear)


def said_ages(column: ReleasedValues) -> Found:
    """Return the values that say an age above 90 in words, such as ``95 years`` and ``aged 95``."""
    asked = column.worded & column.matching(QUICK)
    return column.of(
        place
        for place in np.flatnonzero(asked).tolist()
        if any(
            int(next(part for part in found.groups() if part)) > OLDEST
            for found in _SAID.finditer(str(column.strings[place]))
        )
    )


def _spans(text: str, separator: str | None) -> list[tuple[float, float]]:
    """Return the least and the greatest age of each piece of a cell; the end of an open one is no number."""
    cell = cell_of(text)
    if isinstance(cell, Interval | HalfOpen):
        ends = [_number(cell.low), _number(cell.high)]
        if None not in ends:
            return [(float(ends[0] or 0), float(ends[1] or 0))]
        return []
    members = [each for each in cell.members if each is not None] if isinstance(cell, Choice) else [str(cell)]
    found: list[tuple[float, float]] = []
    for member in members:
        for part in member.split(separator) if separator else [member]:
            found += _span(part)
    return found


def _span(text: str) -> list[tuple[float, float]]:
    band = _BAND.search(text)
    if band is not None:
        open_end = bool(band[2]) or band[4] == ")"
        low, high = float(band[1]), float(band[3]) - (1 if open_end else 0)
        return [(low, high)]
    above = _ABOVE.search(text)
    if above is not None:
        least = int(above[1] or above[4] or int(above[3]) + 1)
        return [(OLDEST, OLDEST)] if least <= OLDEST else [(least, 200.0)]  # 80+ tells less, and is as good
    number = _NUMBER.search(text)
    return [] if number is None else [(float(number[0]), float(number[0]))]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
