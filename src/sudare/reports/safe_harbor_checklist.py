"""HIPAA's Safe Harbor as a checklist: what the cells of a release hold of the eighteen identifiers.

What the cells hold decides, and a column in which few records share each value may be any kind of identifying number.
Names of columns only add suspicion. A pseudonym is judged by how it was made, and not by what it looks like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sudare.reports.checklist_items import JUDGE, MET, UNMET, Item
from sudare.reports.derived_codes import DerivedCode, derived_codes
from sudare.reports.describe.figure_types import ColumnFigures, Figures
from sudare.reports.identifiers import (
    AGES,
    ANY_OTHER,
    CALENDAR,
    HARMLESS,
    IDENTIFIERS,
    NO_DATES,
    NUMBERS,
    PEOPLE,
    POSTAL,
    SMALLER,
    STATES,
    hinted,
    words_of,
)

KNOWLEDGE = Item(
    "No actual knowledge, 164.514(b)(2)(ii): nobody here knows how to recognise a person from the release",
    "A tool cannot know. Without this, removing the eighteen identifiers is not enough.",
    JUDGE,
)
"""The second condition of Safe Harbor."""


def safe_harbor(found: Figures) -> list[Item]:
    """Return the eighteen identifiers, each with what cells hold, and what is known of columns that look like it."""
    released = {column["name"]: column for column in found["columns"]}
    pseudonyms = derived_codes(found)
    numbered = [
        column["name"]
        for column in found["policy"]["columns"]
        if column["role"] == "subject" and column["name"] not in pseudonyms
    ]
    items = []
    for number, (rule, hints) in enumerate(IDENTIFIERS, 1):
        kept_back = [name for name in found["withheld"] if hinted(name, hints) or (number == 8 and _who(name))]
        anew = [name for name in numbered if hinted(name, hints) or number in (8, ANY_OTHER)]
        there = [
            column
            for name, column in released.items()
            if name not in pseudonyms and _looks_like(column, name, number, hints)
        ]
        away = f"Not released: {', '.join(kept_back)}. " if kept_back else ""
        away += f"Not released, or as new numbers: {', '.join(anew)}. " if anew else ""
        derived = [told for code in pseudonyms.values() if (told := _derived(code, number, hints)) is not None]
        seen, verdict = _verdict(number, there, found, derived)
        items.append(Item(f"{number}. {rule}", away + seen, verdict))
    return items


HELD: Mapping[int, Sequence[str]] = {
    1: ("names of persons", "what may be names of persons"),
    2: (
        "postal codes of more than three digits", "postal areas of 20,000 people or fewer",
        "postal codes of nine digits",
        "postal addresses", "towns with their states", "counties", "coordinates", "names of cities",
        "numbers of five digits, as ZIP codes are",
    ),
    3: (
        "dates with more than the year", "ages above 89", "years of birth that tell an age above 89",
        "years that are 90 before the newest",
    ),
    4: ("telephone or fax numbers",),
    5: ("telephone or fax numbers",),
    6: ("e-mail addresses",),
    7: ("social security or identity numbers",),
    8: ("numbers of patients or records",),
    9: ("numbers of health plans",),
    10: ("numbers of accounts or cards",),
    11: ("numbers of licenses or passports",),
    12: ("numbers of vehicles",),
    13: ("numbers of devices",),
    14: ("web addresses",),
    15: ("IP addresses",),
    16: ("sounds, films or sequences", "binary data"),
    17: ("images", "binary data"),
    18: ("ids and digests", "numbers of nine digits or more"),
}  # fmt: skip
"""What a scan of the cells finds that is each of the eighteen identifiers."""

ABSENT: Mapping[int, str] = {
    1: "No cell has a title before a name, or a common first name with a last one",
    2: "No cell holds an address, a postal code of more than three digits, coordinates, or some large cities",
    3: "No cell shows a day or month of a year, or tells an age above 89",
    16: "No cell holds sounds, films, sequences, or the name of a file with them",
    17: "No cell holds an image, or the name of a file with one",
    18: "No cell holds an id or a digest, or a number of nine digits or more that few records share",
}
"""What it means that nothing was found; for all other identifiers, their words say it."""


def _derived(code: DerivedCode, number: int, hints: str) -> tuple[str, str] | None:
    """Judge a pseudonym, whatever its form: a code that is computed from an identifier, under a key too, is derived.

    What Safe Harbor allows in place of an identifier is a code that is *not* derived from information about the person.
    """
    named = hinted(code.name, hints) or (number == 8 and (_who(code.name) or code.person))
    if number == 3 and words_of(code.name) & NO_DATES and not hinted(code.name, CALENDAR):
        named = False
    if number == 1:
        named = named and not words_of(code.name) & HARMLESS
    kept = code.person or code.rare
    shown = f"{code.name} shows pseudonyms, which are computed from its values."
    if number == ANY_OTHER and kept:
        why = "164.514(c) allows only codes that are not derived from information about the person, and a key does not"
        return f"{shown} {why} change that.", UNMET
    if number == ANY_OTHER:
        return f"{shown} Are they derived from information about the person?", JUDGE
    if named and kept and number not in (2, 3):
        return f"{shown} A code that is derived from an identifier takes its place, and is not removed.", UNMET
    if named or (kept and number in NUMBERS):
        return f"{shown} Were these values of this kind? Then the code is derived from them.", JUDGE
    return None


def holding(found: Figures, kinds: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what cells hold of some kinds, in sentences: what is sure, and what a person must look at.

    That some digits of pseudonyms look like a number of a card is chance. The pseudonyms themselves are judged apart.
    """
    sure: list[str] = []
    unsure: list[str] = []
    chance = {code.name for code in derived_codes(found).values() if code.bare}
    for one in found["contents"]["found"]:
        if one["kind"] in kinds and one["column"] not in chance:
            count = f"{one['records']:,} {'record' if one['records'] == 1 else 'records'}"
            (sure if one["sure"] else unsure).append(f"{one['column']} holds {one['kind']} in {count}.")
    return sure, unsure


