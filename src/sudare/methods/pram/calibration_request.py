"""The request for a calibration, with all its problems reported at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sudare.core.errors import Problem
from sudare.methods.pram.priors import unfit_prior
from sudare.models import TOLERANCE, parameters


class Limit(NamedTuple):
    """P(alpha, gamma) for one sensitive attribute: its place, its prior, and the limits; None if there is none."""

    attribute: int
    prior: ArrayLike
    alpha: float | None = None
    gamma: float | None = None


def checked_request(
    n: int, sizes: Sequence[int], k: int | None, limits: Sequence[Limit | tuple[Any, ...]], weights: object
) -> list[Limit]:
    """Return the limits by name; raise one error with everything that is wrong with the request."""
    problems = [parameters.whole("n", n, 1)]
    if not len(sizes):
        problems.append(Problem("sizes", "no attribute is perturbed. Name at least one."))
    problems += [_unfit_size(f"sizes[{place}]", size) for place, size in enumerate(sizes)]
    if k is None and not any(_limits_something(limit) for limit in limits):
        problems.append(Problem("", "no requirement is given. Give k, limits, or both."))
    if k is not None:
        problems.append(parameters.whole("k", k, 2))
        if problems[-1] is None and problems[0] is None and k > n:
            problems.append(Problem("k", f"got {k:,}, which {n:,} records cannot keep. Allowed: up to {n:,}."))
    asked = []
    for place, given in enumerate(limits):
        where = f"limits[{place}]"
        if not (isinstance(given, tuple | list) and 3 <= len(given) <= 4):
            problems.append(Problem(where, "is not an attribute, a prior, alpha and gamma."))
            continue
        limit = Limit(*given)
        asked.append(limit)
        problems += _unfit_limit(where, limit, sizes)
    problems += _unfit_weights(weights, len(sizes))
    parameters.require(*problems)
    return asked


def _limits_something(limit: object) -> bool:
    # a limit of a wrong form is reported elsewhere
    return not isinstance(limit, tuple | list) or any(bound is not None for bound in limit[2:])


def _unfit_size(where: str, size: object) -> Problem | None:
    if size == 1 and parameters.whole(where, size, 1) is None:
        return Problem(
            where, "an attribute with one value cannot be perturbed.", "remove it: it contains no information."
        )
    return parameters.whole(where, size, 2)


def _unfit_limit(where: str, limit: Limit, sizes: Sequence[int]) -> Iterator[Problem]:
    """Return all problems of a limit; whether it can be kept is only tested if it is valid."""
    numbers = [
        None if limit.alpha is None else parameters.number(f"{where}.alpha", limit.alpha, above=0, most=1),
        None if limit.gamma is None else parameters.number(f"{where}.gamma", limit.gamma, least=0, most=1),
    ]
    problems = [problem for problem in numbers if problem is not None]
    wrong = list(unfit_prior(limit.prior, f"{where}.prior"))
    if parameters.whole(where, limit.attribute, 0) is not None or limit.attribute >= len(sizes):
        problems.append(
            parameters.refusal(f"{where}.attribute", limit.attribute, f"a place in sizes, from 0 to {len(sizes) - 1}")
        )
    elif not wrong and len(np.asarray(limit.prior)) != sizes[limit.attribute]:
        count, size = len(np.asarray(limit.prior)), sizes[limit.attribute]
        problems.append(Problem(f"{where}.prior", f"has {count:,} values, and the attribute {size}."))
    yield from problems + wrong
    if not problems and not wrong:
        yield from unkept(where, limit)


def unkept(where: str, limit: Limit) -> Iterator[Problem]:
    """Return the problem of a limit that cannot be kept even if no value is kept, with the nearest possible one.

    The suggestion is rounded outward, and leaves a little room: with alpha or gamma exactly at the prior, nothing could
    be kept. Limits at the prior itself are allowed, and compared with the tolerance of all limits.
    """
    shares = np.asarray(limit.prior, np.float64)
    most, least = float(shares.max()), float(shares.min())
    alpha, gamma = limit.alpha, limit.gamma
    low = alpha is not None and alpha < most - TOLERANCE
    high = gamma is not None and gamma > least + TOLERANCE
    if not low and not high:
        return
    if low:
        alpha = min(1.0, (math.floor(round(most * 1e4, 6)) + 1) / 1e4)
    if high:
        gamma = max(0.0, (math.ceil(round(least * 1e4, 6)) - 1) / 1e4)
    got = f"alpha = {_shown(limit.alpha)}, gamma = {_shown(limit.gamma)}"
    yield Problem(
        where,
        f"{got} cannot be kept: of somebody of whom nothing is known, the most frequent value is believed {most:.10g}, "
        f"and the rarest {least:.10g}. Allowed: alpha from the former, gamma up to the latter.",
        f"the nearest that can be kept are alpha = {_shown(alpha)}, gamma = {_shown(gamma)}.",
    )


def _shown(figure: float | None) -> str:
    return "none" if figure is None else f"{figure:.10g}"


def _unfit_weights(weights: object, count: int) -> Iterator[Problem | None]:
    if weights is None:
        return
    if not isinstance(weights, Sequence | np.ndarray) or isinstance(weights, str) or len(weights) != count:
        yield Problem("weights", f"are not one number for each of the {count:,} attributes.")
        return
    for place, weight in enumerate(weights):
        yield parameters.number(f"weights[{place}]", weight, above=0)
