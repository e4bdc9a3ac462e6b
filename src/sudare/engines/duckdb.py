"""A DuckDB database file: one connection, one transaction, Arrow in and out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.engines.dialects import DUCKDB, quoted
from sudare.engines.places import Place
from sudare.errors import DataError, Problem, SudareError, TargetError


class DuckSession:
    """A connection to a database file; nothing that it does is there for others until it commits."""

    dialect = DUCKDB

    def __init__(self, place: Place, *, create: bool = False) -> None:
        import duckdb

        path = Path(place.address)
        self.shown, self._path, self._made = place.shown, path, False
        if not path.exists():
            if not create:
                raise DataError(Problem(str(path), "there is no such file."))
            self._made = True
        try:
            self._connection: Any = duckdb.connect(
                str(path), config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
            )
        except duckdb.Error as error:
            raise _cannot_open(path, error) from None

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
        with self._speaking():
            self._connection.register("given_by_sudare", data)
            try:
                kind = "TEMP TABLE" if temporary else "TABLE"
                self._connection.execute(f"CREATE {kind} {name} AS SELECT * FROM given_by_sudare")
            finally:
                self._connection.unregister("given_by_sudare")

    def commit(self) -> None:
        """Let others see what was done."""
        self.run("COMMIT")
        self._made = False

    def close(self) -> None:
        """Undo what was not committed, and let go of the file; one that was made here for nothing goes."""
        self._connection.close()
        if self._made:
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
        except duckdb.CatalogException:
            raise DataError(Problem(self.shown, "there is no such table.")) from None
        except duckdb.IOException:
            raise TargetError(Problem(self.shown, "cannot be written to, or the disk is full.")) from None
        except duckdb.Error as error:
            raise DataError(Problem(self.shown, f"the database refused it ({type(error).__name__}).")) from None


def _cannot_open(path: Path, error: Exception) -> DataError:
    if "lock" in str(error).lower():
        return DataError(Problem(str(path), "is in use by another process.", "close it there first."))
    if "permission" in str(error).lower():
        return DataError(Problem(str(path), "may not be opened by you."))
    return DataError(Problem(str(path), "is not a DuckDB database that can be opened."))


__all__ = ["DuckSession", "quoted"]
