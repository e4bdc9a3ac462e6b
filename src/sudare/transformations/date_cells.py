"""Cells as dates: of columns of dates and times, and of texts that begin with a date."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sudare.transformations.step import Findings, Place, is_text, plain

DATED = r"^\d{4}-\d{2}-\d{2}([T ].*)?$"
_NONE = "are no dates"
_HINT = "write dates as 2024-03-05, or give their format in source.dates."


def dates_only(cells: pa.Array, place: Place, findings: Findings) -> pa.Array:
    """Return the days of cells as dates; a time with a zone is on the day that its own clock shows."""
    if is_text(cells.type):
        return day_texts(plain(cells), place, findings)[0]
    given = plain(cells)
    if pa.types.is_date(given.type):
        return given.cast(pa.date32())
    if pa.types.is_timestamp(given.type):
        local = pc.local_timestamp(given) if given.type.tz else given
        return local.cast(pa.date32(), safe=False)
    findings.note(place, given.is_valid(), _NONE, _HINT)
    return pa.nulls(len(given), pa.date32())


def day_texts(cells: pa.Array, place: Place, findings: Findings) -> tuple[pa.Array, pa.Array]:
    """Return the dates that texts begin with, and what follows in them."""
    texts = pc.utf8_trim_whitespace(cells.cast(pa.large_string()))
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.large_string()), texts)
    coded = pc.utf8_slice_codeunits(texts, 0, 10).dictionary_encode()
    days = pc.strptime(coded.dictionary, format="%Y-%m-%d", unit="s", error_is_null=True)
    # some systems roll 31 February over into March
    again = pc.strftime(days, format="%Y-%m-%d")
    same = pc.fill_null(pc.equal(again.cast(pa.large_string()), coded.dictionary), False)
    days = pc.if_else(same, days, pa.scalar(None, days.type)).cast(pa.date32()).take(coded.indices)
    form = pc.match_substring_regex(texts, DATED)
    good = pc.and_(pc.fill_null(form, False), days.is_valid())
    findings.note(place, pc.and_(texts.is_valid(), pc.invert(good)), _NONE, _HINT)
    days = pc.if_else(good, days, pa.scalar(None, pa.date32()))
    return days, pc.utf8_slice_codeunits(texts, 10)
