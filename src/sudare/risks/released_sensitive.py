"""The released information about a sensitive column: its values, or sets or groups that contain them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.releases.value_texts import value_texts
from sudare.risks.inference import Votes
from sudare.risks.released_codes import TEXT, codes_in
from sudare.table import Column, encode_items

GROUP, COUNT = "group", "count"
"""The columns of a second table beside the values: which group, and how many of its records have the value."""


def from_values(column: Column, cells: pa.ChunkedArray, missing: Sequence[str] = ()) -> Votes:
    """Read values that are unchanged, or were drawn at random."""
    return Votes(np.arange(len(cells)), codes_in(column, cells, missing))


def from_sets(column: Column, cells: pa.ChunkedArray, separator: str | None) -> Votes:
    """Read sets of values, one of which is true; each member counts equally."""
    plain = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
    sets = encode_items(column.name, plain, separator=separator, nulls=False)
    place = pc.index_in(sets.values.cast(TEXT), value_texts(column))
    codes = np.append(np.asarray(pc.fill_null(place, -1).to_numpy(zero_copy_only=False), dtype=np.int64), -1)
    length = np.diff(sets.offsets)
    row = np.repeat(np.arange(len(length)), length)
    return Votes(row, codes[sets.items.astype(np.int64)], 1.0 / length[row])


def from_groups(column: Column, groups: pa.ChunkedArray, second: pa.Table, missing: Sequence[str] = ()) -> Votes:
    """Read groups whose values stand in a second table; a record has those of its group in proportion."""
    number = second.column(GROUP).cast(pa.int64()).to_numpy()
    counts = second.column(COUNT).cast(pa.float64()).to_numpy()
    values = codes_in(column, second.column(column.name), missing)
    order = np.argsort(number, kind="stable")
    number, counts, values = number[order], counts[order], values[order]
    own = groups.cast(pa.int64()).to_numpy()
    first, last = np.searchsorted(number, own), np.searchsorted(number, own, side="right")
    length = last - first
    row = np.repeat(np.arange(len(own)), length)
    places = np.repeat(first - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
    total = np.bincount(row, counts[places], len(own))
    return Votes(row, values[places], counts[places] / total[row])
