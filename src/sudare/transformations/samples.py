"""Samples: each person, or each record, is in the release with the same probability, independently of all others.

For people, the decision follows from who they are and from a key that is forgotten afterwards. So all records of a
person are in, or none, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sudare.core.randomness import Entropy
from sudare.core.sizes import WORDS
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.secret_keys import SecretKey


@dataclass(frozen=True)
class Sample:
    """Chooses records with a probability; with a ``person`` column all or none of a person's."""

    share: float
    person: str | None
    key: SecretKey
    entropy: Entropy

    def chosen(self, rows: int, beside: Mapping[str, pa.Array]) -> pa.Array:
        """Return which of some records are in the sample; a record without a person is drawn by itself."""
        least = np.uint64(round(self.share * WORDS))
        drawn = self.entropy.words(rows) < least
        if self.person is not None:
            people = normal_texts(beside[self.person]).dictionary_encode()
            words = np.ascontiguousarray(self.key.digests(people.dictionary)[:, :4]).view("<u4").reshape(-1)
            taken = pa.array(words < least).take(people.indices)
            drawn = np.where(np.asarray(taken.is_valid()), np.asarray(taken.fill_null(False)), drawn)
        return pa.array(drawn)
