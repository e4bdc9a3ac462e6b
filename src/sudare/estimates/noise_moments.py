"""Means, variances, correlations and lines from numbers with known errors, and how far these can be from the truth.

The truth is the same figure of the numbers before the errors were made. They are fixed; only the errors are random, and
what is known of these is in :mod:`sudare.estimates.error_moments`. First and second moments are estimated without bias.
Their covariances follow from unbiased estimates of moments up to the fourth: the variance of T is the expectation of
T^2 - t^2, and both terms can be estimated. In a sample of a share f of the records, what the choice of the records
adds is (1 - f) times the variance that independent records would have.

Reference: W. A. Fuller: Measurement Error Models. Wiley, 1987. E. C. Fieller: Some problems in interval estimation.
JRSS B 16, 1954 (the limits of a ratio).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.estimates.error_moments import Error, Multiplied, corrected_powers, normal_quantile, t_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LEAST = 3
"""The records that a variance needs at least."""
NOTHING_LEFT = "The noise is as large as all differences between the records, so nothing is known but a limit."
NOTHING_KNOWN = "The noise is as large as all differences between the records, so nothing is known."
NO_SPREAD = "All numbers are equal, so there is no correlation and no line."
TOO_FEW = f"There are fewer than {LEAST} records with a number."
NONE = "There is no record with a number."
ENDLESS = "The noise is so large that the interval has no ends."
BEYOND = "Without the noise the correlation seems to be beyond 1, which only noise can do; so it is near 1."
_TERMS: dict[int, list[tuple[int, ...]]] = {1: [(1,), (2,)], 2: [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]}
"""The powers whose means are moments, for one column and for two."""
_DUST = 1e-9
"""The part of a variance that is left by rounding, where in truth nothing is."""


class Figure(NamedTuple):
    """An estimate, its standard error and its limits; None where nothing is known."""

    estimate: float | None
    se: float | None
    low: float | None
    high: float | None
    note: str = ""


@dataclass(frozen=True)
class Sampling:
    """How records came into the release: with a probability, each for itself or all of a ``person`` together."""

    share: float
    person: Ints | None = None


@dataclass(frozen=True)
class NoisyColumn:
    """A column of numbers with the errors that steps left in them, in the order of the steps.

    ``kept`` is the part of the errors' variance that adds up to 0 over ``among`` numbers. ``drawn`` is the part that is
    ``growth`` - 1 times the variance of these very numbers, if there is such a part. ``doubt`` is how far the variance
    of the errors may be from what is published, as a standard deviation: it is published with four digits.
    """

    released: Floats
    errors: tuple[Error, ...] = ()
    kept: float = 0.0
    among: int = 0
    growth: float = 1.0
    drawn: float = 0.0
    doubt: float = 0.0


@dataclass(frozen=True)
class Shared:
    """Noise that two columns share: it has ``growth`` - 1 times the ``covariance`` of the whole table without noise.

    ``part`` is which share of the whole table the records are.
    """

    growth: float
    covariance: float
    part: float = 1.0

    @property
    def of_noise(self) -> float:
        """The covariance of the noise."""
        return (self.growth - 1) * self.covariance

    @property
    def left(self) -> float:
        """Which part of its error an estimated covariance keeps, since that of the noise is estimated together."""
        ratio = (self.growth - 1) / self.growth
        return math.sqrt(1 + (ratio**2 - 2 * ratio) * self.part)


@dataclass(frozen=True, eq=False)
class Moments:
    """Estimated moments of one or two columns: first ones, and covariances, with the covariance of their errors.

    All are in units of ``scale``, from the ``centre``. The order is x, and xx; or x, y, xx, xy, yy. Intervals reach
    ``reach`` standard errors, and ``far`` of them where squares of numbers decide. ``skewed`` says that variances are
    so skewed that their logarithms are better.
    """

    records: int
    centre: Floats
    scale: Floats
    first: Floats
    second: Floats
    errors: Floats
    reach: float
    far: float
    skewed: bool = False

    @property
    def bessel(self) -> float:
        """What an error of a mean of products is multiplied with to be that of a covariance."""
        return self.records / (self.records - 1)


def moments(
    columns: Sequence[NoisyColumn],
    *,
    level: float = 0.95,
    sampling: Sampling | None = None,
    shared: Shared | None = None,
) -> Moments:
    """Return the moments of one or two columns, of records in which no number is missing; there is at least one."""
    n, width = len(columns[0].released), len(columns)
    scale = np.array([float(column.released.std()) or 1.0 for column in columns])
    found = [corrected_powers(each.released, each.errors, unit) for each, unit in zip(columns, scale, strict=True)]
    powers, centre = [each for each, _ in found], np.array([place for _, place in found])
    both = 0.0 if shared is None else shared.of_noise / float(scale.prod())
    terms = _TERMS[width]
    values = np.stack([_monomial(powers, term, both) for term in terms])
    mean = values.mean(axis=1)
    exact = [all(not column.errors or not power for column, power in zip(columns, term, strict=True)) for term in terms]
    noise = _noise(powers, values, terms, both)
    noise[exact] = noise[:, exact] = 0.0
    second = [
        # the square of a mean is too large by the variance of the mean's error
        (mean[place] - mean[term.index(2)] ** 2 + noise[term.index(2), term.index(2)])
        if 2 in term
        else (mean[place] - mean[0] * mean[1] + noise[0, 1])
        for place, term in enumerate(terms[width:], width)
    ]
    covariances = np.array(second) * (n / (n - 1) if n > 1 else 0.0)
    errors, left = noise.copy(), np.ones(len(terms))
    for place, column in enumerate(columns):
        own = width + place * width  # of its variance
        if column.growth > 1:
            covariances[own - width] += column.drawn / scale[place] ** 2
            covariances[own - width] /= column.growth
            left[own] = 1 / column.growth
        if column.kept:
            rest = noise[place, place] - column.kept / scale[place] ** 2 / column.among
            errors[place, place] = rest if rest > _DUST * noise[place, place] else 0.0
    if shared is not None:
        left[width + 1] = shared.left
        if all(column.kept for column in columns):
            errors[0, 1] = errors[1, 0] = noise[0, 1] - both / max(column.among for column in columns)
    errors *= np.outer(left, left)
    for place, column in enumerate(columns):
        if column.growth == 1:
            own = width + place * width
            errors[own, own] += (column.doubt / scale[place] ** 2) ** 2
    reach = normal_quantile(level)
    if sampling is not None and n > 1:
        errors += (1 - sampling.share) * (_spread(values - mean[:, np.newaxis], sampling.person) - noise)
        clusters = n if sampling.person is None else len(np.unique(sampling.person))
        reach = t_quantile(level, max(clusters - 1, 3))
    factors = [each for each in columns if any(isinstance(error, Multiplied) for error in each.errors)]
    far = max([reach, *(t_quantile(level, max(_deciding(each.released), 3.0)) for each in factors)])
    skewed = sampling is not None or bool(factors)
    return Moments(n, centre, scale, mean[:width], covariances, errors, reach, far, skewed)


def _deciding(released: Floats) -> float:
    """Return how many numbers decide about the error of a variance, if factors make large numbers err most.

    A number x with a factor adds about the square of x (x - mean) to the variance of this error. Where few of these
    squares are large, the estimated error is uncertain: as much as with so many degrees of freedom (Satterthwaite).
    """
    parts = (released * (released - released.mean())) ** 2
    largest = float(parts.max())
    if largest == 0:
        return float(len(released))
    parts = parts / largest
    return float(parts.sum() ** 2 / (parts**2).sum())


def _noise(powers: Sequence[Floats], values: Floats, terms: Sequence[tuple[int, ...]], both: float) -> Floats:
    """Return the covariances of means of ``values`` that come from the errors."""
    n = values.shape[1]
    products = values @ values.T / n
    true: dict[tuple[int, ...], float] = {}
    for line, first in enumerate(terms):
        for place, second in enumerate(terms):
            term = tuple(a + b for a, b in zip(first, second, strict=True))
            if term not in true:
                true[term] = float(_monomial(powers, term, both).mean())
            products[line, place] -= true[term]
    return np.asarray(products / n)


def _spread(values: Floats, person: Ints | None) -> Floats:
    """Return the covariances of means of independent records, or of people with several records."""
    n = values.shape[1]
    if person is None:
        return np.asarray(values @ values.T / n / (n - 1))
    _, own = np.unique(person, return_inverse=True)
    people = int(own.max()) + 1
    sums = np.stack([np.bincount(own, line, people) for line in values])
    return np.asarray(sums @ sums.T / n**2 * (people / max(people - 1, 1)))


def _monomial(powers: Sequence[Floats], term: Sequence[int], both: float) -> Floats:
    """Return unbiased estimates of x^a y^b; ``both`` is the covariance of the normal errors of x and y."""
    if len(term) == 1:
        return np.asarray(powers[0][term[0]])
    a, b = term
    found: Floats = powers[0][a] * powers[1][b]
    if both:
        for k in range(1, min(a, b) + 1):
            factor = (-both) ** k / math.factorial(k) * math.perm(a, k) * math.perm(b, k)
            found = found + factor * powers[0][a - k] * powers[1][b - k]
    return found


def mean(found: Moments) -> Figure:
    """Return the mean of the first column."""
    estimate = float(found.centre[0] + found.scale[0] * found.first[0])
    return _around(estimate, _root(found.errors[0, 0]) * float(found.scale[0]), found.reach)


def variance(found: Moments) -> Figure:
    """Return the variance of the first column: the sum of squares by one less than the number of records."""
    if found.records < LEAST:
        return nothing(TOO_FEW)
    unit = float(found.scale[0]) ** 2
    given = float(found.second[0])
    width = len(found.first)
    se = _root(found.errors[width, width]) * found.bessel
    if given <= 0 and se > 0:
        return Figure(0.0, se * unit, 0.0, found.far * se * unit, NOTHING_LEFT)
    if found.skewed and given > 2 * se:  # variances of samples are skewed, and their logarithms hardly are
        factor = math.exp(found.far * se / given) if given > 0 else 1.0
        return Figure(given * unit, se * unit, given / factor * unit, given * factor * unit)
    low, high = max(given - found.far * se, 0.0), given + found.far * se
    return Figure(max(given, 0.0) * unit, se * unit, low * unit, high * unit)


def deviation(square: Figure) -> Figure:
    """Return the standard deviation, from a variance."""
    if square.estimate is None:
        return square
    root = math.sqrt(square.estimate)
    se = None if square.se is None else square.se / (2 * root) if root else 0.0 if square.se == 0 else None
    low, high = (None if limit is None else math.sqrt(limit) for limit in (square.low, square.high))
    return Figure(root, se, low, high, square.note)


def correlation(found: Moments) -> Figure:
    """Return the correlation of two columns.

    Its limits are those r for which the covariance is not too far from r times the standard deviations. At r, the
    difference is about C - r / 2 (X s + Y / s), with variances X and Y and s the root of Y / X; so what is "too far" is
    a polynomial of r.
    """
    if found.records < LEAST:
        return nothing(TOO_FEW)
    xx, xy, yy = (float(each) for each in found.second)
    errors = found.errors[2:, 2:] * found.bessel**2
    if (refused := _without_spread(found, errors)) is not None:
        return refused
    root = math.sqrt(xx * yy)
    given = xy / root
    halves = np.array([0.5 / xx, 0.0, 0.5 / yy])
    constant = max(float(errors[1, 1]) / root**2, 0.0)
    linear, square = -2 * float(halves @ errors[:, 1]) / root, max(float(halves @ errors @ halves), 0.0)
    se = _root(constant + linear * given + square * given**2)
    ends = _between(1 - found.far**2 * square, -2 * given - found.far**2 * linear, given**2 - found.far**2 * constant)
    low, high = (-1.0, 1.0) if ends is None else ends
    shown = max(min(given, 1.0), -1.0)
    low, high = max(min(low, shown), -1.0), min(max(high, shown), 1.0)
    return Figure(shown, se, low, high, BEYOND if abs(given) > 1 + _DUST else "")


def line(found: Moments) -> tuple[Figure, Figure]:
    """Return the intercept and the slope of the line by least squares, of the second column by the first.

    The limits of the slope are Fieller's. They are right even if the variance of the regressor is uncertain.
    """
    if found.records < LEAST:
        return nothing(TOO_FEW), nothing(TOO_FEW)
    xx, xy, _ = (float(each) for each in found.second)
    errors = found.errors[2:, 2:] * found.bessel**2
    if (refused := _without_spread(found, errors, only=True)) is not None:
        return refused, refused
    given, unit = xy / xx, float(found.scale[1] / found.scale[0])
    of_slope = np.array([0.0, 0.0, -given * found.bessel / xx, found.bessel / xx, 0.0])
    se = _root(float(of_slope @ found.errors @ of_slope))
    squared = found.far**2
    ends = _between(
        xx**2 - squared * errors[0, 0], -2 * (xx * xy - squared * errors[0, 1]), xy**2 - squared * errors[1, 1]
    )
    low, high = (None, None) if ends is None else (ends[0] * unit, ends[1] * unit)
    slope = Figure(given * unit, se * unit, low, high, ENDLESS if ends is None else "")
    # in units of the outcome, from its centre: the regressor's zero is so far from its centre
    zero = -float(found.centre[0] / found.scale[0])
    of_intercept = np.array([-given, 1.0, 0.0, 0.0, 0.0]) + (zero - float(found.first[0])) * of_slope
    height = float(found.first[1]) + given * (zero - float(found.first[0]))
    intercept = float(found.centre[1]) + height * float(found.scale[1])
    spread = _root(float(of_intercept @ found.errors @ of_intercept)) * float(found.scale[1])
    return _around(intercept, spread, found.far), slope


def nothing(note: str) -> Figure:
    """Return a figure of which nothing is known, and why."""
    return Figure(None, None, None, None, note)


def _without_spread(found: Moments, errors: Floats, *, only: bool = False) -> Figure | None:
    """Return what to say if a column has no spread, or none that noise could not have made; else None."""
    for place in (0,) if only else (0, 2):
        if found.second[place] <= _DUST:
            return nothing(NOTHING_KNOWN if errors[place, place] > 0 else NO_SPREAD)
    return None


def _around(estimate: float, se: float, reach: float) -> Figure:
    return Figure(estimate, se, estimate - reach * se, estimate + reach * se)


def _between(square: float, linear: float, constant: float) -> tuple[float, float] | None:
    """Return the two ends of where a polynomial is not above 0; None if there are none."""
    inside = linear**2 - 4 * square * constant
    if square <= 0:
        return None
    root = math.sqrt(max(inside, 0.0))
    return (-linear - root) / (2 * square), (-linear + root) / (2 * square)


def _root(square: float) -> float:
    return math.sqrt(max(float(square), 0.0))
