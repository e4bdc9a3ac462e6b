"""The audit's own reading of codes and names: which groups of a built-in hierarchy a value belongs to.

The tables of classifications are facts, and the meaning of words such as ``icd-10`` in a policy. How a value is found
in them is written here anew: ranges are compared and not listed, and codes are taken apart by hand.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from sudare.audits.value_spellings import same_text
from sudare.policy.classifications import COUNTRIES, ICD_9, ICD_10, OTHER_COUNTRY_NAMES, US_AREAS, US_STATES

_SUFFIXES = "!*+†#"
_NUTS_COUNTRIES = (
    "AL AT BE BG CH CY CZ DE DK EE EL ES FI FR HR HU IE IS IT LI LT LU LV ME MK MT NL NO PL PT RO RS SE SI SK TR UK XK"
)
_ATC_GROUPS = "ABCDGHJLMNPRSV"
_DIGITS = frozenset("0123456789")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Block(NamedTuple):
    """A range of categories, others that belong to it, and its label and that of its chapter."""

    first: str
    last: str
    others: tuple[str, ...]
    label: str
    chapter: str


# -- the groups of a value, from the top


def groups_of(system: str, label: str) -> list[str] | None:
    """Return the groups of a code or name from the top; None if it is none."""
    text = same_text(label, numbers=False)
    return None if text is None else _GROUPS[system](text.upper())


def _diagnosis(category: str | None, system: str) -> list[str] | None:
    if category is None:
        return None
    for block in _blocks(system):
        if category in block.others or (_same_kind(category, block) and block.first <= category <= block.last):
            return [block.chapter, block.label, f"{category}.*"]
    return None


def _same_kind(category: str, block: Block) -> bool:
    """Whether a category may be compared with a range: as long as its ends, and with a digit at its end."""
    return len(category) == len(block.first) and all(code[1:].isdigit() for code in (category, block.first, block.last))


def _icd_10(text: str) -> list[str] | None:
    code = text[:-1] if text[-1:] and text[-1] in _SUFFIXES else text
    code = code.removesuffix("-").removesuffix(".") if code.endswith("-") else code
    category, rest = code[:3], code[3:].removeprefix(".")
    sound = len(category) == 3 and category[0] in _LETTERS and category[1] in _DIGITS
    sound &= len(rest) <= 4 and set(rest) <= _DIGITS | _LETTERS and not code.endswith(".")
    return _diagnosis(category if sound else None, "icd-10")


def _icd_9(text: str) -> list[str] | None:
    code = text.removesuffix("-").removesuffix(".") if text.endswith("-") else text
    whole, dot, rest = code.partition(".")
    size = {"V": 3, "E": 4}.get(code[:1], 3)
    if code[:1] in ("V", "E"):
        if not dot:
            whole, rest = code[:size], code[size:]
        sound = len(whole) == size and set(whole[1:]) <= _DIGITS and len(rest) <= (2 if size == 3 else 1)
        sound &= bool(rest) or not dot
    else:
        if not dot and len(whole) > size:
            whole, rest = code[:size], code[size:]
        sound = 1 <= len(whole) <= size and set(whole) <= _DIGITS and len(rest) <= 2
        whole = whole.rjust(size, "0")
    return _diagnosis(whole if sound and set(rest) <= _DIGITS else None, "icd-9")


def _atc(text: str) -> list[str] | None:
    kinds = (_LETTERS, _DIGITS, _DIGITS, _LETTERS, _LETTERS, _DIGITS, _DIGITS)
    sound = text[:1] in _ATC_GROUPS and all(sign in kind for sign, kind in zip(text, kinds, strict=False))
    return _beginnings(text, (1, 3, 4, 5), 7) if sound and len(text) in (1, 3, 4, 5, 7) else None


def _nuts(text: str) -> list[str] | None:
    sound = text[:2] in _NUTS_COUNTRIES.split() and len(text) <= 5 and set(text) <= _LETTERS | _DIGITS
    return _beginnings(text, (2, 3, 4), 5) if sound else None


def _us_zip(text: str) -> list[str] | None:
    short, dash, long = text.partition("-")
    if not dash and len(text) == 9:
        short, dash, long = text[:5], "-", text[5:]
    least = 5 if dash else 3
    if not set(short + long) <= _DIGITS or len(long) != 4 * len(dash) or not least <= len(short) <= 5:
        return None
    digits = short.rjust(5, "0")
    return [*_beginnings(digits, (1, 3), 5), f"{digits}-****"]


def _de_plz(text: str) -> list[str] | None:
    digits = text[text.find("-") + 1 :] if text.startswith(("DE-", "D-")) else text
    return _beginnings(digits.rjust(5, "0"), (1, 2, 3), 5) if len(digits) in (4, 5) and set(digits) <= _DIGITS else None


def _jp_postal(text: str) -> list[str] | None:
    code = text.removeprefix("〒").removeprefix(" ")
    first, dash, last = code.partition("-")
    if not set(first + last) <= _DIGITS or (dash and (len(first), len(last)) != (3, 4)):
        return None
    if not dash and len(first) not in (6, 7):
        return None
    digits = (first + last).rjust(7, "0")
    return [_jp_written(digits[:length] + "*" * (7 - length)) for length in (1, 2, 3, 5)]


def _jp_written(digits: str) -> str:
    return f"{digits[:3]}-{digits[3:]}"


def _beginnings(code: str, lengths: Sequence[int], full: int) -> list[str]:
    return [code[:length] + "*" * (full - length) for length in lengths if length <= len(code)]


def _place(system: str) -> Callable[[str], list[str] | None]:
    return lambda text: _places(system).get(_bare(text))


_GROUPS: dict[str, Callable[[str], list[str] | None]] = {
    "icd-10": _icd_10,
    "icd-9": _icd_9,
    "atc": _atc,
    "iso-3166": _place("iso-3166"),
    "us-states": _place("us-states"),
    "us-zip": _us_zip,
    "de-plz": _de_plz,
    "jp-postal": _jp_postal,
    "nuts": _nuts,
}

# -- the levels of labels


def answers(system: str) -> list[list[str]]:
    """Return the levels of a system from the top; the last one of ZIP codes is only there if some codes are longer."""
    levels = list(_LEVELS[system])
    return [levels, levels[:-1]] if system == "us-zip" else [levels]


def has_short_codes(system: str) -> bool:
    """Whether some codes stand directly below a higher level."""
    return system in ("atc", "nuts", "iso-3166", "us-states")


def level_of_group(system: str, label: str) -> str | None:
    """Return the level of the label of a group; None if it is no such label."""
    if system in ("icd-10", "icd-9"):
        if label.endswith(".*"):
            return "category" if _diagnosis(label[:-2], system) else None
        blocks = _blocks(system)
        if any(block.chapter == label for block in blocks):
            return "chapter"
        return "block" if any(block.label == label for block in blocks) else None
    if system in ("iso-3166", "us-states"):
        known = [groups for groups in _places(system).values() if label in groups]
        return _LEVELS[system][known[0].index(label)] if known else None
    return next((form for form in _LEVELS[system] if _has_form(label, form)), None)


def _has_form(label: str, form: str) -> bool:
    """Return whether a label has a form, in which 9 is any digit, A any letter, and X one of both."""
    kinds = {"9": _DIGITS, "A": _LETTERS, "X": _DIGITS | _LETTERS}
    return len(label) == len(form) and all(
        sign in kinds.get(kind, kind) for sign, kind in zip(label, form, strict=True)
    )


_LEVELS: dict[str, tuple[str, ...]] = {
    "icd-10": ("chapter", "block", "category"),
    "icd-9": ("chapter", "block", "category"),
    "atc": ("A******", "A99****", "A99A***", "A99AA**"),
    "iso-3166": ("region", "sub-region"),
    "us-states": ("region", "division"),
    "us-zip": ("9****", "999**", "99999-****"),
    "de-plz": ("9****", "99***", "999**"),
    "jp-postal": ("9**-****", "99*-****", "999-****", "999-99**"),
    "nuts": ("AA***", "AAX**", "AAXX*"),
}
"""The levels of each system from the top; those of codes are called by the form of their labels."""

# -- the tables


@cache
def _blocks(system: str) -> tuple[Block, ...]:
    """Return the blocks of a classification of diagnoses."""
    blocks, chapter = [], ""
    for line in (ICD_10 if system == "icd-10" else ICD_9).splitlines():
        if not line.strip():
            continue
        if not line[0].isspace():
            at = line.rindex(":")
            chapter, line = line[:at], line[at + 1 :]
        for word in line.split():
            label, *others = word.split("+")
            first, last = label.split("-")
            blocks.append(Block(first, last, tuple(others), label, chapter))
    return tuple(blocks)


@cache
def _places(system: str) -> dict[str, list[str]]:
    """Return the groups of places from the top, by their codes and names in bare letters."""
    found: dict[str, list[str]] = {}
    size, groups = (3 if system == "iso-3166" else 2), [""]
    for line in (COUNTRIES if system == "iso-3166" else US_STATES).splitlines():
        if line and not line[0].isspace():
            path, _, line = line.partition(": ")
            groups = [label for label in path.split("/") if label != "-"]
        for entry in filter(None, line.split(";")):
            for word in entry.split(None, size - 1):
                found[_bare(word)] = groups
    others = OTHER_COUNTRY_NAMES if system == "iso-3166" else US_AREAS
    for entry in others.replace("\n", " ").split(";"):
        code, _, name = entry.strip().partition(" ")
        if system == "us-states":
            found[_bare(code)] = []
        found[_bare(name)] = found[_bare(code)]
    return found


def _bare(name: str) -> str:
    """Return the letters and digits of a name, without accents and without case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", name.casefold())))
