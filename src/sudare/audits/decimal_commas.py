"""Decimal commas in a text file: which columns have them, and their cells as every other file has them.

In a column of numbers ``17,5`` is 17.5, and ``[17,5; 42]`` is the range ``[17.5, 42]``. The certificate names these
columns. None of their cells may be written with a decimal point, and no other column may have cells that look like
numbers with a comma: then all readers who know the layout read the same numbers. Without a certificate, columns with
such cells are taken for columns of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sudare.core.errors import DataError, Problem

_COMMA = r"^(-?[0-9]*),([0-9]+([eE][-+]?[0-9]+)?)$"
_POINT = r"-?[0-9]*\.[0-9]+([eE][-+]?[0-9]+)?"
_LIKE = r"-?([0-9]*|[0-9]{1,3}(\.[0-9]{3})+),[0-9]+([eE][-+]?[0-9]+)?"
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
    for place in range(len(names)):
        cell = f"c{place}"
        is_range = f"regexp_full_match({cell}, '{_RANGE}')"
        ends = " OR ".join(f"regexp_full_match({end.format(cell)}, '{_POINT}')" for end in (_LOW, _HIGH))
        odd = f"""CASE WHEN starts_with({cell}, '[') THEN NOT {is_range} OR {ends}
            ELSE regexp_full_match({cell}, '{_POINT}') END"""
        like = f"regexp_full_match({cell}, '{_LIKE}')"
        counts += [f"count(*) FILTER ({test})" for test in (odd, like, is_range)]
    [found] = connection.execute(f"SELECT {', '.join(counts)} FROM {cells}").fetchall()
    of = {name: found[3 * place : 3 * place + 3] for place, name in enumerate(names)}
    numbers = tuple(name for name in names if (name in told if told is not None else of[name][1] or of[name][2]))
    odd_ones = [
        Problem(where, f"column '{name}' has {of[name][0]} cells that are not written with a decimal comma.")
        for name in numbers
        if of[name][0]
    ] + [
        Problem(where, f"column '{name}' has {like} cells with a decimal comma, and is not told as one of numbers.")
        for name, (_, like, _) in of.items()
        if like and name not in numbers
    ]
    if odd_ones:
        raise DataError(odd_ones)
    return numbers
