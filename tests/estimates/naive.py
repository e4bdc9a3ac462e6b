"""Slow and obvious versions of the estimators, and sets to try them on."""

import numpy as np


def draw(rng, truth, values, chosen):
    """Show every truth in a set with others that are drawn without replacement."""
    sets = np.empty((len(truth), chosen), dtype=np.uint16)
    for first in range(0, len(truth), 10_000):
        some = slice(first, first + 10_000)
        keys = rng.random((len(truth[some]), values))
        keys[np.arange(len(keys)), truth[some]] = -1.0
        sets[some] = np.argsort(keys, axis=1)[:, :chosen]
    return rng.permuted(sets, axis=1)


def tally(cells, truth, values, count):
    """Count the values of each cell."""
    counts = np.zeros((count, values))
    inside = cells >= 0
    np.add.at(counts, (cells[inside], truth[inside]), 1)
    return counts


def holding(sets, values):
    """Count the sets that hold each value."""
    return np.bincount(sets.ravel(), minlength=values).astype(float)


def bayes(sets, values, eps, most=10**6):
    """Iterate as the paper writes it, with its matrix p; return the counts and the rounds."""
    chosen = sets.shape[1]
    p = np.full((values, values), (chosen - 1) / (values - 1))
    np.fill_diagonal(p, 1.0)
    w = holding(sets, values)
    x = w.copy()
    rounds, moved = 0, np.inf
    while moved >= eps and rounds < most:
        rounds += 1
        new = np.zeros(values)
        for a in range(values):
            new[a] = x[a] / chosen * sum(w[b] * p[a, b] / (p[:, b] @ x) for b in range(values) if w[b])
        moved, x = np.abs(new - x).max(), new
    return x, rounds


def converged_bayes(sets, values):
    """Return where the paper's iteration ends: it is most likely for W, c W - N q where that is positive."""
    size, chosen = sets.shape
    q = (chosen - 1) / (values - 1)
    w = holding(sets, values)
    kept = w > 0
    while True:
        c = size * (1 - q + kept.sum() * q) / w[kept].sum()
        fewer = kept & (c * w > q * size)
        if (fewer == kept).all():
            return np.where(kept, (c * w - q * size) / (1 - q), 0.0)
        kept = fewer


def indicators(sets, values):
    """Return a matrix of who holds what."""
    lines = np.zeros((len(sets), values))
    np.put_along_axis(lines, sets.astype(int), 1.0, axis=1)
    return lines


def em(sets, values, steps):
    """Take steps of plain EM, from equal counts."""
    lines = indicators(sets, values)
    x = np.full(values, len(sets) / values)
    for _ in range(steps):
        x = x * (lines / (lines @ x)[:, None]).sum(axis=0)
    return x


def likelihood(sets, values, counts):
    """Return the logarithm of the likelihood of the sets."""
    return np.log(indicators(sets, values) @ (counts / counts.sum())).sum()


def projected(point, total):
    """Return the nearest point that is not negative and has this sum, from the sorted coordinates."""
    ordered = np.sort(point)[::-1]
    sums = np.cumsum(ordered) - total
    last = np.flatnonzero(ordered - sums / np.arange(1, len(point) + 1) > 0)[-1]
    return np.maximum(point - sums[last] / (last + 1), 0.0)
