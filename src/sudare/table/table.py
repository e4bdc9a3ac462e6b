"""The encoded table: what every method works on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.table.array_storage import MEMORY, Storage
from sudare.table.column import Column, ItemSets


@dataclass(frozen=True, eq=False)
class Table:
    """A table about people, encoded, with the roles its columns play.

    ``quasi`` and ``sensitive`` keep the order of the policy. ``subject`` is the person of each record. ``carried`` are
    the unchanged columns (sensitive and insensitive ones). ``storage`` holds arrays of the table's size. ``target`` is
    the class that the release is to help predict, for methods that ask for one; it is one of the carried columns.
    ``context`` are carried columns, too, whose codes a method uses although they are unchanged. ``runs`` are the
    lengths of runs of records that agree on all columns, where those are known to stand together.
    """

    rows: int
    quasi: Mapping[str, Column | ItemSets]
    sensitive: Mapping[str, Column] = field(default_factory=dict)
    subject: Column | None = None
    carried: pa.Table | None = None
    storage: Storage = MEMORY
    target: Column | None = None
    context: Mapping[str, Column] = field(default_factory=dict)
    runs: NDArray[np.int64] | None = None

    def taken(self, rows: NDArray[np.int64]) -> Table:
        """Return some of the records, with the columns that methods use and the same codes."""

        def take(column: Column) -> Column:
            return replace(column, codes=column.codes[rows])

        return Table(
            rows=len(rows),
            quasi={
                name: take(column) if isinstance(column, Column) else column.taken(rows)
                for name, column in self.quasi.items()
            },
            sensitive={name: take(column) for name, column in self.sensitive.items()},
            subject=None if self.subject is None else take(self.subject),
            storage=self.storage,
            target=None if self.target is None else take(self.target),
            context={name: take(column) for name, column in self.context.items()},
        )

    def without(self, names: Collection[str]) -> Table:
        """Return the table without some of its quasi-identifiers."""
        if not names:
            return self
        return replace(self, quasi={name: column for name, column in self.quasi.items() if name not in names})

    @property
    def single(self) -> dict[str, Column]:
        """The single-valued quasi-identifiers."""
        return {name: column for name, column in self.quasi.items() if isinstance(column, Column)}

    @property
    def sets(self) -> dict[str, ItemSets]:
        """The item-set quasi-identifiers."""
        return {name: column for name, column in self.quasi.items() if isinstance(column, ItemSets)}
