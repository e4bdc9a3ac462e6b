"""Coordinates of records: the columns that are aggregated as numbers that count equally, and missing cells among them.

A number stands where it is. Dates and times stand at their places on the axis, ordered categories at their ranks. A
category with a hierarchy has a coordinate for each level: the middle of the values below its group there. So values
that share low groups are near each other. Every column has mean 0 and variance 1, times its weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.methods.class_counts import tallied
from sudare.models import Requirements
from sudare.table import Column, Table, places_of

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
FAR = 3.0
"""How many standard deviations below all values a missing cell stands, where records with and without it may meet."""


def axis_of(column: Column) -> Reals | None:
    """Return the place of each value of a column that has an axis; with a hierarchy it has none."""
    return None if column.taxonomy is not None else places_of(column)


def can_aggregate(column: Column) -> bool:
    """Return whether there is a distance between the values of a column."""
    return column.taxonomy is not None or axis_of(column) is not None


def missing_cells(columns: list[Column]) -> Flags:
    """Return which cells are missing: a row for each record."""
    return np.stack([column.codes == column.missing_code for column in columns], axis=1)


def coordinates(columns: list[Column]) -> Reals:
    """Return the coordinates of all records."""
    return np.concatenate([_of_column(column) for column in columns], axis=1)


def standardised(places: Reals, codes: NDArray[np.unsignedinteger[Any]], missing: int) -> Reals:
    """Return the places of records with mean 0 and variance 1; missing ones stand below all others.

    A column of one value is 0 everywhere. Numbers may be as large as floats get.
    """
    largest = float(np.abs(places).max(initial=0.0))
    scaled = places / largest if largest else places
    lost = codes == missing
    found = np.append(scaled, 0.0)[codes]
    there = found[~lost]
    if len(there):
        found -= there.mean()
        spread = float(found[~lost].std())
        found = found / spread if spread > SMALLEST else np.zeros(len(found))
        found[lost] = float(found[~lost].min()) - FAR
    return np.asarray(found)


SMALLEST = 1e-12
"""A standard deviation that is less than this part of the largest number is rounding."""


def _of_column(column: Column) -> Reals:
    if column.taxonomy is None:
        places = axis_of(column)
        assert places is not None
        return np.asarray(standardised(places, column.codes, column.missing_code)[:, None] * column.weight)
    first, last = column.taxonomy.span
    middle = (first + last) / 2
    levels = range(1, column.taxonomy.path.shape[1])
    parts = [
        standardised(middle[column.taxonomy.path[: len(column.values), level]], column.codes, column.missing_code)
        for level in levels
    ]
    return np.asarray(np.stack(parts, axis=1) * (column.weight / np.sqrt(max(len(parts), 1))))


def apart_by_missing(table: Table, requirements: Requirements, k: int, classes: Ints, missing: Flags) -> Ints:
    """Return classes in which records miss the same cells, as far as these keep the requirements.

    Records whose missing cells few others miss come together in one part of their class. If that falls short, it joins
    the part that differs from it in the fewest columns; of several, the largest one.
    """
    if not missing.any():
        return classes
    patterns, pattern_of = np.unique(missing, axis=0, return_inverse=True)
    parts, part_of = np.unique(classes * len(patterns) + pattern_of.reshape(-1), return_inverse=True)
    sound = _sound(table, requirements, k, part_of, len(parts))
    if sound.all():
        return np.asarray(part_of, np.int64)
    # all parts of a class that fall short are one, with the number of the first of them
    home = parts // len(patterns)
    into = np.arange(len(parts))
    short = np.flatnonzero(~sound)
    _, first = np.unique(home[short], return_index=True)
    heads = short[first]
    into[short] = heads[np.searchsorted(home[heads], home[short])]
    together = into[part_of]
    still = heads[~_sound(table, requirements, k, together, len(parts))[heads]]
    sizes = np.bincount(part_of, minlength=len(parts))
    pattern = patterns[parts % len(patterns)]
    for head in still:
        members = np.flatnonzero(into == head)
        others = np.flatnonzero((home == home[head]) & sound)
        if len(others):  # otherwise it is the whole class, which keeps what is required
            differ = (pattern[others] != pattern[members].any(axis=0)).sum(axis=1)
            into[members] = others[np.lexsort((-sizes[others], differ))[0]]
    return np.asarray(np.unique(into[part_of], return_inverse=True)[1], np.int64)


def _sound(table: Table, requirements: Requirements, k: int, classes: Ints, count: int) -> Flags:
    counts = tallied(table, requirements, classes, count, against_all=True)
    return np.asarray(requirements.holds(counts) & (counts.rows >= k))
