"""How many records of a cell have each value, where every record shows a set of values with the true one among them.

A value that is in no set of a cell has
the estimate 0 there whatever the estimator, so a cell is solved over the values that occur in it: its cost follows from
its records, however large the domain is. Cells know nothing of each other, and may be solved in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel

FACTORS = 8  # shares that are multiplied before a logarithm is taken: it costs more than the rest of a set
SMALLEST = 1e-36  # of a share: so many factors of it are still a number
NARROW = 256  # values of a cell for which equations between all of them are solved, at most
WORTH, WORTH_ALONE = 200, 2000  # times the values in all sets of the cell that this may cost, with a prior or without:
# the price is the cube of its values, and without a prior the many cheap steps that are the alternative are very many
CURVED, STRAIGHT = np.bool_(True), np.bool_(False)  # typed: a literal would compile what it is given to twice
NEWTON = 100  # steps of the interior point method, which takes 10 to 20, before EM goes on from where it stands


class Cells(NamedTuple):
    """The sets, one line of different codes for each record, and the records of each cell.

    Those of cell c are ``order[starts[c]:starts[c + 1]]``. Where a set might come from each of its values, it is as
    likely as their factors say; without factors all are alike.
    """

    sets: NDArray[np.uint32]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    factors: NDArray[np.float64] = np.empty(0)


class Prior(NamedTuple):
    """What is believed of cells beforehand, in pseudo-records: ``strength`` of them with given shares of the values.

    And ``even`` of each value. With no pseudo-records, the sets alone decide.
    """

    shares: NDArray[np.float64]
    strength: NDArray[np.float64]
    even: NDArray[np.float64]


class Found(NamedTuple):
    """What was found: expected counts and their variances for cells and values; steps for cells.

    Of cells that are not ``narrow``, the variances are those within the sets, as if the weights were known.
    """

    counts: NDArray[np.float64]
    spread: NDArray[np.float64]
    narrow: NDArray[np.bool_]
    rounds: NDArray[np.int64]


@kernel
def same_twice(sets):
    """Say whether any set holds a value twice."""
    for row in range(len(sets)):
        for index in range(1, sets.shape[1]):
            for other in range(index):
                if sets[row, index] == sets[row, other]:
                    return True
    return False


@kernel
def count_by_cell(cells, first, last, result):
    """Count how many sets hold each value, in a line for each cell from ``first`` to ``last``."""
    sets, order, starts = cells.sets, cells.order, cells.starts
    for cell in range(first, last):
        for place in range(starts[cell], starts[cell + 1]):
            row = order[place]
            for index in range(sets.shape[1]):
                result[cell, sets[row, index]] += 1


@kernel
def project_cells(holding, records, rate, first, last, result):
    """Turn the numbers of sets that hold a value into unbiased estimates, and these into counts.

    The counts are those nearest to the unbiased estimates that are not negative and sum up to the records. They are
    the estimates less a threshold; values that fall below it are given up until none does (Michelot 1986).
    """
    for cell in range(first, last):
        size = records[cell]
        total, kept = 0.0, 0
        for value in range(holding.shape[1]):
            if holding[cell, value] > 0:
                result[cell, value] = (holding[cell, value] - size * rate) / (1.0 - rate)
                total += result[cell, value]
                kept += 1
        if kept == 0:
            continue
        # the others, which no set holds, have negative estimates: below the threshold, which is not negative
        threshold, before = (total - size) / kept, kept + 1
        while kept < before:
            before, total, kept = kept, 0.0, 0
            for value in range(holding.shape[1]):
                if holding[cell, value] > 0 and result[cell, value] > threshold:
                    total += result[cell, value]
                    kept += 1
            threshold = (total - size) / kept
        for value in range(holding.shape[1]):
            if holding[cell, value] > 0:
                result[cell, value] = max(result[cell, value] - threshold, 0.0)


@kernel
def iterate_bayes(holding, records, rate, chosen, eps, most, first, last, result, rounds):
    """Repeat Bayes' rule on the numbers of sets that hold a value until no count moves by ``eps`` or more."""
    values = holding.shape[1]
    for cell in range(first, last):
        if records[cell] == 0:
            continue
        counts = result[cell]
        for value in range(values):
            counts[value] = holding[cell, value]
        while rounds[cell] < most:
            rounds[cell] += 1
            total = 0.0
            for value in range(values):
                total += counts[value]
            shared = 0.0
            for value in range(values):
                if holding[cell, value] > 0:
                    shared += holding[cell, value] / (counts[value] * (1.0 - rate) + total * rate)
            moved = 0.0
            for value in range(values):
                if holding[cell, value] > 0:
                    own = holding[cell, value] / (counts[value] * (1.0 - rate) + total * rate)
                    new = counts[value] / chosen * (own * (1.0 - rate) + shared * rate)
                    moved = max(moved, abs(new - counts[value]))
                    counts[value] = new
            if not moved >= eps:
                break


