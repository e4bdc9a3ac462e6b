"""By how many days the dates of each person move."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.sizes import EXACT
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.secret_keys import DIGEST, SecretKey, in_pieces
from sudare.transformations.text_buffers import text_buffers

PURPOSE = "shift"
"""What the key of offsets is derived for."""
_MOST_KEPT = 1 << 24
"""How far apart the numbers of people may be, for their offsets to be kept: 64 MiB then."""
_SOME = 1 << 14
"""As many texts show whether texts repeat."""


def offsets(key: SecretKey, persons: pa.Array, days: int) -> NDArray[np.int64]:
    """Return the offset of each person: uniform on -days..-1 and 1..days, and the same wherever the key is the same.

    ``persons`` are normal texts. Records without a person share an offset of their own, which is not 0 either.
    """
    # a null would have a digest that everybody knows; no person has an empty normal text
    buffers = text_buffers(persons.fill_null(""))
    own, found = key.derived(PURPOSE), np.empty(len(persons), np.int64)

    def write(first: int, last: int) -> None:
        digests = np.zeros((last - first, DIGEST), np.uint8)
        own.digest_rows(buffers, first, last, digests)
        words = np.ascontiguousarray(digests[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
        # of 2^64 words each rest has as many, but for one part in 10^14
        drawn = (words % np.uint64(2 * days)).astype(np.int64) - days
        found[first:last] = np.where(drawn >= 0, drawn + 1, drawn)

    in_pieces(write, len(found))
    return found


class Offsets:
    """The offsets of people, looked up. Those of people with small whole numbers are kept from batch to batch."""

    def __init__(self, key: SecretKey, days: int) -> None:
        self._key, self._days = key, days
        self._first = 0
        self._known = np.zeros(0, np.int32)  # 0, which is nobody's offset, where a number has not been met

    def of(self, persons: pa.Array) -> pa.Array:
        """Return the offset of each person, as cells are; null for a missing one."""
        found = self._of_numbers(persons) if pa.types.is_integer(persons.type) and len(persons) else None
        if found is not None:
            return found
        texts = normal_texts(persons)
        if not _mostly_different(texts):
            people = texts.dictionary_encode()
            return pa.array(offsets(self._key, people.dictionary, self._days), pa.int64()).take(people.indices)
        return pa.array(offsets(self._key, texts, self._days), mask=np.asarray(texts.is_null()))

    def _of_numbers(self, persons: pa.Array) -> pa.Array | None:
        """Return the offsets of people with whole numbers, or None if these are too far apart."""
        edges = pc.min_max(persons).as_py()
        if edges["min"] is None:
            return pa.nulls(len(persons), pa.int64())
        first, last = edges["min"], edges["max"]
        if len(self._known):
            first, last = min(first, self._first), max(last, self._first + len(self._known) - 1)
        if last - first >= _MOST_KEPT or last >= EXACT or first <= -EXACT:
            return None
        if last - first >= len(self._known):
            known = np.zeros(last - first + 1, np.int32)
            known[self._first - first :][: len(self._known)] = self._known
            self._first, self._known = first, known
        there = persons.is_valid().to_numpy(zero_copy_only=False)
        places = persons.cast(pa.int64()).fill_null(self._first).to_numpy() - self._first
        new = np.zeros(len(self._known), np.bool_)
        new[places[there]] = True
        new &= self._known == 0
        if new.any():
            numbers = np.flatnonzero(new)
            texts = pa.array(numbers + self._first).cast(pa.large_string())
            self._known[numbers] = offsets(self._key, texts, self._days)
        return pa.array(self._known[places].astype(np.int64), mask=~there)


def _mostly_different(texts: pa.Array) -> bool:
    """Return whether texts hardly repeat, to judge by the first ones: then to look for repetitions takes longer."""
    some = texts.slice(0, _SOME)
    return len(texts) > _SOME and 2 * len(some.unique()) > len(some)
