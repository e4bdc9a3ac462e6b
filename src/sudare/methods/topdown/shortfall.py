"""The probability that a part of a cluster falls short of the requirements, if values were assigned at random.

Everything here is an upper bound, and 0 where no choice of records falls short. It depends on how often the cluster
holds each sensitive value and on how many records are chosen, and not on who has which value.

- k-anonymity: too few records fall short, others never.
- distinct l-diversity: all chosen records have one of l - 1 values. The bound is the sum over all sets of l - 1 values,
  or where these are many, their number times the largest.
- (alpha, k)-anonymity: some value has more than a share alpha. The number of chosen records that have it is
  hypergeometric; as its probabilities fall ever faster, the tail is at most a geometric series. The bound is the sum
  over the values.
- entropy and recursive l-diversity: 1, unless there are so many records that none of their choices falls short.

From some number of records on no choice falls short (:func:`safe_size`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare.models import TOLERANCE, AlphaKAnonymity, LDiversity, Requirements, named_codes
from sudare.models.requirements import Model
from sudare.table import Column

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
NEVER = np.iinfo(np.int64).max
"""A size that nothing has."""
MOST_SETS = 1 << 12
"""The most sets of values that are all examined."""
ROUNDING = 1 + 1e-6
"""Bounds are so much larger than computed, for what is lost to rounding."""
LEAST = 1e-300
"""A probability that is not 0, where it is too small to be computed."""
_SMALL = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, 257)))))


class Shortfall:
    """What a cluster of so many records holds: of each sensitive column the codes, how often each, and the column."""

    def __init__(self, requirements: Requirements, records: int, held: Mapping[str, tuple[Ints, Ints, Column]]) -> None:
        self._records = records
        self._parts = [(model, *held[model.column]) for model in requirements.of_groups if model.column is not None]
        self._safe = [safe_size(model, codes, counts, column) for model, codes, counts, column in self._parts]
        self._least = requirements.least_rows

    def of_splits(self, left: Ints) -> Floats:
        """Return how likely one of the sides of splits falls short, by the records on the left."""
        sizes, own = np.unique(np.concatenate([left, self._records - left]), return_inverse=True)
        found = self.of_sizes(sizes)[own]
        return np.minimum(found[: len(left)] + found[len(left) :], 1.0)

    def of_sizes(self, sizes: Ints) -> Floats:
        """Return how likely so many records fall short."""
        failing = np.where(sizes < self._least, 1.0, 0.0)
        for (model, codes, counts, column), safe in zip(self._parts, self._safe, strict=True):
            open_ = np.flatnonzero((sizes < safe) & (failing < 1))
            if len(open_):
                # what can fall short is never taken for what cannot, however unlikely it is
                failing[open_] += np.maximum(ROUNDING * _bound(model, codes, counts, column, sizes[open_]), LEAST)
        return np.minimum(failing, 1.0)


def _bound(model: Model, codes: Ints, counts: Ints, column: Column, sizes: Ints) -> Floats:
    """Return how likely so many records, fewer than are safe, fall short of a model."""
    if isinstance(model, AlphaKAnonymity):
        return _tails(_limited(model, codes, counts, column), int(counts.sum()), sizes, model.alpha)
    assert isinstance(model, LDiversity)
    if model.variant != "distinct":
        return np.ones(len(sizes))
    return _within_few(counts, int(model.l) - 1, sizes)


def _within_few(counts: Ints, few: int, sizes: Ints) -> Floats:
    """Return how likely all chosen records have one of so few values."""
    total = int(counts.sum())
    if len(counts) <= few:
        return np.ones(len(sizes))
    if math.comb(len(counts), few) <= MOST_SETS:
        together, times = np.unique([sum(part) for part in combinations(counts.tolist(), few)], return_counts=True)
    else:
        together, times = np.array([np.sort(counts)[-few:].sum()]), np.array([float(math.comb(len(counts), few))])
    there = together[:, None] >= sizes[None, :]
    chosen = np.where(there, sizes[None, :], 0)
    log = _log_choose(together[:, None], chosen) - _log_choose(np.array(total), sizes)[None, :]
    found: Floats = (np.where(there, np.exp(np.minimum(log, 0.0)), 0.0) * times[:, None]).sum(axis=0)
    return np.minimum(found, 1.0)


def _tails(counts: Ints, total: int, sizes: Ints, alpha: float) -> Floats:
    """Return how likely some value has more than its share of the chosen records."""
    values, times = np.unique(counts, return_counts=True)
    c, s = values[:, None], sizes[None, :]
    t = np.floor((alpha + TOLERANCE) * s).astype(np.int64) + 1  # the first number that is too many
    possible = (t <= np.minimum(c, s)) & (s - t >= 0)
    # fewer than this many of a value cannot be chosen: then the first term is the first that there can be
    t = np.maximum(t, s - (total - c))
    inside = possible & (t <= np.minimum(c, s))
    safe = np.where(inside, t, 0)
    rest = np.where(inside, s - safe, 0)
    log = _log_choose(c, safe) + _log_choose(total - c, rest) - _log_choose(np.array(total), s)
    ratio = (c - safe) * (s - safe) / np.maximum((safe + 1) * (total - c - s + safe + 1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.where(ratio < 1, np.exp(np.minimum(log, 0.0)) / (1 - ratio), 1.0)
    found: Floats = (np.where(inside, np.minimum(tail, 1.0), 0.0) * times[:, None]).sum(axis=0)
    return np.minimum(found, 1.0)


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
    return _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k)


def _log_factorial(n: NDArray[np.int64]) -> Floats:
    """Return the logarithm of n!, from a table or by Stirling's series, to some ten digits."""
    large = np.maximum(n, 200).astype(np.float64)
    series = large * np.log(large) - large + 0.5 * np.log(2 * np.pi * large) + 1 / (12 * large) - 1 / (360 * large**3)
    return np.where(n <= 256, _SMALL[np.minimum(n, 256)], series)


