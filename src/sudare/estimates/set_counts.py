"""Counts from sets: every record shows l values of a domain, the true one and l - 1 others drawn at random.

The analyst divides the records into cells, and asks how many records of a cell have each value. A value that is not the
truth stands in a set with probability q = (l - 1) / (values - 1), so there is something to be learnt as long as
l < values. The estimators:

- ``em-shrunk``, the default: the counts that make the sets most likely together with what the whole table says. The
  table's distribution stands in every cell for some records more; how many follows from how much the cells differ
  from it beyond chance, and a cell that is clearly different gets few of them. (The table's distribution itself is
  drawn to the uniform one in the same way.) It is biased towards the table, and its squared error is the smallest by
  far, most of all where a cell has few records or the domain many values.
- ``em``: the counts that make the sets most likely, by the cell's own records alone. In a cell with few records there
  may be many such counts, of which one is given, and any of them says more than is known.
- ``bayes``: the iteration of the paper, on the numbers of sets that hold each value. With its ``eps`` of 1 it stops
  early; with a tiny one it converges.
- ``closed-form``: the unbiased estimate (W - N q) / (1 - q) where W of N sets hold a value, projected to counts that
  are not negative and sum up to N.

The standard error is that of the estimate about the true count of the records in the cell: only the choice of the
other values is random. For ``closed-form`` and ``bayes`` it is what the unbiased estimate has; for ``em`` and
``em-shrunk`` it follows from the curvature of the likelihood, and is at most that of the unbiased estimate combined
with the variance that the prior leaves (which it is in cells with few records or many values, where the curvature
would take long). That of ``em-shrunk`` holds on average over cells and values, not for each.

The intervals rest on W alone, whatever the estimator: they hold the true count with the probability asked for, rare
values and small cells included, and are widened where they would not hold the estimate.

Where dummies are drawn with unequal weights, a set speaks for each of its values in proportion to a factor, and what
holds a value by chance depends on the truth that it accompanies. ``em`` and ``em-shrunk`` allow for both; the other two
know neither. An interval then takes the other values to be as frequent as estimated: that hardly changes how often
sets hold a value by chance, and is the only thing the intervals take from an estimate.

Reference: Journal of the Information Processing Society of Japan 56(5), 1377-1387 (2015).
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import ParameterError, UnsupportedError, did_you_mean
from sudare.core.progress import Listener, silent
from sudare.kernels import random_cells
from sudare.kernels.class_rows import count_classes, sort_by_class
from sudare.kernels.estimates import count_bounds, set_likelihood

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Estimator = Literal["em-shrunk", "em", "bayes", "closed-form"]

ESTIMATORS: tuple[str, ...] = get_args(Estimator)
DEFAULT: Estimator = "em-shrunk"
PAPER_EPS = 1.0
LARGEST = 50_000_000
"""Cells times values at most: their estimates take 36 bytes each."""

GAP = (
    1e-6  # of the logarithm of the likelihood to its maximum: an estimate is off by a thousandth of its standard error
)
TABLE_GAP = 1e-2  # for the table's distribution, which is far better known than any cell needs
MOST_STEPS = 3_000  # of EM in a cell
MOST_ROUNDS = 1_000_000  # of the paper's iteration in a cell
SURE = 2.0  # standard deviations by which a cell has to differ from the others before it is treated differently
ENOUGH = 30  # records of a cell from which on that is looked at
MOST_PSEUDO = 1e6  # of a cell: beyond, rounding would hide how far from the maximum a solution is
WIDEST = 60.0  # difference of two logarithms of factors: products of eight of their shares still are numbers
MOST_WEIGHTS = 5_000  # different ones, whose probabilities given each other are held
RECOVERED = 1e-9  # error of the logarithm of a weight that is found from its factor
LIFTS = 257  # entries of the table that limits near 0 are made with


@dataclass(frozen=True)
class Estimates:
    """Estimated counts: a line for each cell, a column for each value.

    ``records`` is the number of records of each cell, ``counts`` sums up to it. A cell without records has counts of 0
    that are exact, and so has a value that no set of a cell shows: standard error and limits are 0. Where sets show the
    whole domain nothing is known: the counts are uniform, the standard errors infinite, the limits 0 and all records.
    ``rounds`` is the most iterations that any cell took.
    """

    records: Ints
    counts: Floats
    se: Floats
    low: Floats
    high: Floats
    rounds: int


@dataclass(frozen=True)
class _Inclusion:
    """How likely a set is to hold values that are not the truth, where dummies are drawn with weights.

    It depends on the weights of both values alone. ``kinds`` numbers the weights of the values, and ``given[a, b]`` is
    the probability that a set holds a value of weight b if the truth is another one of weight a.
    """

    kinds: Ints
    given: Floats

    def rates(self, counts: Floats) -> Floats:
        """Return with what probability a set of another value holds each value, in cells with these counts."""
        counts = counts + 1 / counts.shape[1]  # one record more, so that there always is another value
        of_kind = np.zeros((len(counts), len(self.given)))
        np.add.at(of_kind.T, self.kinds, counts.T)
        held = (of_kind @ self.given)[:, self.kinds] - counts * np.diag(self.given)[self.kinds]
        others = counts.sum(axis=1, keepdims=True) - counts
        return np.asarray(np.clip(held / others, 1e-12, 1 - 1e-12))


@dataclass(frozen=True)
class _Problem:
    """The sets, sorted into cells, and what belongs to them."""

    cells: set_likelihood.Cells
    records: Ints
    values: int
    progress: Listener
    inclusion: _Inclusion | None = None

    @property
    def chosen(self) -> int:
        """Return how many values a set has."""
        return int(self.cells.sets.shape[1])

    @property
    def rate(self) -> float:
        """Return the probability that a set holds a given false value, if all values are equally likely."""
        return (self.chosen - 1) / (self.values - 1)

    def rates(self, counts: Floats) -> Floats:
        """Return that probability for each value, in a line for each line of counts, or one line for all of them."""
        return self.inclusion.rates(counts) if self.inclusion else np.full((1, self.values), self.rate)

    def table(self) -> _Problem:
        """Return the problem whose only cell is all records, those in no cell included."""
        rows = len(self.cells.sets)
        starts = np.array([0, rows], dtype=np.int64)
        cells = set_likelihood.Cells(self.cells.sets, np.arange(rows), starts, self.cells.factors)
        return _Problem(cells, np.diff(starts), self.values, silent, self.inclusion)

    def empty(self, dtype: type = np.float64) -> NDArray[Any]:
        return np.zeros((len(self.records), self.values), dtype=dtype)

    def each(self, work: Callable[[int, int], None], stage: str = "") -> None:
        """Have some work done on ranges of cells, on all cores; cells know nothing of each other."""
        cores = max(os.cpu_count() or 1, 1)
        load = self.cells.starts * self.chosen + np.arange(len(self.cells.starts))
        marks = np.linspace(0, int(load[-1]), 16 * cores + 1)[1:-1]
        bounds = [0, *np.searchsorted(load, marks).tolist(), len(self.records)]
        with ThreadPoolExecutor(cores) as pool:
            for part, _ in enumerate(pool.map(work, bounds[:-1], bounds[1:]), 1):
                if stage:
                    self.progress(stage, part, len(bounds) - 1)


def from_sets(
    cells: NDArray[Any],
    sets: NDArray[Any],
    values: int,
    count: int,
    *,
    estimator: str = DEFAULT,
    eps: float | None = None,
    level: float = 0.95,
    log_factors: Floats | None = None,
    progress: Listener | None = None,
) -> Estimates:
    """Estimate how many records of each cell have each value.

    ``cells`` has the number of each record's cell, below ``count``, or -1: then it is in none, and only adds to what
    is known of the whole table. ``sets`` has a line of l different codes below ``values`` for each record. The order
    of the records makes no difference beyond rounding. ``eps`` is for ``bayes`` alone; ``level`` is how often the
    limits shall hold the true count. ``log_factors`` is for sets whose dummies were drawn with weights: the logarithm
    of what the likelihood of each value is in proportion to (:func:`sudare.kernels.random_cells.log_factors`).
    """
    _check(cells, sets, values, count, estimator, eps, level)
    if log_factors is not None:
        _check_factors(log_factors, values, estimator)
    problem = _sorted(cells, sets, values, count, log_factors, progress or silent)
    if problem.chosen == values and values > 1:
        return _nothing_known(problem)
    holding = problem.empty(np.int32)
    problem.each(lambda first, last: set_likelihood.count_by_cell(problem.cells, first, last, holding))
    if problem.chosen == 1:
        exact = holding.astype(np.float64)
        return Estimates(problem.records, exact, np.zeros_like(exact), exact.copy(), exact.copy(), 0)
    rounds = np.zeros(count, dtype=np.int64)
    counts = problem.empty()
    if estimator == "closed-form":
        _project(problem, holding, counts)
        rates = problem.rates(counts)
        spread = _chance(problem, rates, holding, counts)
    elif estimator == "bayes":
        _iterate(problem, holding, PAPER_EPS if eps is None else eps, counts, rounds)
        rates = problem.rates(counts)
        spread = _chance(problem, rates, holding, counts)
    else:
        prior = _learn(problem, holding) if estimator == "em-shrunk" else _evenly(problem, np.zeros(count))
        found = set_likelihood.Found(counts, problem.empty(), np.zeros(count, dtype=np.bool_), rounds)
        _maximise(problem, prior, GAP, found)
        rates = problem.rates(counts)
        spread = _limit(problem, prior, _chance(problem, rates, holding, counts), found)
    low, high = problem.empty(), problem.empty()
    lifts = _lifts(level)

    def bound(first: int, last: int) -> None:
        count_bounds.bound_cells(holding, problem.records, rates, lifts, 1 - level, first, last, counts, low, high)

    problem.each(bound)
    return Estimates(problem.records, counts, np.sqrt(spread, out=spread), low, high, int(rounds.max(initial=0)))


def _check(
    cells: NDArray[Any], sets: NDArray[Any], values: int, count: int, estimator: str, eps: float | None, level: float
) -> None:
    if estimator not in ESTIMATORS:
        raise ParameterError(
            f"the estimator is '{estimator}'; it can be {', '.join(ESTIMATORS)}.",
            hint=did_you_mean(estimator, ESTIMATORS),
        )
    if eps is not None and estimator != "bayes":
        raise ParameterError(f"eps has no meaning for the estimator '{estimator}'; only 'bayes' uses it.")
    number = isinstance(eps, int | float | np.number) and not isinstance(eps, bool)
    if eps is not None and (not number or not 0 < eps <= sys.float_info.max):
        raise ParameterError(f"eps is {eps!r}; it must be a number above 0.")
    if not 0 < level < 1:
        raise ParameterError(f"the level is {level}; it must be between 0 and 1.", hint="0.95 is usual.")
    if sets.ndim != 2 or cells.shape != sets.shape[:1] or not 1 <= sets.shape[1] <= values:
        raise ParameterError(
            f"there are sets of shape {sets.shape} for {len(cells)} records and {values} values; "
            "every record needs one line, of 1 to all of the values."
        )
    for name, codes, least, end in (("cells", cells, -1, count), ("sets", sets, 0, values)):
        if not np.issubdtype(codes.dtype, np.integer):
            raise ParameterError(f"the {name} are of type {codes.dtype}; they must be whole numbers.")
        if codes.size and not (codes.min() >= least and codes.max() < end):
            raise ParameterError(f"the {name} have numbers outside {least} to {end - 1}.")
    if count * values > LARGEST:
        raise UnsupportedError(
            f"{count:,} cells of {values:,} values are more than {LARGEST:,} counts, which would not fit into memory.",
            hint="ask for fewer cells at a time; records in other cells get the number -1.",
        )


def _check_factors(log_factors: Floats, values: int, estimator: str) -> None:
    if estimator not in ("em", "em-shrunk"):
        raise UnsupportedError(
            f"the estimator '{estimator}' assumes equally likely dummies, but these were drawn with weights.",
            hint="use em or em-shrunk.",
        )
    if log_factors.shape != (values,) or not np.isfinite(log_factors).all():
        raise ParameterError(f"there are factors of shape {log_factors.shape}; every value needs one that is finite.")
    if np.ptp(log_factors) > WIDEST:
        raise ParameterError(f"the logarithms of the factors differ by {np.ptp(log_factors):.3g}; at most {WIDEST:g}.")


def _sorted(
    cells: NDArray[Any], sets: NDArray[Any], values: int, count: int, log_factors: Floats | None, progress: Listener
) -> _Problem:
    cells = np.ascontiguousarray(cells, dtype=np.int64)
    sets = np.ascontiguousarray(sets, dtype=np.uint32)  # one type, so that kernels are compiled once
    if set_likelihood.same_twice(sets):
        raise ParameterError("a set holds a value twice; its values must be different.")
    records = count_classes(cells, count)
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(records, out=starts[1:])
    order = np.empty(int(starts[-1]), dtype=np.int64)
    sort_by_class(cells, starts[:-1], order)
    if log_factors is None or not 1 < sets.shape[1] < values:
        return _Problem(set_likelihood.Cells(sets, order, starts), records, values, progress)
    factors = np.exp(log_factors - log_factors.min())  # from 1 on: shares times these are no smaller than shares
    inclusion = _inclusion(np.asarray(log_factors, dtype=np.float64), sets.shape[1])
    return _Problem(set_likelihood.Cells(sets, order, starts, factors), records, values, progress, inclusion)


def _shares(log_factors: Floats, width: int) -> Floats:
    """Return how likely each value is to be among ``width`` that are drawn by weights with these factors."""
    within = np.exp(log_factors.min() - log_factors)
    return np.asarray(width * within / within.sum())


def _inclusion(log_factors: Floats, width: int) -> _Inclusion:
    """Return how likely sets are to hold each value, given each truth.

    The factors are inverse to how likely values are in sets that are drawn by the weights alone, and these determine
    the weights (Chen, Dempster, Liu 1994). Given a truth, the dummies are such a set of the other values.
    """
    wanted = _shares(log_factors, width)
    if not wanted.max() < 1:
        raise ParameterError(f"no weights have such factors in sets of {width} of {len(log_factors)} values.")
    aim = np.log(wanted) - np.log1p(-wanted)
    logs, moved = aim - aim.max(), np.inf
    for _ in range(1000):
        if moved < RECOVERED:
            break
        got = np.minimum(_shares(random_cells.log_factors(np.exp(logs), width), width), 1 - 1e-15)
        step = aim - np.log(got) + np.log1p(-got)
        moved = np.abs(step).max()
        logs += step
        logs -= logs.max()
    _, first, kinds = np.unique(np.round(logs, 6), return_index=True, return_inverse=True)
    if len(first) > MOST_WEIGHTS:
        raise UnsupportedError(
            f"{len(first):,} different weights are more than {MOST_WEIGHTS:,}, which would not fit into memory.",
            hint="draw dummies with rounded weights.",
        )
    weights, given = np.exp(logs), np.zeros((len(first), len(first)))
    for kind, truth in enumerate(first):
        held = _shares(random_cells.log_factors(np.delete(weights, truth), width - 1), width - 1)
        given[kind, np.delete(kinds, truth)] = held
    return _Inclusion(kinds, given)


def _nothing_known(problem: _Problem) -> Estimates:
    counts = problem.empty() + problem.records[:, None] / problem.values
    high = problem.empty() + problem.records[:, None].astype(np.float64)
    se = np.where(high > 0, np.inf, 0.0)
    return Estimates(problem.records, counts, se, problem.empty(), high, 0)


def _project(problem: _Problem, holding: NDArray[np.int32], counts: Floats) -> None:
    def work(first: int, last: int) -> None:
        set_likelihood.project_cells(holding, problem.records, problem.rate, first, last, counts)

    problem.each(work, "estimate")


def _iterate(problem: _Problem, holding: NDArray[np.int32], eps: float, counts: Floats, rounds: Ints) -> None:
    chosen = np.int64(problem.chosen)

    def work(first: int, last: int) -> None:
        set_likelihood.iterate_bayes(
            holding, problem.records, problem.rate, chosen, float(eps), MOST_ROUNDS, first, last, counts, rounds
        )

    problem.each(work, "estimate")


def _maximise(problem: _Problem, prior: set_likelihood.Prior, gap: float, found: set_likelihood.Found) -> None:
    def work(first: int, last: int) -> None:
        set_likelihood.maximise(problem.cells, first, last, prior, gap, MOST_STEPS, found)

    problem.each(work, "estimate")


def _chance(problem: _Problem, rates: Floats, holding: NDArray[np.int32], counts: Floats) -> Floats:
    """Return the variance of the unbiased estimate, if the counts are these; a value that no set holds has none.

    It is that among the values which are shown: in a large domain most are not, and few of those that are are true.
    """
    sizes = problem.records[:, None]
    shown = -np.expm1(np.maximum(sizes, 1) * np.log1p(-rates))
    spread = np.maximum(sizes - counts, 0.0) * (rates / (1 - rates)) / shown
    spread[holding == 0] = 0.0
    return np.asarray(spread)


def _limit(problem: _Problem, prior: set_likelihood.Prior, chance: Floats, found: set_likelihood.Found) -> Floats:
    """Return the variances of counts: no more than the unbiased estimate has, and combined with the prior's.

    The latter only where the cell was not narrow: else the prior is in it already.
    """
    spread = np.minimum(found.spread, chance)
    for cell in np.flatnonzero(~found.narrow & (problem.records > 0)):
        size, own = int(problem.records[cell]), chance[cell]
        believed = prior.strength[cell] * prior.shares + prior.even[cell]
        pseudo = believed.sum()
        if pseudo > 0:
            shares = believed / pseudo
            before = size * shares * (1 - shares) * (size + pseudo) / (1 + pseudo)
            own = own * before / np.maximum(own + before, np.finfo(float).tiny)
        spread[cell] = np.maximum(own, found.spread[cell])
    return spread


def _evenly(problem: _Problem, pseudo: Floats) -> set_likelihood.Prior:
    """Return the belief that all values are equally frequent, as strong as so many records in each cell."""
    return set_likelihood.Prior(np.zeros(problem.values), np.zeros(len(pseudo)), pseudo / problem.values)


def _learn(problem: _Problem, holding: NDArray[np.int32]) -> set_likelihood.Prior:
    """Return the prior of cells: the distribution of the whole table, which itself has a uniform prior.

    A cell is a part of the table. To that extent, the prior of the table replaces that of cells: a cell's own records
    must not count twice.
    """
    table, values, rows = problem.table(), problem.values, len(problem.cells.sets)
    if rows == 0:
        return _evenly(problem, np.zeros(len(problem.records)))
    whole, uniform = table.empty(np.int32), np.full(values, 1 / values)
    table.each(lambda first, last: set_likelihood.count_by_cell(table.cells, first, last, whole))
    found = set_likelihood.Found(table.empty(), table.empty(), np.zeros(1, dtype=np.bool_), np.zeros(1, dtype=np.int64))
    if problem.inclusion:  # what the sets alone say of the table tells what they hold by chance
        _maximise(table, _evenly(table, np.zeros(1)), TABLE_GAP, found)
    pseudo = _strength(table, table.rates(found.counts)[0], whole, uniform, 0)
    _maximise(table, _evenly(table, pseudo), TABLE_GAP, found)
    shares = (found.counts[0] + pseudo[0] * uniform) / (rows + pseudo[0])
    part, strength = problem.records / rows, _strength(problem, table.rates(found.counts)[0], holding, shares, rows)
    # cells that differ from the table differ from a uniform one as well, however uniform the table may be
    even = part * np.where(part < 1, np.minimum(pseudo[0], strength), pseudo[0]) / values
    return set_likelihood.Prior(shares, strength * (1 - part), even)


def _strength(problem: _Problem, rates: Floats, holding: NDArray[np.int32], prior: Floats, rows: int) -> Floats:
    """Return the pseudo-records of each cell, from the unbiased estimates; see :func:`pseudo_records`."""
    sizes = np.maximum(problem.records, 1)
    apart = np.empty(len(sizes))
    step = max(1, 4_000_000 // problem.values)
    for first in range(0, len(sizes), step):
        some = slice(first, first + step)
        shares = (holding[some] / sizes[some, None] - rates) / (1 - rates)
        apart[some] = ((shares - prior) ** 2).sum(axis=1)
    return pseudo_records(problem.records, apart, prior, (1 - prior) * (rates / (1 - rates)), rows)


def pseudo_records(records: Ints, apart: Floats, prior: Floats, noise: Floats, rows: int) -> Floats:
    """Return the pseudo-records of each cell, from how far the cells are from a distribution beyond chance.

    ``apart`` is the squared distance of the unbiased estimates of a cell's shares from ``prior``, and ``noise`` the
    variance of such an estimate from a single record whose value is known.

    If the shares of cells vary about ``prior`` like a Dirichlet distribution with A pseudo-records, the squared
    distance of the unbiased estimates from it is r = 1 / (1 + A) of the most it could be, plus what chance adds. All
    cells together tell r, to which its standard error is added, and what is unknown of the prior itself, as it was
    found from ``rows`` records (0: it is known): so r is too large rather than too small. A cell that is clearly
    farther away than the others has an r of its own.
    """
    sizes = np.maximum(records, 1).astype(np.float64)
    concentrated = float(prior @ prior)
    chance = noise + prior * (1 - prior)  # of the share of one record: by what is drawn, and by who is in the cell
    excess = apart - chance.sum() / sizes
    error = math.sqrt(2 * float(chance @ chance)) / sizes
    most = (1 - concentrated) * (1 - 1 / sizes)
    counting = np.where(records > 1, sizes, 0.0)
    scale = float(counting @ most)
    if scale <= 0:
        return np.ones(len(sizes))
    ratio = max(float(counting @ excess) / scale, 0.0) + math.sqrt(float(counting**2 @ error**2)) / scale
    if rows:
        ratio += float(noise.sum()) / rows / (1 - concentrated)
    own = np.where(records >= ENOUGH, (excess - SURE * error) / np.where(most > 0, most, 1.0), 0.0)
    own = own if rows else np.zeros(1)
    return np.asarray(1 / np.clip(np.maximum(ratio, own), 1 / (1 + MOST_PSEUDO), 0.5) - 1)


@lru_cache(maxsize=16)
def _lifts(level: float) -> Floats:
    """Return how many standard deviations above a count's expectation its sets may be, for counts from 0 on.

    The last entry is the usual two-sided limit, and also the place, in standard deviations from 0, where it is reached.
    Below, the limits are those that the ratio of likelihoods puts first, where the best count is not negative.
    """
    normal = NormalDist()
    widest = normal.inv_cdf((1 + level) / 2)
    lifts = np.empty(LIFTS)
    for index in range(LIFTS):
        place = widest * index / (LIFTS - 1)
        least, most = 0.0, widest
        for _ in range(60):
            lift = (least + most) / 2
            below = normal.cdf(-(place * place + lift * lift) / (2 * place)) if place else 0.0
            least, most = (least, lift) if normal.cdf(lift) - below >= level else (lift, most)
        lifts[index] = most
    lifts[-1] = widest
    return lifts
