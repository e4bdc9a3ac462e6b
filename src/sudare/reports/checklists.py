"""Checklists of legal rules: filled where a tool can decide, open where a person must judge.

What the cells of the release hold decides: every cell was read for it (:mod:`sudare.reports.content`), and a column in
which few records share each value may be any kind of identifying number. Names of columns only add suspicion. A rule
is never met because no column is called like it. Every list ends with a line to be signed by someone who knows the
data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from sudare.reports.sections import Cell, Section

MET, UNMET, JUDGE = "met", "not met", "for a human to judge"
STYLES = {MET: "met", UNMET: "unmet", JUDGE: "judge"}


@dataclass(frozen=True)
class Item:
    """A rule, what the tool saw, and the verdict."""

    rule: str
    seen: str
    verdict: str


KNOWLEDGE = Item(
    "No actual knowledge, 164.514(b)(2)(ii): nobody here knows how to recognise a person from the release",
    "A tool cannot know. Without this, removing the eighteen identifiers is not enough.",
    JUDGE,
)
"""The second condition of Safe Harbor."""


def checklists(found: Figures) -> Section:
    """Return the section of all checklists."""
    return Section.of("checklists", "Checklists", {"lists": [_list(*each) for each in _lists(found)]})


def verdicts(found: Figures) -> list[tuple[str, str, str]]:
    """Return the verdict of each checklist as a whole: its title, the worst of its rules, and how many there are."""
    whole = []
    for title, _, items in _lists(found):
        counts = {each: sum(item.verdict == each for item in items) for each in (UNMET, JUDGE, MET)}
        worst = next(each for each, count in counts.items() if count)
        told = ", ".join(f"{count} {each}" for each, count in counts.items() if count)
        whole.append((title, worst, f"{len(items)} rules: {told}" if len(items) > 1 else "1 rule"))
    return sorted(whole, key=lambda each: (UNMET, JUDGE, MET).index(each[1]))


def _lists(found: Figures) -> list[tuple[str, str, list[Item]]]:
    return [
        (
            "HIPAA Safe Harbor: the eighteen identifiers",
            f"45 CFR 164.514(b)(2). {_read(found)} The names of columns only add suspicion.",
            [*safe_harbor(found), KNOWLEDGE],
        ),
        (
            "EMA policy 0070: a threshold of 0.09",
            "Publication of clinical data: the largest risk that a participant is recognised stays at or below 0.09. "
            "That is read as one in a group of 11, which is 0.0909 before rounding.",
            ema(found),
        ),
        (
            "Cells of at least 11",
            "The rule of the US Centers for Medicare and Medicaid Services: no cell of 1 to 10 is shown, or can be "
            "derived.",
            cell_size(found),
        ),
        (
            "Japan: anonymously processed information (匿名加工情報)",
            "Act on the Protection of Personal Information, Article 43, and its Enforcement Rules, Article 34.",
            appi(found),
        ),
    ]


def _list(title: str, about: str, items: Sequence[Item]) -> dict[str, Any]:
    counts = ", ".join(f"{sum(item.verdict == each for item in items)} {each}" for each in STYLES)
    rows = [
        [item.rule, item.seen, Cell(item.verdict, style=STYLES[item.verdict], sign=item.verdict == JUDGE)]
        for item in items
    ]
    return {"title": title, "about": f"{about} {counts}.", "rows": rows}


# -- HIPAA ----------------------------------------------------------------------------------------------------------


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


def _holding(found: Figures, kinds: Sequence[str]) -> tuple[list[str], list[str]]:
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


def _read(found: Figures) -> str:
    contents = found["contents"]
    return f"{contents['cells']:,} cells in {contents['columns']} columns were read."


def _texts(found: Figures) -> list[str]:
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
    if number in (*NUMBERS, ANY_OTHER) and _leads_to_people(column, number):
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


def _leads_to_people(column: ColumnFigures, number: int) -> bool:
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
    sure, unsure = _holding(found, HELD[number])
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
        told.insert(len(derived), f"{absent}. {_read(found)}")
    if number == 3 and found["contents"]["beyond"] and worst == MET:
        told.append(f"Numbers from 91 to 120 in {', '.join(found['contents']['beyond'])} count as no ages.")
    texts = _texts(found)
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


# -- thresholds --------------------------------------------------------------------------------------------------------


def _crowd(found: Figures) -> tuple[int | None, str]:
    """Return the size of the smallest group, and how it is known."""
    if found["smallest_class"] is not None:
        who = "people" if found["people"] else "records"
        return int(found["smallest_class"]), f"The smallest group of the release has {found['smallest_class']:,} {who}"
    drawn = [one for one in found["guarantees"] if one["model"] == "pk-anonymity" and one["holds"]]
    if drawn:
        least = float(drawn[0]["achieved"] or 0)
        return int(least + 1e-9), f"Pk-anonymity holds: each record could be that of {least:.3g} people"
    return None, "The release keeps quasi-identifiers unchanged, so people may be recognised by them"


def _crowded(found: Figures) -> tuple[str, str]:
    """Return what is known of the smallest crowd, and whether it is one of 11."""
    size, told = _crowd(found)
    outside = found["classes"]["outside"] if found["classes"] else []
    if size is None or size < 11:
        return told, UNMET
    if outside:  # whoever knows these, too, may see smaller groups
        return f"{told}, without {', '.join(outside)}, which only km-anonymity limits", JUDGE
    return told, MET


def _few_share(found: Figures) -> tuple[list[str], list[str]]:
    """Return the columns with values that few records share: those where it was seen, and those that are hidden."""
    columns = found["columns"]
    hidden = [column["name"] for column in columns if column["treatment"] in ("sets", "apart")]
    return [column["name"] for column in columns if column.get("rare")], hidden


def ema(found: Figures) -> list[Item]:
    """Return the rules of EMA's policy 0070 that apply to a table."""
    size, _ = _crowd(found)
    told, verdict = _crowded(found)
    risk = None if size is None else 1 / max(size, 1)
    seen = f"{told}." if risk is None else f"{told}: a largest risk of {risk:.4f}."
    measured = (found.get("risk") or {}).get("wp216") or {}
    return [
        Item(
            "The largest risk of being recognised is at most 0.09",
            seen,
            verdict,
        ),
        *_criteria(measured),
        Item("The expected use, and who gets the data, were considered", "A tool cannot know.", JUDGE),
    ]


