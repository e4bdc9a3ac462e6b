"""Cells of text files that spreadsheets would run as formulas: an apostrophe marks them as text.

The policy decides how a cell is read. Under ``formulas: escape`` a cell that begins with a sign of formulas has an
apostrophe before it. It is removed here, because models and certificates are about values. Negative numbers have none.
Under ``keep`` only texts that began with an apostrophe have one more. A file by another tool may break these rules.
Such cells are marked by a character that no canonical text holds, so cells that differ in the file stay different:
other readers remove nothing.
"""

from __future__ import annotations

_SIGNS = "=+@\t\r\n＝＋－＠-"
_PLAIN = ("({0} >= '.' AND {0} < '=')", "({0} >= 'A' AND {0} < '＋')")
"""Cells that begin with no such sign, nor with an apostrophe: nearly all. The order of bytes finds them faster."""
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
