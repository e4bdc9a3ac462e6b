"""P(alpha, gamma)-privacy of a column whose values are drawn at random.

Definition: let B(t, s) be what somebody who knows the distribution of the column (the prior), and how values are drawn,
believes of the value s, on average over what is shown, of a person with the true value t. Then B(s, s) <= ``alpha`` for
every value, and B(t, s) >= ``gamma`` for every two: the value of anybody can only be inferred with a probability inside
[gamma, alpha]. It is a property of the mechanism and of the prior; what a mechanism reaches is computed in
:mod:`sudare.methods.pram.matrix_bounds`. A missing value is a value of its own.

``against`` says what is shown to this somebody: the ``column`` alone, as in the paper, or all perturbed columns of a
record (``all-columns``). The latter also knows how columns go together in the table
(:mod:`sudare.methods.pram.whole_record`), and is never weaker: both must be kept.

Reference: the criterion extends Pk-anonymity (D. Ikarashi, K. Chida, K. Takahashi, 2009) to attribute disclosure; see
``docs/concepts.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sudare.core.errors import Problem
from sudare.models import parameters
from sudare.models.group_counts import Groups
from sudare.models.segment_sums import TOLERANCE
from sudare.models.ungrouped import Ungrouped

INTRUDERS = ("all-columns", "column")
"""What an intruder looks at: all perturbed columns of a record, or the limited one."""


@dataclass(frozen=True)
class AlphaGamma(Ungrouped):
    """For every person, the true value is inferred with a probability of at most ``alpha``, and any value with at least
    ``gamma``.

    ``prior`` are the shares of all values in the column, by their text; without it they are those of the data. This is
    a property of the mechanism and not of a group: :meth:`holds` lets every group pass.

    Monotone: groups have no part in it. A second draw from released values reveals no more. Reference: a criterion of
    attribute disclosure beside that of Ikarashi, Chida and Takahashi 2009.
    """

    name: ClassVar[str] = "alpha-gamma"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "mechanism"
    remedy: ClassVar[str] = "require a larger alpha, or a smaller gamma."

    column: str
    alpha: float
    gamma: float
    prior: Mapping[str, float] | None = field(default=None, hash=False)
    against: str = "all-columns"

    def __post_init__(self) -> None:
        numbers = (
            parameters.number(f"{self.name}.alpha", self.alpha, above=0, most=1),
            parameters.number(f"{self.name}.gamma", self.gamma, least=0, most=1),
        )
        parameters.require(
            parameters.column(f"{self.name}.column", self.column), *numbers, self._unfit_prior(), self._unfit_intruder()
        )
        if self.gamma >= self.alpha:
            allowed = f"a number from 0, below alpha = {self.alpha:g}"
            parameters.require(parameters.refusal(f"{self.name}.gamma", self.gamma, allowed))

    def _unfit_intruder(self) -> Problem | None:
        allowed = "all-columns, or column"
        known = self.against in INTRUDERS
        return None if known else parameters.refusal(f"{self.name}.against", self.against, allowed)

    def _unfit_prior(self) -> Problem | None:
        where, allowed = f"{self.name}.prior", "the shares of two values or more, above 0, that add up to 1"
        if self.prior is None:
            return None
        if not isinstance(self.prior, Mapping) or not all(isinstance(name, str) for name in self.prior):
            return parameters.refusal(where, self.prior, allowed)
        shares = list(self.prior.values())
        if len(shares) < 2 or any(parameters.number(where, share, above=0, most=1) for share in shares):
            return parameters.refusal(where, self.prior, allowed)
        return None if abs(math.fsum(shares) - 1) <= TOLERANCE else parameters.refusal(where, self.prior, allowed)

    def best_possible(self, whole: Groups) -> str:
        """Return what is known if the release shows nothing."""
        return (
            f"even if the release shows nothing of '{self.column}', its values are known to be as frequent as they are"
        )
