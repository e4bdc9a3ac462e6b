"""The audit's own comparison of spellings: sensitive texts that differ only in spelling are one value.

Two texts are one value if they are the same once they are decomposed (NFKD) and without case, marks that nobody sees
are left out, all blanks are single and none stands at an end, dashes and quotation marks are the plain ones, and
numbers are compared as numbers. A text of which nothing is left is a missing value. ``exact: true`` switches this off.

It is done in Python, on the different texts alone: a release has few of them, and a million takes seconds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.policy import ColumnSpec

_EXACTLY = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation])
_PLAIN = dict.fromkeys("‘’‚‛ʼʹ′`", "'") | dict.fromkeys("“”„‟", '"') | {"−": "-"}
_IGNORED = (
    ("\u034f", "\u034f"), ("\u115f", "\u1160"), ("\u17b4", "\u17b5"), ("\u180b", "\u180f"), ("\u2065", "\u2065"),
    ("\u3164", "\u3164"), ("\ufe00", "\ufe0f"), ("\uffa0", "\uffa0"), ("\U000e0100", "\U000e01ef"),
)  # fmt: skip
_LONGEST_POWER = 9
TWICE = "name it once, or set exact: true to compare values exactly."
"""What to do about words of a policy that are one value."""


def merges(spec: ColumnSpec) -> bool:
    """Return whether spellings of this column are one value."""
    return spec.role == "sensitive" and not spec.exact


def counts_numbers(spec: ColumnSpec) -> bool:
    """Return whether numbers in its texts are compared as numbers; prefixes and codes use the text itself."""
    return spec.hierarchy is None or not spec.hierarchy.of_text


def same_text(text: str, *, numbers: bool = True) -> str | None:
    """Return the text that all spellings of a value have in common; None if it is a missing value."""
    plain = text.isascii() and text.isprintable() and "`" not in text
    bare = " ".join(text.lower().split()) if plain else _bare(text)
    while not plain and bare != text:  # what was left out may have kept others apart
        text, bare = bare, _bare(bare)
    text = bare
    found = number(text) if numbers else None
    return (text or None) if found is None else str(found)


def _bare(text: str) -> str:
    # case is a matter of decomposed characters, whose marks stand in one order
    seen = unicodedata.normalize("NFKD", "".join(map(_shown, unicodedata.normalize("NFKD", text))))
    return " ".join(unicodedata.normalize("NFKD", seen.casefold()).split())


@lru_cache(1 << 16)
def _shown(mark: str) -> str:
    """Return what is left of a character."""
    if mark in _PLAIN:
        return _PLAIN[mark]
    if any(first <= mark <= last for first, last in _IGNORED):
        return ""
    kind = unicodedata.category(mark)
    if kind == "Pd":
        return "-"
    return "" if kind == "Cf" or (kind == "Cc" and not mark.isspace()) else mark


def number(text: str) -> Decimal | None:
    """Return the number that a text is, in the shortest form; None if it is none."""
    if not text or text[0] not in "+-.0123456789" or not text.isascii() or "_" in text or " " in text:
        return None
    mantissa, mark, power = text.partition("e")
    if mark and len(power.lstrip("+-")) > _LONGEST_POWER:
        return None
    if not any(digit.isdigit() for digit in mantissa):
        return None
    with suppress(InvalidOperation):
        found = _EXACTLY.create_decimal(text)
        if found.is_finite():
            return Decimal(0) if found.is_zero() else found.normalize(_EXACTLY)
    return None


def same_texts(labels: Iterable[str | None], spec: ColumnSpec) -> dict[str | None, str | None]:
    """Return, for different labels of a column, the text that all spellings of their value have in common."""
    if not merges(spec):
        return {label: label for label in labels}
    numbers = counts_numbers(spec)
    return {label: None if label is None else same_text(label, numbers=numbers) for label in labels}


def same_words(words: Sequence[str], spec: ColumnSpec) -> list[str]:
    """Return a policy's words for values of a column as their spellings are compared."""
    if not merges(spec):
        return list(words)
    return [same_text(word, numbers=counts_numbers(spec)) or "" for word in words]


def check_once(words: Sequence[str], same: Sequence[str], where: str) -> None:
    """Raise if different words of a policy are one value."""
    again = len(set(words)) - len(set(same))
    if again > 0:
        raise DataError(Problem(where, f"names {again} values twice, in two spellings.", TWICE))


def same_items(items: Sequence[str], spec: ColumnSpec) -> list[str | None]:
    """Return the texts that items of sets are compared by; None for one that is blank, which is no item."""
    return [(same_text(item, numbers=True) if merges(spec) else item.strip()) or None for item in items]


def merge_items(connection: Any, table: str, spec: ColumnSpec) -> None:
    """Replace the column ``label`` of a table, which has items, by what all spellings of an item have in common."""
    labels = _labels(connection, table)
    _replace_labels(connection, table, dict(zip(labels, same_items(labels, spec), strict=True)))


def cut_items(connection: Any, table: str, words: str, listed: str, spec: ColumnSpec) -> None:
    """Make a table of the items of the sets in ``words``, one row each: value_id and label; ``listed`` is their SQL."""
    connection.execute(f"CREATE TEMP TABLE item AS SELECT value_id, unnest({listed}) AS label FROM {words}")
    merge_items(connection, "item", spec)
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE {table} AS SELECT DISTINCT value_id, label FROM item WHERE label IS NOT NULL
    """)
    connection.execute("DROP TABLE item")


def merge_labels(connection: Any, table: str, spec: ColumnSpec) -> None:
    """Replace the column ``label`` of a table by what all spellings of a value have in common."""
    _replace_labels(connection, table, same_texts(_labels(connection, table), spec))


def _labels(connection: Any, table: str) -> list[str]:
    rows = connection.sql(f"SELECT DISTINCT label FROM {table} WHERE label IS NOT NULL").fetchall()
    return [label for (label,) in rows]


def _replace_labels(connection: Any, table: str, found: Mapping[Any, str | None]) -> None:
    if all(label == same for label, same in found.items()):
        return
    connection.register(
        "respelled",
        pa.table({"label": pa.array(list(found), pa.string()), "same": pa.array(list(found.values()), pa.string())}),
    )
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE {table} AS
        SELECT given.* REPLACE (respelled.same AS label)
        FROM {table} AS given LEFT JOIN respelled ON given.label = respelled.label
    """)
    connection.unregister("respelled")


def in_order(labels: Sequence[str], spec: ColumnSpec) -> list[str]:
    """Return labels in ascending order: numbers by size, and then all others by their text."""
    numbers = counts_numbers(spec)

    def place(label: str) -> tuple[int, Decimal, str]:
        found = number(label) if numbers else None
        return (1, Decimal(0), unicodedata.normalize("NFKC", label)) if found is None else (0, found, label)

    return sorted(labels, key=place)
