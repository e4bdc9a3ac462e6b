"""Groups of plain Python values, as the models read them, and strategies that draw them.

A grouping is a list of groups, a group is a list of values; None is a missing value. Values are numbers
from 0 up: the code of a value is its number, and the missing code is one above the largest.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from sudare.models import Groups, Histograms
from sudare.table import Column, Taxonomy

NAME = "disease"

values = st.one_of(st.none(), st.integers(0, 5))
groupings = st.lists(st.lists(values, min_size=1, max_size=8), min_size=1, max_size=6)


def as_groups(grouping, *, domain=6, taxonomy=None, subjects=None) -> Groups:
    """Encode a grouping over the values 0 to domain - 1; missing only takes a code where it occurs."""
    missing = any(value is None for group in grouping for value in group)
    counted = [sorted(Counter(domain if v is None else v for v in group).items()) for group in grouping]
    start = np.concatenate(([0], np.cumsum([len(entries) for entries in counted]))).astype(np.int64)
    codes = np.array([code for entries in counted for code, _ in entries], dtype=np.int64)
    counts = np.array([count for entries in counted for _, count in entries], dtype=np.int64)
    total = np.zeros(domain + missing, dtype=np.int64)
    np.add.at(total, codes, counts)
    texts = pa.array([f"value {code}" for code in range(domain)])
    column = Column(NAME, "categorical", np.empty(0, np.uint8), texts, missing=missing, taxonomy=taxonomy)
    return Groups(
        np.array([len(group) for group in grouping], dtype=np.int64),
        None if subjects is None else np.array([len(set(group)) for group in subjects], dtype=np.int64),
        {NAME: Histograms(start, codes, counts, total, column)},
    )


def sparse(start, codes, counts, total, **column) -> Groups:
    """Wrap ready arrays, for tables that are too large to draw."""
    made = Column(NAME, "categorical", np.empty(0, np.uint8), pa.nulls(len(total), pa.string()), **column)
    rows = np.add.reduceat(counts, start[:-1])
    return Groups(rows, None, {NAME: Histograms(start, codes, counts, total, made)})


def tree(nested) -> Taxonomy:
    """Make a taxonomy of nested lists; leaves are numbers (codes, depth first), or None for one without data."""
    parent, paths, leaves, todo = [-1], {}, [0], [(nested, 0, [0])]
    while todo:  # breadth first, so that parents come before their children
        children, node, way = todo.pop(0)
        for child in children:
            parent.append(node)
            leaves.append(0)
            number = len(parent) - 1
            if isinstance(child, list):
                todo.append((child, number, [*way, number]))
                continue
            for above in [*way, number]:
                leaves[above] += 1
            if child is not None:
                paths[child] = [*way, number]
    deepest = max(map(len, paths.values()))
    path = [paths[code] + [paths[code][-1]] * (deepest - len(paths[code])) for code in sorted(paths)]
    return Taxonomy(
        tuple(f"node {node}" for node in range(len(parent))),
        np.array(parent, np.int32),
        np.array(leaves, np.int32),
        np.array(path, np.int32),
    )


UNEVEN = [[0, 1, None], 2, [[3, [4, None]], 5]]
"""Six leaves at depths 1 to 4, and two that no record has."""
