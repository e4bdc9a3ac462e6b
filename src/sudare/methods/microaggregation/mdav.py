"""MDAV: microaggregation by maximum distance to the average vector.

Steps
    1. While 3k records or more are left: the record that is farthest from the mean of all that are left makes a group
       with the k - 1 records that are nearest to it. So does the record that was farthest from that one.
    2. Of 2k to 3k - 1 records, the one that is farthest from their mean makes a group in the same way, and the others
       are the last group. Fewer than 2k records are one group.

Cost
    Quadratic in the number of records, and linear in the number of columns.

Guarantee
    Every group has k to 2k - 1 records, if there are at least k.

Deviations
    None. Of several records at the same distance, the first is taken.

Reference
    Domingo-Ferrer and Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation. Data Mining
    and Knowledge Discovery 11 (2), 2005.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.microaggregation.mdav_steps import mdav as mdav_steps


def mdav(points: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the number of each record's group; ``points`` has a row for each record."""
    groups = np.zeros(len(points), np.int64)
    if len(points):
        mdav_steps(np.ascontiguousarray(points.T, dtype=np.float64), k, groups)
    return groups


def standardized(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns with mean 0 and standard deviation 1; a constant column becomes 0."""
    off = points - points.mean(axis=0)
    spread = off.std(axis=0)
    return np.asarray(off / np.where(spread > 0, spread, 1.0))


def information_loss(points: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    """Return the share of the sum of squares that is lost when records become the means of their groups, in percent."""
    sizes = np.bincount(groups)
    within = 0.0
    for column in points.T:
        mean = np.bincount(groups, column) / np.maximum(sizes, 1)
        within += float(np.square(column - mean[groups]).sum())
    whole = float(np.square(points - points.mean(axis=0)).sum())
    return 100.0 * within / whole if whole else 0.0
