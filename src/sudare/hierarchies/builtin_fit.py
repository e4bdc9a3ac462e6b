"""Which built-in hierarchy fits the values of a column, with a hint from the words of its name.

Many numbers of five digits are no postal codes, and a room may be called B12. So what many other things look like is
only found in a column whose name says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sudare.hierarchies.code_systems import CODE_SYSTEMS
from sudare.hierarchies.leaf_labels import distinct, text
from sudare.hierarchies.value_kinds import is_number

_NEARLY_ALL = 0.98
_SOME = 0.2
_MOST = 2_000
"""So many different values are looked at."""
_SEVERAL = 5
"""So many different short codes are no accident: NO is Norway, and also a word."""
_OLDEST = 125

_DIAGNOSES = ("icd", "diag", "dx", "diagnos", "disease", "krankheit", "comorb", "cause", "傷病", "病名", "診断")
_HINTS: dict[str, tuple[str, ...]] = {
    "icd-10": _DIAGNOSES,
    "icd-9": _DIAGNOSES,
    "atc": ("atc", "drug", "medic", "wirkstoff", "arznei", "substance", "薬"),
    "iso-3166": ("country", "countries", "nation", "land", "staat", "citizen", "birthplace", "pays", "país", "国"),
    "us-states": ("state", "province"),
    "us-zip": ("zip", "zcta"),
    "de-plz": ("plz", "postleitzahl"),
    "jp-postal": ("postal", "postcode", "zip", "yubin", "郵便"),
    "nuts": ("nuts",),
    "ages": ("age", "ages", "alter", "edad", "età", "年齢"),
    "money": (
        "income", "salary", "wage", "wages", "price", "amount", "cost", "costs", "charge", "charges", "payment",
        "einkommen", "gehalt", "betrag", "kosten", "preis", "umsatz", "revenue", "expenditure", "金額", "年収", "所得",
    ),
}  # fmt: skip
"""What words of a column's name begin with; those of numbers must be a whole word."""

_ALONE: dict[str, Callable[[Sequence[str]], bool]] = {
    "icd-10": lambda found: _share(found, r"[A-Za-z]\d\w\.\w+") >= _SOME and len(found) >= _SEVERAL,
    "atc": lambda found: _share(found, r"[A-Za-z]\d\d[A-Za-z]{2}\d\d") >= _SOME and len(found) >= _SEVERAL,
    "iso-3166": lambda found: len(found) >= _SEVERAL,
    "us-states": lambda found: len(found) >= _SEVERAL,
    "us-zip": lambda found: _share(found, r"\d{5}-\d{4}") >= _SOME,
}
"""Which values need no hint by a name."""


def fitting_builtin(values: pa.Array, words: Iterable[str]) -> str | None:
    """Return the name of the built-in hierarchy that fits nearly all distinct values of a column, or None.

    ``words`` are those of the column's name, or the name itself. Of numbers nothing fits without such a hint.
    """
    hints = [word.casefold() for name in ([words] if isinstance(words, str) else words) for word in _words(name)]
    values = distinct(values)
    if not len(values):
        return None
    found = [each for each in text(values[:_MOST]).to_pylist() if each.strip()]
    shares = {
        name: sum(groups is not None for groups in system.above(found)) / max(len(found), 1)
        for name, system in CODE_SYSTEMS.items()
    }
    fitting = [
        name
        for name, share in shares.items()
        if share >= _NEARLY_ALL and (_hinted(name, hints) or (name in _ALONE and _ALONE[name](found)))
    ]
    if fitting:
        return max(fitting, key=lambda name: (_hinted(name, hints), shares[name]))
    return _of_numbers(values, hints)


def _of_numbers(values: pa.Array, hints: Sequence[str]) -> str | None:
    """Return which bands fit numbers, by the column's name."""
    kind = values.type
    if not is_number(kind):
        return None
    low, high = (bound.as_py() for bound in pc.min_max(values).values())
    if low is None or low < 0:
        return None
    if set(hints) & set(_HINTS["ages"]) and high <= _OLDEST:
        return "ages"
    return "money" if set(hints) & set(_HINTS["money"]) else None


def _hinted(name: str, hints: Sequence[str]) -> bool:
    return any(hint.startswith(word) for hint in hints for word in _HINTS[name])


def _words(name: str) -> list[str]:
    """Return the words of a name that is written together, with capitals or with marks between them."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-zà-ÿ]+|[^\W\d_]+", name)


def _share(texts: Sequence[str], pattern: str) -> float:
    return sum(re.fullmatch(pattern, each.strip()) is not None for each in texts) / max(len(texts), 1)
