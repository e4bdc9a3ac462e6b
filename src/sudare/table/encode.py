"""Encoding: an Arrow column becomes codes and a dictionary, once, chunk by chunk.

Each cell first gets the raw code of its distinct value (see :mod:`sudare.table.encode_cells`); at the end the distinct
values alone are parsed, sorted and checked (:mod:`sudare.table.encode_values`), and the codes follow. Missing cells
become a value of their own (the last code). Item sets are encoded in :mod:`sudare.table.encode_items`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.table.column import Column
from sudare.table.encode_cells import Cells, chunks, translated
from sudare.table.encode_items import ItemsEncoder, encode_items
from sudare.table.encode_values import (
    looks_numeric,
    numbers,
    plain_cells,
    plain_numbers,
    plain_values,
    positions,
    ranked,
)
from sudare.table.storage import MEMORY, Storage

__all__ = [
    "ColumnEncoder",
    "ItemsEncoder",
    "encode_column",
    "encode_items",
    "looks_numeric",
    "numbers",
    "plain_numbers",
    "positions",
]


class ColumnEncoder:
    """Encodes a single-valued column. Without a kind, what looks like numbers or dates is numeric.

    ``missing`` lists texts that stand for a missing cell; ``order`` ranks the categories of an ordered column. Values
    that are ``tags`` only tell cells apart: they are neither parsed nor sorted, which takes long where there are
    many. ``storage`` keeps the codes, and ``expected`` is the number of cells, if it is known.
    """

    def __init__(
        self,
        name: str,
        *,
        kind: Literal["numeric", "categorical"] | None = None,
        missing: Sequence[str] = (),
        order: Sequence[str] | None = None,
        weight: float = 1.0,
        tags: bool = False,
        storage: Storage = MEMORY,
        expected: int = 0,
    ) -> None:
        self.name, self.kind, self.missing, self.order, self.weight, self.tags = (
            name, kind, missing, order, weight, tags,
        )  # fmt: skip
        self.storage = storage
        self._cells = Cells(storage, expected)

    def add(self, cells: pa.Array) -> None:
        """Add some cells, of the same type each time."""
        self._cells.add(plain_cells(self.name, cells))

    def finish(self) -> Column:
        """Return the encoded column."""
        raw = self._cells.finish()
        values = plain_values(self.name, raw, self.missing)
        if not self.tags and (self.kind == "numeric" or (self.kind is None and self.order is None)):
            values = numbers(self.name, values, raw, strict=self.kind == "numeric")
        text = pa.types.is_large_string(values.type)
        if not text and not self.tags and (self.kind == "categorical" or self.order is not None):
            values, text = values.cast(pa.large_string()), True
        encoded = values.dictionary_encode()  # different writings of one value become one
        values, indices = encoded.dictionary, encoded.indices
        if self.order is not None:
            order = ranked(self.name, values, self.order)
        else:
            order = np.arange(len(values)) if self.tags else pc.array_sort_indices(values).to_numpy()
        rank = np.empty(len(values) + 1, dtype=np.int64)
        rank[order] = np.arange(len(values))
        rank[-1] = len(values)  # the code of missing cells
        missing = raw.nulls or indices.null_count > 0
        lookup = np.empty(len(indices) + 1, np.min_scalar_type(max(len(values) + int(missing) - 1, 0)))
        lookup[1:] = rank[pc.fill_null(indices, len(values)).to_numpy()]
        lookup[0] = len(values) if raw.nulls else 0
        values = values if self.tags else values.take(pa.array(order))
        return Column(
            name=self.name,
            kind="categorical" if text or self.tags else "numeric",
            codes=translated(raw.codes, lookup, self.storage),
            values=values,
            missing=missing,
            positions=None if text or self.tags else positions(values),
            weight=self.weight,
        )


def encode_column(
    name: str,
    cells: pa.ChunkedArray | pa.Array,
    *,
    kind: Literal["numeric", "categorical"] | None = None,
    missing: Sequence[str] = (),
    order: Sequence[str] | None = None,
    weight: float = 1.0,
) -> Column:
    """Encode a single-valued column that is in memory; see :class:`ColumnEncoder`."""
    encoder = ColumnEncoder(name, kind=kind, missing=missing, order=order, weight=weight, expected=len(cells))
    for chunk in chunks(cells):
        encoder.add(chunk)
    return encoder.finish()
