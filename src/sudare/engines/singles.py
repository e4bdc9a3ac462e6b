"""Records of a table that are alone: counted where the table is, and nothing but counts comes up.

For each of some sets of columns there are groups of records that agree in them. A group counts if it has one record;
told a column ``of``, if all of its records have one value there (missing is a value); told columns ``within``, if that
is so in every part of the group that agrees in these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sudare.engines.database import Database
    from sudare.engines.places import Place

AT_ONCE = 30
"""So many columns are counted by in one pass over a table."""
Single = tuple[int, int]
"""How many groups there are, and how many records are in those that count."""


def single_in(
    database: Database, place: Place, sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]
) -> list[Single]:
    """Count in a database; single columns are counted together, as many as fit into one pass."""
    found: dict[tuple[str, ...], Single] = {}
    alone = [tuple(names) for names in sets if len(names) == 1 and of is None]
    for first in range(0, len(alone), AT_ONCE):
        found |= _each(database, place, [name for (name,) in alone[first : first + AT_ONCE]])
    for names in sets:
        if tuple(names) not in found:
            found[tuple(names)] = _together(database, place, list(names), of, list(within))
    return [found[tuple(names)] for names in sets]


def _each(database: Database, place: Place, names: Sequence[str]) -> dict[tuple[str, ...], Single]:
    """Count by each of some columns, in one pass."""
    names = list(dict.fromkeys(names))
    keys = [f"c{number}" for number in range(len(names))]
    which = " ".join(f"WHEN grouping({key}) = 0 THEN {number}" for number, key in enumerate(keys))
    groups = (
        f"SELECT CASE {which} END AS place, count(*) AS n FROM ({database.selected(place, names)}) AS given "
        f"GROUP BY GROUPING SETS ({', '.join(f'({key})' for key in keys)})"
    )
    lines = database.session.fetch(
        f"SELECT place, count(*) AS d, {_added('CASE WHEN n = 1 THEN 1 ELSE 0 END')} AS a FROM ({groups}) AS g "
        "GROUP BY place"
    ).to_pylist()
    told = {int(line["place"]): (int(line["d"]), int(line["a"])) for line in lines}
    return {(name,): told.get(number, (0, 0)) for number, name in enumerate(names)}


def _together(database: Database, place: Place, names: list[str], of: str | None, within: list[str]) -> Single:
    """Count by some columns together."""
    wanted = list(dict.fromkeys([*names, *(within if of is not None else ()), *([] if of is None else [of])]))
    cell = {name: f"c{number}" for number, name in enumerate(wanted)}
    keys = ", ".join(cell[name] for name in names)
    given = f"({database.selected(place, wanted)}) AS given"
    if of is None:
        groups = f"SELECT count(*) AS n, count(*) AS p FROM {given} GROUP BY {keys}"
    else:
        who = cell[of]
        values = f"count(DISTINCT {who}) + CASE WHEN count({who}) < count(*) THEN 1 ELSE 0 END"
        parts = ", ".join(dict.fromkeys([cell[name] for name in (*names, *within)]))
        groups = f"SELECT {keys}, count(*) AS n, {values} AS p FROM {given} GROUP BY {parts}"
        if within:
            groups = f"SELECT {_added('n')} AS n, max(p) AS p FROM ({groups}) AS part GROUP BY {keys}"
    [line] = database.session.fetch(
        f"SELECT count(*) AS d, {_added('CASE WHEN p = 1 THEN n ELSE 0 END')} AS a FROM ({groups}) AS g"
    ).to_pylist()
    return int(line["d"]), int(line["a"])


def _added(what: str) -> str:
    return f"CAST(coalesce(sum({what}), 0) AS bigint)"
