"""Slow and obvious versions of what the risk room computes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import prod


def classes(rows):
    """The size of each row's class."""
    counts = Counter(rows)
    return [counts[row] for row in rows]


def minimal_uniques(rows, most):
    """For each row, the combinations of up to ``most`` columns that single it out, and no part of which does."""
    width = len(rows[0]) if rows else 0
    found = [[] for _ in rows]
    for size in range(1, min(most, width) + 1):
        for chosen in combinations(range(width), size):
            counts = Counter(tuple(row[place] for place in chosen) for row in rows)
            for number, row in enumerate(rows):
                alone = counts[tuple(row[place] for place in chosen)] == 1
                if alone and not any(set(other) < set(chosen) for other in found[number]):
                    found[number].append(chosen)
    return found


def suda_scores(rows, most):
    """The sum, over the minimal uniques of each row, of (A - k) ... (A - M + 1)."""
    width = len(rows[0]) if rows else 0
    most = min(most, width)
    return [
        sum(prod(width - size for size in range(len(chosen), most)) for chosen in each)
        for each in minimal_uniques(rows, most)
    ]


def guess(values, own):
    """The chance to be right by the most frequent of some values, ties at random; None if there are none."""
    if not values:
        return None
    counts = Counter(values)
    top = [value for value, count in counts.items() if count == max(counts.values())]
    return 1 / len(top) if own in top else 0.0
