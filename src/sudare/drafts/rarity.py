"""Rarity of values: whether an exact value of a column would identify a person, whatever its name.

A value that few records hold leads to them. In a column where that is so of most records, the values are numbers or
codes of people or of records, or measurements so exact that they work like such numbers. Which of both it is can be
told only in part, from how the numbers lie:

- numbers with fractions measure something;
- numbers that lie close together, as ages and blood pressures do, are rare in a small table by chance alone;
- long numbers that end in any digit and lie far apart are numbers of something, however often they come back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.hierarchies.value_kinds import is_number

FEW = 5
"""A value that fewer records hold identifies them: a drafted policy requires the same number."""

MOST_TO_COUNT = 200
"""Ages, percentages, scores and years have fewer different values."""

SKEWED = 0.8
"""Where a larger share of the records holds one value, a second one in each group would hide nearly everything else."""

_FAR_APART = 10  # numbers fill less than a tenth of their range
_LONG = 10_000  # numbers of five digits and more
_LONGEST = 1_000_000  # heights, weights and distances have fewer digits in any unit; incomes as long as this are round
_NEARLY_ALL, _FOUR_OF_FIVE = 0.9, 0.8
_ROUND = 0.3  # of any numbers, one in ten ends in a zero; of amounts, many more do
_MOST = 0.5
_EXACT = 2.0**53  # beyond, a float does not say what a number ends in
_CODE = re.compile(r"(?=\S*\d)[^\W_][\w./:#-]{2,39}")


@dataclass(frozen=True)
class Rarity:
    """How rare values are.

    ``exposed`` is the share of the cells that are there whose value fewer than ``FEW`` records hold. ``whole`` says
    that all values are whole numbers, ``apart`` that these lie far apart, ``long`` that they are long and seldom round,
    ``longest`` that they are longer than what is measured about people.
    ``codes`` says that most texts are codes: words of letters and digits.
    """

    exposed: float = 0.0
    whole: bool = False
    apart: bool = False
    long: bool = False
    longest: bool = False
    codes: bool = False


def rarity_of(values: pa.Array, counts: pa.Array, sample: Sequence[str]) -> Rarity:
    """Return how rare different values are that occur so often; ``sample`` are some of them as text."""
    present = pc.sum(counts).as_py() or 0
    alone = pc.sum(counts.filter(pc.less(counts, FEW))).as_py() or 0
    exposed = alone / present if present else 0.0
    if pa.types.is_large_string(values.type):
        codes = sum(_CODE.fullmatch(value.strip()) is not None for value in sample)
        return Rarity(exposed, codes=bool(sample) and codes > _MOST * len(sample))
    numbers = _whole(values)
    if numbers is None or not len(numbers):
        return Rarity(exposed)
    size = np.abs(numbers)
    rounded = float(np.mean(np.fmod(numbers, 10) == 0)) if size.max() < _EXACT else 0.0
    return Rarity(
        exposed,
        whole=True,
        apart=bool(np.ptp(numbers) > _FAR_APART * len(numbers)),
        long=bool(np.mean(size >= _LONG) >= _NEARLY_ALL) and rounded <= _ROUND,
        longest=bool(np.mean(size >= _LONGEST) >= _FOUR_OF_FIVE) and rounded <= _ROUND,
    )


def _whole(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """Return whole numbers, also those of a type of fractions that has none; None where there are fractions."""
    kind = values.type
    if not is_number(kind):
        return None
    values = values.drop_null()
    numbers = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    return numbers if np.array_equal(numbers, np.floor(numbers)) else None
