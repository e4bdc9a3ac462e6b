"""How tables say that a value is missing."""

from __future__ import annotations

MISSING_WORDS = frozenset(
    ["", "?", "??", "-", "--", ".", "na", "n/a", "n.a.", "#n/a", "nan", "null", "<null>", "(null)", "none", "nil",
     "missing", "unknown", "not available", "not known", "unbekannt", "k.a.", "k. a.", "keine angabe", "n.b.",
     "inconnu", "desconocido", "不明", "欠損", "未記入"]
)  # fmt: skip
"""Compared without case and outer blanks. None of them is a value of a person."""


def is_missing_word(text: str) -> bool:
    """Return whether a text that is not empty says that a value is missing, as no name of a column does."""
    return bool(text.strip()) and text.strip().casefold() in MISSING_WORDS
