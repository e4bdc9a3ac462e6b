"""Built-in hierarchies of codes and names: the groups above a diagnosis, a drug, a country or a postal code.

A code is found in any spelling that is compared alike elsewhere: in capitals or not, with blanks around it. Its leaf
is the value as it is. The labels of groups are never codes themselves: the category of ``I21.0`` and ``I21`` is
``I21.*``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from sudare.policy.classifications import COUNTRIES, ICD_9, ICD_10, OTHER_COUNTRY_NAMES, US_AREAS, US_STATES
from sudare.table.value_spellings import fold

Groups = tuple[str | None, ...]
"""The labels above a value, the nearest first; None where its branch is shorter, and the value itself stands."""


@dataclass(frozen=True)
class CodeSystem:
    """A system of codes: what they are called, the names of the levels above them, and the groups of one.

    ``groups`` returns None for what is no such code. Where ``deep`` says so of no value, the first level is left out.
    ``joined`` says which codes have no mark between their parts: as numbers, such codes cannot be told apart.
    """

    plural: str
    levels: tuple[str, ...]
    groups: Callable[[str], Groups | None]
    deep: Callable[[str], bool] | None = None
    joined: Callable[[str], bool] | None = None

    def above(self, texts: Sequence[str]) -> list[Groups | None]:
        """Return the groups of each text."""
        return [self.groups(fold(text, numbers=False)) for text in texts]

    def has_depth(self, texts: Sequence[str]) -> bool:
        """Return whether the first level above the values is needed."""
        return self.deep is None or any(self.deep(fold(text, numbers=False)) for text in texts)

    def loses_zeros(self, texts: Sequence[str]) -> bool:
        """Return whether codes that are kept as numbers may each stand for several, by the zeros that they have lost.

        0389 and 389 are codes of ICD-9 in two chapters, and one number. Where all codes have three digits, 8 is 008.
        """
        return self.joined is not None and any(self.joined(text) for text in texts)


# -- diagnoses

_ICD_10 = re.compile(r"([a-z][0-9][0-9a-z])(?:\.?[0-9a-z]{1,4})?(?:\.?-)?[!*+†#]?")
_ICD_9 = re.compile(
    r"(?:(?P<number>[0-9]{1,3})(?:\.[0-9]{0,2})?|(?P<joined>[0-9]{3})[0-9]{1,2}"
    r"|(?P<letter>v[0-9]{2}(?:\.?[0-9]{1,2})?|e[0-9]{3}(?:\.?[0-9])?))(?:\.?-)?"
)


def _icd_10(code: str) -> Groups | None:
    found = _ICD_10.fullmatch(code)
    return None if found is None else _in_chapter(found[1].upper(), ICD_10)


def _icd_9(code: str) -> Groups | None:
    found = _ICD_9.fullmatch(code)
    if found is None:
        return None
    if found["letter"]:
        return _in_chapter(code[: 3 if code[0] == "v" else 4].upper(), ICD_9)
    return _in_chapter(found["joined"] or found["number"].zfill(3), ICD_9)


def _in_chapter(category: str, table: str) -> Groups | None:
    above = _categories(table).get(category)
    return None if above is None else (f"{category}.*", *above)


@cache
def _categories(table: str) -> dict[str, tuple[str, str]]:
    """Return the block and the chapter of each category."""
    found = {}
    for line in re.sub(r"\n +", " ", table.strip()).split("\n"):
        chapter, _, blocks = line.rpartition(": ")
        for written in blocks.split():
            block, *others = written.split("+")
            first, last = block.split("-")
            for category in [*_between(first, last), *others]:
                found[category] = block, chapter
    return found


def _between(first: str, last: str) -> Iterator[str]:
    """Yield the categories of a range, which may go on with the next letter; those that end in a letter are listed."""
    if not (first[1:] + last[1:]).isdecimal():
        return
    if first[0].isdecimal():
        yield from (f"{number:03d}" for number in range(int(first), int(last) + 1))
        return
    digits = len(first) - 1
    for letter in range(ord(first[0]), ord(last[0]) + 1):
        low = int(first[1:]) if letter == ord(first[0]) else 0
        high = int(last[1:]) if letter == ord(last[0]) else 10**digits - 1
        yield from (f"{chr(letter)}{number:0{digits}d}" for number in range(low, high + 1))


# -- codes whose beginning is the group

_ATC = re.compile(r"[abcdghjlmnprsv](?:[0-9]{2}(?:[a-z](?:[a-z](?:[0-9]{2})?)?)?)?")


_NUTS_COUNTRIES = (
    "al|at|be|bg|ch|cy|cz|de|dk|ee|el|es|fi|fr|hr|hu|ie|is|it|li|lt|lu|lv|me|mk|mt|nl|no|pl|pt|ro|rs|se|si|sk|tr|uk|xk"
)
_NUTS = re.compile(f"(?:{_NUTS_COUNTRIES})[0-9a-z]{{0,3}}")
_US_ZIP = re.compile(r"([0-9]{3,5})|([0-9]{5})-?[0-9]{4}")
_DE_PLZ = re.compile(r"(?:de?-)?([0-9]{4,5})")
_JP_POSTAL = re.compile(r"〒? ?(?:([0-9]{3})-?([0-9]{4})|([0-9]{6}))")


def _atc(code: str) -> Groups | None:
    return _cut(code.upper(), (5, 4, 3, 1), 7) if _ATC.fullmatch(code) else None


def _nuts(code: str) -> Groups | None:
    return _cut(code.upper(), (4, 3, 2), 5) if _NUTS.fullmatch(code) else None


def _us_zip(code: str) -> Groups | None:
    found = _US_ZIP.fullmatch(code)
    if found is None:
        return None
    digits = (found[1] or found[2]).zfill(5)  # the zeros that a number has lost
    return f"{digits}-****", *_cut(digits, (3, 1), 5)


def _de_plz(code: str) -> Groups | None:
    found = _DE_PLZ.fullmatch(code)
    return None if found is None else _cut(found[1].zfill(5), (3, 2, 1), 5)


def _jp_postal(code: str) -> Groups | None:
    found = _JP_POSTAL.fullmatch(code)
    if found is None:
        return None
    digits = (found[3] or found[1] + found[2]).zfill(7)
    masked = [digits[:length].ljust(7, "*") for length in (5, 3, 2, 1)]
    return tuple(f"{each[:3]}-{each[3:]}" for each in masked)


def _cut(code: str, lengths: Sequence[int], full: int) -> Groups:
    """Return the beginnings of a code; one that is shorter stays as it is."""
    return tuple(code[:length].ljust(full, "*") if len(code) >= length else None for length in lengths)


# -- names of places


def _country(name: str) -> Groups | None:
    return _places(COUNTRIES, OTHER_COUNTRY_NAMES, 2).get(_letters(name))


def _us_state(name: str) -> Groups | None:
    return _places(f"{US_STATES.rstrip()}\n-/-: {US_AREAS.strip()}\n", "", 1).get(_letters(name))


@cache
def _places(table: str, others: str, codes: int) -> dict[str, Groups]:
    """Return the groups of each place, by its codes and names in small letters."""
    found: dict[str, Groups] = {}
    for line in re.sub(r"\n ", " ", table.strip()).split("\n"):
        path, _, places = line.partition(": ")
        groups = tuple(None if label == "-" else label for label in reversed(path.split("/")))
        for place in places.split(";"):
            found |= {_letters(word): groups for word in place.split(maxsplit=codes)}
    for other in filter(None, map(str.strip, re.sub(r"\s+", " ", others).split(";"))):
        code, name = other.split(maxsplit=1)
        found[_letters(name)] = found[_letters(code)]
    return found


def _letters(name: str) -> str:
    """Return the letters of a name, without accents and marks between words: United-States is United States."""
    return "".join(mark for mark in unicodedata.normalize("NFKD", name).casefold() if mark.isalnum())


CODE_SYSTEMS = {
    "icd-10": CodeSystem("ICD-10 codes", ("category", "block", "chapter"), _icd_10),
    "icd-9": CodeSystem(
        "ICD-9 codes",
        ("category", "block", "chapter"),
        _icd_9,
        joined=lambda code: re.fullmatch(r"[0-9]{4,}", code) is not None,
    ),
    "atc": CodeSystem(
        "ATC codes",
        ("chemical subgroup", "pharmacological subgroup", "therapeutic subgroup", "anatomical group"),
        _atc,
    ),
    "iso-3166": CodeSystem("countries of ISO 3166-1", ("sub-region", "region"), _country),
    "us-states": CodeSystem("states of the United States", ("division", "region"), _us_state),
    "us-zip": CodeSystem(
        "ZIP codes", ("5 digits", "3 digits", "1 digit"), _us_zip, lambda code: len(code.replace("-", "")) > 5
    ),
    "de-plz": CodeSystem("German postal codes", ("3 digits", "2 digits", "1 digit"), _de_plz),
    "jp-postal": CodeSystem("Japanese postal codes", ("5 digits", "3 digits", "2 digits", "1 digit"), _jp_postal),
    "nuts": CodeSystem("NUTS codes", ("NUTS 2", "NUTS 1", "country"), _nuts),
}
"""The built-in hierarchies of codes and names, by the names that a policy has for them."""
