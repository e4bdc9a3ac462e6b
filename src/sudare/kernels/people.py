"""Counting the people who hold each value."""

from __future__ import annotations

import numpy as np

from sudare.kernels.ordering import kernel


@kernel
def count_people(codes, subjects, order, held, alone):
    """Count the people who hold each code, in ``held``; in ``alone`` each person counts for one of their codes.

    ``order`` lists the rows so that those of one person stand together.
    """
    last = np.full(len(held), -1, np.int64)
    person = -1
    for index in range(len(order)):
        row = order[index]
        code, subject = codes[row], np.int64(subjects[row])
        if subject != person:
            person = subject
            alone[code] += 1
        if last[code] != subject:
            last[code] = subject
            held[code] += 1
