"""Places on the axis of a column: of its own values, and of values that stand for them elsewhere."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.table.column import Column
from sudare.table.encode import encode_column

Reals = NDArray[np.float64]
DAY = 86_400.0


def places_of(column: Column) -> Reals | None:
    """Return the place of each value of a column that has an axis: numbers, dates, times and ordered categories.

    A number is its own place. (Positions of a column may be scaled, so that their differences fit into floats.)
    """
    if column.positions is not None:
        if pa.types.is_temporal(column.values.type):
            return column.positions
        return np.asarray(column.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    return np.arange(len(column.values), dtype=np.float64) if column.ordered else None


def placed(column: Column, cells: pa.ChunkedArray | pa.Array) -> tuple[NDArray[np.int64], Reals]:
    """Return the numbers of cells that need not occur in a column, and where the different ones stand on its axis.

    The last place is that of missing cells: not-a-number.
    """
    found = encode_column(column.name, cells, kind="numeric")
    places = places_of(found)
    assert places is not None
    if pa.types.is_date(found.values.type) and pa.types.is_timestamp(column.values.type):
        places = places * DAY  # days are times in which nothing but the day is said
    return found.codes.astype(np.int64), np.append(places, np.nan)
