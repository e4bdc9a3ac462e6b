"""The natural order of categories: bands of ages and other numbers, from the lowest to the highest."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_NUMBER = r"[-+]?\d+(?:[.,]\d+)?"
_BAND = re.compile(
    rf"[\[(]?\s*(?P<sign><=|>=|<|>|≤|≥|under|below|up to|over|above|unter|über|bis|ab)?\s*(?P<low>{_NUMBER})"
    rf"\s*(?:(?:-|–|—|to|bis|\.\.+|,\s)\s*(?P<high>{_NUMBER}))?\s*[\])]?"
    r"\s*(?P<more>\+|and (?:more|over|older|above)|or (?:more|over|older|above)|und (?:mehr|älter))?"
    r"\s*(?:%|years?|yrs?|jahre?|y|kg|cm|歳)?",
    re.IGNORECASE,
)
_UPWARDS = (">", ">=", "≥", "over", "above", "über", "ab")


def band(text: str) -> tuple[float, float] | None:
    """Return where a band such as ``[10-20)``, ``< 18`` or ``65+`` begins and ends; None if the text is no band."""
    found = _BAND.fullmatch(text.strip())
    if found is None:
        return None
    low = _value(found["low"])
    high = _value(found["high"]) if found["high"] else low
    sign = (found["sign"] or "").lower()
    if found["more"] or sign in _UPWARDS:
        return low, math.inf
    return (-math.inf, high) if sign else (low, high)


def ranked(labels: Sequence[str], order: Sequence[str] | None = None) -> list[int] | None:
    """Return the places of labels from the lowest to the highest; None if they have no order.

    They have the one that is given, if it names them all, or that of numbers and bands, if all of them are such.
    """
    if order is not None and set(labels) <= set(order):
        rank = {label: place for place, label in enumerate(order)}
        return sorted(range(len(labels)), key=lambda place: rank[labels[place]])
    bands = [band(label) for label in labels]
    known = [each for each in bands if each is not None]
    if len(known) < len(labels) or not labels:
        return None
    return sorted(range(len(labels)), key=lambda place: known[place])


def _value(text: str) -> float:
    return float(text.replace(",", "."))
