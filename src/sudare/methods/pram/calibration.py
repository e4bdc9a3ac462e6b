"""Calibration of uniform PRAM: the largest retention probabilities that keep Pk-anonymity and P(alpha, gamma).

One p for all attributes is the smallest of three bounds, each found by halving. The figures of Pk and alpha are
monotone in p. That of gamma need not be (see :func:`~sudare.methods.pram.matrix_bounds.uniform_gamma`): there the
bound is the p up to which the condition holds throughout, so that less retention is always safe, too.

With weights each attribute has a p of its own, and their weighted geometric mean is as large as it can be. Why that
mean:

- The errors of estimated counts are about proportional to 1/p, and it weighs how many times they grow.
- It gives up no attribute. The arithmetic mean would often set p to 0 where there are many values.
- log p is concave in u = log((1 + (m - 1) p) / (1 - p)), which is what p takes of the product of Pk. So there is one
  optimum, where every attribute below its own limits gains alike for what it takes:
  w (1 + (m - 1) p) (1 - p) / (m p) = price. This is a quadratic equation in p, and the price is found by halving.

A result errs to the safe side: it keeps all conditions as the figures of :mod:`sudare.methods.pram.matrix_bounds` are
computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.methods.pram.calibration_request import Limit, checked_request
from sudare.methods.pram.matrix_bounds import pk_figure, profile, uniform_alpha, uniform_gamma, uniform_ratio
from sudare.methods.pram.priors import as_prior

POINTS = 101
"""Points of a curve."""
HALVINGS = 64
"""Halvings of the search: more than a double between 0 and 1 has use for."""
FINEST = 2.0**-46
"""The shortest step in the search of the bound by gamma."""
MOST_STEPS = 10_000
"""Steps of that search at most; it may end at any of them, with less retention than was possible."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A figure against the retention probability, for drawing, and the limit that it has to keep.

    ``figure`` may not fall below the limit for ``pk`` and ``gamma``, nor rise above it for ``alpha``. The curve of
    ``pk`` is that of one p for all attributes, and has no attribute.
    """

    condition: str
    attribute: int | None
    limit: float
    p: NDArray[np.float64]
    figure: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """How much may be kept.

    ``p`` is the largest common retention probability. ``retention`` has one for each attribute: by the weights,
    otherwise ``p`` for all. ``bounds`` has the largest p by each condition on its own, None for those that are not
    required; ``binding`` is the one that p comes from (None if everything may be kept), and ``attribute`` is whose
    limit that is. ``held_by`` is what keeps the retention of each attribute from being larger.

    Where p is 0, nothing but noise would be released.
    """

    p: float
    retention: tuple[float, ...]
    bounds: dict[str, float | None]
    binding: str | None
    attribute: int | None
    held_by: tuple[str | None, ...]
    curves: tuple[Curve, ...]


class _Cap(NamedTuple):
    """A bound of p, the condition that it comes from, and the attribute that it is about (None: all)."""

    p: float
    condition: str
    attribute: int | None


def calibrate(
    n: int,
    sizes: Sequence[int],
    *,
    k: int | None = None,
    limits: Sequence[Limit | tuple[Any, ...]] = (),
    weights: Sequence[float] | None = None,
) -> Calibration:
    """Return how much uniform PRAM may keep of ``n`` records whose perturbed attributes have these numbers of values.

    ``k`` asks for Pk-anonymity, which all of the attributes have a part in; each of ``limits`` for P(alpha, gamma) of
    one attribute (its place, prior, alpha, gamma). ``weights`` asks for one retention probability per attribute.
    """
    asked = checked_request(n, sizes, k, limits, weights)
    widths = [int(size) for size in sizes]
    caps = [] if k is None else [_Cap(_pk_bound(n, widths, k), "pk", None)]
    for limit in asked:
        shares = as_prior(limit.prior)
        if limit.alpha is not None:
            caps.append(_Cap(_alpha_bound(shares, limit.alpha), "alpha", limit.attribute))
        if limit.gamma is not None:
            caps.append(_Cap(_gamma_bound(shares, limit.gamma), "gamma", limit.attribute))
    first = min(caps, key=lambda cap: cap.p)
    whole = first.p == 1
    retention = [first.p] * len(widths)
    held_by: list[str | None] = [None if whole else first.condition] * len(widths)
    if weights is not None:
        retention, held_by = _weighted(n, widths, k, [cap for cap in caps if cap.attribute is not None], weights)
    bounds: dict[str, float | None] = {
        condition: min((cap.p for cap in caps if cap.condition == condition), default=None)
        for condition in ("pk", "alpha", "gamma")
    }
    return Calibration(
        p=first.p,
        retention=tuple(retention),
        bounds=bounds,
        binding=None if whole else first.condition,
        attribute=None if whole else first.attribute,
        held_by=tuple(held_by),
        curves=tuple(_curves(n, widths, k, asked)),
    )


def _largest(holds: Callable[[float], bool]) -> float:
    """Return the largest p at which a condition holds that holds at 0 and, once lost, for no larger p."""
    if holds(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _pk_bound(n: int, sizes: Sequence[int], k: int) -> float:
    """Return the largest p for all attributes with which k is kept."""
    if k == n:
        return 0.0  # here and below: at the very edge rounding would leave a little p
    return _largest(lambda p: pk_figure(n, [uniform_ratio(size, p) for size in sizes]) >= k)


def _alpha_bound(shares: NDArray[np.float64], alpha: float) -> float:
    """Return the largest p with which no truth is believed more than alpha."""
    if alpha <= shares.max():
        return 0.0
    return _largest(lambda p: uniform_alpha(shares, p) <= alpha)


def _gamma_bound(shares: NDArray[np.float64], gamma: float) -> float:
    """Return the largest p up to which everything is believed at least gamma: no step passes over a gap."""
    least = float(shares.min())
    if gamma <= 0 or gamma >= least:
        return 1.0 if gamma <= 0 else 0.0
    low, width = 0.0, 0.5
    for _ in range(MOST_STEPS):
        if low == 1 or width < FINEST:
            break
        high = min(1.0, low + width)
        if least * (1 - _most_taken(shares, low, high)) >= gamma:
            low, width = high, 2 * width
        else:
            width /= 2
    while uniform_gamma(shares, low) < gamma:  # by a last digit
        low = max(0.0, low - FINEST)
    return low


def _most_taken(shares: NDArray[np.float64], low: float, high: float) -> float:
    """Return what the gamma figure's p (w(t) + w(s) - W) cannot exceed between two p.

    It is a difference of p (w(t) + w(s)) and p W, which both rise with p. So it is at most the former at the end less
    the latter at the beginning; and, which is sharper for short steps, what it is at the beginning and the length of
    the step times its steepest slope. The slope of p w is w + p w', where w rises, and w' rises or falls throughout.
    """
    before, after = profile(shares, low), profile(shares, high)
    ends = high * (after.common + after.rare) - low * before.mean
    scale = len(shares) * shares
    slopes = scale / (1 - low + low * scale) ** 2, scale / (1 - high + high * scale) ** 2
    common, rare = int(shares.argmax()), int(shares.argmin())
    rising = after.common + after.rare + high * sum(max(slope[at] for slope in slopes) for at in (common, rare))
    falling = before.mean + low * float(shares @ np.minimum(*slopes))
    start = low * (before.common + before.rare - before.mean)
    return min(ends, start + (high - low) * (float(rising) - falling))


def _weighted(
    n: int, sizes: Sequence[int], k: int | None, caps: Sequence[_Cap], weights: Sequence[float]
) -> tuple[list[float], list[str | None]]:
    """Return the retention probabilities with the largest weighted geometric mean, and what holds each of them."""
    most: list[float] = [1.0] * len(sizes)
    held_by: list[str | None] = [None] * len(sizes)
    for cap in caps:
        if cap.attribute is not None and cap.p < most[cap.attribute]:
            most[cap.attribute], held_by[cap.attribute] = cap.p, cap.condition
    if k is None:
        return most, held_by
    if k == n:
        return [0.0] * len(sizes), ["pk"] * len(sizes)
    shares = [max(weight / max(weights), 1e-300) for weight in weights]  # however unequal, all above 0

    def keeps(chosen: Sequence[float]) -> bool:
        ratios = [uniform_ratio(size, p) for size, p in zip(sizes, chosen, strict=True)]
        return pk_figure(n, ratios) >= k

    if keeps(most):
        return most, held_by

    def at(log_price: float) -> list[float]:
        price = math.exp(log_price)
        free = [_where_gain_is(price / weight, size) for weight, size in zip(shares, sizes, strict=True)]
        return [min(limit, p) for limit, p in zip(most, free, strict=True)]

    low, high = -1.0, 1.0  # logarithms of a price that is too low, and of one that is high enough
    while keeps(at(low)):
        low *= 2
    while not keeps(at(high)):
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(at(middle)) else (middle, high)
    chosen = at(high)
    return chosen, [held if p == limit else "pk" for held, p, limit in zip(held_by, chosen, most, strict=True)]


def _where_gain_is(price: float, m: int) -> float:
    """Return the p where (1 + (m - 1) p) (1 - p) / (m p) is the price: the positive root, without cancellation."""
    b = (m - 2) - price * m
    root = math.hypot(b, 2 * math.sqrt(m - 1))
    return (b + root) / (2 * (m - 1)) if b > 0 else 2 / (root - b)


def _curves(n: int, sizes: Sequence[int], k: int | None, limits: Sequence[Limit]) -> Iterator[Curve]:
    """Return each figure that was limited at evenly spaced p."""
    grid = np.linspace(0.0, 1.0, POINTS)

    def curve(condition: str, attribute: int | None, limit: float, figure: Callable[[float], float]) -> Curve:
        return Curve(condition, attribute, float(limit), grid, np.array([figure(float(p)) for p in grid]))

    if k is not None:
        yield curve("pk", None, k, lambda p: pk_figure(n, [uniform_ratio(size, p) for size in sizes]))
    for limit in limits:
        shares = as_prior(limit.prior)
        if limit.alpha is not None:
            yield curve("alpha", limit.attribute, limit.alpha, partial(uniform_alpha, shares))
        if limit.gamma is not None:
            yield curve("gamma", limit.attribute, limit.gamma, partial(uniform_gamma, shares))
