"""Counts from perturbed values: every record shows a value drawn by the row of a known matrix for its true value.

With R[t, o] the probability that the truth t is shown as o, counts X are shown as X R on average. The estimators:

- ``em``: between the next two, where the squared error is estimated to be the least, by what is shown alone
  (:mod:`sudare.estimates.shrinkage`): mostly the counts that are most likely, or close to them. They are not negative
  and sum up to the records. Where the unbiased estimate has no negative counts, it is that.
- ``ml``: the counts that make what is shown most likely, which is where EM ends.
- ``projection``: the counts nearest to the unbiased ones that are not negative and sum up to the records. They are
  never farther from the truth than the unbiased ones, in squared distance.
- ``em-shrunk``: together with what all cells say, as in :mod:`sudare.estimates.set_counts`. The distribution of all
  records stands in every cell for some records more, and a uniform one among all records in the same way; how many
  follows from how much the cells differ beyond chance. Its squared error is the smallest, most of all in cells with few
  records; it is biased towards the whole.
- ``inversion``: the unbiased estimate, Y R^-1 where Y is what is shown. Its counts are real numbers that sum up to the
  records, and may be negative: so they can be added up over cells and values without harm.

On all 37 tables of two categorical columns of Adult, with 0.1 to 0.9 of the values kept, ``em`` had at most the squared
error of ``inversion``, in the mean (geometric) 0.53 of it: 0.08 where 0.1 was kept, 0.95 where 0.9 was. ``projection``
never had more either, but 0.66 in the mean, and 0.23 where 0.1 was kept. ``ml`` had 0.54, and up to 1.96 times that of
``inversion`` in one table, of two columns with the same meaning, where nearly all counts are 0: what it gives to many
counts near 0 is missing in the large ones.

The standard error is that about the true counts of the records in the cell: only the drawing is random. What a record
with the truth t adds to the unbiased estimate of s is a number with the mean 1 or 0 and a variance that follows from R,
so the variance of the estimate is a sum over the truths, for which the estimated counts (for ``inversion``, the nearest
ones that are not negative) are put in. It is used for ``em`` and ``ml`` as well, where it is too large for counts near
0; for ``em-shrunk`` it is combined with the variance that the prior leaves.

The intervals rest on the unbiased estimate alone, whatever the estimator, with the variance and the skewness that each
count would bring. They lie between 0 and the records, and are widened where they would not hold the estimate. In cells
of fewer than some 50 records, where estimates are few different numbers, they hold the truth more or less often than
asked for: 95 % may be anything from 85 to 99 %.

Reference: Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure control. Journal of
Official Statistics 14(4), 1998. Agrawal, Aggarwal: On the design and quantification of privacy preserving data mining
algorithms. PODS 2001 (EM).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import ParameterError, UnsupportedError, did_you_mean
from sudare.core.progress import Listener, silent
from sudare.estimates.factors import Drawing, drawing_of
from sudare.estimates.likelihood import maximise
from sudare.estimates.set_counts import LARGEST, Estimates, Floats, Ints, pseudo_records
from sudare.estimates.shrinkage import averaged
from sudare.kernels.estimates import count_bounds

MatrixEstimator = Literal["em", "ml", "em-shrunk", "projection", "inversion"]
MATRIX_ESTIMATORS: tuple[str, ...] = get_args(MatrixEstimator)

AT_ONCE = 4_000_000  # numbers of cells that are worked on together


def from_matrix(
    observed: NDArray[Any],
    matrix: NDArray[Any] | Sequence[NDArray[Any]],
    *,
    estimator: str = "em",
    level: float = 0.95,
    progress: Listener | None = None,
) -> Estimates:
    """Estimate how many records of each cell have each value.

    ``observed`` has a row for each cell (a combination of values of unperturbed columns), with the number of its
    records that show each value. A row of ``matrix`` has the probabilities of the values that a true value is shown as.
    It may be a list of matrices: the values are then all combinations of theirs, those of the last matrix changing
    fastest. ``level`` is the confidence level of the limits.
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
        if estimator == "em-shrunk":
            near, taken = maximise(drawing, shown, belief, near)
            rounds = max(rounds, taken)
        elif estimator in ("em", "ml"):
            rounds = max(rounds, _make_likely(drawing, shown, point, near, average=estimator == "em"))
        counts[some] = point if estimator == "inversion" else near
        se[some] = np.sqrt(_combined(drawing.variances(near), belief, sizes))
        count_bounds.bound_estimates(point, sizes, own, drawing.others(near), float(level), low[some], high[some])
        np.minimum(low[some], counts[some], out=low[some])
        np.maximum(high[some], counts[some], out=high[some])
        listener("estimate", min(first + step, cells), cells)
    return Estimates(records, counts, se, low, high, rounds)


