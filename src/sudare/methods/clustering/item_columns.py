"""Item sets as columns that clusters can be compared by: a record holds an item, or it does not.

A class shows the items that all its records hold. Where some hold an item and others do not, those that do lose it. On
average over all records, an item is worth the mean share that it has in a record's items. So an item is a column of two
values with this weight, which is lost where both values meet.

With a hierarchy every node below the root is such a column. It is worth what its items lose where only the node above
it is shown, less what they lose where it is shown itself. The weights of all items and nodes add up to the loss of a
column of which nothing is shown.

Few columns have most of the weight, and only those are compared. What classes lose is measured by all items.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.table import Column, ItemSets, Table
from sudare.table.encode_sets import number_sets

ITEMS = 24
"""The items and nodes of one column that clusters are compared by, those with most weight."""


def with_items(table: Table) -> Table:
    """Return a table of single-valued columns: its own, and the items that tell its item sets apart best."""
    if not table.sets:
        return table
    found = [column for sets in table.sets.values() for column in held_columns(sets)]
    return replace(table, quasi={**table.single, **{column.name: column for column in found}})


def held_columns(sets: ItemSets, most: int = ITEMS) -> list[Column]:
    """Return a column for each of the items and nodes with most weight that some records hold, and others do not."""
    weight = node_weights(sets)
    of_entry = np.repeat(np.arange(len(sets)), np.diff(sets.offsets))
    columns: list[Column] = []
    for node in np.argsort(-weight, kind="stable").tolist():
        if len(columns) == most or not weight[node] > 0:
            break
        below = np.arange(sets.size) == node if sets.taxonomy is None else (sets.taxonomy.path == node).any(axis=1)
        held = np.zeros(len(sets), dtype=np.uint8)
        held[of_entry[below[sets.items]]] = 1
        if 0 < int(held.sum()) < len(sets):
            name = f"{sets.name}\0{node}"  # no column of a table can have this name
            worth = sets.weight * float(weight[node])
            columns.append(Column(name, "categorical", held, pa.array(["no", "yes"]), weight=worth))
    return columns


def node_weights(sets: ItemSets) -> NDArray[np.float64]:
    """Return what each item, or with a hierarchy each node, is worth to a record on average."""
    lengths = np.diff(sets.offsets)
    share = np.repeat(1.0 / np.maximum(lengths, 1), lengths)
    of_item = np.bincount(sets.items, share, sets.size) / max(len(sets), 1)
    taxonomy = sets.taxonomy
    if taxonomy is None:
        return of_item
    path = taxonomy.path
    of_node = np.zeros(len(taxonomy.parent))
    for depth in range(1, path.shape[1]):
        own = path[:, depth] != path[:, depth - 1]  # in a shorter branch the leaf is repeated
        of_node += np.bincount(path[own, depth], of_item[own], len(of_node))
    lost = taxonomy.share.copy()
    lost[0] = 1.0
    return np.asarray(of_node * (lost[np.maximum(taxonomy.parent, 0)] - lost))


def set_ranks(table: Table) -> NDArray[np.int64] | None:
    """Return a number for the item sets of each record, equal for equal sets, whatever the order of records."""
    ranks: NDArray[np.int64] | None = None
    for sets in table.sets.values():
        numbers, first = number_sets(sets)
        pairs = numbers.astype(np.int64) if ranks is None else ranks * len(first) + numbers
        ranks = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return ranks
