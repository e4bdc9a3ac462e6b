"""What is believed of somebody who is perturbed, by the definition."""

from __future__ import annotations

from itertools import product

import numpy as np


def beliefs(prior, matrix) -> np.ndarray:
    """How much of value s is believed, on average, of somebody with the truth t; cell by cell."""
    m = len(prior)
    result = np.zeros((m, m))
    for t, s, o in product(range(m), repeat=3):
        shown = sum(prior[u] * matrix[u][o] for u in range(m))
        if shown > 0:
            result[t, s] += matrix[t][o] * prior[s] * matrix[s][o] / shown
    return result
