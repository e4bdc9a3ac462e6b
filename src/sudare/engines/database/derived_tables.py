"""A table that is derived from another one of a database: a temporary table with other columns in place of some.

What becomes of a cell is an expression of SQL where the database works it out exactly, and otherwise the line of a
mapping, by the value of the cell. Mappings are temporary tables, too, and are dropped as soon as they have been used.
Neither they nor the derived table are left when the work is done.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import EXACT
from sudare.engines.addresses import Place
from sudare.engines.database.dialects import quoted
from sudare.engines.database.sql_tables import Database, Tally
from sudare.engines.plain_types import plain_batch, plain_schema

_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32())
_DATE, _TIME = pa.date32(), pa.timestamp("us")
_FIRST, _END = "DATE '0001-01-01'", "DATE '9999-12-31' + 1"


@dataclass(frozen=True)
class Expression:
    """Cells that the database works out, the type in which they are read, and the mappings that they come from."""

    sql: str
    kind: pa.DataType
    joins: frozenset[int] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers of at most 64 bits."""
        return self.kind in _INTEGERS

    @property
    def is_date(self) -> bool:
        """Whether cells are dates."""
        return bool(self.kind == _DATE)

    @property
    def is_time(self) -> bool:
        """Whether cells are dates with times, to the microsecond."""
        return bool(pa.types.is_timestamp(self.kind) and self.kind.unit == _TIME.unit)

    # -- what databases work out as Arrow does --------------------------------------------------------------------

    def limited(self, at: int, shows: int, *, below: bool) -> Expression:
        """Return whole numbers of which those beyond a limit show another one."""
        assert self.is_whole
        number = f"CAST({self.sql} AS bigint)"
        beyond = f"{number} {'<' if below else '>'} {at:d}"
        return Expression(
            f"CASE WHEN {beyond} THEN CAST({shows:d} AS bigint) ELSE {number} END", pa.int64(), self.joins
        )

    def rounded(self, to: int, how: str) -> Expression:
        """Return whole numbers that are rounded to multiples of one: ``nearest``, ``up`` or ``down``."""
        assert self.is_whole
        number = f"CAST({self.sql} AS bigint)"
        rest = f"((({number} % {to:d}) + {to:d}) % {to:d})"
        more = {"down": "", "up": f"WHEN {rest} > 0", "nearest": f"WHEN 2 * {rest} >= {to:d}"}[how]
        added = f" + CASE {more} THEN {to:d} ELSE 0 END" if more else ""
        return Expression(f"(({number} - {rest}){added})", pa.int64(), self.joins)

    def day(self) -> Expression:
        """Return the days of dates with times; those with a zone are in UTC here."""
        assert self.is_time
        return Expression(f"CAST({self.sql} AS date)", _DATE, self.joins)

    def beginning(self, most: int) -> Expression:
        """Return the first characters of texts."""
        return Expression(f"substr({self.sql}, 1, {most:d})", self.kind, self.joins)

    def nothing(self, kind: pa.DataType) -> Expression:
        """Return empty cells of text."""
        return Expression("CAST(NULL AS text)", kind)

    def moved(self, days: Expression) -> Expression:
        """Return dates, with times or without, that move by so many days."""
        assert self.is_date or self.is_time
        unit = "" if self.is_date else " * INTERVAL '24 hours'"
        moved = f"({self.sql} + CAST({days.sql} AS integer){unit})"
        return Expression(moved, self.kind, self.joins | days.joins)

    def outside_of_years(self) -> Expression:
        """Return whether dates are not in the years 1 to 9999."""
        assert self.is_date or self.is_time
        return Expression(f"({self.sql} < {_FIRST} OR {self.sql} >= {_END})", pa.bool_(), self.joins)

    def without(self, other: Expression) -> Expression:
        """Return whether cells are there where another column has none."""
        return Expression(f"({self.sql} IS NOT NULL AND {other.sql} IS NULL)", pa.bool_(), self.joins | other.joins)


def fits(number: float | None) -> bool:
    """Return whether a number is whole, and so small that comparing with it is exact everywhere."""
    return number is not None and float(number).is_integer() and abs(number) < EXACT