def _limited(model: AlphaKAnonymity, codes: Ints, counts: Ints, column: Column) -> Ints:
    """Return how often the cluster holds each value that is limited."""
    if model.values is None:
        return counts
    return counts[np.isin(codes, [code for code in named_codes(column, model.values) if code >= 0])]


def safe_size(model: Model, codes: Ints, counts: Ints, column: Column) -> int:
    """Return the least number of records that keep a model, whichever of a cluster's records they are.

    The cluster holds ``counts`` of the values ``codes``. Of all choices of so many records, the one with the most
    frequent values, as many of each as there are, has the fewest values, the least entropy, and the most records before
    the l-th value: its counts majorize those of any other. With more records it only becomes better.
    """
    if isinstance(model, AlphaKAnonymity):
        top = int(_limited(model, codes, counts, column).max(initial=0))
        return max(model.k, 1 if model.alpha >= 1 else math.ceil(top / (model.alpha + TOLERANCE)))
    assert isinstance(model, LDiversity)
    falling = np.sort(counts)[::-1]
    total = np.cumsum(falling)
    if model.variant == "entropy":
        least_entropy = math.log(model.l) - TOLERANCE
        return _first(lambda size: _least_entropy(falling, total, size) >= least_entropy, int(total[-1]))
    least = int(model.l)
    if len(falling) < least:
        return NEVER
    before = int(total[least - 2])
    if model.variant == "distinct":
        return before + 1
    # r1 < c * (what is left after the l - 1 most frequent)
    return before + math.floor((int(falling[0]) + TOLERANCE) / (model.c or 1.0)) + 1


def _least_entropy(falling: Ints, total: Ints, size: int) -> float:
    """Return the entropy of so many records of the most frequent values."""
    kinds = int(np.searchsorted(total, size))
    parts: Floats = np.append(falling[:kinds], size - (int(total[kinds - 1]) if kinds else 0)) / size
    parts = parts[parts > 0]
    return float(-(parts * np.log(parts)).sum())


def _first(holds: Callable[[int], bool], most: int) -> int:
    """Return the first size from which something holds, one above ``most`` if it never does."""
    low, high = 1, most + 1
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
