"""Walking the rows of a table class by class."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel
from sudare.kernels.topdown.value_orders import popcount, sort_stable


@kernel
def count_classes(classes, count):
    """Count the rows of each of ``count`` classes; class -1 is left out."""
    sizes = np.zeros(count, np.int64)
    for row in range(len(classes)):
        if classes[row] >= 0:
            sizes[classes[row]] += 1
    return sizes


@kernel
def sort_by_class(classes, starts, result):
    """Sort rows by class, stably: those of class c begin at ``starts[c]``. Class -1 is left out."""
    at = starts.copy()
    for row in range(len(classes)):
        if classes[row] >= 0:
            result[at[classes[row]]] = row
            at[classes[row]] += 1


@kernel
def tally_codes(codes, totals):
    """Add up how often each code occurs."""
    for row in range(len(codes)):
        totals[codes[row]] += 1


@kernel
def look_up(values, places, result):
    """Put the value at each place into ``result``."""
    for index in range(len(places)):
        result[index] = values[places[index]]


@kernel
def number_marked(names, marks, result):
    """Number the classes that begin at rows with mark 1; with mark 2 begin rows that are left out, which get -1.

    A run of rows ends where the next begins; ``names[row, 0]`` is the place of a row in ``result``. Returns how many
    classes there are.
    """
    found, now = 0, -1
    for row in range(len(marks)):
        if marks[row] == 1:
            now = found
            found += 1
        elif marks[row] == 2:
            now = -1
        result[names[row, 0]] = now
    return found


@kernel
def spread_extremes(codes, classes, low, high):
    """Bring the smallest and largest codes of classes up to date by some more rows."""
    for row in range(len(codes)):
        group, code = classes[row], codes[row]
        if group >= 0:
            low[group], high[group] = min(low[group], code), max(high[group], code)


@kernel
def spread_bits(codes, classes, bits):
    """Set the bits of the codes, below 64, that classes have."""
    for row in range(len(codes)):
        if classes[row] >= 0:
            bits[classes[row]] |= np.uint64(1) << np.uint64(codes[row])


@kernel
def list_bits(bits):
    """Return where each word's bits begin, and the numbers of those that are set, word after word."""
    begin = np.zeros(len(bits) + 1, np.int64)
    for index in range(len(bits)):
        begin[index + 1] = begin[index] + popcount(bits[index])
    found = np.empty(begin[-1], np.int64)
    at = 0
    for index in range(len(bits)):
        word, code = bits[index], 0
        while word != np.uint64(0):
            if word & np.uint64(1):
                found[at] = code
                at += 1
            word >>= np.uint64(1)
            code += 1
    return begin, found


@kernel
def distinct_codes(codes, order, starts, size):
    """Return the different codes of each class, ascending within it, and where each class's begin.

    ``order`` lists the rows class by class as :func:`sort_by_class` does; codes are below ``size``.
    """
    stamp = np.full(size, -1, np.int64)
    begin = np.zeros(len(starts), np.int64)
    found = np.empty(len(order), np.int64)
    places = np.empty(len(order), np.int64)
    spare = np.empty(len(order), np.int64)
    at = 0
    for group in range(len(starts) - 1):
        low, high = size, -1
        first = at
        for index in range(starts[group], starts[group + 1]):
            code = np.int64(codes[order[index]])
            if stamp[code] != group:
                stamp[code] = group
                found[at] = code
                at += 1
                low, high = min(low, code), max(high, code)
        if high - low < 8 * (at - first) + 64:  # walk the range instead of sorting
            at = first
            for code in range(low, high + 1):
                if stamp[code] == group:
                    found[at] = code
                    at += 1
        else:
            for index in range(at - first):
                places[index] = first + index
            sort_stable(found, places, spare, np.int64(at - first))
            for index in range(at - first):
                spare[index] = found[places[index]]
            for index in range(at - first):
                found[first + index] = spare[index]
        begin[group + 1] = at
    return begin, found[:at]