@kernel
def _gather(sets, order, first, last, place, found, parts):
    """List the values that occur in a cell, and its sets in terms of that list; return how many there are."""
    occurring, at = 0, 0
    for index in range(first, last):
        row = order[index]
        for part in range(sets.shape[1]):
            code = np.int64(sets[row, part])
            if place[code] < 0:
                place[code] = occurring
                found[occurring] = code
                occurring += 1
            parts[at] = place[code]
            at += 1
    for index in range(occurring):
        place[found[index]] = -1
    return occurring


@kernel
def _weigh(parts, chosen, factors, weights, slopes, matrix, squared):
    """Add up what each set gives to the slope of the log-likelihood and, if ``squared``, to its curvature.

    Returns the logarithm of the likelihood of the sets, for shares that are weights by their sum. The factors, if there
    are any, are multiplied in before and after, for the sets are many and the values few.
    """
    scaled = weights * factors if len(factors) > 0 else weights
    total = 0.0
    for value in range(len(weights)):
        total += weights[value]
        slopes[value] = 0.0
    likelihood, product, multiplied = 0.0, 1.0, 0
    for at in range(0, len(parts), chosen):
        held = 0.0
        for part in range(at, at + chosen):
            held += scaled[parts[part]]
        share = 1.0 / held
        for part in range(at, at + chosen):
            slopes[parts[part]] += share
        if squared:
            share *= share
            for part in range(at, at + chosen):
                value = parts[part]
                for other in range(at, part + 1):
                    matrix[value, parts[other]] += share
        product *= held / total
        multiplied += 1
        if multiplied == FACTORS:
            likelihood += np.log(product)
            product, multiplied = 1.0, 0
    if len(factors) > 0:
        for value in range(len(weights)):
            slopes[value] *= factors[value]
            if squared:
                for other in range(len(weights)):
                    matrix[value, other] *= factors[value] * factors[other]
    return likelihood + np.log(product)


@kernel
def _gap(weights, slopes, belief, size):
    """Return by how much the log-likelihood can be exceeded at most.

    It is concave, so that its slope towards the best single value is a bound: the proof that a solution is one.
    """
    total, steepest = 0.0, 0.0
    pseudo = 0.0
    for value in range(len(weights)):
        slope = slopes[value]
        if belief[value] > 0.0:
            slope += belief[value] / weights[value]
            pseudo += belief[value]
        total += weights[value]
        steepest = max(steepest, slope)
    return steepest * total - (size + pseudo)


@kernel
def factorise(matrix):
    """Put the Cholesky factor of a positive definite matrix into its lower half; say whether it is one."""
    for row in range(len(matrix)):
        for column in range(row + 1):
            entry = matrix[row, column]
            for index in range(column):
                entry -= matrix[row, index] * matrix[column, index]
            if column < row:
                matrix[row, column] = entry / matrix[column, column]
            elif entry > 0.0:
                matrix[row, row] = np.sqrt(entry)
            else:
                return False
    return True


@kernel
def solve(factor, vector):
    """Solve the equations whose matrix has been factorised, in place."""
    for row in range(len(factor)):
        for index in range(row):
            vector[row] -= factor[row, index] * vector[index]
        vector[row] /= factor[row, row]
    for row in range(len(factor) - 1, -1, -1):
        vector[row] /= factor[row, row]
        for index in range(row):
            vector[index] -= factor[row, index] * vector[row]


