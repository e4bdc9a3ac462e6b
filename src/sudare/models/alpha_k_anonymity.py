"""(alpha, k)-anonymity.

Definition: every group holds at least ``k`` records, and no value of the sensitive column (or none of the named
``values``) takes more than a share ``alpha`` of them. A missing value is a value of its own.

Reference: R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang, "(alpha, k)-anonymity: an enhanced k-anonymity model for
privacy preserving data publishing", KDD 2006.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.models import parameters
from sudare.models.group_counts import Groups, Histograms
from sudare.models.segment_sums import TOLERANCE, maxima, shares
from sudare.table import Column
from sudare.table.value_spellings import fold


@dataclass(frozen=True)
class AlphaKAnonymity:
    """At least ``k`` records per group, and no sensitive value with more than a share ``alpha``.

    ``values`` limits the second half to some values, by their text; a value that the column does not have is
    in no group, and is passed over.

    Monotone: the share of a value in a union lies between its shares in the parts, and records only add up.
    Reference: Wong et al. 2006.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "group"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = False
    remedy: ClassVar[str] = "require a larger alpha or a smaller k."

    alpha: float
    k: int
    column: str
    values: Sequence[str] | None = None

    def __post_init__(self) -> None:
        parameters.require(
            parameters.number(f"{self.name}.alpha", self.alpha, above=0, most=1),
            parameters.whole(f"{self.name}.k", self.k, 2),
            parameters.column(f"{self.name}.column", self.column),
            parameters.texts(f"{self.name}.values", self.values),
        )
        if self.values is not None:
            object.__setattr__(self, "values", tuple(self.values))

    @property
    def least_rows(self) -> int:
        """The ``k`` that every group needs."""
        return self.k

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return the largest share that a value (one of those named) has in each group."""
        histograms = groups.histograms[self.column]
        within, _ = shares(histograms)
        if self.values is not None:
            within = np.where(self._counts(histograms), within, 0.0)
        return maxima(within, histograms.start)

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups are large enough and not led by one value."""
        return (groups.rows >= self.k) & (self.measure(groups) <= self.alpha + TOLERANCE)

    def best_possible(self, whole: Groups) -> str:
        """Return how large the group of all records is, or how much of it one value takes."""
        rows = int(whole.rows.sum())
        if rows < self.k:
            return f"the table has {rows:,} records"
        # rounded up, so that the message never shows the very number that was asked for
        figure = math.ceil(1000 * float(self.measure(whole)[0]) - TOLERANCE) / 1000
        return f"one value of column '{self.column}' has a share of {figure:.3f} of the whole table"

    def _counts(self, histograms: Histograms) -> NDArray[np.bool_]:
        """Return which entries are of a named value."""
        named = np.zeros(len(histograms.total), dtype=np.bool_)
        named[[code for code in named_codes(histograms.column, self.values or ()) if code >= 0]] = True
        return named[histograms.codes]


def named_codes(column: Column, names: Sequence[str]) -> list[int]:
    """Return the code of each named value, -1 for one that the column does not have.

    A name is read as the column's own type: "5" finds 5.00 among decimals, "2024-01-01" a midnight. Where spellings are
    merged, any spelling of a value names it.
    """
    if column.keys is not None:
        folded = pa.array([fold(name, numbers=column.by_worth) for name in names], column.keys.type)
        return list(pc.fill_null(pc.index_in(folded, column.keys), -1).to_pylist())
    codes = []
    for name in names:
        try:
            value = pa.scalar(name).cast(column.values.type)
            codes.append(column.values.index(value).as_py())
        except pa.ArrowException:
            codes.append(-1)
    return codes
