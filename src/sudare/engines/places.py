"""Where a table is: a file, or a table of a database that is named by a text such as ``postgresql://host/db#schema.table``.

What is shown of a place never has a user, a password or a parameter in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from sudare.errors import DataError, Problem

DUCKDB = (".duckdb", ".ddb", ".db")
"""How the name of a DuckDB database ends."""
POSTGRES = ("postgresql://", "postgres://")
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
        """The place as it may be told: without user, password and parameters."""
        name = self.table if self.schema is None else f"{self.schema}.{self.table}"
        if self.engine == "duckdb":
            return f"{Path(self.address).name}#{name}"
        return f"{shown_address(self.address)}#{name}"

    def beside(self, ending: str) -> Place:
        """Return the place of another table of the same database, with a longer name."""
        return Place(self.engine, self.address, self.schema, self.table + ending)


def shown_place(data: Any) -> str:
    """Return where a table is, as it may be told to anybody."""
    place = find_place(data)
    return str(data) if place is None else place.shown


def find_place(data: Any) -> Place | None:
    """Return the table of a database that a text names, or None if it is something else; raise if it names none."""
    text = str(data) if isinstance(data, str) else ""
    if text.startswith(POSTGRES):
        address, _, name = text.partition("#")
        return Place("postgres", address, *_parts(name, shown_address(address)))
    if isinstance(data, Path):
        text = str(data)
    address, _, name = text.rpartition("#") if "#" in text else (text, "", "")
    if address.lower().endswith(DUCKDB):
        return Place("duckdb", address, *_parts(name, Path(address).name))
    return None


def shown_address(address: str) -> str:
    """Return the address of a PostgreSQL database without user, password and parameters."""
    try:
        parts = urlsplit(address)
        host, port, path = parts.hostname or "", parts.port, parts.path
    except ValueError:  # such as a port that is no number
        return "postgresql://..."
    return f"postgresql://{host}{f':{port}' if port else ''}{path}"


def _parts(name: str, where: str) -> tuple[str | None, str]:
    """Return schema and table of a name, each of which may be quoted as in SQL."""
    found = [quoted.replace('""', '"') or plain for quoted, plain in _PART.findall(name)]
    whole = ".".join(match.group(0) for match in _PART.finditer(name))
    if not name or whole != name or len(found) not in (1, 2) or not all(found) or "\x00" in name:
        hint = 'put it after a #, as in ...#people or ...#schema.people; quote names with dots: ...#"a.b".'
        raise DataError(Problem(where, "no table of the database is named.", hint))
    return (None, found[0]) if len(found) == 1 else (found[0], found[1])
