"""Errors that noise and rounding add to numbers, as moments, and powers of numbers without these errors.

Let z be what a step leaves of a number x. The expectation of z^k is a combination of x^0, ..., x^k whose factors are
known, so it can be turned round: a combination of z^0, ..., z^k has the expectation x^k. Steps follow each other, and
so do these matrices. Numbers are taken from their centre, and in units of their spread; otherwise fourth powers would
have no digits left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
POWER = 4
"""The highest power: errors of second moments need it."""
_WIDE = 40.0
"""A scale of noise from which on whole numbers are as good as all numbers."""


@dataclass(frozen=True)
class Added:
    """An error that is added: its mean, and its second and fourth moments around it. It is symmetric."""

    mean: float
    variance: float
    fourth: float

    def matrix(self, centre: float, scale: float) -> Floats:
        """Return the matrix from powers before the step to expected powers after it, each from its own centre."""
        moments = (1.0, 0.0, self.variance / scale**2, 0.0, self.fourth / scale**4)
        return np.array(
            [[math.comb(k, j) * moments[k - j] if j <= k else 0.0 for j in range(POWER + 1)] for k in range(POWER + 1)]
        )


@dataclass(frozen=True)
class Multiplied:
    """A normal factor with mean 1 and this standard deviation."""

    sd: float
    mean: float = 0.0

    def matrix(self, centre: float, scale: float) -> Floats:
        """Return the matrix from powers before the step to expected powers after it, from the same centre."""
        # (x g - c) / s = u g + (c / s) d, where u = (x - c) / s and d = g - 1 has the moments of a normal number
        place, square = centre / scale, self.sd**2
        moments = (1.0, 0.0, square, 0.0, 3 * square**2, 0.0, 15 * square**3, 0.0, 105 * square**4)

        def expected(j: int, rest: int) -> float:
            return math.fsum(math.comb(j, i) * moments[i + rest] for i in range(j + 1)) * place**rest

        return np.array(
            [
                [math.comb(k, j) * expected(j, k - j) if j <= k else 0.0 for j in range(POWER + 1)]
                for k in range(POWER + 1)
            ]
        )


Error = Added | Multiplied


def noise(kind: Literal["normal", "laplace"], variance: float) -> Added:
    """Return noise with a variance."""
    return Added(0.0, variance, (3 if kind == "normal" else 6) * variance**2)


def whole_noise(kind: Literal["normal", "laplace"], variance: float) -> Added:
    """Return noise of a variance (before rounding) that was added to whole numbers, which then were rounded.

    The error is the noise, rounded. With a small variance it is mostly 0.
    """
    deviation = math.sqrt(variance)
    if deviation > _WIDE:
        return together(noise(kind, variance), grid(1.0, "nearest"))
    second = fourth = 0.0
    for error in range(1, math.ceil(30 * deviation) + 2):
        chance = _beyond(kind, deviation, error - 0.5) - _beyond(kind, deviation, error + 0.5)
        second += 2 * chance * error**2
        fourth += 2 * chance * error**4
    return Added(0.0, second, fourth)


def _beyond(kind: str, deviation: float, limit: float) -> float:
    """Return the probability that noise is above a limit."""
    if deviation == 0:
        return 0.0
    if kind == "laplace":
        return math.exp(-limit / (deviation / math.sqrt(2))) / 2
    return math.erfc(limit / deviation / math.sqrt(2)) / 2


def together(first: Added, second: Added) -> Added:
    """Return the sum of two independent errors."""
    fourth = first.fourth + 6 * first.variance * second.variance + second.fourth
    return Added(first.mean + second.mean, first.variance + second.variance, fourth)


def grid(to: float, how: str, *, whole: bool = False) -> Added:
    """Return the error of rounding to multiples of ``to``, of numbers that lie evenly between two multiples.

    ``whole`` says that all numbers are whole, and so is ``to``. Then the errors are whole numbers, too.
    """
    if whole:
        return _whole_grid(round(to), how)
    if how == "random":  # the difference of two uniform numbers
        return Added(0.0, to**2 / 6, to**4 / 15)
    return Added({"up": to / 2, "down": -to / 2}.get(how, 0.0), to**2 / 12, to**4 / 80)


def _whole_grid(to: int, how: str) -> Added:
    rest = np.arange(to) if to <= 100_000 else None
    if rest is None:
        return grid(float(to), how)
    if how == "random":
        upper = rest / to
        second = upper * (to - rest) ** 2.0 + (1 - upper) * rest**2.0
        fourth = upper * (to - rest) ** 4.0 + (1 - upper) * rest**4.0
        return Added(0.0, float(second.mean()), float(fourth.mean()))
    up = {"nearest": 2 * rest >= to, "up": rest > 0}.get(how, np.zeros(to, np.bool_))
    error = np.where(up, to - rest, -rest).astype(np.float64)
    from_mean = error - error.mean()
    return Added(float(error.mean()), float((from_mean**2).mean()), float((from_mean**4).mean()))


def corrected_powers(released: Floats, errors: Sequence[Error], scale: float) -> tuple[Floats, float]:
    """Return for each number the powers 0 to 4 of what it was before its errors, right on average, and the centre.

    Powers are those of the distance to the centre, in units of ``scale``. The distances are 0 on average.
    """
    centre = float(released.mean())
    given = np.vander((released - centre) / scale, POWER + 1, increasing=True).T
    found = np.asarray(given, dtype=np.float64)
    for error in reversed(errors):
        centre -= error.mean
        found = np.asarray(np.linalg.solve(error.matrix(centre, scale), found), dtype=np.float64)
    return found, centre


def normal_quantile(level: float) -> float:
    """Return how many standard errors an interval of this level reaches on either side."""
    return NormalDist().inv_cdf(0.5 + level / 2)


def t_quantile(level: float, freedom: float) -> float:
    """Return the same for Student's distribution (Cornish and Fisher's expansion; from 3 degrees on it is near)."""
    z = normal_quantile(level)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / freedom + second / freedom**2 + third / freedom**3 + fourth / freedom**4
