"""P(alpha, gamma) against an intruder who uses all perturbed columns of a record, and not the limited column alone.

**Definition.** Let X be the true value of the limited column, Y the whole released record (all perturbed columns), and
W(s, y) the probability of X = s and Y = y together: the sum, over all true records r with the value s, of their share
times the product over the columns i of A_i[r_i, y_i]. With q(y) = sum of W(s, y), the intruder believes s with W(s, y)
/ q(y). On average over what people with the truth t show, this is

    B(t, s) = sum over y of W(t, y) W(s, y) / q(y) / pi(t)

as for one column (:mod:`sudare.methods.pram.matrix_bounds`). alpha = max B(s, s), gamma = min B(t, s).

**What is known of the table.** B depends on how columns go together in the table. The certificate cannot publish that
in full: it would be the table. It publishes combinations of the limited column with some others, ``together``, that are
frequent, with counts that are rounded down (:mod:`sudare.methods.pram.known_combinations`). All figures here are bounds
that hold for every table with these combinations: of the records that remain, the *rest*, only the values of the
limited column are known, and of all further columns, ``apart``, nothing. So p follows from what is published, and the
audit needs nothing else.

**alpha.** Phi(s) = sum over y of W(s, y)² / q(y) is convex in W, and its largest value over all tables is at an extreme
one. For columns of which nothing is known this is the table in which s has one combination of values and all other
values have another one that differs in every column: it tells s from the rest, and this is all that matters. Such a
column has three outcomes: the value of s, that of the others, and any other value, which says nothing. For a matrix
that is not uniform, the two outcomes of randomized response with the same least ratio reveal at least as much (P.
Kairouz, S. Oh, P. Viswanath, 2015). Three bounds of Phi follow, and the least of them counts:

- *nothing known*: the extreme table for all other columns;
- *split*: Phi of the combinations and Phi of the rest add up (Phi is subadditive), and the rest is extreme;
- *merged*: each matrix shows a value at least with the probability floor(y), whatever the truth. By this part, the rest
  is spread over y like noise, and counts with the combinations. What remains of the rest is taken for revealed.

All of them rise with every p: a smaller p is a larger one with noise added to it.

**gamma.** By the Cauchy-Schwarz inequality, a further column takes at most the factor BC² of B(t, s), where BC = sum
over y of sqrt(A[r, y] A[r', y]) is that of its two truths that are least alike. This is one bound. The other one uses
the combinations and the rest, both by their floors, in W; and what is missing in q can be anywhere, which takes at most
its mass times the largest W(t, y) W(s, y) / q(y)² (a tangent of 1/q). The larger one counts. With two values, 1 -
alpha(t) is a bound, too.

**One record.** The largest belief in any value for one single record that may be shown: with the rest, and the further
columns, as bad as they can be. It is reported, and not limited.

Cost: one pass over all combinations that the columns ``together`` can show, for each value of the limited column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.methods.pram.matrices import Matrix, uniform_matrix

Shares = NDArray[np.float64]

MOST_OUTCOMES = 81
"""Outcomes of all columns of which nothing is known, together: four columns exactly, more on a grid."""
FINEST_GRID = 65
MOST_PRODUCTS = 1 << 22
"""How many products of values, shown records and outcomes are computed at once, before the grid becomes coarser."""
MOST_VALUES = 64
"""Values of a limited column for which gamma is bounded by the combinations: every two of them are compared."""


class Beliefs(NamedTuple):
    """The most that is believed of a truth, the least of any value, and the most for one single record."""

    alpha: float
    gamma: float
    record: float


class Experiment(NamedTuple):
    """How likely each outcome is if a value is the true one, and if it is another one."""

    true: Shares
    other: Shares

    def times(self, more: Experiment) -> Experiment:
        """Return both together, drawn independently."""
        return Experiment(np.outer(self.true, more.true).ravel(), np.outer(self.other, more.other).ravel())

    def on_grid(self, points: int) -> Experiment:
        """Return one with at most so many outcomes that reveals a little more: each outcome is one of its neighbours.

        An outcome with the belief x = true / (true + other) becomes the two grid points around it, with the
        probabilities that keep the mean: whoever merges them again has the outcome back.
        """
        mass = self.true + self.other
        place = np.divide(self.true, mass, out=np.zeros_like(mass), where=mass > 0) * (points - 1)
        low = np.minimum(place.astype(np.int64), points - 2)
        above = place - low
        merged = np.bincount(low, mass * (1 - above), points) + np.bincount(low + 1, mass * above, points)
        grid = np.arange(points) / (points - 1)
        return Experiment(merged * grid, merged * (1 - grid))


NOTHING = Experiment(np.ones(1), np.ones(1))


@dataclass(frozen=True, eq=False)
class Channel:
    """How an attribute is drawn: uniform PRAM on ``m`` values with ``p``, or any matrix."""

    m: int
    p: float | None = None
    given: Matrix | None = None

    @cached_property
    def matrix(self) -> Matrix:
        """The matrix by its rows."""
        return uniform_matrix(self.m, self.p) if self.p is not None else np.asarray(self.given)

    @cached_property
    def floor(self) -> Shares:
        """The least probability with which each value is shown."""
        return np.full(self.m, (1 - self.p) / self.m) if self.p is not None else self.matrix.min(axis=0)

    @cached_property
    def ceiling(self) -> Shares:
        """The largest probability with which each value is shown."""
        return self.floor + self.p if self.p is not None else self.matrix.max(axis=0)

    def along(self, shares: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """Return the shares of what is shown along an axis, from those of the truths."""
        if self.p is not None:
            return np.asarray(self.p * shares + (1 - self.p) / self.m * shares.sum(axis=axis, keepdims=True))
        return np.asarray(np.moveaxis(np.tensordot(shares, self.matrix, axes=(axis, 0)), -1, axis))

    @property
    def ratio(self) -> float:
        """The least ratio of the probabilities of two truths to show the same."""
        shown = self.ceiling > 0
        return float((self.floor[shown] / self.ceiling[shown]).min())

    @property
    def experiment(self) -> Experiment:
        """The outcomes by which two truths can be told apart as well as any two can."""
        if self.p is None or self.m == 2:
            least = self.ratio
            pair = np.array([1.0, least]) / (1 + least)
            return Experiment(pair, pair[::-1])
        low = (1 - self.p) / self.m
        outcomes = np.array([low + self.p, low, (self.m - 2) * low])
        return Experiment(outcomes, outcomes[[1, 0, 2]])

    @property
    def overlap(self) -> float:
        """BC² of the two truths that are least alike."""
        if self.p is not None:
            low = (1 - self.p) / self.m
            return float((2 * np.sqrt((low + self.p) * low) + (self.m - 2) * low) ** 2)
        roots = np.sqrt(self.matrix)
        return float((roots @ roots.T).min() ** 2)


def told_apart(channels: Sequence[Channel], most: int = MOST_OUTCOMES) -> Experiment:
    """Return what some columns reveal together, if two combinations differ in all of them; at most so many outcomes."""
    points = FINEST_GRID
    while points > max(most, 9):
        points = points // 2 + 1
    both = NOTHING
    for channel in channels:
        both = both.times(channel.experiment)
        if len(both.true) > most:
            both = both.on_grid(points)
    return both


def beliefs(
    prior: Shares,
    shares: NDArray[np.float64],
    parts: NDArray[np.int64],
    own: Channel,
    together: Sequence[Channel],
    apart: Sequence[Channel],
) -> Beliefs:
    """Return bounds of what is believed of a column, whatever else is true of the table.

    ``prior`` is the distribution of the attribute that the column belongs to, and ``parts`` the value of the column in
    each of its values. ``shares`` are those of known combinations: the first axis is the attribute, and the others are
    the columns ``together``.
    """
    flat = shares.reshape(len(prior), -1)
    known = flat.sum(axis=1)
    rest = np.maximum(prior - known, 0.0)
    total = float(known.sum() + rest.sum())
    rest, prior = rest / total, (known + rest) / total
    _, part = np.unique(parts, return_inverse=True)
    groups = [np.flatnonzero(part == value) for value in range(int(part.max()) + 1)]
    groups = [group for group in groups if prior[group].sum() > 0]
    pi = np.array([prior[group].sum() for group in groups])
    if len(groups) < 2:
        return Beliefs(1.0, 1.0, 1.0)
    pushed = shares / total
    floor, ceiling = np.ones(1), np.ones(1)
    for axis, channel in enumerate(together, 1):
        pushed = channel.along(pushed, axis)
        floor, ceiling = np.outer(floor, channel.floor).ravel(), np.outer(ceiling, channel.ceiling).ravel()
    pushed = pushed.reshape(len(prior), -1)
    noise = float(floor.sum())
    left = np.array([rest[group].sum() for group in groups])
    alone = _shown(prior, own, groups)
    cells = len(groups) * own.m * len(floor)
    few = max(9, min(MOST_OUTCOMES, MOST_PRODUCTS // max(cells, 1)))
    everything, further = told_apart([*together, *apart], few), told_apart(apart, few)
    alpha = _phi(alone, everything)
    merged = _shown(pushed + rest[:, None] * floor, own, groups)
    if known.sum() > 0:
        split = _phi(_shown(pushed, own, groups), further) + _phi(_shown(rest, own, groups), everything)
        alpha = np.minimum(alpha, np.minimum(split, _phi(merged, further) + (1 - noise) * left))
    alpha = np.minimum(alpha / pi, 1.0)
    gamma = _products(alone) * _overlap([*together, *apart])
    if known.sum() > 0 and len(groups) <= MOST_VALUES:
        missing = (1 - noise) * (rest @ own.matrix)
        gamma = np.maximum(gamma, (_products(merged) - _most_missed(merged, missing)) * _overlap(apart))
    gamma = gamma / pi[:, None]
    if len(groups) == 2:
        gamma = np.maximum(gamma, 1 - alpha[:, None])
    most = merged + _shown(rest[:, None] * (ceiling - floor), own, groups)
    record = _largest_belief(most, merged, [channel.ratio for channel in apart])
    return Beliefs(float(alpha.max()), float(gamma.min()), record)


def one_value(prior: Shares, parts: NDArray[np.int64], own: Channel) -> float:
    """Return the most that is believed of a column if one single value is shown, and no other column is used."""
    _, part = np.unique(parts, return_inverse=True)
    groups = [np.flatnonzero(part == value) for value in range(int(part.max()) + 1)]
    shown = _shown(prior, own, groups)
    total = shown.sum(axis=0)
    return float(np.divide(shown, total, out=np.zeros_like(shown), where=total > 0).max())


def _shown(shares: NDArray[np.float64], own: Channel, groups: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return W: for each value of the column, the shares of all that is shown, by the attribute, then by others."""
    given = shares.reshape(len(shares), -1)
    if all(len(group) == 1 for group in groups):
        places = np.concatenate(groups)
        return np.asarray((own.matrix[places][:, :, None] * given[places][:, None, :]).reshape(len(groups), own.m, -1))
    return np.stack([own.matrix[group].T @ given[group] for group in groups])