@kernel
def invert_diagonal(factor, spare, result):
    """Find the diagonal of the inverse of a matrix that has been factorised."""
    for column in range(len(factor)):
        result[column] = 0.0
        for row in range(column, len(factor)):
            entry = 1.0 if row == column else 0.0
            for index in range(column, row):
                entry -= factor[row, index] * spare[index]
            spare[row] = entry / factor[row, row]
            result[column] += spare[row] * spare[row]


@kernel
def _complete(matrix, extra):
    """Fold a matrix whose entries stand on either side of the diagonal into the lower half, and add a diagonal."""
    for row in range(len(matrix)):
        for column in range(row):
            matrix[row, column] += matrix[column, row]
        matrix[row, row] += extra[row]


@kernel
def _go_inside(parts, chosen, factors, size, belief, gap, weights, slopes, matrix):
    """Solve a narrow cell by a primal-dual interior point method, from the weights given; return the steps and the gap.

    Each weight has a slack, 1 less the slope: their product is 0 for the maximum, the prior's pseudo-records if there
    are any, and is brought there together with the slope.
    """
    count = len(weights)
    slack, turn, extra = np.empty(count), np.empty(count), np.empty(count)
    taken = 0
    while True:
        matrix[:] = 0.0
        _weigh(parts, chosen, factors, weights, slopes, matrix, CURVED)
        left = _gap(weights, slopes, belief, size)
        if taken == 0:
            for value in range(count):
                slack[value] = max(1.0 - slopes[value], 0.1)
        taken += 1
        if left <= gap or taken >= NEWTON:
            break
        apart = 0.0
        for value in range(count):
            apart += abs(weights[value] * slack[value] - belief[value])
        aim = 0.03 * apart / count
        for value in range(count):
            extra[value] = slack[value] / weights[value]
            turn[value] = slopes[value] - 1.0 + (aim + belief[value]) / weights[value]
        _complete(matrix, extra)
        if not factorise(matrix):
            break
        solve(matrix, turn)
        stride = 1.0
        for value in range(count):
            extra[value] = (aim + belief[value] - slack[value] * turn[value]) / weights[value] - slack[value]
            if turn[value] < 0.0:
                stride = min(stride, -0.99 * weights[value] / turn[value])
            if extra[value] < 0.0:
                stride = min(stride, -0.99 * slack[value] / extra[value])
        for value in range(count):
            weights[value] += stride * turn[value]
            slack[value] += stride * extra[value]
    return taken, left


@kernel
def _step(parts, chosen, factors, belief, weights, slopes, matrix, result):
    """Take one step of EM; return the logarithm of the likelihood, with that of the prior, before it."""
    likelihood = _weigh(parts, chosen, factors, weights, slopes, matrix, STRAIGHT)
    total = 0.0
    for value in range(len(weights)):
        total += weights[value]
        result[value] = weights[value] * slopes[value] + belief[value]
    for value in range(len(weights)):
        if belief[value] > 0.0:
            likelihood += belief[value] * np.log(weights[value] / total)
    return likelihood


@kernel
def _reach(start, once, twice, longest, result):
    """Extrapolate two steps (SQUAREM, Varadhan and Roland 2008) to positive weights; return the length taken."""
    moved, bent = 0.0, 0.0
    for value in range(len(start)):
        step = once[value] - start[value]
        bend = twice[value] - once[value] - step
        moved += step * step
        bent += bend * bend
    length = min(np.sqrt(moved / bent), longest) if bent > 0.0 else 1.0
    length = max(length, 1.0)
    before, after = 0.0, 0.0
    for value in range(len(start)):
        step = once[value] - start[value]
        bend = twice[value] - once[value] - step
        far = start[value] + 2.0 * length * step + length * length * bend
        result[value] = max(far, 0.1 * twice[value])  # what is on its way to 0 must not end there too early
        before += twice[value]
        after += result[value]
    for value in range(len(start)):
        result[value] = max(result[value] * before / after, SMALLEST * before)
    return length


