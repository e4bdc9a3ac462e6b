"""Blocks of near records, or of near groups of records: small enough to be searched by themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.microaggregation.group_lists import Blocks
from sudare.methods.clustering.neighbourhoods import Ints

SAMPLE = 1024
"""Units by which the spread of a part is measured."""
UNEVEN = 0.15
"""A part is cut at the middle, give or take so large a share of it: no two rounds cut at the same place."""


def near_blocks(middles: NDArray[np.float64], weights: Ints, most: int, seed: int) -> list[Ints]:
    """Part units at random places until no part weighs more than ``most``; return the units of each, ascending.

    A part is cut across a column in which its units are far apart: the one in which they are farthest apart, after the
    spread of each column was multiplied by a random number. ``middles`` has a row for each unit.
    """
    chance = _fractions(seed)
    waiting, found = [np.arange(len(middles))], []
    while waiting:
        units = waiting.pop()
        if len(units) < 2 or weights[units].sum() <= most:
            found.append(np.sort(units))
            continue
        stretched = np.array([0.3 + 0.7 * next(chance) for _ in range(middles.shape[1])])
        some = middles[units[:: -(-len(units) // SAMPLE)]]
        column = int(np.argmax(some.std(axis=0) * stretched))
        share = 0.5 + UNEVEN * (2.0 * next(chance) - 1.0)
        cut = min(max(int(share * len(units)), 1), len(units) - 1)
        parted = units[np.argpartition(middles[units, column], cut)]
        waiting += [parted[cut:], parted[:cut]]
    return found


def _fractions(seed: int) -> Iterator[float]:
    """Yield numbers from 0 to 1, without an end, that look random. They decide where to search, never what is shown."""
    word = seed
    while True:
        word = (word * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (word >> 11) / 2**53


def joined_blocks(parts: list[Ints]) -> Blocks:
    """Return blocks, one after the other."""
    return Blocks(np.concatenate(parts), np.concatenate(([0], np.cumsum([len(part) for part in parts]))))


def group_blocks(points: NDArray[np.float64], groups: Ints, made: int, most: int, seed: int) -> Blocks:
    """Part records into blocks of whole groups that are near each other, of at most so many records if possible."""
    sizes = np.bincount(groups, minlength=made)
    by_group, begin = np.argsort(groups, kind="stable"), np.cumsum(sizes) - sizes
    parts = []
    for part in near_blocks(middles(points, groups, made), sizes, most, seed):
        lengths = sizes[part]
        ahead = np.cumsum(lengths) - lengths
        parts.append(np.sort(by_group[np.repeat(begin[part] - ahead, lengths) + np.arange(lengths.sum())]))
    return joined_blocks(parts)


def middles(points: NDArray[np.float64], groups: Ints, made: int) -> NDArray[np.float64]:
    """Return the mean of each group."""
    sizes = np.bincount(groups, minlength=made)
    return np.stack([np.bincount(groups, column, minlength=made) / sizes for column in points.T], axis=1)
