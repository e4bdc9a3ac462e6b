"""How a table is to be read, found out from the table itself: for drafts, which write it down with the reasons."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines
from sudare.core.errors import DataError, ParameterError, Problem
from sudare.engines.excel_files import FoundSheet, find_sheet
from sudare.policy import SourceSpec
from sudare.sources.cell_cleaner import cleaned_as
from sudare.sources.detected_cells import find_cells
from sudare.sources.detected_text import find_encoding, find_layout
from sudare.sources.opened_source import Data, text_form

LOOKED_AT = 1_000_000
"""The largest number of database records that are looked at."""


@dataclass(frozen=True)
class DetectedSource:
    """A table as it is to be read, the keys of ``source`` that say so, their reasons, and what only a person knows."""

    table: pa.Table
    spec: SourceSpec
    reasons: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    name: str = ""


def detect_source(
    data: Data, *, encoding: str | None = None, delimiter: str | None = None, sheet: str | int | None = None
) -> DetectedSource:
    """Find out how a file, or a table in Python, is to be read; what is given is not looked for.

    ``sheet`` is the name or the number of a sheet. What is given must have an effect on this kind of table.

    A table of a database is read as it is, up to ``LOOKED_AT`` records.
    """
    given = {"encoding": encoding, "delimiter": delimiter, "sheet": sheet}
    wanted = [key for key, value in given.items() if value is not None]
    place = engines.find_place(data)
    file = place is None and isinstance(data, str | Path)
    if not file:
        _check_heeded(wanted, frozenset())
    if place is not None:
        with engines.open_database(place) as database:
            table = database.source(place, database.columns(place).names, most=LOOKED_AT).table()
        return DetectedSource(table, SourceSpec(), name=place.shown)
    if not isinstance(data, str | Path):
        return _with_cells(engines.adopt(data)[0], {}, {})
    path, keys, reasons = Path(data), dict[str, Any](), dict[str, str]()
    checked = SourceSpec.checked(encoding=encoding or "utf-8", delimiter=delimiter)
    if sheet is not None and (sheet == "" or (isinstance(sheet, int) and sheet < 1)):
        raise ParameterError(Problem("sheet", "must be a name, or a number from 1 on."))
    engines.check_file(path)
    known = engines.file_format(path)
    _check_heeded(wanted, known.keys)
    if encoding:
        keys["encoding"] = checked.encoding
    if delimiter:
        keys["delimiter"] = checked.delimiter
    if known.text:
        with engines.reading(path):
            if not encoding:
                keys["encoding"], reasons["encoding"] = find_encoding(path)
            told, above, why = find_layout(path, keys["encoding"], delimiter)
        if told:
            keys["delimiter"], reasons["delimiter"] = told, "nearly all lines have as many of it"
        if above:
            keys["skip_rows"], reasons["skip_rows"] = above, why
    elif "sheet" in known.keys:
        found = find_sheet(path, sheet)
        if found.empty:
            raise DataError(Problem(f"{path.name}, sheet '{found.name}'", "has columns but no records."))
        if sheet is not None:
            keys["sheet"] = found.name
        elif found.full > 1:
            keys["sheet"], reasons["sheet"] = found.name, _why_sheet(found)
        if found.above:
            keys["skip_rows"], reasons["skip_rows"] = found.above, "rows above have fewer cells than the others"
    opened = engines.open_path(path, text_form(SourceSpec(**keys)))
    return replace(_with_cells(opened.read(list(opened.names)), keys, reasons), name=path.name)


def _check_heeded(wanted: Sequence[str], heeded: Collection[str]) -> None:
    """Raise if something is given that has no effect on this kind of table."""
    problems = [
        Problem(key, f"has no effect: it is for {engines.formats_with(key)}, and the table is not one.", "remove it.")
        for key in wanted
        if key not in heeded
    ]
    if problems:
        raise ParameterError(problems)


def _why_sheet(found: FoundSheet) -> str:
    if not found.passed:
        return f"the first of {found.full} sheets with cells"
    before = "the sheet before it is no table" if len(found.passed) == 1 else "the sheets before it are no tables"
    return f"one of {found.full} sheets with cells; {before}"


def _with_cells(table: pa.Table, keys: Mapping[str, Any], reasons: Mapping[str, str]) -> DetectedSource:
    """Find out how cells are written, and read them so."""
    found = find_cells(table)
    spec = SourceSpec(**keys, **found.keys)
    source = cleaned_as(engines.open_table(table), spec, {}, strict=False)
    return DetectedSource(source.table(), spec, {**reasons, **found.reasons}, tuple(found.questions))
