"""The scan of a release: every cell of every column is looked at for what identifies people.

The name of a column only adds suspicion: in a column of ages a 95 is an age, and in one of postal codes five digits are
too many. Nothing is absent because no column is named like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.progress import Listener, silent
from sudare.releases.cell_reader import Interval
from sudare.reports.content import person_names, postal_areas, shown_ages, written_dates
from sudare.reports.content.released_values import Found, ReleasedValues, cell_of, read_values
from sudare.reports.content.written_forms import FORMS, holds
from sudare.reports.describe.figure_types import Contents, Finding
from sudare.reports.identifiers import AGES, BIRTH, IDENTIFIERS, NO_DATES, POSTAL, hinted, words_of

DATES = IDENTIFIERS[2][1]
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_ONE_YEAR = r"^(1[89]|20)\d\d(\.0+)?$"
_LONG_NUMBER = r"^\d{9,18}$"
_MASKED_CODE = r"^\d{0,5}[*xX#]{0,5}$"
_NEARLY_ALL = 0.9
_FEW_VALUES = 500
_HIGHEST_AGE = 120
_MOSTLY = 0.5
_SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"BM", b"II*\0", b"MM\0*")
"""What the files of images begin with."""


def scan(
    tables: Iterable[pa.Table],
    *,
    separators: Mapping[str, str] | None = None,
    few: int = 5,
    year: int | None = None,
    rounded: bool = False,
    listener: Listener | None = None,
) -> Contents:
    """Return what the cells of a release hold, from its table and a second one if there is one.

    ``separators`` part the items of columns of text. A value that fewer than ``few`` records hold is rare. ``year`` is
    that of the release: ages are told by it where the release has no date. ``rounded`` says that rare ends of ranges
    moved outward, to round numbers.
    """
    tell = listener or silent
    columns: list[ReleasedValues] = []
    for table in tables:
        for number, name in enumerate(table.column_names):
            tell("read the released cells", number, table.num_columns)
            columns.append(read_values(name, table.column(number), (separators or {}).get(name)))
    found = [finding for column in columns for finding in _in_column(column, few, rounded)]
    newest = _newest(columns, year, rounded)
    found += [finding for column in columns for finding in _births(column, newest, rounded)]
    return {
        "cells": sum(column.cells for column in columns),
        "columns": len(columns),
        "found": found,
        "understood": {column.name: what for column in columns if (what := _understood(column))},
        "beyond": [column.name for column in columns if _reaches_beyond(column)],
    }


def _in_column(column: ReleasedValues, few: int, rounded: bool) -> Iterator[Finding]:
    if column.binary is not None:
        yield from _of_bytes(column)
        return
    yield from _of_forms(column)
    yield from _dates(column)
    yield from _ages(column, rounded)
    yield from _places(column)
    yield from _names(column, few)
    rare = column.matching(_LONG_NUMBER) & (column.counts < few)
    if not _is_of_days(column):
        yield from _told(column, "numbers of nine digits or more", rare, sure=False)


def _told(column: ReleasedValues, kind: str, values: Found, *, sure: bool = True) -> Iterator[Finding]:
    records = column.records(values) if values.any() else 0
    if records:
        yield {"kind": kind, "column": column.name, "records": records, "sure": sure}


def _of_bytes(column: ReleasedValues) -> Iterator[Finding]:
    assert column.binary is not None
    begins = [(one or b"")[:8].startswith(_SIGNATURES) for one in column.binary.to_pylist()]
    images = np.asarray(begins, dtype=bool)
    yield from _told(column, "images", images)
    there = np.asarray(pc.is_valid(column.texts).to_numpy(zero_copy_only=False))
    yield from _told(column, "binary data", there & ~images, sure=False)


def _of_forms(column: ReleasedValues) -> Iterator[Finding]:
    places = np.flatnonzero(column.worded)
    if not len(places):
        return
    worded = column.texts.take(pa.array(places))
    for form in FORMS:
        quick = pc.match_substring_regex(worded, form.quick)
        asked = places[np.asarray(quick.to_numpy(zero_copy_only=False))]
        hits = [place for place in asked.tolist() if holds(form, str(column.strings[place]))]
        yield from _told(column, form.kind, column.of(hits), sure=form.sure)


# -- dates ----------------------------------------------------------------------------------------------------------


def _dates(column: ReleasedValues) -> Iterator[Finding]:
    yield from _told(column, "dates with more than the year", _days(column))


def _days(column: ReleasedValues) -> Found:
    if column.calendar or _is_of_days(column) or _is_of_months(column):
        return ~np.asarray(pc.is_null(column.texts).to_numpy(zero_copy_only=False))
    asked = column.worded & column.matching(written_dates.QUICK)
    return column.of(place for place in np.flatnonzero(asked).tolist() if _has_date(column, place))


def _has_date(column: ReleasedValues, place: int) -> bool:
    text = str(column.strings[place])
    cell = cell_of(text)
    if isinstance(cell, Interval) and written_dates.years_only(cell.low, cell.high):
        return False
    return written_dates.has_date(text) or any(map(written_dates.is_month, column.pieces(place)))


def _is_of_days(column: ReleasedValues) -> bool:
    """Return whether the values are days in eight digits; ranges of such numbers are, too."""
    if column.calendar or column.binary is not None:
        return False
    eight = column.matching(r"^[\[{]?(18|19|20)\d{6}\b")
    if eight.sum() < max(3, _NEARLY_ALL * (len(eight) - column.texts.null_count)):
        return False
    pieces = [piece for place in np.flatnonzero(eight).tolist() for piece in column.pieces(place)]
    return sum(map(written_dates.is_compact, pieces)) >= _NEARLY_ALL * len(pieces)


def _is_of_months(column: ReleasedValues) -> bool:
    if len(column.texts) > _FEW_VALUES or not column.worded.any():
        return False
    pieces = {piece for place in range(len(column.texts)) for piece in column.pieces(place)}
    return len(pieces) > 1 and all(map(written_dates.is_only_month, pieces))


# -- ages and years of birth ----------------------------------------------------------------------------------------


def _ages(column: ReleasedValues, rounded: bool) -> Iterator[Finding]:
    old = shown_ages.said_ages(column)
    if _is_of_ages(column):
        old |= shown_ages.old_ages(column, rounded=rounded).old
    yield from _told(column, "ages above 89", old)


def _is_of_ages(column: ReleasedValues) -> bool:
    return hinted(column.name, AGES) and not column.calendar and not _years(column)


def _reaches_beyond(column: ReleasedValues) -> bool:
    """Return whether a column that is not named one of ages holds whole numbers that could be ages above 89."""
    if _is_of_ages(column) or column.calendar or column.binary is not None or len(column.texts) > _FEW_VALUES:
        return False
    if column.worded.any():
        return False
    numbers, _ = column.whole_numbers()
    return bool(len(numbers)) and shown_ages.OLDEST < int(numbers.max()) <= _HIGHEST_AGE


def _births(column: ReleasedValues, newest: int | None, rounded: bool) -> Iterator[Finding]:
    """Yield years of birth so long before the newest year that they tell an age above 89."""
    years = _years(column)
    if newest is None or not years:
        return
    born = hinted(column.name, BIRTH)
    least = newest - shown_ages.OLDEST
    old = [place for place, found in years.items() if min(found) < least]
    if rounded and any(least in found for found in years.values()):  # the least year is shown, others moved outward
        old = [place for place in old if min(years[place]) % 10 or max(years[place]) < least]
    kind = "years of birth that tell an age above 89" if born else "years that are 90 before the newest"
    yield from _told(column, kind, column.of(old), sure=born)


def _newest(columns: Iterable[ReleasedValues], year: int | None, rounded: bool) -> int | None:
    """Return the last year that dates of the release show; that of the release itself if there is no date.

    The end of a range may have moved outward, so a round one counts only if there is no other year.
    """
    shown = [
        found
        for column in columns
        if hinted(column.name, DATES) and not hinted(column.name, BIRTH)
        for found in _years(column).values()
    ]
    sure = [max(found) for found in shown if not rounded or len(found) == 1 or max(found) % 5]
    return max(sure or map(max, shown), default=year)


def _years(column: ReleasedValues) -> dict[int, list[int]]:
    """Return the years in each value of a column that holds dates or years and nothing else, or none."""
    if column.binary is not None:
        return {}
    if not column.calendar and not hinted(column.name, f"{BIRTH} {DATES}"):
        numbers = column.matching(_ONE_YEAR)
        if not numbers.any() or numbers.sum() < len(column.texts) - column.texts.null_count:
            return {}
    found = {}
    for place, text in enumerate(column.strings):
        if text is None or text == "*":
            continue
        years = [int(year) for year in _YEAR.findall(text)]
        if not years:
            return {}
        found[place] = years
    return found


# -- places and persons ---------------------------------------------------------------------------------------------


def _places(column: ReleasedValues) -> Iterator[Finding]:
    if hinted(column.name, POSTAL):
        yield from _told(column, "postal codes of more than three digits", postal_areas.long_codes(column))
        yield from _told(column, "postal areas of 20,000 people or fewer", postal_areas.small_areas(column))
    elif postal_areas.looks_postal(column):
        there = column.matching(r"\d")
        yield from _told(column, "numbers of five digits, as ZIP codes are", there, sure=False)
    else:
        masked = postal_areas.masked_codes(column)
        if masked.any() and column.matching(_MASKED_CODE).sum() == len(column.texts) - column.texts.null_count:
            yield from _told(column, "postal codes of more than three digits", masked)
    yield from _told(column, "names of cities", person_names.cities(column), sure=False)


def _names(column: ReleasedValues, few: int) -> Iterator[Finding]:
    whole = person_names.first_and_last(column)
    if person_names.is_of_first_names(column):
        there = column.worded
        yield from _told(column, "names of persons", there)
    elif whole.sum() >= 5 and whole.sum() > _MOSTLY * column.worded.sum():
        yield from _told(column, "names of persons", whole)
    else:
        rare = whole & (column.counts < few)
        yield from _told(column, "what may be names of persons", person_names.titled(column) | rare, sure=False)


def _understood(column: ReleasedValues) -> str:
    """Return what all values of a column are, where its name asks for it and the values could be read as that."""
    if column.binary is not None or column.calendar:
        return ""
    if hinted(column.name, POSTAL):
        return "areas of at most three digits" if postal_areas.understood(column) else ""
    if hinted(column.name, f"{BIRTH} {DATES}") and not words_of(column.name) & NO_DATES and _years(column):
        return "" if _days(column).any() else "years"
    if _is_of_ages(column):
        return "" if shown_ages.old_ages(column).unclear else "ages"
    return ""
