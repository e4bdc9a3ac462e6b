"""Which combinations of Arrow type, role, method and format are refused, and why."""

from __future__ import annotations

LEAVES_QUASI = ("dummies", "anatomy")
"""The methods that carry quasi-identifiers along."""
ITEMS = ("list", "list of whole numbers", "large_list", "fixed_size_list", "list_view")
NESTED = ("list of lists", "map", "struct", "struct of nanoseconds")
BINARY = ("binary", "large_binary", "fixed_size_binary", "binary_view")
FINE = ("duration ns", "time64 ns", "duration far out", "struct of nanoseconds")
ANYWHERE = {
    "dates that no calendar has": ("far out", "in the years"),
    "text that is not UTF-8": ("invalid UTF-8",),
    "an unknown time zone": ("unknown zone",),
    "times beyond the day": ("beyond the day",),
    "calendar intervals": ("interval",),
}


def expected(kind: str, role: str, method: str, form: str) -> str | None:
    """Return why a combination is refused, None if it is not."""
    if kind in FINE:
        return "times finer than a microsecond, or too long"
    if kind == "decimal256":
        return "decimals of more than 38 digits"
    for reason, words in ANYWHERE.items():
        if any(word in kind for word in words):
            return reason
    carried = role == "insensitive" or (role == "quasi" and method in LEAVES_QUASI)
    if carried:
        return _not_in_text(kind) if form == "csv" else None
    if kind in BINARY:
        return "bytes are no values"
    if kind in NESTED:
        return "lists of lists, maps and structs are no items"
    if kind in ITEMS and (role != "quasi" or method not in ("top-down", "l-clustering", "full-domain")):
        return "lists, where a promise or method takes single values"
    if "infinity" in kind:
        return "infinite numbers"
    if kind == "null" and role in ("sensitive", "subject"):
        return "nothing but missing values" if not (role == "subject" and method in (*LEAVES_QUASI, "pram")) else None
    if form == "csv" and method == "dummies" and kind == "string" and role == "sensitive":
        return "items that hold the separator"
    if kind == "null" and method == "pram" and role == "quasi":
        return "nothing but missing values"
    return _not_in_text(kind) if form == "csv" and role != "subject" else None


def _not_in_text(kind: str) -> str | None:
    if kind in ("list of lists", "map", "struct"):
        return "what text cannot show"
    return "control characters in text" if kind == "string with a zero byte" else None
