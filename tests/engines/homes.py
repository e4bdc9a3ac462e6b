"""Databases that tables can be in, for tests: real ones, each empty at the start of a test.

A *home* is a database of one kind. To add a kind, write a class with what :class:`Home` has, and name it in
``conftest.py`` (``HOMES``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa

PACKAGES = "postgresql"
"""What has to be installed for the tests of PostgreSQL (on Debian: apt-get install postgresql)."""


class Home:
    """A database: addresses of its tables, and ways in that have nothing to do with sudare."""

    name: str
    folds_case = False
    longest_name: int | None = None

    def address(self, table: str, schema: str | None = None) -> str:
        """Return how a table is named to sudare."""
        part = quoted(table) if schema is None else f"{quoted(schema)}.{quoted(table)}"
        return f"{self.database}#{part}"

    database: str
    """The address of the database itself."""

    def load(self, table: str, arrow: pa.Table, schema: str | None = None) -> str:
        """Make a table; return its address."""
        raise NotImplementedError

    def query(self, sql: str) -> pa.Table:
        """Ask something."""
        raise NotImplementedError

    def run(self, *statements: str) -> None:
        """Change something, for all to see."""
        raise NotImplementedError

    def read(self, table: str, schema: str | None = None) -> pa.Table:
        """Read a table."""
        return self.query(f"SELECT * FROM {named(table, schema)}")

    def types(self, table: str) -> dict[str, str]:
        """Return the types of a table's columns, in the database's own words."""
        found = self.query(
            "SELECT column_name AS n, data_type AS t FROM information_schema.columns"
            f" WHERE table_name = {literal(table)} ORDER BY ordinal_position"
        )
        return dict(zip(found["n"].to_pylist(), found["t"].to_pylist(), strict=True))

    def tables(self) -> list[str]:
        """Return all tables that are there, temporary ones of others too; those outside the usual schema with it."""
        found = self.query("SELECT table_schema AS s, table_name AS t FROM information_schema.tables")
        own = ("information_schema", "pg_catalog")
        pairs = zip(found["s"].to_pylist(), found["t"].to_pylist(), strict=True)
        return sorted(t if s in ("public", "main") else f"{s}.{t}" for s, t in pairs if s not in own)


class DuckHome(Home):
    """A DuckDB file, which is made with its first table."""

    name = "duckdb"
    folds_case = True

    def __init__(self, folder: Path) -> None:
        self.path = folder / "home.duckdb"
        self.database = str(self.path)
        duckdb.connect(self.database).close()

    def load(self, table, arrow, schema=None):
        with duckdb.connect(self.database) as connection:
            connection.register("arrow_to_load", arrow)
            connection.execute(f"CREATE TABLE {named(table, schema)} AS SELECT * FROM arrow_to_load")
        return self.address(table, schema)

    def query(self, sql):
        with duckdb.connect(self.database) as connection:
            return connection.sql(sql).to_arrow_table()

    def run(self, *statements):
        with duckdb.connect(self.database) as connection:
            for statement in statements:
                connection.execute(statement)


class PostgresHome(Home):
    """A database of its own on a server that all tests share."""

    name = "postgres"
    longest_name = 63

    def __init__(self, server: Server, database: str) -> None:
        self.server, self.plain = server, database
        server.run(f"CREATE DATABASE {quoted(database)}")
        self.database = server.url(database)

    def connect(self, url: str | None = None):
        from adbc_driver_postgresql import dbapi

        return dbapi.connect(url or self.database)

    def load(self, table, arrow, schema=None):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(table, arrow, mode="create", db_schema_name=schema)
            connection.commit()
        return self.address(table, schema)

    def query(self, sql):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    def run(self, *statements):
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    def sessions(self) -> list[int]:
        """Return the processes of the server that serve others in this database, which only one test uses.

        A process stays for a moment after its connection was closed: wait for it to go (:func:`wait_until`).
        """
        found = self.query(
            "SELECT pid FROM pg_stat_activity"
            f" WHERE datname = {literal(self.plain)} AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return found["pid"].to_pylist()

    def drop(self) -> None:
        self.server.run(f"DROP DATABASE IF EXISTS {quoted(self.plain)} WITH (FORCE)")


class Server:
    """A PostgreSQL server in a folder of its own, reached by a socket there; everybody may in, but for one role."""

    LOCKED, PASSWORD = "locked", "Geheim-7t%2Fx"
    """A role that has to give a password, and that as an address has it."""

    def __init__(self, programs: Path, more: dict[str, str] | None = None) -> None:
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="sudare-pg-"))
        root = os.geteuid() == 0
        self.alias = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if root else []
        if root:
            shutil.chown(self.folder, "postgres", "postgres")
        data = self.folder / "data"
        # ends the server as soon as nobody holds its pipe any more: also if the tests are killed
        last = [*self.alias, str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-s", "stop"]
        self.guard = subprocess.Popen(
            ["sh", "-c", 'cat; "$@"; rm -rf "$0"', str(self.folder), *last],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        try:
            self._do("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
            rules = data / "pg_hba.conf"
            rules.write_text(f"local all {self.LOCKED} scram-sha-256\nlocal all all trust\n")
            settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "fsync": "off"}
            settings |= {"shared_buffers": "32MB", "max_connections": "40", "log_min_messages": "fatal"}
            settings |= more or {}
            flags = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
            self._do("pg_ctl", "-D", data, "-l", self.folder / "log", "-w", "-s", "-o", flags, "start")
            self.run(f"CREATE ROLE {self.LOCKED} LOGIN SUPERUSER PASSWORD 'Geheim-7t/x'")
        except BaseException:
            self.stop()
            raise

    def url(self, database: str, user: str = "postgres", password: str | None = None) -> str:
        """Return the address of a database."""
        secret = "" if password is None else f":{password}"
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def run(self, statement: str) -> None:
        """Run what has to be outside of transactions."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.url("postgres"), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(statement)

    def stop(self) -> None:
        """End the server, and remove everything that it had."""
        self.guard.communicate(timeout=600)

    def _do(self, program: str, *arguments: object) -> None:
        # not to a pipe: the server would keep it open, and whoever reads it would wait for ever
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                [*self.alias, self.programs / program, *map(str, arguments)],
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False, cwd="/", timeout=600,
            )  # fmt: skip
            if done.returncode:
                said.seek(0)
                raise RuntimeError(f"{program} failed: {said.read().decode(errors='replace')}")


