"""Encoding of sensitive item sets: a whole set is a value, so that the column has a code for each record.

Items are encoded as those of quasi-identifiers (:mod:`sudare.table.encode_items`). Then different sets are numbered, in
an order that depends on their items alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.table.column import Column, ItemSets, SetValues, smallest
from sudare.table.encode_items import ItemsEncoder, settled
from sudare.table.raw_codes import chunks
from sudare.table.value_spellings import fold_all


class SetsEncoder:
    """Encodes a sensitive column of item sets, by an encoder of its ``items``.

    With ``merge`` spellings of one item are one (see :mod:`sudare.table.value_spellings`). A record that holds several
    spellings of an item has the first of them, by its text.
    """

    def __init__(self, items: ItemsEncoder, *, merge: bool = True) -> None:
        self.items, self.merge = items, merge

    def add(self, cells: pa.Array) -> None:
        """Add some records, of the same type each time."""
        self.items.add(cells)

    def check_separator(self) -> None:
        """Raise if the separator is wrong."""
        self.items.check_separator()

    def finish(self) -> Column:
        """Return the encoded column."""
        sets = self.items.finish()
        sets = _each_once(sets) if self.merge else sets
        of_record, first = number_sets(sets)
        shown = sets.taken(first)
        counted, merged = _counted(shown, self.merge)
        return Column(
            name=self.items.name,
            kind="categorical",
            codes=smallest(of_record, len(first)),
            values=pa.array(np.arange(len(first))),
            merged=merged if self.merge else None,
            sets=SetValues(shown, counted, self.merge),
        )


def encode_sets(
    name: str,
    cells: pa.ChunkedArray | pa.Array,
    *,
    separator: str | None = None,
    missing: Sequence[str] = (),
    merge: bool = True,
) -> Column:
    """Encode a sensitive column of item sets that is in memory; see :class:`SetsEncoder`."""
    encoder = SetsEncoder(ItemsEncoder(name, separator=separator, missing=missing, expected=len(cells)), merge=merge)
    for chunk in chunks(cells):
        encoder.add(chunk)
    return encoder.finish()


def number_sets(sets: ItemSets) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the number of each record's set, and a record that holds each; equal sets have the same number.

    Sets are found by numbers of 64 bits, and then compared: if two different ones had the same, all get others.
    """
    from sudare.kernels.class_rows import gather_keys
    from sudare.kernels.flat_sets import are_sets_of, hash_sets

    keys = np.empty(len(sets), dtype=np.uint64)
    of_record = np.empty(len(sets), dtype=np.uint32)
    items = sets.items.astype(np.uint32, copy=False)
    salt = 0
    while True:
        hash_sets(sets.offsets, items, np.uint64(salt), keys)
        different = gather_keys(keys, of_record)
        first = np.empty(len(different), dtype=np.int64)
        first[of_record[::-1]] = np.arange(len(sets))[::-1]
        if are_sets_of(sets.offsets, items, of_record, first):
            break
        salt += 1
    order = np.argsort(different)  # by content, not by first appearance
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return rank[of_record], first[order]


def _each_once(sets: ItemSets) -> ItemSets:
    """Return sets with one spelling of each item, the first by its text; both arrays of ``sets`` may change."""
    from sudare.kernels.flat_sets import keep_first

    encoded = fold_all(sets.values.cast(pa.large_string())).dictionary_encode()
    keys = len(encoded.dictionary)
    if keys == len(sets.values):
        return sets
    # what folds to nothing, and a missing set, are no items and have keys of their own
    key_of = np.arange(keys, keys + sets.size, dtype=np.int64)
    there = np.asarray(encoded.indices.is_valid())
    key_of[: len(there)][there] = pc.drop_null(encoded.indices).to_numpy()
    size = keep_first(sets.items, sets.offsets, key_of, keys + sets.size)
    return replace(sets, items=sets.items[:size])


def _counted(shown: ItemSets, merge: bool) -> tuple[ItemSets, int]:
    """Return sets as models compare them, and how many spellings were another one of the same item."""
    from sudare.kernels.flat_sets import NOTHING

    texts = shown.values.cast(pa.large_string())
    encoded = (fold_all(texts) if merge else texts).dictionary_encode()
    keys = encoded.dictionary
    lookup = np.full(len(texts) + 1, NOTHING, np.uint32)  # a missing set holds no item
    there = np.asarray(encoded.indices.is_valid())
    lookup[:-1][there] = pc.drop_null(encoded.indices).to_numpy()
    offsets, items = settled(shown.items.astype(np.uint32), shown.offsets.copy(), lookup)
    counted = replace(shown, offsets=offsets, items=smallest(items, len(keys)), values=keys, missing=False)
    return counted, int(there.sum()) - len(keys)
