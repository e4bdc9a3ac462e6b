"""delta-disclosure privacy.

Definition: with p the share of a sensitive value in the whole release and q its share in a group,
|ln(q / p)| < ``delta`` for every value of the whole release. A value that a group does not hold makes its figure
infinite: every group has to hold every value. A missing value is a value of its own.

Reference: J. Brickell, V. Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
publishing", KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.models import parameters
from sudare.models.group_counts import Groups
from sudare.models.segment_sums import TOLERANCE, maxima, shares


@dataclass(frozen=True)
class DeltaDisclosure:
    """Every sensitive value's share in a group is within a factor exp(delta) of its share overall.

    Monotone: the share of a value in a union lies between its shares in the parts, and the allowed shares of
    each value are an interval that merging does not change.
    Reference: Brickell and Shmatikov 2008.
    """

    name: ClassVar[str] = "delta-disclosure"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "group"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = True
    remedy: ClassVar[str] = "require a larger delta."

    delta: float
    column: str

    def __post_init__(self) -> None:
        parameters.require(
            parameters.number(f"{self.name}.delta", self.delta, above=0),
            parameters.column(f"{self.name}.column", self.column),
        )

    @property
    def least_rows(self) -> int:
        """Every value has to occur, but how many there are is known only with the release."""
        return 1

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return the largest |ln(q / p)| of each group, infinite where a value is absent."""
        histograms = groups.histograms[self.column]
        within, overall = shares(histograms)
        ratio = np.divide(within, overall, out=np.full(len(within), np.inf), where=overall > 0)
        furthest = maxima(np.abs(np.log(ratio)), histograms.start)
        complete = np.diff(histograms.start) >= np.count_nonzero(histograms.total)
        return np.where(complete, furthest, np.inf)

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups stay within delta."""
        return self.measure(groups) < self.delta - TOLERANCE

    def best_possible(self, whole: Groups) -> str:
        """Return that the whole table is as near to itself as can be."""
        return f"the log-ratio of the whole table to itself is 0 in column '{self.column}'"
