"""Facts about a column: counts over all of its cells, patterns over a sample of its distinct values.

Values are read here and stay here. Only facts are passed on, and none of them is a value of a person. The only
exception are texts for "missing", which are conventions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError
from sudare.core.missing_words import MISSING_WORDS
from sudare.core.shown_places import SHOWN
from sudare.drafts.clinical_values import CLINICAL_CODES, looks_clinical
from sudare.drafts.column_name_matches import names_a_diagnosis
from sudare.drafts.patterns import (
    date_form,
    find_separator,
    is_free_text,
    looks_like,
    looks_like_compact_dates,
    looks_like_dates,
    one_length,
)
from sudare.drafts.rarity import FEW, Rarity, rarity_of
from sudare.drafts.recurrence import FEWEST_VALUES, come_back
from sudare.drafts.stray_words import find_numbers
from sudare.hierarchies import fitting_builtin, strange_values
from sudare.hierarchies.code_systems import CODE_SYSTEMS
from sudare.hierarchies.value_kinds import is_number
from sudare.table.encode import numbers
from sudare.table.encode_sets import encode_sets

Shape = Literal["text", "number", "date", "items", "other"]

SAMPLE = 2_000
"""Patterns are looked for in the first distinct values of a column: enough to know it, and quick on a million rows."""

_LONGEST_TOKEN = 24  # texts for missing are short; longer ones need not be compared

_SHORTEST_CODE = 3
"""The digits that the longest code of a column has at least, if its codes are numbers."""


@dataclass(frozen=True)
class Facts:
    """The facts about one column.

    ``present`` counts the cells that are not missing, ``distinct`` their values, ``repeated`` the values that occur
    more than once. ``tokens`` are the texts for missing. ``pattern`` is the kind of identifying value that most values
    look like. ``running`` says that the values number the records. ``rarity`` is how rare they are, and ``comes_back``
    says that records with the same value seem to belong to one person. ``digits`` is the one length of codes made of
    digits, and ``hyphen`` the place of a hyphen in them. ``commonest`` is how many records hold the most frequent item
    of a column of item sets. ``modal`` is how many hold the most frequent value, or none. ``alone`` is the share of the
    cells that are there whose value fewer than ``FEW`` records hold. ``clinical`` is what clinical values they are.
    ``stray`` are the first records with a stray word in a column of numbers. ``builtin`` is the hierarchy of ours that
    has all values: codes of diagnoses, drugs or places. ``date_form`` is how most dates of a ``date_text`` are written,
    and ``date_asked`` says that the draft asks which date they are.
    """

    records: int
    shape: Shape
    present: int = 0
    distinct: int = 0
    repeated: int = 0
    tokens: tuple[str, ...] = ()
    pattern: str = ""
    sure_pattern: bool = False
    date_text: bool = False
    free_text: bool = False
    running: bool = False
    rarity: Rarity = field(default_factory=Rarity)
    comes_back: bool = False
    infinite: bool = False
    digits: int = 0
    hyphen: int = 0
    date_form: str = ""
    date_asked: bool = False
    separator: str = ""
    commonest: int = 0
    stray: tuple[int, ...] = ()
    builtin: str = ""
    modal: int = 0
    alone: float = 0.0
    clinical: str = ""

    @property
    def constant(self) -> bool:
        """Whether all records are the same here, so that the column tells nothing about any of them."""
        return self.shape not in ("items", "other") and self.modal == self.records

    @property
    def share(self) -> float:
        """The share of the cells that are there whose values differ."""
        return self.distinct / self.present if self.present else 0.0


def look_at_all(table: pa.Table) -> dict[str, Facts]:
    """Return the facts about each column of a table, and how they go together."""
    found = {name: look(name, table[name]) for name in table.column_names}
    distinct = {name: facts.distinct for name, facts in found.items()}
    repeating = [name for name, facts in found.items() if _may_come_back(facts)]
    return found | {name: replace(found[name], comes_back=True) for name in come_back(table, repeating, distinct)}


def _may_come_back(facts: Facts) -> bool:
    """Whether values are such that they can be numbers or codes of people who have several records."""
    named = facts.shape == "text" and not facts.date_text and not facts.separator and not facts.free_text
    return (named or facts.rarity.whole) and facts.repeated >= FEWEST_VALUES


def look(name: str, cells: pa.ChunkedArray) -> Facts:
    """Return the facts about one column."""
    records, kind = len(cells), cells.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _look_at_lists(name, cells)
    if pa.types.is_dictionary(kind):
        cells = cells.cast(kind.value_type)
        kind = cells.type
    if pa.types.is_float16(kind):
        cells = cells.cast(pa.float32())
    elif _is_text(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        cells = cells.cast(pa.large_string())
    elif not _is_scale(kind):
        return Facts(records, "other")
    values, counts = _tally(cells)
    tokens: tuple[str, ...] = ()
    if pa.types.is_large_string(values.type):
        values, counts, tokens = _without_missing(values, counts)
    values, counts, stray = _without_stray(name, cells, values, counts)
    parsed, infinite = _parse(name, values)
    sample = _texts(values).slice(0, SAMPLE).to_pylist()
    text = pa.types.is_large_string(parsed.type)
    separator = find_separator(sample) if text else ""
    # as a hierarchy will spell them, which meets stray words, too
    length, hyphen = (0, 0) if stray else one_length(values.cast(pa.large_string()))
    pattern, sure = ("", False) if pa.types.is_temporal(parsed.type) else looks_like(sample, numeric=not text)
    calendar = pa.types.is_date(parsed.type) or pa.types.is_timestamp(parsed.type)
    shape: Shape = "text" if text else "date" if calendar else "number"  # times of day and durations are numbers
    present = pc.sum(counts).as_py() or 0
    few = pc.sum(counts.filter(pc.less(counts, FEW))).as_py() or 0
    builtin = "" if pattern or separator or stray or shape == "date" else _builtin(name, values)
    date_text = looks_like_dates(sample) if text else looks_like_compact_dates(sample)
    items = [item.strip() for cell in sample for item in cell.split(separator)] if separator else sample
    return Facts(
        records=records,
        shape=shape,
        present=present,
        distinct=len(pc.unique(parsed).drop_null()),
        repeated=pc.sum(pc.greater(counts, 1)).as_py() or 0,
        tokens=tokens,
        pattern=pattern,
        sure_pattern=sure,
        date_text=date_text,
        date_form=date_form(sample) if date_text else "",
        free_text=text and is_free_text(sample),
        running=pa.types.is_integer(parsed.type) and _is_running(parsed, records),
        rarity=Rarity() if pa.types.is_temporal(parsed.type) else rarity_of(parsed, counts, sample),
        infinite=infinite,
        digits=length,
        hyphen=hyphen,
        separator=separator,
        commonest=_commonest(name, cells, separator, tokens) if separator else 0,
        modal=max(pc.max(counts).as_py() or 0, records - present),
        alone=few / present if present else 0.0,
        clinical=(looks_clinical(items) if text and not pattern else "") or CLINICAL_CODES.get(builtin, ""),
        stray=stray,
        builtin=builtin,
    )


def _look_at_lists(name: str, cells: pa.ChunkedArray) -> Facts:
    inner = cells.type.value_type
    if pa.types.is_dictionary(inner):
        inner = inner.value_type
    if not (_is_text(inner) or _is_scale(inner) or pa.types.is_boolean(inner)):
        return Facts(len(cells), "other")
    items = pc.list_flatten(cells)
    if pa.types.is_dictionary(items.type):
        items = items.cast(inner)
    values, counts = _tally(items)
    sample = _texts(values).slice(0, SAMPLE).to_pylist()
    pattern, sure = looks_like(sample, numeric=not _is_text(inner))
    return Facts(
        records=len(cells),
        shape="items",
        present=len(cells) - cells.null_count,
        distinct=len(values),
        repeated=pc.sum(pc.greater(counts, 1)).as_py() or 0,
        pattern=pattern,
        sure_pattern=sure,
        commonest=_commonest(name, cells, "", ()),
        clinical=looks_clinical(sample) if _is_text(inner) and not pattern else "",
    )


def _commonest(name: str, cells: pa.ChunkedArray, separator: str, tokens: Sequence[str]) -> int:
    """Return how many records hold the most frequent item; all of them if the sets cannot be read."""
    try:
        column = encode_sets(name, cells, separator=separator or None, missing=tokens)
    except DataError:
        return len(cells)
    assert column.sets is not None
    return int(column.sets.held(np.bincount(column.codes, minlength=column.size)).max(initial=0))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_scale(kind: pa.DataType) -> bool:
    """Whether the type is one of numbers, dates or times, as encoding takes them."""
    temporal = pa.types.is_temporal(kind) and not pa.types.is_interval(kind)
    return is_number(kind) or temporal


def _tally(cells: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the distinct values in order of appearance, and how often each occurs, without missing cells."""
    if pa.types.is_decimal(cells.type) and cells.type.bit_width < 128:
        cells = cells.cast(pa.decimal128(cells.type.precision, cells.type.scale))  # Arrow does not count short ones
    tally = cells.value_counts()
    if isinstance(tally, pa.ChunkedArray):
        tally = tally.combine_chunks()
    values, counts = tally.field("values"), tally.field("counts")
    there = values.is_valid()
    if pa.types.is_floating(values.type):
        there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(values), False)))
    return values.filter(there), counts.filter(there)