@dataclass
class Derived:
    """A table to be derived from another one; :meth:`dropped` removes all that was made for it."""

    database: Database
    origin: Place
    _joins: list[str] = field(default_factory=list)
    _mappings: list[str] = field(default_factory=list)
    _table: str | None = None
    _kinds: dict[str, pa.DataType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.database.columns(self.origin).names
        self._kinds = dict(zip(names, self.database.types(self.origin), strict=True))

    @contextmanager
    def dropped(self) -> Iterator[Derived]:
        """Drop what was made when the work is done; where it fails, the database undoes it."""
        yield self
        for name in self._mappings if self._table is None else [self._table]:
            self.database.session.run(f"DROP TABLE {name}")

    def column(self, name: str) -> Expression:
        """Return a column, as it is read."""
        [cells] = self.database.read([name], self.origin, "given.")
        return Expression(cells, self._kinds[name])

    def distinct(self, expressions: Sequence[Expression]) -> Tally:
        """Return the different combinations of cells, and how many records have each."""
        keys = ", ".join(f"c{at}" for at in range(len(expressions)))
        cells = ", ".join(f"{each.sql} AS c{at}" for at, each in enumerate(expressions))
        found = self.database.session.fetch(
            f"SELECT {keys}, count(*) AS n FROM (SELECT {cells} FROM {self._source(expressions)}) AS given"
            f" GROUP BY {keys}"
        )
        counts = np.asarray(found.column(len(expressions)).to_numpy(), dtype=np.int64)
        given = found.select(range(len(expressions)))
        plain = [plain_batch(batch) for batch in given.to_batches()]
        return Tally(pa.Table.from_batches(plain, plain_schema(given.schema)), counts)

    def mapped(self, keys: Sequence[Expression], cells: pa.Table, shown: pa.Array) -> Expression:
        """Return what becomes of the combinations ``cells`` of some keys: ``shown`` has a line for each."""
        number = len(self._joins)
        lines = {f"k{at}": column for at, column in enumerate(cells.columns)}
        name = self.database.load("mapping", pa.table({**lines, "shown": shown}))
        self._mappings.append(name)
        match = " AND ".join(
            self.database.match(each.sql, f"m{number}.k{at}", cells.column(at)) for at, each in enumerate(keys)
        )
        self._joins.append(f"JOIN {name} AS m{number} ON {match}")
        return Expression(f"m{number}.shown", shown.type, frozenset({number}).union(*(each.joins for each in keys)))

    def counted(self, condition: Expression) -> int:
        """Count the records that fulfil a condition."""
        found = self.database.session.fetch(
            f"SELECT count(*) AS n FROM {self._source([condition])} WHERE {condition.sql}"
        )
        return int(found.column(0)[0].as_py())

    def made(self, names: Sequence[str], others: Mapping[str, Expression], same: Sequence[str]) -> Place:
        """Make a table with some columns of the given one; ``others`` are in place of its own.

        Those that are the ``same`` kind of thing keep the type that the database has for the column.
        """
        there = self.database.kinds(self.origin, pa.schema([(name, others[name].kind) for name in same]), same)
        shown = {
            name: f"CAST({each.sql} AS {there[name]})" if name in there else each.sql for name, each in others.items()
        }
        cells = ", ".join(f"{shown.get(name) or f'given.{quoted(name)}'} AS {quoted(name)}" for name in names)
        place = replace(self.origin, schema=None, table=f"sudare_tmp_{secrets.token_hex(8)}")
        table, session = self.database.name(place), self.database.session
        session.run(f"CREATE TEMP TABLE {table} AS SELECT {cells} FROM {self._source(list(others.values()))}")
        self._table = table
        for name in self._mappings:
            session.run(f"DROP TABLE {name}")
        if self.database.rows(place) != self.database.rows(self.origin):
            what = "has columns in which the database calls different values equal, or equal ones different."
            hint = "transform them in a view of texts, or write the release to a file."
            raise DataError(Problem(self.origin.shown, what, hint))
        if session.dialect.learn:
            session.run(session.dialect.learn.format(table))
        return place

    def _source(self, expressions: Sequence[Expression]) -> str:
        """Return the table with the mappings that some expressions need."""
        needed = sorted(frozenset[int]().union(*(each.joins for each in expressions)))
        return " ".join([f"{self.database.name(self.origin)} AS given", *(self._joins[number] for number in needed)])
