"""Stray words: cells in a column of numbers that are no numbers, such as ``>100`` and ``ca. 80``, and are no codes.

Codes may be numbers for the most part, too: ICD-9 has 250.01 beside V57 and E909. One of these among numbers says that
all of them are codes. So a word with a digit in it is stray only if no code is written so, or if it is one of very few
in a column with fractions.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_FEWEST_NUMBERS, _NEARLY_ALL = 20, 0.9  # so many different numbers make a column of numbers
_VERY_FEW = 0.02

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_FRACTION = r"^\s*[+-]?\d*\.\d"
_UNITS = (
    "%|‰|°|°c|°f|€|[$]|£|eur|euro|usd|gbp|chf|"
    "kg|g|mg|µg|ug|mcg|ng|lbs?|oz|l|dl|ml|cl|km|m|cm|mm|in|ft|h|hrs?|std|min|s|sec|sek|ms|"
    "d|days?|tage?|weeks?|wochen?|months?|monate?|mon|y|yrs?|years?|jahre?|ie|iu|u|mmhg|bpm|kcal|kj|"
    "kg/m2|kg/m²|[mµn]?mol/l|[mµn]?g/d?l|[mµn]?g/ml|u/l|ie/l|iu/l"
)
_QUANTITY = re.compile(rf"[~≈±]?\s*[+-]?\d+([.,]\d+)?\s*({_UNITS})\.?", re.IGNORECASE)
_COMPARED = re.compile(r"[<>≤≥~≈]=?\s*[+-]?\d.*|[+-]?\d+([.,]\d+)?\s*[<>≤≥?]")
_LOCAL = re.compile(r"[+-]?\d{1,3}([.,'’ ]\d{3})*[.,]\d+|[+-]?\d+[.,]\d+")
_CODE = re.compile(r"[A-Z]{1,4}[ .:/_-]?\d\S*|\d[\d.]*[ ./_-]?[A-Z]{1,3}|[a-z]\d\S*")  # V57, E909, B 12, 101 A, x78


def find_numbers(values: pa.Array) -> pa.Array | None:
    """Return which of the different texts of a column are its numbers, or dates, if the others are stray words.

    None stands for a column without stray words: one of numbers alone, of codes, or of text.
    """
    digits = pc.match_substring_regex(values, r"\d")
    numbers = pc.match_substring_regex(values, _NUMBER)
    if pc.all(pc.equal(digits, numbers)).as_py() or not _are_most(numbers):
        return digits if _are_most(digits) and not pc.all(digits).as_py() else None
    odd = values.filter(pc.and_not(digits, numbers)).to_pylist()
    doubtful = [text for text in odd if not _is_plainly_stray(text.strip())]
    if doubtful:
        fractions = pc.any(pc.match_substring_regex(values.filter(numbers), _FRACTION)).as_py()
        few = len(odd) < _VERY_FEW * len(values)
        if not (fractions and few) or any(_CODE.fullmatch(text.strip()) for text in doubtful):
            return None
    return numbers


def _are_most(found: pa.Array) -> bool:
    some = pc.sum(found).as_py() or 0
    return bool(some >= max(_FEWEST_NUMBERS, _NEARLY_ALL * len(found)))


def _is_plainly_stray(text: str) -> bool:
    """Return whether no code is written like a text with digits: it has a unit, a comparison sign or a blank."""
    if any(form.fullmatch(text) for form in (_QUANTITY, _COMPARED, _LOCAL)):
        return True
    return " " in text and _CODE.fullmatch(text) is None
