"""Dates as people write them (``05.03.2024``), as days or moments of the calendar."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.policy import DateFormat

_CENTURY = 69
"""Two-digit years below this one are of this century, as POSIX has it."""

_MONTHS = (
    "january januar janvier enero gennaio januari janeiro",
    "february februar février fevrier febrero febbraio februari fevereiro feber",
    "march märz maerz mrz mars marzo maart mrt março marco",
    "april avril abril aprile",
    "may mai mayo maggio mei maio",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août aout agosto augustus",
    "september septembre septiembre setembro settembre",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre decembre diciembre dicembre dezembro",
)
"""The names of months in English, German, French, Spanish, Italian, Dutch and Portuguese; a beginning is enough."""

Ints = NDArray[np.int64]


def parse_dates(texts: pa.Array, formats: Sequence[DateFormat]) -> tuple[pa.Array, pa.Array]:
    """Return dates, or moments if a format has a time of day, and which texts are no date of any format.

    Each text is read by the first format that it has. A day that no calendar has, such as 30 February, is no date.
    """
    timed = any(each.timed for each in formats)
    moments = np.zeros(len(texts), dtype="datetime64[us]")
    there = np.zeros(len(texts), dtype=bool)
    trimmed = pc.utf8_trim_whitespace(texts)
    for each in formats:
        found, valid = _parse(trimmed, each)
        moments = np.where(~there & valid, found, moments)
        there |= valid
    dates = pa.array(moments, pa.timestamp("us"), mask=~there)
    bad = pc.and_(texts.is_valid(), pa.array(~there))
    return dates if timed else dates.cast(pa.date32()), bad


def date_type(formats: Sequence[DateFormat]) -> pa.DataType:
    """Return the type of the dates of some formats."""
    return pa.timestamp("us") if any(each.timed for each in formats) else pa.date32()


def _parse(texts: pa.Array, form: DateFormat) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    parts = pc.extract_regex(texts, form.pattern)
    valid = np.asarray(parts.is_valid().to_numpy(zero_copy_only=False))
    values = {name: _numbers(pc.struct_field(parts, [name]), name) for name in form.groups}
    years = values["year"]
    if form.short_years:
        years = years + np.where(years < _CENTURY, 2000, 1900)
    months, days = values["month"], values["day"]
    hours, minutes, seconds = (values.get(name, np.zeros_like(years)) for name in ("hour", "minute", "second"))
    valid = valid & (years >= 1) & (months >= 1) & (months <= 12) & (days >= 1)
    valid &= (hours < 24) & (minutes < 60) & (seconds < 60)
    years, months, days = (np.where(valid, part, 1) for part in (years, months, days))
    first = (years - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (months - 1).astype("timedelta64[M]")
    lengths = ((first + np.timedelta64(1, "M")).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(
        np.int64
    )
    valid &= days <= lengths
    whole = first.astype("datetime64[D]") + (np.where(valid, days, 1) - 1).astype("timedelta64[D]")
    clock = (hours * 3600 + minutes * 60 + seconds).astype("timedelta64[s]")
    return (whole.astype("datetime64[s]") + np.where(valid, clock, np.timedelta64(0, "s"))).astype(
        "datetime64[us]"
    ), valid


def _numbers(texts: pa.Array, name: str) -> Ints:
    """Return what stands in one group of a pattern, as numbers; a name of no month is 0."""
    if name == "month" and pc.any(pc.match_substring_regex(texts, r"^\D")).as_py():
        words = texts.to_pylist()
        known = {word: _month(word) for word in set(words)}
        return np.array([known[word] for word in words], dtype=np.int64)
    filled = pc.fill_null(pc.if_else(pc.equal(texts, ""), "0", texts), "0")
    return np.asarray(filled.cast(pa.int64()).to_numpy(), dtype=np.int64)


def _month(word: str | None) -> int:
    """Return the month that a word is, or how its name begins; 0 if it is none, or could be two."""
    low = (word or "").casefold()
    fits = [number for number, names in enumerate(_MONTHS, 1) if any(name.startswith(low) for name in names.split())]
    return fits[0] if low and len(fits) == 1 else 0
