"""Groups of near records that keep limits on their sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener
from sudare.methods.class_counts import tallied
from sudare.methods.clustering.neighbourhoods import Ints
from sudare.methods.microaggregation.mdav import mdav
from sudare.models import Requirements
from sudare.table import Table


@dataclass(frozen=True, eq=False)
class Limits:
    """What every group has to keep: the requirements, and the table with the sensitive values of the same records.

    Distributions are measured against the whole table.
    """

    table: Table
    requirements: Requirements


def limited_groups(
    points: NDArray[np.float64], k: int, classes: Ints, limits: Limits, seed: int, listener: Listener
) -> Ints:
    groups, made = np.zeros(len(points), np.int64), 0
    order = np.argsort(classes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        groups[rows] = mdav(points[rows], k) + made
        made = int(groups[rows].max()) + 1 if len(rows) else 0
    return _joined(points, groups, classes, limits)


def _joined(
    points: NDArray[np.float64], groups: NDArray[np.int64], classes: NDArray[np.int64], limits: Limits
) -> NDArray[np.int64]:
    """Join each group that does not keep the limits with the nearest one of its class, until all do."""
    while True:
        groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
        count = int(groups.max()) + 1
        counts = tallied(limits.table, limits.requirements, groups, count, against_all=True)
        failing = np.flatnonzero(~limits.requirements.holds(counts))
        sizes = np.bincount(groups)
        middles = np.stack([np.bincount(groups, column) / sizes for column in points.T], axis=1)
        home = np.zeros(count, np.int64)
        home[groups] = classes
        into = np.arange(count)
        for group in failing:
            if into[group] != group or (into == group).sum() > 1:
                continue
            others = np.flatnonzero((home == home[group]) & (into == np.arange(count)))
            others = others[others != group]
            if len(others):
                cost = np.square(middles[others] - middles[group]).sum(axis=1) * sizes[others]
                into[group] = others[np.argmin(cost / (sizes[others] + sizes[group]))]
        if (into == np.arange(count)).all():
            return groups
        groups = into[groups]
