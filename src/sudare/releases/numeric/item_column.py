"""A column of item sets: each item becomes a column that says whether a record shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.releases.numeric.category_column import too_many
from sudare.releases.numeric.numeric_options import NumericOptions
from sudare.releases.numeric.shown_column import Leaves, ShownColumn


@dataclass(frozen=True, eq=False)
class ItemColumn:
    """How item sets become numbers: 1 for an item that is shown, a share for one below a shown label, and 0.

    With ``alternatives`` one of the items is true (method `dummies`), so that each counts for its share.
    """

    name: str
    items: tuple[str, ...]
    leaves: Leaves = field(default_factory=dict)
    separator: str | None = None
    alternatives: bool = False

    @classmethod
    def of(
        cls, shown: ShownColumn, leaves: Leaves, most: int, separator: str | None, *, alternatives: bool = False
    ) -> ItemColumn:
        """Collect the items of a column, with the leaves below its labels."""
        _, item, names, _ = shown.items(separator)
        used = np.bincount(item, minlength=len(names)) > 0
        found = {leaf for name, there in zip(names, used, strict=True) if there for leaf in leaves.get(name, (name,))}
        if len(found) > most:
            raise too_many(shown.name, len(found), most, "items")
        return cls(shown.name, tuple(sorted(found)), leaves, separator, alternatives)

    def names(self, _: NumericOptions) -> list[str]:
        """Return the names of the new columns."""
        return [f"{self.name}={item}" for item in self.items]

    def encode(
        self, shown: ShownColumn, options: NumericOptions, _: np.random.Generator | None = None
    ) -> dict[str, pa.Array]:
        """Return how sure it is that each row holds each item; a missing set says nothing about any."""
        row, item, names, null = shown.items(self.separator)
        order = np.argsort(item, kind="stable")
        row, item = row[order], item[order]
        cuts = np.searchsorted(item, np.arange(len(names) + 1))
        place = {name: number for number, name in enumerate(self.items)}
        made = [np.zeros(len(null)) for _ in self.items]
        sizes = np.bincount(row, minlength=len(null))
        unknown = 0
        for number, name in enumerate(names):
            rows = row[cuts[number] : cuts[number + 1]]
            below = self.leaves.get(name, (name,))
            share = 1 / sizes[rows] if self.alternatives else np.full(len(rows), 1 / len(below))
            for leaf in below:
                if leaf in place:
                    found = made[place[leaf]]
                    found[rows] = np.maximum(found[rows], share)
                else:
                    unknown += len(rows) > 0
        if unknown and options.unknown == "error":
            what = f"has {unknown} items that it did not have before."
            raise DataError(Problem(f"column '{self.name}'", what, "share or ignore unknown items."))
        mask = null if null.any() else None
        return {name: pa.array(cells, mask=mask) for name, cells in zip(self.names(options), made, strict=True)}
