"""By how many days the dates of each person move."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.transformations.secret_keys import DIGEST, SecretKey, in_pieces
from sudare.transformations.text_buffers import text_buffers

PURPOSE = "shift"
"""What the key of offsets is derived for."""


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
