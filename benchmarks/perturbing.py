"""A larger Adult, for measuring growth: copies in which cells are drawn anew from their column."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

REDRAWN = 0.2
"""The probability with which a cell is replaced, so that the copies are not alike."""


def perturbed(small: pa.Table, rows: int, names: Iterable[str]) -> pa.Table:
    """Return that many records of some columns, a fifth of whose cells is drawn anew from their column."""
    random = np.random.default_rng(1)
    columns = {}
    for name in names:
        words = small.column(name).combine_chunks().dictionary_encode()
        codes = words.indices.to_numpy()
        many = np.resize(codes, rows)
        redrawn = np.flatnonzero(random.random(rows) < REDRAWN)
        many[redrawn] = random.choice(codes, len(redrawn))
        columns[name] = words.dictionary.take(pa.array(many))
    return pa.table(columns)
