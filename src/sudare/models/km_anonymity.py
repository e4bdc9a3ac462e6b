"""k^m-anonymity of an item-set column.

Definition: every combination of at most ``m`` items that occurs in a record occurs in at least ``k`` records. Someone
who knows up to ``m`` items of a person then finds no fewer than ``k`` candidates. Null and empty sets hold no
combination.

Reference: M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data",
PVLDB 1(1), 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sudare.models import parameters
from sudare.models.ungrouped import Ungrouped


@dataclass(frozen=True)
class KmAnonymity(Ungrouped):
    """Every combination of at most ``m`` items that occurs, occurs in at least ``k`` records.

    This is a property of a column and not of a group: :meth:`holds` lets every group pass.

    Monotone: when items are merged into a more general one, a combination of general items in a record comes from
    a combination of no more original items there, and occurs wherever that one does, in at least k records.
    Reference: Terrovitis, Mamoulis and Kalnis 2008.
    """

    name: ClassVar[str] = "km-anonymity"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "column"
    remedy: ClassVar[str] = "require a smaller k or m."

    k: int
    m: int
    column: str

    def __post_init__(self) -> None:
        parameters.require(
            parameters.whole(f"{self.name}.k", self.k, 2),
            parameters.whole(f"{self.name}.m", self.m, 1),
            parameters.column(f"{self.name}.column", self.column),
        )
