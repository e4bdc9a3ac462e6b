"""The registry of proofs: for each model of the policy how it is proven, on one machine and on many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sudare.audits.audit_report import Guarantee
from sudare.audits.closeness import t_closeness
from sudare.audits.equivalence_classes import Classes
from sudare.audits.model_definitions import (
    alpha_k_anonymity,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    km_anonymity,
    l_diversity,
)
from sudare.audits.pram_proof import ALPHA_GAMMA, PK, only_of_drawn_values
from sudare.audits.uniqueness import of_the_release


class Proof(NamedTuple):
    """How a model is proven.

    ``prove`` takes the classes of a release and a requirement. Where classes are on many machines, each proves its own,
    and ``worst`` returns the worst of their figures. ``needs_whole`` says that a class is compared with the whole
    release, or that a requirement names values of it.
    """

    prove: Callable[[Classes, Any], Guarantee]
    worst: Callable[[Sequence[Any]], Any]
    needs_whole: bool = False


def _worst_alpha_and_k(achieved: Sequence[Any]) -> Any:
    return {"alpha": max(each["alpha"] for each in achieved), "k": min(each["k"] for each in achieved)}


def _largest_if_any(achieved: Sequence[Any]) -> Any:
    """Return the largest figure; None is worse than any, for it stands for infinity."""
    return None if None in achieved else max(achieved)


PROOFS = {
    "k-anonymity": Proof(k_anonymity, min),
    "l-diversity": Proof(l_diversity, min),
    "t-closeness": Proof(t_closeness, max, needs_whole=True),
    "alpha-k-anonymity": Proof(alpha_k_anonymity, _worst_alpha_and_k, needs_whole=True),
    "beta-likeness": Proof(beta_likeness, max, needs_whole=True),
    "delta-disclosure": Proof(delta_disclosure, _largest_if_any, needs_whole=True),
    "km-anonymity": Proof(km_anonymity, min),
    PK: Proof(only_of_drawn_values, min),
    ALPHA_GAMMA: Proof(only_of_drawn_values, min),
    "uniqueness": Proof(of_the_release, max),
}
"""Every model of the policy."""