def _parse(name: str, values: pa.Array) -> tuple[pa.Array, bool]:
    """Return values as the numbers or dates they are or spell, and whether some are infinite."""
    if pa.types.is_floating(values.type):
        return pc.add(values, pa.scalar(0.0, values.type)), bool(pc.any(pc.is_inf(values)).as_py())  # -0.0 is 0.0
    try:
        return numbers(name, values, strict=False), False
    except DataError:  # of all that may be wrong with text, only numbers beyond all bounds are not let pass
        return values, True


def _without_missing(values: pa.Array, counts: pa.Array) -> tuple[pa.Array, pa.Array, tuple[str, ...]]:
    """Set the conventional texts for missing apart, in the spellings that occur."""
    short = pc.less_equal(pc.utf8_length(values), _LONGEST_TOKEN)
    bare = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    lost = pc.and_(short, pc.is_in(bare, value_set=pa.array(sorted(MISSING_WORDS), bare.type)))
    tokens = tuple(sorted(values.filter(lost).to_pylist()))
    there = pc.invert(lost)
    return values.filter(there), counts.filter(there), tokens


def _builtin(name: str, values: pa.Array) -> str:
    """Return the built-in hierarchy of codes that has all values; one that it lacks would stop the release."""
    found = fitting_builtin(values, [name, "diagnosis"] if names_a_diagnosis(name) else name)
    if found is None or found not in CODE_SYSTEMS or strange_values(found, values).any():
        return ""
    texts = _texts(values).slice(0, SAMPLE).to_pylist()
    if all(text.isdigit() and len(text) < _SHORTEST_CODE for text in texts):
        return ""  # small numbers count something, or stand for the entries of a list
    return found


