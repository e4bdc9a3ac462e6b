"""The check of a header row: without one, the first record would become the column names."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem

_DATA = re.compile(r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$|@|^-?\d+\.\d+$|^-?\d{5,}$|^-?\d{1,3}$")
"""Dates, addresses, fractions and numbers, but no years: tables do have columns that are called 2024."""


def check_header(table: pa.Table) -> None:
    """Raise if half of the names of the columns look like cells.

    A name looks like a cell if it has the form of a date, a number or an address, or is a value of its own column.
    The message gives places, since the names would be data.
    """
    names = table.column_names
    odd = [place for place, name in enumerate(names, 1) if _DATA.search(name) or _among(name, table.column(place - 1))]
    if 2 * len(odd) >= len(names):
        places = ", ".join(map(str, odd[:10]))
        raise DataError(
            Problem(
                "the first line",
                f"looks like a record, not like the names of the columns (see column{'s' * (len(odd) > 1)} {places}).",
                "put a line with names above it; if these are the names, write the policy by hand.",
            )
        )


def _among(name: str, cells: pa.ChunkedArray) -> bool:
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not name or not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return False
    return bool(pc.any(pc.equal(cells.cast(pa.large_string()), name)).as_py())
