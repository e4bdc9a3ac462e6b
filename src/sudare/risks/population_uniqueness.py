"""Population uniqueness, estimated from a sample: Zayatz, Pitman, SNB, and Dankar's rule.

All start from the frequencies of frequencies: ``frequency[j]`` is the number of sample classes with j records. The
sample has n records in u classes and was drawn with the fraction pi, so that the population has N = n / pi people.

Reference for the rule, and for how the estimators compare: Dankar, El Emam, Neisa, Roffey: Estimating the
re-identification risk of clinical data sets. BMC Medical Informatics and Decision Making 12:66 (2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
GOLDEN = (math.sqrt(5) - 1) / 2
LARGE = 1e5
"""From here on Stirling's series is as exact as a float, and differences of it do not cancel."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """``count[i]`` classes of the sample have ``size[i]`` records each; sizes ascend."""

    size: Ints
    count: Ints

    @classmethod
    def of(cls, sizes: Ints) -> Frequencies:
        """Count the classes of each size."""
        size, count = np.unique(sizes, return_counts=True)
        return cls(size.astype(np.int64), count.astype(np.int64))

    @property
    def records(self) -> int:
        """The records of the sample, n."""
        return int((self.size * self.count).sum())

    @property
    def classes(self) -> int:
        """The classes of the sample, u."""
        return int(self.count.sum())

    def having(self, size: int) -> int:
        """Return the number of classes with this many records."""
        return int(self.count[self.size == size].sum())


@dataclass(frozen=True)
class Uniqueness:
    """Estimates of the share of the population that is unique in it; None where an estimator has no answer.

    ``dankar`` is the estimate that the rule takes, and ``rule`` whose it is. ``match`` is the chance that a sample
    unique which matches exactly one person of the population is that person (Skinner and Elliot).
    """

    fraction: float
    population: float
    sample_uniques: int
    zayatz: float | None
    pitman: float | None
    snb: float | None
    dankar: float
    rule: str
    match: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return dict(vars(self))


def uniqueness(sizes: Ints, fraction: float) -> Uniqueness:
    """Estimate population uniqueness from the class sizes of a sample by all estimators.

    Dankar's rule takes Pitman's where the sample is a tenth of the population or less, and else the smaller of Zayatz's
    and SNB's; Zayatz's stands in for one that has no answer.
    """
    found = Frequencies.of(sizes)
    people, uniques = found.records / fraction, found.having(1)
    if not uniques or fraction >= 1.0:
        share = uniques / people if people else 0.0
        return Uniqueness(fraction, people, uniques, share, share, share, share, "none needed", float(uniques > 0))
    estimates = {
        "zayatz": zayatz(found, fraction),
        "pitman": pitman(found, fraction),
        "snb": snb(found, fraction),
    }
    shares = {name: None if each is None else min(max(each / people, 0.0), 1.0) for name, each in estimates.items()}
    first, second = shares["zayatz"] or 0.0, shares["snb"]
    if fraction <= 0.1:
        rule = "pitman" if shares["pitman"] is not None else "zayatz"
    else:
        rule = "snb" if second is not None and second <= first else "zayatz"
    chosen = shares[rule]
    return Uniqueness(
        fraction=fraction,
        population=people,
        sample_uniques=uniques,
        zayatz=shares["zayatz"],
        pitman=shares["pitman"],
        snb=second,
        dankar=chosen or 0.0,
        rule=rule,
        match=_match(found, fraction),
    )


def _match(found: Frequencies, fraction: float) -> float:
    """Return the probability that a unique match is right.

    Of sample uniques and pairs: theta = pi f1 / (pi f1 + 2 (1 - pi) f2). Reference: Skinner, Elliot: A measure of
    disclosure risk for microdata. Journal of the Royal Statistical Society B 64(4), 855-867 (2002).
    """
    alone, pairs = fraction * found.having(1), 2 * (1 - fraction) * found.having(2)
    return float(alone / (alone + pairs)) if alone else 0.0


