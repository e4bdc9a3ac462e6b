"""Tables of a database: the verbs of an engine, in SQL that is common to databases but for a dialect's snippets.

Everything happens in one transaction, which sees one state of the database and whose work nobody sees before it is
committed. So a table that others change meanwhile is read as it was, and however a run ends, no half table is left:
a lost connection, a killed process and a failed audit all end in the same way, with nothing done.

====================  ===========================================================================================
verb                  what the database does
====================  ===========================================================================================
:meth:`columns`       tells the names and types of a table's columns
:meth:`tally`         counts the records by some columns: the atoms of a table, and what an audit looks at
:meth:`batches`       gives rows, for what only we can do: item sets that are rewritten, cells that are drawn
:meth:`apply`         makes a table of another one by a decision that comes down to it
:meth:`write`         makes a table of rows that come down to it
:meth:`place`         gives the table its name, and its certificate a table beside it
:meth:`close`         drops everything that was not placed
====================  ===========================================================================================
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.engines.batches import ROWS, Source, plain_batch, plain_schema
from sudare.engines.dialects import Dialect, quoted
from sudare.engines.places import Place
from sudare.errors import DataError, Problem, TargetError

CERTIFICATE = "_sudare"
"""What the name of a release is followed by to be that of the table with its certificate."""
Ints = NDArray[np.int64]


class Session(Protocol):
    """A connection to a database: the thin part that differs from driver to driver."""

    dialect: Dialect
    shown: str

    def run(self, sql: str) -> None:
        """Run a statement."""

    def fetch(self, sql: str) -> pa.Table:
        """Run a query, and return all of its rows."""

    def stream(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """Run a query, and yield its rows in batches."""

    def load(self, name: str, data: pa.Table | pa.RecordBatchReader, *, temporary: bool) -> None:
        """Make a table of Arrow data."""

    def commit(self) -> None:
        """Let others see what was done."""

    def close(self) -> None:
        """Undo what was not committed."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Records counted by some columns: ``cells`` has a line for each combination that occurs, ``counts`` how often."""

    cells: pa.Table
    counts: Ints


@dataclass(frozen=True, eq=False)
class Decision:
    """What is to become of the records of a table, by what they hold.

    ``keys`` are lines of cells of some columns, and ``classes`` says to which class the records with these cells go.
    Records whose cells are in no line are left out. Where records with the same cells go to different classes, lines
    are repeated, and ``first`` and ``last`` say which of them go where, counted from 1 in random order. ``shown`` has a
    line for each class: what its records show, in columns that are made anew. ``also`` has cells that each line of
    ``keys`` shows of its own, in place of the source's. All other columns of ``names`` are carried along. ``sizes`` is
    how many records each class has.
    """

    names: Sequence[str]
    keys: pa.Table
    classes: Ints
    shown: pa.Table
    sizes: Ints
    first: Ints | None = None
    last: Ints | None = None
    also: pa.Table | None = None
    by_class: bool = True