def _checked(
    observed: NDArray[Any], matrix: NDArray[Any] | Sequence[NDArray[Any]], estimator: str, level: float
) -> Drawing:
    if estimator not in MATRIX_ESTIMATORS:
        raise ParameterError(
            f"the estimator is '{estimator}'; it can be {', '.join(MATRIX_ESTIMATORS)}.",
            hint=did_you_mean(estimator, MATRIX_ESTIMATORS),
        )
    if not 0 < level < 1:
        raise ParameterError(f"the level is {level}; it must be between 0 and 1.", hint="0.95 is usual.")
    drawing = drawing_of(matrix)
    values = drawing.values
    if observed.ndim != 2 or observed.shape[1] != values:
        raise ParameterError(
            f"there are counts of shape {observed.shape}; they need a column for each of {values} values."
        )
    if not np.issubdtype(observed.dtype, np.integer) or (observed.size and observed.min() < 0):
        raise ParameterError("the counts must be whole numbers, none below 0.")
    if observed.size > LARGEST:
        raise UnsupportedError(
            f"{len(observed):,} cells of {values:,} values are more than {LARGEST:,} counts, which would not fit into "
            "memory.",
            hint="ask for fewer cells at a time.",
        )
    return drawing


def _make_likely(drawing: Drawing, shown: Floats, point: Floats, near: Floats, *, average: bool) -> int:
    """Replace projections by the most likely counts, or by what is best between both; return the most steps.

    An unbiased estimate without negative counts is the most likely one.
    """
    some = np.flatnonzero(point.min(axis=1, initial=0.0) < 0)
    if not len(some):
        return 0
    most, taken = maximise(drawing, shown[some], np.zeros_like(shown[some]), near[some])
    near[some] = averaged(drawing, point[some], near[some], most) if average else most
    return taken


def _project(point: Floats, sizes: Ints) -> Floats:
    """Return the nearest counts that are not negative and sum up to the records: they themselves, if they are so."""
    ordered = -np.sort(-point, axis=1)
    excess = (np.cumsum(ordered, axis=1) - sizes[:, None]) / np.arange(1, point.shape[1] + 1)
    kept = np.maximum((ordered > excess).sum(axis=1), 1)
    near = np.maximum(point - np.take_along_axis(excess, kept[:, None] - 1, axis=1), 0.0)
    return np.where((point >= 0).all(axis=1, keepdims=True), point, near)


def _combined(spread: Floats, belief: Floats, sizes: Ints) -> Floats:
    """Return variances together with those that the pseudo-records leave: none are known better than both say."""
    pseudo = belief.sum(axis=1, keepdims=True)
    if not pseudo.any():
        return spread
    shares = belief / np.where(pseudo > 0, pseudo, 1.0)
    before = sizes[:, None] * shares * (1 - shares) * (sizes[:, None] + pseudo) / (1 + pseudo)
    return np.asarray(np.where(pseudo > 0, spread * before / np.maximum(spread + before, np.finfo(float).tiny), spread))


def _learn(drawing: Drawing, observed: NDArray[Any], records: Ints) -> Floats:
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
    found, _ = maximise(drawing, whole, pseudo * uniform, start)
    shares = (found + pseudo * uniform) / (rows + pseudo)
    part, strength = records / rows, _strength(drawing, observed, records, shares, rows)
    even = part * np.where(part < 1, np.minimum(pseudo, strength), pseudo)
    return np.asarray((strength * (1 - part))[:, None] * shares + even[:, None] * uniform)


def _strength(drawing: Drawing, observed: NDArray[Any], records: Ints, prior: Floats, rows: int) -> Floats:
    """Return the pseudo-records of each cell; see :func:`sudare.estimates.set_counts.pseudo_records`."""
    apart = np.empty(len(records))
    step = max(1, AT_ONCE // drawing.values)
    for first in range(0, len(records), step):
        some = slice(first, first + step)
        points = drawing.unbiased(observed[some].astype(np.float64)) / np.maximum(records[some], 1)[:, None]
        apart[some] = ((points - prior) ** 2).sum(axis=1)
    return pseudo_records(records, apart, prior[0], drawing.variances(prior)[0], rows)
