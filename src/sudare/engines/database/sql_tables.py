"""Tables of a database: the operations of an engine, in common SQL plus the snippets of a dialect.

Everything happens in one transaction, which sees one state of the database and whose work nobody sees before it is
committed. So a table that others change meanwhile is read as it was, and however a run ends, no half table is left:
a lost connection, a killed process and a failed audit all end in the same way, with nothing done.

====================  ===========================================================================================
verb                  what the database does
====================  ===========================================================================================
:meth:`columns`       tells the names and types of a table's columns
:meth:`tally`         counts the records by some columns: the atoms of a table, and what an audit looks at
:meth:`source`        gives rows, for what only we can do: item sets that are rewritten, cells that are drawn
:meth:`apply`         makes a table of another one by a decision that comes down to it
:meth:`write`         makes a table of rows that come down to it
:meth:`first`         gives the first rows of such a table
:meth:`place`         gives the table its name, and its certificate a table beside it
:meth:`close`         drops everything that was not placed
====================  ===========================================================================================
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem, TargetError
from sudare.engines.addresses import Place
from sudare.engines.batches import ROWS, Source
from sudare.engines.certificate_text import parse_certificate, read_certificate
from sudare.engines.database.database_randomness import with_chance
from sudare.engines.database.dialects import Dialect, quoted
from sudare.engines.plain_types import plain_batch, plain_schema

CERTIFICATE = "_sudare"
"""The suffix of a release's name for the table with its certificate."""
COLUMN = "certificate"
"""The one column of such a table; a certificate has a key of that name, too."""
Ints = NDArray[np.int64]