def cells_read(found: Figures) -> str:
    """Return how many cells were read, in a sentence."""
    contents = found["contents"]
    return f"{contents['cells']:,} cells in {contents['columns']} columns were read."


def free_texts(found: Figures) -> list[str]:
    """Return the unchanged columns of free text, whose values are rarely equal.

    Short codes that many records share, such as those of diagnoses, hold nothing but themselves.
    """
    return [
        column["name"]
        for column in found["columns"]
        if column["kind"] in ("text", "other")
        and column["treatment"] == "untouched"
        and column.get("rare", True)
        and not set(column.get("steps") or ()) & {"pseudonym", "redact", "band"}
        and not (column.get("codes") and not column.get("unique"))
    ]


def _looks_like(column: ColumnFigures, name: str, number: int, hints: str) -> bool:
    if number == 2 and words_of(name) & STATES and not hinted(name, SMALLER):
        return False
    if number == 3 and column["kind"] == "date":
        return True
    if number == 3 and words_of(name) & NO_DATES and not hinted(name, CALENDAR):
        return False  # the kind of an admission is not its day
    if number in (*NUMBERS, ANY_OTHER) and leads_to_people(column, number):
        return True
    if number == ANY_OTHER:  # a number that many share is not one of a person, whatever it is called
        return hinted(name, hints) and not _shared(column)
    if number == 1:  # "name" is part of many a harmless name
        return hinted(name, hints) and not words_of(name) & HARMLESS
    return hinted(name, hints)


def _who(name: str) -> bool:
    """Return whether a name means only a person or a visit."""
    own = words_of(name)
    return bool(own) and own <= PEOPLE


def _shared(column: ColumnFigures) -> bool:
    """Return whether most records of the data share their value with many."""
    known = column["kind"] in ("number", "category") or column.get("codes")
    return bool(known) and not column.get("own", True)


def leads_to_people(column: ColumnFigures, number: int) -> bool:
    """Return whether a column's values may be numbers of people: few records share a value, or an end of a range."""
    if column["kind"] in ("date", "time", "duration", "text", "items", "other"):  # judged elsewhere
        return False
    if column["kind"] == "number" and not column.get("whole"):
        return number == ANY_OTHER and bool(column.get("unique"))
    return bool(column.get("unique") or column.get("ends"))


