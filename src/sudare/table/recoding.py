"""What a method decides. It is data: rendering, auditing and writing it are other rooms' work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Partition:
    """Local recoding: each record belongs to a class, and shows what covers all records of its class.

    ``classes`` holds a number from 0 for each record, or SUPPRESSED for one that is left out of the release.
    ``cuts`` names item-set columns that take no part in the classes: each record shows its own items there, an item as
    the node that the cut gives it (-1: not at all).
    """

    classes: NDArray[np.signedinteger[Any]]
    count: int
    cuts: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def suppressed(self) -> int:
        """The number of records that are left out."""
        return int(np.count_nonzero(self.classes == SUPPRESSED))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of records of each class."""
        from sudare.kernels.classes import count_classes

        return np.asarray(count_classes(self.classes, self.count))


Recoding = Partition
