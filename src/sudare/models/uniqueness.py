"""Uniqueness: the share of unique records in a release.

Definition: a record is unique by some columns if no other record of the release shows the same in all of them; at most
a share ``most`` of the records may be. Unlike the models of classes it may name columns that nobody generalizes, and no
method works towards it: the audit counts the written release, and a release above the limit is not placed.

Reference: L. Sweeney, "Simple demographics often identify people uniquely", 2000; Article 29 Data Protection Working
Party, "Opinion 05/2014 on anonymisation techniques" (singling out), 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sudare.models import parameters
from sudare.models.ungrouped import Ungrouped


@dataclass(frozen=True)
class Uniqueness(Ungrouped):
    """At most a share ``most`` of the records is unique in what ``columns`` show, or all that are ``released``.

    This is a property of a release and not of a group: :meth:`holds` lets every group pass.

    Monotone: groups have no part in it. Cells that become more general, or columns that are taken out, make no record
    unique that was not.
    Reference: Article 29 Data Protection Working Party 2014.
    """

    name: ClassVar[str] = "uniqueness"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "release"
    remedy: ClassVar[str] = "require a larger share, or remove columns."

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
