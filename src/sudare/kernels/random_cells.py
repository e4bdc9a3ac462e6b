"""Released cells drawn at random: sets that hide the truth among dummies, and codes that replace it.

All kernels read random 32-bit words one after the other and stop when there are no more. They return how many records
are done, and how many words these took. Whoever calls goes on with the words that are left and some more. A record
that ran out of words thus sees the same words again, so that nothing depends on where a block of words ends.

Numbers below a bound come from the upper half of a product with the bound, without a division and without favour:
words whose lower half is below 2^32 mod bound are drawn again (Lemire, "Fast random integer generation in an interval",
ACM TOMACS 29(1), 2019). One word serves several bounds as long as their product is small against 2^32: the lower half
is the word of the next, and that of the last decides (Brackett-Rozinsky, Lemire, "Batched ranged random integer
generation", Software: Practice and Experience 55(1), 2025).

Without replacement, k of n numbers are drawn as Floyd does: below n - k + 1, ..., below n, and a number that was drawn
already is replaced by the largest that was possible, which cannot have been.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.compiled import kernel

IN_A_WORD = 64
"""Up to so many values, a set is the bits of a word."""
PER_CODE = 4096
"""Sets of larger domains are bits of an array if that has at most so many for each code of a set; else short lists."""
MOST_VALUES = 1 << 31
ONE, HALF, LOW = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
SIX, FIFTY_EIGHT, SIXTY_THREE = np.uint64(6), np.uint64(58), np.uint64(63)
SPARE = np.uint64(31)
"""Bits of a second word that decide where the first one alone cannot."""
UNITS = 63
"""Probabilities are whole numbers of 2^-63, so that a certain one still fits into a word."""
_SEQUENCE = 0x03F79D71B4CB0A89  # a de Bruijn sequence: its 64 pieces of 6 bits are all different
SEQUENCE = np.uint64(_SEQUENCE)
PLACES = np.zeros(64, np.uint32)
PLACES[[((_SEQUENCE << bit) & (2**64 - 1)) >> 58 for bit in range(64)]] = np.arange(64)


class Plan(NamedTuple):
    """How the dummies of a set are drawn: ascending ``bounds``, of which a word serves those before ``ends[w]``.

    A word whose last lower half is below ``least[w]`` is drawn again. ``inverse`` says that it is not the dummies that
    are drawn but the values that are left out, as these are fewer.
    """

    bounds: NDArray[np.uint64]
    ends: NDArray[np.int64]
    least: NDArray[np.uint64]
    inverse: bool


def plan_sets(values: int, width: int) -> Plan:
    """Return how to draw sets of ``width`` of so many values, the truth among them."""
    if not 1 <= width <= values < MOST_VALUES:
        raise ValueError(f"sets of {width} of {values} values")
    inverse = values <= IN_A_WORD and values - width < width - 1
    drawn = values - width if inverse else width - 1
    if width == values:
        drawn = 0  # there is one such set, in larger domains too
    bounds = range(values - drawn, values)
    ends, least, product = [], [], 1
    for place, bound in enumerate(bounds):
        if product * bound > 1 << 28 and product > 1:
            ends.append(place)
            least.append((1 << 32) % product)
            product = 1
        product *= bound
    if bounds:
        ends.append(len(bounds))
        least.append((1 << 32) % product)
    return Plan(np.array(bounds, np.uint64), np.array(ends, np.int64), np.array(least, np.uint64), inverse)


def draw_sets(codes: Any, values: int, plan: Plan, words: Any, lines: Any) -> tuple[int, int]:
    """Put into each line the truth and dummies, ascending: every set that holds the truth is equally likely.

    ``codes`` and ``words`` are of type uint32, and so are ``lines``, which are as wide as the sets. Returns the records
    done and the words used.
    """
    width = lines.shape[1]
    if width == values:
        lines[:] = np.arange(values, dtype=lines.dtype)
        return len(codes), 0
    if values <= IN_A_WORD:
        done, used = draw_in_a_word(codes, values, plan, words, lines)
    elif values <= PER_CODE * width:
        done, used = draw_as_bits(codes, values, plan, words, lines)
    else:
        done, used = draw_as_lists(codes, plan, words, lines)
    return int(done), int(used)


@kernel
def place_of(bit):
    """Return which bit of a word the only one that is set is."""
    return PLACES[(bit * SEQUENCE) >> FIFTY_EIGHT]


@kernel
def draw_in_a_word(codes, values, plan, words, lines):
    """Draw sets of a domain of at most 64 values; see :func:`draw_sets`."""
    bounds, ends, least = plan.bounds, plan.ends, plan.least
    others = (ONE << np.uint64(values - 1)) - ONE
    flipped = others if plan.inverse else np.uint64(0)
    at = 0
    for row in range(len(codes)):
        before, first = at, 0
        chosen = np.uint64(0)
        for word in range(len(ends)):
            while True:
                if at == len(words):
                    return row, before
                rest = np.uint64(words[at])
                at += 1
                more = chosen
                for index in range(first, ends[word]):
                    product = rest * bounds[index]
                    bit = ONE << (product >> HALF)
                    more |= bit if more & bit == np.uint64(0) else ONE << (bounds[index] - ONE)
                    rest = product & LOW
                if rest >= least[word]:
                    break
            chosen, first = more, ends[word]
        chosen ^= flipped
        truth = ONE << np.uint64(codes[row])
        below = chosen & (truth - ONE)  # numbers of the others become codes: from the truth on, one more
        chosen = below | truth | ((chosen ^ below) << ONE)
        for place in range(lines.shape[1]):
            bit = chosen & (~chosen + ONE)
            lines[row, place] = place_of(bit)
            chosen ^= bit
    return len(codes), at


@kernel
def draw_numbers(plan, words, at, numbers):
    """Draw a number below each bound of the plan; return where the words go on, -1 if there are too few."""
    bounds, ends, least = plan.bounds, plan.ends, plan.least
    first = 0
    for word in range(len(ends)):
        while True:
            if at == len(words):
                return -1
            rest = np.uint64(words[at])
            at += 1
            for index in range(first, ends[word]):
                product = rest * bounds[index]
                numbers[index] = product >> HALF
                rest = product & LOW
            if rest >= least[word]:
                break
        first = ends[word]
    return at


@kernel
def draw_as_bits(codes, values, plan, words, lines):
    """Draw sets of a larger domain as the bits of an array, with a bit more for each word of it that is not empty."""
    bounds = plan.bounds
    numbers = np.empty(len(bounds), np.uint64)
    bits = np.zeros((values >> 6) + 1, np.uint64)
    filled = np.zeros((len(bits) >> 6) + 1, np.uint64)
    at = 0
    for row in range(len(codes)):
        after = draw_numbers(plan, words, at, numbers)
        if after < 0:
            return row, at
        at = after
        truth = np.uint64(codes[row])
        for index in range(len(bounds) + 1):
            if index == len(bounds):
                code = truth
            else:
                code = numbers[index]
                code += ONE if code >= truth else np.uint64(0)
                if (bits[code >> SIX] >> (code & SIXTY_THREE)) & ONE:
                    code = bounds[index] - ONE
                    code += ONE if code >= truth else np.uint64(0)
            where = code >> SIX
            bits[where] |= ONE << (code & SIXTY_THREE)
            filled[where >> SIX] |= ONE << (where & SIXTY_THREE)
        place = 0
        for part in range(len(filled)):
            there, filled[part] = filled[part], np.uint64(0)
            while there:
                some = there & (~there + ONE)
                there ^= some
                where = (np.int64(part) << 6) | np.int64(place_of(some))
                chosen, bits[where] = bits[where], np.uint64(0)
                while chosen:
                    bit = chosen & (~chosen + ONE)
                    chosen ^= bit
                    lines[row, place] = (where << 6) | np.int64(place_of(bit))
                    place += 1
    return len(codes), at


@kernel
def draw_as_lists(codes, plan, words, lines):
    """Draw sets that are small against their domain: each code is put into its place among those before it."""
    bounds = plan.bounds
    numbers = np.empty(len(bounds), np.uint64)
    at = 0
    for row in range(len(codes)):
        after = draw_numbers(plan, words, at, numbers)
        if after < 0:
            return row, at
        at = after
        truth = np.uint64(codes[row])
        line = lines[row]
        line[0] = truth
        for index in range(len(bounds)):
            code = numbers[index]
            code += ONE if code >= truth else np.uint64(0)
            place = index + 1
            while place > 0 and np.uint64(line[place - 1]) > code:
                place -= 1
            if place > 0 and np.uint64(line[place - 1]) == code:
                code = bounds[index] - ONE
                code += ONE if code >= truth else np.uint64(0)
                place = index + 1
                while place > 0 and np.uint64(line[place - 1]) > code:
                    place -= 1
            for later in range(index + 1, place, -1):
                line[later] = line[later - 1]
            line[place] = code
    return len(codes), at


class Weighing(NamedTuple):
    """What sets with unequal weights are drawn by; e_j is the elementary symmetric polynomial of some weights.

    ``before[j, c]`` is the logarithm of e_j of the codes below c, ``after[j, c]`` that of the codes from c on, and
    ``later[t, j]`` the probability that at most j of the dummies of truth t are codes above t.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    later: NDArray[np.float64]


