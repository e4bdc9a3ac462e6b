"""The smallest parts that a specialization would make of groups, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sudare.kernels.tds import specializations as kernel


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_part_of_each_group_is_found(seed):
    random = np.random.default_rng(seed)
    lines, sizes = int(random.integers(1, 60)), random.integers(1, 6, 3)
    begin = np.concatenate(([0], np.cumsum(sizes)))
    attributes = np.sort(random.permutation(3)[: random.integers(1, 4)])
    # all codes of an attribute show its root, which has some children; or it is a leaf
    fan, slot = np.zeros(begin[-1], dtype=np.int64), np.zeros(begin[-1], dtype=np.int64)
    for attribute in range(3):
        children = int(random.integers(0, sizes[attribute] + 1))
        own = slice(begin[attribute], begin[attribute + 1])
        fan[own] = children
        slot[own] = random.integers(0, max(children, 1), sizes[attribute])
    atoms = np.column_stack(
        [
            *(random.integers(0, sizes[attribute], lines) for attribute in attributes),
            random.integers(0, 2, lines),
            random.integers(1, 9, lines),
        ]
    ).astype(np.uint32)
    ends = np.unique(np.append(random.integers(1, lines + 1, 4), lines))
    starts = np.concatenate(([0], ends[:-1]))
    chosen = random.permutation(len(ends))
    records, found = len(attributes) + 1, np.empty((len(ends), len(attributes) + 1), dtype=np.int64)
    kernel.least_parts(atoms, starts, ends, chosen, attributes, begin, slot, fan, np.int64(records), found)
    for line, group in enumerate(chosen):
        rows = atoms[starts[group] : ends[group]].astype(np.int64)
        expected = []
        for place, attribute in enumerate(attributes):
            parts = Counter()
            for row in rows:
                at = begin[attribute] + row[place]
                parts[int(slot[at]) if fan[at] > 1 else 0] += int(row[records])
            expected.append(min(parts.values()))
        assert found[line].tolist() == [*expected, int(rows[:, records].sum())]
