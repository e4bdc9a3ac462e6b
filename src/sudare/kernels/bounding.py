"""Between which numbers the count of a value lies, where a known number of sets holds it.

The records that have the value hold it, and each of the others does by chance, with the same probability. Nothing else
is made use of: what is true of the limits does not depend on how the count is estimated.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.ordering import kernel

RARE = 6.0  # variance of the sets that hold a value by chance, below which it is not taken to be normal


@kernel
def _lift(lifts, place):
    """Read the table of lifts, which goes from 0 to its last entry, at a place."""
    last = len(lifts) - 1
    where = place / lifts[last] * last
    if not where < last:
        return lifts[last]
    index = np.int64(where)
    return lifts[index] + (lifts[index + 1] - lifts[index]) * (where - index)


@kernel
def bound_count(held, size, rate, lifts):
    """Return between which numbers the count of a value is that ``held`` of ``size`` sets hold.

    The other records hold it by chance, each with probability ``rate``. All counts are taken in that the number of sets
    does not speak against, in terms of the standard deviation that this count would bring (a score interval). A count
    is never negative, so the limits follow Feldman and Cousins (1998): they turn from two-sided to one-sided towards 0,
    by ``lifts``, cover as often there as elsewhere, and are never empty.
    """
    top, without = len(lifts) - 1, np.float64(size - held)
    widest = lifts[top]
    above = held - size * rate
    noise = np.sqrt(size * rate * (1.0 - rate))
    low, high = 0.0, 0.0
    if above > lifts[0] * noise:
        lift = widest
        for _ in range(20):
            root = np.sqrt(lift * lift * rate * rate + 4.0 * without * rate)
            low = size - (2.0 * without + lift * lift * rate + lift * root) / (2.0 * (1.0 - rate))
            low = max(low, 0.0)
            before, lift = lift, _lift(lifts, low * (1.0 - rate) / np.sqrt((size - low) * rate * (1.0 - rate)))
            if abs(lift - before) < 1e-9:
                break
    if above >= 0.0:
        root = np.sqrt(widest * widest * rate * rate + 4.0 * without * rate)
        high = size - (2.0 * without + widest * widest * rate - widest * root) / (2.0 * (1.0 - rate))
    else:
        place, lift = 0.0, lifts[0]
        for _ in range(20):
            depth = above / noise
            before, place = place, depth + np.sqrt(depth * depth + lift * lift)
            high = min(place * noise / (1.0 - rate), np.float64(held))
            lift = _lift(lifts, place)
            noise = np.sqrt((size - high) * rate * (1.0 - rate))
            if abs(place - before) < 1e-9:
                break
    return low, min(high, np.float64(held))


@kernel
def _tail(number, size, rate):
    """Return the probability that fewer than ``number`` of ``size`` records hold a value by chance, or half of them.

    Half means: the probability of just that number counts half (the mid-p rule, for steps are wide where it is used).
    """
    probability, below = np.exp(size * np.log1p(-rate)), 0.0
    for index in range(number):
        below += probability
        probability *= (size - index) / (index + 1.0) * rate / (1.0 - rate)
    return below + probability / 2.0


@kernel
def bound_rare(held, size, rate, outside):
    """Do as :func:`bound_count` where few records hold a value by chance: count by count, with exact probabilities.

    Against the count 0 only too many sets can speak, against others also too few; ``outside`` is the share of both. A
    value that no set shows is known to have the count 0, so that this is judged among the values that are shown: else,
    in a large domain, every value of every set would seem to be the truth.
    """
    shown = -np.expm1(size * np.log1p(-rate))
    others = np.int64(0)  # typed: a literal would compile the call below twice
    while others < held and _tail(others, size - held + others, rate) <= outside / 2.0:
        others += 1
    high = held - others
    while others < held:
        allowed = outside * shown if others + 1 == held else outside / 2.0
        if 1.0 - _tail(others + 1, size - held + others + 1, rate) <= allowed:
            break
        others += 1
    return np.float64(held - others), np.float64(high)


@kernel
def bound_cells(holding, records, rate, lifts, outside, first, last, counts, low, high):
    """Find the limits of every count of some cells; they are widened to hold the estimate."""
    for cell in range(first, last):
        size = records[cell]
        for value in range(holding.shape[1]):
            held = np.int64(holding[cell, value])
            if held > 0:
                if size * rate * (1.0 - rate) < RARE:
                    least, most = bound_rare(held, size, rate, outside)
                else:
                    least, most = bound_count(held, size, rate, lifts)
                low[cell, value] = min(least, counts[cell, value])
                high[cell, value] = max(most, counts[cell, value])