def postgres_programs() -> Path | None:
    """Return the folder with the programs of the newest PostgreSQL server here."""
    places = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
    places += ("/usr/local/opt/postgresql*/bin", "/usr/local/pgsql/bin")
    found = [path for place in places for path in Path("/").glob(place[1:]) if (path / "initdb").exists()]
    if found:
        return max(found, key=lambda path: [int(number) for number in re.findall(r"\d+", str(path))])
    other = shutil.which("initdb")
    return Path(other).resolve().parent if other else None


def wait_until(holds: Callable[[], bool], seconds: float = 600) -> None:
    """Wait for something that happens soon, but on a busy machine not at once."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def named(table: str, schema: str | None = None) -> str:
    return quoted(table) if schema is None else f"{quoted(schema)}.{quoted(table)}"


def rows(table: pa.Table, names: list[str] | None = None) -> Counter:
    """Return the rows of a table, in any order; cells are told apart by their types as well."""
    chosen = table if names is None else table.select(names)
    cells = [column.to_pylist() for column in chosen.columns]
    return Counter(tuple(cell(value) for value in row) for row in zip(*cells, strict=True))


def cell(value):
    """Return a cell as something that can be compared and hashed; not-a-number equals itself."""
    if isinstance(value, list):
        return tuple(cell(item) for item in value)
    return ("float", repr(value)) if isinstance(value, float) else value
