"""Matrices of post-randomization: ``matrix[t, v]`` is the probability with which the truth t shows as v.

Reference: J. M. Gouweleeuw, P. Kooiman, L. C. R. J. Willenborg, P.-P. de Wolf, "Post randomisation for statistical
disclosure control: theory and implementation", Journal of Official Statistics 14(4), 1998 (PRAM, and its invariant
form in two stages).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.core.errors import ParameterError, Problem
from sudare.methods.pram.priors import TOLERANCE, as_prior
from sudare.models import parameters

Matrix = NDArray[np.float64]

MOST_CONDITION = 1e8
"""A larger condition number makes a matrix nearly singular: half of the digits of every estimate are lost by it."""
MOST_CELLS = 1 << 24
"""Cells of a matrix at most, as for drawing."""
SHOWN = 5
"""How many places a message names at most."""


def uniform_matrix(m: int, p: float) -> Matrix:
    """Return the matrix that keeps a value with probability ``p`` and else draws any of all ``m``, its own included."""
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


def invariant_matrix(prior: ArrayLike, p: float, *, two_stages: bool = False) -> Matrix:
    """Return a matrix that leaves the distribution of the values as it is: ``prior @ matrix == prior``.

    By default a value is kept with probability ``p``, and else one is drawn by the prior: p I + (1 - p) 1 prior'. This
    is invariant at once, has ``p`` as the probability that nothing is drawn, as uniform PRAM has, can be inverted for
    any ``p`` above 0, and its beliefs are (1 - p²) prior + p² I. Rare values are rarely drawn, though, so that it
    promises a smaller k than uniform PRAM of the same ``p``.

    ``two_stages`` is the construction of Gouweleeuw et al.: uniform PRAM P with this ``p``, and then a draw from what
    Bayes' rule believes of the value that is shown, Q[v, s] = prior[s] P[s, v] / (prior @ P)[v]. P Q is the matrix of
    beliefs of P (:func:`~sudare.methods.pram.matrix_bounds.beliefs`): what an adversary would believe of P is what is
    drawn.
    """
    shares = as_prior(prior)
    uniform = uniform_matrix(len(shares), p)
    if two_stages:
        return np.asarray((uniform / (shares @ uniform)) @ uniform.T * shares)
    matrix = np.tile((1 - p) * shares, (len(shares), 1))
    matrix[np.diag_indices(len(shares))] += p
    return matrix


def with_zeros(matrix: ArrayLike, allowed: ArrayLike) -> Matrix:
    """Return the matrix with structural zeros: t never shows as v where ``allowed[t, v]`` is false.

    The probability of what is not allowed goes to the diagonal: the value stays. All other transitions keep theirs, so
    that no value is drawn more often than before. If the matrix was uniform PRAM and what is allowed is symmetric, the
    eigenvalues stay between p and 1 (it is the identity less (1 - p)/m times the Laplacian of a graph): the inverse is
    no worse than without zeros. Scaling up the other transitions of the row has neither property.

    A zero is certain knowledge. What is still guaranteed has to be computed from the result, and is exact: beliefs
    rise, and Pk-anonymity is lost as soon as a value is shown by some truths and never by others.

    A value may always stay. If it was to be perturbed and nothing else is allowed to it, it would be shown as it is:
    that is an error.
    """
    given = check_matrix(matrix, invertible=False)
    mask = np.asarray(allowed)
    if mask.dtype != np.bool_ or mask.shape != given.shape:
        raise ParameterError(
            Problem(
                "allowed",
                f"got {mask.dtype} of the shape {mask.shape}. Allowed: truth values, of the shape {given.shape}.",
            )
        )
    result = np.where(mask, given, 0.0)
    moved = np.where(mask, 0.0, given).sum(axis=1)
    result[np.diag_indices(len(given))] += moved
    others = ~np.eye(len(given), dtype=bool)
    stuck = (np.where(others, given, 0.0) > 0).any(axis=1) & ~(np.where(others, result, 0.0) > 0).any(axis=1)
    problems = []
    if not mask.diagonal().all():
        problems.append(Problem("allowed", f"rows {_places(~mask.diagonal())} forbid that their value stays."))
    if stuck.any():
        problems.append(
            Problem(
                "allowed",
                f"rows {_places(stuck)} allow nothing but their own value, which would be shown unperturbed.",
                "allow one more transition, or do not perturb these values on purpose.",
            )
        )
    if problems:
        raise ParameterError(problems)
    return result


def joint_matrix(matrices: Sequence[ArrayLike]) -> Matrix:
    """Return the matrix of several attributes as one, perturbed independently: the Kronecker product.

    Joint values are numbered with the last attribute running fastest, as by ``numpy.ravel_multi_index``.
    """
    given = [check_matrix(matrix, invertible=False) for matrix in matrices]
    if not given:
        raise ParameterError(Problem("matrices", "there are none. Allowed: a list of at least one matrix."))
    cells = 1
    for matrix in given:
        cells *= matrix.size  # Python's integers: this does not overflow
    if cells > MOST_CELLS:
        raise ParameterError(
            Problem(
                "matrices",
                f"the joint matrix would have {cells:,} cells. Allowed: up to {MOST_CELLS:,}.",
                "join fewer attributes, or ones with fewer values.",
            )
        )
    result: Matrix = np.ones((1, 1))
    for matrix in given:
        result = np.asarray(np.kron(result, matrix), np.float64)
    return result


def _unfit(matrix: ArrayLike, invertible: bool) -> Iterator[Problem]:
    """Tell everything that is wrong with a matrix; what needs sound numbers is only looked at if they are."""
    try:
        given = np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        yield Problem("matrix", "is no table of numbers.")
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
                "keep values with a higher probability; else no counts can be estimated.",
            )


def _places(flags: ArrayLike) -> str:
    """Return the numbers of some rows, from 0; only the first few of many."""
    found = np.flatnonzero(np.asarray(flags))
    shown = ", ".join(str(place) for place in found[:SHOWN])
    return shown if len(found) <= SHOWN else f"{shown}, ... ({len(found):,} in all)"
