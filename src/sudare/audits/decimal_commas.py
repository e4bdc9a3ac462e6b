"""Decimal commas in a text file: which columns have them, and their cells as every other file has them.

In a column of numbers ``17,5`` is 17.5, and ``[17,5; 42]`` is the range ``[17.5, 42]``. The certificate names these
columns. None of their cells may be written with a decimal point, and no other column may have cells that look like
numbers with a comma: then all readers who know the layout read the same numbers. Without a certificate, columns with
such cells are taken for columns of numbers.

A number has one spelling in these columns. Others, such as ``+17,5``, ``1.000,5`` or full-width digits, are refused:
they would count as different values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sudare.audits.value_spellings import same_text
from sudare.core.errors import DataError, Problem

_COMMA = r"^(-?[0-9]*),([0-9]+([eE][-+]?[0-9]+)?)$"
_POINT = r"-?[0-9]*\.[0-9]+([eE][-+]?[0-9]+)?"
_LIKE = r" *[+-]?([0-9]*|[0-9]{1,3}(\.[0-9]{3})+),[0-9]+([eE][-+]?[0-9]+)? *"
_USUAL = r"-?[0-9]*[.,][0-9]+([eE][-+]?[0-9]+)?|[-+0-9eE]*"
_NEVER = r"!-&(-*/:-DF-Z\[-_a-df-z{-~\p{Han}\p{Hiragana}\p{Katakana}\p{Cyrillic}"
_MAYBE = rf"[^{_NEVER}]*\pN[^{_NEVER}]*"
"""What may be a number in another spelling: none of these signs and letters becomes a part of one."""
_VISIBLE = "[ -_a-~]*"
_VISIBLE_SPELLED = (
    r" *''?[+-]?([0-9]+,[0-9]*|[0-9]*[.,][0-9]+|[0-9]{1,3}(([.,'']| +)[0-9]{3})+([.,][0-9]*)?)([eE][+-]?[0-9]+)? *"
)
"""The texts of these signs that are a number in another spelling, as a pattern in SQL."""
_SPELLED = re.compile(
    r"'?[+-]?([0-9]+,[0-9]*|[0-9]*[.,][0-9]+|[0-9]{1,3}([., '][0-9]{3})+([.,][0-9]*)?)(e[+-]?[0-9]+)?"
)
_SPELLED_COMMA = re.compile(r"'?[+-]?([0-9]*|[0-9]{1,3}([. '][0-9]{3})+),[0-9]+(e[+-]?[0-9]+)?")
_RANGE = r"\[[^;\[\]]*; [^;\[\]]*[\])]"
_AT = "position('; ' IN {0})"
_LOW = f"substr({{0}}, 2, {_AT} - 2)"
_HIGH = f"substr({{0}}, {_AT} + 2, length({{0}}) - {_AT} - 2)"


def with_points(cell: str) -> str:
    """Return the SQL of a cell of a column of numbers, with a point, and a comma between the ends of a range."""
    low, high, whole = (_number(text) for text in (_LOW.format(cell), _HIGH.format(cell), cell))
    return f"""CASE WHEN starts_with({cell}, '[') AND regexp_full_match({cell}, '{_RANGE}')
        THEN concat('[', {low}, ', ', {high}, right({cell}, 1)) ELSE {whole} END"""


def _number(text: str) -> str:
    return rf"regexp_replace({text}, '{_COMMA}', '\1.\2')"


def number_columns(
    connection: Any, cells: str, names: Sequence[str], told: Sequence[str] | None, where: str
) -> tuple[str, ...]:
    """Return the columns of numbers; raise if cells contradict what is ``told`` about them.

    ``cells`` is the SQL source of the cells as they are written, named by their positions.
    """
    strange = [name for name in told or () if name not in names]
    if strange:
        what = f"says that {len(strange)} columns have decimal commas which are not in the release."
        raise DataError(Problem("certificate.layout", what))
    counts = []
    for place, name in enumerate(names):
        cell = f"c{place}"
        is_range = f"regexp_full_match({cell}, '{_RANGE}')"
        ends = " OR ".join(f"regexp_full_match({end.format(cell)}, '{_POINT}')" for end in (_LOW, _HIGH))
        odd = f"""CASE WHEN starts_with({cell}, '[') THEN NOT {is_range} OR {ends}
            ELSE regexp_full_match({cell}, '{_POINT}') END"""
        like = f"regexp_full_match({cell}, '{_LIKE}')"
        maybe = f"""NOT regexp_full_match({cell}, '{_USUAL}') AND
            CASE WHEN regexp_full_match({cell}, '{_VISIBLE}') THEN regexp_full_match({cell}, '{_VISIBLE_SPELLED}')
            ELSE regexp_full_match({cell}, '{_MAYBE}') END"""
        counts += [f"count(*) FILTER ({test})" for test in (odd, like, is_range)]
        counts += [f"list(DISTINCT {cell}) FILTER ({maybe})" if told is None or name in told else "NULL"]
    [found] = connection.execute(f"SELECT {', '.join(counts)} FROM {cells}").fetchall()
    of = {name: found[4 * place : 4 * place + 3] for place, name in enumerate(names)}
    # once for each different text: they are few, and SQL does not know how texts are folded
    folded = {
        name: {text: same_text(text, numbers=False) or "" for text in found[4 * place + 3] or ()}
        for place, name in enumerate(names)
    }
    if told is None:
        told = [n for n in names if of[n][1] or of[n][2] or any(map(_SPELLED_COMMA.fullmatch, folded[n].values()))]
    numbers = tuple(name for name in names if name in told)
    odd_ones = [
        Problem(where, f"column '{name}' has {of[name][0]} cells that are not written with a decimal comma.")
        for name in numbers
        if of[name][0]
    ] + [
        Problem(where, f"column '{name}' has {like} cells with a decimal comma, and is not told as one of numbers.")
        for name, (_, like, _) in of.items()
        if like and name not in numbers
    ]
    for name in numbers:
        others = [text for text, plain in folded[name].items() if _SPELLED.fullmatch(plain)]
        if others:
            many = _count(connection, cells, f"c{names.index(name)}", others)
            what = f"column '{name}' has {many} cells with numbers that are not spelled as they have to be."
            odd_ones.append(Problem(where, what))
    if odd_ones:
        raise DataError(odd_ones)
    return numbers


def _count(connection: Any, cells: str, cell: str, texts: Sequence[str]) -> int:
    """Return how many cells have one of some texts."""
    [(many,)] = connection.execute(
        f"SELECT count(*) FROM {cells} WHERE {cell} IN (SELECT unnest(?))", [list(texts)]
    ).fetchall()
    return int(many)
