"""Neighbourhoods of distinct records: the losses of joining them, and the nearest ones."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.kernels.clustering import neighbour_tree
from sudare.kernels.clustering.cover_losses import RANKED, Space
from sudare.kernels.topdown.value_orders import NUMBER, SET, TREE
from sudare.methods.attribute_arrays import describe_axes
from sudare.models import LDiversity, Requirements
from sudare.table import Column, Table, find_atoms

Ints = NDArray[np.int64]
Weighing = Literal["gcp", "arx", "raw"]
CATEGORIES = 64
"""The bits of a word. A column of more categories is encoded by digits: as several columns that count as one."""
AROUND = 16
"""The number of nearest distinct records among which a record may find a cluster to join.

On Adult 48 of them took off another 0.1% of the loss, and three times as long to find.
"""


class Field:
    """The distinct records of a table: their codes, which records they stand for, and a tree to find near ones by.

    With ``intervals`` a cover has all ordered categories between two.
    """

    def __init__(self, table: Table, loss: Weighing = "gcp", *, intervals: bool = False) -> None:
        self.columns = [column if intervals else replace(column, ordered=False) for column in table.single.values()]
        self.space = space_of(self.columns, loss)
        found = find_atoms([c.codes for c in self.columns], [c.size for c in self.columns], table.rows, table.storage)
        if found is None:
            codes: NDArray[Any] = np.stack([column.codes for column in self.columns], axis=1)
            self.of_row = np.arange(table.rows)
        else:
            codes, self.of_row = found.codes, found.of_row.astype(np.int64)
        # one type for all tables: each other one would be compiled anew
        digits = [place for column in self.columns for place in _digits(column)]
        self.codes: NDArray[np.uint32] = np.empty((len(codes), len(digits)), dtype=np.uint32)
        at = 0
        for index, column in enumerate(self.columns):
            for place, values in _digits(column):
                self.codes[:, at] = codes[:, index].astype(np.int64) // place % values
                at += 1
        self.tree, self.nodes = _grown(self.codes, self.space)

    def __len__(self) -> int:
        return len(self.codes)

    def around(self) -> Ints:
        """Return the nearest other distinct records of each."""
        near = np.empty((len(self), min(AROUND, max(len(self) - 1, 1))), dtype=np.int64)
        parts = max(os.cpu_count() or 1, 1)
        bounds = [len(self) * part // parts for part in range(parts + 1)]

        def find(low: int, high: int) -> None:
            neighbour_tree.nearest_atoms(self.codes, self.space, self.tree, low, high, near)

        with ThreadPoolExecutor(parts) as pool:
            list(pool.map(find, bounds[:-1], bounds[1:]))
        return near


def _grown(codes: NDArray[np.uint32], space: Space) -> tuple[neighbour_tree.Tree, int]:
    atoms, attributes = codes.shape
    room = max(2 * atoms, 1)
    tree = neighbour_tree.Tree(
        order=np.arange(atoms),
        start=np.zeros(room, np.int64),
        end=np.zeros(room, np.int64),
        left=np.full(room, -1, np.int64),
        parent=np.full(room, -1, np.int64),
        leaf_of=np.zeros(atoms, np.int64),
        low=np.zeros((room, attributes), np.int64),
        high=np.zeros((room, attributes), np.int64),
        bits=np.zeros((room, attributes), np.uint64),
    )
    return tree, int(neighbour_tree.build(codes, space, tree))


def _digits(column: Column) -> list[tuple[int, int]]:
    """Return the divisor and the number of values of each digit of a category."""
    whole = column.taxonomy is not None or column.positions is not None or column.ordered
    if whole or column.size <= CATEGORIES:
        return [(1, max(column.size, 1))]
    found, place = [], 1
    while place < column.size:
        found.append((place, min(CATEGORIES, -(-column.size // place))))
        place *= CATEGORIES
    return found[::-1]


def expanded(columns: list[Column]) -> list[tuple[Column, Column]]:
    """Return the columns that are compared, each with the one that it stands for: itself, or the one it is a digit of.

    Digits share the weight of their column. Where n different values are compared, the digits together lose between
    a half of what n values lose and all of it, unless the column is wide and n small.
    """
    found = []
    for column in columns:
        digits = _digits(column)
        if len(digits) == 1:
            found.append((column, column))
            continue
        found += [
            (
                Column(
                    column.name, "categorical", column.codes[:0], pa.nulls(values), weight=column.weight / len(digits)
                ),
                column,
            )
            for _, values in digits
        ]
    return found


def space_of(columns: list[Column], loss: Weighing) -> Space:
    """Describe the attributes, with the loss of their cells: NCP, the loss of ARX, or the plain width."""
    compared, whole = zip(*expanded(columns), strict=True) if columns else ((), ())
    axes = describe_axes(compared)
    axes.kind[[column.name in ordered_categories(compared) for column in compared]] = RANKED
    counted = (axes.kind == SET) | (axes.kind == RANKED)
    sizes = np.array([float(column.different) for column in whole])
    if loss == "arx":
        place, share = axes.place.copy(), []
        for index, column in enumerate(compared):
            if axes.kind[index] == NUMBER:
                known = slice(axes.start[index], axes.start[index] + len(column.values))
                place[known] = np.arange(len(column.values)) / max(column.size - 1, 1)
            if axes.kind[index] == TREE and column.taxonomy is not None:
                size = max(column.taxonomy.size, 2)
                share.append(np.maximum(column.taxonomy.leaves - 1, 0) / (size - 1))
                share[-1][0] = column.taxonomy.share[0]
        axes = axes._replace(place=place, share=np.concatenate(share) if share else axes.share)
    weight = axes.weight.copy()
    if loss == "raw":
        weight *= np.array([(column.domain - counted[i]) or 1.0 for i, column in enumerate(whole)])
    # a constant column makes no difference, nor to the scale of the others
    weight[[column.size < 2 for column in whole]] = 0.0
    weight /= weight.sum() or 1.0
    scale = sizes if loss == "gcp" else np.maximum(sizes - 1, 1)
    return Space(axes._replace(weight=weight), scale, 0.0 if loss == "gcp" else 1.0)


def ordered_categories(columns: Iterable[Column]) -> tuple[str, ...]:
    """Return the columns of which a class can show all values between two: categories in the order of the policy."""
    return tuple(
        c.name for c in columns if c.ordered and c.taxonomy is None and c.positions is None and c.other is None
    )


def in_order(table: Table, rows: Ints | None = None, then: Ints | None = None) -> Ints:
    """Return the records (or some of them) sorted by all used columns, so that their own order does not matter."""
    columns = [*table.single.values(), *table.sensitive.values(), *([table.subject] if table.subject else [])]
    rows = np.arange(table.rows) if rows is None else rows
    keys: list[NDArray[Any]] = [column.codes[rows] for column in columns]
    if then is not None:
        keys.append(then[rows])
    return np.asarray(rows[np.lexsort(keys[::-1])])


def main_diversity(table: Table, requirements: Requirements) -> tuple[Column | None, int]:
    """Return the sensitive column that needs most different values in each class, and how many; 1 if there is none.

    For entropy and recursive l-diversity so many are needed, if not enough. A column of more than 64 values is none,
    nor is one of item sets.
    """
    best: tuple[Column | None, int] = (None, 1)
    for model in requirements.of_groups:
        if isinstance(model, LDiversity) and model.variant != "frequency":
            column, need = table.sensitive[model.column], math.ceil(model.l)
            if column.size <= CATEGORIES and need > best[1]:
                best = (column, need)
    return best
