"""Hints from the name of a column."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from sudare.drafts import column_name_words

# Words in camelCase and in capitals, then runs of any other script.
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
_A1C = re.compile(column_name_words.CLINICAL_NAME)
_UNSPACED_NUMBER = re.compile("(番号|コード|識別子|キー|連番|通番)$")
_NUMBER = "id|no|nr|nbr|num|nummer|number|numero|key|kennung"
_JOINED = re.compile(rf"(?:(?P<thing>.+?)(?P<number>{_NUMBER})|(?P<first>{_NUMBER})(?P<second>.+))")
_CAPITAL_ID = re.compile("[A-Z]{4,}ID")
_LONGEST_JOIN = 4


@dataclass(frozen=True)
class NameSays:
    """The hints in a column name; several can apply.

    ``identifier`` and ``free_text`` decide, unless the identifier is a ``person_number`` (ssn), which may recur.
    ``person_id`` is the number of a person (patient_id), ``record_id`` that of something about a person (case_no),
    ``counts_people`` may as well be how many there are (no_patients), ``person`` a person and nothing else (customer),
    ``bare_id`` an id of nothing in particular (id), ``id_like`` an id of anything (hospital_id, row). ``clinical``
    columns are ``sensitive`` because they are details of a treatment, and ``core`` columns are ``quasi`` because nearly
    everybody knows them who knows the person. ``first`` columns are age, sex and postal code.
    """

    name: str
    identifier: bool
    person_number: bool
    record_id: bool
    free_text: bool
    person_id: bool
    counts_people: bool
    person: bool
    bare_id: bool
    id_like: bool
    sensitive: bool
    clinical: bool
    quasi: bool
    core: bool
    first: bool
    postal: bool
    nominal: bool

    @property
    def subject_rank(self) -> int:
        """How surely the column says whom a record is about, from 3 (patient_id) to 0 (it does not)."""
        if self.person_id or self.person_number:
            return 3
        return 2 if self.person else int(self.bare_id or self.record_id)


def read_name(name: str) -> NameSays:
    """Return what a column's name says."""
    parts = split_words(name)
    spoken = _spoken(parts)
    pieces = [piece for part in parts for piece in _pieces(part)]
    numbers = column_name_words.ID_WORDS | column_name_words.NUMBER_WORDS
    clinical = _meets(spoken, column_name_words.CLINICAL) or _A1C.search(name.casefold()) is not None
    sensitive = clinical or _meets(spoken, column_name_words.SENSITIVE) or names_a_diagnosis(name)
    quasi = _meets(spoken, column_name_words.QUASI)
    described = _meets(parts, column_name_words.COUNTING) or _meets(parts, column_name_words.DESCRIBING)
    counted = (
        len(pieces) > 1
        and pieces[0] in numbers | column_name_words.CODE_WORDS
        and pieces[1] not in column_name_words.PERSONS
    )
    person = _meets(pieces, column_name_words.PERSONS) and not (quasi or sensitive or described or counted)
    with_id = any(piece in column_name_words.ID_WORDS for piece in pieces)
    only_numbers = bool(pieces) and all(piece in numbers for piece in pieces)
    a_name = _meets(parts, column_name_words.NAME_WORDS) and not _meets(parts, column_name_words.NAMED_THINGS)
    identifier = a_name or _meets(spoken, column_name_words.IDENTIFIERS)
    person_number = _meets(spoken, column_name_words.PERSON_NUMBERS) and not described
    record_id = not described and _numbers_a_record(pieces)
    return NameSays(
        name=name,
        identifier=identifier or _meets(spoken, column_name_words.PERSON_NUMBERS),
        person_number=person_number and not identifier,
        record_id=record_id,
        free_text=_meets(spoken, column_name_words.FREE_TEXT),
        counts_people=person and pieces[0] in column_name_words.NUMBER_WORDS,
        person_id=person and any(piece in numbers | column_name_words.CODE_WORDS for piece in pieces),
        person=person and all(_is(piece, column_name_words.PERSONS) for piece in pieces),
        bare_id=only_numbers and with_id,
        id_like=only_numbers or with_id or record_id,
        sensitive=sensitive,
        clinical=clinical,
        quasi=quasi,
        core=_meets(spoken, column_name_words.CORE),
        first=_meets(spoken, column_name_words.FIRST),
        postal=_meets(spoken, column_name_words.POSTAL),
        nominal=_meets(spoken, column_name_words.NOMINAL) or with_id,
    )


