"""How often the values of a carried column occur among some rows: what is counted, as a list in ascending order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import sort_stable

DENSE = 8
"""Values are listed by a walk over their range, unless that is longer than so many times the rows."""


class Counter(NamedTuple):
    """Working space with a cell per value, all zero between uses; and whether the values are listed or only counted."""

    cells: NDArray[np.int64]
    listing: bool


class Listed(NamedTuple):
    """The values that occur among some rows, ascending, and how many records have each; one list after the other."""

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]


@kernel
def is_dense(low, high, rows):
    """Say whether values from low to high, which so many rows have, are best listed by a walk over the range."""
    return high - low < DENSE * rows + 64


@kernel
def list_range(count, low, high, listed, at):
    """List the values from low to high that were counted, from ``at`` on, and clear their counts; return the end."""
    codes, counts = listed.codes, listed.counts
    for code in range(low, high + 1):
        if count[code] > 0:
            codes[at], counts[at] = code, count[code]
            count[code] = 0
            at += 1
    return at


@kernel
def note_once(code, count, keys, places, noted):
    """Note a value among ``keys`` unless that was done: a negative count marks it. Return how many are noted."""
    if count[code] > 0:
        count[code] = -count[code]
        keys[noted], places[noted] = code, noted
        return noted + 1
    return noted


@kernel
def list_noted(noted, keys, places, spare, count, listed, at):
    """List the values that were noted, from ``at`` on, and clear their counts; return the end."""
    sort_stable(keys, places, spare, noted)
    for entry in range(noted):
        code = keys[places[entry]]
        listed.codes[at], listed.counts[at] = code, -count[code]
        count[code] = 0
        at += 1
    return at
