"""Uniqueness: how many records of a release are the only ones that show what they show.

Definition: a record is unique by some columns if no other record of the release shows the same in all of them; at most
a share ``most`` of the records may be. Unlike the models of classes it may name columns that nobody generalizes, and no
method works towards it: the audit counts the written release, and one that does not keep it is not handed over.

Reference: L. Sweeney, "Simple demographics often identify people uniquely", 2000; Article 29 Data Protection Working
Party, "Opinion 05/2014 on anonymisation techniques" (singling out), 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.models import parameters
from sudare.models.group_counts import Groups


@dataclass(frozen=True)
class Uniqueness:
    """At most a share ``most`` of the records is unique in what ``columns`` show, or all that are ``released``.

    This is a property of a release and not of a group: :meth:`holds` lets every group pass, :meth:`share` counts.

    Monotone: groups have no part in it. Cells that become more general, or columns that are taken out, make no record
    unique that was not.
    Reference: Article 29 Data Protection Working Party 2014.
    """

    name: ClassVar[str] = "uniqueness"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "release"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = False
    remedy: ClassVar[str] = "ask for a larger share, or take columns out."

    most: float
    columns: Literal["released"] | tuple[str, ...] = "released"

    def __post_init__(self) -> None:
        if not isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns))
        named = isinstance(self.columns, tuple) and self.columns and all(isinstance(n, str) for n in self.columns)
        wrong = None
        if self.columns != "released" and not named:
            wrong = parameters.refusal(f"{self.name}.columns", self.columns, "names of columns, or released")
        problem = parameters.number(f"{self.name}.most", self.most, least=0, most=1)
        if problem is None and self.most == 1:
            problem = parameters.refusal(f"{self.name}.most", self.most, "a number from 0, below 1")
        parameters.require(wrong, problem)

    @property
    def column(self) -> None:
        """It reads no sensitive column of a group."""
        return

    @property
    def least_rows(self) -> int:
        """Groups of records are not limited."""
        return 1

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return 0 for every group: no group has anything to answer for."""
        return np.zeros(len(groups))

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return true for every group: ask the release."""
        return np.ones(len(groups), dtype=np.bool_)

    def best_possible(self, whole: Groups) -> str:
        """Return how many records there are to be like one another."""
        return f"the table has {int(whole.rows.sum()):,} records"

    def share(self, codes: Sequence[NDArray[np.integer]]) -> float:
        """Return the share of records that are unique, from the codes that their cells have in each column."""
        if not codes or not len(codes[0]):
            return 0.0
        _, counts = np.unique(np.stack([column.astype(np.int64) for column in codes]), axis=1, return_counts=True)
        return float(np.count_nonzero(counts == 1) / len(codes[0]))
