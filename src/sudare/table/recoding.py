"""What a method decides. It is data: rendering, auditing and writing it are other rooms' work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Partition:
    """Local recoding: each record belongs to a class, and shows what covers all records of its class.

    ``classes`` holds a number from 0 for each record, or SUPPRESSED for one that is left out of the release.
    """

    classes: NDArray[np.int64]
    count: int

    @property
    def suppressed(self) -> int:
        """The number of records that are left out."""
        return int(np.count_nonzero(self.classes == SUPPRESSED))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of records of each class."""
        return np.bincount(self.classes[self.classes >= 0], minlength=self.count).astype(np.int64)


Recoding = Partition
