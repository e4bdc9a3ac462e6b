"""Raw codes: a number for each distinct cell, chunk by chunk, before values are parsed.

Code 0 is a null, code ``i + 1`` the distinct value ``i``, unchanged. Whole numbers, dates and times in a range that is
not too wide need no dictionary on the way: their distance from the smallest one is their code until the end. All
else goes through one growing dictionary, and what is kept per cell is the smallest unsigned type that fits.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.sizes import FEW_ROWS
from sudare.table.array_storage import (
    MEMORY,
    Growing,
    Storage,
)
from sudare.table.raw_codes import Raw, blocks, seen_codes, translated

FEW = FEW_ROWS
"""Dictionaries up to this size are merged chunk by chunk, larger ones only after they could have doubled."""

WIDEST = 1 << 27
"""The range of whole numbers up to which no dictionary is needed; it may also be no wider than there are cells."""


class Cells:
    """Encodes the cells of one column as they come; ``storage`` keeps the codes, ``expected`` is how many may come."""

    def __init__(self, storage: Storage = MEMORY, expected: int = 0) -> None:
        self.storage, self.expected = storage, expected
        self._encoder: _Integers | _Dictionary | None = None

    def add(self, cells: pa.Array) -> None:
        """Add some cells, of the same type each time: text, truth values, numbers, dates or times."""
        if self._encoder is None:
            self._encoder = _Integers(self) if _whole(cells.type) is not None else _Dictionary(self)
        if isinstance(self._encoder, _Integers) and not self._encoder.takes(cells):
            self._encoder = self._encoder.as_dictionary()
        self._encoder.add(cells)

    def finish(self) -> Raw:
        """Return what was added; the values stand in no particular order."""
        assert self._encoder is not None, "nothing was added"
        return self._encoder.finish()


class _Integers:
    """Whole numbers, and what is stored as such: the code is the distance from ``base``, and one more."""

    def __init__(self, owner: Cells) -> None:
        self.owner = owner
        self.codes = Growing(owner.storage, np.uint8, owner.expected)
        self.kind: pa.DataType | None = None
        self.base = self.low = self.high = 0
        self.nulls = self.found = False

    def takes(self, cells: pa.Array) -> bool:
        """Return whether the range stays narrow enough with these cells."""
        ends = _ends(cells)
        if ends is None:
            return True
        low, high = (min(self.low, ends[0]), max(self.high, ends[1])) if self.found else ends
        return high - low < min(max(FEW, self.codes.size + len(cells), self.owner.expected), WIDEST)

    def add(self, cells: pa.Array) -> None:
        self.kind = cells.type
        stored = cells.view(_whole(cells.type))
        ends = _ends(cells)
        if ends is None:
            self.nulls |= len(cells) > 0
            self.codes.more(len(cells))[:] = 0
            return
        self._reach(*ends, stored.type)
        codes = self.codes.more(len(cells))
        values = (stored.fill_null(ends[0]) if cells.null_count else stored).to_numpy()
        unsigned = np.dtype(f"u{values.dtype.itemsize}")
        # differences of unsigned numbers are right even where those of signed ones would not fit
        base = np.array(self.base, values.dtype).view(unsigned)
        np.subtract(values.view(unsigned), base, out=codes, casting="unsafe")
        codes += codes.dtype.type(1)
        if cells.null_count:
            self.nulls = True
            codes[cells.is_null().to_numpy(zero_copy_only=False)] = 0

    def _reach(self, low: int, high: int, kind: pa.DataType) -> None:
        """Make sure that these values have codes."""
        if not self.found:
            self.base = self.low = low
            self.high, self.found = high, True
        self.low, self.high = min(self.low, low), max(self.high, high)
        if self.low < self.base:
            # with as much room again, so that the codes so far are moved a few times at most
            least = int(np.iinfo(kind.to_pandas_dtype()).min)
            base = max(self.low - (self.high - self.low), least)
            self.codes.widen(np.min_scalar_type(self.high - base + 1))
            so_far = self.codes.array()
            for block in blocks(len(so_far)):
                part = so_far[block]
                np.add(part, part.dtype.type(self.base - base), out=part, where=part > 0)
            self.base = base
        self.codes.widen(np.min_scalar_type(self.high - self.base + 1))

    def as_dictionary(self) -> _Dictionary:
        """Return the cells so far with a dictionary instead, for ranges that have turned out wide."""
        other = _Dictionary(self.owner)
        for block in blocks(self.codes.size):
            codes = self.codes.array()[block]
            other.add(self._values(codes.astype(np.int64) - 1, codes == 0))
        return other

    def finish(self) -> Raw:
        codes = self.codes.array()
        seen = seen_codes(codes, self.high - self.base + 2)
        seen[0] = False
        present = np.flatnonzero(seen)
        lookup = self.owner.storage.empty(len(seen), np.min_scalar_type(len(present)))
        np.cumsum(seen, out=lookup)
        lookup[0] = 0
        return Raw(self._values(present - 1), translated(codes, lookup, self.owner.storage), self.nulls)

    def _values(self, distances: NDArray[np.int64], null: NDArray[np.bool_] | None = None) -> pa.Array:
        assert self.kind is not None
        whole = _whole(self.kind)
        assert whole is not None
        kind = np.dtype(whole.to_pandas_dtype())
        unsigned = np.dtype(f"u{kind.itemsize}")
        values = (distances.astype(unsigned) + np.array(self.base, kind).view(unsigned)).view(kind)
        return pa.array(values, whole, mask=null).view(self.kind)


class _Dictionary:
    """All other columns: each chunk has a dictionary, and the dictionaries are merged.

    Merging takes time for all values of the dictionary, so large ones are merged rarely. Until then their cells have
    codes of their own chunk.
    """

    def __init__(self, owner: Cells) -> None:
        self.owner = owner
        self.codes = Growing(owner.storage, np.uint8, owner.expected)
        self.values: pa.Array | None = None
        self.nulls = self.given = False
        self._waiting: list[tuple[int, int, pa.Array]] = []
        self._last: tuple[pa.Array, NDArray[np.uint32]] | None = None

    def add(self, cells: pa.Array) -> None:
        if pa.types.is_dictionary(cells.type) and cells.dictionary.null_count:
            cells = cells.dictionary_decode()
        if pa.types.is_dictionary(cells.type):
            self.given = True  # such a dictionary may have values that no cell has
        else:
            cells = cells.dictionary_encode()
        own = _long(cells.dictionary)
        if self.values is None:
            self.values = own.slice(0, 0)
        self.nulls |= cells.indices.null_count > 0
        places = pc.fill_null(cells.indices, 0) if cells.indices.null_count else cells.indices
        if self._last is not None and own.equals(self._last[0]):
            lookup = self._last[1]
        elif len(self.values) + len(own) <= FEW:
            lookup = self._merge([own])
            self._last = own, lookup
        else:
            lookup = np.arange(1, len(own) + 1, dtype=np.uint32)
            self._waiting.append((self.codes.size, self.codes.size + len(cells), own))
        self.codes.widen(np.min_scalar_type(int(lookup.max(initial=0))))
        codes = self.codes.more(len(cells))
        if len(own):
            np.take(lookup.astype(codes.dtype), places.to_numpy(), out=codes, mode="clip")
        if cells.indices.null_count:
            codes[cells.indices.is_null().to_numpy(zero_copy_only=False)] = 0
        if sum(len(waiting) for _, _, waiting in self._waiting) > max(len(self.values), FEW):
            self._settle()

    def _merge(self, dictionaries: list[pa.Array]) -> NDArray[np.uint32]:
        """Take values into the dictionary; return the codes of all of them, one dictionary after the other."""
        assert self.values is not None
        known = len(self.values)
        merged = pa.concat_arrays([self.values, *dictionaries]).dictionary_encode()
        self.values = merged.dictionary
        return np.asarray(merged.indices.to_numpy()[known:] + 1, dtype=np.uint32)

    def _settle(self) -> None:
        """Merge what waits, and give its cells the codes of the whole."""
        if not self._waiting:
            return
        lookups = self._merge([own for _, _, own in self._waiting])
        self.codes.widen(np.min_scalar_type(int(lookups.max(initial=0))))
        codes, start = self.codes.array(), 0
        for first, last, own in self._waiting:
            lookup = np.append(np.uint32(0), lookups[start : start + len(own)]).astype(codes.dtype)
            translated(codes[first:last], lookup)
            start += len(own)
        self._waiting, self._last = [], None

    def finish(self) -> Raw:
        self._settle()
        assert self.values is not None
        values, codes = self.values, self.codes.array()
        if self.given:
            seen = seen_codes(codes, len(values) + 1, until_all=True)[1:]
            if not seen.all():
                lookup = np.zeros(len(values) + 1, np.uint32)
                np.cumsum(seen, out=lookup[1:])
                values = values.filter(pa.array(seen))
                codes = translated(codes, lookup.astype(codes.dtype))
        return Raw(values, codes, self.nulls)


def _whole(kind: pa.DataType) -> pa.DataType | None:
    """Return the whole numbers that a type is stored as, or None."""
    if pa.types.is_integer(kind):
        return kind
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    return None


def _ends(cells: pa.Array) -> tuple[int, int] | None:
    """Return the smallest and the largest whole number, or None if there is none."""
    stored = cells.view(_whole(cells.type))
    if stored.null_count == len(stored):
        return None
    if not stored.null_count:
        values = stored.to_numpy()
        return int(values.min()), int(values.max())
    ends = pc.min_max(stored).as_py()
    return ends["min"], ends["max"]


def _long(values: pa.Array) -> pa.Array:
    """Return text with 64-bit offsets: all of a dictionary together may be too long for fewer."""
    text = pa.types.is_string(values.type) or pa.types.is_string_view(values.type)
    return values.cast(pa.large_string()) if text else values
