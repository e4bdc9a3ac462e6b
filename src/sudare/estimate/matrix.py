"""Counts from perturbed values: every record shows a value drawn from that line of a known matrix which its truth has.

With R[t, o] the probability that the truth t is shown as o, counts X are shown as X R on average. The estimators:

- ``em``: the counts that make what is shown most likely. They are not negative and sum up to the records. Where the
  unbiased estimate has no negative counts, it is that.
- ``em-shrunk``: together with what all cells say, as in :mod:`sudare.estimate.sets`. The distribution of all records
  stands in every cell for some records more, and a uniform one among all records in the same way; how many follows
  from how much the cells differ beyond chance. Its squared error is the smallest, most of all in cells with few
  records; it is biased towards the whole.
- ``inversion``: the unbiased estimate, Y R^-1 where Y is what is shown. Its counts are real numbers that sum up to the
  records, and may be negative: so they can be added up over cells and values without harm.
- ``projection``: the counts nearest to these that are not negative and sum up to the records. They are never farther
  from the truth than the unbiased ones, in squared distance.

On two-way tables of Adult that keep 0.3, 0.5 or 0.8 of the values, ``em`` had 0.5, 0.75 or 0.95 of the squared error of
``inversion``. It had more in one table alone, that of two columns with the same meaning, where nearly all counts are 0
and 0.8 were kept: what it gives to many counts near 0 is missing in the large ones. ``projection`` is better there.

Several columns that were perturbed independently have the Kronecker product of their matrices. It is never made: each
matrix is applied along its own axis.

The standard error is that about the true counts of the records in the cell: only the drawing is random. What a record
with the truth t adds to the unbiased estimate of s is a number with the mean 1 or 0 and a variance that follows from R,
so the variance of the estimate is a sum over the truths, for which the estimated counts (for ``inversion``, the nearest
ones that are not negative) are put in. It is used for ``em`` as well, where it is too large for counts near 0; for
``em-shrunk`` it is combined with the variance that the prior leaves.

The intervals rest on the unbiased estimate alone, whatever the estimator, with the variance and the skewness that each
count would bring. They lie between 0 and the records, and are widened where they would not hold the estimate. In cells
of fewer than some 50 records, where estimates are few different numbers, they hold the truth more or less often than
asked for: 95 % may be anything from 85 to 99 %.

Reference: Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure control. Journal of
Official Statistics 14(4), 1998. Agrawal, Aggarwal: On the design and quantification of privacy preserving data mining
algorithms. PODS 2001 (EM). Varadhan, Roland: Simple and globally convergent methods for accelerating the convergence of
any EM algorithm. Scandinavian Journal of Statistics 35(2), 2008.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError, UnsupportedError, did_you_mean
from sudare.estimate.sets import GAP, LARGEST, Estimates, Floats, Ints, pseudo_records
from sudare.kernels import bounding
from sudare.progress import Listener, silent

MatrixEstimator = Literal["em", "em-shrunk", "projection", "inversion"]
MATRIX_ESTIMATORS: tuple[str, ...] = get_args(MatrixEstimator)

NARROW = 2_000  # values up to which equations between all of them are solved
NEWTON = 100  # steps of the method that does so, which takes 10 to 30
MOST_STEPS = 3_000  # of EM
AT_ONCE = 4_000_000  # numbers of cells that are worked on together
FLAT = 1e10  # condition of a matrix beyond which rounding would be all that is left of an inverse
ROUNDED = 1e-9  # by which the sum of a line may differ from 1
SMALLEST = 1e-12  # of a share in the course of EM: one that is 0 could never rise again


@dataclass(frozen=True)
class _Drawing:
    """The matrices, and the moments of what a record adds to the unbiased estimate.

    ``squares[t, s]`` and ``cubes[t, s]`` are the expected square and cube of what the truth t adds to the count of s.
    """

    forth: list[Floats]
    back: list[Floats]
    squares: list[Floats]
    cubes: list[Floats]

    @property
    def values(self) -> int:
        """Return how many values, or combinations of them, there are."""
        return math.prod(len(part) for part in self.forth)

    def shown(self, counts: Floats) -> Floats:
        """Return how often each value is shown on average."""
        return _along(counts, self.forth)

    def traced(self, ratios: Floats) -> Floats:
        """Return what each truth is expected to meet, of numbers that belong to what is shown."""
        return _along(ratios, [part.T for part in self.forth])

    def unbiased(self, observed: Floats) -> Floats:
        """Return the unbiased estimate."""
        return _along(observed, self.back)

    def variances(self, counts: Floats) -> Floats:
        """Return the variances of the unbiased estimate, if the counts are these."""
        return np.asarray(np.maximum(_along(counts, self.squares) - counts, 0.0))

    def own(self) -> Floats:
        """Return, in a line for each value, variance and third moment of what a record adds to its own value."""
        square, cube = (_diagonal(parts) for parts in (self.squares, self.cubes))
        return np.stack([np.maximum(square - 1, 0.0), cube - 3 * square + 2], axis=1)

    def others(self, counts: Floats) -> Floats:
        """Return the same for records with other values, on average, in each cell with these counts."""
        counts = counts + 1 / counts.shape[1]  # one record more, so that there always is another value
        rest = np.maximum(counts.sum(axis=1, keepdims=True) - counts, np.finfo(float).tiny)
        moments = [_along(counts, parts) - counts * _diagonal(parts) for parts in (self.squares, self.cubes)]
        return np.ascontiguousarray(np.stack([moment / rest for moment in moments], axis=2))


def from_matrix(
    observed: NDArray[Any],
    matrix: NDArray[Any] | Sequence[NDArray[Any]],
    *,
    estimator: str = "em",
    level: float = 0.95,
    progress: Listener | None = None,
) -> Estimates:
    """Estimate how many records of each cell have each value.

    ``observed`` has a line for each cell (a combination of values of columns that were not perturbed), with the number
    of its records that show each value. A line of ``matrix`` has the probabilities of what a value is shown as. It may
    be a list of matrices: the values are then all combinations of theirs, those of the last matrix changing fastest.
    ``level`` is how often the limits shall hold the true count.
    """
    drawing = _checked(observed, matrix, estimator, level)
    listener = progress or silent
    cells, values = observed.shape
    records = observed.sum(axis=1, dtype=np.int64)
    prior = _learn(drawing, observed, records) if estimator == "em-shrunk" else np.zeros((1, values))
    counts, se, low, high = (np.zeros((cells, values)) for _ in range(4))
    own, rounds = drawing.own(), 0
    step = max(1, AT_ONCE // values)
    for first in range(0, cells, step):
        some = slice(first, first + step)
        shown, sizes = observed[some].astype(np.float64), records[some]
        belief = np.broadcast_to(prior[some] if len(prior) == cells else prior, shown.shape)
        point = drawing.unbiased(shown)
        near = _project(point, sizes)
        if estimator.startswith("em"):
            near, taken = _maximise(drawing, shown, belief, near)
            rounds = max(rounds, taken)
        counts[some] = point if estimator == "inversion" else near
        se[some] = np.sqrt(_combined(drawing.variances(near), belief, sizes))
        bounding.bound_estimates(point, sizes, own, drawing.others(near), float(level), low[some], high[some])
        np.minimum(low[some], counts[some], out=low[some])
        np.maximum(high[some], counts[some], out=high[some])
        listener("estimate", min(first + step, cells), cells)
    return Estimates(records, counts, se, low, high, rounds)


def _checked(
    observed: NDArray[Any], matrix: NDArray[Any] | Sequence[NDArray[Any]], estimator: str, level: float
) -> _Drawing:
    if estimator not in MATRIX_ESTIMATORS:
        raise ParameterError(
            f"the estimator is '{estimator}'; it can be {', '.join(MATRIX_ESTIMATORS)}.",
            hint=did_you_mean(estimator, MATRIX_ESTIMATORS),
        )
    if not 0 < level < 1:
        raise ParameterError(f"the level is {level}; it has to be between 0 and 1.", hint="0.95 is usual.")
    given = [matrix] if isinstance(matrix, np.ndarray) else list(matrix)
    forth = [np.ascontiguousarray(part, dtype=np.float64) for part in given]
    if not forth or any(part.ndim != 2 or part.shape[0] != part.shape[1] or not part.size for part in forth):
        raise ParameterError(f"the matrices have shapes {[part.shape for part in forth]}; they have to be square.")
    for part in forth:
        if not (part.min() >= 0 and np.abs(part.sum(axis=1) - 1).max() <= ROUNDED):
            raise ParameterError("a line of a matrix is no distribution: none below 0, and all together 1.")
        if not np.linalg.cond(part) < FLAT:
            raise ParameterError(
                f"a matrix of {len(part)} values has no inverse: some values are shown alike whatever the truth is.",
                hint="nothing can be told apart if no value is kept.",
            )
    values = math.prod(len(part) for part in forth)
    if observed.ndim != 2 or observed.shape[1] != values:
        raise ParameterError(
            f"there are counts of shape {observed.shape}; they need a column for each of {values} values."
        )
    if not np.issubdtype(observed.dtype, np.integer) or (observed.size and observed.min() < 0):
        raise ParameterError("the counts have to be whole numbers, none below 0.")
    if observed.size > LARGEST:
        raise UnsupportedError(
            f"{len(observed):,} cells of {values:,} values are more than {LARGEST:,} counts, which would not fit into "
            "memory.",
            hint="ask for fewer cells at a time.",
        )
    back = [np.asarray(np.linalg.inv(part), dtype=np.float64) for part in forth]
    squares = [there @ again**2 for there, again in zip(forth, back, strict=True)]
    cubes = [there @ again**3 for there, again in zip(forth, back, strict=True)]
    return _Drawing(forth, back, squares, cubes)


def _along(lines: Floats, parts: list[Floats]) -> Floats:
    """Multiply each line by the Kronecker product of some matrices, one after the other along its own axis.

    The first axis becomes the last one each time, so that in the end all are where they were.
    """
    result = lines
    for part in parts:
        turned = result.reshape(len(lines), len(part), lines.shape[1] // len(part)).swapaxes(1, 2)
        result = (turned.reshape(-1, len(part)) @ part).reshape(lines.shape)
    return result


def _diagonal(parts: list[Floats]) -> Floats:
    """Return the diagonal of a Kronecker product."""
    result: Floats = np.ones(1)
    for part in parts:
        result = np.multiply.outer(result, np.diag(part)).ravel()
    return result


def _project(point: Floats, sizes: Ints) -> Floats:
    """Return the nearest counts that are not negative and sum up to the records."""
    ordered = -np.sort(-point, axis=1)
    excess = (np.cumsum(ordered, axis=1) - sizes[:, None]) / np.arange(1, point.shape[1] + 1)
    kept = np.maximum((ordered > excess).sum(axis=1), 1)
    return np.maximum(point - np.take_along_axis(excess, kept[:, None] - 1, axis=1), 0.0)


def _combined(spread: Floats, belief: Floats, sizes: Ints) -> Floats:
    """Return variances together with those that the pseudo-records leave: none are known better than both say."""
    pseudo = belief.sum(axis=1, keepdims=True)
    if not pseudo.any():
        return spread
    shares = belief / np.where(pseudo > 0, pseudo, 1.0)
    before = sizes[:, None] * shares * (1 - shares) * (sizes[:, None] + pseudo) / (1 + pseudo)
    return np.asarray(np.where(pseudo > 0, spread * before / np.maximum(spread + before, np.finfo(float).tiny), spread))


def _step(drawing: _Drawing, shown: Floats, belief: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Take a step of EM: return the expected counts, the log-likelihood before it, and how far it can rise at most.

    The latter is by how much the slope towards the best single value exceeds the average; the likelihood is concave.
    """
    fit = drawing.shown(weights)
    there = shown > 0
    slopes = drawing.traced(np.divide(shown, fit, out=np.zeros_like(fit), where=there))
    total = weights.sum(axis=1)
    likelihood = (shown * np.log(fit, out=np.zeros_like(fit), where=there)).sum(axis=1)
    likelihood += (belief * np.log(weights)).sum(axis=1)
    size = (shown + belief).sum(axis=1)
    likelihood -= size * np.log(total)
    return weights * slopes, likelihood, (slopes + belief / weights).max(axis=1) * total - size


