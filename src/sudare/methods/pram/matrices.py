"""Matrices of post-randomization: ``matrix[t, v]`` is the probability with which the truth t shows as v.

Reference: J. M. Gouweleeuw, P. Kooiman, L. C. R. J. Willenborg, P.-P. de Wolf, "Post randomisation for statistical
disclosure control: theory and implementation", Journal of Official Statistics 14(4), 1998 (PRAM, and its invariant
form in two stages).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.core.errors import ParameterError, Problem
from sudare.methods.pram.priors import TOLERANCE, as_prior
from sudare.models import parameters

Matrix = NDArray[np.float64]

MOST_CONDITION = 1e8
"""A larger condition number makes a matrix nearly singular: half of the digits of every estimate are lost by it."""
SHOWN = 5
"""How many places a message names at most."""


def uniform_matrix(m: int, p: float) -> Matrix:
    """Return the matrix that keeps a value with probability ``p`` and otherwise draws any of all ``m`` values."""
    parameters.require(parameters.whole("m", m, 1), parameters.number("p", p, least=0, most=1))
    matrix = np.full((m, m), (1 - p) / m)
    matrix[np.diag_indices(m)] += p
    return matrix


def check_matrix(matrix: ArrayLike, *, invertible: bool = True) -> Matrix:
    """Return a matrix as an array; raise one error with all that is wrong with it.

    ``invertible`` asks that counts can be estimated by its inverse. The condition number is that of the maximum norm.
    Lines add up to 1, so it is the factor by which inverting enlarges the total deviation of counts at most.
    """
    problems = list(_unfit(matrix, invertible))
    if problems:
        raise ParameterError(problems)
    return np.asarray(matrix, np.float64)


def invariant_matrix(prior: ArrayLike, p: float) -> Matrix:
    """Return a matrix that leaves the distribution of the values as it is: ``prior @ matrix == prior``.

    A value is kept with probability ``p``, and else one is drawn by the prior: p I + (1 - p) 1 prior'. This is
    invariant at once, has ``p`` as the probability that nothing is drawn, as uniform PRAM has, can be inverted for any
    ``p`` above 0, and its beliefs are (1 - p²) prior + p² I. Rare values are rarely drawn, though, so that it promises
    a smaller k than uniform PRAM of the same ``p``.
    """
    parameters.require(parameters.number("p", p, least=0, most=1))
    shares = as_prior(prior)
    matrix = np.tile((1 - p) * shares, (len(shares), 1))
    matrix[np.diag_indices(len(shares))] += p
    return matrix


def _unfit(matrix: ArrayLike, invertible: bool) -> Iterator[Problem]:
    """Return all problems of a matrix; checks that need valid numbers run only if they are valid."""
    try:
        given = np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        yield Problem("matrix", "is not a table of numbers.")
        return
    sound = True
    square = given.ndim == 2 and given.shape[0] == given.shape[1] > 0
    if not square:
        sound = False
        yield Problem("matrix", f"has the shape {given.shape}. Allowed: as many columns as rows, at least one.")
    if given.ndim != 2:
        return
    finite = np.isfinite(given)
    if not finite.all():
        sound = False
        yield Problem("matrix", f"rows {_places(~finite.all(axis=1))} have cells that are not finite.")
    below = np.where(finite, given, 0.0) < 0
    if below.any():
        sound = False
        yield Problem("matrix", f"rows {_places(below.any(axis=1))} have negative cells.")
    totals = np.where(finite, given, 0.0).sum(axis=1)
    off = finite.all(axis=1) & (np.abs(totals - 1) > TOLERANCE)
    if off.any():
        sound = False
        worst = float(totals[off][np.argmax(np.abs(totals[off] - 1))])
        yield Problem("matrix", f"rows {_places(off)} do not add up to 1; the worst adds up to {worst:.10g}.")
    if sound and invertible:
        condition = float(np.linalg.cond(given, np.inf))
        if not condition <= MOST_CONDITION:
            exactly = not condition < 1 / np.finfo(np.float64).eps
            yield Problem(
                "matrix",
                f"is {'' if exactly else 'nearly '}singular: its condition number is {condition:.3g}. "
                f"Allowed: up to {MOST_CONDITION:g}.",
                "keep values with a higher probability; otherwise no counts can be estimated.",
            )


def _places(flags: ArrayLike) -> str:
    """Return the numbers of some rows, from 0; only the first few of many."""
    found = np.flatnonzero(np.asarray(flags))
    shown = ", ".join(str(place) for place in found[:SHOWN])
    return shown if len(found) <= SHOWN else f"{shown}, ... ({len(found):,} in all)"