class Session(Protocol):
    """A connection to a database: the thin part that differs from driver to driver."""

    dialect: Dialect
    shown: str
    catalog: str | None

    def run(self, sql: str) -> None:
        """Run a statement."""

    def fetch(self, sql: str) -> pa.Table:
        """Run a query, and return all of its rows."""

    def stream(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """Run a query, and yield its rows in batches."""

    def load(self, name: str, data: pa.Table | pa.RecordBatchReader, *, temporary: bool) -> None:
        """Make a table of Arrow data."""

    def commit(self) -> None:
        """Commit the transaction."""

    def close(self) -> None:
        """Undo what was not committed."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Records counted by some columns: ``cells`` has a line for each combination that occurs, ``counts`` how often."""

    cells: pa.Table
    counts: Ints


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision about the records of a table, by their cells.

    ``keys`` are lines of cells of some columns, and ``classes`` says to which class the records with these cells go.
    Records whose cells are in no line are suppressed. Where records with the same cells go to different classes, lines
    are repeated, and ``first`` and ``last`` say which of them go where, counted from 1 in random order. ``shown`` has a
    line for each class: what its records show, in generalized columns. ``also`` has cells that each line of ``keys``
    shows of its own, in place of the source's. All other columns of ``names`` are carried along. ``sizes`` is how many
    records each class has.
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
    """A database in one transaction. What is made in it stands under names that nobody has, until it is placed.

    In a ``dry_run`` all tables that are made are temporary: they are in no schema, and nothing can be placed.
    """

    session: Session
    dry_run: bool = False
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
            with self._telling_of(place):
                self._schemas[place] = self.session.fetch(f"SELECT * FROM {self.name(place)} LIMIT 0").schema
        return self._schemas[place]

    def rows(self, place: Place) -> int:
        """Count the records of a table."""
        return int(self.session.fetch(f"SELECT count(*) FROM {self.name(place)}").column(0)[0].as_py())

    def tally(self, place: Place, names: Sequence[str]) -> Tally:
        """Count the records of a table by some of its columns."""
        if not names:
            return Tally(pa.table({}), np.array([self.rows(place)]))
        keys = ", ".join(f"c{number}" for number in range(len(names)))
        found = self.session.fetch(
            f"SELECT {keys}, count(*) AS n FROM ({self.selected(place, names)}) AS given GROUP BY {keys}"
        )
        counts = np.asarray(found.column(len(names)).to_numpy(), dtype=np.int64)
        given = found.select(range(len(names))).rename_columns(list(names))  # which messages tell
        plain = [plain_batch(batch) for batch in given.to_batches()]
        cells = pa.Table.from_batches(plain, plain_schema(given.schema))
        return Tally(cells, counts)

    def types(self, place: Place) -> list[pa.DataType]:
        """Return the types of a table's columns after reading."""
        return self._types(place, self.columns(place).names)

    def _types(self, place: Place, names: Sequence[str]) -> list[pa.DataType]:
        return list(plain_schema(self.session.fetch(f"{self.selected(place, names)} LIMIT 0").schema).types)

    def source(self, place: Place, names: Sequence[str], most: int | None = None) -> Source:
        """Return some columns of a table as a source that is read batch by batch, of all records or of so many."""
        kinds = pa.schema(list(zip(names, self._types(place, names), strict=True)))
        rows = self.rows(place)
        if not rows:
            raise DataError(Problem(place.shown, "has no records."))

        def batches(_: Collection[str]) -> Iterator[pa.RecordBatch]:
            limit = "" if most is None else f" LIMIT {most:d}"
            for batch in self.session.stream(f"{self.selected(place, names)}{limit}", ROWS):
                if len(batch):
                    named = batch.rename_columns(list(names))  # which messages tell
                    yield pa.RecordBatch.from_arrays(plain_batch(named).columns, schema=kinds)

        return Source(kinds, rows, batches)

    def certificate(self, place: Place) -> Mapping[str, Any] | None:
        """Return the certificate of a release, or None if there is none."""
        paper = self._found(place).beside(CERTIFICATE)
        if not self.exists(paper):
            return None
        return read_certificate(self._text(paper), paper.shown)

    def _text(self, paper: Place) -> str:
        """Return the text of the certificate in a table; empty if the table is something else."""
        if self.columns(paper).names != [COLUMN]:
            return ""
        try:
            [text] = self.session.fetch(f"SELECT {COLUMN} FROM {self.name(paper)} LIMIT 2").column(0).to_pylist()
        except (ValueError, TypeError):
            return ""
        return text if isinstance(text, str) else ""

    def exists(self, place: Place) -> bool:
        """Return whether there is a table, or anything else, of a name; without a schema, where tables are made."""
        return self._pair(self._made(place)) in self._relations()

    def _relations(self) -> set[tuple[str | None, str]]:
        found = self.session.fetch(self.session.dialect.relations)
        pairs = zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True)
        return {self._folded(schema, table) for schema, table in pairs}

    def _pair(self, place: Place) -> tuple[str | None, str]:
        return self._folded(place.schema, place.table)

    def _folded(self, schema: str | None, table: str) -> tuple[str | None, str]:
        if self.session.dialect.folds_case:
            return (schema and schema.lower(), table.lower())
        return (schema, table)

    def _path(self) -> list[str]:
        """Return the schemas that names without one are looked for in."""
        found: list[str | None] = self.session.fetch(self.session.dialect.path).column(0).to_pylist()
        return [schema for schema in found if schema]

    def _found(self, place: Place) -> Place:
        """Return a table that is there, with its schema."""
        if place.schema is not None:
            return place
        relations = self._relations()
        there = (replace(place, schema=schema) for schema in self._path())
        return next((each for each in there if self._pair(each) in relations), place)

    def _made(self, place: Place) -> Place:
        """Return a table that is to be made, with its schema."""
        if place.schema is not None:
            return place
        path = self._path()
        if not path:
            hint = "name a schema: ...#schema.table."
            raise TargetError(Problem(place.shown, "there is no schema for the table.", hint))
        return replace(place, schema=path[0])

    # -- making --------------------------------------------------------------------------------------------------

    def check_target(self, place: Place, names: Sequence[str], origin: Place | None = None) -> None:
        """Raise if a release of these columns cannot be placed: it may only replace an older release.

        ``origin`` is its source table, if that is in this database.
        """
        longest = self.session.dialect.longest_name
        paper = place.beside(CERTIFICATE)
        problems = [
            Problem(
                place.shown,
                f"'{name}' is too long for a name in this database (at most {longest} bytes).",
                "use a shorter one.",
            )
            for name in (*([place.schema] if place.schema else []), paper.table, *names)
            if longest is not None and len(name.encode()) > longest
        ]
        if self.session.dialect.folds_case and len({name.lower() for name in names}) < len(names):
            what = "column names that differ only in upper and lower case are equal in this database."
            problems.append(Problem(place.shown, what, "rename some of them."))
        if not problems:
            problems = self._taken(self._made(place), origin)
        if problems:
            raise TargetError(problems)
        # a missing right to create tables is found now, not after the work
        if self.dry_run:
            self._check_right(place)
            return
        probe = self._new(place)
        with self._telling_of(place):
            self.session.run(f"CREATE TABLE {self.name(probe)} (nothing integer)")
            self.session.run(f"DROP TABLE {self.name(probe)}")

    def _check_right(self, place: Place) -> None:
        """Raise if tables cannot be made where this one is to be; nothing is made to find out."""
        schema = str(self._made(place).schema).replace("'", "''")
        with self._telling_of(place):
            if not self.session.fetch(self.session.dialect.may_create.format(f"'{schema}'")).column(0)[0].as_py():
                what = "there is no such schema, or you have no permission to create tables in it."
                raise TargetError(Problem(place.shown, what))

    def _taken(self, place: Place, origin: Place | None) -> list[Problem]:
        """Return why a name is not free for a release, or for its certificate."""
        paper, hint = place.beside(CERTIFICATE), "choose another name for the release."
        given = None if origin is None else self._pair(self._found(origin))
        if given in (self._pair(place), self._pair(paper)):
            return [Problem(place.shown, "would replace the source itself.", hint)]
        certified = self.exists(paper)
        if certified and parse_certificate(self._text(paper)) is None:
            return [Problem(paper.shown, "exists already, and is not the certificate of a release.", hint)]
        if self.exists(place) and not certified:
            return [Problem(place.shown, "exists already, and is not a release.", hint)]
        return []

    def apply(self, origin: Place, target: Place, decision: Decision) -> Place:
        """Make the table of a release from another table of this database; return where it is until it is placed."""
        if set(decision.names) <= set(decision.shown.column_names):
            return self._repeat(target, decision)
        draft = self._new(target)
        own = [] if decision.also is None else decision.also.column_names
        told, labels = self.load("decision", _lines(decision)), self.load("class", _numbered(decision.shown))
        made = {name: f"labels.l{at}" for at, name in enumerate(decision.shown.column_names)}
        kinds = {} if decision.also is None else self.kinds(origin, decision.also.schema)
        for at, name in enumerate(own):
            made[name] = f"CAST(own_part.o{at} AS {kinds[name]})" if name in kinds else f"own_part.o{at}"
        carried = [name for name in decision.names if name not in made]
        cells = ", ".join(
            f"{made.get(name) or f'own_part.r{carried.index(name)}'} AS {quoted(name)}" for name in decision.names
        )
        parts = ", ".join(
            ["told.class_id"]
            + [f"given.{quoted(name)} AS r{at}" for at, name in enumerate(carried)]
            + [f"told.o{at}" for at in range(len(own))]
        )
        # In an order that tells nothing: a table of a database has none, but its pages do. What is put in order has no
        # labels yet, which are long.
        found = f"SELECT {parts} FROM {self._matched(origin, told, decision)}"
        if decision.by_class:
            drawn = with_chance(self.session, found, "chance", int(decision.sizes.sum()))
            found = f"SELECT * FROM ({drawn}) AS drawn ORDER BY class_id, chance"
        self.session.run(
            f"CREATE {self._kind} {self.name(draft)} AS SELECT {cells} FROM ({found}) AS own_part"
            f" JOIN {labels} AS labels ON own_part.class_id = labels.class_id"
        )
        return draft

    def _matched(self, origin: Place, told: str, decision: Decision) -> str:
        """Return the records of a table (``given``), each joined with what was decided of it (``told``).

        Where records that are alike go to different classes, it is drawn who goes where.
        """
        keys = decision.keys.column_names
        match = " AND ".join(
            self.match(expression, f"told.k{at}", decision.keys.column(at))
            for at, expression in enumerate(self.read(keys, origin, "given."))
        )
        table = self.name(origin)
        if decision.first is not None:
            by = ", ".join(self.read(keys, origin))
            turn, chance = (self._free(word, self.columns(origin).names) for word in ("turn", "chance"))
            rows = int(self.session.fetch(f"SELECT count(*) AS n FROM {table}").column(0)[0].as_py())
            drawn = f"({with_chance(self.session, f'SELECT * FROM {table}', chance, rows)}) AS drawn"
            table = (
                f"(SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY {quoted(chance)}) AS {quoted(turn)}"
                f" FROM {drawn})"
            )
            match += f" AND given.{quoted(turn)} BETWEEN told.first_one AND told.last_one"
        return f"{table} AS given JOIN {told} AS told ON {match or 'true'}"

    def _repeat(self, target: Place, decision: Decision) -> Place:
        """Make the table of a release whose records show nothing of their own: all of a class are the same."""
        draft, table = self._new(target), _numbered(decision.shown)
        labels = self.load("class", table.append_column("records", pa.array(decision.sizes)))
        shown = decision.shown.column_names
        cells = ", ".join(f"labels.l{shown.index(name)} AS {quoted(name)}" for name in decision.names)
        self.session.run(
            f"CREATE {self._kind} {self.name(draft)} AS SELECT {cells} FROM {labels} AS labels,"
            f" LATERAL {self.session.dialect.times.format('labels.records')}"
        )
        return draft

    def write(
        self,
        target: Place,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        like: Place | None = None,
        recoded: Collection[str] = (),
        rewritten: Collection[str] = (),
    ) -> Place:
        """Make the table of a release from rows; return where it is until it is placed.

        Columns that are also in ``like``, another table here, get the types that they have there, if they are not
        ``recoded``: some of these have no counterpart in Arrow. For those that are ``rewritten`` see :meth:`kinds`.
        """
        stage = self._new(target)
        prefix = self._free("c", {name[: len("c") + at] for name in schema.names for at in range(len(name))})
        names = [f"{prefix}{at}" for at in range(len(schema))]
        plain = pa.schema([pa.field(name, _decoded(kind.type)) for name, kind in zip(names, schema, strict=True)])
        parts = (_undictionaried(batch, plain) for batch in batches)
        with self._telling_of(target):
            self.session.load(self.name(stage), pa.RecordBatchReader.from_batches(plain, parts), temporary=self.dry_run)
        kept = [] if like is None else [kind for kind in schema if kind.name not in recoded]
        kinds = {} if like is None else self.kinds(like, pa.schema(kept), rewritten)
        now = self._described(stage) if kinds else {}
        casts = {
            name: kinds[column]
            for name, column in zip(names, schema.names, strict=True)
            if column in kinds and kinds[column] != now[name]
        }
        if not casts:
            for name, column in zip(names, schema.names, strict=True):
                self.session.run(f"ALTER TABLE {self.name(stage)} RENAME COLUMN {name} TO {quoted(column)}")
            return stage
        cells = ", ".join(
            f"{f'CAST({name} AS {casts[name]})' if name in casts else name} AS {quoted(column)}"
            for name, column in zip(names, schema.names, strict=True)
        )
        draft = self._new(target)
        self.session.run(f"CREATE {self._kind} {self.name(draft)} AS SELECT {cells} FROM {self.name(stage)}")
        self.session.run(f"DROP TABLE {self.name(stage)}")
        return draft

    def first(self, draft: Place, most: int) -> pa.Table:
        """Return the first rows of the table of a release."""
        names = self.columns(draft).names
        found = self.session.fetch(f"{self.selected(draft, names)} LIMIT {most:d}").rename_columns(names)
        return pa.Table.from_batches([plain_batch(b) for b in found.to_batches()], plain_schema(found.schema))

    def place(self, draft: Place, target: Place, certificate: Mapping[str, Any]) -> None:
        """Give an audited release its name, with its certificate in a table beside it, all at once."""
        paper, asked, target = self._new(target), target, self._made(target)
        target_paper = target.beside(CERTIFICATE)
        text = json.dumps(certificate, ensure_ascii=False)
        with self._telling_of(asked):
            self.session.load(self.name(paper), pa.table({COLUMN: [text]}), temporary=False)
            if self.exists(target_paper):
                for old in (target, target_paper):
                    self.session.run(f"DROP TABLE IF EXISTS {self.name(old)}")
            self.session.run(f"ALTER TABLE {self.name(draft)} RENAME TO {quoted(target.table)}")
            self.session.run(f"ALTER TABLE {self.name(paper)} RENAME TO {quoted(target_paper.table)}")
            self.session.commit()

    # -- words ---------------------------------------------------------------------------------------------------

    def name(self, place: Place) -> str:
        """Return a table's name as SQL has it; raise if no name can be so long, where a database would cut it off."""
        longest, parts = self.session.dialect.longest_name, [place.table]
        if place.schema is not None:
            parts = [place.schema, *parts]
            # a schema may be called like the database, and DuckDB would not know which one is meant
            parts = parts if self.session.catalog is None else [self.session.catalog, *parts]
        if longest is not None and any(len(part.encode()) > longest for part in parts):
            raise DataError(Problem(place.shown, "there is no such table.", f"names have at most {longest} bytes."))
        return ".".join(map(quoted, parts))

    @contextmanager
    def _telling_of(self, place: Place) -> Iterator[None]:
        """Let messages be about a table, and not about the one that the database was opened for."""
        before, self.session.shown = self.session.shown, place.shown
        try:
            yield
        finally:
            self.session.shown = before

    def selected(self, place: Place, names: Sequence[str]) -> str:
        """Return the query of some columns, each by its position among them."""
        cells = ", ".join(f"{expression} AS c{at}" for at, expression in enumerate(self.read(names, place)))
        return f"SELECT {cells} FROM {self.name(place)}"

    def read(self, names: Sequence[str], place: Place, prefix: str = "") -> list[str]:
        """Return columns as they are read: in types that Arrow holds without loss."""
        schema = self.columns(place)
        return [self.session.dialect.read(prefix + quoted(name), schema.field(name)) for name in names]

    def match(self, one: str, other: str, cells: pa.ChunkedArray) -> str:
        """Return the condition that two columns are equal; missing equals missing, if any of these cells is."""
        return self.session.dialect.same(one, other, cells.type) if cells.null_count else f"{one} = {other}"

    def kinds(self, like: Place, schema: pa.Schema, rewritten: Collection[str] = ()) -> dict[str, str]:
        """Return the types of a table's columns, in words of SQL, for those of a schema that hold what they held.

        Cells of some columns are ``rewritten``: what is read as text is then only a number if it was one, of any size.
        """
        read = dict(zip(self.columns(like).names, self.types(like), strict=True))
        told = self._described(like)
        found = {
            kind.name: told[kind.name]
            for kind in schema
            if kind.name in read and _decoded(kind.type) == _decoded(read[kind.name])
        }
        for name in set(found) & set(rewritten):
            if is_text(schema.field(name).type):
                del found[name]
                if told[name].startswith("numeric"):
                    found[name] = "numeric"
        return found

    def _described(self, place: Place) -> dict[str, str]:
        found = self.session.fetch(self.session.dialect.described(self.name(place)))
        return dict(zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True))

    def load(self, what: str, data: pa.Table) -> str:
        """Make a temporary table of what was worked out here; return its name, quoted."""
        name = quoted(f"sudare_{what}_{secrets.token_hex(4)}")
        self.session.load(name, data, temporary=True)
        if self.session.dialect.learn:
            self.session.run(self.session.dialect.learn.format(name))
        return name

    def _new(self, target: Place) -> Place:
        name = f"sudare_tmp_{secrets.token_hex(8)}"
        if self.dry_run:
            return replace(target, schema=None, table=name)
        return replace(self._made(target), table=name)

    @property
    def _kind(self) -> str:
        return "TEMP TABLE" if self.dry_run else "TABLE"

    @staticmethod
    def _free(wanted: str, taken: Collection[str]) -> str:
        lowered = {name.lower() for name in taken}
        while wanted in lowered:
            wanted += "_"
        return wanted


