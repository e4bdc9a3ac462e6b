"""Digests of 256 bits as characters, and characters as numbers."""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel

_GROUP = 1_000_000_000
"""Nine decimal digits are split off at a time."""


@kernel
def leading_characters(digests, bits, alphabet, result):
    """Write the leading bits of each digest, so many at a time, as characters of an alphabet."""
    mask = (1 << bits) - 1
    for row in range(len(digests)):
        held, have, place = 0, 0, 0
        for at in range(result.shape[1]):
            while have < bits:
                held = ((held << 8) | digests[row, place]) & 0xFFFF
                have += 8
                place += 1
            have -= bits
            result[row, at] = alphabet[(held >> have) & mask]


@kernel
def decimal_characters(digests, result):
    """Write the last decimal digits of each digest, taken as a number whose first byte is the largest."""
    words = np.empty(8, np.uint64)
    for row in range(len(digests)):
        for at in range(8):
            begin = 4 * at
            words[at] = (
                (np.uint64(digests[row, begin]) << np.uint64(24))
                | (np.uint64(digests[row, begin + 1]) << np.uint64(16))
                | (np.uint64(digests[row, begin + 2]) << np.uint64(8))
                | np.uint64(digests[row, begin + 3])
            )
        place = result.shape[1]
        while place > 0:
            rest = np.uint64(0)
            for at in range(8):
                whole = (rest << np.uint64(32)) | words[at]
                words[at] = whole // np.uint64(_GROUP)
                rest = whole % np.uint64(_GROUP)
            group = np.int64(rest)
            for _ in range(min(9, place)):
                place -= 1
                result[row, place] = np.uint8(48 + group % 10)
                group //= 10


@kernel
def numbers_of_texts(offsets, data, radix, values, result):
    """Write two numbers for each text whose characters are digits of a radix: of its first twelve, and of all.

    ``values`` has the digit that each byte stands for. The second number is modulo 2^64. Together they are different
    for different texts of one length, up to 100 bits.
    """
    for row in range(len(offsets) - 1):
        head, total = np.uint64(0), np.uint64(0)
        for at in range(offsets[row], offsets[row + 1]):
            total = total * np.uint64(radix) + np.uint64(values[data[at]])
            if at - offsets[row] < 12:
                head = total
        result[row, 0], result[row, 1] = head, total


@kernel
def hashes_of_texts(offsets, data, result):
    """Write a hash of 64 bits for each text (FNV-1a, and a last mixing of its bits)."""
    for row in range(len(offsets) - 1):
        found = np.uint64(0xCBF29CE484222325)
        for at in range(offsets[row], offsets[row + 1]):
            found = (found ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        found = (found ^ (found >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
        result[row] = found ^ (found >> np.uint64(29))