def _criteria(measured: Mapping[str, Any]) -> Iterator[Item]:
    names = {
        "singling_out": "No record can be singled out",
        "linkability": "Records about a person cannot be linked",
        "inference": "Nothing can be inferred about a person",
    }
    for name, rule in names.items():
        after = (measured.get(name) or {}).get("after")
        seen = "Not measured in this report."
        if after is not None:
            seen = (
                f"Measured: attacks succeed {100 * after['above']:.1f} percentage points more often than chance (95%: "
                f"{100 * after['above_low']:.1f} to {100 * after['above_high']:.1f})."
            )
        yield Item(rule, seen, JUDGE)


def cell_size(found: Figures) -> list[Item]:
    """Return the rule of cells of at least 11."""
    told, verdict = _crowded(found)
    small = [column["name"] for column in found["columns"] if column.get("small")]
    _, hidden = _few_share(found)
    about = (
        _as_they_came(found, small, "with values of 1 to 10 records")
        if small
        else "No column outside the groups shows a value of 1 to 10 records."
    )
    if hidden:
        about += f" Values of {', '.join(hidden)} are hidden among others; some values may be rare."
    return [
        Item("No group of quasi-identifiers has 1 to 10 records", f"{told}.", verdict),
        Item("No other column shows a value of 1 to 10 records", about, UNMET if small else JUDGE if hidden else MET),
        Item(
            "This report shows no count of 1 to 10",
            f"Counts of the data below {found['threshold']} are blurred, and others rounded to multiples of it.",
            MET if found["threshold"] >= 11 else UNMET if verdict == UNMET or small else JUDGE,
        ),
        Item("Tables made from the release show no cell of 1 to 10", "The publisher must check this.", JUDGE),
    ]


