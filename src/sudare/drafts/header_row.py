"""The check of a header row: without one, the first record would become the column names."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem
from sudare.core.record_like_names import record_like


def check_header(table: pa.Table, *, sheet: str | int | None = None) -> None:
    """Raise if half of the names of the columns look like cells; ``sheet`` is the sheet that they are from, if known.

    The message gives places, since the names would be data.
    """
    names = table.column_names
    odd = record_like(names, lambda place: _among(names[place], table.column(place)))
    if not odd:
        return
    places = ", ".join(map(str, odd[:10]))
    where, hint = "the first line", "put a line with names above it; if these are the names, write the policy by hand."
    if sheet is not None:  # another sheet may be the one that is meant
        where = f"sheet '{sheet}', the first line"
        hint = f"name another sheet with --sheet, or {hint}"
    what = f"looks like a record, not like the names of the columns (see column{'s' * (len(odd) > 1)} {places})."
    raise DataError(Problem(where, what, hint))


def _among(name: str, cells: pa.ChunkedArray) -> bool:
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not name or not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return False
    return bool(pc.any(pc.equal(cells.cast(pa.large_string()), name)).as_py())
