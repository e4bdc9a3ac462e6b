"""A DuckDB database file: one connection, one transaction, Arrow in and out."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.core.errors import DataError, Problem, SudareError, TargetError
from sudare.core.operating_system import backslash_is_letter
from sudare.engines.addresses import Place
from sudare.engines.database.dialects import DUCKDB, quoted

_CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


class DuckSession:
    """A connection to a database file; nothing that it does is there for others until it commits."""

    dialect = DUCKDB

    def __init__(self, place: Place, *, create: bool = False, dry_run: bool = False) -> None:
        path = Path(place.address)
        self.shown, self._path, self._made = place.shown, path, False
        if backslash_is_letter() and "\\" in str(path):
            what = "has a backslash in its path, which DuckDB reads as the end of a folder name."
            raise DataError(Problem(str(path), what, "rename it."))
        if not path.exists():
            if not create:
                raise DataError(Problem(str(path), "there is no such file."))
            if not path.parent.is_dir():
                raise TargetError(Problem(str(path), "its folder does not exist.", "create it first."))
            self._made = True
        try:
            self._connection: Any = _connected(path, dry_run)
        except BaseException:
            self._forget()
            raise
        try:
            self.catalog = self.fetch("SELECT current_database() AS c").column(0)[0].as_py()
        except BaseException:
            self.close()
            raise

    def run(self, sql: str) -> None:
        """Run a statement."""
        with self._speaking():
            self._connection.execute(sql)

    def fetch(self, sql: str) -> pa.Table:
        """Run a query, and return all of its rows."""
        with self._speaking():
            return self._connection.sql(sql).to_arrow_table()

    def stream(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """Run a query, and yield its rows in batches."""
        with self._speaking():
            yield from self._connection.sql(sql).to_arrow_reader(rows)

    def load(self, name: str, data: pa.Table | pa.RecordBatchReader, *, temporary: bool) -> None:
        """Make a table of Arrow data; ``name`` is quoted already."""
        given = f"sudare_given_{secrets.token_hex(8)}"
        with self._speaking():
            self._connection.register(given, data)
            try:
                kind = "TEMP TABLE" if temporary else "TABLE"
                self._connection.execute(f"CREATE {kind} {name} AS SELECT * FROM {quoted(given)}")
            finally:
                self._connection.unregister(given)

    def commit(self) -> None:
        """Commit the transaction."""
        self.run("COMMIT")
        self._made = False

    def close(self) -> None:
        """Undo what was not committed, and let go of the file; one that was made here for nothing goes."""
        self._connection.close()
        self._forget()

    def _forget(self) -> None:
        if self._made:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
                self._path.with_name(self._path.name + ".wal").unlink(missing_ok=True)

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Turn DuckDB's messages, which may quote cells, into ours."""
        import duckdb

        try:
            yield
        except SudareError:
            raise
        except duckdb.OutOfMemoryException:
            raise DataError(Problem(self.shown, "needs more memory than DuckDB may use.")) from None
        except duckdb.IOException:
            raise TargetError(Problem(self.shown, "cannot be written to, or the disk is full.")) from None
        except duckdb.Error as error:
            raise self._problem(error, str(error)) from None

    def _problem(self, error: Exception, said: str) -> SudareError:
        import duckdb

        if "read-only mode" in said:
            return TargetError(Problem(self.shown, "the database is read-only.", "does another program use it?"))
        if isinstance(error, duckdb.CatalogException):
            if said.startswith("Catalog Error: Schema with name"):
                return DataError(Problem(self.shown, "there is no such schema."))
            if "does not exist" in said:
                return DataError(Problem(self.shown, "there is no such table."))
        return DataError(Problem(self.shown, f"the database refused the request ({type(error).__name__})."))


def _connected(path: Path, only_read: bool) -> Any:
    """Open a file; one that others read, or that may not be written to, is opened for reading alone."""
    import duckdb

    try:
        return duckdb.connect(str(path), config=_CONFIG, read_only=only_read)
    except duckdb.Error as error:
        cannot = _cannot_open(path, error)
    with suppress(duckdb.Error):
        return duckdb.connect(str(path), config=_CONFIG, read_only=True)
    raise cannot


def _cannot_open(path: Path, error: Exception) -> DataError:
    said = str(error).lower()
    if path.is_dir():
        return DataError(Problem(str(path), "is a folder.", "name a file."))
    if "lock" in said:
        return DataError(Problem(str(path), "is in use by another process.", "close it first."))
    if "permission" in said or "read-only file system" in said:
        return DataError(Problem(str(path), "you have no permission to open it."))
    if "different configuration" in said:
        return DataError(Problem(str(path), "is open in this process, with other settings.", "close it first."))
    return DataError(Problem(str(path), "is not a DuckDB database that can be opened."))
