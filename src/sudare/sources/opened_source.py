"""The user's table, opened: a file, a table of a database, or a data frame, and the columns that the policy names."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines
from sudare.core.errors import PolicyError, Problem
from sudare.core.memory import available
from sudare.policy import Policy, SourceSpec
from sudare.policy.source_spec import CELL_KEYS, FILE_KEYS
from sudare.sources.cell_cleaner import cleaned
from sudare.sources.transformed_source import columns_to_read, transformed

Data = Any
"""A path, a table of a database by its address, a pandas or Polars DataFrame, an Arrow table, or a DuckDB relation.

Also a source of ours that is held in memory (:func:`held`).
"""
_VIEW = "remove it, and make the table in a view that has the cells as they should be."


def read(
    data: Data,
    policy: Policy,
    *,
    only: Sequence[str] | None = None,
    stream: bool = False,
    database: engines.Database | None = None,
    described: bool = True,
    transform: bool = True,
    seed: int | None = None,
    spill: Path | None = None,
) -> tuple[engines.Source, Callable[[pa.Table], Any]]:
    """Return the columns that the policy names (or ``only`` some), and how to convert a table to the kind of the input.

    A text file is read as a whole unless it is large or to be a ``stream``, which is slower. A table of a database is
    read in the transaction of ``database``, or else in one of its own, which ends with the last batch. ``described``
    says that this is the table which the policy describes. Its columns are transformed as the policy says, unless
    ``transform`` is false; a ``seed`` is for tests, and ``spill`` is a private folder for what does not stay in memory.
    """
    if isinstance(data, engines.Source):
        return data, lambda table: table
    wanted_names = list(only or (name for name, spec in policy.columns.items() if spec.role != "identifier"))
    transform = transform and described and policy.transforms
    names = columns_to_read(policy, wanted_names) if transform else wanted_names

    def done(source: engines.Source) -> engines.Source:
        return transformed(source, policy, wanted_names, seed=seed, spill=spill) if transform else source

    place = engines.find_place(data)
    if described:
        check_source(data, policy)
    if place is not None:
        return done(_from_database(place, policy, names, database)), lambda table: table
    if isinstance(data, str | Path):
        path = Path(data)
        opened = engines.open_path(path, text_form(policy.source))
        # identifiers are not read, but a policy that names one which is not there is a mistake
        engines.check_columns(path.name, policy.columns, opened.names, headed=opened.headed)
        # what would take up most of the memory as text is better cut into pieces, slower as that is
        stream = stream or 3 * engines.unpacked_size(path) > (available() or math.inf)
        return done(cleaned(opened.source(names, stream), policy)), lambda table: table

    def wanted(there: list[str]) -> list[str]:
        engines.check_columns("the table", policy.columns, there)
        return names

    arrow, give_back = engines.adopt(data, wanted)
    return done(cleaned(engines.open_table(arrow), policy)), give_back


def held(data: Data, policy: Policy) -> Data:
    """Return a table that can be read several times: text that fits into memory is read only once.

    A table of a database, files with quick access to columns, and tables that a policy transforms, of which the cells
    before and after are wanted, are returned unchanged.
    """
    if policy.transforms:
        return data
    path = isinstance(data, str | Path) and engines.find_place(data) is None
    known = engines.file_format(Path(data)) if path else None
    if known is None or (known.streams and not known.text):
        return data
    source, _ = read(data, policy)
    return source if source.held else data


def text_form(about: SourceSpec) -> engines.TextForm:
    """Return how a policy says that a file is to be read."""
    return engines.TextForm(
        about.delimiter,
        about.encoding,
        about.missing_everywhere,
        about.skip_rows,
        about.sheet,
        about.labels,
        missing_labels=about.missing_by_column,
    )


def check_source(data: Data, policy: Policy, *, spark: bool = False) -> None:
    """Raise if the policy says something of how the table is read that has no effect on this kind of table."""
    given = policy.source.given()
    file = isinstance(data, str | Path) and not spark and engines.find_place(data) is None
    heeded = engines.file_format(Path(data)).keys if file else frozenset()
    problems = [
        Problem(
            f"source.{key}",
            f"has no effect: it is for {engines.formats_with(key)}, and the source is not one.",
            "remove it.",
        )
        for key in given
        if key in FILE_KEYS - heeded
    ]
    cells = [key for key in given if key in CELL_KEYS or (key == "missing" and policy.source.missing_by_column)]
    if cells and (spark or isinstance(data, engines.Source) or (not file and engines.find_place(data) is not None)):
        problems += [
            Problem(f"source.{key}", "has no effect: cells of databases and of Spark are read as they are.", _VIEW)
            for key in cells
        ]
    if problems:
        raise PolicyError(problems)


def _from_database(
    place: engines.Place, policy: Policy, names: list[str], database: engines.Database | None
) -> engines.Source:
    opened = database or engines.open_database(place)
    try:
        engines.check_columns(place.shown, policy.columns, opened.columns(place).names)
        source = opened.source(place, names)
    except BaseException:
        opened.close()
        raise
    if database is not None:
        return source

    def batches(wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
        with opened:
            yield from source.batches(wanted)

    return replace(source, batches=batches)
