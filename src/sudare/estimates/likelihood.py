"""Maximum likelihood counts for values drawn by known matrices.

Up to some number of values, an interior point method solves equations between all of them; EM does the rest, with
steps that are extrapolated. Both end by a proof: the likelihood is concave, so that the slope towards the best single
value tells how far it can rise at most.

Reference: Varadhan, Roland: Simple and globally convergent methods for accelerating the convergence of any EM
algorithm. Scandinavian Journal of Statistics 35(2), 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.estimates.factors import Drawing, Floats
from sudare.estimates.set_counts import GAP

NARROW = 2_000  # values up to which equations between all of them are solved
WIDE = 20_000  # values from which on EM ends when it hardly moves, proven or not
NEWTON = 100  # steps of the method that does so, which takes 10 to 30
MOST_STEPS = 3_000  # of EM
STALLED = 1e-7  # by which the log-likelihood rises for each of very many values while it is worth going on
AT_ONCE = 4_000_000  # numbers of cells that are worked on together
SMALLEST = 1e-12  # of a share in the course of EM: one that is 0 could never rise again


def _step(drawing: Drawing, shown: Floats, belief: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
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


def maximise(drawing: Drawing, shown: Floats, belief: Floats, start: Floats) -> tuple[Floats, int]:
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


def _go_inside(drawing: Drawing, shown: Floats, belief: Floats, weights: Floats) -> tuple[Floats, int]:
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
        bend = np.divide(ratio[keep], fit[keep], out=np.zeros_like(weights), where=there)
        curve = drawing.curvature(bend)
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


def _climb(drawing: Drawing, shown: Floats, belief: Floats, weights: Floats) -> tuple[Floats, int]:
    """Return the expected counts of cells by EM, and its steps.

    An extrapolation is kept only where the likelihood does not fall, so that it never does. With very many values, the
    gap to the maximum could be proven only long after the counts have stopped to move: there it is enough that they
    have.
    """
    counts, going = np.zeros_like(shown), np.arange(len(shown))
    longest, taken = np.ones(len(going)), 0
    least = STALLED * drawing.values if drawing.values > WIDE else 0.0
    before = np.full(len(going), -np.inf)
    while len(going):
        expected, known, left = _step(drawing, shown, belief, weights)
        taken += 1
        done = (left <= GAP) | (known - before < least) | (taken >= MOST_STEPS)
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
        before = known
        better = reached >= known
        weights = np.where(better[:, None], np.maximum(beyond + belief, SMALLEST), twice)
        longest = np.where(better, np.where(limited, 4 * longest, longest), np.maximum(longest / 4, 1.0))
    return counts, taken