def open_database(place: Place, *, create: bool = False, dry_run: bool = False) -> Database:
    """Connect to the database of a place, or raise; with ``create``, a file that is not there is made.

    In a ``dry_run`` nothing can be placed, and a file is opened for reading alone.
    """
    if place.engine == "duckdb":
        from sudare.engines.database.duckdb import DuckSession

        return Database(DuckSession(place, create=create, dry_run=dry_run), dry_run=dry_run)
    from sudare.engines.database.postgres import PostgresSession

    return Database(PostgresSession(place), dry_run=dry_run)


def _lines(decision: Decision) -> pa.Table:
    """Return what was decided as a table: keys of records, their class, which of them, and cells of their own."""
    lines = {f"k{at}": column for at, column in enumerate(decision.keys.columns)}
    lines["class_id"] = pa.chunked_array([pa.array(decision.classes)])
    for name, numbers in (("first_one", decision.first), ("last_one", decision.last)):
        if numbers is not None:
            lines[name] = pa.chunked_array([pa.array(numbers)])
    if decision.also is not None:
        lines |= {f"o{at}": column for at, column in enumerate(decision.also.columns)}
    return pa.table(lines)


def _numbered(shown: pa.Table) -> pa.Table:
    columns = {f"l{at}": _decoded_column(column) for at, column in enumerate(shown.columns)}
    return pa.table({"class_id": pa.array(np.arange(shown.num_rows, dtype=np.int64)), **columns})


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is one of texts, also of a dictionary."""
    kind = _decoded(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _decoded(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.list_(_decoded(kind.value_type)) if pa.types.is_list(kind) else kind


def _decoded_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(_decoded(column.type)) if pa.types.is_dictionary(column.type) else column


def _undictionaried(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    arrays = [cells.cast(kind.type) for cells, kind in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
