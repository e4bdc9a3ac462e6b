"""Random steps between neighbours, and whether they are taken at a temperature.

The generator is our own, so that the same input takes the same steps with every version of the libraries.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel, part_of_kernel

AROUND = 24
"""Nearest records among which a step looks for another group."""
STRIDE = 256
"""Steps between two temperatures."""
WORST = 20.0
"""A step that costs more temperatures than this is not taken; the probability would be below 1e-8."""


@kernel
def random_state(seed):
    """Return the state of a generator: a word, which is never 0."""
    state = np.full(1, np.uint64(seed) * np.uint64(2) + np.uint64(1), np.uint64)
    for _ in range(8):
        drawn(state)
    return state


@part_of_kernel
def drawn(state):
    """Return the next random word (xorshift64*), and leave it as the state."""
    word = state[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    state[0] = word
    return word * np.uint64(2685821657736338717)


@kernel
def below(state, bound):
    """Return a random number below a bound."""
    return np.int64(((drawn(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def taken(state, cost, heat):
    """Return whether a step is taken that costs so much at a temperature."""
    return cost <= 0.0 or (
        cost < WORST * heat and np.float64(drawn(state) >> np.uint64(11)) * 2.0**-53 < np.exp(-cost / heat)
    )


@kernel
def neighbour(state, value, start, near, reach, i):
    """Return a random copy of one of the nearest records."""
    other = near[value[i], below(state, reach)]
    first = start[other]
    return first + below(state, start[other + 1] - first)
