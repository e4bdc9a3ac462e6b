"""Quasi-identifiers as flat arrays for the kernels: positions, paths and shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sudare.kernels.topdown import value_orders
from sudare.table import Column


def describe_axes(columns: Sequence[Column], elsewhere: float = 0.0) -> value_orders.Axes:
    """Put the quasi-identifiers into the arrays that the kernels read; ``elsewhere`` is the weight of other columns."""
    kinds, places, levels, path_starts, paths, shares = [], [], [], [], [], []
    path_at = nodes_at = 0
    for column in columns:
        place = np.zeros(column.size)
        path_starts.append(path_at)
        levels.append(0)
        if column.taxonomy is not None:
            kinds.append(value_orders.TREE)
            path = column.taxonomy.path
            levels[-1] = path.shape[1]
            paths.append((path + nodes_at).reshape(-1))
            shares.append(column.taxonomy.share)
            path_at += path.size
            nodes_at += len(column.taxonomy.parent)
        elif column.positions is not None:
            kinds.append(value_orders.NUMBER)
            span = column.domain or 1.0
            place[: len(column.positions)] = (column.positions - column.positions[:1]) / span
            place[len(column.positions) :] = 2.0  # so far off that any interval with it is as wide as it gets
        else:
            kinds.append(value_orders.SET)
        places.append(place)
    return value_orders.Axes(
        kind=np.array(kinds, dtype=np.int8),
        start=np.cumsum([0, *(column.size for column in columns)]).astype(np.int64),
        place=np.concatenate(places) if places else np.zeros(0),
        levels=np.array(levels, dtype=np.int64),
        path_start=np.array(path_starts, dtype=np.int64),
        path=np.concatenate(paths).astype(np.int32) if paths else np.zeros(0, np.int32),
        share=np.concatenate(shares) if shares else np.zeros(0),
        weight=np.array([column.weight for column in columns], dtype=np.float64),
        elsewhere=np.array([float(elsewhere)]),
        other=np.array([-1 if column.other is None else column.other[0] for column in columns], dtype=np.int64),
        more=np.array([column.different - column.size for column in columns], dtype=np.float64),
    )
