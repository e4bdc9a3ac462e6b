"""Rows of answers as JSON and as Arrow tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa


def shown_figure(value: float | None) -> float | None:
    """Return a number with the digits that mean something; None if nothing is known."""
    return float(f"{value:.12g}") if value is not None and math.isfinite(value) else None


def alike(cells: Sequence[Any]) -> list[Any]:
    """Return cells of one type, as text where they are of several."""
    kinds = {type(cell) for cell in cells if cell is not None}
    return list(cells) if len(kinds) < 2 else [None if cell is None else str(cell) for cell in cells]


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that no column has: with as many underscores behind it as it takes."""
    while name in taken:
        name += "_"
    return name


def row_columns(cells: Sequence[Mapping[str, Any]], by: Sequence[str], figures: Mapping[str, pa.Array]) -> pa.Table:
    """Return a table with a column for each column that rows are grouped by, and then their figures."""
    columns = {name: pa.array(alike([cell[name] for cell in cells])) for name in by}
    return pa.table(columns | {free_name(name, by): column for name, column in figures.items()})
