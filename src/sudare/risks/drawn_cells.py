"""Released cells of columns that were changed at random before, and of samples, in the terms of the data.

Such cells need not cover what a record holds. They are read as what they show on the axis of their column, so that an
intruder can look for what is nearest. Where values were shuffled, or stand behind a key that nobody outside has, a cell
says nothing about the value that an intruder knows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.releases import Anything, Choice, Interval
from sudare.releases.cell_reader import HalfOpen, ReadCell, label_of, read_cells
from sudare.releases.cell_values import day_span, number_in, seconds_in
from sudare.releases.cell_writer import node_texts
from sudare.releases.value_texts import value_texts
from sudare.risks.released_codes import Cells
from sudare.risks.released_columns import coded
from sudare.table import OTHER, Column, ItemSets, places_of

Floats = NDArray[np.float64]
Span = tuple[float, float]
ANYTHING: Span = (-np.inf, np.inf)
DAY = 86_400.0


def has_axis(column: Column | ItemSets) -> bool:
    """Return whether values of a column are near to each other or far: numbers, dates, and ordered categories."""
    return isinstance(column, Column) and places_of(column) is not None


def telling_nothing(column: Column | ItemSets, cells: pa.ChunkedArray) -> Cells:
    """Read cells that say nothing about known values; only which of them are equal."""
    of_row, count = coded(cells)
    size = column.size
    return Cells(of_row, np.zeros(count, np.int64), np.full(count, size - 1, np.int64), {})


def on_axis(column: Column, cells: pa.ChunkedArray) -> Cells:
    """Read what cells show on the axis of a column: from where to where each of them goes."""
    shown = read_cells(cells)
    spans = np.array([_span(cell, column, known) for known in [_known(column)] for cell in shown.cells])
    spans = spans.reshape(len(shown), 2)
    low, high = _codes(column, spans)
    return Cells(shown.of_row, low, high, {}, spans=spans)


def loosely(column: Column, cells: pa.ChunkedArray) -> Cells | None:
    """Read generalized cells of a sample, in which other values are rare than in the data; None if that fails.

    ``other`` stands for every category that no cell names.
    """
    if column.positions is not None and column.taxonomy is None:
        found = on_axis(column, cells)
        return Cells(found.of_row, found.low, found.high, {})
    shown, nodes = read_cells(cells), _nodes(column)
    codes = {text: code for code, text in enumerate(value_texts(column).to_pylist())}
    told = [cell.members if isinstance(cell, Choice) else (label_of(cell),) for cell in shown.cells]
    named = {text for members in told for text in members if text is not None}
    others = [code for text, code in codes.items() if text not in named or text == OTHER]
    low, high = np.zeros(len(shown), np.int64), np.zeros(len(shown), np.int64)
    members: dict[int, NDArray[np.int64]] = {}
    for number, (cell, own, label) in enumerate(zip(shown.cells, told, shown.texts.to_pylist(), strict=True)):
        # the label of a group may look like a range, as those of bands do
        if isinstance(cell, Anything):
            low[number], high[number] = 0, column.size - 1
            continue
        if label is not None and label in nodes:
            low[number], high[number] = nodes[label]
            continue
        found_codes: list[int] = []
        for text in own:
            if text is None:
                found_codes.append(column.missing_code)
            elif text in codes and text != OTHER:
                found_codes.append(codes[text])
            elif text == OTHER:
                found_codes += others
            else:
                return None
        allowed = np.unique(np.array(found_codes or [-1], dtype=np.int64))
        low[number], high[number] = allowed[0], allowed[-1]
        if len(allowed) > 1:
            members[number] = allowed
    return Cells(shown.of_row, low, high, members)


def _known(column: Column) -> Mapping[str, Span]:
    """Return where categories and labels of a hierarchy stand on the axis of a column."""
    places = places_of(column)
    assert places is not None
    found: dict[str, Span] = {}
    for label, (first, last) in _nodes(column).items():
        below = places[first : min(last, len(places) - 1) + 1]
        if len(below):
            found[label] = float(below.min()), float(below.max())
    if column.positions is None:
        for place, text in zip(places.tolist(), value_texts(column).to_pylist(), strict=True):
            found[str(text)] = place, place
    return found


def _nodes(column: Column) -> dict[str, tuple[int, int]]:
    """Return the range of codes below each label of a column's hierarchy."""
    if column.taxonomy is None:
        return {}
    first, last = column.taxonomy.span
    nodes: dict[str, tuple[int, int]] = {}
    for node, text in enumerate(node_texts(column).to_pylist()):
        if text is not None:
            nodes.setdefault(text, (int(first[node]), int(last[node])))
    return nodes


def _span(cell: ReadCell, column: Column, known: Mapping[str, Span]) -> Span:
    """Return from where to where a cell goes; not-a-number if it is empty, everything if it cannot be read."""
    if cell is None:
        return np.nan, np.nan
    if isinstance(cell, Anything):
        return ANYTHING
    label = label_of(cell)
    if label is not None and label in known:
        return known[label]
    if isinstance(cell, Choice):
        spans = [_of_text(each, column, known) for each in cell.members if each is not None]
    elif isinstance(cell, Interval | HalfOpen):
        spans = [_of_text(cell.low, column, known), _of_text(cell.high, column, known)]
    else:
        spans = [_of_text(cell, column, known)]
    there = [span for span in spans if span is not None]
    if not there or len(there) < len(spans):
        return ANYTHING
    return min(low for low, _ in there), max(high for _, high in there)


def _of_text(text: str, column: Column, known: Mapping[str, Span]) -> Span | None:
    """Return where a value stands on the axis of a column."""
    kind = column.values.type
    if column.positions is None:
        return known.get(text)
    if pa.types.is_date(kind):
        return day_span(text)
    if pa.types.is_timestamp(kind):
        found = day_span(text)
        return None if found is None else (found[0] * DAY, found[1] * DAY)
    number = seconds_in(text) if pa.types.is_time(kind) or pa.types.is_duration(kind) else number_in(text)
    return None if number is None else (number, number)


def _codes(column: Column, spans: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last code within each span, or the nearest one if there is none."""
    places = places_of(column)
    assert places is not None
    missing = np.isnan(spans[:, 0])
    last = len(places) - 1
    if last < 0 or np.any(np.diff(places) < 0):  # in the order of a hierarchy
        low, high = np.zeros(len(spans), np.int64), np.full(len(spans), max(last, 0), np.int64)
    else:
        low = np.searchsorted(places, spans[:, 0]).astype(np.int64)
        high = np.searchsorted(places, spans[:, 1], side="right").astype(np.int64) - 1
        between = low > high
        nearest = np.clip(low, 0, last)
        low, high = np.where(between, nearest, low), np.where(between, nearest, high)
    anything = np.isneginf(spans[:, 0]) & np.isposinf(spans[:, 1])
    low[missing] = high[missing] = column.missing_code
    low[anything], high[anything] = 0, column.size - 1
    return low, high
