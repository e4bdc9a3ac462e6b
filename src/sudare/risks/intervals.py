"""Intervals about shares, and about the difference of two."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

LEVEL = 0.95
NOISE = 1e-12
"""What two equal shares may differ by, from the order in which they were added up."""


def wilson(share: float, count: float, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's score interval about a share of ``count`` trials; without any, everything is possible.

    The share may be a mean of numbers from 0 to 1, whose variance is no larger than that of a yes or no.
    Reference: Wilson: Probable inference, the law of succession, and statistical inference. JASA 22, 209-212 (1927).
    """
    if count <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(max(share * (1 - share), 0.0) / count + (z / (2 * count)) ** 2)
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


@dataclass(frozen=True)
class Success:
    """How often an attack is right, against a baseline that needs no release, with intervals.

    ``above`` is success less baseline; its interval is Newcombe's (square and add), as if the two were independent, and
    so rather too wide. ``attacked`` is the number of attacked people, or of records if people are not known. Reference:
    Newcombe: Interval estimation for the difference between independent proportions. Statistics in Medicine 17, 873-890
    (1998).
    """

    attacked: int
    success: float
    low: float
    high: float
    baseline: float
    above: float
    above_low: float
    above_high: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return dict(vars(self))


def success(share: float, baseline: float, attacked: int, *, known: bool = False) -> Success:
    """Return how often an attack is right; ``known``: the baseline is a probability, and was not measured."""
    low, high = wilson(share, attacked)
    base_low, base_high = (baseline, baseline) if known else wilson(baseline, attacked)
    above = share - baseline if abs(share - baseline) > NOISE else 0.0
    return Success(
        attacked=attacked,
        success=share,
        low=low,
        high=high,
        baseline=baseline,
        above=above,
        above_low=max(-1.0, above - sqrt((share - low) ** 2 + (base_high - baseline) ** 2)),
        above_high=min(1.0, above + sqrt((high - share) ** 2 + (baseline - base_low) ** 2)),
    )
