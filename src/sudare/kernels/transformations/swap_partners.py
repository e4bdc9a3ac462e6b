"""Partners for rank swapping."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel


@kernel
def swap_partners(count, most, words):
    """Return for each rank the rank that it changes places with: itself, or one at most ``most`` away.

    From the lowest rank upwards, each one that is free gets a partner among the free ranks after it. A random word
    chooses a place, and the first free rank from there on is taken; beyond the window, the first one in it.
    ``free`` leads to the next free rank, with the paths made shorter on the way.
    """
    partner = np.arange(count)
    free = np.arange(count + 1)
    for rank in range(count):
        if free[rank] != rank:
            continue
        last = min(rank + most, count - 1)
        free[rank] = rank + 1
        if last == rank:
            continue
        span = np.uint64(last - rank)
        place = rank + 1 + np.int64((np.uint64(words[rank]) * span) >> np.uint64(32))
        found = place
        while free[found] != found:
            free[found] = free[free[found]]
            found = free[found]
        if found > last:
            found = rank + 1
            while free[found] != found:
                free[found] = free[free[found]]
                found = free[found]
        if found > last:
            continue
        partner[rank], partner[found] = found, rank
        free[found] = found + 1
    return partner
