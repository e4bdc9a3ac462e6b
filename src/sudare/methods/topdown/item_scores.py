"""Scores by which the items of a set are ranked: what it is worth that a record shows an item.

A cluster ranks its hidden items by the number of records that hold an item, times the score of the item.

``frequency``
    All items have the same score: what most records hold is ranked first.
``information``
    The score is -log2 of the share of records of the table that hold the item: an item that is rare in the table, but
    not in the cluster, is ranked before one that everybody holds. A node of a hierarchy counts as the sum of its items.
Weights
    The user says what items are worth, by column; an item without a weight is worth 1. A node of a hierarchy counts
    as its best item.

Scores are whole numbers, so that ranks do not depend on how sums are rounded, and they depend on the whole table alone:
every cluster, on any machine, ranks by the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import PolicyError, Problem
from sudare.table import ItemSets

Ints = NDArray[np.int64]
Rank = Literal["frequency", "information"] | Mapping[str, Mapping[str | int, float]]
"""What may be said of ranks: a word, or weights of items by column."""
MOST = 1 << 20
"""The score of the best item; a product of it and any number of records fits into 64 bits."""
LEAST_BITS = 1e-6
"""What an item tells that all records hold: next to nothing, but more than no item."""


def item_scores(
    sets: Sequence[ItemSets], rank: Rank, counts: Callable[[int], Ints], records: int
) -> tuple[Ints, ...] | None:
    """Return the score of each node of each item-set column, from 1 to MOST; None if all are the same.

    ``counts(i)`` are the records that hold each item of column i, of so many ``records``.
    """
    if rank == "frequency":
        return None
    if isinstance(rank, Mapping):
        _check_columns(sets, rank)
        return tuple(_in_units(_weights(column, rank.get(column.name, {}))) for column in sets)
    return tuple(_in_units(_bits(column, counts(index), records)) for index, column in enumerate(sets))


def _bits(column: ItemSets, held: Ints, records: int) -> NDArray[np.float64]:
    share = np.minimum(_over_leaves(column, held.astype(np.float64), np.add) / max(records, 1), 1.0)
    return np.asarray(np.maximum(-np.log2(np.maximum(share, 0.5 / max(records, 1))), LEAST_BITS))


def _weights(column: ItemSets, given: Mapping[str | int, float]) -> NDArray[np.float64]:
    """Return the weights of the nodes of a column."""
    named = {str(item): float(weight) for item, weight in given.items()}
    weights = np.ones(column.size)
    found = False
    for code, text in enumerate(column.values.to_pylist() if named else []):
        if str(text) in named:
            weights[code], found = named[str(text)], True
    if named and not found:
        what = f"none of the items that have a weight occurs in column '{column.name}'."
        raise PolicyError([Problem("method.rank", what, "check the spelling of the items, or remove the weights.")])
    return _over_leaves(column, weights, np.maximum)


def _check_columns(sets: Sequence[ItemSets], rank: Mapping[str, Any]) -> None:
    """Raise if weights are given for a column that takes no part in the classes with item sets."""
    others = sorted(set(rank) - {column.name for column in sets})
    if others:
        what = f"has weights for {', '.join(others)}, which takes no part in the classes with item sets."
        raise PolicyError([Problem("method.rank", what, "remove these weights.")])


def _over_leaves(column: ItemSets, of_item: NDArray[np.float64], merge: np.ufunc) -> NDArray[np.float64]:
    """Return a figure for each node of a column, made of those of the items below it."""
    if column.taxonomy is None:
        return of_item
    taxonomy = column.taxonomy
    nodes = np.zeros(len(taxonomy.parent))
    path = taxonomy.path
    for depth in range(path.shape[1]):
        # of a short branch the leaf is repeated, and counts once
        new = np.ones(len(path), dtype=np.bool_) if depth == 0 else path[:, depth] != path[:, depth - 1]
        merge.at(nodes, path[new, depth], of_item[new])
    return nodes


def _in_units(scores: NDArray[np.float64]) -> Ints:
    """Return scores in whole units, the best as MOST."""
    if not len(scores):
        return np.zeros(0, np.int64)
    return np.maximum(np.rint(scores / max(float(scores.max()), 1e-300) * MOST), 1.0).astype(np.int64)
