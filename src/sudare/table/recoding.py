"""Recodings: the decisions of methods, as data. Other rooms render, write and audit them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.table.column import Column

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Representatives:
    """What the classes of an aggregated column show: class ``g`` shows ``values[of_class[g]]``, which is one value.

    ``values`` are different from each other, and have the type that the column is released with; a null among them is a
    missing cell. They need not occur in the table: a mean lies between its values.
    """

    values: pa.Array
    of_class: NDArray[np.int64]

    @classmethod
    def of(cls, values: pa.Array) -> Representatives:
        """Return the representatives of classes, from one value for each of them."""
        coded = values.dictionary_encode(null_encoding="encode")
        return cls(coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).astype(np.int64))

    def taken(self, classes: slice | NDArray[np.integer[Any]]) -> Representatives:
        """Return those of some classes."""
        return Representatives(self.values, self.of_class[classes])


@dataclass(frozen=True, eq=False)
class Partition:
    """Each record belongs to a class, and shows what covers all records of its class (local recoding).

    ``classes`` holds a number from 0 for each record, or SUPPRESSED for a suppressed one. ``cuts`` names columns that
    are recoded in the same way in the whole table (global recoding), by what each code shows:

    - A single-valued column with a taxonomy: the node that is shown, however few of the leaves below it a class holds.
    - One without: any number. Codes with the same number show the same cell, the smallest that covers all of them, as
      far as records have them that are neither left out nor masked (those must not be told by the ends of an interval).
    - An item-set column: each record shows its own items there, an item as the node that the cut gives it (-1: not at
      all). It takes no part in the classes, unless it is in ``by_sets``.

    In a single-valued column of ``cuts`` the records of a class must have the same node or number, and in a column of
    ``by_sets`` the same set of nodes.

    ``masked`` says that the last class, number ``count - 1``, holds records that are left out but stay in the release,
    as rows that show nothing in any quasi-identifier, whatever the cuts say. No class is empty, this one included.
    ``intervals`` names columns of ordered categories in which a class shows all values from its lowest to its highest,
    as a set. ``facts`` is what the method has to tell about its decision, for the certificate, in the types that JSON
    has.

    ``aggregated`` names single-valued columns in which a class shows one value in place of those of its records (a
    mean, for example), so that the column keeps its type. What is lost is measured as if it showed what covers them.
    """

    classes: NDArray[np.signedinteger[Any]]
    count: int
    cuts: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    masked: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    intervals: tuple[str, ...] = ()
    by_sets: frozenset[str] = frozenset()
    aggregated: Mapping[str, Representatives] = field(default_factory=dict)

    @property
    def suppressed(self) -> int:
        """The number of suppressed records."""
        return int(np.count_nonzero(self.classes == SUPPRESSED))

    @property
    def shows_something(self) -> NDArray[np.bool_]:
        """Which records are neither suppressed nor masked."""
        return np.asarray((self.classes >= 0) & (self.classes < self.count - self.masked))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of records of each class."""
        from sudare.kernels.class_rows import count_classes

        return np.asarray(count_classes(self.classes, self.count))


class Draw(Protocol):
    """A column whose released cells are drawn at random, from what each record holds."""

    @property
    def column(self) -> Column:
        """The column, with the truth; a released code is one of its codes."""
        ...

    @property
    def width(self) -> int | None:
        """How many values a cell shows, as a set; None if it shows a single value."""
        ...

    def cells(self, rows: NDArray[np.int64]) -> NDArray[np.unsignedinteger[Any]]:
        """Draw the released codes of some records: one each, or a line of ``width`` ascending ones.

        Every record is drawn once.
        """
        ...


@dataclass(frozen=True, eq=False)
class Perturbation:
    """Some columns are drawn at random, record by record, and all others are unchanged.

    ``draws`` are these columns. They draw on demand, so that only one block is held at a time. ``facts`` is what an
    analyst and the audit must know about the mechanism, by column: the values that can be drawn, and with which
    probabilities; and nothing about what was drawn.
    """

    draws: Mapping[str, Draw]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Separation:
    """Sensitive values are in a second table, which has for each group the number of each value.

    All other columns are unchanged, with the group number of each record, from 0, in ``groups``.
    """

    groups: NDArray[np.int64]
    count: int
    facts: Mapping[str, Any] = field(default_factory=dict)


Recoding = Partition | Perturbation | Separation
