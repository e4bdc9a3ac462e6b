"""Losses of a record in one column at each level of generalization: the same figures as :mod:`sudare.metrics.loss`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.metrics.loss import heights, leaves_lost, own_bits
from sudare.table import Column, Cover, ItemSets, Partition, SetCover, Table, cut_at, generalize, height

Reals = NDArray[np.float64]
CellLoss = Literal["gcp", "arx", "precision", "entropy"]


@dataclass(frozen=True, eq=False)
class LevelLoss:
    """Per level, the loss of a record of each code, and of a suppressed record.

    The loss of the column is the mean of these over all records, less ``offset``.
    """

    by_code: tuple[Reals, ...]
    left_out: float
    offset: float = 0.0


def level_losses(column: Column, loss: CellLoss) -> LevelLoss:
    """Return what a column loses at each level, from untouched to everything."""
    covers = [_cells(column, level) for level in range(height(column) + 1)]
    if loss == "gcp":
        return LevelLoss(tuple(cover.share for cover in covers), 1.0)
    if loss == "precision":
        return LevelLoss(tuple(heights(cover) for cover in covers), 1.0)
    if loss == "arx":
        by_code = tuple(leaves_lost(cover) for cover in covers)
        return LevelLoss(by_code, float(by_code[-1].max(initial=0.0)))
    rows = len(column)
    frequency = np.bincount(column.codes, minlength=column.size).astype(np.float64)
    own = own_bits(frequency)
    most = rows * np.log2(rows) - own if rows else 0.0
    if most <= 0:
        return LevelLoss(tuple(np.zeros(column.size) for _ in covers), 0.0)
    bits = [np.log2(np.maximum(cover.total(frequency), 1.0)) for cover in covers]
    return LevelLoss(tuple(rows / most * cell for cell in bits), float(rows / most * np.log2(rows)), own / most)


def _cells(column: Column, level: int) -> Cover:
    """Return the cell of each code at a level, as a table that has each code once shows it."""
    codes = np.arange(column.size)
    once = replace(column, codes=codes.astype(column.codes.dtype))
    partition = Partition(codes, column.size, {column.name: cut_at(column, level)})
    found = generalize(Table(column.size, {column.name: once}), partition).covers[column.name]
    assert isinstance(found, Cover)  # as it is of a single-valued column
    return found


def set_losses(sets: ItemSets, cut: NDArray[np.int64]) -> Reals:
    """Return the share of its items that each record loses where a cut says what each item is shown as."""
    each = np.arange(len(sets))
    partition = Partition(each, len(sets), {sets.name: cut}, by_sets=frozenset([sets.name]))
    found = generalize(Table(len(sets), {sets.name: sets}), partition).covers[sets.name]
    assert isinstance(found, SetCover)  # as it is of an item set
    return found.share
