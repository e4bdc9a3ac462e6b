"""What models have in common that limit no group of records: they are about a column, a mechanism or a release."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.models.group_counts import Groups


class Ungrouped:
    """A model that lets every group pass; whether it holds has to be asked of something else."""

    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = False

    @property
    def least_rows(self) -> int:
        """Groups of records are not limited."""
        return 1

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return 0 for every group: no group has anything to answer for."""
        return np.zeros(len(groups))

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return true for every group."""
        return np.ones(len(groups), dtype=np.bool_)

    def best_possible(self, whole: Groups) -> str:
        """Return how many records there are to be like one another."""
        return f"the table has {int(whole.rows.sum()):,} records"
