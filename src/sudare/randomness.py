"""Random words for what is released.

What is drawn hides the truth only as long as nobody can draw it again. The state of a statistical generator, such as
NumPy's, can be recovered from enough of its output; a release of drawn cells is such output, and with the state anyone
could tell the dummies from the truth. So the words come from the operating system, whose generator is made to
withstand that. A seed is for tests: it never reaches a release or its certificate.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20
"""Words, 4 MiB, that are worth asking for at a time: more gain nothing, and take room."""


class Entropy:
    """An endless supply of random 32-bit words; threads may share it.

    ``source`` says in a few words where they come from; it tells that there was a seed, and not which.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._generator = None if seed is None else np.random.default_rng(seed)

    @property
    def source(self) -> str:
        """Where the words come from, for the certificate."""
        return "the operating system's" if self._generator is None else "made from a seed, for tests alone"

    def words(self, count: int) -> NDArray[np.uint32]:
        """Return so many words that nobody was given before."""
        if self._generator is not None:
            return self._generator.integers(0, 1 << 32, count, dtype=np.uint32)
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
