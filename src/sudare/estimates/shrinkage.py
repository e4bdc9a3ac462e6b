"""The mean of two estimates of counts with the smallest estimated squared error.

The counts that make a release most likely are better than the unbiased estimate nearly everywhere, and worse in tables
with many values that nobody has: each of them is given what it seems to have by chance, and nothing where it seems to
have less than nothing, and all of that is missing where the records are. The projection of the unbiased estimate has
no such trouble: it takes the same from all counts that are positive. But where little is kept its error is a multiple.

Stein's unbiased estimate of the risk tells them apart. An estimate g of counts with the unbiased estimate y, whose
covariance is S, has the expected squared error E|g - y|² + 2 tr(S J) - tr S, with J the derivative of g by y. Whatever
bias g has is in the first term, as y has none. For the mean P + t (M - P) of the projection P and the most likely
counts M this is a square function of t, so that the best t is known. What is needed of both:

- P keeps the values K and takes the same from all of them: tr(S J) is the sum of their variances, less the |K|-th
  part of the variance of their sum.
- M is, on the values K that it gives something to, linear with the weights of the likelihood: tr(S J) is the trace of
  the inverse of the information about the counts of K, less the records. (Truths are fixed, and only the drawing is
  random: without the last term it would be the variance in a population that the records are a sample of.)

The slope of the estimated risk in t has a standard error, that of 2 y (M - P). The most likely counts are left only as
far as the slope is beyond it: the rule of one standard error. It costs little where they are worse, and spares most of
what is lost to chance where they are better.

Reference: Stein: Estimation of the mean of a multivariate normal distribution. Annals of Statistics 9(6), 1981.
Breiman, Friedman, Olshen, Stone: Classification and regression trees. 1984 (one standard error). Hutchinson: A
stochastic estimator of the trace of the influence matrix. Communications in Statistics 19(2), 1990.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.estimates import likelihood
from sudare.estimates.factors import Drawing, Floats

SOME = 1e-3  # records: what is given less is taken to be given nothing
PROBES = 1  # random vectors that a trace is estimated with: there are so many values that one is known to some percent
MOST_STEPS = 100  # of solving the equations for one of them
SOLVED = 1e-2  # part of the length of the right side that may be left of them


def averaged(drawing: Drawing, point: Floats, near: Floats, most: Floats) -> Floats:
    """Return the mean of the projection ``near`` and the most likely counts, cell by cell.

    ``point`` is the unbiased estimate, which has counts below 0 in each of the cells.
    """
    apart = most - near
    length = (apart**2).sum(axis=1)
    slope = ((near - point) * apart).sum(axis=1) - _freedom_near(drawing, near)
    slope -= np.sqrt(drawing.variance_of(apart, near))
    undecided = np.flatnonzero(slope < 0)  # what is still to be added is never negative, and takes the longest
    slope[undecided] += _freedom_likely(drawing, most[undecided])
    share = np.clip(np.divide(-slope, length, out=np.ones_like(length), where=length > SOME**2), 0.0, 1.0)
    return np.asarray(near + share[:, None] * apart)


def _freedom_near(drawing: Drawing, near: Floats) -> Floats:
    """Return the trace of covariance and derivative of the projection."""
    kept = (near > 0).astype(np.float64)
    whole = drawing.variance_of(kept, near) / kept.sum(axis=1)
    return np.asarray((drawing.variances(near) * kept).sum(axis=1) - whole)


def _freedom_likely(drawing: Drawing, most: Floats) -> Floats:
    """Return the trace of covariance and derivative of the most likely counts."""
    kept = most > SOME
    fit = drawing.shown(most)
    bend = np.divide(1.0, fit, out=np.zeros_like(fit), where=fit > 0)
    if drawing.values > likelihood.NARROW:
        return np.asarray(_estimated_trace(drawing, most, kept, bend) - most.sum(axis=1))
    trace = np.empty(len(most))
    step = max(1, likelihood.AT_ONCE // drawing.values**2)
    for first in range(0, len(most), step):
        some = slice(first, first + step)
        own = kept[some]
        curve = drawing.curvature(bend[some]) * (own[:, :, None] & own[:, None, :])
        curve[:, range(drawing.values), range(drawing.values)] += ~own  # so that there is an inverse
        back = np.linalg.inv(curve)
        trace[some] = (np.diagonal(back, axis1=1, axis2=2) * own).sum(axis=1)
    return np.asarray(trace - most.sum(axis=1))


def _estimated_trace(drawing: Drawing, most: Floats, kept: NDArray[np.bool_], bend: Floats) -> Floats:
    """Return the trace of the inverse information by random signs, with which equations are solved step by step.

    With many values a few signs are as good as all. They are the same each time, so that the answer is. The equations
    are scaled by the counts: that brings all eigenvalues below 1 (conjugate gradients).
    """
    rng = np.random.default_rng(0)
    scale = np.sqrt(np.where(kept, most, 0.0))
    total = np.zeros(len(most))
    for _ in range(PROBES):
        left = scale * rng.choice([-1.0, 1.0], drawing.values)
        ahead, size = left.copy(), (left**2).sum(axis=1)
        enough = SOLVED**2 * size
        for _ in range(MOST_STEPS):
            met = scale * drawing.traced(bend * drawing.shown(scale * ahead))
            bent = (ahead * met).sum(axis=1)
            stride = np.divide(size, bent, out=np.zeros_like(size), where=bent > 0)
            total += stride * size  # what the step adds to the quadratic form that is sought
            left = left - stride[:, None] * met
            before, size = size, (left**2).sum(axis=1)
            if (size <= enough).all():
                break
            ahead = left + np.divide(size, before, out=np.zeros_like(size), where=before > 0)[:, None] * ahead
    return total / PROBES
