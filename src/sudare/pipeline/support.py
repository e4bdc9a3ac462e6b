"""What runs where: for each method and each engine, how a release is made, or what to use instead.

The page *Where the data lives* has this as a table, which a test compares with what is said here.
"""

from __future__ import annotations

from sudare.core.errors import UnsupportedError
from sudare.methods import METHODS

ENGINES = ("file or table in Python", "DuckDB", "PostgreSQL", "Spark")
ONE_MACHINE = {
    "l-clustering": ("it compares all records with each other.", "use top-down"),
    "three-phase": ("it moves records between groups of the whole table.", "use top-down"),
    "anatomy": ("it deals records of the whole table out to groups.", "use dummies"),
}
"""What is refused on Spark, and why."""
SPLITTING = ("top-down", "mondrian")
"""Methods that solve parts of a table by themselves, once the first levels are cut."""


def check_database(method: str) -> None:
    """Raise if a method cannot write to a database."""
    if method == "anatomy":
        what = "anatomy makes a release of two files, and does not write to a database."
        raise UnsupportedError(what, hint="write to a file, or use dummies.")


def check_spark(method: str) -> None:
    """Raise if a method does not run on Spark."""
    if method in ONE_MACHINE:
        why, instead = ONE_MACHINE[method]
        raise UnsupportedError(f"{method} does not run on Spark: {why}", hint=f"{instead}, or run it on one machine.")


def ability(method: str, engine: str) -> str:
    """Say in a few words how a method runs on an engine."""
    entry = METHODS[method]
    try:
        if engine == "Spark":
            check_spark(method)
            if method in SPLITTING:
                return "parts solved on executors"
            return "cells drawn on executors" if entry.leaves_quasi else "atoms to the driver, cut on executors"
        if engine != ENGINES[0]:
            check_database(method)
            if entry.leaves_quasi:
                return "rows travel"
            return "in the database; rows travel with item sets" if entry.item_sets else "in the database"
    except UnsupportedError as error:
        told = f"{error.problems[0].what} {error.problems[0].hint}"
        return "refused: use " + ("dummies" if "dummies" in told else "top-down")
    return "yes"


def table() -> str:
    """Return what runs where, as a table of Markdown."""
    lines = ["| method | " + " | ".join(ENGINES) + " |", "|---" * (1 + len(ENGINES)) + "|"]
    lines += [f"| `{name}` | " + " | ".join(ability(name, engine) for engine in ENGINES) + " |" for name in METHODS]
    return "\n".join(lines)