def _verdict(
    number: int, there: Sequence[ColumnFigures], found: Figures, derived: Sequence[tuple[str, str]] = ()
) -> tuple[str, str]:
    """Return what was seen of an identifier, and the verdict: the worst of all that cells and columns say."""
    sure, unsure = holding(found, HELD[number])
    told = [f"Not met: {sentence}" for sentence in sure] + [f"{sentence} Is this so?" for sentence in unsure]
    verdicts = [UNMET] * len(sure) + [JUDGE] * len(unsure)
    told += [said for said, _ in derived]
    verdicts += [verdict for _, verdict in derived]
    for column in there:
        if number in (2, 3):
            said, verdict = _dated(column, found) if number == 3 else _placed(column, found)
        else:
            named = hinted(column["name"], IDENTIFIERS[number - 1][1]) or (number == 8 and _who(column["name"]))
            said, verdict = _coded(column, named)
        told.append(f"{column['name']}: {said}")
        verdicts.append(verdict)
    worst = next((each for each in (UNMET, JUDGE, MET) if each in verdicts), MET)
    if not sure and not unsure:
        absent = ABSENT.get(number, f"No cell holds {HELD[number][0]}")
        absent = absent.replace("No cell", "No other cell") if derived else absent
        told.insert(len(derived), f"{absent}. {cells_read(found)}")
    if number == 3 and found["contents"]["beyond"] and worst == MET:
        told.append(f"Numbers from 91 to 120 in {', '.join(found['contents']['beyond'])} count as no ages.")
    texts = free_texts(found)
    if worst != UNMET and texts:
        told.append(f"Is there one, in other words, in the text of {', '.join(texts)}?")
        worst = JUDGE
    return " ".join(told), worst


def _dated(column: ColumnFigures, found: Figures) -> tuple[str, str]:
    """Judge a column that is named like a date or an age, or holds dates."""
    name = column["name"]
    if any(one["column"] == name and one["sure"] and one["kind"] in HELD[3] for one in found["contents"]["found"]):
        return f"{_shown(column)}.", UNMET
    known = found["contents"]["understood"].get(name)
    if known == "ages":
        return "no age above 89 is shown, or all of them as one category.", MET
    if known == "years":
        return "shows years, and none that tells an age above 89.", MET
    if column["kind"] == "date":
        if column["treatment"] in ("sets", "apart"):
            return f"{_shown(column)}, day by day; Safe Harbor allows years.", UNMET
        finest = column.get("finest")
        if finest is None:
            return "no date is shown.", MET
        if finest == "year":
            return "released by years at the finest.", MET
        return f"released by {finest}s; Safe Harbor allows years.", UNMET
    if hinted(name, AGES):
        return f"{_shown(column)}. Are all ages above 89 in one group?", JUDGE
    return f"{_shown(column)}; is it, or does it lead to, a date?", JUDGE


def _placed(column: ColumnFigures, found: Figures) -> tuple[str, str]:
    """Judge a column that is named like a place."""
    if any(one["column"] == column["name"] and one["sure"] for one in found["contents"]["found"]
           if one["kind"] in HELD[2]):  # fmt: skip
        return f"{_shown(column)}. Safe Harbor allows states, and the first three digits of a zip code.", UNMET
    known = found["contents"]["understood"].get(column["name"])
    if known is not None and hinted(column["name"], POSTAL):
        return f"{known}, and none with 20,000 people or fewer by the census of 2000.", MET
    single = ", with single places" if column.get("exact") else ""
    return (
        f"{_shown(column)}{single}. Safe Harbor allows states, and the first three digits of a zip code where more "
        "than 20,000 people live. Is this the case?"
    ), JUDGE


def _coded(column: ColumnFigures, named: bool) -> tuple[str, str]:
    """Judge what may be a number of a person, by its name, its values or both."""
    rare = "few records share a value of it" if column.get("unique") else ""
    if column.get("ends"):
        rare = "ranges of it begin or end at values that few records share"
    if named and rare:
        return f"{_shown(column)}. Its name looks like an identifier, and {rare}.", UNMET
    if rare:
        return f"{_shown(column)}, and {rare}: is it one?", JUDGE
    return f"{_shown(column)}. Its name looks like an identifier: is it one?", JUDGE


def _shown(column: ColumnFigures) -> str:
    words = {
        "generalized": "released generalized",
        "untouched": "released unchanged",
        "drawn": "released drawn at random",
        "sets": "released hidden among others",
        "apart": "released in a second table",
    }
    steps, treatment = column.get("steps") or (), words[column["treatment"]]
    if not steps:
        return treatment
    done = f"transformed ({', '.join(steps)}, see “What was done to columns before”)"
    return f"released {done}" if column["treatment"] == "untouched" else f"{done}, and then {treatment}"
