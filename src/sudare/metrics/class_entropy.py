"""The entropy of a class, given the group of a record: what a classifier cannot learn from a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.table import Column


@dataclass(frozen=True)
class Information:
    """In bits per released record: doubt about the class within its group, and about which group it is in.

    ``class_info`` is 0 if every group is of one class; ``split_info`` is 0 if there is one group. A table for training
    has little of both: ``table_info`` weighs them.
    """

    class_info: float
    split_info: float

    def table_info(self, w: float) -> float:
        """Return w class_info + (1 - w) split_info, which top-down specialization makes small."""
        return w * self.class_info + (1 - w) * self.split_info


def information(classes: NDArray[np.signedinteger[Any]], target: Column) -> Information:
    """Measure the groups of any recoding, local or global; records of group -1 are suppressed.

    Reference: the objective of an extension of Fung, Wang, Yu: Top-down specialization. ICDE 2005.
    """
    released = classes >= 0
    groups = classes[released].astype(np.int64)
    if not len(groups):
        return Information(0.0, 0.0)
    pairs, counts = np.unique(groups * target.size + target.codes[released], return_counts=True)
    sizes = np.bincount(groups)
    within = counts / sizes[pairs // target.size]
    share = sizes[sizes > 0] / len(groups)
    doubt = -float((counts / len(groups) * np.log2(within)).sum())
    # rounding may leave a little below 0, and minus zero is zero
    return Information(max(doubt, 0.0) + 0.0, max(-float((share * np.log2(share)).sum()), 0.0) + 0.0)
