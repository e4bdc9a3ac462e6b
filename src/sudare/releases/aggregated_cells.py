"""Cells of aggregated columns: one value for all records of a class, in a column that keeps its type.

Numbers, dates and times on a day are released as such, a mean as a float. A mean has all digits that a reader needs to
get the same number. Times of a day, durations, and times with a zone are texts, as elsewhere in a release; so are
categories.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.releases.cell_writer import alone, node_texts
from sudare.releases.row_blocks import Span
from sudare.releases.value_texts import value_texts
from sudare.table import Column, Cover

DAY = 86_400


class Aggregates:
    """A column that shows the representative of each class."""

    def __init__(self, name: str, cover: Cover) -> None:
        assert cover.aggregated is not None
        self.name, self.of_class = name, cover.aggregated.of_class
        self.values = released_values(cover)
        self.types = {name: self.values.type}
        self.widest = self.values.nbytes // max(len(self.values), 1)

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the values of these rows."""
        return {self.name: self.values.take(span.spread(pa.array(self.of_class[span.which])))}


def aggregated_labels(cover: Cover) -> pa.Array:
    """Return what each class shows."""
    assert cover.aggregated is not None
    return released_values(cover).take(pa.array(cover.aggregated.of_class))


def released_values(cover: Cover) -> pa.Array:
    """Return the different representatives of a column, as a release shows them; a null is a missing cell."""
    assert cover.aggregated is not None
    column, values = cover.column, cover.aggregated.values
    kind = values.type
    if column.positions is not None and not _as_text(kind):
        return _days(values) if pa.types.is_timestamp(kind) else values
    there = values.is_valid()
    texts = _texts(column, values.filter(there)).cast(pa.string())
    place = np.cumsum(there.to_numpy(zero_copy_only=False)) - 1
    return texts.take(pa.array(place, mask=~there.to_numpy(zero_copy_only=False)))


def _as_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_time(kind) or pa.types.is_duration(kind) or getattr(kind, "tz", None))


def _days(values: pa.Array) -> pa.Array:
    """Return times of which all are midnights as days, and others to the microsecond if they say no more."""
    if pc.all(pc.equal(values, pc.floor_temporal(values, unit="day"))).as_py() is not False:
        return values.cast(pa.date32())
    try:
        return values.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:  # some do need nanoseconds
        return values


def _texts(column: Column, values: pa.Array) -> pa.Array:
    """Return the texts of values of a column, written as it would show them one by one."""
    if column.taxonomy is not None:
        leaves = pa.array(column.taxonomy.path[: len(column.values), -1])
        return node_texts(column).take(leaves).take(pc.index_in(values, column.values))
    if column.positions is not None:
        return value_texts(replace(column, values=values, positions=np.ones(len(values)), ends=None))
    return alone(value_texts(replace(column, values=values)))
