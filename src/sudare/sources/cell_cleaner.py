"""Cells as a policy says they are to be read: trimmed, in one case, with plain numbers, with dates, and missing ones.

The steps, for each column of text, in this order: blanks around a text go; texts for missing become missing; letters
get one case; numbers are written plainly; texts in a format of dates become dates. Cells that are not what the policy
says are problems, with the records that they are in. They are raised when all records have been read, so that one
message lists them all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare import engines
from sudare.core.errors import DataError, Problem
from sudare.core.shown_places import SHOWN, first_places
from sudare.hierarchies.value_kinds import is_number
from sudare.policy import ALL, ColumnSpec, DateFormat, Policy, SourceSpec
from sudare.sources.local_dates import date_type, parse_dates
from sudare.sources.local_numbers import LocalNumbers


class CellProblemsError(DataError):
    """Cells are not what the policy says they are. It is raised after the last record."""


@dataclass
class _Wrong:
    """Cells that are not what they are said to be: how many, and the first records that hold one."""

    count: int = 0
    records: list[int] = field(default_factory=list)

    def add(self, bad: pa.Array, start: int) -> None:
        """Note the cells of a batch whose first record has the number ``start``."""
        places = np.flatnonzero(np.asarray(pc.fill_null(bad, False).to_numpy(zero_copy_only=False)))
        self.count += len(places)
        self.records += (places[: SHOWN + 1] + start).tolist() if len(self.records) <= SHOWN else []


@dataclass(frozen=True)
class _Column:
    """How the cells of one column are read."""

    name: str
    trim: bool
    case: str
    missing: tuple[str, ...]
    numbers: LocalNumbers | None
    dates: tuple[DateFormat, ...]

    @property
    def idle(self) -> bool:
        """Whether cells stay as they are."""
        plain = self.case == "keep" and not self.missing and not self.dates
        return plain and not self.trim and (self.numbers is None or self.numbers.plain)

    def clean(self, values: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """Return texts as they are to be read, and which are not what they are said to be."""
        if self.trim:
            values = pc.utf8_trim_whitespace(values)
        values = self._without_missing(values)
        if self.case != "keep":
            values = pc.utf8_lower(values) if self.case == "lower" else pc.utf8_upper(values)
            values = self._without_missing(values)  # texts for missing may be given in this case, too
        if self.dates:
            return parse_dates(values, self.dates)
        if self.numbers is None or self.numbers.plain:
            return values, None
        return self.numbers.plain_texts(values)

    def _without_missing(self, values: pa.Array) -> pa.Array:
        if not self.missing:
            return values
        lost = pc.is_in(values, value_set=pa.array(self.missing, values.type))
        return pc.if_else(lost, pa.scalar(None, values.type), values)

    def problem(self, wrong: _Wrong) -> Problem:
        """Return what is wrong with cells of the column."""
        one = wrong.count == 1
        where = f"({first_places(wrong.records, 'record')})"
        cells = f"{wrong.count} cell{' is' if one else 's are'}"
        if self.dates:
            formats = " or ".join(each.text for each in self.dates)
            hint = f"correct them, add their format to source.dates, or list them in source.missing.{self.name}."
            return Problem(f"column '{self.name}'", f"{cells} no date in the format {formats} {where}.", hint)
        assert self.numbers is not None
        mark = "a decimal point" if self.numbers.decimal == "," else "a comma"
        wanted = f"source.decimal is '{self.numbers.decimal}'"
        if self.numbers.thousands:
            wanted += f" and source.thousands '{self.numbers.thousands}'"
        wanted += ", or another mark between thousands"
        holds = f"{wrong.count} cell{' has' if one else 's have'}"
        hint = "write all numbers alike, set source: {thousands: ...}, or set kind: categorical if these are codes."
        return Problem(f"column '{self.name}'", f"{holds} {mark} where {wanted} {where}.", hint)


def cleaned(source: engines.Source, policy: Policy) -> engines.Source:
    """Return a table whose cells are read as a policy says; the table itself if the policy says nothing of it.

    Formats of dates that hold for all columns concern those columns of text in which all cells have them: of a table in
    memory all records are looked at, of a stream the first batch in which a column shows a value.
    """
    return cleaned_as(source, policy.source, policy.columns)


def cleaned_as(
    source: engines.Source, about: SourceSpec, specs: Mapping[str, ColumnSpec], *, strict: bool = True
) -> engines.Source:
    """Return a table whose cells are read in a way; if not strictly, cells that are not so are missing."""
    if not about.cleans:
        return source
    ways = {each.name: _column(each.name, about, specs.get(each.name), each.type) for each in source.schema}
    dated = _dated(source, about, [way for way in ways.values() if way.numbers is not None])
    ways |= {name: replace(ways[name], dates=formats, numbers=None) for name, formats in dated.items()}
    columns = {name: way for name, way in ways.items() if not way.idle}
    kinds = [pa.field(each.name, _clean_type(columns.get(each.name), each.type)) for each in source.schema]
    return _Cleaned(source, pa.schema(kinds), columns, strict).source()


def _clean_type(column: _Column | None, kind: pa.DataType) -> pa.DataType:
    """Return the type of a column when it is clean: texts have no dictionary any more."""
    if column is None:
        return kind
    return date_type(column.dates) if column.dates else _inner(kind)


class _Cleaned:
    """A table whose cells are cleaned while it is read; of one that is held, the clean cells are kept."""

    def __init__(self, raw: engines.Source, schema: pa.Schema, columns: Mapping[str, _Column], strict: bool) -> None:
        self.raw, self.schema, self.columns, self.strict = raw, schema, columns, strict
        self.kept: list[pa.RecordBatch] | None = None

    def source(self) -> engines.Source:
        """Return the clean table."""
        return replace(self.raw, schema=self.schema, batches=self.batches)

    def batches(self, wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
        """Yield the clean batches, and raise what is wrong with cells after the last one."""
        if self.kept is not None:
            yield from self.kept
            return
        kept, start = [], 1
        wrong: dict[str, _Wrong] = {}
        for batch in self.raw.batches([name for name in wanted if name not in self.columns]):
            clean = self._clean(batch, start, wrong)
            start += len(batch)
            if self.raw.held:
                kept.append(clean)
            yield clean
        if wrong and self.strict:
            raise CellProblemsError([self.columns[name].problem(found) for name, found in wrong.items()])
        if self.raw.held:
            self.kept = kept

    def _clean(self, batch: pa.RecordBatch, start: int, wrong: dict[str, _Wrong]) -> pa.RecordBatch:
        found = []
        for each, cells in zip(self.schema, batch.columns, strict=True):
            column = self.columns.get(each.name)
            if column is None:
                found.append(cells)
                continue
            if not _is_text(_inner(cells.type)):
                cells = _without(cells, column.missing)
                if not column.dates:
                    found.append(cells)
                    continue
                cells = cells.cast(pa.large_string())
            clean, bad = _by_value(cells, column.clean)
            if bad is not None and pc.any(bad).as_py():
                wrong.setdefault(each.name, _Wrong()).add(bad, start)
                clean = pc.if_else(pc.fill_null(bad, False), pa.scalar(None, clean.type), clean)
            found.append(clean)
        return pa.RecordBatch.from_arrays(
            [cells.cast(each.type) for cells, each in zip(found, self.schema, strict=True)], schema=self.schema
        )


def _by_value(
    cells: pa.Array, work: Callable[[pa.Array], tuple[pa.Array, pa.Array | None]]
) -> tuple[pa.Array, pa.Array | None]:
    """Do something with each different text once."""
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    values, bad = work(coded.dictionary)
    return values.take(coded.indices), None if bad is None else bad.take(coded.indices)


def _without(cells: pa.Array, tokens: Sequence[str]) -> pa.Array:
    """Return numbers, dates or truth values without those that stand for missing."""
    if is_number(cells.type):
        numbers = []
        for token in tokens:
            with suppress(ValueError):
                numbers.append(float(token))
        lost = pc.is_in(cells.cast(pa.float64(), safe=False), value_set=pa.array(numbers, pa.float64()))
    else:
        lost = pc.is_in(cells.cast(pa.large_string()), value_set=pa.array(tokens, pa.large_string()))
    return pc.if_else(lost, pa.scalar(None, cells.type), cells)


def _column(name: str, about: SourceSpec, spec: ColumnSpec | None, kind: pa.DataType) -> _Column:
    """Return how a column is read. Item sets and codes keep their marks, and only text has spellings."""
    text = _is_text(_inner(kind))
    single = not pa.types.is_nested(kind)
    own = tuple(about.missing_by_column.get(name, ())) if single else ()
    if not text:
        dates = about.dates.get(name, ()) if pa.types.is_integer(kind) else ()  # as 20240305
        return _Column(name, False, "keep", own, None, tuple(map(DateFormat.of, dates)))
    codes = spec is not None and (
        spec.kind in ("items", "categorical") or spec.separator is not None or spec.order is not None
        or spec.role in ("identifier", "subject")
    )  # fmt: skip
    formats = tuple(DateFormat.of(each) for each in about.dates.get(name, ()))
    trim = about.trim.get(name, about.trim.get(ALL, False))
    case = about.case.get(name, about.case.get(ALL, "keep"))
    changed = trim or case != "keep"  # otherwise what stands for missing everywhere has been found already
    shared = about.missing_everywhere if changed else ()
    return _Column(
        name,
        trim,
        case,
        own + shared,
        None if codes or formats else LocalNumbers(about.decimal, about.thousands),
        formats,
    )


def _dated(source: engines.Source, about: SourceSpec, ways: Sequence[_Column]) -> dict[str, tuple[DateFormat, ...]]:
    """Return the columns whose cells all have a format of dates that holds for all columns.

    They are columns of text that hold neither codes nor item sets. Of a stream, batches are read until each column
    shows a value.
    """
    formats = tuple(DateFormat.of(each) for each in about.dates.get(ALL, ()))
    seen, fits = set[str](), {way.name: way for way in ways}
    if not formats or not fits:
        return {}
    everywhere = pa.array([*about.missing_everywhere, ""], pa.large_string())
    for batch in source.batches(()):
        for name, way in list(fits.items()):
            values = replace(way, dates=(), numbers=None).clean(batch.column(name).unique().cast(pa.large_string()))[0]
            values = values.filter(pc.invert(pc.is_in(values, value_set=everywhere))).drop_null()
            if len(values):
                seen.add(name)
                if pc.any(parse_dates(values, formats)[1]).as_py():
                    del fits[name]
        if not fits or (not source.held and seen.issuperset(fits)):
            break
    return {name: formats for name in fits if name in seen}


def _inner(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
