"""Names of columns that look like cells of a record: the header is missing, and the first record is in its place.

Two rooms ask this of the same table: the drafts, which refuse such a table, and the engines, which look for the sheet
of a workbook that has a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_DATA = re.compile(r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$|@|^-?\d+\.\d+$|^-?\d{5,}$|^-?\d{1,3}$")
"""Dates, addresses, fractions and numbers, but no years: tables do have columns that are called 2024."""


def record_like(names: Sequence[str], among: Callable[[int], bool]) -> list[int]:
    """Return which names look like cells, counted from 1, if at least half of the names do; otherwise none.

    A name looks like a cell if it has the form of a date, a number or an address, or is a value of its own column:
    ``among`` says that of the column in a place, counted from 0. It is only asked where the form does not decide.
    """
    odd = [place for place, name in enumerate(names, 1) if _DATA.search(name) or among(place - 1)]
    return odd if 2 * len(odd) >= len(names) else []
