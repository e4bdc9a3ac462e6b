"""Priors: the distribution of an attribute's values in the table, as probabilities above 0 that add up to 1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.core.errors import ParameterError, Problem

TOLERANCE = 1e-9
"""How far from 1 probabilities may add up to: what rounding leaves."""


def as_prior(prior: ArrayLike, where: str = "prior") -> NDArray[np.float64]:
    """Return a prior as an array; raise one error with all that is wrong with it."""
    problems = list(unfit_prior(prior, where))
    if problems:
        raise ParameterError(problems)
    return np.asarray(prior, np.float64)


def unfit_prior(prior: ArrayLike, where: str = "prior") -> Iterator[Problem]:
    """Return all problems of a prior. Messages name values by their places, not by their content."""
    try:
        shares = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        yield Problem(where, "is not a list of numbers.")
        return
    if shares.ndim != 1 or not shares.size:
        yield Problem(where, f"has the shape {shares.shape}. Allowed: a list with one probability for each value.")
        return
    if not np.isfinite(shares).all():
        yield Problem(where, f"{int((~np.isfinite(shares)).sum()):,} of the probabilities are not finite.")
        return
    if (shares < 0).any():
        yield Problem(where, f"{int((shares < 0).sum()):,} of the probabilities are negative.")
    if (shares == 0).any():
        yield Problem(
            where,
            f"{int((shares == 0).sum()):,} of the values have the probability 0, so nobody has them.",
            "remove them from the domain.",
        )
    total = float(shares.sum())
    if abs(total - 1) > TOLERANCE:
        yield Problem(where, f"adds up to {total:.10g}. Allowed: probabilities that add up to 1.")
