"""Encoding: an Arrow column becomes codes and a dictionary, once, chunk by chunk.

Each cell first gets the raw code of its distinct value (see :mod:`sudare.table.encode_distinct`); at the end the
distinct values alone are parsed, sorted and checked (:mod:`sudare.table.encode_values`), and the codes follow.
Missing cells become a value of their own (the last code). Item sets are encoded in :mod:`sudare.table.encode_items`,
sensitive ones in :mod:`sudare.table.encode_sets`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.table.array_storage import MEMORY, Storage
from sudare.table.column import Column
from sudare.table.encode_distinct import Cells
from sudare.table.encode_items import ItemsEncoder, encode_items
from sudare.table.encode_sets import SetsEncoder, encode_sets
from sudare.table.encode_values import (
    looks_numeric,
    nearest_numbers,
    numbers,
    plain_cells,
    plain_numbers,
    plain_values,
    positions,
    ranked,
    without_blanks,
)
from sudare.table.raw_codes import Raw, blocks, chunks, translated
from sudare.table.value_spellings import fold_all, in_order, most_frequent

__all__ = [
    "ColumnEncoder",
    "ItemsEncoder",
    "SetsEncoder",
    "encode_column",
    "encode_items",
    "encode_like",
    "encode_sets",
    "looks_numeric",
    "nearest_numbers",
    "numbers",
    "plain_numbers",
    "positions",
]


class ColumnEncoder:
    """Encodes a single-valued column. Without a kind, what looks like numbers or dates is numeric.

    ``missing`` lists texts that stand for a missing cell; ``order`` ranks the categories of an ordered column. Values
    that are ``tags`` only distinguish cells: they are neither parsed nor sorted, which is slow for many values. With
    ``merge`` spellings of one text are one value (see :mod:`sudare.table.value_spellings`), numbers in text
    ``by_worth``. ``storage`` keeps the codes, and ``expected`` is the number of cells, if it is known.
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
        merge: bool = False,
        by_worth: bool = True,
        storage: Storage = MEMORY,
        expected: int = 0,
    ) -> None:
        self.name, self.kind, self.missing, self.order, self.weight, self.tags = (
            name, kind, missing, order, weight, tags,
        )  # fmt: skip
        self.merge, self.by_worth = merge, by_worth
        self.storage = storage
        self._cells = Cells(storage, expected)

    def add(self, cells: pa.Array) -> None:
        """Add some cells, of the same type each time."""
        self._cells.add(plain_cells(self.name, cells))

    def finish(self) -> Column:
        """Return the encoded column."""
        raw = self._cells.finish()
        values = plain_values(self.name, raw, self.missing)
        before = len(values) - values.null_count + int(raw.nulls or values.null_count > 0)
        if self.merge:
            values = without_blanks(values)
        if not self.tags and (self.kind == "numeric" or (self.kind is None and self.order is None)):
            values = numbers(self.name, values, raw, strict=self.kind == "numeric")
        text = pa.types.is_large_string(values.type)
        if not text and not self.tags and (self.kind == "categorical" or self.order is not None):
            values, text = values.cast(pa.large_string()), True
        values, place, keys, missing = self._distinct(raw, values, fold=self.merge and text)
        order = self._order(values, keys)
        kind = np.min_scalar_type(max(len(values) + int(missing) - 1, 0))
        rank = np.zeros(len(values) + 1, kind)
        rank[order] = np.arange(len(values), dtype=kind)
        if missing:
            rank[-1] = len(values)
        # the raw code of a null is 0, and its rank is the last
        lookup = np.concatenate((rank[-1:], rank[:-1] if place is None else rank[place]))
        values = values if self.tags else values.take(pa.array(order))
        return Column(
            name=self.name,
            kind="categorical" if text or self.tags else "numeric",
            codes=translated(raw.codes, lookup, self.storage),
            values=values,
            missing=missing,
            positions=None if text or self.tags else positions(values),
            weight=self.weight,
            keys=None if keys is None else keys.take(pa.array(order)),
            by_worth=self.by_worth,
            merged=before - len(values) - int(missing) if self.merge else None,
            ordered=self.order is not None,
        )

    def _distinct(self, raw: Raw, values: pa.Array, *, fold: bool) -> tuple[pa.Array, Any, pa.Array | None, bool]:
        """Make one of different writings of a value; with ``fold`` of all that are folded into the same key.

        Returns the values, the place of each raw value among them (None if it is its own), the keys if these are
        folded, and whether any is missing.
        """
        if fold:
            encoded = fold_all(values, numbers=self.by_worth).dictionary_encode()
            keys = encoded.dictionary
            place = pc.fill_null(encoded.indices, len(keys)).to_numpy()
            values = most_frequent(values, place, counted(raw), len(keys))
            return values, place, keys, raw.nulls or encoded.indices.null_count > 0
        if values is raw.values:
            return values, None, None, raw.nulls
        encoded = values.dictionary_encode()
        place = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy()
        return encoded.dictionary, place, None, raw.nulls or encoded.indices.null_count > 0

    def _order(self, values: pa.Array, keys: pa.Array | None) -> NDArray[Any]:
        """Return the order in which the values get their codes."""
        if self.order is not None:
            return ranked(self.name, values, self.order, keys, by_worth=self.by_worth)
        if keys is not None:
            return in_order(keys, numbers=self.by_worth)
        return np.arange(len(values)) if self.tags else pc.array_sort_indices(values).to_numpy()


def counted(raw: Raw) -> NDArray[np.int64]:
    """Return how many cells have each of the distinct values."""
    counts = np.zeros(len(raw.values) + 1, np.int64)
    for block in blocks(len(raw.codes)):
        counts += np.bincount(raw.codes[block], minlength=len(counts))
    return counts[1:]


def encode_column(
    name: str,
    cells: pa.ChunkedArray | pa.Array,
    *,
    kind: Literal["numeric", "categorical"] | None = None,
    missing: Sequence[str] = (),
    order: Sequence[str] | None = None,
    weight: float = 1.0,
    merge: bool = False,
    by_worth: bool = True,
) -> Column:
    """Encode a single-valued column that is in memory; see :class:`ColumnEncoder`."""
    encoder = ColumnEncoder(
        name, kind=kind, missing=missing, order=order, weight=weight, merge=merge, by_worth=by_worth,
        expected=len(cells),
    )  # fmt: skip
    for chunk in chunks(cells):
        encoder.add(chunk)
    return encoder.finish()


def encode_like(column: Column, cells: pa.ChunkedArray | pa.Array, missing: Sequence[str] = ()) -> Column:
    """Encode cells of another table as those of a column were, and spell their values as that column does."""
    again = encode_column(
        column.name, cells, kind=column.kind, missing=missing, merge=column.keys is not None, by_worth=column.by_worth
    )
    if again.keys is None or column.keys is None:
        return again
    known = column.values.take(pc.index_in(again.keys, column.keys))
    return replace(again, values=pc.coalesce(known, again.values))
