"""Clinical values: codes of diagnoses and drugs, changes of a dose, results of tests, whatever their column is called.

What is found here is released unchanged (see :mod:`sudare.drafts.guesses`), which is less careful than ranges and sets.
So a form that other codes may have, too, is not enough: three digits may be a room, a letter with two digits a ward.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NEARLY_ALL, _SOME = 0.95, 0.1
_FEWEST_CODES = 20  # wards and rooms are fewer
_MOST_WORDS = 12

_ICD_9 = re.compile(r"\d{3}(\.\d{1,2})?|V\d{2}(\.\d{1,2})?|E\d{3}(\.\d)?", re.IGNORECASE)
_ICD_9_TELLING = re.compile(r"\d{3}\.\d{1,2}|V\d{2}\.\d{1,2}|E\d{3}\.\d", re.IGNORECASE)
_ICD_10 = re.compile(r"[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4}[+*!]?)?", re.IGNORECASE)
_ICD_10_TELLING = re.compile(r"[A-Z]\d[0-9A-Z]\.[0-9A-Z]{1,4}[+*!]?", re.IGNORECASE)
_ATC = re.compile(r"[A-DGHJ-NPRSV]\d{2}[A-Z]{2}(\d{2})?", re.IGNORECASE)

CLINICAL_CODES = {
    "icd-9": "codes of diagnoses (ICD-9)",
    "icd-10": "codes of diagnoses (ICD-10)",
    "atc": "codes of drugs (ATC)",
}
"""The built-in hierarchies of clinical codes, in words."""

_DOSES = frozenset(["steady", "up", "down", "increased", "decreased", "started", "stopped", "continued", "unchanged"])
_NOT_TAKEN = frozenset(["no", "yes", "not taken", "not given"])
_RESULTS = frozenset(["norm", "normal", "abnormal", "positive", "negative", "borderline", "reactive", "nonreactive"])
_LEVELS = frozenset(["high", "low", "elevated", "very high", "very low"])
_LIMIT = re.compile(r"[<>≤≥]=?\s*\d+([.,]\d+)?")


def looks_clinical(values: Sequence[str]) -> str:
    """Return what clinical values the different texts of a column are, or an empty string."""
    texts = {value.strip().casefold() for value in values}
    if not texts:
        return ""
    if len(texts) <= _MOST_WORDS:
        if texts <= _DOSES | _NOT_TAKEN and texts & _DOSES:
            return "changes of a drug's dose"
        of_tests = {text for text in texts if text in _RESULTS | _LEVELS or _LIMIT.fullmatch(text)}
        if of_tests == texts and texts & _RESULTS:
            return "results of a test"
    if len(texts) < _FEWEST_CODES:
        return ""
    for form, telling, system in (
        (_ICD_9, _ICD_9_TELLING, "icd-9"),
        (_ICD_10, _ICD_10_TELLING, "icd-10"),
        (_ATC, _ATC, "atc"),
    ):
        if _share(texts, form) >= _NEARLY_ALL and _share(texts, telling) >= _SOME:
            return CLINICAL_CODES[system]
    return ""


def _share(texts: set[str], form: re.Pattern[str]) -> float:
    return sum(form.fullmatch(text) is not None for text in texts) / len(texts)
