"""Columns of numbers as a release shows them: what a figure is computed from, or why there is none."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem, UnsupportedError
from sudare.estimates.figure_question import FigureQuestion
from sudare.estimates.item_counts import set_columns
from sudare.estimates.partition import is_number
from sudare.estimates.published_errors import RANDOM, Coded, Published, entries_of, published
from sudare.releases.cell_reader import distinct, read_cell
from sudare.releases.cell_values import is_written_number
from sudare.releases.certificate import Certificate

Floats = NDArray[np.float64]
_WHOLE = re.compile(r"[+-]?\d+")
SHOWN_VALUES = "Records are grouped by the released values of column '{name}'."


@dataclass(frozen=True, eq=False)
class ReleasedNumbers:
    """A column as numbers, not-a-number where one is missing, and what is known about it.

    For each limit ``beyond`` says which cells may be beyond it. Where the release shows them, they have the limit as
    their number. ``clipped`` is the share of numbers at the bounds of noise; it is None if later noise hides it.
    ``aggregated`` is what the certificate says of a column that shows representatives of groups.
    """

    name: str
    values: Floats
    told: Published
    beyond: tuple[NDArray[np.bool_], ...] = ()
    clipped: float | None = 0.0
    aggregated: Mapping[str, Any] | None = None


def generalized_columns(certificate: Certificate) -> list[str]:
    """Return the columns that may show ranges, sets or labels."""
    return list(certificate.columns.get("quasi", ())) if certificate.recoding == "classes" else []


def read_numbers(table: pa.Table, certificate: Certificate, name: str, where: str) -> ReleasedNumbers:
    """Return a column of numbers, or raise if there is no figure of it."""
    cells = table.column(name)
    if name in certificate.mechanism.columns:
        drawn = certificate.recoding == "drawn"
        what = f"column '{name}' {'is perturbed' if drawn else 'has hidden values'}; only counts can be estimated."
        raise UnsupportedError(Problem(where, what, f"count its values: --of {name}."))
    if name in (*certificate.item_sets, *set_columns(certificate)) or pa.types.is_nested(cells.type):
        raise DataError(Problem(where, f"column '{name}' holds sets of items, which are no numbers."))
    aggregated = certificate.search.aggregated.get(name)
    if name in generalized_columns(certificate) and not isinstance(aggregated, Mapping):
        _refuse_ranges(name, cells, where)
    told = published(certificate, name, where, whole=_is_whole(cells.type))
    labels = [_labelled(cells, limit) for limit in told.limits]
    for mask in labels:
        cells = pc.if_else(pa.array(~mask), cells, pa.scalar(None, cells.type)) if mask.any() else cells
    values, whole = _numbers(name, cells, where)
    told = published(certificate, name, where, whole=whole)
    if np.any(np.isinf(values)):
        raise DataError(Problem(where, f"column '{name}' has infinite numbers."))
    masks = [mask | _coded(values, limit) for limit, mask in zip(told.limits, labels, strict=True)]
    there = np.logical_or.reduce([np.isfinite(values), *labels])
    clipped: float | None = None
    cuts = [(limit, mask) for limit, mask in zip(told.limits, masks, strict=True) if limit.noise]
    if all(limit.seen is not None for limit, _ in cuts):
        at_bounds = np.logical_or.reduce([np.zeros(len(values), np.bool_), *(mask for _, mask in cuts)])
        clipped = float(np.count_nonzero(at_bounds)) / max(int(np.count_nonzero(there)), 1)
    for place, (limit, mask) in enumerate(zip(told.limits, masks, strict=True)):
        if len(told.errors) == limit.before and not limit.noise:
            values = np.where(mask, limit.at, values)
        if limit.seen is None or (told.random and mask.any()):
            # which records were beyond, and whether any of a few was, is then partly chance
            masks[place] = there
    entry = aggregated if isinstance(aggregated, Mapping) else None
    return ReleasedNumbers(name, values, told, tuple(masks), clipped, entry)


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _numbers(name: str, cells: pa.ChunkedArray, where: str) -> tuple[Floats, bool]:
    """Return cells as numbers, the nearest to what a text says; and whether all are whole by their type or text."""
    codes, distinct_values = distinct(cells)
    kind = distinct_values.type
    if is_number(kind):
        wide = distinct_values.cast(pa.float64(), safe=False)
        return np.asarray(wide.to_numpy(zero_copy_only=False), dtype=np.float64)[codes], _is_whole(kind)
    texts: list[Any] = []
    if not pa.types.is_null(kind):
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        texts = distinct_values.to_pylist() if is_text else [""]
    numbers = np.full(len(distinct_values), np.nan)
    for place, text in enumerate(texts):
        if text is not None and not is_written_number(text):
            raise DataError(
                Problem(where, f"column '{name}' does not hold numbers.", f"count its values: --of {name}.")
            )
        numbers[place] = math.nan if text is None else float(text)
    return numbers[codes], all(text is None or _WHOLE.fullmatch(text) is not None for text in texts)


def _refuse_ranges(name: str, cells: pa.ChunkedArray, where: str) -> None:
    """Raise if a generalized column does not show every value as it is."""
    if not _all_plain(cells, numbers=True):
        what = f"column '{name}' is generalized: it shows ranges or sets, and no figure of single values follows."
        raise DataError(Problem(where, what, f"count records in bands of it: --of COLUMN --by {name}:10."))


def _all_plain(cells: pa.ChunkedArray, *, numbers: bool) -> bool:
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if is_number(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return True
    if pa.types.is_nested(kind):
        return False
    for text in pc.unique(cells.cast(pa.large_string())).to_pylist():
        cell = read_cell(text)
        if not (cell is None or (isinstance(cell, str) and (not numbers or is_written_number(cell)))):
            return False
    return True


def _labelled(cells: pa.ChunkedArray, limit: Coded) -> NDArray[np.bool_]:
    """Return which cells show a label of values beyond a limit."""
    labels = [each for each in limit.seen or () if isinstance(each, str)]
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not labels or is_number(kind):
        return np.zeros(len(cells), np.bool_)
    mask = pc.is_in(cells.cast(pa.large_string()), value_set=pa.array(labels, pa.large_string()))
    return np.asarray(mask.to_numpy(), dtype=np.bool_)


def _coded(values: Floats, limit: Coded) -> NDArray[np.bool_]:
    """Return which numbers may be what is shown of values beyond a limit."""
    found = np.zeros(len(values), np.bool_)
    for each in limit.seen or ():
        if not isinstance(each, str):
            found |= np.isclose(values, each, rtol=1e-9, atol=0.0)
    return found


def check_grouping(table: pa.Table, certificate: Certificate, question: FigureQuestion) -> list[str]:
    """Raise if records cannot be put into cells by the columns of the question; return what to say about them."""
    problems: list[Problem] = []
    notes = []
    generalized = generalized_columns(certificate)
    for name, where in _places(question):
        steps = [each.transformation for each in entries_of(certificate, name)]
        random = [step for step in steps if step in RANDOM]
        drawn = [
            each
            for each in entries_of(certificate, name)
            if each.transformation == "round" and each.parameters.get("how") == "random"
        ]
        if name in certificate.mechanism.columns:
            what = f"column '{name}' has hidden or perturbed values, so figures cannot be grouped by it."
            problems.append(Problem(where, what, "group by unchanged columns."))
        elif random or drawn:
            step = (random or ["round"])[0]
            what = f"column '{name}' was changed at random ({step}), so nobody knows which value is whose."
            problems.append(Problem(where, what, "group by unchanged columns."))
        elif name in certificate.search.aggregated or (
            name in generalized and not _all_plain(table.column(name), numbers=False)
        ):
            what = f"column '{name}' is generalized, so figures cannot be grouped by it."
            problems.append(Problem(where, what, "group by unchanged columns; counts can be grouped by it (--of)."))
        elif steps:
            notes.append(SHOWN_VALUES.format(name=name))
    if problems:
        raise DataError(problems)
    return notes


def _places(question: FigureQuestion) -> Iterable[tuple[str, str]]:
    grouped = [each.column for each in question.by]
    return [(name, "by" if name in grouped else "where") for name in question.grouping]
