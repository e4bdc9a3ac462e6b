"""beta-likeness, basic and enhanced.

Definition: with p the share of a sensitive value in the whole release and q its share in a group, every value
with q > p has a relative gain (q - p) / p of at most ``beta`` (``basic``), or of at most min(beta, -ln p)
(``enhanced``: frequent values may gain less). Only gains count: that a value is rarer in a group tells an intruder
less. A missing value is a value of its own.

Reference: J. Cao, P. Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.models import parameters
from sudare.models.group_counts import Groups, Histograms
from sudare.models.segment_sums import TOLERANCE, maxima, shares


@dataclass(frozen=True)
class BetaLikeness:
    """No sensitive value gains more than ``beta``, relatively, in any group.

    Monotone: the share of a value in a union lies between its shares in the parts, and so does its gain; the
    limits depend on the whole release, which merging does not change.
    Reference: Cao and Karras 2012.
    """

    name: ClassVar[str] = "beta-likeness"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "group"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = True
    remedy: ClassVar[str] = "require a larger beta."

    beta: float
    column: str
    variant: Literal["basic", "enhanced"] = "enhanced"

    def __post_init__(self) -> None:
        parameters.require(
            parameters.number(f"{self.name}.beta", self.beta, above=0),
            parameters.column(f"{self.name}.column", self.column),
            parameters.word(f"{self.name}.variant", self.variant, ("basic", "enhanced")),
        )

    @property
    def least_rows(self) -> int:
        """A single record may be alike enough, where the whole release is nearly of one value."""
        return 1

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return the largest relative gain of a value in each group (for either variant)."""
        histograms = groups.histograms[self.column]
        gain, _ = _gains(histograms)
        # some value always gains or stays; rounding alone may say otherwise
        largest: NDArray[np.float64] = np.maximum(maxima(gain, histograms.start), 0.0)
        return largest

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return the groups in which no value gains too much."""
        histograms = groups.histograms[self.column]
        gain, overall = _gains(histograms)
        limit = np.full(len(gain), float(self.beta))
        if self.variant == "enhanced":
            # no need to ask for q > p: without a gain the left side is not above 0, and no limit is below it
            limit = np.minimum(limit, -np.log(np.maximum(overall, np.finfo(np.float64).tiny)))
        broken = gain > limit + TOLERANCE
        return ~maxima(broken, histograms.start)

    def best_possible(self, whole: Groups) -> str:
        """Return that the whole table cannot break this model."""
        return f"the whole table gains nothing on itself in column '{self.column}'"


def _gains(histograms: Histograms) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, per entry, the relative gain and the share in the whole release."""
    within, overall = shares(histograms)
    # a value that the whole release is said not to hold gains without limit, and fails
    gain = np.divide(within - overall, overall, out=np.full(len(within), np.inf), where=overall > 0)
    return gain, overall
