"""Groups of records as counts, the input of privacy models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sudare.table import Column


@dataclass(frozen=True, eq=False)
class Histograms:
    """One sensitive column over all groups, sparse: group ``g`` holds ``codes[start[g]:start[g + 1]]``.

    Codes are ascending within a group and every count is positive. ``total`` is the dense histogram of the whole
    release, by code; ``column`` has the meaning of the codes.
    """

    start: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    total: NDArray[np.int64]
    column: Column

    @property
    def owner(self) -> NDArray[np.int64]:
        """The group of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of records: how many rows each has, how many data subjects, and what is sensitive in them.

    ``subjects`` is None unless a requirement counts data subjects.
    """

    rows: NDArray[np.int64]
    subjects: NDArray[np.int64] | None = None
    histograms: Mapping[str, Histograms] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)
