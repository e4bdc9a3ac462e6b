"""What presets ask of columns: whether they are ages, dates of birth, postal codes, places or weights."""

from __future__ import annotations

import datetime
import re

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.missing_words import MISSING_WORDS
from sudare.drafts.column_name_matches import split_words
from sudare.drafts.facts import Facts
from sudare.drafts.proposals import Proposals

AGES = frozenset("age ages aged alter edad eta leeftijd idade 年齢 年代".split())  # noqa: SIM905
_BIRTH = frozenset(
    "birth born dob birthday birthdate birthyear dateofbirth yearofbirth geburt geburtsdatum geburtsjahr naissance "  # noqa: SIM905
    "datenaissance nacimiento fechanacimiento 生年月日 生年 誕生日 出生".split()
)
_YEARS = r"\b(1[89]\d\d|20\d\d)\b"
_ONE_YEAR = re.compile(r"(1[89]|20)\d\d")


def is_of_ages(name: str, facts: Facts) -> bool:
    """Return whether a column is one of ages by its name; one of dates is none."""
    return bool(AGES & set(split_words(name))) and facts.shape in ("number", "text") and not is_of_births(name)


def is_of_births(name: str) -> bool:
    """Return whether a column is about a birth by its name."""
    words = split_words(name)
    return bool(_BIRTH & {*words, "".join(words)})


def is_of_years(table: pa.Table, name: str, facts: Facts) -> bool:
    """Return whether a column holds years and nothing else."""
    if facts.shape not in ("number", "text") or not facts.distinct:
        return False
    return all(_ONE_YEAR.fullmatch(text) for text in texts(table, name))


def texts(table: pa.Table, name: str) -> list[str]:
    """Return the different values of a column as text, without those that stand for missing."""
    cells = table[name]
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_floating(cells.type):
        whole = pc.all(pc.equal(pc.round(cells), cells)).as_py()
        cells = cells.cast(pa.int64()) if whole else cells
    if pa.types.is_nested(cells.type) or pa.types.is_binary(cells.type):
        return []
    values = pc.unique(cells).cast(pa.large_string()).drop_null().to_pylist()
    return [text.strip() for text in values if text.strip().lower() not in MISSING_WORDS]


def newest_year(found: Proposals, table: pa.Table) -> int:
    """Return the newest year of the dates of a table but those of births; this year if it has none."""
    years = [
        year
        for name, facts in found.facts.items()
        if not is_of_births(name) and facts.shape == "date"
        for year in _years_in(table, name)
    ]
    return max(years, default=datetime.date.today().year)


def _years_in(table: pa.Table, name: str) -> list[int]:
    found = pc.extract_regex(pc.unique(table[name]).cast(pa.large_string()), r"^(?P<year>\d{4})-")
    return [int(year) for year in pc.unique(pc.struct_field(found, "year")).drop_null().to_pylist()]


def pointed(why: str, more: str) -> str:
    """Return a reason with another one behind it."""
    return f"{why}; {more}" if why else more
