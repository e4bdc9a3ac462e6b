"""Values of the data that the hierarchies of a plan do not have."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudare import hierarchies
from sudare.policy import ColumnSpec
from sudare.table import Column


@dataclass
class UnknownValues:
    """Values that the hierarchies of a plan do not have: how many there are of each column, and in which records."""

    values: dict[str, int] = field(default_factory=dict)
    records: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def noted(self, column: Column, spec: ColumnSpec, folder: Path) -> Column:
        """Return the column with such values missing."""
        where = spec.hierarchy
        if where is not None and where.codes is not None:
            absent = hierarchies.strange_values(where.codes, column.values)
        elif where is None or (where.file is None and where.tree is None):
            return column  # the other hierarchies follow from the values
        else:
            absent = hierarchies.given(where, folder).find(column.values) < 0
        if not absent.any():
            return column
        self.values[column.name] = int(np.count_nonzero(absent))
        self.records[column.name] = np.append(absent, False)[column.codes]
        return column.forgetting(absent)

    @property
    def rows(self) -> NDArray[np.bool_] | None:
        """Which records hold such a value; None if there are none."""
        return np.logical_or.reduce(list(self.records.values())) if self.records else None

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return the numbers by column."""
        return {
            name: {"values": self.values[name], "records": int(np.count_nonzero(rows))}
            for name, rows in sorted(self.records.items())
        }
