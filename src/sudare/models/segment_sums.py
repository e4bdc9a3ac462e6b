"""Sums and maxima over the stretches of a sparse histogram, one per group, without a loop over the groups.

``start`` has one entry more than there are groups; group ``g`` owns ``values[start[g]:start[g + 1]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.models.group_counts import Histograms

TOLERANCE = 1e-9
"""The slack of real-valued limits: the same number as the policy's, which this room does not import."""


def sums(values: NDArray[Any], start: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sum of each group's values, 0 for a group without any."""
    return _reduce(np.add, values, start)


def maxima(values: NDArray[Any], start: NDArray[np.int64]) -> NDArray[Any]:
    """Return the largest of each group's values, 0 for a group without any."""
    return _reduce(np.maximum, values, start)


def shares(histograms: Histograms) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, per entry, the share of its value in its group and in the whole release."""
    size = sums(histograms.counts, histograms.start)
    within = histograms.counts / np.repeat(size, np.diff(histograms.start))
    overall = histograms.total[histograms.codes] / max(int(histograms.total.sum()), 1)
    return within, overall


def _reduce(operation: np.ufunc, values: NDArray[Any], start: NDArray[np.int64]) -> NDArray[Any]:
    out = np.zeros(len(start) - 1, dtype=values.dtype)
    # reduceat gives nonsense for an empty stretch, and leaving those out does not move the others
    filled = start[1:] > start[:-1]
    if filled.any():
        out[filled] = operation.reduceat(values, start[:-1][filled])
    return out