def _numbers_a_record(pieces: list[str]) -> bool:
    """Whether a name is that of a case's, a visit's or a file's number: case_no, num_dossier, but not num_visits.

    In the plural, what a number stands before is counted.
    """
    behind = column_name_words.NUMBER_WORDS | column_name_words.ID_WORDS
    for first, second in pairwise(pieces):
        if first in column_name_words.RECORDS and second in behind:
            # a hospital's number is that of its patients, and a hospital's id its own
            return first not in column_name_words.PLACES or second in column_name_words.NUMBER_WORDS
        if second in column_name_words.RECORDS and first in behind | column_name_words.CODE_WORDS:
            return second not in column_name_words.PLACES
    return False


def split_words(name: str) -> list[str]:
    """Return the words of a name, in lower case and without accents: the same for ``PatientID`` and ``patient-id``."""
    wide = unicodedata.normalize("NFKC", name)
    plain = "".join(_without_accent(letter) for letter in wide)
    found: list[str] = []
    for word in _WORD.findall(plain):
        for part in _without_id(word):
            found += [piece for piece in _UNSPACED_NUMBER.split(part) if piece]
    return [word.casefold() for word in found]


def _without_id(word: str) -> list[str]:
    """Split an id that is written together with its thing in capitals, as in UTILITYID."""
    plain = word.casefold()
    if _CAPITAL_ID.fullmatch(word) is None or plain.endswith(("aid", "oid")) or plain in column_name_words.NO_IDS:
        return [word]
    return [word[:-2], word[-2:]]


def names_a_diagnosis(name: str) -> bool:
    """Return whether a name is a word for a diagnosis, or a compound that ends in one."""
    return any(word.endswith(column_name_words.DIAGNOSIS_ENDS) for word in split_words(name))


def _without_accent(letter: str) -> str:
    # Only Latin letters lose their marks: in kana the mark makes another sound.
    umlauts = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
    if letter in umlauts:
        return umlauts[letter]
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() else letter


def _spoken(parts: list[str]) -> set[str]:
    """Return the words and what neighbouring words make when they are written together."""
    return {
        "".join(parts[start : start + length])
        for length in range(1, _LONGEST_JOIN + 1)
        for start in range(len(parts) - length + 1)
    }


def _meets(spoken: set[str] | list[str], known: frozenset[str]) -> bool:
    return any(_is(word, known) or _holds(word, known) for word in spoken)


def _is(word: str, known: frozenset[str]) -> bool:
    """Compare with plurals in mind."""
    return (
        word in known
        or (len(word) > 3 and (word[:-1] in known and word[-1] == "s"))
        or (len(word) > 5 and word.endswith("es") and word[:-2] in known)
    )


def _holds(word: str, known: frozenset[str]) -> bool:
    """Look inside a word of a script without spaces."""
    return not word.isascii() and any(len(term) > 1 and not term.isascii() and term in word for term in known)


def _pieces(part: str) -> list[str]:
    """Split what is written together, as in patientid, kundennummer and numdossier, where a person or record is in."""
    match = _JOINED.fullmatch(part)
    if match is None:
        return [part]
    found = [piece for piece in match.groups() if piece]
    thing = match["thing"] or match["second"]
    return found if _is(thing, column_name_words.PERSONS) or thing in column_name_words.RECORDS else [part]
