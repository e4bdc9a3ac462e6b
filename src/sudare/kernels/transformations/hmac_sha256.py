"""HMAC with SHA-256 of many texts under one key (RFC 2104, FIPS 180-4).

The first block of both hashes depends on the key alone, so it is computed once (:func:`key_states`). A text of up to 55
bytes then costs two blocks.
"""

from __future__ import annotations

import numpy as np

from sudare.kernels.compiled import kernel

_U = np.uint32
BLOCK = 64
"""The bytes of a block."""
_PRIMES = [number for number in range(2, 312) if all(number % factor for factor in range(2, number))]


def _fraction_of_root(number: int, degree: int) -> int:
    """Return the first 32 bits of the fraction of a root, from which SHA-256 has its constants."""
    low, high = 0, 1 << 45
    while low < high:
        middle = (low + high + 1) // 2
        if middle**degree <= number << (32 * degree):
            low = middle
        else:
            high = middle - 1
    return low & 0xFFFFFFFF


_ROUNDS = np.array([_fraction_of_root(prime, 3) for prime in _PRIMES], np.uint32)
_START = np.array([_fraction_of_root(prime, 2) for prime in _PRIMES[:8]], np.uint32)


@kernel
def _compress(state, words):
    """Bring a state up to date by a block of 16 words, which are overwritten."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for step in range(64):
        word = words[step & 15]
        if step >= 16:
            x, y = words[(step + 1) & 15], words[(step + 14) & 15]
            low = _U(_U(x >> 7) | _U(x << 25)) ^ _U(_U(x >> 18) | _U(x << 14)) ^ _U(x >> 3)
            high = _U(_U(y >> 17) | _U(y << 15)) ^ _U(_U(y >> 19) | _U(y << 13)) ^ _U(y >> 10)
            word = _U(word + low + words[(step + 9) & 15] + high)
            words[step & 15] = word
        turned = _U(_U(e >> 6) | _U(e << 26)) ^ _U(_U(e >> 11) | _U(e << 21)) ^ _U(_U(e >> 25) | _U(e << 7))
        first = _U(h + turned + ((e & f) ^ (~e & g)) + _ROUNDS[step] + word)
        turned = _U(_U(a >> 2) | _U(a << 30)) ^ _U(_U(a >> 13) | _U(a << 19)) ^ _U(_U(a >> 22) | _U(a << 10))
        second = _U(turned + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e, d, c, b, a = g, f, e, _U(d + first), c, b, a, _U(first + second)
    state[0], state[1], state[2], state[3] = _U(state[0] + a), _U(state[1] + b), _U(state[2] + c), _U(state[3] + d)
    state[4], state[5], state[6], state[7] = _U(state[4] + e), _U(state[5] + f), _U(state[6] + g), _U(state[7] + h)


@kernel
def _absorb(state, words, data, start, stop, before):
    """Bring a state up to date by the bytes of a message and its end; ``before`` of its bytes have been absorbed."""
    place = start
    while stop - place >= 64:
        for at in range(16):
            begin = place + 4 * at
            words[at] = _U(
                (_U(data[begin]) << 24) | (_U(data[begin + 1]) << 16) | (_U(data[begin + 2]) << 8) | data[begin + 3]
            )
        _compress(state, words)
        place += 64
    words[:] = 0
    for at in range(stop - place):
        words[at >> 2] |= _U(_U(data[place + at]) << (24 - 8 * (at & 3)))
    rest = stop - place
    words[rest >> 2] |= _U(_U(128) << (24 - 8 * (rest & 3)))
    if rest >= 56:  # the length does not fit behind the message
        _compress(state, words)
        words[:] = 0
    bits = np.uint64(before + stop - start) << np.uint64(3)
    words[14], words[15] = _U(bits >> np.uint64(32)), _U(bits & np.uint64(0xFFFFFFFF))
    _compress(state, words)


@kernel
def digest_rows(states, offsets, data, nulls, first, last, result):
    """Write the digests of the texts from ``first`` to ``last`` into the rows of ``result``, which begins at ``first``.

    Text ``i`` is ``data[offsets[i]:offsets[i + 1]]``; the rows of those that are ``nulls`` are not touched.
    """
    state, words = np.empty(8, np.uint32), np.empty(16, np.uint32)
    for row in range(first, last):
        if nulls[row]:
            continue
        state[:] = states[0]
        _absorb(state, words, data, offsets[row], offsets[row + 1], 64)
        words[:8] = state
        words[8] = _U(0x80000000)
        words[9:15] = 0
        words[15] = _U(8 * (64 + 32))
        state[:] = states[1]
        _compress(state, words)
        for at in range(32):
            result[row - first, at] = np.uint8((state[at >> 2] >> _U(24 - 8 * (at & 3))) & _U(255))


def key_states(key: bytes) -> np.ndarray:
    """Return the states of the two hashes behind the block that the key fills, as an array of 2 x 8 words."""
    if len(key) > BLOCK:  # RFC 2104: a long key is hashed first
        state, data = _START.copy(), _as_array(key)
        _absorb(state, np.empty(16, np.uint32), data, 0, len(key), 0)
        key = state.astype(">u4").tobytes()
    padded = np.frombuffer(key.ljust(BLOCK, b"\0"), ">u4").astype(np.uint32)
    states = np.empty((2, 8), np.uint32)
    for row, pad in enumerate((0x36363636, 0x5C5C5C5C)):
        states[row] = _START
        _compress(states[row], padded ^ _U(pad))
    return states


def _as_array(data: bytes) -> np.ndarray:
    """Return bytes as the kind of array, read-only, that buffers of texts are: another would be compiled for anew."""
    return np.frombuffer(data, np.uint8)
