"""Encoding of item sets: lists, or text with a separator, become flat codes and offsets, chunk by chunk.

The items of all records are encoded as the cells of one long column. At the end they get the codes of their texts,
and the items of each record are sorted and counted once, in place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import FEW_ROWS
from sudare.table.array_storage import (
    MEMORY,
    Growing,
    Storage,
)
from sudare.table.column import ItemSets, kind_name
from sudare.table.encode_distinct import Cells
from sudare.table.encode_values import plain_cells
from sudare.table.raw_codes import Codes, Raw, blocks, chunks

MOST_ITEMS = 65_535
"""The items that one record may hold."""

USUAL_SEPARATORS = {"|": "'|'", ";": "';'", ",": "','", "/": "'/'", "\t": "a tab"}
"""What else may part the items of a text, and how messages name it."""
SUSPICIOUS = 0.1
"""If no text has the separator, and this share of them has another one, the separator is taken for a mistake."""

WORKERS = 2
"""The threads that sort the sets of one column."""


class ItemsEncoder:
    """Encodes an item-set column. Items that are repeated, blank or null within a record count once or not.

    A null set becomes an item of its own, or an empty set if ``nulls`` is false: in a text release the two look the
    same. ``missing`` lists texts that stand for a null set. ``expected`` is the number of records and
    ``expected_items`` that of all their items, if they are known.
    """

    def __init__(
        self,
        name: str,
        *,
        separator: str | None = None,
        missing: Sequence[str] = (),
        nulls: bool = True,
        weight: float = 1.0,
        storage: Storage = MEMORY,
        expected: int = 0,
        expected_items: int = 0,
    ) -> None:
        self.name, self.separator, self.missing, self.nulls, self.weight = name, separator, missing, nulls, weight
        self.storage = storage
        self._items = Cells(storage, expected_items)
        self._offsets = Growing(storage, np.int64, expected + 1)
        self._offsets.more(1)[:] = 0
        self._size = 0
        self._texts = 0
        self._parted = False
        self._others = dict.fromkeys(USUAL_SEPARATORS, 0)

    def add(self, cells: pa.Array) -> None:
        """Add some records, of the same type each time."""
        lists = self._lists(cells)
        items = lists.flatten()  # without what stands below null sets
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
        try:
            items = _textlike(self.name, items)
        except (DataError, pa.ArrowInvalid):
            raise self._no_list(cells.type) from None
        if items.null_count:
            items, lengths = _without_nulls(items, lengths)
        if self.nulls and lists.null_count:  # a null among the items now stands for a null set
            items, lengths = _with_null_sets(items, lengths, lists.is_null().to_numpy(zero_copy_only=False))
        offsets = self._offsets.more(len(lengths))
        np.cumsum(lengths, out=offsets)
        offsets += self._size
        self._size += len(items)
        self._items.add(items)

    def finish(self) -> ItemSets:
        """Return the encoded sets."""
        raw = self._items.finish()
        offsets = self._offsets.array()
        values, lookup = self._ranks(raw)
        size, too_long = _settle(raw.codes, offsets, lookup)
        if too_long:
            held = "record holds" if too_long == 1 else "records hold"
            what = f"{too_long} {held} more than {MOST_ITEMS:,} different items."
            raise DataError(Problem(f"column '{self.name}'", what, "remove such records, or shorten their lists."))
        items = raw.codes[:size]
        kind = np.min_scalar_type(max(len(values) + int(raw.nulls) - 1, 0))
        if items.dtype != kind:
            smaller = self.storage.empty(size, kind)
            for block in blocks(size):
                smaller[block] = items[block]
            items = smaller
        return ItemSets(self.name, offsets, items, values, raw.nulls, weight=self.weight)

    def _lists(self, cells: pa.Array) -> pa.Array:
        """Return cells as lists; text is cut at the separator."""
        kind = cells.type
        if not pa.types.is_nested(kind):
            text = plain_cells(self.name, cells)
            text = (text.dictionary_decode() if pa.types.is_dictionary(text.type) else text).cast(pa.large_string())
            if self.missing:
                lost = pc.is_in(text, value_set=pa.array(list(self.missing), pa.large_string()))
                text = pc.if_else(lost, pa.scalar(None, pa.large_string()), text)
            self._look_for_separators(text)
            return pc.split_pattern(text, pattern=self.separator or ",")
        if pa.types.is_fixed_size_list(kind):
            return cells.cast(pa.list_(kind.value_type))
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
            raise self._no_list(kind)  # Arrow's own cast of list views gives lists with wrong ends
        return cells

    def _look_for_separators(self, text: pa.Array) -> None:
        """Note whether any text has the separator; until one has, count those with another."""
        self._parted = self._parted or bool(pc.any(pc.match_substring(text, self.separator or ",")).as_py())
        if self._parted:
            return
        self._texts += len(text) - text.null_count
        for other in self._others:
            self._others[other] += pc.sum(pc.match_substring(text, other)).as_py() or 0

    def check_separator(self) -> None:
        """Raise if the separator is wrong: each text would count as one item, and every promise about items would fail.

        Nobody would notice, since whole texts are rarer than the items in them.
        """
        other = max(self._others, key=self._others.__getitem__)
        if self._parted or not self._others[other] or self._others[other] < SUSPICIOUS * self._texts:
            return
        mark = self.separator or ","
        share = f"{self._others[other] / self._texts:.0%}"
        what = f"no cell has the separator {USUAL_SEPARATORS.get(mark, repr(mark))}, and {share} of them have "
        hint = f"set separator: {json.dumps(other)}; or, if each cell holds one item, kind: categorical."
        raise DataError(Problem(f"column '{self.name}'", f"{what}{USUAL_SEPARATORS[other]}.", hint))

    def _no_list(self, kind: pa.DataType) -> DataError:
        return DataError(Problem(f"column '{self.name}'", f"holds {kind_name(kind)}, which is not a list of items."))

    def _ranks(self, raw: Raw) -> tuple[pa.Array, NDArray[np.uint32]]:
        """Return the distinct items by their text, and what each raw code becomes: the largest number for none."""
        from sudare.kernels.flat_sets import NOTHING

        text = pc.utf8_trim_whitespace(raw.values.cast(pa.large_string()))
        text = pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)
        encoded = text.dictionary_encode()
        order = pc.array_sort_indices(encoded.dictionary).to_numpy()
        rank = np.empty(len(order) + 1, np.uint32)
        rank[order] = np.arange(len(order))
        rank[-1] = NOTHING
        lookup = np.empty(len(text) + 1, np.uint32)
        lookup[0] = len(order)  # the item of a null set
        lookup[1:] = rank[pc.fill_null(encoded.indices, len(order)).to_numpy()]
        return encoded.dictionary.take(pa.array(order)), lookup


def encode_items(
    name: str,
    cells: pa.ChunkedArray | pa.Array,
    *,
    separator: str | None = None,
    missing: Sequence[str] = (),
    nulls: bool = True,
    weight: float = 1.0,
) -> ItemSets:
    """Encode an item-set column that is in memory; see :class:`ItemsEncoder`."""
    encoder = ItemsEncoder(name, separator=separator, missing=missing, nulls=nulls, weight=weight, expected=len(cells))
    for chunk in chunks(cells):
        encoder.add(chunk)
    return encoder.finish()


def _textlike(name: str, items: pa.Array) -> pa.Array:
    """Return items in a type whose values have a text; bytes are items if they are UTF-8."""
    kind = items.type.value_type if pa.types.is_dictionary(items.type) else items.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        items = items.dictionary_decode() if pa.types.is_dictionary(items.type) else items
        return items.cast(pa.binary()).cast(pa.string())
    return plain_cells(name, items)


def _without_nulls(items: pa.Array, lengths: NDArray[np.int64]) -> tuple[pa.Array, NDArray[np.int64]]:
    kept = items.is_valid()
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept.to_numpy(zero_copy_only=False))))
    return items.filter(kept), np.diff(ends[np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))])


def _with_null_sets(
    items: pa.Array, lengths: NDArray[np.int64], null: NDArray[np.bool_]
) -> tuple[pa.Array, NDArray[np.int64]]:
    """Give each null set one item, a null."""
    lengths = lengths + null
    marks = np.zeros(int(lengths.sum()), np.bool_)
    marks[(np.cumsum(lengths) - 1)[null]] = True
    return items.take(pa.array(np.cumsum(~marks) - 1, mask=marks)), lengths


def settled(
    items: NDArray[np.uint32], offsets: NDArray[np.int64], lookup: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return sets with other codes, each once and sorted; the largest number stands for none. Both arrays change."""
    size, _ = _settle(items, offsets, lookup)
    return offsets, items[:size]


def _settle(items: Codes, offsets: NDArray[np.int64], lookup: NDArray[np.uint32]) -> tuple[int, int]:
    """Turn raw codes into sorted sets, in place; return how many items are left, and how many sets are too long."""
    from sudare.kernels.flat_sets import settle

    records = len(offsets) - 1
    workers = WORKERS if records > FEW_ROWS else 1
    cuts = [records * part // workers for part in range(workers + 1)]
    starts = [int(offsets[cut]) for cut in cuts[:-1]]  # each part moves its items towards its own start

    def work(part: int) -> tuple[int, int]:
        return settle(items, offsets, lookup, cuts[part], cuts[part + 1], MOST_ITEMS)  # type: ignore[no-any-return]

    with ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(work, range(workers)))
    offsets[records] = done[-1][0]
    size = done[0][0]
    for part in range(1, workers):
        end, gap = done[part][0], starts[part] - size
        if gap:
            for block in blocks(end - starts[part]):
                items[size + block.start : size + block.stop] = items[
                    starts[part] + block.start : starts[part] + block.stop
                ]
            offsets[cuts[part] : cuts[part + 1]] -= gap
        size = end - gap
    offsets[records] = size
    return size, sum(too_long for _, too_long in done)