def _reach(start: Floats, once: Floats, twice: Floats, longest: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Extrapolate two steps (SQUAREM) to positive weights; say also where the length was limited."""
    move, bend = once - start, twice - once
    bend -= move
    bent = np.sqrt((bend**2).sum(axis=1))
    wanted = np.divide(np.sqrt((move**2).sum(axis=1)), bent, out=np.ones_like(bent), where=bent > 0)
    length = np.clip(wanted, 1.0, longest)[:, None]
    far = np.maximum(start + 2 * length * move + length**2 * bend, 0.1 * twice)  # nothing must end at 0 too early
    total = twice.sum(axis=1, keepdims=True)
    far *= total / far.sum(axis=1, keepdims=True)
    return np.maximum(far, SMALLEST * total), wanted >= longest


def _maximise(drawing: _Drawing, shown: Floats, belief: Floats, start: Floats) -> tuple[Floats, int]:
    """Return the counts of cells that make what they show most likely, and the most steps that any cell took.

    A cell ends when its log-likelihood is proven to be within a gap of the maximum. Up to some number of values, steps
    solve equations between all of them; EM does the rest.
    """
    counts = np.zeros_like(shown)
    going = np.flatnonzero(shown.sum(axis=1) > 0)
    sizes = (shown + belief).sum(axis=1, keepdims=True)
    weights = np.maximum(start + belief, 1e-3 * sizes / shown.shape[1])
    rounds = 0
    if drawing.values <= NARROW:
        step = max(1, AT_ONCE // drawing.values**2)
        for first in range(0, len(going), step):
            some = going[first : first + step]
            weights[some], taken = _go_inside(drawing, shown[some], belief[some], weights[some])
            rounds = max(rounds, taken)
        expected, _, left = _step(drawing, shown[going], belief[going], weights[going])
        counts[going] = expected
        going = going[~(left <= GAP)]
    if len(going):
        counts[going], taken = _climb(drawing, shown[going], belief[going], weights[going])
        rounds += taken
    return counts, rounds


def _go_inside(drawing: _Drawing, shown: Floats, belief: Floats, weights: Floats) -> tuple[Floats, int]:
    """Return the weights of cells by a primal-dual interior point method, and its steps.

    Each weight has a slack, 1 less the slope: their product is 0 for the maximum, the prior's pseudo-records if there
    are any, and is brought there together with the slope.
    """
    result, going = weights.copy(), np.arange(len(weights))
    there, values = shown > 0, drawing.values
    slack, taken = np.empty(0), 0
    while True:
        fit = drawing.shown(weights)
        ratio = np.divide(shown, fit, out=np.zeros_like(fit), where=there)
        slopes = drawing.traced(ratio)
        size = (shown + belief).sum(axis=1)
        left = (slopes + belief / weights).max(axis=1) * weights.sum(axis=1) - size
        if taken == 0:
            slack = np.maximum(1 - slopes, 0.1)
        taken += 1
        sound = np.isfinite(left)  # else the equations had no solution in so many digits, and EM goes on from before
        result[going[sound]] = weights[sound]
        keep = sound & (left > GAP)
        if taken > NEWTON or not keep.any():
            return result, taken
        going, weights, shown, belief, there = going[keep], weights[keep], shown[keep], belief[keep], there[keep]
        slopes, slack = slopes[keep], slack[keep]
        aim = 0.03 * np.abs(weights * slack - belief).mean(axis=1, keepdims=True) + belief
        curve = np.zeros((len(weights), values, values))
        bend = np.divide(ratio[keep], fit[keep], out=np.zeros_like(weights), where=there)
        curve[:, range(values), range(values)] = bend
        for _ in range(2):  # along the lines, and along the columns
            curve = drawing.traced(curve.reshape(-1, values)).reshape(curve.shape).swapaxes(1, 2)
        curve[:, range(values), range(values)] += slack / weights
        try:
            turn = np.linalg.solve(curve, (slopes - 1 + aim / weights)[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return result, taken
        give = (aim - slack * turn) / weights - slack
        stride = np.ones(len(weights))
        for number, change in ((weights, turn), (slack, give)):
            reach = np.divide(-0.99 * number, change, out=np.full_like(number, np.inf), where=change < 0)
            stride = np.minimum(stride, reach.min(axis=1))
        weights = weights + stride[:, None] * turn
        slack = slack + stride[:, None] * give


def _climb(drawing: _Drawing, shown: Floats, belief: Floats, weights: Floats) -> tuple[Floats, int]:
    """Return the expected counts of cells by EM, and its steps.

    An extrapolation is kept only where the likelihood does not fall, so that it never does.
    """
    counts, going = np.zeros_like(shown), np.arange(len(shown))
    longest, taken = np.ones(len(going)), 0
    while len(going):
        expected, known, left = _step(drawing, shown, belief, weights)
        taken += 1
        done = (left <= GAP) | (taken >= MOST_STEPS)
        if done.any():
            counts[going[done]] = expected[done]
            keep = ~done
            going, shown, belief, weights = going[keep], shown[keep], belief[keep], weights[keep]
            expected, known, longest = expected[keep], known[keep], longest[keep]
            if not len(going):
                break
        once = np.maximum(expected + belief, SMALLEST)
        twice = np.maximum(_step(drawing, shown, belief, once)[0] + belief, SMALLEST)
        far, limited = _reach(weights, once, twice, longest)
        beyond, reached, _ = _step(drawing, shown, belief, far)
        taken += 2
        better = reached >= known
        weights = np.where(better[:, None], np.maximum(beyond + belief, SMALLEST), twice)
        longest = np.where(better, np.where(limited, 4 * longest, longest), np.maximum(longest / 4, 1.0))
    return counts, taken


def _learn(drawing: _Drawing, observed: NDArray[Any], records: Ints) -> Floats:
    """Return pseudo-records of each cell and value: cells are like the whole, which in turn is like a uniform one.

    As far as a cell is a part of the whole itself, the belief about the whole takes the place of that about cells.
    """
    rows, values = int(records.sum()), drawing.values
    if rows == 0:
        return np.zeros((1, values))
    whole, size = observed.sum(axis=0, dtype=np.float64)[None], np.array([rows])
    uniform = np.full((1, values), 1 / values)
    pseudo = float(_strength(drawing, whole, size, uniform, 0)[0])
    start = _project(drawing.unbiased(whole), size)
    found, _ = _maximise(drawing, whole, pseudo * uniform, start)
    shares = (found + pseudo * uniform) / (rows + pseudo)
    part, strength = records / rows, _strength(drawing, observed, records, shares, rows)
    even = part * np.where(part < 1, np.minimum(pseudo, strength), pseudo)
    return np.asarray((strength * (1 - part))[:, None] * shares + even[:, None] * uniform)


def _strength(drawing: _Drawing, observed: NDArray[Any], records: Ints, prior: Floats, rows: int) -> Floats:
    """Return the pseudo-records of each cell; see :func:`sudare.estimate.sets.pseudo_records`."""
    apart = np.empty(len(records))
    step = max(1, AT_ONCE // drawing.values)
    for first in range(0, len(records), step):
        some = slice(first, first + step)
        points = drawing.unbiased(observed[some].astype(np.float64)) / np.maximum(records[some], 1)[:, None]
        apart[some] = ((points - prior) ** 2).sum(axis=1)
    return pseudo_records(records, apart, prior[0], drawing.variances(prior)[0], rows)
