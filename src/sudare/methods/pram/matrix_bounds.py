"""The guarantees of post-randomization, computed from its matrices.

**Pk-anonymity** (D. Ikarashi, K. Chida, K. Takahashi, 2009: probabilistic k-anonymity) bounds re-identification: even
somebody who knows the whole true table connects a released record with its person with a probability of at most 1/k.
It needs records in random order, each about another person. Why it holds: let r be the least ratio R[s, o] / R[t, o] of
the probabilities with which two truths show the same. Take any way of connecting all records with all persons in
which person i has record j, and let i exchange records with one of the n - 1 others. Two factors of the likelihood
change, by r at least each. No two exchanges lead to the same way, and in none of them i has j any more. So all ways
without are at least (n - 1) r² times as likely as all ways with it, and Pr(i has j) <= 1 / (1 + (n - 1) r²). Attributes
are perturbed independently, so that r is the product of theirs. For uniform PRAM, r = (1 - p) / (1 + (m - 1) p). It is
0, and nothing is promised, where a value is shown by one truth and never by another.

**P(alpha, gamma)-privacy** bounds attribute disclosure. B(t, s) is what an adversary who knows the prior and the matrix
believes of the value s, on average over what is shown, of somebody with the truth t: B(t, s) = sum over o of
R[t, o] post(s | o). The figures are alpha = max B(s, s), the most that is believed of a true value, and gamma =
min B(t, s), the least that is believed of any.

For uniform PRAM with prior pi, let w(o) = p pi(o) / ((1 - p)/m + p pi(o)), the probability that a shown o was kept, and
W the mean of w by the prior. Then, for t other than s,

    B(t, s) = pi(s) (1 - p (w(t) + w(s) - W))     B(s, s) = pi(s) + p (w(s) (1 - 2 pi(s)) + pi(s) W)

B(s, s) is larger for values with a larger pi(s); B(t, s) also, and smaller with a larger pi(t). So alpha is at the most
frequent value, gamma at the rarest where the truth is the most frequent, and both take one pass over the prior.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.methods.pram.matrices import check_matrix
from sudare.methods.pram.priors import as_prior
from sudare.models import parameters


def uniform_ratio(m: int, p: float) -> float:
    """Return the least ratio of uniform PRAM on ``m`` values, (1 - p) / (1 + (m - 1) p)."""
    parameters.require(parameters.whole("m", m, 1), parameters.number("p", p, least=0, most=1))
    return 1.0 if m == 1 else (1 - p) / (1 + (m - 1) * p)


def least_ratio(matrix: ArrayLike) -> float:
    """Return the least ratio of two probabilities with which truths show the same value; 0 if only one of them is."""
    given = check_matrix(matrix, invertible=False)
    most = given.max(axis=0)
    shown = most > 0  # what no truth shows, nobody sees
    return float((given.min(axis=0)[shown] / most[shown]).min())


def pk_figure(n: int, ratios: Iterable[float]) -> float:
    """Return the largest k of Pk-anonymity for ``n`` records, given the least ratio of every perturbed attribute.

    An unchanged attribute has the ratio 0: with it, only k = 1 is promised.
    """
    return 1 + (n - 1) * math.prod(ratios) ** 2


class Profile(NamedTuple):
    """The effect of uniform PRAM with a probability p on a prior: the parts of all figures.

    ``common`` and ``rare`` are w of the most frequent and of the rarest value, ``mean`` is W.
    """

    common: float
    rare: float
    mean: float


def profile(shares: NDArray[np.float64], p: float) -> Profile:
    """Return how likely shown values were kept. The prior is not checked here; callers do that."""
    if p == 0:
        return Profile(0.0, 0.0, 0.0)
    kept = p * shares / ((1 - p) / len(shares) + p * shares)
    return Profile(float(kept.max()), float(kept.min()), float(shares @ kept))


def uniform_alpha(prior: ArrayLike, p: float) -> float:
    """Return the alpha figure of uniform PRAM, which rises with ``p``.

    B(s, s) / pi(s) - 1 is the chi-square divergence between what s shows and what all show. A smaller p is a larger one
    and uniform PRAM after it, and no divergence grows by drawing once more from what is shown.
    """
    shares = _checked(prior, p)
    there = profile(shares, p)
    most = float(shares.max())
    return most + p * (there.common * (1 - 2 * most) + most * there.mean)


def uniform_gamma(prior: ArrayLike, p: float) -> float:
    """Return the gamma figure of uniform PRAM, which falls with ``p`` as a rule, but not always.

    With a very rare value beside several frequent ones it falls, rises again, and falls to 0 in the end.
    """
    shares = _checked(prior, p)
    if len(shares) == 1:
        return 1.0  # the one value is all that can be believed
    there = profile(shares, p)
    return float(shares.min()) * (1 - p * (there.common + there.rare - there.mean))


def _checked(prior: ArrayLike, p: float) -> NDArray[np.float64]:
    parameters.require(parameters.number("p", p, least=0, most=1))
    return as_prior(prior)
