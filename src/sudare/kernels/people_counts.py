"""Counting the people who hold each value."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel


@kernel
def count_people(codes, subjects, order, held):
    """Count the people who hold each code; ``order`` lists the rows so that those of one person stand together."""
    last = np.full(len(held), -1, np.int64)
    for index in range(len(order)):
        row = order[index]
        code, subject = codes[row], np.int64(subjects[row])
        if last[code] != subject:
            last[code] = subject
            held[code] += 1


@kernel
def count_once(codes, subjects, order, chosen, alone):
    """Count each person for the smallest of their codes that are chosen; ``order`` is as above."""
    person, smallest = np.int64(-1), len(alone)
    for index in range(len(order)):
        row = order[index]
        if np.int64(subjects[row]) != person:
            if smallest < len(alone):
                alone[smallest] += 1
            person, smallest = np.int64(subjects[row]), len(alone)
        if chosen[codes[row]]:
            smallest = min(smallest, np.int64(codes[row]))
    if smallest < len(alone):
        alone[smallest] += 1
