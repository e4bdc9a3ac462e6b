"""The equivalence classes of a release, and how its sensitive values spread over them, as DuckDB tables.

    class     one row per equivalence class: class_id, its size, and q0, q1, ..., its cells as they stand
    set_j     one row per way in which a set of quasi-identifier j is written: items, and n (records)
    member    one row per record: class_id, s0, s1, ... (the value_id of each sensitive value), who (the subject)
    people    one row per class: class_id, people (subjects), high (the largest number), others (that are no numbers)
    whole_j   one row per value of sensitive column j: value_id, label, n, overall (its share of the release)
    spread_j  one row per class and value that occurs in it: class_id, value_id, n, share, overall, size

All but ``people`` and ``spread_j`` are made from the file, by :mod:`sudare.audits.class_tables`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare.audits.cell_counts import CellCounts, item_sets, nodes, single_cells
from sudare.audits.certificate_checks import Sizes
from sudare.audits.value_spellings import same_words
from sudare.core.errors import DataError, Problem
from sudare.policy import KAnonymitySpec, Policy

_DIGITS = 126
"""How many bits of a HUGEINT can be added up and shifted without its sign."""


@dataclass
class Classes:
    """The tables above; ``people`` and ``spread_j`` are made when first needed.

    ``largest`` is the size of the largest class, ``number`` the SQL type that holds every count and every number
    given here, and ``numbered`` says whether subjects are whole numbers by their type. ``sets`` has the columns of item
    sets, and whether they are lists by their type. ``others`` has the sensitive columns whose sets may be parted by
    another mark than the policy says: the mark, and the share of sets that have it.
    """

    connection: Any
    policy: Policy
    rows: int
    count: int
    quasi: Mapping[str, str]
    sensitive: Mapping[str, str]
    types: Mapping[str, str]
    largest: int = 0
    number: str = "BIGINT"
    numbered: bool = False
    sets: Mapping[str, bool] = field(default_factory=dict)
    others: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)

    def run(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        rows: list[tuple[Any, ...]] = self.connection.execute(sql, dict(parameters or {})).fetchall()
        return rows

    def judge(self, sql: str, parameters: Mapping[str, Any] | None = None, *, of: int | None = None) -> Judgement:
        """Sum up a query that gives each class one row (class_id, figure, holds).

        A class that the query lost, or whose verdict is neither true nor false, counts as offending: the proof
        has to be about all of them.
        """
        [(lowest, highest, judged, kept)] = self.run(
            f"SELECT min(figure), max(figure), count(*), count(*) FILTER (WHERE holds) FROM ({sql})", parameters
        )
        expected = self.count if of is None else of
        return Judgement(lowest, highest, max(expected, judged) - kept)

    def spread(self, column: str) -> tuple[str, str]:
        """Return the names of ``spread_j`` and ``whole_j`` of a sensitive column."""
        cell = self.sensitive[column]
        spread, whole = f"spread_{cell}", f"whole_{cell}"
        if spread not in self._made:
            self._made.add(spread)
            self.run(f"""
                CREATE TEMP TABLE part_{cell} AS
                SELECT part.class_id, value_id, CAST(part.n AS {self.number}) AS n, size, overall
                FROM ({self._parts(cell, whole)}) AS part JOIN {whole} USING (value_id) JOIN class USING (class_id)
            """)
            self.run(f"CREATE TEMP VIEW {spread} AS SELECT *, n / size AS share FROM part_{cell}")
            [(counted,)] = self.run(f"SELECT sum(n) FROM part_{cell}")
            if counted != self.rows:
                raise DataError(
                    Problem(column, "could not be audited: records were lost while its values were counted.")
                )
        return spread, whole

    def rare_items(self, column: str, least: int) -> int | None:
        """Return how many items of a sensitive column fewer than ``least`` records hold, None for no item sets."""
        cell = self.sensitive.get(column)
        if cell is None or self.policy.columns[column].kind != "items":
            return None
        held = f"SELECT sum(n) AS held FROM item_{cell} JOIN word_{cell} USING (value_id) GROUP BY label"
        [(count,)] = self.run(f"SELECT count(*) FROM ({held}) WHERE held < $least", {"least": least})
        return int(count)

    def _parts(self, cell: str, whole: str) -> str:
        """Return SQL that counts every value in every class: class_id, value_id, n.

        Groups of a class and a value are many more than classes, and cost accordingly. So where there is room, the
        counts of a class are written as the digits of one number, each as wide as the largest class needs.
        """
        [(values,)] = self.run(f"SELECT count(*) FROM {whole}")
        width = self.largest.bit_length()
        if not width or values * width > _DIGITS:
            return f"SELECT class_id, {cell} AS value_id, count(*) AS n FROM member GROUP BY ALL"
        one, mask = "CAST(1 AS HUGEINT)", f"CAST({(1 << width) - 1} AS HUGEINT)"
        return f"""
            WITH packed AS (SELECT class_id, sum({one} << CAST(({cell} - 1) * {width} AS INTEGER)) AS digits
                            FROM member GROUP BY class_id)
            SELECT class_id, value_id, digit AS n
            FROM (SELECT class_id, value_id, (digits >> CAST((value_id - 1) * {width} AS INTEGER)) & {mask} AS digit
                  FROM packed, {whole})
            WHERE digit > 0
        """

    def people(self) -> str:
        """Return the name of ``people``.

        Pairs of a class and a person are as many as records. So where the people of a class have small numbers, as
        in a release that numbers them per class, those that occur are noted as the bits of one number.
        """
        if "people" in self._made:
            return "people"
        self._made.add("people")
        odd = "who < 1" if self.numbered else "NOT regexp_full_match(who, '[1-9][0-9]*')"
        members, noted = "member", ""
        if self.numbered:
            small = f"coalesce(who BETWEEN 1 AND {_DIGITS - 1}, false)"
            self.run(f"""
                CREATE TEMP TABLE seen AS
                SELECT class_id, bool_and({small}) AS small, max(who) AS high,
                       bit_or(CASE WHEN {small} THEN CAST(1 AS HUGEINT) << CAST(who AS INTEGER) END) AS bits
                FROM member GROUP BY class_id
            """)
            members = "member SEMI JOIN (SELECT class_id FROM seen WHERE NOT small) USING (class_id)"
            noted = "UNION ALL SELECT class_id, bit_count(bits), high, 0 FROM seen WHERE small"
        self.run(f"""
            CREATE TEMP TABLE people AS
            SELECT class_id, count(*) AS people, max(TRY_CAST(who AS BIGINT)) AS high,
                   count(*) FILTER (WHERE coalesce({odd}, true)) AS others
            FROM (SELECT DISTINCT class_id, who FROM {members}) GROUP BY class_id
            {noted}
        """)
        return "people"

    def sizes(self) -> Sizes:
        """Return how records are spread over the classes that a method makes: by all columns that take part in them.

        Masked records show nothing: a star, or an empty set. What the root of a hierarchy is called is not known here,
        so that a column with one says nothing about who is masked.
        """
        free = free_columns(self.policy)
        taking = {name: cell for name, cell in self.quasi.items() if name not in free}
        groups = ", ".join(taking.values()) or "true"
        some = f"(SELECT {groups}, CAST(sum(size) AS HUGEINT) AS size FROM class GROUP BY ALL)" if free else "class"
        [(count, squares)] = self.run(
            f"SELECT count(*), CAST(sum(CAST(size AS HUGEINT) * size) AS VARCHAR) FROM {some}"
        )
        blank: list[tuple[Any, ...]] = []
        if self.policy.suppression.records == "masked":
            shown = [
                f"coalesce(CAST({cell} AS VARCHAR) IN ('*', '', '[]'), true)"
                for name, cell in taking.items()
                if self.policy.columns[name].hierarchy is None
            ]
            where = " AND ".join(shown) or "true"
            blank = self.run(f"SELECT DISTINCT CAST(size AS BIGINT) FROM {some} WHERE {where} ORDER BY 1")
        return Sizes(count, int(squares), tuple(size for (size,) in blank), bool(free))

    def shown(self) -> dict[str, CellCounts]:
        """Return what each quasi-identifier shows, to how many records."""
        found: dict[str, CellCounts] = {}
        for name, cell in self.quasi.items():
            spec = self.policy.columns[name]
            if name in self.sets:
                found[name] = item_sets(self.connection, cell, spec, lists=self.sets[name])
            elif spec.hierarchy is not None:
                found[name] = nodes(self.connection, cell, spec.hierarchy)
            else:
                found[name] = single_cells(self.connection, cell)
        return found

    def as_released(self, column: str, labels: Sequence[str]) -> list[str]:
        """Return a policy's words for values of a column as the column's own text: '5' is '5.0' among floats.

        Where spellings are merged, the words are, too.
        """
        return same_words(self._written(self.types[column], labels), self.policy.columns[column])

    def _written(self, kind: str, labels: Sequence[str]) -> list[str]:
        if kind == "VARCHAR" or not labels:
            return list(labels)
        rows = self.run(
            f"""
            SELECT coalesce(CAST(TRY_CAST(label AS {kind}) AS VARCHAR), label)
            FROM (SELECT unnest($labels) AS label, generate_subscripts($labels, 1) AS place) ORDER BY place
            """,
            {"labels": list(labels)},
        )
        return [label for (label,) in rows]


def free_columns(policy: Policy) -> list[str]:
    """Return the item-set columns that take no part in classes, since k^m-anonymity alone limits them.

    That is so where all other promises are k-anonymity of records, on columns among which they are not.
    """
    others = [spec for spec in policy.require if spec.model != "km-anonymity"]
    limited = [spec.column for spec in policy.require if spec.model == "km-anonymity"]
    plain = [spec.columns for spec in others if isinstance(spec, KAnonymitySpec) and spec.count == "rows"]
    if len(plain) < len(others):
        return []
    return [name for name in limited if all(columns is not None and name not in columns for columns in plain)]


@dataclass(frozen=True)
class Judgement:
    """The smallest and largest figure over all classes, and how many classes do not keep the promise."""

    lowest: Any
    highest: Any
    offending: int

    @property
    def holds(self) -> bool:
        """Whether every class keeps the promise."""
        return self.offending == 0
