"""The columns of a release in DuckDB, each named by its position, and checks that they were read correctly.

Column names of the data never reach SQL: a column is known there by its position, as ``c0``, ``c1``, ..., so
no name can collide, be quoted wrongly or be folded into another by case.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from sudare.audits import payload
from sudare.audits.canonical_text import HINT, IrregularError
from sudare.audits.cell_equality import is_list, is_text
from sudare.audits.decimal_commas import with_points
from sudare.audits.file_checks import SecondLook
from sudare.audits.payload import PayloadError
from sudare.audits.spreadsheet_formulas import value_of
from sudare.core.errors import DataError, Problem
from sudare.policy import TextLayout

_SAME_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.uint8(): "UTINYINT",
    pa.uint16(): "USMALLINT",
    pa.uint32(): "UINTEGER",
    pa.uint64(): "UBIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("ns"): "TIMESTAMP_NS",
}


class Alone(NamedTuple):
    """Groups by some columns: the number of ``different`` groups, and of ``records`` in those that count.

    The caller decides which count: groups of one record, or with one value of another column.
    """

    different: int
    records: int


Single = Callable[[Sequence[Sequence[str]], str | None, Sequence[str]], list[Alone]]
"""Counts, for each of some sets of columns, their groups, and the records alone in one. With another column ``of``, a
group counts if all of its records have one value there. With columns ``within``, it counts if this is so in every part
of the group that agrees in them.
"""

Rare = Callable[[str, int, str | None, Sequence[str]], int]
"""Counts the values of a column that fewer records show than a number; a missing cell is not a value. With another
column ``of``, a value counts if it occurs with fewer different cells of that column; with columns ``within``, with
fewer cells that differ in it or in one of them.
"""


@dataclass(frozen=True)
class Elsewhere:
    """A release that is kept where it can be counted but not read as a file, such as a table of a database.

    ``count`` gets names of columns, and returns each combination of their values in one row, with its number of rows of
    the release in a last column. The engine counts; the audit proves from these counts.
    """

    where: str
    names: tuple[str, ...]
    types: tuple[Any, ...]
    count: Callable[[Sequence[str]], Any]
    digest: Callable[[], str] | None = None
    """Returns the digest of the columns that promises are about, if the engine has computed it."""
    single: Single | None = None
    """Counts unique records, if the engine can."""
    rare: Rare | None = None
    """Counts rare values, if the engine can."""


NO_ROOM = "needs more memory, or more space for temporary files, than the audit has."
"""The message if DuckDB runs out of either."""


@dataclass(frozen=True)
class Release:
    """An opened release: its columns, their types, and their tables in DuckDB."""

    where: str
    names: tuple[str, ...]
    types: tuple[Any, ...]
    path: Path | None = None
    delimiter: str | None = None
    table: Any = None
    look: SecondLook | None = field(default=None, repr=False)
    said_rows: int | None = None
    count: Callable[[Sequence[str]], Any] | None = None
    proven: tuple[str, ...] = ()
    added: Callable[[], str] | None = None
    single: Single | None = None
    rare: Rare | None = None
    formulas: str = "keep"
    layout: TextLayout | None = None
    """How a text file is laid out; its ``numbers`` are those that were found."""
    plain: Path | None = None
    """A copy of a text file that is neither compressed nor in another encoding than UTF-8."""
    undo: Callable[[], None] | None = field(default=None, repr=False)

    @property
    def sha256(self) -> str | None:
        """The digest of the file, or of the counts of a release that is kept elsewhere; None for a table in memory."""
        if self.added is not None:
            return self.added()
        if self.count is not None:
            return self._digest_of_counts()
        return None if self.look is None else self.look.digest()

    @property
    def slow(self) -> bool:
        """Whether it takes long to read, so that nobody should do so twice: text does."""
        return self.delimiter is not None

    def source(
        self, connection: Any, names: Iterable[str], *, again: bool, beside: Mapping[str, str] | None = None
    ) -> str:
        """Return the SQL source of the named columns; each is called ``c`` and its position.

        With ``again`` it can be read more than once. If the release is ``slow`` to read, it also has the columns
        ``beside``, computed by SQL.
        """
        positions = sorted({self.names.index(name) for name in names})
        if self.count is not None:
            return self._counted_source(connection, positions)
        if self.table is not None:
            chosen = self.table.select(positions).rename_columns([f"c{position}" for position in positions])
            connection.register("source", chosen)
            return "source"
        columns = ", ".join(
            [*(f"c{position}" for position in positions), *(f"{sql} AS {name}" for name, sql in (beside or {}).items())]
        )
        if self.delimiter is not None:
            source = self._csv_source(self.delimiter)
        elif self._read_alike(connection, positions):
            return self._parquet_source()
        else:
            connection.register("stream", self._parquet_reader(positions))
            source = "stream"
        if again or beside:
            connection.execute(f"CREATE TEMP TABLE source AS SELECT {columns} FROM {source}")
            source = "source"
        return source

    def _counted_source(self, connection: Any, positions: Sequence[int]) -> str:
        """Return rows from counts, as many as were counted."""
        columns = [f"c{position}" for position in positions]
        name = self._counted(connection, positions)
        return f"(SELECT {', '.join(columns)} FROM (SELECT *, unnest(range(counted_rows)) FROM {name}))"

    def _counted(self, connection: Any, positions: Sequence[int]) -> str:
        assert self.count is not None
        columns = [f"c{position}" for position in positions]
        counted = self.count([self.names[position] for position in positions])
        name = "counted_" + "_".join(columns)
        connection.register(name, counted.rename_columns([*columns, "counted_rows"]))
        return name

    def ways(self, connection: Any, names: Iterable[str], source: str) -> tuple[str, str]:
        """Return the SQL source and the count expression for the rows of ``source`` by the named columns.

        Counts by an engine are added up directly, without making rows.
        """
        if self.count is None:
            return source, "count(*)"
        return self._counted(connection, sorted({self.names.index(name) for name in names})), "sum(counted_rows)"

    def _digest_of_counts(self) -> str:
        """Return a digest of the columns that promises are about, for any order of the rows.

        The rows of a table have no order, so their digests are added up, each as often as it was counted.
        """
        assert self.count is not None
        names = [name for name in self.names if name in self.proven]
        with duckdb.connect() as connection:
            return digest_of(names, sums_of_lines(connection, self.count(names)))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn every error of a reader into a DataError that quotes nothing of the data."""
        with readable(self.where):
            try:
                yield
            except duckdb.Error:
                if self.look is not None:
                    self.look.records()  # what is wrong with the text says more than what DuckDB stumbles over in it
                raise

    def check_read(self, rows: int) -> None:
        """Raise if a second reader finds other rows, or if the file is no longer the one whose digest was taken.

        The second reader of text takes nothing but the canonical form (:mod:`sudare.audits.canonical_text`).
        """
        if self.look is None:
            return
        with readable(self.where):
            counted = self.look.records() if self.delimiter is not None else self.said_rows
            self.look.nothing_else()
            if not self.look.unchanged():
                raise DataError(Problem(self.where, "changed while it was read.", "audit it again."))
        if counted not in (rows, None):
            hint = "check its quotes and line ends." if self.delimiter is not None else ""
            raise DataError(Problem(self.where, "is ambiguous: two programs read different rows from it.", hint))

    def close(self) -> None:
        """Stop all readers of the file."""
        if self.look is not None:
            self.look.close()
        if self.undo is not None:
            self.undo()

    def _read_alike(self, connection: Any, positions: Sequence[int]) -> bool:
        """Whether DuckDB's own reader of Parquet, which is the quicker, takes the columns for what Arrow's does."""
        described = connection.execute(f"DESCRIBE FROM {self._parquet_call()}").fetchall()
        return len(described) == len(self.names) and all(
            described[position][1] == _duckdb_type(self.types[position]) for position in positions
        )

    def _parquet_source(self) -> str:
        columns = ", ".join(f"c{position}" for position in range(len(self.names)))
        return f"(FROM {self._parquet_call()} AS file({columns}))"

    def _parquet_call(self) -> str:
        # A folder named like ``year=2020`` is no column.
        return f"read_parquet({self._file()}, hive_partitioning = false)"

    def _parquet_reader(self, positions: list[int]) -> Any:
        """Return the columns as a stream of batches."""
        file = pq.ParquetFile(self.path)
        types = file.schema_arrow.types
        schema = pa.schema([pa.field(f"c{position}", types[position]) for position in positions])
        names = [self.names[position] for position in positions]
        # Arrow takes a dot in a name for the path of a nested column; then all columns are read
        wanted = None if any("." in name for name in self.names) else names
        places = positions if wanted is None else range(len(positions))
        batches = (
            pa.RecordBatch.from_arrays([batch.column(place) for place in places], schema=schema)
            for batch in (_in_order(batch, wanted) for batch in file.iter_batches(columns=wanted))
        )
        return pa.RecordBatchReader.from_batches(schema, batches)

    def _csv_source(self, delimiter: str) -> str:
        cells = [f"c{position}" for position in range(len(self.names))]
        values = ", ".join(f"{value_of(cell, self.formulas)} AS {cell}" for cell in cells)
        numbers = self.layout.numbers if self.layout is not None and self.layout.decimal == "," else ()
        pointed = [
            f"{with_points(cell)} AS {cell}" if name in numbers else cell
            for cell, name in zip(cells, self.names, strict=True)
        ]
        source = self.written_source(delimiter)
        if numbers:
            source = f"(SELECT {', '.join(pointed)} FROM {source})"
        return f"(SELECT {values} FROM {source})"

    def written_source(self, delimiter: str) -> str:
        """Return the SQL source of the cells of a text file as they are written."""
        columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(self.names)))
        cells = ", ".join(f"c{position}" for position in range(len(self.names)))
        # Strict: a quote that is never closed would otherwise swallow the rest of the file as one cell.
        return (
            f"(SELECT {cells} FROM read_csv({self._file()}, delim = {_literal(delimiter)}, quote = '\"',"
            f" escape = '\"', header = true, columns = {{{columns}}}, auto_detect = false, nullstr = '',"
            " strict_mode = true, compression = 'none'))"
        )

    def _file(self) -> str:
        path = self.plain or self.path
        return _literal(_no_glob(str(path.absolute() if path else "")))


