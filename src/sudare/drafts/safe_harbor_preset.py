"""The preset for HIPAA's Safe Harbor, 45 CFR 164.514(b)(2): the eighteen identifiers are removed or coarsened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from sudare.drafts.column_name_matches import read_name, split_words
from sudare.drafts.facts import Facts
from sudare.drafts.guesses import Guess
from sudare.drafts.preset_columns import is_of_ages, is_of_births, is_of_years, newest_year, pointed, texts
from sudare.drafts.proposals import Proposals
from sudare.drafts.yaml_words import one_line, scalar

SAFE_HARBOR = """\
Preset hipaa-safe-harbor, after 45 CFR 164.514(b)(2): the eighteen identifiers are removed, dates become years, ages
above 89 one category, and ZIP codes areas of three digits. The preset finds them by names and values of columns,
and may miss one: check every column against the rule. Safe Harbor has a second condition, (b)(2)(ii): you have no
actual knowledge that what is left identifies a person. No tool can tell you that."""

_OLDEST = 90
_SMALL_AREAS = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split()  # noqa: SIM905
_PLACES = frozenset("""
    city town village county district municipality commune precinct parish borough tract geocode neighborhood
    neighbourhood street address location latitude longitude lat lon lng suburb community census block place
    residence stadt ort wohnort kreis landkreis gemeinde bezirk viertel ville quartier
    arrondissement ciudad municipio barrio comuna 市区町村 市町村 町名
""".split())  # fmt: skip  # noqa: SIM905
"""Names of places that are smaller than a state."""
_THREE, _FIVE = re.compile(r"\d{3}"), re.compile(r"\d{5}(-?\d{4})?")
_LOST = re.compile(r"\d{3,4}")


def safe_harbor_columns(found: Proposals, table: pa.Table) -> dict[str, Guess]:
    """Return the guesses of a draft as Safe Harbor needs them."""
    oldest = newest_year(found, table) - _OLDEST
    return {name: _column(name, guess, found.facts[name], table, oldest) for name, guess in found.guesses.items()}


def _column(name: str, guess: Guess, facts: Facts, table: pa.Table, oldest: int) -> Guess:
    if guess.role in ("identifier", "subject"):
        return guess
    if read_name(name).postal:
        return _postal(name, guess, table)
    if _PLACES & set(split_words(name)):
        return Guess("identifier", "not released: a place smaller than a state; Safe Harbor allows states")
    if facts.shape == "date" or (is_of_births(name) and is_of_years(table, name, facts)):
        return _dated(name, guess, facts, oldest)
    if facts.date_text:
        why = "not released: dates, but not in a form that is clear; once source.dates says how to read them, "
        why += "{role: quasi, kind: numeric, transform: {truncate: year}} releases years"
        return Guess("identifier", why)
    if is_of_ages(name, facts):
        return _aged(guess, facts)
    if guess.role == "sensitive":
        # no promise is about it, so no key may say how its values are read
        return Guess("sensitive", pointed(guess.why, "Safe Harbor lets it be released unchanged"))
    return guess


def _postal(name: str, guess: Guess, table: pa.Table) -> Guess:
    values = texts(table, name)
    numeric = not _is_text(table[name].type)
    short = bool(values) and all(map(_THREE.fullmatch, values))
    if short or (values and all(map(_FIVE.fullmatch, values))):
        listed = ", ".join(f'"{area}": "000"' for area in _SMALL_AREAS)
        small = f"{{replace: {{values: {{{listed}}}, else: keep}}}}"
        why = (
            "ZIP codes to three digits, and 000 for the 17 areas with 20,000 people or fewer by the census of 2000; "
            "check the list against the present census, which the rule asks for"
        )
        asks = "are these ZIP codes? Postal codes of other countries name smaller places: {role: identifier}"
        if short:
            asks = f"are these areas of three digits? 601 may be 00601 without its zeros, in another area. And {asks}"
        elif numeric:
            asks = f"are codes with a leading zero missing? The codes were read as numbers. And {asks}"
        steps = (small,) if short else ("{truncate: {keep: 3}}", small)
        return Guess("quasi", why, "categorical", (3, 2, 1), steps=steps, asks=asks)
    if any(map(_LOST.fullmatch, values)):
        how = "Read the column as text from the source" if numeric else "Write them as 02134 in the file"
        asks = (
            "have leading zeros been lost? Some values have fewer than five digits, and the first three digits of 2134 "
            f"(for 02134) name another place. {how}, and draft again"
        )
        return Guess("identifier", "not released: postal codes that may be incomplete", asks=asks)
    return Guess("identifier", "not released: postal codes, but no ZIP codes of five digits; Safe Harbor allows states")


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner) or pa.types.is_string_view(inner))


def _dated(name: str, guess: Guess, facts: Facts, oldest: int) -> Guess:
    years = () if facts.shape != "date" else ("{truncate: year}",)
    if not is_of_births(name):
        return Guess("quasi", "dates to the year", "numeric", steps=years)
    bottom = f"{{bottom: {{at: {oldest}}}}}"
    why = (
        f"{'dates' if years else 'years'} of birth, to the year; {oldest} stands for {oldest} and before, because an "
        "earlier year would tell an age above 89. Set it to the newest year of the data less 90"
    )
    return Guess("quasi", why, "numeric", steps=(*years, bottom))


def _aged(guess: Guess, facts: Facts) -> Guess:
    if facts.shape == "number" and not facts.stray:
        why = pointed(guess.why, "90 means 90 or older: ages above 89 are one category, in a column that stays numeric")
        return Guess("quasi", why, "numeric", steps=("{top: {at: 89, shows: 90}}",))
    asks = "are all ages above 89 in one group, such as 90+? If not, join them with a replace"
    return replace(guess, role="quasi", kind="categorical", asks=asks)


def safe_harbor_text(guesses: Mapping[str, Guess], facts: Mapping[str, Facts]) -> str:
    """Return the end of the draft: the alternative for numbers of patients, and what is left to think of."""
    numbers = [name for name in guesses if guesses[name].role == "identifier" and _numbers_people(name)]
    lines = []
    if numbers:
        spec = "{role: identifier, transform: {pseudonym: {key: {env: SUDARE_KEY}}}}"
        lines += [
            "# Numbers of patients and records are not released. A recipient who must know which records belong",
            "# together can have pseudonyms (`sudare key new FILE` makes the key):",
            f"#   {scalar(one_line(numbers[0]))}: {spec}",
            "# But Safe Harbor allows only codes that are not derived from information about the person, 164.514(c),",
            "# and a digest of a number is derived from it, also under a key. Ask your privacy officer first.",
        ]
    if any(guess.role == "subject" for guess in guesses.values()):
        lines += [
            "# The column with role: subject is released as new numbers, in each group anew. They are not derived",
            "# from anything, and nobody can tell from them which records of two groups belong to one person.",
        ]
    return "\n".join(lines) + "\n" if lines else ""


def _numbers_people(name: str) -> bool:
    says = read_name(name)
    return says.person_id or says.person_number or says.record_id or says.bare_id
