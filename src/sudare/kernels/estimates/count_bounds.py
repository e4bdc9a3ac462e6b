"""Between which numbers the count of a value lies, where a known number of sets holds it, or by an unbiased estimate.

The records that have the value hold it, and each of the others does by chance, with the same probability. Nothing else
is made use of: what is true of the limits does not depend on how the count is estimated.
"""

from __future__ import annotations

import math

import numpy as np

from sudare.kernels.compiled import kernel

RARE = 6.0  # variance of the sets that hold a value by chance, below which it is not taken to be normal
ROOT = math.sqrt(2.0)
HALVINGS = 32  # of the records of a cell, after which a limit is known to more digits than anybody asks for


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
def bound_cells(holding, records, rates, lifts, outside, first, last, counts, low, high):
    """Find the limits of every count of some cells; they are widened to hold the estimate.

    ``rates`` has a line for each cell, or one for all of them.
    """
    for cell in range(first, last):
        size = records[cell]
        line = rates[cell] if len(rates) > 1 else rates[0]
        for value in range(holding.shape[1]):
            held, rate = np.int64(holding[cell, value]), line[value]
            if held > 0:
                if size * rate * (1.0 - rate) < RARE:
                    least, most = bound_rare(held, size, rate, outside)
                else:
                    least, most = bound_count(held, size, rate, lifts)
                low[cell, value] = min(least, counts[cell, value])
                high[cell, value] = max(most, counts[cell, value])


@kernel
def _score(apart, skew):
    """Return how far a standardised number is out, as if it were normal, from its skewness (Wilson, Hilferty 1931)."""
    if abs(skew) < 1e-6:
        return apart
    inside = max(1.0 + skew * apart / 2.0, 0.0)
    return (inside ** (1.0 / 3.0) - 1.0) * 6.0 / skew + skew / 6.0


@kernel
def _speaks_against(score, before, after, level):
    """Say whether a score is among the rarest, so many standard deviations before and after a count's own limits.

    They are ordered by the ratio of likelihoods, where the best count is within its limits (Feldman, Cousins 1998).
    """
    short, beyond = min(score + before, 0.0), max(score - after, 0.0)
    ratio = score * score - short * short - beyond * beyond
    low = high = np.sqrt(ratio) if ratio > 0.0 else 0.0
    if low > before:
        low = (ratio + before * before) / (2.0 * before) if before > 0.0 else np.inf
    if high > after:
        high = (ratio + after * after) / (2.0 * after) if after > 0.0 else np.inf
    return math.erf(high / ROOT) + math.erf(low / ROOT) > 2.0 * level


@kernel
def _refuted(estimate, count, size, own, others, level):
    """Say whether an unbiased estimate speaks against a count; see :func:`bound_estimates`."""
    variance = count * own[0] + (size - count) * others[0]
    if variance <= 0.0:
        return abs(estimate - count) > 1e-9 * size
    noise = np.sqrt(variance)
    skew = (count * own[1] + (size - count) * others[1]) / (variance * noise)
    return _speaks_against(_score((estimate - count) / noise, skew), count / noise, (size - count) / noise, level)


@kernel
def bound_estimates(estimates, records, own, others, level, low, high):
    """Find between which numbers counts lie, from unbiased estimates to which each record adds something at random.

    In a line for each value, ``own`` has the variance and the third moment of what a record with that value adds, and
    ``others``, for each cell too, the average ones of the other records. All counts from 0 to the records are taken in
    that the estimate does not speak against, given the noise which that count would bring.
    """
    for cell in range(len(records)):
        size = np.float64(records[cell])
        for value in range(estimates.shape[1]):
            estimate = estimates[cell, value]
            mine, rest = own[value], others[cell, value]
            best = min(max(estimate, 0.0), size)
            least, most = best, best
            if _refuted(estimate, 0.0, size, mine, rest, level):
                below = 0.0
                for _ in range(HALVINGS):
                    middle = (below + least) / 2.0
                    if _refuted(estimate, middle, size, mine, rest, level):
                        below = middle
                    else:
                        least = middle
            else:
                least = 0.0
            if _refuted(estimate, size, size, mine, rest, level):
                above = size
                for _ in range(HALVINGS):
                    middle = (above + most) / 2.0
                    if _refuted(estimate, middle, size, mine, rest, level):
                        above = middle
                    else:
                        most = middle
            else:
                most = size
            low[cell, value], high[cell, value] = least, most
