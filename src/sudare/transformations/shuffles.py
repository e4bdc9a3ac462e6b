"""Shuffling: values change places at random, within groups of records that agree on some columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.randomness import Entropy
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.step import Findings, Place, plain


@dataclass(frozen=True)
class Shuffle:
    """Permutes the cells of a column; ``beside`` are the columns on which records of a group agree."""

    place: Place
    entropy: Entropy
    beside: tuple[str, ...]
    whole: bool = True

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return given.value_type if pa.types.is_dictionary(given) else given

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the shuffled cells."""
        group = np.zeros(len(cells), np.int64)
        for name in self.beside:
            codes = _codes(beside[name])
            _, group = np.unique(group * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
            group = group.reshape(-1)
        drawn = self.entropy.permutation(len(cells))
        places, source = np.argsort(group, kind="stable"), drawn[np.argsort(group[drawn], kind="stable")]
        taken = np.empty(len(cells), np.int64)
        taken[places] = source
        sizes = np.bincount(group)
        alone = float(f"{np.count_nonzero(sizes == 1) / max(len(group), 1):.2g}")
        findings.figures[self.place] = {"groups": len(sizes), "alone": alone}
        return plain(cells).take(pa.array(taken))


def _codes(cells: pa.Array) -> NDArray[np.int64]:
    """Return a number for each different value, missing included."""
    texts = normal_texts(cells).dictionary_encode()
    return np.asarray(texts.indices.cast(pa.int64()).fill_null(len(texts.dictionary)))