@dataclass
class Database:
    """A database in one transaction. What is made in it stands under names that nobody has, until it is placed."""

    session: Session
    _schemas: dict[Place, pa.Schema] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for statement in (*self.session.dialect.begin, *self.session.dialect.settings):
            self.session.run(statement)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop everything that was not placed."""
        self.session.close()

    # -- looking -------------------------------------------------------------------------------------------------

    def columns(self, place: Place) -> pa.Schema:
        """Return the columns of a table, as the database describes them; raise if there is no such table."""
        if place not in self._schemas:
            self._schemas[place] = self.session.fetch(f"SELECT * FROM {self.name(place)} LIMIT 0").schema
        return self._schemas[place]

    def rows(self, place: Place) -> int:
        """Count the records of a table."""
        return int(self.session.fetch(f"SELECT count(*) FROM {self.name(place)}").column(0)[0].as_py())

    def tally(self, place: Place, names: Sequence[str]) -> Tally:
        """Count the records of a table by some of its columns."""
        if not names:
            return Tally(pa.table({}), np.array([self.rows(place)]))
        cells = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(self._read(place, names)))
        keys = ", ".join(f"c{number}" for number in range(len(names)))
        found = self.session.fetch(
            f"SELECT {keys}, count(*) AS n FROM (SELECT {cells} FROM {self.name(place)}) AS given GROUP BY {keys}"
        )
        counts = np.asarray(found.column(len(names)).to_numpy(), dtype=np.int64)
        plain = [plain_batch(batch) for batch in found.select(range(len(names))).to_batches()]
        schema = plain_schema(found.schema).remove(len(names))
        return Tally(pa.Table.from_batches(plain, schema).rename_columns(list(names)), counts)

    def types(self, place: Place) -> list[pa.DataType]:
        """Return the types of a table's columns, as they are read."""
        names = self.columns(place).names
        query = ", ".join(f"{expression} AS c{at}" for at, expression in enumerate(self._read(place, names)))
        return list(plain_schema(self.session.fetch(f"SELECT {query} FROM {self.name(place)} LIMIT 0").schema).types)

    def source(self, place: Place, names: Sequence[str]) -> Source:
        """Return some columns of a table as a source that is read batch by batch."""
        schema = self.columns(place)
        query = ", ".join(f"{expression} AS c{at}" for at, expression in enumerate(self._read(place, names)))
        probe = self.session.fetch(f"SELECT {query} FROM {self.name(place)} LIMIT 0").schema
        plain = plain_schema(probe)
        rows = self.rows(place)
        if not rows:
            raise DataError(Problem(place.shown, "has no records."))
        kinds = pa.schema([pa.field(name, kind.type) for name, kind in zip(names, plain, strict=True)])
        assert all(name in schema.names for name in names)

        def batches(_: Collection[str]) -> Iterator[pa.RecordBatch]:
            for batch in self.session.stream(f"SELECT {query} FROM {self.name(place)}", ROWS):
                if len(batch):
                    yield pa.RecordBatch.from_arrays(plain_batch(batch).columns, schema=kinds)

        return Source(kinds, rows, batches)

    def certificate(self, place: Place) -> Mapping[str, Any] | None:
        """Return the certificate of a release, or None if there is none."""
        paper = place.beside(CERTIFICATE)
        if not self.exists(paper):
            return None
        try:
            [text] = self.session.fetch(f"SELECT certificate FROM {self.name(paper)}").column(0).to_pylist()
            found = json.loads(text)
        except (ValueError, TypeError):
            raise DataError(Problem(paper.shown, "is not a certificate that can be read.")) from None
        return found if isinstance(found, dict) else None

    def exists(self, place: Place) -> bool:
        """Say whether there is a table, or anything else, of a name."""
        found = self.session.fetch("SELECT table_schema AS s, table_name AS t FROM information_schema.tables")
        schema = place.schema or self.session.dialect.schema
        wanted = (schema, place.table)
        pairs = zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True)
        if self.session.dialect.folds_case:
            return (schema.lower(), place.table.lower()) in {(one.lower(), two.lower()) for one, two in pairs}
        return wanted in set(pairs)

    # -- making --------------------------------------------------------------------------------------------------

    def check_target(self, place: Place, names: Sequence[str]) -> None:
        """Raise if no release of these columns can be put there: it may replace an older release, and nothing else."""
        longest = self.session.dialect.longest_name
        paper = place.beside(CERTIFICATE)
        problems = [
            Problem(
                place.shown, f"'{name}' is longer than a name may be there ({longest} bytes).", "use a shorter one."
            )
            for name in (paper.table, *names)
            if longest is not None and len(name.encode()) > longest
        ]
        if self.session.dialect.folds_case and len({name.lower() for name in names}) < len(names):
            what = "names of columns that differ in upper and lower case alone are the same there."
            problems.append(Problem(place.shown, what, "rename some of them."))
        if self.exists(place) and not self.exists(paper):
            what = "is there already, and is no release."
            problems.append(Problem(place.shown, what, "choose another name for the release."))
        if problems:
            raise TargetError(problems)
        # whoever may not make tables there is told now, and not after the work
        probe = self._new(place)
        self.session.run(f"CREATE TABLE {self.name(probe)} (nothing integer)")
        self.session.run(f"DROP TABLE {self.name(probe)}")

    def apply(self, origin: Place, target: Place, decision: Decision) -> Place:
        """Make the table of a release from another table of this database; return where it is until it is placed."""
        if set(decision.names) <= set(decision.shown.column_names):
            return self._repeat(target, decision)
        draft, dialect = self._new(target), self.session.dialect
        keys, shown = decision.keys.column_names, decision.shown.column_names
        lines = {f"k{at}": column for at, column in enumerate(decision.keys.columns)}
        lines["class_id"] = pa.chunked_array([pa.array(decision.classes)])
        for name, numbers in (("first_one", decision.first), ("last_one", decision.last)):
            if numbers is not None:
                lines[name] = pa.chunked_array([pa.array(numbers)])
        own = [] if decision.also is None else decision.also.column_names
        for at, name in enumerate(own):
            lines[f"o{at}"] = decision.also.column(name)  # type: ignore[union-attr]
        told, labels = self._load("decision", pa.table(lines)), self._load("class", _numbered(decision.shown))
        made = {name: f"labels.l{at}" for at, name in enumerate(shown)}
        made |= {name: f"own_part.o{at}" for at, name in enumerate(own)}
        carried = [name for name in decision.names if name not in made]
        cells = ", ".join(
            f"{made.get(name) or f'own_part.r{carried.index(name)}'} AS {quoted(name)}" for name in decision.names
        )
        parts = ", ".join(
            ["told.class_id"]
            + [f"given.{quoted(name)} AS r{at}" for at, name in enumerate(carried)]
            + [f"told.o{at}" for at in range(len(own))]
        )
        read = self._read(origin, keys, "given.")
        match = " AND ".join(
            self._match(expression, f"told.k{at}", decision.keys.column(at)) for at, expression in enumerate(read)
        )
        table = self.name(origin)
        if decision.first is not None:
            by = ", ".join(self._read(origin, keys))
            turn = self._free("turn", self.columns(origin).names)
            table = (
                f"(SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY {dialect.shuffled}) AS {quoted(turn)}"
                f" FROM {table})"
            )
            match += f" AND given.{quoted(turn)} BETWEEN told.first_one AND told.last_one"
        # In an order that tells nothing: a table of a database has none, but its pages do. What is put in order has no
        # labels yet, which are long.
        order = f" ORDER BY told.class_id, {dialect.shuffled}" if decision.by_class else ""
        self.session.run(
            f"CREATE TABLE {self.name(draft)} AS SELECT {cells}"
            f" FROM (SELECT {parts} FROM {table} AS given JOIN {told} AS told ON {match or 'true'}{order}) AS own_part"
            f" JOIN {labels} AS labels ON own_part.class_id = labels.class_id"
        )
        return draft

    def _repeat(self, target: Place, decision: Decision) -> Place:
        """Make the table of a release whose records show nothing of their own: all of a class are the same."""
        draft, table = self._new(target), _numbered(decision.shown)
        labels = self._load("class", table.append_column("records", pa.array(decision.sizes)))
        shown = decision.shown.column_names
        cells = ", ".join(f"labels.l{shown.index(name)} AS {quoted(name)}" for name in decision.names)
        self.session.run(
            f"CREATE TABLE {self.name(draft)} AS SELECT {cells} FROM {labels} AS labels,"
            f" LATERAL {self.session.dialect.times.format('labels.records')}"
        )
        return draft

    def write(
        self, target: Place, schema: pa.Schema, batches: Iterable[pa.RecordBatch], like: Place | None = None
    ) -> Place:
        """Make the table of a release from rows; return where it is until it is placed.

        Columns that are also in ``like``, another table here, and were read from there as text get their types back.
        """
        draft = self._new(target)
        names = [f"c{at}" for at in range(len(schema))]
        plain = pa.schema([pa.field(name, _decoded(kind.type)) for name, kind in zip(names, schema, strict=True)])
        parts = (_undictionaried(batch, plain) for batch in batches)
        stage = self._new(target)
        self.session.load(self.name(stage), pa.RecordBatchReader.from_batches(plain, parts), temporary=False)
        casts = {} if like is None else self._odd_types(like, schema)
        if not casts:
            for name, column in zip(names, schema.names, strict=True):
                if name != column:
                    self.session.run(f"ALTER TABLE {self.name(stage)} RENAME COLUMN {name} TO {quoted(column)}")
            return stage
        cells = ", ".join(
            f"CAST({name} AS {casts[column]}) AS {quoted(column)}" if column in casts else f"{name} AS {quoted(column)}"
            for name, column in zip(names, schema.names, strict=True)
        )
        self.session.run(f"CREATE TABLE {self.name(draft)} AS SELECT {cells} FROM {self.name(stage)}")
        self.session.run(f"DROP TABLE {self.name(stage)}")
        return draft

    def place(self, draft: Place, target: Place, certificate: Mapping[str, Any]) -> None:
        """Give an audited release its name, with its certificate in a table beside it, all at once."""
        paper, target_paper = self._new(target), target.beside(CERTIFICATE)
        text = json.dumps(certificate, ensure_ascii=False)
        self.session.load(self.name(paper), pa.table({"certificate": [text]}), temporary=False)
        if self.exists(target_paper):
            for old in (target, target_paper):
                self.session.run(f"DROP TABLE IF EXISTS {self.name(old)}")
        self.session.run(f"ALTER TABLE {self.name(draft)} RENAME TO {quoted(target.table)}")
        self.session.run(f"ALTER TABLE {self.name(paper)} RENAME TO {quoted(target_paper.table)}")
        self.session.commit()

    # -- words ---------------------------------------------------------------------------------------------------

    def name(self, place: Place) -> str:
        """Return a table's name as SQL has it."""
        return quoted(place.table) if place.schema is None else f"{quoted(place.schema)}.{quoted(place.table)}"

    def _read(self, place: Place, names: Sequence[str], prefix: str = "") -> list[str]:
        schema = self.columns(place)
        return [self.session.dialect.read(prefix + quoted(name), schema.field(name)) for name in names]

    def _match(self, one: str, other: str, cells: pa.ChunkedArray) -> str:
        return self.session.dialect.same(one, other, cells.type) if cells.null_count else f"{one} = {other}"

    def _odd_types(self, like: Place, schema: pa.Schema) -> dict[str, str]:
        """Return the types that columns had before they were read as text, where they are still what they were."""
        found = {}
        for kind in self.columns(like):
            odd = self.session.dialect.sql_type(kind)
            if odd is not None and kind.name in schema.names:
                found[kind.name] = odd
        return found

    def _load(self, what: str, data: pa.Table) -> str:
        name = quoted(f"sudare_{what}_{secrets.token_hex(4)}")
        self.session.load(name, data, temporary=True)
        if self.session.dialect.learn:
            self.session.run(self.session.dialect.learn.format(name))
        return name

    def _new(self, target: Place) -> Place:
        return Place(target.engine, target.address, target.schema, f"sudare_tmp_{secrets.token_hex(8)}")

    @staticmethod
    def _free(wanted: str, taken: Collection[str]) -> str:
        lowered = {name.lower() for name in taken}
        while wanted in lowered:
            wanted += "_"
        return wanted


def open_database(place: Place, *, create: bool = False) -> Database:
    """Connect to the database of a place, or raise; with ``create``, a file that is not there is made."""
    if place.engine == "duckdb":
        from sudare.engines.duckdb import DuckSession

        return Database(DuckSession(place, create=create))
    from sudare.engines.postgres import PostgresSession

    return Database(PostgresSession(place))


def _numbered(shown: pa.Table) -> pa.Table:
    columns = {f"l{at}": _decoded_column(column) for at, column in enumerate(shown.columns)}
    return pa.table({"class_id": pa.array(np.arange(shown.num_rows, dtype=np.int64)), **columns})


def _decoded(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.list_(_decoded(kind.value_type)) if pa.types.is_list(kind) else kind


def _decoded_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(_decoded(column.type)) if pa.types.is_dictionary(column.type) else column


def _undictionaried(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    arrays = [cells.cast(kind.type) for cells, kind in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
