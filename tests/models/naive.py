"""The definitions once more, slowly: loops over lists of values, with nothing shared with the package."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

TOLERANCE = 1e-9


def _share(value, values) -> float:
    return sum(1 for other in values if other == value) / len(values)


def _order(value):
    return (value is None, value if value is not None else 0)


def distinct(group) -> int:
    return len(set(group))


def entropy(group) -> float:
    return -sum(_share(v, group) * math.log(_share(v, group)) for v in set(group))


def recursive(group, length) -> float:
    counts = sorted(Counter(group).values(), reverse=True)
    return counts[0] / sum(counts[length - 1 :]) if len(counts) >= length else math.inf


def largest_share(group, named=None) -> float:
    return max((_share(v, group) for v in set(group) if named is None or v in named), default=0.0)


def equal_distance(group, whole) -> float:
    return sum(abs(_share(v, group) - _share(v, whole)) for v in set(whole)) / 2


def ordered_distance(group, whole) -> float:
    present = sorted(set(whole), key=_order)
    if len(present) == 1:
        return 0.0
    carried = moved = 0.0
    for value in present:
        carried += _share(value, group) - _share(value, whole)
        moved += abs(carried)
    return moved / (len(present) - 1)


def hierarchical_distance(group, whole, nested) -> float:
    """Walk the tree from the leaves up, as the paper has it; missing hangs below the root."""
    root = [*nested, "missing"]
    costs = []

    def height(node):
        return 1 + max(map(height, node)) if isinstance(node, list) else 0

    def extra(node):
        if not isinstance(node, list):
            value = None if node == "missing" else node
            return 0.0 if node is None else _share(value, group) - _share(value, whole)
        extras = [extra(child) for child in node]
        positive = sum(e for e in extras if e > 0)
        negative = -sum(e for e in extras if e < 0)
        costs.append(height(node) / height(root) * min(positive, negative))
        return sum(extras)

    extra(root)
    return sum(costs)


def largest_gain(group, whole) -> float:
    return max([0.0] + [(_share(v, group) - _share(v, whole)) / _share(v, whole) for v in set(whole)])


def alike(group, whole, beta, enhanced) -> bool:
    for value in set(whole):
        p, q = _share(value, whole), _share(value, group)
        limit = min(beta, -math.log(p)) if enhanced else beta
        if q > p and (q - p) / p > limit + TOLERANCE:
            return False
    return True


def furthest_log_ratio(group, whole) -> float:
    if set(whole) - set(group):
        return math.inf
    return max(abs(math.log(_share(v, group) / _share(v, whole))) for v in set(whole))


def rare_combinations(records, k, m) -> int:
    support = Counter()
    for record in records:
        for size in range(1, m + 1):
            support.update(combinations(sorted(record), size))
    return sum(1 for count in support.values() if count < k)
