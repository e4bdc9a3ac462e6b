"""The table of methods and engines: how each method runs on each engine, or what to use instead.

``docs/engines.md`` shows this table, and a test compares the two.
"""

from __future__ import annotations

from sudare.core.errors import UnsupportedError
from sudare.methods import METHODS, method_of

ENGINES = ("file or table in Python", "DuckDB", "PostgreSQL", "Spark")
ON_SPARK = {
    "parts": "parts solved on executors",
    "atoms": "atoms to the driver, cut on executors",
    "cells": "cells drawn on executors",
}
"""How methods run on Spark, by what the registry says they do where rows are on many machines."""


def check_database(method: str) -> None:
    """Raise if a method cannot write to a database."""
    entry = method_of(method)
    if entry.second_table:
        what = f"{method} makes a release of two files, and cannot write to a database."
        raise UnsupportedError(what, hint=f"write to a file, or use {entry.instead}.")


def check_spark(method: str) -> None:
    """Raise if a method does not run on Spark."""
    entry = method_of(method)
    if entry.distributed is None:
        what = f"{method} does not run on Spark: {entry.one_machine}"
        raise UnsupportedError(what, hint=f"use {entry.instead}, or run it on one machine.")


def ability(method: str, engine: str) -> str:
    """Return in a few words how a method runs on an engine."""
    entry = METHODS[method]
    try:
        if engine == "Spark":
            check_spark(method)
            return ON_SPARK[str(entry.distributed)]
        if engine != ENGINES[0]:
            check_database(method)
            if entry.leaves_quasi:
                return "rows travel"
            return "in the database; rows travel with item sets" if entry.item_sets else "in the database"
    except UnsupportedError:
        return f"refused: use {entry.instead}"
    return "yes"


def table() -> str:
    """Return what runs where, as a table of Markdown."""
    lines = ["| method | " + " | ".join(ENGINES) + " |", "|---" * (1 + len(ENGINES)) + "|"]
    lines += [f"| `{name}` | " + " | ".join(ability(name, engine) for engine in ENGINES) + " |" for name in METHODS]
    return "\n".join(lines)
