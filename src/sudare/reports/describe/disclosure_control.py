"""Disclosure control: which counts of the data a report may show.

The threshold t is the largest k that the policy requires; 10 if it requires none, and never less than 3.

1. A value, or a bin of numbers, that fewer than t records (people, where the policy says who a record is about) have is
   not shown by itself. It is merged with others until there are t. If all such values of a column together have fewer
   than t records, nothing is merged with them: they are not shown, and count for the most frequent value.
2. Counts of the data are rounded to multiples of t. So nobody can subtract the exact counts of the release to find the
   few suppressed records.
3. A count above 0 and below t is shown as "few", without a number.
4. The result of an attack on several people is a count, too, and rounded like one.

Figures that follow from the release alone are exact: anyone who has the release can count them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.policy import Policy

Ints = NDArray[np.int64]
DEFAULT, LEAST = 10, 3


def threshold(policy: Policy) -> int:
    """Return how many records have to share what a report shows."""
    asked = [int(spec.k) for spec in policy.require if hasattr(spec, "k")]
    return max(LEAST, max(asked, default=DEFAULT))


def different(keys: Ints) -> Ints:
    """Return each key once, in order; sorting is much faster here than numpy's hashing."""
    keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


@dataclass(frozen=True, eq=False)
class Crowd:
    """The records of the data, and whom they are about; ``least`` of them make a crowd."""

    rows: int
    least: int
    people: NDArray[np.integer[Any]] | None = None

    def records(self, part: NDArray[Any], parts: int) -> Ints:
        """Return how many records are in each part."""
        return np.bincount(part, minlength=parts)[:parts].astype(np.int64)

    def heads(self, part: NDArray[Any], parts: int) -> Ints:
        """Return how many people are in each part, if the person of each record is known."""
        if self.people is None:
            return self.records(part, parts)
        pairs = different(self.people.astype(np.int64) * parts + part)
        return np.bincount(pairs % parts, minlength=parts)[:parts].astype(np.int64)

    def heads_of_items(self, record: Ints, item: NDArray[Any], items: int) -> Ints:
        """Return how many people hold each item; records hold an item once."""
        if self.people is None:
            return self.records(item, items)
        pairs = different(self.people[record].astype(np.int64) * items + item)
        return np.bincount(pairs % items, minlength=items)[:items].astype(np.int64)

    def together(self, first: int, second: int) -> int:
        """Return how many people two parts hold at least; some may be in both."""
        return first + second if self.people is None else max(first, second)

    def rounded(self, count: float) -> int:
        """Return a count as it may be shown: a multiple of the threshold."""
        return int(np.floor(count / self.least + 0.5)) * self.least

    def share(self, count: float) -> float | None:
        """Return the share of all records that a blurred count is; None if it is above nothing and too small."""
        if 0 < count < self.least:
            return None
        whole = max(self.rounded(self.rows), self.least)
        return round(min(self.rounded(count) / whole, 1.0), 6)

    def nearby(self, share: float, among: int, *, side: int = 0) -> float:
        """Return a share of some people as it may be shown: that of a multiple of the threshold.

        ``side`` is -1 for the multiple below and 1 for the one above, as the ends of an interval ask for. In between,
        what is above nothing never becomes nothing.
        """
        steps = share * among / self.least
        # figures come from divisions, so that whole steps are whole only nearly
        if side < 0:
            whole = math.floor(steps + 1e-6)
        elif side > 0:
            whole = math.ceil(steps - 1e-6)
        else:
            whole = max(math.floor(steps + 0.5), int(share > 0))
        everybody = max(self.rounded(among), self.least)
        return float(f"{min(max(whole * self.least / everybody, -1.0), 1.0):.3g}")


def merged(heads: Ints, crowd: Crowd) -> Ints:
    """Merge neighbouring bins until each holds a crowd; return the new bin of each.

    Empty bins are merged, too: zero is also a count below the threshold.
    """
    part = np.zeros(len(heads), dtype=np.int64)
    current, gathered = 0, 0
    for place, count in enumerate(heads.tolist()):
        part[place] = current
        gathered = crowd.together(gathered, count)
        if gathered >= crowd.least:
            current, gathered = current + 1, 0
    if gathered < crowd.least and current > 0:  # what is left over belongs to the last whole one
        part[part == current] = current - 1
    return part
