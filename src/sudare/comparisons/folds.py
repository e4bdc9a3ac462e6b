"""Splits of a table into training records and test records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.table import Table

Ints = NDArray[np.int64]
Split = tuple[Ints, Ints]
"""The training rows, and the test rows."""


def stratified(table: Table, folds: int, seed: int = 0) -> list[Split]:
    """Return a split for each fold: every record is tested once, and each fold has its share of every class.

    All records of a data subject are in one fold: a classifier must not be tested on people it was trained on. A
    subject counts for the class of its first record.
    """
    assert table.target is not None  # the caller has checked it
    who = np.arange(table.rows) if table.subject is None else table.subject.codes.astype(np.int64)
    units, first, unit_of = np.unique(who, return_index=True, return_inverse=True)
    if len(units) < folds:
        what = f"has {len(units):,} {'records' if table.subject is None else 'data subjects'}, fewer than folds."
        raise DataError(Problem("the table", what, f"use at most {len(units)} folds."))
    # shuffled, then class by class, then dealt out like cards: folds differ by one at most, in total and in each class
    order = np.random.default_rng(seed).permutation(len(units))
    order = order[np.argsort(table.target.codes[first[order]], kind="stable")]
    fold = np.empty(len(units), dtype=np.int64)
    fold[order] = np.arange(len(units)) % folds
    of_row = fold[unit_of]
    return [(np.flatnonzero(of_row != number), np.flatnonzero(of_row == number)) for number in range(folds)]
