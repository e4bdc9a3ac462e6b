"""Spans: blocks of rows of a release, by their classes and by their places in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.table import Partition

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Span:
    """Rows that stand one after another in the release.

    ``times[i]`` of them are of class ``classes[i]``, one after another. ``rows`` are the rows of the source that they
    come from (none if no column asks for them), and ``first`` is the place of the first one among all rows class by
    class, where they stand so.
    """

    classes: Ints
    times: Ints
    rows: Ints
    first: int | None = None

    @property
    def which(self) -> slice | Ints:
        """The classes, as a range where they follow one another."""
        if self.first is None or not len(self.classes):
            return self.classes
        return slice(int(self.classes[0]), int(self.classes[-1]) + 1)

    def spread(self, of_class: pa.Array) -> pa.Array:
        """Return, for each row, what ``of_class`` says about its entry of ``classes``."""
        if self.first is None:
            return of_class
        if not of_class.null_count:
            return pa.array(np.repeat(of_class.to_numpy(), self.times))
        null = of_class.is_null().to_numpy(zero_copy_only=False)
        return pa.array(np.repeat(of_class.fill_null(0).to_numpy(), self.times), mask=np.repeat(null, self.times))


def spans_by_class(start: Ints, order: Ints, block: int) -> Iterator[Span]:
    """Walk the rows class by class, those of class ``g`` from ``start[g]``; a class may go on in the next span.

    ``order`` lists the rows of the source in this order; it may be empty if it is not needed.
    """
    total = int(start[-1])
    for first in range(0, total, block):
        last = min(first + block, total)
        left = int(np.searchsorted(start, first, side="right")) - 1
        right = int(np.searchsorted(start, last, side="left"))
        bounds = np.clip(start[left : right + 1], first, last)
        yield Span(np.arange(left, right), np.diff(bounds), order[first:last], first)


def spans_as_they_came(partition: Partition, block: int) -> Iterator[Span]:
    """Walk the rows in the order of the source, without suppressed ones."""
    for first in range(0, len(partition.classes), block):
        classes = partition.classes[first : first + block]
        kept = np.flatnonzero(classes >= 0)
        if len(kept):
            yield Span(classes[kept], np.ones(len(kept), dtype=np.int64), kept + first)