def _without_stray(
    name: str, cells: pa.ChunkedArray, values: pa.Array, counts: pa.Array
) -> tuple[pa.Array, pa.Array, tuple[int, ...]]:
    """Set words apart that stand among numbers, with the first records that hold one.

    They are mistakes, or another way to say missing.
    """
    numeric = find_numbers(values) if pa.types.is_large_string(values.type) else None
    if numeric is None:
        return values, counts, ()
    kept = values.filter(numeric)
    if pa.types.is_large_string(_parse(name, kept)[0].type):
        return values, counts, ()
    strange = pc.is_in(cells.cast(pa.large_string()), value_set=values.filter(pc.invert(numeric)))
    places = pc.indices_nonzero(strange).slice(0, SHOWN + 1).to_pylist()
    return kept, counts.filter(numeric), tuple(place + 1 for place in places)


def _texts(values: pa.Array) -> pa.Array:
    """Return values as text; floats that are all whole as whole numbers, as ids with gaps come out of data frames."""
    if pa.types.is_floating(values.type):
        with suppress(pa.ArrowInvalid):  # raised by fractions, and by numbers too large to count with
            values = values.cast(pa.int64())
    return values.cast(pa.large_string())


def _is_running(values: pa.Array, records: int) -> bool:
    """Whether the numbers count the records, without gaps and in any order."""
    if records < 2 or len(values) != records:
        return False
    ends = pc.min_max(values)
    return bool(ends["max"].as_py() - ends["min"].as_py() == records - 1)
