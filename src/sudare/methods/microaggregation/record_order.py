"""An order of records by their values, so that nothing depends on the order of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.methods.clustering.neighbourhoods import Ints

Floats = NDArray[np.float64]

LANES = 4
"""Records get columns of zeros up to a multiple of so many: as many numbers are added up at a time."""


def canonical_order(points: Floats, classes: Ints, kinds: Ints | None = None) -> Ints:
    """Return an order by class, values and kind, in which equal records stand side by side.

    The first key is one number made of all values: few records agree in it that are not equal.
    """
    key = np.zeros(len(points))
    for c, column in enumerate(points.T):
        key += np.sqrt(1.0 + c) * column
    order = np.lexsort((key, classes)) if classes.any() else np.argsort(key, kind="stable")
    tied = np.zeros(len(points) + 1, np.bool_)
    tied[1:-1] = (key[order[1:]] == key[order[:-1]]) & (classes[order[1:]] == classes[order[:-1]])
    there = np.flatnonzero(tied[1:] | tied[:-1])  # records that agree with the one before or after
    if len(there):
        rows, run = order[there], np.cumsum(~tied[:-1])[there]
        keys = [column[rows] for column in points.T] + [run]
        order[there] = rows[np.lexsort(keys if kinds is None else [kinds[rows], *keys])]
    return np.asarray(order, dtype=np.int64)


def starts(classes: Ints) -> Ints:
    """Return where each of some ascending classes begins, and where the last one ends."""
    return np.concatenate(([0], np.flatnonzero(np.diff(classes)) + 1, [len(classes)])).astype(np.int64)


def padded(points: Floats) -> Floats:
    """Return records with columns of zeros, which cost nothing and make loops faster."""
    wide = np.zeros((len(points), -(-points.shape[1] // LANES) * LANES))
    wide[:, : points.shape[1]] = points
    return wide
