"""Whole numbers in files of programs that keep every number as a fraction."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.sizes import EXACT


def whole_numbers(numbers: pa.Array) -> pa.Array:
    """Return fractions as whole numbers, if they all are."""
    largest = pc.max(pc.abs(numbers)).as_py()
    if largest is None or not largest < EXACT or not pc.all(pc.equal(pc.floor(numbers), numbers)).as_py():
        return numbers
    return numbers.cast(pa.int64())