@kernel
def mixed(word):
    """Return a 64-bit word with every bit of the given one in every bit (the finisher of splitmix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def shuffle_within(order, starts, words, place):
    """Shuffle the rows of each class in place (Fisher and Yates) by random 32-bit words, as far as these last.

    ``place`` has the class that is next and how many of its rows are left, 0 if it is not begun; it is brought up to
    date. Returns how many words were used. One word serves several draws as long as the product of their bounds is
    small against 2^32, and without favour: see :mod:`sudare.kernels.random_cells`.
    """
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    at, group, left = 0, place[0], place[1]
    while group < len(starts) - 1:
        first = starts[group]
        if left == 0:
            left = starts[group + 1] - first
        while left > 1:
            product, draws = np.uint64(left), 1
            while draws < left - 1 and product * np.uint64(left - draws) <= np.uint64(1 << 28):
                product *= np.uint64(left - draws)
                draws += 1
            while True:
                if at == len(words):
                    place[0], place[1] = group, left
                    return at
                word = np.uint64(words[at])
                at += 1
                rest = word
                for draw in range(draws):
                    rest = (rest * np.uint64(left - draw)) & low
                if rest >= product or rest >= (low + np.uint64(1)) % product:
                    break
            rest = word
            for _ in range(draws):
                rest *= np.uint64(left)
                drawn, last = first + np.int64(rest >> half), first + left - 1
                order[drawn], order[last] = order[last], order[drawn]
                rest &= low
                left -= 1
        group, left = group + 1, 0
    place[0], place[1] = group, left
    return at


@kernel
def number_runs(starts, parts):
    """Return a number for each run ``parts[starts[g]:starts[g + 1]]``, equal for equal runs, by first appearance."""
    count = len(starts) - 1
    slots = np.int64(4)
    while slots < 2 * count:
        slots *= 2
    # a slot has the number of a run in its lower half (from 1), and a half of its digest: most others differ in that
    table = np.zeros(slots, np.uint64)
    lower = np.uint64(0xFFFFFFFF)
    numbers = np.empty(count, np.int64)
    found = np.int64(0)
    for run in range(count):
        first, size = starts[run], starts[run + 1] - starts[run]
        digest = np.uint64(size)
        for index in range(size):
            digest = mixed(digest + np.uint64(0x9E3779B97F4A7C15) + np.uint64(parts[first + index]))
        slot = np.int64(digest & np.uint64(slots - 1))
        while True:
            entry = table[slot]
            if entry == np.uint64(0):
                table[slot] = (digest & ~lower) | np.uint64(run + 1)
                numbers[run] = found
                found += 1
                break
            same = (entry & ~lower) == (digest & ~lower)
            if same:
                other = np.int64(entry & lower) - 1
                begin = starts[other]
                same = starts[other + 1] - begin == size
                index = 0
                while same and index < size:
                    same = parts[begin + index] == parts[first + index]
                    index += 1
                if same:
                    numbers[run] = numbers[other]
                    break
            slot = (slot + 1) & (slots - 1)
    return numbers


@kernel
def mix_runs(starts, parts, digests):
    """Bring the digest of each run ``parts[starts[g]:starts[g + 1]]`` up to date by its length and its parts."""
    for run in range(len(starts) - 1):
        digest = mixed(digests[run] + np.uint64(0x9E3779B97F4A7C15) + np.uint64(starts[run + 1] - starts[run]))
        for index in range(starts[run], starts[run + 1]):
            digest = mixed(digest + np.uint64(0x9E3779B97F4A7C15) + np.uint64(parts[index]))
        digests[run] = digest


@kernel
def number_people(codes, order, starts):
    """Number the people of each class from 1, by first appearance in ``order``; ``codes`` says who a row is about.

    Few rows are compared with each other; many go through a table of slots, which serves class after class.
    """
    few = 32
    largest = np.int64(0)
    for group in range(len(starts) - 1):
        largest = max(largest, starts[group + 1] - starts[group])
    slots = np.int64(2 * few)
    while slots < 2 * largest:
        slots *= 2
    who, number = np.empty(slots, np.int64), np.empty(slots, np.uint32)
    result = np.empty(len(order), np.uint32)
    for group in range(len(starts) - 1):
        first, last = starts[group], starts[group + 1]
        found = 0
        if last - first <= few:
            for index in range(last - first):
                person = np.int64(codes[order[first + index]])
                who[index] = person
                before = 0
                while who[before] != person:
                    before += 1
                if before == index:
                    found += 1
                    result[first + index] = found
                else:
                    result[first + index] = result[first + before]
            continue
        size = np.int64(64)
        while size < 2 * (last - first):
            size *= 2
        for slot in range(size):
            number[slot] = 0
        for index in range(first, last):
            person = np.int64(codes[order[index]])
            slot = np.int64(mixed(np.uint64(person)) & np.uint64(size - 1))
            while number[slot] != 0 and who[slot] != person:
                slot = (slot + 1) & (size - 1)
            if number[slot] == 0:
                found += 1
                who[slot], number[slot] = person, found
            result[index] = number[slot]
    return result


@kernel
def repeat_runs(parts, starts, lengths, times, total):
    """Return the runs of ``lengths[g]`` parts from ``starts[g]``, each as often as ``times`` says; ``total`` parts."""
    result = np.empty(total, parts.dtype)
    at = 0
    for run in range(len(lengths)):
        first, size = starts[run], lengths[run]
        for _ in range(times[run]):
            for index in range(first, first + size):
                result[at] = parts[index]
                at += 1
    return result


@kernel
def count_keys(keys, counts, low, high):
    """Count each key from ``low`` below ``high``, and return those that occur, ascending."""
    for index in range(len(keys)):
        key = np.int64(keys[index])
        if low <= key < high:
            counts[key] += np.uint32(1)
    present = 0
    for key in range(low, high):
        present += np.int64(counts[key] > 0)
    found = np.empty(present, np.uint32)
    at = 0
    for key in range(low, high):
        if counts[key] > 0:
            found[at] = key
            at += 1
    return found


@kernel
def number_keys(keys, counts, present):
    """Replace each key by its number among those present, in place; ``counts`` is used up on the way."""
    for number in range(len(present)):
        counts[present[number]] = number
    for index in range(len(keys)):
        keys[index] = counts[keys[index]]


@kernel
def gather_keys(keys, of_row):
    """Number the different keys by first appearance; return them, and put the number of each key into ``of_row``.

    An open-addressed table that is doubled when half full. The keys themselves are compared, never their hashes alone.
    """
    bits = np.uint64(16)
    slots = np.full(1 << 16, -1, np.int64)
    found = np.empty(1 << 15, keys.dtype)
    count = np.int64(0)
    for index in range(len(keys)):
        key = keys[index]
        # Fibonacci hashing: the upper bits of the product with the golden ratio
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> (np.uint64(64) - bits))
        while slots[slot] >= 0 and found[slots[slot]] != key:
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] >= 0:
            of_row[index] = slots[slot]
            continue
        slots[slot] = count
        found[count] = key
        of_row[index] = count
        count += 1
        if count == len(found):
            more = np.empty(2 * count, keys.dtype)
            for place in range(count):
                more[place] = found[place]
            found = more
            bits += np.uint64(1)
            slots = np.full(2 * len(slots), -1, np.int64)
            for place in range(count):
                slot = np.int64((np.uint64(found[place]) * np.uint64(0x9E3779B97F4A7C15)) >> (np.uint64(64) - bits))
                while slots[slot] >= 0:
                    slot = (slot + 1) & (len(slots) - 1)
                slots[slot] = place
    return found[:count]


@kernel
def cut_sets(offsets, items, rows, cut, missing, ends, found, null):
    """Show the items of some records as the nodes that ``cut`` gives them, each once, -1 not at all.

    Those of record ``rows[i]`` end in ``found`` before ``ends[i + 1]``; ``null`` is set where they are ``missing``, and
    that is shown. The codes below a node follow one another, so that a node which was shown already is the last one.
    """
    at = 0
    for index in range(len(rows)):
        first = at
        null[index] = False
        for place in range(offsets[rows[index]], offsets[rows[index] + 1]):
            node = cut[items[place]]
            if np.int64(items[place]) == missing:
                null[index] = node >= 0
            elif node >= 0 and (at == first or found[at - 1] != node):
                found[at] = node
                at += 1
        ends[index + 1] = at
    return at
