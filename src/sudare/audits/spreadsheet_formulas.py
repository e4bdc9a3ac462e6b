"""Cells of text files that spreadsheets would run as formulas: an apostrophe before them says that they are text.

What a cell is goes by the policy. Under ``formulas: escape`` a cell that begins with a sign of formulas has an
apostrophe before it, which is taken off here: models and certificates speak of values. Negative numbers have none.
Under ``keep`` only texts that began with an apostrophe themselves have one more. A file of somebody else may have cells
that are not written so. These are marked by a character that no canonical text holds, so that no two cells that differ
in the file become one here: other readers take nothing off.
"""

from __future__ import annotations

_SIGNS = "=+@\t\r\n＝＋－＠-"
_PLAIN = ("({0} >= '.' AND {0} < '=')", "({0} >= 'A' AND {0} < '＋')")
"""Cells that begin with no such sign, nor with an apostrophe: nearly all, and quicker told from the rest by the order
of bytes."""
_NUMBER = r"-([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"


def value_of(cell: str, formulas: str) -> str:
    """Return the SQL of the value that a cell of a text file stands for."""
    odd = f"concat(chr(1), {cell})"
    plain = " OR ".join(_PLAIN).format(cell)
    if formulas == "keep":
        return f"""CASE WHEN {cell} IS NULL OR NOT starts_with({cell}, '''') THEN {cell}
            WHEN regexp_matches({cell}, '^''''+[{_SIGNS}]') THEN substr({cell}, 2)
            WHEN regexp_matches({cell}, '^''[{_SIGNS}]') THEN {odd} ELSE {cell} END"""
    return f"""CASE WHEN {plain} THEN {cell}
        WHEN {cell} IS NULL OR NOT contains('{_SIGNS}''', left({cell}, 1)) THEN {cell}
        WHEN starts_with({cell}, '''') AND NOT regexp_matches({cell}, '^''+[{_SIGNS}]') THEN {cell}
        WHEN starts_with({cell}, '''') AND NOT regexp_full_match(substr({cell}, 2), '{_NUMBER}') THEN substr({cell}, 2)
        WHEN regexp_full_match({cell}, '{_NUMBER}') THEN {cell} ELSE {odd} END"""
