"""k-anonymity.

Definition: every group holds at least ``k`` records; with ``count="subjects"``, records of at least ``k`` different
data subjects. Someone who knows all quasi-identifiers of a person then finds no fewer than ``k`` candidates.

Reference: L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal on Uncertainty,
Fuzziness and Knowledge-based Systems 10(5), 2002; P. Samarati, "Protecting respondents' identities in
microdata release", IEEE TKDE 13(6), 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import ParameterError, Problem
from sudare.models import parameters
from sudare.models.group_counts import Groups


@dataclass(frozen=True)
class KAnonymity:
    """At least ``k`` records, or data subjects, per group.

    ``columns`` narrows the promise to some of the quasi-identifiers. It does not change the test of a group:
    the groups by fewer columns are unions of the groups by all of them, and a union has at least as many records.

    Monotone: a merged group has at least the records, and at least the subjects, of each of its parts.
    Reference: Sweeney 2002; Samarati 2001.
    """

    name: ClassVar[str] = "k-anonymity"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "group"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = False
    remedy: ClassVar[str] = "require a smaller k."

    k: int
    count: Literal["rows", "subjects"] = "rows"
    columns: Sequence[str] | None = None

    def __post_init__(self) -> None:
        parameters.require(
            parameters.whole(f"{self.name}.k", self.k, 2),
            parameters.word(f"{self.name}.count", self.count, ("rows", "subjects")),
            parameters.texts(f"{self.name}.columns", self.columns),
        )
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))

    @property
    def column(self) -> None:
        """No sensitive column is read."""
        return

    @property
    def least_rows(self) -> int:
        """A subject has at least one record, so ``k`` is a lower bound for records in both cases."""
        return self.k

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return the number of records, or of data subjects, of each group."""
        return self._counted(groups).astype(np.float64)

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups are large enough."""
        return self._counted(groups) >= self.k

    def best_possible(self, whole: Groups) -> str:
        """Return how large the group of all records is."""
        what = "records" if self.count == "rows" else "data subjects"
        return f"the table has {int(self._counted(whole).sum()):,} {what}"

    def _counted(self, groups: Groups) -> NDArray[np.int64]:
        if self.count == "rows":
            return groups.rows
        if groups.subjects is None:
            # falling back on rows would promise more than was counted
            raise ParameterError(Problem(f"{self.name}.count", "the groups come without a count of data subjects."))
        return groups.subjects
