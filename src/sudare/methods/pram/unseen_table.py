"""Calibration before there is a table: nothing is known of how columns go together, so the worst is expected.

Against the column alone, the calibration of :mod:`sudare.methods.pram.calibration` is exact. Against all columns the
bounds of :mod:`sudare.methods.pram.whole_record` without any combinations hold for every table with the given priors.
With the data, mostly more may be kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from sudare.methods.pram.calibration import POINTS, Calibration, Curve, calibrate
from sudare.methods.pram.calibration_request import Limit
from sudare.methods.pram.column_retention import Condition, calibrated_by
from sudare.methods.pram.matrix_bounds import pk_figure, uniform_alpha, uniform_gamma, uniform_ratio
from sudare.methods.pram.priors import as_prior
from sudare.methods.pram.whole_record import Channel, beliefs, one_value

Figures = dict[str, float]


def calibrate_unseen(
    n: int,
    sizes: Sequence[int],
    *,
    k: int | None,
    limits: Sequence[Limit],
    against_all: Sequence[bool],
    weights: Sequence[float] | None = None,
) -> Calibration:
    """Return how much may be kept; ``against_all`` says which limits are against an intruder who uses all columns."""
    made = calibrate(n, sizes, k=k, limits=limits, weights=weights)
    if not any(against_all) or len(sizes) < 2:
        return made
    conditions = list(_conditions(n, sizes, k, limits, against_all))
    found = calibrated_by(conditions, len(sizes), weights)
    return replace(found, curves=tuple(_curves(made.curves, sizes, limits, against_all)))


def figures(limit: Limit, sizes: Sequence[int], retention: Sequence[float], *, against_all: bool) -> Figures:
    """Return alpha and gamma of a limit, and the largest beliefs for one value, and for one record."""
    prior, p = as_prior(limit.prior), retention[limit.attribute]
    found = {"alpha": uniform_alpha(prior, p), "gamma": uniform_gamma(prior, p)}
    places = np.arange(len(prior))
    channels = [Channel(size, float(each)) for size, each in zip(sizes, retention, strict=True)]
    own = channels[limit.attribute]
    found["value"] = one_value(prior, places, own)
    if against_all and len(sizes) > 1:
        others = [channel for channel in channels if channel is not own]
        worst = beliefs(prior, np.zeros(len(prior)), places, own, (), others)
        found["alpha"], found["gamma"] = max(found["alpha"], worst.alpha), min(found["gamma"], worst.gamma)
        found["record"] = worst.record
    return found


def _conditions(
    n: int, sizes: Sequence[int], k: int | None, limits: Sequence[Limit], against_all: Sequence[bool]
) -> Iterator[Condition]:
    if k is not None:

        def pk_kept(retention: Sequence[float]) -> bool:
            return pk_figure(n, [uniform_ratio(size, p) for size, p in zip(sizes, retention, strict=True)]) >= k

        yield Condition("pk", None, pk_kept)
    for limit, every in zip(limits, against_all, strict=True):

        @lru_cache(maxsize=512)
        def of(retention: tuple[float, ...], at: Limit = limit, every: bool = every) -> Figures:
            return figures(at, sizes, retention, against_all=every)

        def alpha_kept(retention: Sequence[float], at: Limit = limit, of: Any = of) -> bool:
            return at.alpha is None or bool(of(tuple(retention))["alpha"] <= at.alpha)

        def gamma_kept(retention: Sequence[float], at: Limit = limit, of: Any = of) -> bool:
            return at.gamma is None or bool(of(tuple(retention))["gamma"] >= at.gamma)

        yield Condition("alpha", limit.attribute, alpha_kept)
        yield Condition("gamma", limit.attribute, gamma_kept)


def _curves(
    given: Sequence[Curve], sizes: Sequence[int], limits: Sequence[Limit], against_all: Sequence[bool]
) -> Iterator[Curve]:
    """Return the curves of one p for all columns, those of alpha and gamma by all columns."""
    everywhere = {limit.attribute: (limit, every) for limit, every in zip(limits, against_all, strict=True)}
    for curve in given:
        if curve.attribute is None or not everywhere[curve.attribute][1]:
            yield curve
            continue
        limit, _ = everywhere[curve.attribute]
        grid = np.linspace(0.0, 1.0, POINTS)
        lines = [figures(limit, sizes, [float(p)] * len(sizes), against_all=True)[curve.condition] for p in grid]
        yield replace(curve, p=grid, figure=np.array(lines))
