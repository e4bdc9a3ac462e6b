"""Dialects of SQL: the few snippets that differ between databases.

Statements are put together in :mod:`sudare.engines.database.sql_tables` from a small subset of SQL that all of them
share. Names of columns and tables come from users and are only ever used quoted, by :func:`quoted`; values never
become SQL at all, they travel as Arrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa


def quoted(name: str) -> str:
    """Return any name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Dialect:
    """The snippets of one database.

    ``read`` converts a column to a type that Arrow can hold without loss, by its field. ``same`` compares two columns
    so that missing equals missing, in a form that can be hashed, by a constant of the column's type. ``times`` makes as
    many rows of nothing as a column says. ``settings`` are run first in a transaction. ``learn`` updates the statistics
    of a loaded table. ``relations`` lists all named objects, by schema; ``path`` the schemas that names without one are
    looked for in, first the one where new tables are made. ``described`` tells the columns of a table with their types,
    in words that a cast takes. ``may_create`` says whether tables may be made in a schema.
    """

    name: str
    begin: tuple[str, ...]
    settings: tuple[str, ...]
    read: Callable[[str, pa.Field], str]
    same: Callable[[str, str, pa.DataType], str]
    times: str
    learn: str
    longest_name: int | None
    folds_case: bool
    relations: str
    path: str
    described: Callable[[str], str]
    may_create: str


def _duckdb_read(column: str, field: pa.Field) -> str:
    """Collations that call different texts equal do not count."""
    text = pa.types.is_string(field.type) or pa.types.is_large_string(field.type) or pa.types.is_string_view(field.type)
    return f'CAST({column} AS VARCHAR) COLLATE "binary"' if text else column


def _not_distinct(one: str, other: str, _: pa.DataType) -> str:
    return f"{one} IS NOT DISTINCT FROM {other}"


DUCKDB = Dialect(
    name="duckdb",
    begin=("BEGIN TRANSACTION",),
    settings=("SET enable_progress_bar = false", "SET python_enable_replacements = false", "SET TimeZone = 'UTC'"),
    read=_duckdb_read,
    same=_not_distinct,
    times="(SELECT unnest(range({}))) AS many",
    learn="",
    longest_name=None,
    folds_case=True,
    relations="SELECT schema_name AS s, table_name AS t FROM duckdb_tables() WHERE database_name = current_database()"
    " UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = current_database()",
    path="SELECT current_schema() AS s",
    described=lambda table: f"SELECT column_name AS n, column_type AS t FROM (DESCRIBE SELECT * FROM {table})",
    may_create="SELECT count(*) > 0 AS may FROM duckdb_schemas()"
    " WHERE database_name = current_database() AND lower(schema_name) = lower({})",
)

_PLAIN = {"bool", "int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz", "time"}
_LISTS = {"_bool", "_int2", "_int4", "_int8", "_float4", "_float8", "_date", "_timestamp", "_timestamptz"}


def _postgres_type(field: pa.Field) -> str:
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b"text").decode())


def _postgres_read(column: str, field: pa.Field) -> str:
    """What has no exact type in Arrow goes as text; collations that call different texts equal do not count."""
    kind = _postgres_type(field)
    if kind in _PLAIN or kind in _LISTS:
        return column
    if kind.startswith("_"):
        return f"CAST({column} AS text[])"
    return f'CAST({column} AS text) COLLATE "C"'


def _postgres_same(one: str, other: str, kind: pa.DataType) -> str:
    """PostgreSQL can hash equality alone: nulls are replaced on both sides, and compared on their own."""
    if pa.types.is_boolean(kind):
        some = "false"
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        some = "0"
    elif pa.types.is_date(kind):
        some = "DATE 'epoch'"
    elif pa.types.is_timestamp(kind):
        some = "TIMESTAMPTZ 'epoch'" if kind.tz else "TIMESTAMP 'epoch'"
    elif pa.types.is_time(kind):
        some = "TIME '00:00'"
    else:
        some = "''"
    return f"coalesce({one}, {some}) = coalesce({other}, {some}) AND ({one} IS NULL) = ({other} IS NULL)"


def _postgres_described(table: str) -> str:
    """The name of the table is a text here, which the settings below see to have no escapes but doubled quotes."""
    text = "'" + table.replace("'", "''") + "'"
    return (
        "SELECT attname AS n, pg_catalog.format_type(atttypid, atttypmod) AS t FROM pg_catalog.pg_attribute"
        f" WHERE attrelid = CAST({text} AS regclass) AND attnum > 0 AND NOT attisdropped"
    )


POSTGRES = Dialect(
    name="postgres",
    begin=("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",),
    settings=(
        "SET LOCAL work_mem = '512MB'",  # per sort and hash: the defaults of a server suit many small queries
        "SET LOCAL maintenance_work_mem = '256MB'",
        # records are counted by all columns at once: the planner takes that for too many groups to share the work
        "SET LOCAL parallel_setup_cost = 0",
        "SET LOCAL parallel_tuple_cost = 0",
        "SET LOCAL jit = off",
        # estimates for joins on many columns are far too low, and a nested loop would then take hours
        "SET LOCAL enable_nestloop = off",
        "SET LOCAL enable_mergejoin = off",
        "SET LOCAL statement_timeout = 0",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        "SET LOCAL client_encoding = 'UTF8'",
        "SET LOCAL timezone = 'UTC'",
        "SET LOCAL standard_conforming_strings = on",
    ),
    read=_postgres_read,
    same=_postgres_same,
    times="generate_series(1, {}) AS many",
    learn="ANALYZE {}",
    longest_name=63,
    folds_case=False,
    relations="SELECT n.nspname AS s, c.relname AS t FROM pg_catalog.pg_class AS c"
    " JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace",
    path="SELECT s FROM unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS path(s, place) ORDER BY place",
    described=_postgres_described,
    may_create="SELECT pg_catalog.has_schema_privilege({}, 'CREATE') AS may",
)