# -- Japan ----------------------------------------------------------------------------------------------------


def appi(found: Figures) -> list[Item]:
    """Return the standards for making anonymously processed information, and the duties that come with it."""
    return [
        _appi_descriptions(found),
        _appi_official_codes(found),
        _appi_links(found),
        _appi_unusual(found),
        _appi_other_measures(found),
        *_appi_duties(found),
    ]


def _appi_descriptions(found: Figures) -> Item:
    """Rule 34(1): names, addresses, contact data, and faces."""
    rule = "Rule 34(1): descriptions that identify a person are deleted or replaced"
    absent = any(one["model"] == "identifiers absent" and one["holds"] for one in found["guarantees"])
    hints = [IDENTIFIERS[place][1] for place in (0, 1, 3, 4, 5, 16)]
    codes = [name for name, code in derived_codes(found).items() if code.rare or code.person]
    telling = [name for name in _untouched(found) if name not in codes and any(hinted(name, words) for words in hints)]
    texts, withheld = _texts(found), found["withheld"]
    sure, unsure = _holding(found, [kind for place in (1, 4, 6, 17) for kind in HELD[place]] + ["postal addresses"])
    numbers = _new_numbers(found)
    told = [f"Not released: {', '.join(withheld)}."] if withheld else []
    told += [f"Released as pseudonyms, which the holder of the key can connect: {', '.join(codes)}."] if codes else []
    told += [f"Released as new numbers: {', '.join(numbers)}."] if numbers else []
    seen = " ".join(told) or "The policy names no identifier."
    seen += "".join(f" {sentence}" for sentence in [*sure, *unsure])
    if not sure and not unsure:
        seen += f" No cell holds a name by its form, an address or an image. {_read(found)}"
    if telling or texts:
        seen += f" {_as_they_came(found, list(dict.fromkeys([*telling, *texts])), 'and may name a person')}"
    clear = absent and withheld and not codes and not telling and not texts and not unsure
    return Item(rule, seen, UNMET if sure else MET if clear else JUDGE)


def _appi_official_codes(found: Figures) -> Item:
    """Rule 34(2): official numbers, insurance, licenses, bodies, passports and pensions."""
    rule = "Rule 34(2): individual identification codes (個人識別符号) are deleted or replaced"
    hints = [IDENTIFIERS[place][1] for place in (6, 8, 10, 15)]
    hints.append("passport pension 旅券 パスポート 年金番号 住民票コード")
    names = dict.fromkeys([*(column["name"] for column in found["columns"]), *derived_codes(found)])
    codes = [name for name in names if any(hinted(name, words) for words in hints)]
    kinds = [kind for place in (7, 9, 11, 16) for kind in HELD[place]]
    sure, unsure = _holding(found, kinds)
    seen = " ".join([*sure, *unsure]) if sure or unsure else f"No cell holds one by its form. {_read(found)}"
    seen += f" Columns that look like one: {', '.join(codes)}." if codes else ""
    return Item(rule, seen, UNMET if sure else JUDGE if codes or unsure or _texts(found) else MET)


def _appi_links(found: Figures) -> Item:
    """Rule 34(3): numbers of people, and other codes."""
    rule = "Rule 34(3): codes that link with other information are deleted or replaced"
    codes, numbers = list(derived_codes(found)), _new_numbers(found)
    linked = bool(numbers) and found["policy"]["release"].get("subjects") == "linked"
    numbered = [
        column["name"]
        for column in found["columns"]
        if column["name"] not in codes
        and (
            (column["treatment"] == "untouched" and hinted(column["name"], IDENTIFIERS[17][1]))
            or (column.get("whole") and _leads_to_people(column, ANY_OTHER))
        )
    ]
    seen = ""
    if codes:
        seen = f"Released as pseudonyms: {', '.join(codes)}. They link all records of a person, in this release and in "
        seen += "all others under the same key, and the holder of the key can link them with the source."
    elif not numbers:
        seen = "No number of a person or a pseudonym is in the release."
    if linked:
        seen += " People have one random number throughout the release, which links their records; "
        seen += "the number does not identify the person."
    elif numbers:
        seen += " People are numbered separately in each group; nothing links these numbers with the source."
    seen = seen.strip()
    if numbered:
        seen += f" Released, and named like a code or with values that few share: {', '.join(numbered)}."
    return Item(rule, seen, JUDGE if codes or linked or numbered or _texts(found) else MET)