def zayatz(found: Frequencies, fraction: float) -> float | None:
    """Estimate the number of population uniques by Zayatz's method.

    Model: classes of the population have the sizes of those of the sample, with the same frequencies. A class of j
    people shows one record in a sample of n out of N with the hypergeometric probability h(j), so that a sample unique
    is a population unique with the probability f1 h(1) / sum of fj h(j). Of these, the sample has a share of pi.
    It needs no parameters, and is mostly too high where the sample is small: samples have more small classes.

    Reference: Zayatz: Estimation of the percent of unique population elements on a microdata file using the sample.
    US Bureau of the Census, Statistical Research Division Report RR-91/08 (1991).
    """
    alone = found.having(1)
    if not alone:
        return 0.0
    drawn, people = found.records, round(found.records / fraction)
    one = np.array([_one_drawn(int(size), drawn, people) for size in found.size])
    total = float((found.count * one).sum())
    right = alone * one[0] / total if found.size[0] == 1 and total > 0 else 0.0
    return float(right * alone / fraction)


def _one_drawn(size: int, drawn: int, people: int) -> float:
    """Return the hypergeometric probability that one of ``size`` people is among those drawn."""
    if people - size < drawn - 1 or size > people:
        return 0.0
    rest = people - size
    logarithm = (
        math.log(size)
        + log_rising(rest - drawn + 2.0, drawn - 1.0)
        - log_rising(people - drawn + 1.0, float(drawn))
        + math.log(drawn)
    )
    return math.exp(min(logarithm, 0.0))


def log_rising(start: float, steps: float) -> float:
    """Return ln of start (start + 1) ... (start + steps - 1), a difference of two ln-gammas, without cancellation."""
    if steps == 0:
        return 0.0
    if start < LARGE:
        return math.lgamma(start + steps) - math.lgamma(start)
    end = start + steps
    return (
        steps * math.log(start)
        + (end - 0.5) * math.log1p(steps / start)
        - steps
        + (1 / end - 1 / start) / 12
        - (1 / end**3 - 1 / start**3) / 360
    )


def pitman(found: Frequencies, fraction: float) -> float | None:
    """Estimate the number of population uniques by Pitman's sampling formula.

    Model: people come one after the other. The next one starts a new class with the probability (theta + u alpha) /
    (theta + n), where u classes have n people so far, and joins one of j people with (j - alpha) / (theta + n); alpha
    is from 0 below 1, theta above -alpha. So small classes stay numerous as people come, as in tables of many columns.

    Estimator: theta and alpha that make the sample most likely (the likelihood is searched, which finds the maximum
    also where Newton's steps leave the region); then the expected number of classes of one among N people,
    N (theta + alpha) ... (theta + alpha + N - 2) / ((theta + 1) ... (theta + N - 1)).
    None if all records of the sample are alike, or none.

    Reference: Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment. Journal of Official
    Statistics 17(4), 499-520 (2001).
    """
    drawn, classes = found.records, found.classes
    if classes in (1, drawn):
        return None
    sizes, counts = found.size.tolist(), found.count.tolist()

    def likelihood(alpha: float, theta: float, joining: float) -> float:
        starting = (classes - 1) * math.log(alpha) + log_rising(theta / alpha + 1.0, classes - 1.0)
        return starting - log_rising(theta + 1.0, drawn - 1.0) + joining

    def best_theta(alpha: float) -> tuple[float, float]:
        joining = sum(c * log_rising(1.0 - alpha, j - 1.0) for j, c in zip(sizes, counts, strict=True))
        place, value = maximum(
            lambda power: likelihood(alpha, math.exp(power) - alpha, joining), math.log(1e-6), math.log(100.0 * drawn)
        )
        return value, math.exp(place) - alpha

    alpha, _ = maximum(lambda each: best_theta(each)[0], 1e-4, 1 - 1e-4)
    theta = best_theta(alpha)[1]
    people = found.records / fraction
    return math.exp(math.log(people) + log_rising(theta + alpha, people - 1.0) - log_rising(theta + 1.0, people - 1.0))


