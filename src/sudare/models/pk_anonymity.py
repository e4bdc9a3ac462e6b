"""Pk-anonymity: probabilistic k-anonymity of a table whose values are drawn at random.

Definition: someone who knows the whole true table, and how values are drawn, links a released record with its person
with a probability of at most 1/``k``. It is a property of the mechanism and of the number of records; groups of a
finished release do not show it. What a mechanism reaches is computed in :mod:`sudare.methods.pram.matrix_bounds`.

Reference: D. Ikarashi, K. Chida, K. Takahashi, "Probabilistic k-anonymity", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sudare.models import parameters
from sudare.models.ungrouped import Ungrouped


@dataclass(frozen=True)
class PkAnonymity(Ungrouped):
    """No record is connected with its person with a probability above 1/``k``.

    This is a property of the mechanism and not of a group: :meth:`holds` lets every group pass.

    Monotone: groups have no part in it. More records, drawn by the same matrices, allow a larger k.
    Reference: Ikarashi, Chida and Takahashi 2009.
    """

    name: ClassVar[str] = "pk-anonymity"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "mechanism"
    remedy: ClassVar[str] = "require a smaller k."

    k: int

    def __post_init__(self) -> None:
        parameters.require(parameters.whole(f"{self.name}.k", self.k, 2))

    @property
    def column(self) -> None:
        """All perturbed columns have a part in it."""
        return