def weigh_sets(weights: NDArray[np.float64], width: int) -> Weighing:
    """Return the tables for sets of ``width`` values with these weights, all above 0."""
    logs, dummies = np.log(weights), width - 1
    before = np.full((width, len(logs) + 1), -np.inf)
    after = np.full((width, len(logs) + 1), -np.inf)
    add_up(logs, before)
    add_up(logs[::-1].copy(), after)
    after = after[:, ::-1].copy()
    # by how the dummies of t are divided between the codes below it and those above
    parts = (before[::-1, :-1] + after[:, 1:]).T
    shares = np.exp(parts - parts.max(axis=1, keepdims=True))
    later = np.cumsum(shares, axis=1)
    later /= later[:, -1:]
    last = dummies - np.argmax(shares[:, ::-1] > 0, axis=1)
    later[np.arange(width) >= last[:, None]] = 1.0  # rounding must not leave a chance for what cannot be
    return Weighing(before, after, later)


def log_factors(weights: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return log c of each value t: given t, a set R with t in it has the probability c_t times its product of weights.

    c_t = 1 / (w_t e(w of all but t)), where e is the elementary symmetric polynomial of degree width - 1. All terms are
    positive, so that nothing cancels out. With equal weights all c_t are the same.
    """
    tables = weigh_sets(weights, width)
    parts = (tables.before[::-1, :-1] + tables.after[:, 1:]).T
    most = parts.max(axis=1)
    return np.asarray(-np.log(weights) - most - np.log(np.exp(parts - most[:, None]).sum(axis=1)))


@kernel
def add_up(logs, sums):
    """Put the logarithm of e_j of the first c weights into ``sums[j, c]``, from the logarithms of the weights."""
    sums[0, :] = 0.0
    for code in range(len(logs)):
        for degree in range(1, min(len(sums), code + 2)):
            without, within = sums[degree, code], sums[degree - 1, code] + logs[code]
            low, high = min(without, within), max(without, within)
            sums[degree, code + 1] = high + np.log1p(np.exp(low - high))


@kernel
def fraction(words, at):
    """Return a multiple of 2^-53 above 0, at most 1, from two words."""
    whole = (np.uint64(words[at]) << np.uint64(21)) | (np.uint64(words[at + 1]) >> np.uint64(11))
    return np.float64(whole + ONE) * 2.0**-53


@kernel
def draw_weighted(codes, tables, words, lines):
    """Put into each line the truth and dummies, ascending: a set is as likely as the product of its dummies' weights.

    The dummies above the truth are drawn from the first to the last, those below it from the last to the first. That
    the first of j codes from c on is not below d has the probability e_j(from d) / e_j(from c), so that it is found by
    halving. Each record takes two words for each of its values. See :func:`draw_sets` for the rest.
    """
    before, after, later = tables.before, tables.after, tables.later
    values, width = later.shape
    at = 0
    for row in range(len(codes)):
        if at + 2 * width > len(words):
            return row, at
        truth = np.int64(codes[row])
        point = fraction(words, at)
        at += 2
        above = 0
        while later[truth, above] < point:
            above += 1
        begin = truth + 1
        for left in range(above, 0, -1):
            point = np.log(fraction(words, at)) + after[left, begin]
            at += 2
            low, high = begin, values - left + 1  # low is far enough, high is too far
            while high - low > 1:
                middle = (low + high) >> 1
                if after[left, middle] >= point:
                    low = middle
                else:
                    high = middle
            lines[row, width - left] = low
            begin = low + 1
        lines[row, width - 1 - above] = truth
        end = truth
        for left in range(width - 1 - above, 0, -1):
            point = np.log(fraction(words, at)) + before[left, end]
            at += 2
            low, high = left - 1, end  # high codes are enough, low are too few
            while high - low > 1:
                middle = (low + high) >> 1
                if before[left, middle] >= point:
                    high = middle
                else:
                    low = middle
            lines[row, left - 1] = high - 1
            end = high - 1
    return len(codes), at


def units(shares: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return probabilities in units of 2^-63, rounded down."""
    return np.floor(np.ldexp(np.asarray(shares, np.float64), UNITS)).astype(np.uint64)


@kernel
def draw_uniform(codes, values, keep, words, drawn):
    """Keep each code with a probability of ``keep`` units, and else draw any of all values, its own included.

    The first word decides unless it equals the upper part of ``keep``; then a second one does, by the lower part.
    """
    bound = np.uint64(values)
    least = (LOW + ONE) % bound
    high, low = keep >> SPARE, keep & ((ONE << SPARE) - ONE)
    at = 0
    for row in range(len(codes)):
        before = at
        if at == len(words):
            return row, before
        word = np.uint64(words[at])
        at += 1
        kept = word < high
        if word == high:
            if at == len(words):
                return row, before
            kept = (np.uint64(words[at]) >> ONE) < low
            at += 1
        code = codes[row]
        while not kept:
            if at == len(words):
                return row, before
            product = np.uint64(words[at]) * bound
            at += 1
            if product & LOW >= least:
                code = np.uint32(product >> HALF)
                break
        drawn[row] = code
    return len(codes), at


class Alias(NamedTuple):
    """The lines of a matrix of probabilities, ready to be drawn from (Walker 1977, Vose 1991).

    A line is cut into 2^``bits`` slots of equal probability. Slot s shows s in its first ``own[line, s]`` units, and
    ``other[line, s]`` in those that follow.
    """

    own: NDArray[np.uint64]
    other: NDArray[np.uint32]
    bits: int


def alias_of(matrix: NDArray[np.float64]) -> Alias:
    """Return tables for a matrix whose lines add up to 1 (what rounding leaves is given to a line's largest).

    What has the probability 0 is never drawn: the tables are made in whole numbers.
    """
    parts = units(matrix)
    largest = (np.arange(len(parts)), parts.argmax(axis=1))
    # whole numbers modulo 2^64: a line that is a little too long is mended as one that is too short
    parts[largest] += np.uint64(1 << UNITS) - parts.sum(axis=1, dtype=np.uint64)
    bits = (matrix.shape[1] - 1).bit_length()
    own = np.zeros((len(parts), 1 << bits), np.uint64)
    own[:, : matrix.shape[1]] = parts
    other = np.zeros(own.shape, np.uint32)
    fill_alias(own, other, np.uint64(1 << (UNITS - bits)))
    return Alias(own, other, bits)


@kernel
def fill_alias(own, other, room):
    """Let slots with more than ``room`` units fill up those with less, in place."""
    short, long = np.empty(own.shape[1], np.int64), np.empty(own.shape[1], np.int64)
    for line in range(len(own)):
        lacking, having = 0, 0
        for slot in range(own.shape[1]):
            other[line, slot] = slot
            if own[line, slot] < room:
                short[lacking] = slot
                lacking += 1
            elif own[line, slot] > room:
                long[having] = slot
                having += 1
        while lacking > 0:
            lacking -= 1
            slot, giver = short[lacking], long[having - 1]
            other[line, slot] = giver
            own[line, giver] -= room - own[line, slot]
            if own[line, giver] < room:
                short[lacking] = giver
                lacking += 1
            if own[line, giver] <= room:
                having -= 1


@kernel
def draw_by_matrix(codes, alias, words, drawn):
    """Replace each code by a draw from its line of a matrix; most take one word, see :func:`draw_uniform`."""
    own, other = alias.own, alias.other
    shift = np.uint64(32 - alias.bits)
    inside, lower = (ONE << shift) - ONE, (ONE << SPARE) - ONE
    at = 0
    for row in range(len(codes)):
        before = at
        if at == len(words):
            return row, before
        word = np.uint64(words[at])
        at += 1
        line, slot = codes[row], word >> shift
        limit = own[line, slot]
        high = limit >> SPARE
        first = (word & inside) < high
        if (word & inside) == high:
            if at == len(words):
                return row, before
            first = (np.uint64(words[at]) >> ONE) < limit & lower
            at += 1
        drawn[row] = np.uint32(slot) if first else other[line, slot]
    return len(codes), at
