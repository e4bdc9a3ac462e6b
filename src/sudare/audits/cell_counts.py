"""Counts of released cells: for each quasi-identifier, how many records show which kind of cell.

Cells are counted from the classes, so the work grows with the different cells and not with the records. Counts of parts
of a release can be added up (:meth:`add <Single.add>`). There are three kinds of columns:

- without a hierarchy (:class:`Single`): values as they are, ranges, sets of categories, and ``*``;
- with one (:class:`Nodes`): labels of its nodes;
- item sets (:class:`Items`): items, or labels of nodes above them.

The cells are parsed by the rules of ``docs/release.md``, not with the code that writes them.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sudare.audits.date_axis import TEMPORAL, place_of
from sudare.audits.rule_levels import level_of
from sudare.policy import ColumnSpec, HierarchySpec

OTHER = "other"
"""What a set lists in place of rare categories."""
_KIND = """
    CASE WHEN cell IS NULL THEN 'missing' WHEN cell = '*' THEN 'anything'
         WHEN starts_with(cell, '[') AND ends_with(cell, ']') AND contains(cell, ', ') THEN 'range'
         WHEN starts_with(cell, '{') AND ends_with(cell, '}') THEN 'set' ELSE 'single' END
"""
_INSIDE = "substr(cell, 2, length(cell) - 2)"
_COMMA = "position(', ' IN cell)"
_FIRST, _LAST = f"substr(cell, 2, {_COMMA} - 2)", f"substr(cell, {_COMMA} + 2, length(cell) - {_COMMA} - 2)"
_PLAIN = "NOT contains(cell, '\"')"
_KINDS = ("anything", "missing", "single", "range", "set")
_CELLS = "SELECT CAST({0} AS VARCHAR) AS cell, CAST(sum(size) AS BIGINT) AS n FROM class GROUP BY {0}"
_SOUND = "coalesce(isfinite(low) AND isfinite(high) AND low <= high, false)"
_DATE = "CASE WHEN {0} LIKE '____-__-__' THEN CAST(TRY_CAST({0} AS DATE) - DATE '1970-01-01' AS DOUBLE) END"
_QUICK = (
    ("number", re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"), "TRY_CAST({0} AS DOUBLE)"),
    ("day", re.compile(r"\d{4}-\d\d-\d\d"), _DATE),
)
"""What the ends of most ranges look like, and how DuckDB finds their places; it shall do so for the many."""


@dataclass
class Axis:
    """Where the ends of ranges, and single values, stand: from ``low`` to ``high``, in some ``unit``.

    ``far`` is how far from 0 any of them stands, and ``width`` the sum of the widths of ranges, over records, as a
    multiple of that: the sum itself may be more than a float can hold.
    """

    unit: str
    low: float = math.inf
    high: float = -math.inf
    far: float = 0.0
    width: float = 0.0

    def add(self, other: Axis) -> None:
        """Take in what another part of the release shows, in the same unit."""
        far = max(self.far, other.far)
        self.width = sum(each.width * (each.far / far) for each in (self, other)) if far else 0.0
        self.low, self.high, self.far = min(self.low, other.low), max(self.high, other.high), far

    @property
    def reach(self) -> float:
        """The distance of the outermost ends, as a multiple of ``far``."""
        return max(self.high / self.far - self.low / self.far, 0.0) if self.far else 0.0


@dataclass
class Single:
    """A column without a hierarchy: the records that show each kind of cell.

    ``members`` are those of sets, added up over records; ``with_other`` counts the records whose set has the category
    of rare ones, and ``other_alone`` those that show nothing else. ``names`` are the categories that any cell names,
    None for missing. ``axis`` is None if cells are not numbers, dates or times; ``odd`` says that some cells are in no
    form of a release, so nothing follows from them.
    """

    anything: int = 0
    missing: int = 0
    single: int = 0
    ranges: int = 0
    sets: int = 0
    members: int = 0
    with_other: int = 0
    other_alone: int = 0
    names: set[str | None] = field(default_factory=set)
    axis: Axis | None = None
    odd: bool = False

    def add(self, other: Single) -> None:
        """Take in what another part of the release shows."""
        told, more = self.single + self.ranges, other.single + other.ranges
        for name in ("anything", "missing", "single", "ranges", "sets", "members", "with_other", "other_alone"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.names |= other.names
        self.odd |= other.odd
        if self.axis is not None and other.axis is not None and self.axis.unit == other.axis.unit:
            self.axis.add(other.axis)
        elif told and more:  # in one of them there is what stands on no axis, or on another
            self.axis = None
        elif more:
            self.axis = other.axis


@dataclass
class Nodes:
    """A column with a hierarchy: the records that show each label, None for missing.

    Where a rule makes the hierarchy, they are counted by level (:mod:`sudare.audits.rule_levels`).
    """

    labels: Counter[str | None] = field(default_factory=Counter)

    def add(self, other: Nodes) -> None:
        """Take in what another part of the release shows."""
        self.labels.update(other.labels)


@dataclass
class Items:
    """An item-set column: the items that are shown, added up over records, and the records without a set.

    With a hierarchy they are counted by label, or by level. In text (``lists`` is false) no set is an empty one, too.
    """

    lists: bool
    items: int = 0
    nulls: int = 0
    labels: Counter[str | None] = field(default_factory=Counter)

    def add(self, other: Items) -> None:
        """Take in what another part of the release shows."""
        self.items, self.nulls = self.items + other.items, self.nulls + other.nulls
        self.labels.update(other.labels)


CellCounts = Single | Nodes | Items


def added(parts: Iterable[Mapping[str, CellCounts]]) -> dict[str, CellCounts]:
    """Return what all parts of a release show together."""
    whole: dict[str, CellCounts] = {}
    for part in parts:
        for name, shown in part.items():
            if name in whole:
                whole[name].add(shown)  # type: ignore[arg-type]  # a column is of one kind in all parts
            else:
                whole[name] = copy.deepcopy(shown)  # the part stays as it is
    return whole


def single_cells(connection: Any, alias: str) -> Single:
    """Count the cells of a column without a hierarchy."""
    return _Looking(connection, alias).found


def nodes(connection: Any, alias: str, spec: HierarchySpec) -> Nodes:
    """Count the cells of a column with a hierarchy."""
    rows = connection.execute(
        f"SELECT CAST({alias} AS VARCHAR), CAST(sum(size) AS BIGINT) FROM class GROUP BY {alias}"
    ).fetchall()
    found = Nodes()
    for cell, many in rows:
        label = None if cell is None else unquoted(cell)
        found.labels[label if label is None else level_of(spec, label)] += many
    return found


def item_sets(connection: Any, alias: str, spec: ColumnSpec, *, lists: bool) -> Items:
    """Count the cells of a column of item sets."""
    run = connection.execute
    [(items, nulls)] = run(f"""
        SELECT CAST(coalesce(sum(n * len(items)), 0) AS BIGINT),
               CAST(coalesce(sum(n) FILTER (WHERE items IS NULL), 0) AS BIGINT) FROM set_{alias}
    """).fetchall()
    found = Items(lists, items, nulls)
    if spec.hierarchy is not None:
        each = run(f"""
            SELECT item, CAST(sum(n) AS BIGINT) FROM (SELECT unnest(items) AS item, n FROM set_{alias}) GROUP BY item
        """).fetchall()
        for item, many in each:
            # in lists an item has a tag before it, which keeps a missing one apart
            found.labels[level_of(spec.hierarchy, item[1:] if lists else item)] += many
    return found


class _Looking:
    """Counts the different cells of a column without a hierarchy."""

    def __init__(self, connection: Any, alias: str) -> None:
        self.connection, self.run = connection, connection.execute
        self.found = self._at_once(alias) or self._by_steps(alias)

    def _at_once(self, alias: str) -> Single | None:
        """Count ranges of numbers or dates in one pass: there may be as many of them as classes."""
        cell = f"CAST({alias} AS VARCHAR)"
        first = self.run(f"SELECT {cell} FROM class WHERE {cell} <> '*' LIMIT 1").fetchone()
        end = first[0].removeprefix("[").partition(", ")[0] if first else ""
        likely = [(unit, place) for unit, form, place in _QUICK if form.fullmatch(end)]
        if not likely:
            return None
        [(unit, place)] = likely
        counts = [f"CAST(coalesce(sum(n) FILTER (WHERE kind = '{kind}'), 0) AS BIGINT)" for kind in _KINDS]
        [(anything, missing, single, ranges, sets, bad, low, high, far, width)] = self.run(f"""
            SELECT {", ".join(counts)},
                   count(*) FILTER (WHERE kind IN ('single', 'range') AND NOT {_SOUND}),
                   min(low), max(high), max(greatest(abs(low), abs(high))), sum(n * (high - low))
            FROM (SELECT n, kind, {place.format("first")} AS low, {place.format("last")} AS high FROM (
                SELECT n, kind, CASE kind WHEN 'single' THEN cell WHEN 'range' THEN {_FIRST} END AS first,
                       CASE kind WHEN 'single' THEN cell WHEN 'range' THEN {_LAST} END AS last
                FROM (SELECT *, {_KIND} AS kind FROM ({_CELLS.format(alias)}))))
        """).fetchall()
        if bad or sets or not ranges or not math.isfinite(width):
            return None
        return Single(anything, missing, single, ranges, axis=Axis(unit, low, high, far, width / (far or 1.0)))

    def _by_steps(self, alias: str) -> Single:
        self.found = found = Single()
        self.run(f"CREATE OR REPLACE TEMP TABLE shown AS SELECT *, {_KIND} AS kind FROM ({_CELLS.format(alias)})")
        counted = dict(self.run("SELECT kind, CAST(sum(n) AS BIGINT) FROM shown GROUP BY kind").fetchall())
        found.anything, found.missing = counted.get("anything", 0), counted.get("missing", 0)
        found.single, found.ranges, found.sets = (counted.get(kind, 0) for kind in ("single", "range", "set"))
        if found.single or found.ranges:
            found.axis = self._numbers() or self._moments()
        if found.ranges:
            found.odd = found.axis is None or bool(found.sets)
        else:
            self._names()
        self.run("DROP TABLE shown")
        self.run("DROP TABLE IF EXISTS span")
        return found

    def _numbers(self) -> Axis | None:
        """Return where cells stand if all of them are numbers."""
        return self._axis("number", "TRY_CAST(first AS DOUBLE)", "TRY_CAST(last AS DOUBLE)")

    def _moments(self) -> Axis | None:
        """Return where cells stand if all of them are dates, or all times."""
        texts = f"""
            SELECT cell AS text FROM shown WHERE kind = 'single' UNION
            SELECT {_FIRST} FROM shown WHERE kind = 'range' UNION SELECT {_LAST} FROM shown WHERE kind = 'range'
        """
        [(strange,)] = self.run(
            f"SELECT count(*) FROM ({texts}) WHERE NOT regexp_full_match(text, $form)", {"form": TEMPORAL}
        ).fetchall()
        if strange:
            return None
        found = {text: place_of(text) for (text,) in self.run(texts).fetchall()}
        units = {place.unit if place is not None else "" for place in found.values()}
        if len(units) != 1 or "" in units:
            return None
        at = pa.array([place.at for place in found.values() if place is not None], pa.float64())
        self.connection.register("places", pa.table({"text": pa.array(list(found), pa.string()), "place": at}))
        joined = "JOIN places AS one ON one.text = first JOIN places AS two ON two.text = last"
        axis = self._axis(units.pop(), "one.place", "two.place", joined)
        self.connection.unregister("places")
        return axis

    def _axis(self, unit: str, low: str, high: str, joined: str = "") -> Axis | None:
        self.run(f"""
            CREATE OR REPLACE TEMP TABLE span AS SELECT n, {low} AS low, {high} AS high FROM (
                SELECT n, cell AS first, cell AS last FROM shown WHERE kind = 'single' UNION ALL
                SELECT n, {_FIRST}, {_LAST} FROM shown WHERE kind = 'range'
            ) {joined}
        """)
        [(bad, least, most, far)] = self.run(f"""
            SELECT count(*) FILTER (WHERE NOT {_SOUND}), min(low), max(high), max(greatest(abs(low), abs(high)))
            FROM span
        """).fetchall()
        if bad:
            return None
        [(width,)] = self.run("SELECT sum(n * (high / $far - low / $far)) FROM span", {"far": far or 1.0}).fetchall()
        return Axis(unit, least, most, far, width)

    def _names(self) -> None:
        """Find the categories that sets, and cells of one value, name."""
        found = self.found
        plain = f"(SELECT string_split({_INSIDE}, ', ') AS names, n FROM shown WHERE kind = 'set' AND {_PLAIN})"
        [(members, others)] = self.run(f"""
            SELECT CAST(coalesce(sum(n * len(names)), 0) AS BIGINT),
                   CAST(coalesce(sum(n) FILTER (WHERE list_contains(names, '{OTHER}')), 0) AS BIGINT) FROM {plain}
        """).fetchall()
        found.members, found.with_other = members, others
        named = self.run(f"SELECT DISTINCT unnest(names) FROM {plain}").fetchall()
        found.names |= {None if name == "null" else name for (name,) in named}
        found.odd = "" in found.names  # which would be quoted
        for cell, many in self.run(f"SELECT cell, n FROM shown WHERE kind = 'set' AND NOT {_PLAIN}").fetchall():
            names = members_of(cell[1:-1])
            found.odd |= not names
            found.members += many * len(names)
            found.with_other += many * (OTHER in names)
            found.names |= set(names)
        for cell, many in self.run("SELECT cell, n FROM shown WHERE kind = 'single'").fetchall():
            name = unquoted(cell)
            found.names.add(name)
            found.other_alone += many * (name == OTHER)
        if found.missing:
            found.names.add(None)


def unquoted(cell: str) -> str:
    """Return a value without the quotes that mark it as a plain value."""
    if cell.startswith('"'):
        with suppress(ValueError):
            return str(json.loads(cell))
    return cell


def members_of(text: str) -> list[str | None]:
    """Return the members of a set, some of which are quoted; none if it is not written as a set is."""
    decoder, at = json.JSONDecoder(), 0
    found: list[str | None] = []
    while at < len(text):
        if text[at] == '"':
            try:
                name, at = decoder.raw_decode(text, at)
            except ValueError:
                return []
            found.append(str(name))
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            found.append(None if text[at:end] == "null" else text[at:end])
            at = end
        if at < len(text) and not text.startswith(", ", at):
            return []
        at += len(", ")
    return found
