"""A PostgreSQL database: one connection through ADBC, one transaction with one snapshot, Arrow in and out.

Credentials come from the address, the environment (PGPASSWORD, PGSERVICE, ...) or the usual files (``~/.pgpass``), as
libpq finds them. Neither they nor what the server says (its messages quote cells) are ever part of a message of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from sudare.core.errors import DataError, MissingExtraError, Problem, SudareError, TargetError
from sudare.core.sizes import MIB
from sudare.engines.addresses import Place, shown_address
from sudare.engines.database.dialects import POSTGRES

_STATES = {
    "42P01": (DataError, "there is no such table.", ""),
    "3F000": (DataError, "there is no such schema.", ""),
    "42501": (
        TargetError,
        "you have no permission to do this.",
        "you need SELECT on the table and CREATE on the schema.",
    ),
    "42P07": (TargetError, "another table of that name was created at the same time.", "run it again."),
    "25006": (TargetError, "the database is read-only.", ""),
    "53100": (TargetError, "the server's disk is full.", ""),
    "53200": (DataError, "the server is out of memory.", ""),
    "57014": (DataError, "the server cancelled the work.", ""),
    "40001": (DataError, "the table was changed by others at the same time.", "run it again."),
    "23505": (TargetError, "another table of that name was created at the same time.", "run it again."),
    "2BP01": (
        TargetError,
        "views or other objects depend on the older release.",
        "drop them first, or choose another name.",
    ),
    "42809": (TargetError, "is the name of something that is not a table.", "choose another name for the release."),
    "22021": (TargetError, "a text has a character that PostgreSQL cannot store.", ""),
    "22P05": (
        TargetError,
        "a text has a character that the database cannot store.",
        "use a database with the encoding UTF8.",
    ),
    "54011": (TargetError, "there are more columns than a PostgreSQL table may have.", "release fewer."),
    "42804": (DataError, "a column has a type that does not allow this.", ""),
}
"""The meaning of some states that PostgreSQL reports (its manual, appendix A)."""
_LOST = ("08", "57P")
_LOST_WORDS = ("server closed the connection", "no connection to the server", "terminating connection")


class PostgresSession:
    """A connection; nothing that it does is there for others until it commits, and if it is lost nothing is left."""

    dialect = POSTGRES
    catalog: str | None = None

    def __init__(self, place: Place, *, create: bool = False) -> None:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            hint = "install it: pip install adbc-driver-postgresql adbc-driver-manager"
            raise MissingExtraError("tables in PostgreSQL need the ADBC driver.", hint=hint) from None
        self.shown = place.shown
        try:
            self._connection: Any = dbapi.connect(place.address)
        except dbapi.Error as error:
            raise DataError(_cannot_connect(shown_address(place.address), str(error))) from None

    def run(self, sql: str) -> None:
        """Run a statement."""
        with self._speaking(), self._connection.cursor() as cursor:
            cursor.execute(sql)

    def fetch(self, sql: str) -> pa.Table:
        """Run a query, and return all of its rows."""
        with self._speaking(), self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    def stream(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """Run a query, and yield its rows in batches."""
        with self._speaking(), self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(64 * MIB)})
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()

    def load(self, name: str, data: pa.Table | pa.RecordBatchReader, *, temporary: bool) -> None:
        """Make a table of Arrow data, through COPY; ``name`` is quoted already."""
        schema, _, table = name.rpartition(".") if not temporary else ("", "", name)
        with self._speaking(), self._connection.cursor() as cursor:
            cursor.adbc_ingest(
                _plain(table),
                self._holdable(data),
                mode="create",
                temporary=temporary,
                db_schema_name=_plain(schema) if schema else None,
            )

    def _holdable(self, data: pa.Table | pa.RecordBatchReader) -> pa.Table | pa.RecordBatchReader:
        """Return data in types that the driver takes for what they are, or raise."""
        kinds = [_held(kind) for kind in data.schema.types]
        if None in kinds:
            what = "a column has a type that PostgreSQL does not have, such as lists of lists."
            raise TargetError(Problem(self.shown, what, "remove it, or write to a Parquet file."))
        if kinds == data.schema.types:
            return data
        schema = pa.schema([pa.field(name, kind) for name, kind in zip(data.schema.names, kinds, strict=True)])
        if isinstance(data, pa.Table):
            return data.cast(schema)
        return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in data))

    def commit(self) -> None:
        """Commit the transaction."""
        with self._speaking():
            self._connection.commit()

    def close(self) -> None:
        """Undo what was not committed, and let go of the connection."""
        with suppress(Exception):  # a connection that was lost was undone by the server
            self._connection.rollback()
        with suppress(Exception):
            self._connection.close()

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Turn the server's messages, which may quote cells, into ours."""
        from adbc_driver_manager import Error

        try:
            yield
        except SudareError:
            raise
        except Error as error:
            raise self._problem(error) from None
        except (pa.ArrowException, OSError) as error:  # of a stream that broke off
            raise self._problem(error) from None

    def _problem(self, error: Exception) -> SudareError:
        from adbc_driver_manager import NotSupportedError

        state = getattr(error, "sqlstate", None) or ""
        if state.startswith(_LOST) or any(words in str(error) for words in _LOST_WORDS):
            what = "the connection was lost; nothing was left behind."
            return DataError(Problem(self.shown, what, "run it again."))
        if state in _STATES:
            kind, what, hint = _STATES[state]
            return kind(Problem(self.shown, what, hint))
        if isinstance(error, NotSupportedError | pa.ArrowNotImplementedError):
            what = "a column has a type that cannot be sent to PostgreSQL, or read from it."
            return DataError(Problem(self.shown, what, "remove it, or cast it to another type first."))
        told = f" (SQLSTATE {state})" if state else ""
        return DataError(Problem(self.shown, f"the database refused the request{told}."))


def _held(kind: pa.DataType) -> pa.DataType | None:
    """Return the type in which cells are sent to PostgreSQL, which has no unsigned numbers."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = None if pa.types.is_nested(kind.value_type) else _held(kind.value_type)
        return kind if inner == kind.value_type else inner and pa.list_(inner)
    if pa.types.is_nested(kind):
        return None
    if pa.types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if pa.types.is_date64(kind):
        return pa.date32()
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    return kind


def _plain(name: str) -> str:
    """Return a quoted name without its quotes: the driver sets them itself."""
    return name[1:-1].replace('""', '"')


def _cannot_connect(address: str, message: str) -> Problem:
    """Return why there is no connection; the text of the driver may quote parts of the address."""
    if "password" in message:
        what = "the server needs a password, or refuses this user with this password."
        return Problem(address, what, "set PGPASSWORD, or write it to ~/.pgpass.")
    if "does not exist" in message and "database" in message:
        return Problem(address, "there is no such database.")
    if "does not exist" in message and "role" in message:
        return Problem(address, "there is no such user.", "set PGUSER, or name one in the address.")
    if "translate host name" in message or "Name or service not known" in message:
        return Problem(address, "there is no such host.")
    if "refused" in message or "No such file" in message or "timeout" in message:
        return Problem(address, "no server answers at this address.", "is the server running at this address?")
    if "pg_hba" in message or "SSL" in message:
        return Problem(
            address, "the server does not allow this connection.", "ask its administrator (pg_hba.conf, SSL)."
        )
    hint = "an address looks like postgresql://user@host:5432/database#schema.table."
    return Problem(address, "cannot be connected to.", hint)