def _appi_unusual(found: Figures) -> Item:
    """Rule 34(4): values that few share."""
    rule = "Rule 34(4): idiosyncratic descriptions (特異な記述) are deleted or replaced"
    rare, hidden = _few_share(found)
    size, crowd = _crowd(found)
    outside = found["classes"]["outside"] if found["classes"] else []
    seen = f"{crowd}."
    if outside:
        seen += f" That is without {', '.join(outside)}."
    if rare:
        seen += f" {_as_they_came(found, rare, 'with values that few share')}"
    return Item(rule, seen, JUDGE if rare or hidden or outside or size is None or size < 2 else MET)


def _appi_other_measures(found: Figures) -> Item:
    """Rule 34(5): other measures."""
    rule = "Rule 34(5): other measures that the nature of the data requires"
    changed = [
        column["name"] for column in found["columns"] if column["treatment"] != "untouched" or column.get("steps")
    ]
    changed = list(dict.fromkeys([*changed, *derived_codes(found), *_new_numbers(found)]))
    seen = f"Changed: {', '.join(changed) or 'nothing'}. Whether this is enough depends on what others know."
    return Item(rule, seen, JUDGE)


def _appi_duties(found: Figures) -> list[Item]:
    """Art. 43: what the organisation has to do."""
    organisation = "A matter of the organisation."
    codes, numbers = derived_codes(found), _new_numbers(found)
    held = {
        **{column["name"]: column["name"] for column in found["columns"]},
        **{name: f"{name} (pseudonyms)" for name in codes},
        **{name: f"{name} (new numbers)" for name in numbers},
    }
    kinds = f"The release holds: {', '.join(held.values())}."
    seen = {
        "Art. 43(2): deleted descriptions, and how they were processed, are kept safe": organisation,
        "Art. 43(3): the kinds of information in it are made public": kinds,
        "Art. 43(4): before provision, kinds and means are made public, and the recipient is informed": (
            "This page can be handed over with the release."
        ),
        "Art. 43(5): nobody compares it with other information to identify a person": (
            "A matter of contracts and conduct."
        ),
        "Art. 43(6): security and complaints are handled": organisation,
    }
    return [Item(rule, what, JUDGE) for rule, what in seen.items()]


def _untouched(found: Figures) -> list[str]:
    """Return the columns that no method changed; transformations may have."""
    return [column["name"] for column in found["columns"] if column["treatment"] == "untouched"]


def _as_they_came(found: Figures, names: Sequence[str], what: str) -> str:
    """Say something of columns that no method changed, of unchanged and of transformed ones apart."""
    steps = {column["name"]: ", ".join(column.get("steps") or ()) for column in found["columns"]}
    bare = [name for name in names if not steps.get(name)]
    done = [f"{name} ({steps[name]})" for name in names if steps.get(name)]
    told = [f"Released unchanged, {what}: {', '.join(bare)}."] if bare else []
    return " ".join([*told, *([f"Released transformed, {what}: {', '.join(done)}."] if done else [])])


def _new_numbers(found: Figures) -> list[str]:
    """Return the column of people who have new random numbers in the release."""
    counted = any(each.get("count") == "subjects" for each in found["policy"]["require"])
    codes = derived_codes(found)
    columns = found["policy"]["columns"] if counted else ()
    return [column["name"] for column in columns if column["role"] == "subject" and column["name"] not in codes]