def snb(found: Frequencies, fraction: float) -> float | None:
    """Estimate the number of population uniques by the slide negative binomial model.

    Model: the population has K classes, whose sizes are one more than negative binomial numbers with the parameters r
    and p: a class has one person with the probability p^r. Each person is drawn with the probability pi. So a class
    shows b + x records, b being 1 with the probability pi, and x negative binomial with r and q = p / (p + pi (1 - p)).

    Estimator: r, q and K for which the expected numbers of sample classes, of classes of one and of records are those
    that were seen. From the records, r (1 - q) / q = n / K - pi; from the classes, q^r = (1 - u / K) / (1 - pi); K is
    then found from the classes of one. (The paper takes K from Shlosser's estimator and solves for the classes of one
    and two; the three equations here agree with one another, and the number of records is not left out.)
    None if no K satisfies them.

    Reference: Chen, Keller-McNulty: Estimation of identification disclosure risk in microdata. Journal of Official
    Statistics 14(1), 79-95 (1998).
    """
    drawn, classes, alone = found.records, found.classes, found.having(1)

    def parameters(number: float) -> tuple[float, float] | None:
        """Return r and q for a number of population classes."""
        mean = drawn / number - fraction
        empty = (1 - classes / number) / (1 - fraction)
        if mean <= 0 or not 0 < empty < 1:
            return None
        # x has the mean m and the probability e of 0: r ln(1 + m / r) = -ln e, which grows with r from 0 to m
        wanted = -math.log(empty)
        if wanted >= mean:
            return None
        power = bisect(lambda each: math.exp(each) * math.log1p(mean / math.exp(each)) - wanted, -40.0, 40.0)
        if power is None:
            return None
        r = math.exp(power)
        return r, r / (r + mean)

    def excess(number: float) -> float:
        solved = parameters(number)
        if solved is None:
            return math.nan
        r, q = solved
        none = q**r
        return float(number * ((1 - fraction) * r * (1 - q) * none + fraction * none) - alone)

    # K is between the classes seen and the people there are
    grid = classes + (drawn / fraction - classes) * np.linspace(0, 1, 2002)[1:-1] ** 3
    values = [excess(float(number)) for number in grid]
    for left, right, low, high in zip(values, values[1:], grid, grid[1:], strict=False):
        if math.isfinite(left) and math.isfinite(right) and (left <= 0) != (right <= 0):
            number = bisect(excess, float(low), float(high))
            solved = None if number is None else parameters(number)
            if number is None or solved is None:
                return None
            r, q = solved
            p = fraction * q / (1 - q + fraction * q)
            return float(number * p**r)
    return None


def maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return where a function with one maximum is largest, and its value there: a coarse look, then golden sections."""
    grid = np.linspace(low, high, 25)
    values = [function(float(place)) for place in grid]
    best = int(np.argmax(values))
    left, right = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    one, two = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
    at_one, at_two = function(one), function(two)
    while right - left > 1e-9 * max(1.0, abs(left), abs(right)):
        if at_one >= at_two:
            right, two, at_two = two, one, at_one
            one = right - GOLDEN * (right - left)
            at_one = function(one)
        else:
            left, one, at_one = one, two, at_two
            two = left + GOLDEN * (right - left)
            at_two = function(two)
    place = (left + right) / 2
    return place, function(place)


def bisect(function: Callable[[float], float], low: float, high: float) -> float | None:
    """Return where a function changes its sign between two places, or None if its signs there are the same."""
    first, last = function(low), function(high)
    if not (math.isfinite(first) and math.isfinite(last)) or (first <= 0) == (last <= 0):
        return None
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if (function(middle) <= 0) == (first <= 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2