@kernel
def _climb(parts, chosen, factors, size, belief, gap, most, weights, slopes, matrix):
    """Solve a cell by EM, from the weights given; return the steps that were taken and the gap that is left.

    An extrapolation is kept only where the likelihood does not fall, so that it never does.
    """
    once, twice, far = np.empty(len(weights)), np.empty(len(weights)), np.empty(len(weights))
    taken, longest = 0, 1.0
    while True:
        known = _step(parts, chosen, factors, belief, weights, slopes, matrix, once)
        left = _gap(weights, slopes, belief, size)
        taken += 1
        if left <= gap or taken >= most:
            break
        _step(parts, chosen, factors, belief, once, slopes, matrix, twice)
        length = _reach(weights, once, twice, longest, far)
        reached = _step(parts, chosen, factors, belief, far, slopes, matrix, weights)
        taken += 2
        if reached >= known:
            if length >= longest:
                longest *= 4.0
        else:
            weights[:] = twice
            longest = max(longest / 4.0, 1.0)
    return taken, left


@kernel
def _spread(parts, chosen, factors, weights, belief, result, matrix):
    """Put the variances of the counts into ``result``: with a matrix all of them, else what is within the sets.

    A count varies as its weight does, by the inverse of the curvature, less what a weight varies about a known count.
    """
    if len(matrix) > 0:
        matrix[:] = 0.0
        _weigh(parts, chosen, factors, weights, result, matrix, CURVED)
        _complete(matrix, belief / (weights * weights))
        if factorise(matrix):
            invert_diagonal(matrix, np.empty(len(weights)), result)
            for value in range(len(weights)):
                result[value] -= weights[value]
        else:
            result[:] = np.inf
        return
    scaled = weights * factors if len(factors) > 0 else weights
    result[:] = 0.0
    for at in range(0, len(parts), chosen):
        held = 0.0
        for part in range(at, at + chosen):
            held += scaled[parts[part]]
        for part in range(at, at + chosen):
            share = scaled[parts[part]] / held
            result[parts[part]] += share * (1.0 - share)


@kernel
def maximise(cells, first, last, prior, gap, most, found):
    """Find the counts of each cell that make its sets most likely, or likeliest together with a prior.

    It ends when the logarithm of the likelihood is proven to be within ``gap`` of its maximum, or after ``most`` steps
    of EM.
    """
    sets, order, starts = cells.sets, cells.order, cells.starts
    counts, spread, rounds = found.counts, found.spread, found.rounds
    shares, strength, even = prior.shares, prior.strength, prior.even
    chosen = sets.shape[1]
    largest = 1
    for cell in range(first, last):
        largest = max(largest, starts[cell + 1] - starts[cell])
    place = np.full(counts.shape[1], -1, np.int32)
    codes = np.empty(min(counts.shape[1], largest * chosen), np.int64)
    all_parts = np.empty(largest * chosen, np.uint32)  # indices without a sign are faster: they need no check for one
    room = min(len(codes), NARROW)
    square = np.empty(room * room)
    for cell in range(first, last):
        size = starts[cell + 1] - starts[cell]
        if size == 0:
            continue
        count = _gather(sets, order, starts[cell], starts[cell + 1], place, codes, all_parts)
        parts = all_parts[: size * chosen]
        factors = cells.factors[codes[:count]] if len(cells.factors) > 0 else cells.factors
        weights, slopes, belief = np.empty(count), np.empty(count), np.empty(count)
        pseudo = 0.0
        for value in range(count):
            belief[value] = strength[cell] * shares[codes[value]] + even[cell]
            pseudo += belief[value]
        for value in range(count):
            weights[value] = (size + pseudo) * (belief[value] / pseudo if pseudo > 0.0 else 1.0 / count)
        worth = WORTH if pseudo > 0.0 else WORTH_ALONE
        narrow = count <= NARROW and count * count * count <= worth * size * chosen
        side = count if narrow else 0
        matrix = square[: side * side].reshape((side, side))
        left, taken = np.inf, 0
        if narrow:
            taken, left = _go_inside(parts, chosen, factors, size, belief, gap, weights, slopes, matrix)
            rounds[cell] = taken
        if not left <= gap:
            taken, left = _climb(parts, chosen, factors, size, belief, gap, most, weights, slopes, matrix)
            rounds[cell] += taken
        for value in range(count):
            counts[cell, codes[value]] = weights[value] * slopes[value]
        _spread(parts, chosen, factors, weights, belief, slopes, matrix)
        found.narrow[cell] = narrow
        for value in range(count):
            spread[cell, codes[value]] = max(slopes[value], 0.0)
