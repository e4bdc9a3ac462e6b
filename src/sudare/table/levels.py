"""Levels of generalization: the cell of every value of a column at a given height of its hierarchy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.table.column import Column, ItemSets


def height(column: Column | ItemSets) -> int:
    """Return the number of steps from a value to everything: the depth of the taxonomy, or 1 without one."""
    return 1 if column.taxonomy is None else column.taxonomy.depth


def cut_at(column: Column | ItemSets, level: int) -> NDArray[np.int64]:
    """Return the cell that each code shows at a level, as :class:`~sudare.table.Partition` wants it in ``cuts``.

    Level 0 shows unchanged values, the column's :func:`height` shows nothing. Between them are the nodes of the
    taxonomy that are as many steps above its deepest leaves; a leaf of a shorter branch shows itself up to its own
    level. Of an item set the highest level hides every item.
    """
    if not 0 <= level <= height(column):
        raise ValueError(f"a level of '{column.name}' must be from 0 to {height(column)}; got {level}.")
    hides_items = isinstance(column, ItemSets) and level == height(column)
    if column.taxonomy is not None and not hides_items:
        return column.taxonomy.path[:, column.taxonomy.depth - level].astype(np.int64)
    return np.full(column.size, -1, dtype=np.int64) if level else np.arange(column.size, dtype=np.int64)
