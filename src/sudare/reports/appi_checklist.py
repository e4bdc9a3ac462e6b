"""Japan's standards for anonymously processed information as a checklist, and the duties that come with it."""

from __future__ import annotations

from sudare.reports.checklist_items import JUDGE, MET, UNMET, Item
from sudare.reports.derived_codes import derived_codes
from sudare.reports.describe.figure_types import Figures
from sudare.reports.group_checklists import as_they_came, few_share, smallest_crowd
from sudare.reports.identifiers import ANY_OTHER, IDENTIFIERS, hinted
from sudare.reports.safe_harbor_checklist import HELD, cells_read, free_texts, holding, leads_to_people


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
    texts, withheld = free_texts(found), found["withheld"]
    sure, unsure = holding(found, [kind for place in (1, 4, 6, 17) for kind in HELD[place]] + ["postal addresses"])
    numbers = _new_numbers(found)
    told = [f"Not released: {', '.join(withheld)}."] if withheld else []
    told += [f"Released as pseudonyms, which the holder of the key can connect: {', '.join(codes)}."] if codes else []
    told += [f"Released as new numbers: {', '.join(numbers)}."] if numbers else []
    seen = " ".join(told) or "The policy names no identifier."
    seen += "".join(f" {sentence}" for sentence in [*sure, *unsure])
    if not sure and not unsure:
        seen += f" No cell holds a name by its form, an address or an image. {cells_read(found)}"
    if telling or texts:
        seen += f" {as_they_came(found, list(dict.fromkeys([*telling, *texts])), 'and may name a person')}"
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
    sure, unsure = holding(found, kinds)
    seen = " ".join([*sure, *unsure]) if sure or unsure else f"No cell holds one by its form. {cells_read(found)}"
    seen += f" Columns that look like one: {', '.join(codes)}." if codes else ""
    return Item(rule, seen, UNMET if sure else JUDGE if codes or unsure or free_texts(found) else MET)


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
            or (column.get("whole") and leads_to_people(column, ANY_OTHER))
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
    return Item(rule, seen, JUDGE if codes or linked or numbered or free_texts(found) else MET)


def _appi_unusual(found: Figures) -> Item:
    """Rule 34(4): values that few share."""
    rule = "Rule 34(4): idiosyncratic descriptions (特異な記述) are deleted or replaced"
    rare, hidden = few_share(found)
    size, crowd = smallest_crowd(found)
    outside = found["classes"]["outside"] if found["classes"] else []
    seen = f"{crowd}."
    if outside:
        seen += f" That is without {', '.join(outside)}."
    if rare:
        seen += f" {as_they_came(found, rare, 'with values that few share')}"
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


def _new_numbers(found: Figures) -> list[str]:
    """Return the column of people who have new random numbers in the release."""
    counted = any(each.get("count") == "subjects" for each in found["policy"]["require"])
    codes = derived_codes(found)
    columns = found["policy"]["columns"] if counted else ()
    return [column["name"] for column in columns if column["role"] == "subject" and column["name"] not in codes]