def _in_order(batch: Any, names: Sequence[str] | None) -> Any:
    return batch if names is None else batch.select(list(names))


def _duckdb_type(kind: Any) -> str | None:
    """Return as what DuckDB reads an Arrow type from Parquet, or None where the two may disagree about values."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if is_text(kind):
        return "VARCHAR"
    if is_list(kind):
        inner = _duckdb_type(kind.value_type)
        return None if inner is None else f"{inner}[]"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _SAME_TYPES.get(kind)


Sums = tuple[int, int, int]
"""The digests of rows, added up: the lower and the upper half of their bits, and how many there are."""


def sums_of_lines(connection: Any, counted: Any) -> Sums:
    """Return the sums of the digests of counted rows; the last column is the number of equal rows."""
    cells = [f"c{at}" for at in range(counted.num_columns - 1)]
    connection.register("lines", counted.rename_columns([*cells, "many"]))
    halves = ", ".join(f"sum(CAST(md5_number_{half}(line) AS HUGEINT) * many)" for half in ("lower", "upper"))
    # each cell with its length: their texts alone could be read in several ways
    texts = [f"CAST({cell} AS VARCHAR)" for cell in cells]
    parts = [f"coalesce(concat(strlen({text}), ':', {text}), '-')" for text in texts]
    line = f"concat({', '.join(parts)})" if cells else "''"
    [found] = connection.execute(f"SELECT {halves}, sum(many) FROM (SELECT {line} AS line, many FROM lines)").fetchall()
    connection.unregister("lines")
    return found[0] or 0, found[1] or 0, found[2] or 0


def digest_of(names: Sequence[str], sums: Sums) -> str:
    """Return the digest of some columns, from the sums over all rows."""
    return hashlib.sha256(repr((list(names), [sums])).encode()).hexdigest()


@contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn an error of a reader into a DataError that quotes nothing of the data."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(Problem(where, "there is no such file.")) from None
    except UnicodeDecodeError:
        raise DataError(Problem(where, "is not UTF-8 text.", "releases are written in UTF-8.")) from None
    except IrregularError as error:
        raise DataError(Problem(where, f"{error}.", HINT)) from None
    except PayloadError as error:
        raise DataError(Problem(where, f"{error}.", payload.HINT)) from None
    except duckdb.OutOfMemoryException:
        raise DataError(Problem(where, NO_ROOM, "give it more memory or disk space.")) from None
    except duckdb.Error as error:
        raise DataError(Problem(where, _csv_fault(str(error)))) from None
    except pa.ArrowException:
        raise DataError(
            Problem(where, "cannot be read: the file is damaged, or its format does not match its name.")
        ) from None
    except OSError as error:
        raise DataError(Problem(where, f"cannot be read: {error.strerror or 'the file is damaged'}.")) from None


def _csv_fault(message: str) -> str:
    """Describe the problem of a file in our own words, with only the line number of DuckDB's message."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    place = f" in line {line.group(1)}" if line else ""
    if "Expected Number of Columns" in message:
        return f"the number of fields{place} differs from the header."
    if "unterminated quote" in message:
        return f"a quotation mark{place} is not closed, or is followed by more text."
    if "Unsupported Internal Arrow Type" in message:
        return "has a column of a type that cannot be audited."
    return f"cannot be read{place}: the file is damaged, or its format does not match its name."


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _no_glob(path: str) -> str:
    """Keep DuckDB from reading a name such as ``a*.csv`` as a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", path)
