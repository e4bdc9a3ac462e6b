"""Random words for releases, from the operating system.

Random values hide the truth only as long as nobody can draw them again. The state of a statistical generator, such as
NumPy's, can be recovered from enough of its output. A release of drawn cells is such output, and with the state anyone
could distinguish dummies from true values. So the words come from the operating system, whose generator is made to
withstand that. The same holds for orders of rows, and for numbers that stand for people: they reveal nothing only as
long as nobody can reconstruct them. A seed is for tests: it is never in a release or its certificate, which only
records that there was one.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np
from numpy.typing import NDArray

from sudare.core.sizes import MANY_ROWS, WORDS

BLOCK = MANY_ROWS
"""Words, 4 MiB, that are worth asking for at a time: more gain nothing, and take room."""

OPERATING_SYSTEM, SEEDED = "the operating system's", "made from a seed, for tests alone"
"""Where random words come from, as certificates say it."""


class Entropy:
    """An endless supply of random 32-bit words; threads may share it.

    ``source`` says in a few words where they come from; it says that there was a seed, but not which.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._generator = None if seed is None else np.random.default_rng(seed)

    @property
    def source(self) -> str:
        """Where the words come from, for the certificate."""
        return OPERATING_SYSTEM if self._generator is None else SEEDED

    def words(self, count: int) -> NDArray[np.uint32]:
        """Return so many words that nobody was given before."""
        if self._generator is not None:
            return self._generator.integers(0, WORDS, count, dtype=np.uint32)
        # copied: an array over bytes is read-only, another type, for which kernels would be compiled a second time
        return np.frombuffer(os.urandom(4 * count), dtype=np.uint32).copy()

    def permutation(self, count: int) -> NDArray[np.int64]:
        """Return the numbers below ``count`` in an order of which all are equally likely."""
        while True:
            keys = self.words(2 * count).view(np.uint64)
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            if not (keys[1:] == keys[:-1]).any():  # hardly ever; ties would favour the order that there was
                return np.asarray(order, dtype=np.int64)


class Keyed:
    """Random 32-bit words that can be drawn again with the key, and cannot be predicted without it.

    They are the output of SHAKE-256. This is for draws that must be the same if they are repeated, such as when Spark
    runs a task again; the key comes from the operating system.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def below(self, bound: int, count: int) -> NDArray[np.int64]:
        """Return so many numbers below a bound, at most 2^32, of which all are equally likely."""
        least = WORDS % bound  # products below it are drawn again, as they would favour some (Lemire, 2019)
        more = count
        while True:
            # more of the same stream, which begins with what it began with before
            words = np.frombuffer(hashlib.shake_256(self._key).digest(4 * more), dtype="<u4").astype(np.uint64)
            products = words * np.uint64(bound)
            fair = (products & np.uint64(0xFFFFFFFF)) >= np.uint64(least)
            found = (products[fair] >> np.uint64(32)).astype(np.int64)
            if len(found) >= count:
                return found[:count]
            more += 64 + more // 8
