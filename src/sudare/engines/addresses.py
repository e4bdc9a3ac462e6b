"""Addresses of tables: a file, or a table of a database such as ``postgresql://host/db#schema.table``.

The shown form of an address never contains a user, a password or a parameter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from sudare.core.errors import DataError, Problem

DUCKDB = (".duckdb", ".ddb", ".db")
"""How the name of a DuckDB database ends."""
POSTGRES = ("postgresql://", "postgres://")
_HIDDEN = "postgresql://..."
_WITH_AT = ("abfs", "wasb")
"""Kinds of folders whose addresses have an @ that is no user's: container@account."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.:_-]+")
"""What stands before :// in an address; a single letter is a drive of Windows."""
_PART = re.compile(r'"((?:[^"]|"")*)"|([^".]+)')


@dataclass(frozen=True)
class Place:
    """A table of a database; ``address`` is how that is reached. It may hold a password, and is never shown."""

    engine: Literal["duckdb", "postgres"]
    address: str = field(repr=False)
    schema: str | None
    table: str

    @property
    def shown(self) -> str:
        """The address as it may be shown: without user, password and parameters."""
        name = self.table if self.schema is None else f"{self.schema}.{self.table}"
        if self.engine == "duckdb":
            return f"{Path(self.address).name}#{name}"
        return f"{shown_address(self.address)}#{name}"

    def shares_database(self, other: Place | None) -> bool:
        """Return whether another table is in the same database; a file may have several names."""
        if other is None or self.engine != other.engine:
            return False
        if self.engine == "duckdb":
            return Path(self.address).resolve() == Path(other.address).resolve()
        return self.address == other.address

    def beside(self, ending: str) -> Place:
        """Return the place of another table of the same database, with a longer name."""
        return Place(self.engine, self.address, self.schema, self.table + ending)


@dataclass(frozen=True)
class Remote:
    """A folder that Spark reaches by its address, such as ``s3a://bucket/folder``."""

    address: str

    @property
    def shown(self) -> str:
        """The address, which has no user and no password in it."""
        return self.address


def shown_place(data: Any) -> str:
    """Return the address of a table, as it may be shown to anyone."""
    place = find_remote(data) or find_place(data)
    return str(data) if place is None else place.shown


def find_remote(data: Any) -> Remote | None:
    """Return the folder that a text names by an address for Spark, or None; raise if it has a user in it."""
    scheme, found, rest = data.partition("://") if isinstance(data, str) else ("", "", "")
    if not found or not _SCHEME.fullmatch(scheme) or f"{scheme.lower()}://" in POSTGRES:
        return None
    if "@" in rest.partition("/")[0] and not scheme.lower().startswith(_WITH_AT):
        what = "the address of a folder must not contain a user or a password."
        raise DataError(Problem(f"{scheme}://...", what, "put them into the settings of Spark."))
    return Remote(data)


def find_place(data: Any) -> Place | None:
    """Return the table of a database that a text names, or None if it is something else; raise if it names none."""
    if not isinstance(data, str | Path):
        return None
    text = str(data)
    scheme, found, rest = text.partition("://")
    if isinstance(data, str) and found and _SCHEME.fullmatch(scheme):
        if f"{scheme.lower()}://" not in POSTGRES:
            what = "is not a supported kind of database."
            hint = "use postgresql://host/database#schema.table; a folder of Spark needs --engine spark."
            raise DataError(Problem(f"{scheme}://...", what, hint))
        address, _, name = rest.partition("#")
        address = f"{POSTGRES[0]}{address}"
        if "@" not in address and "@" in _PART.sub(lambda part: part.group(2) or "", name):
            what = "a # in a password, or an @ in a table name, is not escaped."
            raise DataError(Problem(_HIDDEN, what, 'write %23 for the #, and put the name in quotes: ...#"a@b".'))
        return Place("postgres", address, *_parts(name, shown_address(address)))
    for mark in (*(at for at, sign in enumerate(text) if sign == "#"), len(text)):
        if text[:mark].lower().endswith(DUCKDB) and not _is_folder_name(text[mark + 1 :]):
            return Place("duckdb", text[:mark], *_parts(text[mark + 1 :], Path(text[:mark]).name))
    return None


def _is_folder_name(rest: str) -> bool:
    """Return whether a path goes on after a #, which is then part of a folder's name and not what names a table."""
    plain = _PART.sub(lambda part: part.group(2) or "", rest)
    return "/" in plain or "\\" in plain


def shown_address(address: str) -> str:
    """Return the address of a PostgreSQL database without user, password and parameters."""
    try:
        parts = urlsplit(address)
        host, port, path = parts.hostname or "", parts.port, parts.path
    except ValueError:  # such as a port that is no number
        return _HIDDEN
    if "@" in parts.path or "@" in parts.query:  # a password with a / or ? in it: nobody knows where it ends
        return _HIDDEN
    return f"postgresql://{host}{f':{port}' if port else ''}{path}"


def _parts(name: str, where: str) -> tuple[str | None, str]:
    """Return schema and table of a name, each of which may be quoted as in SQL."""
    found = [quoted.replace('""', '"') or plain for quoted, plain in _PART.findall(name)]
    whole = ".".join(match.group(0) for match in _PART.finditer(name))
    if not name or whole != name or len(found) not in (1, 2) or not all(found) or "\x00" in name:
        hint = 'put it after a #, as in ...#people or ...#schema.people; quote names with dots: ...#"a.b".'
        raise DataError(Problem(where, "the address does not name a table.", hint))
    return (None, found[0]) if len(found) == 1 else (found[0], found[1])
