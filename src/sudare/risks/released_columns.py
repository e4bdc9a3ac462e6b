"""Unique records by released columns, also by columns that no promise is about.

A record is unique by some columns if no other shows the same in all of them. Where people are counted, it is unique if
all records that show the same may be one person's. The audit counts the same on a written release, by other means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.risks.class_risk import Classes, group_rows

Coded = tuple[NDArray[Any], int]
"""The code of each row in a column, and a number that all codes are below."""


@dataclass(frozen=True)
class Unique:
    """The shares of records that are unique: by quasi-identifiers and insensitive columns, by the latter, by each."""

    together: float
    insensitive: float
    columns: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return {"together": self.together, "insensitive": self.insensitive, "columns": dict(self.columns)}


def unique_by(
    quasi: Sequence[Coded],
    plain: Mapping[str, Coded],
    rows: int,
    people: NDArray[np.integer[Any]] | None = None,
    within: NDArray[np.integer[Any]] | None = None,
) -> Unique | None:
    """Count unique records; None without insensitive columns, because classes then show the same.

    ``people`` has the person of each row. Numbers of people that are valid only in one class are compared ``within``
    these classes.
    """
    if not plain or not rows:
        return None

    def share(columns: Sequence[Coded]) -> float:
        return _alone(group_rows([codes for codes, _ in columns], [size for _, size in columns], rows), people, within)

    insensitive = list(plain.values())
    return Unique(
        share([*quasi, *insensitive]),
        share(insensitive),
        {name: share([column]) for name, column in plain.items()},
    )


def _alone(groups: Classes, people: NDArray[np.integer[Any]] | None, within: NDArray[np.integer[Any]] | None) -> float:
    """Return the share of rows whose group has one row, or one person at the most in each class."""
    rows = len(groups.of_row)
    if people is None:
        return float(np.count_nonzero(groups.own_size == 1) / rows)
    parts = groups
    if within is not None:
        parts = group_rows([groups.of_row, within], [len(groups.sizes), int(within.max()) + 1], rows)
    pairs = group_rows([parts.of_row, people], [len(parts.sizes), int(people.max()) + 1], rows)
    first = np.zeros(len(pairs.sizes), dtype=np.int64)
    first[pairs.of_row] = np.arange(rows)
    several = np.bincount(parts.of_row[first], minlength=len(parts.sizes)) > 1
    crowded = np.zeros(len(groups.sizes), dtype=np.bool_)
    crowded[groups.of_row[several[parts.of_row]]] = True
    return float(np.count_nonzero(~crowded[groups.of_row]) / rows)


def coded(cells: pa.ChunkedArray | pa.Array) -> Coded:
    """Return the codes of cells as written; a missing cell equals a missing cell."""
    kind = cells.type
    if pa.types.is_nested(kind) or pa.types.is_dictionary(kind):
        texts = [None if cell is None else repr(cell) for cell in cells.to_pylist()]
        cells = pa.chunked_array([pa.array(texts, pa.large_string())])
    chunked = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    found = chunked.combine_chunks().dictionary_encode()
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    size = len(found.dictionary)
    return np.asarray(found.indices.fill_null(size).to_numpy(zero_copy_only=False), dtype=np.int64), size + 1