def _phi(shown: NDArray[np.float64], more: Experiment) -> Shares:
    """Return Phi of every value: W² / q, with further outcomes by which the value and all others are told apart."""
    total = shown.sum(axis=0)
    found = np.empty(len(shown))
    for value, mine in enumerate(shown):
        true = mine.reshape(-1, 1) * more.true
        both = true + np.maximum(total - mine, 0.0).reshape(-1, 1) * more.other
        found[value] = np.sum(true * np.divide(true, both, out=np.zeros_like(both), where=both > 0))
    return found


def _products(shown: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of W(t) W(s) / q for every two values."""
    total = shown.sum(axis=0)
    scaled = np.divide(shown, np.sqrt(total), out=np.zeros_like(shown), where=total > 0).reshape(len(shown), -1)
    return np.asarray(scaled @ scaled.T)


def _most_missed(shown: NDArray[np.float64], missing: Shares) -> NDArray[np.float64]:
    """Return how much mass that may be anywhere, by what the attribute shows, takes of the sums at most."""
    total = shown.sum(axis=0)
    believed = np.divide(shown, total, out=np.zeros_like(shown), where=total > 0)
    found = np.empty((len(shown), len(shown)))
    for t, mine in enumerate(believed):
        for s in range(t, len(shown)):
            found[t, s] = found[s, t] = missing @ (mine * believed[s]).max(axis=1)
    return found


def _overlap(channels: Sequence[Channel]) -> float:
    return float(np.prod([channel.overlap for channel in channels]))


def _largest_belief(most: NDArray[np.float64], least: NDArray[np.float64], ratios: Sequence[float]) -> float:
    """Return the largest belief for one record: the value as likely as it can be, all others as unlikely."""
    others = np.maximum(least.sum(axis=0) - least, 0.0) * float(np.prod(ratios))
    both = most + others
    return float(np.divide(most, both, out=np.zeros_like(most), where=both > 0).max())
