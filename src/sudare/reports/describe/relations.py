"""Relations between columns, before and after.

=====================  ==========================================================================================
two columns            the measure
=====================  ==========================================================================================
numbers or dates both  Pearson's correlation, from -1 to 1; a cell of the release counts with its middle
one of them            the correlation ratio, from 0 to 1: the share of the number's spread that is between categories,
                       as a square root
categories both        Cramér's V, from 0 to 1
=====================  ==========================================================================================

Categories are those that the report shows; a released set counts equally for each of its members. Extreme values are
capped on both sides, so that one outlier cannot dominate a correlation, and its change cannot reveal a suppressed
record. All measures follow from sums of products, so one matrix multiplication computes them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sudare.reports.describe.cell_shares import CellShares
from sudare.reports.describe.chart_axes import places_of
from sudare.reports.describe.disclosure_control import Crowd
from sudare.reports.describe.figure_types import Relations
from sudare.reports.describe.scales import Scale
from sudare.table import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_COLUMNS = 12
LOOKED_AT = 100_000
"""The most records that are compared; of more, this many are drawn."""
FEWEST = 30
"""With fewer records, or fewer than three times the threshold, a correlation would reveal too much about each."""


def relations(
    columns: Mapping[str, Column],
    scales: Mapping[str, Scale],
    shown: Mapping[str, CellShares],
    crowd: Crowd,
    released: int,
    alike: Collection[str] = (),
) -> Relations | None:
    """Return both matrices in plain form; None where there are fewer than two columns, or too few records.

    Columns that are ``alike`` differ only in a few suppressed records. The relation of two of them is that in the
    release: a small difference would reveal these records.
    """
    names = [name for name in scales if name in columns][:MOST_COLUMNS]
    if len(names) < 2 or min(crowd.rows, released) < max(FEWEST, 3 * crowd.least):
        return None
    rows, after_rows = _drawn(crowd.rows), _drawn(released)
    before = {name: _figures_before(columns[name], scales[name], rows) for name in names}
    after = {name: _figures_after(shown.get(name), scales[name], after_rows) for name in names}
    earlier, later = _matrix([before[name] for name in names]), _matrix([after[name] for name in names])
    same = [place for place, name in enumerate(names) if name in alike]
    for first, second in product(same, same):
        earlier[first][second] = later[first][second]
    return {
        "names": names,
        "before": earlier,
        "after": later,
        "left_out": [name for name in scales if name in columns][MOST_COLUMNS:],
        "drawn": max(len(rows), len(after_rows)) if max(crowd.rows, released) > LOOKED_AT else None,
    }


def _drawn(rows: int) -> Ints:
    if rows <= LOOKED_AT:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, LOOKED_AT, replace=False))


def _figures_before(column: Column, scale: Scale, rows: Ints) -> tuple[bool, Floats]:
    """Return whether a column counts as a number, and its figures for some records: a line for each."""
    codes = column.codes[rows]
    if scale.axis is not None:
        places = _within(places_of(column), scale)
        return True, np.append(places, [np.nan] * column.missing)[codes][:, None]
    lines = np.vstack([np.eye(len(scale)), np.zeros(len(scale))])  # the last one is of what is in no part: -1
    return False, lines[scale.of_code[codes]]


def _figures_after(shown: CellShares | None, scale: Scale, rows: Ints) -> tuple[bool, Floats] | None:
    if shown is None:
        return None
    if scale.axis is not None:
        if not np.isfinite(shown.low).any():
            return None
        middle = (_within(shown.low, scale) + _within(shown.high, scale)) / 2
        return True, middle[shown.kind[rows]][:, None]
    lines = shown.lines(rows, len(scale))
    return None if lines is None else (False, lines)


def _within(places: Floats, scale: Scale) -> Floats:
    """Return numbers, those of the outermost people as if they stood where the others end."""
    assert scale.bins is not None
    return np.clip(places, *scale.bins.reach)


def _matrix(columns: Sequence[tuple[bool, Floats] | None]) -> list[list[float | None]]:
    ready = [None if each is None else (each[0], _standard(each[1]) if each[0] else each[1]) for each in columns]
    widths = [0 if each is None else each[1].shape[1] for each in ready]
    begin = np.concatenate(([0], np.cumsum(widths)))
    whole = np.concatenate([each[1] for each in ready if each is not None], axis=1).astype(np.float64)
    products = whole.T @ whole
    totals, rows = whole.sum(axis=0), len(whole)
    found: list[list[float | None]] = []
    for a, first in enumerate(ready):
        line: list[float | None] = []
        for b, second in enumerate(ready):
            if first is None or second is None:
                line.append(None)
                continue
            block = products[begin[a] : begin[a + 1], begin[b] : begin[b + 1]]
            one, other = totals[begin[a] : begin[a + 1]], totals[begin[b] : begin[b + 1]]
            value = 1.0 if a == b else _association(first[0], second[0], block, one, other, rows)
            line.append(None if value is None else round(value, 2) + 0.0)
        found.append(line)
    return found


def _standard(figures: Floats) -> Floats:
    """Return numbers with mean 0 and spread 1; missing ones count with the mean."""
    there = np.isfinite(figures)
    mean = figures[there].mean() if there.any() else 0.0
    centred = np.where(there, figures - mean, 0.0)
    spread = math.sqrt(float((centred**2).mean()))
    return centred / spread if spread > 0 else centred


def _association(
    number: bool, other_number: bool, block: Floats, one: Floats, other: Floats, rows: int
) -> float | None:
    if number and other_number:
        return float(np.clip(block[0, 0] / rows, -1, 1))
    if number or other_number:
        sums, sizes = (block[0], other) if number else (block[:, 0], one)
        some = sizes > 0
        return math.sqrt(min(float((sums[some] ** 2 / sizes[some]).sum()) / rows, 1.0))
    some, also = one > 0, other > 0
    table, expected = block[np.ix_(some, also)], np.outer(one[some], other[also]) / rows
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    squares = float(((table - expected) ** 2 / expected).sum())
    return math.sqrt(min(squares / (rows * least), 1.0))
