"""Unique records of a table, counted in the database; only counts leave it.

For each of some sets of columns there are groups of records that agree in them. A group counts if it has one record;
told a column ``of``, if all of its records have one value there (missing is a value); told columns ``within``, if that
is so in every part of the group that agrees in these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sudare.engines.addresses import Place
    from sudare.engines.database.sql_tables import Database

AT_ONCE = 30
"""The most columns that are counted in one pass over a table."""
Single = tuple[int, int]
"""How many groups there are, and how many records are in those that count."""
Names = tuple[str, ...]


def passes(sets: Sequence[Sequence[str]]) -> list[list[Names]]:
    """Return sets of columns in parts that can be counted in one pass each: all columns of a part are few enough."""
    parts: list[list[Names]] = []
    used: set[str] = set()
    for names in dict.fromkeys(map(tuple, sets)):
        if not parts or len(used | set(names)) > AT_ONCE:
            parts.append([])
            used = set()
        parts[-1].append(names)
        used |= set(names)
    return parts


def marks(part: Sequence[Names]) -> tuple[list[str], dict[Names, int]]:
    """Return the columns of a part, and the number that GROUPING has for each set of it.

    It has a bit for each column that a group is not of; that of the last column is the least.
    """
    names = list(dict.fromkeys(name for each in part for name in each))
    bits = {name: 1 << (len(names) - 1 - place) for place, name in enumerate(names)}
    return names, {each: sum(bit for name, bit in bits.items() if name not in each) for each in part}


def in_passes(
    sets: Sequence[Sequence[str]],
    at_once: Callable[[Sequence[Names]], dict[Names, Single]] | None,
    together: Callable[[Names], Single],
) -> list[Single]:
    """Count by sets of columns: as many of them ``at_once`` as fit into one pass, if they can be, or one by one."""
    found: dict[Names, Single] = {}
    if at_once is not None:
        for part in passes(sets):
            if len(part) > 1:
                found |= at_once(part)
    for names in map(tuple, sets):
        if names not in found:
            found[names] = together(names)
    return [found[tuple(names)] for names in sets]


def single_in(
    database: Database, place: Place, sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]
) -> list[Single]:
    """Count in a database."""
    at_once = partial(_at_once, database, place) if of is None else None
    return in_passes(sets, at_once, lambda names: _together(database, place, names, of, within))


def _at_once(database: Database, place: Place, part: Sequence[Names]) -> dict[Names, Single]:
    """Count by several sets of columns, in one pass."""
    names, mark = marks(part)
    cell = {name: f"c{number}" for number, name in enumerate(names)}
    sets = ", ".join(f"({', '.join(cell[name] for name in each)})" for each in part)
    groups = (
        f"SELECT grouping({', '.join(cell.values())}) AS mark, count(*) AS n "
        f"FROM ({database.selected(place, names)}) AS given GROUP BY GROUPING SETS ({sets})"
    )
    lines = database.session.fetch(
        f"SELECT mark, count(*) AS d, {_added('CASE WHEN n = 1 THEN 1 ELSE 0 END')} AS a FROM ({groups}) AS g "
        "GROUP BY mark"
    ).to_pylist()
    told = {int(line["mark"]): (int(line["d"]), int(line["a"])) for line in lines}
    return {each: told.get(mark[each], (0, 0)) for each in part}


def _together(database: Database, place: Place, names: Names, of: str | None, within: Sequence[str]) -> Single:
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


def rare_in(database: Database, place: Place, name: str, least: int, of: str | None, within: Sequence[str]) -> int:
    """Count the values of a column that fewer than ``least`` records hold, or values ``of``, ``within`` others."""
    wanted = list(dict.fromkeys([name, *([] if of is None else [of, *within])]))
    cells = ", ".join(f"c{number}" for number in range(len(wanted)))
    given = f"SELECT {'' if of is None else 'DISTINCT '}{cells} FROM ({database.selected(place, wanted)}) AS given"
    groups = f"SELECT count(*) AS n FROM ({given}) AS held WHERE c0 IS NOT NULL GROUP BY c0"
    [line] = database.session.fetch(
        f"SELECT {_added(f'CASE WHEN n < {least} THEN 1 ELSE 0 END')} AS d FROM ({groups}) AS g"
    ).to_pylist()
    return int(line["d"])


def _added(what: str) -> str:
    return f"CAST(coalesce(sum({what}), 0) AS bigint)"
