"""From the file to its classes: which records have equal cells, and the class and values of each record.

Two records are in one class if every released quasi-identifier is equal *as written*: a missing value equals only a
missing value, and a set in another order, or with an item twice, is another cell. It means the same, but every reader
can see the difference, which may single out a record. Records are grouped directly from the file: no table as wide as
the file is made.

    written   one row per way in which quasi-identifiers are written: q0, q1, ... as they stand, and n
    set_j     one row per way in which a set of column j is written: raw (as it stands), items, n (records)
    word_j    one row per way in which a value of sensitive column j is written: raw, value_id; spellings of one value
              have the same (see :mod:`sudare.audits.value_spellings`)
    item_j    for a sensitive column j of item sets: one row per value_id and item, label; spellings of one item are one

The other tables are those of :mod:`sudare.audits.equivalence_classes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sudare.audits.cell_equality import (
    DEFAULT_SEPARATOR,
    USUAL_SEPARATORS,
    Cell,
    comparable,
    is_list,
    listed_items,
    person,
    sql_type,
    value,
)
from sudare.audits.equivalence_classes import Classes
from sudare.audits.release_columns import Release
from sudare.audits.value_spellings import cut_items, merge_labels
from sudare.core.errors import DataError, Problem
from sudare.core.sizes import LARGEST_INT32
from sudare.policy import ColumnSpec, Policy

SUSPICIOUS = 0.1
"""The share of sets with another separator that makes it a suspect, if no set has that of the policy."""


@dataclass(frozen=True)
class Whole:
    """The whole release that a part is taken from: its rows, and for sensitive columns a table of labels and counts."""

    rows: int
    labels: Mapping[str, Any]


def build_classes(
    connection: Any,
    release: Release,
    policy: Policy,
    whole: Whole | None = None,
    beside: Mapping[str, str] | None = None,
) -> Classes:
    """Read the columns the requirements need, and number the classes.

    If the release is a part of a ``whole``, it must have all records of a class, and uses the shares of the whole. For
    a release that is slow to read, the table ``source`` is kept, if ``beside`` has additional columns: it has these,
    and the cells that were needed here.
    """
    with release.reading():
        build = _Build(connection, release, policy, whole, beside)
        rows = build.classes()
        if not rows:
            raise DataError(Problem(release.where, "has no rows, so there is nothing to prove."))
        number = "INTEGER" if rows <= LARGEST_INT32 else "BIGINT"  # in the former everything takes half the room
        if build.deep:
            build.members(rows, number)
    release.check_read(rows)
    [(count, largest)] = connection.execute("SELECT count(*), max(size) FROM class").fetchall()
    return Classes(
        connection,
        policy,
        rows,
        count,
        build.quasi,
        build.sensitive,
        {name: sql_type(build.kind(name)) for name in build.sensitive},
        largest=largest,
        number=number,
        numbered=any(pa.types.is_integer(build.kind(name)) for name in build.subject),
        sets={
            name: is_list(build.kind(name))
            for name, alias in build.quasi.items()
            if build.cells[alias].shown is not None
        },
        others=build.others,
    )


class _Build:
    """Makes the tables; ``deep`` says whether any promise looks into the classes, and so needs ``member``."""

    def __init__(
        self,
        connection: Any,
        release: Release,
        policy: Policy,
        whole: Whole | None,
        beside: Mapping[str, str] | None,
    ) -> None:
        self.run = connection.execute
        self.connection, self.whole = connection, whole
        self.release, self.policy = release, policy
        used = {column for spec in policy.require if (column := getattr(spec, "column", None)) is not None}
        self.quasi = {name: f"q{number}" for number, name in enumerate(policy.quasi)}
        self.sensitive = {name: f"s{number}" for number, name in enumerate(policy.sensitive) if name in used}
        self.subject = [policy.subject] if policy.counts_subjects and policy.subject is not None else []
        self.deep = bool(self.sensitive or self.subject)
        self.others: dict[str, tuple[str, float]] = {}
        looked_at = [*self.quasi, *self.sensitive, *self.subject]
        self.source = release.source(connection, looked_at, again=self.deep, beside=beside)
        self.ways, self.count = release.ways(connection, looked_at, self.source)
        self.cells = {alias: self._cell(name, comparable) for name, alias in self.quasi.items()}

    def kind(self, name: str) -> Any:
        """Return the Arrow type of a column."""
        return self.release.types[self.release.names.index(name)]

    def _cell(self, name: str, form: Callable[[str, Any, ColumnSpec], Cell]) -> Cell:
        return form(f"c{self.release.names.index(name)}", self.kind(name), self.policy.columns[name])

    def classes(self) -> int:
        """Make ``class`` and ``set_j``; return the number of records."""
        raws = ", ".join(f"{cell.raw} AS {alias}" for alias, cell in self.cells.items())
        counted = f"CAST({self.count} AS BIGINT) AS n"
        self.run(f"CREATE TEMP TABLE written AS SELECT {raws}, {counted} FROM {self.ways} GROUP BY ALL")
        for alias, cell in self.cells.items():
            if cell.shown is not None:
                self._sets(alias, cell)
        keys = ", ".join(self.cells)
        self.run(f"CREATE TEMP VIEW class AS SELECT rowid AS class_id, {keys}, n AS size FROM written")
        [(rows,)] = self.run("SELECT coalesce(sum(size), 0) FROM class").fetchall()
        return int(rows)

    def _sets(self, alias: str, cell: Cell) -> None:
        """Make ``set_j``."""
        self.run(f"""
            CREATE TEMP TABLE set_{alias} AS SELECT raw, {cell.of("raw")} AS items, n
            FROM (SELECT {alias} AS raw, CAST(sum(n) AS BIGINT) AS n FROM written GROUP BY {alias})
        """)

    def members(self, rows: int, number: str) -> None:
        """Make ``whole_j`` and ``member``, with numbers in place of everything but subjects."""
        given = [f"{cell.raw} AS {alias}" for alias, cell in self.cells.items()]
        taken = [f"CAST(class_id AS {number}) AS class_id"]
        joins = " JOIN class ON " + " AND ".join(_same(f"given.{alias}", f"class.{alias}") for alias in self.cells)
        for name, alias in self.sensitive.items():
            if self.policy.columns[name].kind == "items":
                cell = self._cell(name, comparable)
                self._items(alias, cell, name, rows, number)
            else:
                cell = self._cell(name, value)
                labels = None if self.whole is None else self.whole.labels.get(name)
                self._values(alias, cell, self.policy.columns[name], rows, number, labels)
            given.append(f"{cell.raw} AS {alias}")
            taken.append(f"word_{alias}.value_id AS {alias}")
            joins += f" JOIN word_{alias} ON {_same(f'given.{alias}', f'word_{alias}.raw')}"
        for name in self.subject:
            given.append(f"{self._cell(name, person).raw} AS who")
            taken.append("who")
        self.run(f"""
            CREATE TEMP TABLE member AS
            SELECT {", ".join(taken)} FROM (SELECT {", ".join(given)} FROM {self.source}) AS given{joins}
        """)
        [(found,)] = self.run("SELECT count(*) FROM member").fetchall()
        if found != rows:
            raise DataError(Problem(self.release.where, "returned different records when it was read again."))

    def _items(self, alias: str, cell: Cell, name: str, rows: int, number: str) -> None:
        """Make ``word_j``, ``whole_j`` and ``item_j`` of item sets: each way in which a set is written is a value."""
        kind, spec = self.kind(name), self.policy.columns[name]
        self.run(f"""
            CREATE TEMP TABLE word_{alias} AS
            SELECT raw, CAST(row_number() OVER () AS {number}) AS value_id, n
            FROM (SELECT {cell.raw} AS raw, count(*) AS n FROM {self.source} GROUP BY ALL)
        """)
        other = None if is_list(kind) else self._other_separator(f"word_{alias}", spec.separator or DEFAULT_SEPARATOR)
        if other is not None:
            self.others[name] = other
        self.run(
            f"""
            CREATE TEMP TABLE whole_{alias} AS
            SELECT value_id, CAST(value_id AS VARCHAR) AS label, n, n / $rows AS overall FROM word_{alias}
            """,
            {"rows": rows},
        )
        cut_items(self.connection, f"item_{alias}", f"word_{alias}", listed_items("raw", kind, spec), spec)

    def _other_separator(self, words: str, separator: str) -> tuple[str, float] | None:
        """Return what else may part sets in text, and the share of sets that have it, if none has the policy's mark."""
        others = [other for other in USUAL_SEPARATORS if other != separator]
        having = ", ".join("coalesce(sum(n) FILTER (contains(raw, ?)), 0)" for _ in (separator, *others))
        counted = f"SELECT coalesce(sum(n), 0), {having} FROM {words} WHERE raw IS NOT NULL"
        [(sets, parted, *counts)] = self.run(counted, [separator, *others]).fetchall()
        most, other = max(zip(counts, others, strict=True), key=lambda found: found[0])
        return None if parted or not most or most < SUSPICIOUS * sets else (other, most / sets)

    def _values(self, alias: str, cell: Cell, spec: ColumnSpec, rows: int, number: str, labels: Any) -> None:
        """Make ``whole_j`` and ``word_j``; ``labels`` are those of the whole release, where this is a part of it."""
        self.run(f"""
            CREATE TEMP TABLE word AS SELECT *, {cell.of("raw")} AS label
            FROM (SELECT {cell.raw} AS raw, count(*) AS n FROM {self.source} GROUP BY ALL)
        """)
        merge_labels(self.connection, "word", spec)
        counted = "(SELECT label, CAST(sum(n) AS BIGINT) AS n FROM word GROUP BY label)"
        if labels is not None and self.whole is not None:
            self.connection.register("labels", labels)
            counted, rows = "labels", self.whole.rows
        self.run(
            f"""
            CREATE TEMP TABLE whole_{alias} AS
            SELECT CAST(row_number() OVER () AS {number}) AS value_id, label, n, n / $rows AS overall
            FROM {counted}
            """,
            {"rows": rows},
        )
        self.run(f"""
            CREATE TEMP TABLE word_{alias} AS SELECT raw, value_id
            FROM word JOIN whole_{alias} AS whole ON {_same("word.label", "whole.label")}
        """)
        self.run("DROP TABLE word")


def _same(one: str, other: str) -> str:
    return f"{one} IS NOT DISTINCT FROM {other}"
