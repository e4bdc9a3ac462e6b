"""The blocks of a deflate stream (RFC 1951), as in gzip and in workbooks: none of them may stand there for nothing.

A stream is a row of blocks, and programs show the text of all of them. Blocks without text, the bits between a block
and the next whole byte, and the tables of codes in front of a block are never shown. So a whole file could be in them.
A stream is refused if such bits are not zero, if an empty block has a table, if a block is longer than its text would
be without any table, or if it has more blocks than its text needs.

Writers of deflate leave no such room: a block of zlib and its relatives has 16,000 words or more, one of GNU gzip
4,000, and one that would grow is stored as it is. An empty block of a fixed form stands where a program flushed its
stream, such as at the end of a text file that Python wrote. Streams that were flushed after every few rows are refused.

What remains is little: the lengths of the codes of a block, which take 290 bytes at most (about 60 in the usual case),
and how the text is divided into blocks. There is one for each 4 KiB of text, and eight more; a block whose text is
short has no room for a table. Nobody checks whether a writer chose the shortest of several ways to write the same text:
a repeat may point to any of the earlier copies, as an order of rows may also be chosen.

zlib stops at the last bit of a stream, but Python tells only the byte. So each block is read as if it were the last
one, and again behind a few more bits: the number of bits with which it begins to need one more byte tells where it
ends. That takes four times as long as to uncompress the file, and no decoder of codes that could be wrong.
"""

from __future__ import annotations

import zlib
from typing import IO

_LEAST_BLOCK = 1 << 12
"""The bytes that a block holds on the average, at least; writers fill them with more."""
_FEW = 8
"""Blocks that may be there in any case: what a small file has, and where its writer flushed it."""
_MARGIN = 64
"""The bits by which a block may be longer than its text in the longest of the fixed codes, which has nine bits."""
_WINDOW = 1 << 15
"""The bytes of text that a block can repeat."""
_PIECE = 1 << 14
_EMPTY, _EMPTY_BITS = 0b10, 10
"""A block without text, in fixed codes."""
_LETTER, _LETTER_BITS = 0b10011_010, 19
"""A block with one letter of nine bits."""


class BlockError(Exception):
    """A stream that has room for more than its text: what is wrong, without anything of it."""


def check_blocks(file: IO[bytes], start: int, end: int, size: int) -> None:
    """Raise unless the bytes of a file from ``start`` to ``end`` are a stream of ``size`` bytes of text, and no more.

    The stream is known to be sound, because zlib has read it.
    """
    at, blocks, found, text, last = 8 * start, 0, 0, b"", False
    while not last:
        blocks += 1
        if (blocks - _FEW) * _LEAST_BLOCK > size:
            raise BlockError("has more blocks than its text needs")
        head = _bits(file, at, 3)
        last, stored, coded = bool(head & 1), head >> 1 == 0, head >> 1 == 2
        if stored:
            _check_rest(file, at + 3)
            length, text = _stored(file, (at + 10) // 8, text)
            at = (at + 10) // 8 * 8 + 8 * (4 + length)
        else:
            bits, length, text = _compressed(file, at, text)
            if coded and not length:
                raise BlockError("has blocks that hold no text")
            if bits > 9 * length + _MARGIN:
                raise BlockError("has blocks that are longer than their text")
            at += bits
        found += length
    _check_rest(file, at)
    if (at + 7) // 8 != end or found != size:
        raise BlockError("has more bytes than its text needs")


def _bits(file: IO[bytes], at: int, count: int) -> int:
    """Return up to nine bits."""
    file.seek(at // 8)
    return int.from_bytes(file.read(2), "little") >> at % 8 & (1 << count) - 1


def _check_rest(file: IO[bytes], at: int) -> None:
    """Raise unless the bits up to the next whole byte are zero."""
    if _bits(file, at, -at % 8):
        raise BlockError("has bits that belong to no block")


def _stored(file: IO[bytes], start: int, text: bytes) -> tuple[int, bytes]:
    """Return the length of a stored block, and the last text up to its end."""
    file.seek(start)
    length = int.from_bytes(file.read(4)[:2], "little")
    skipped = max(0, length - _WINDOW)
    file.seek(skipped, 1)
    return length, (text + file.read(length - skipped))[-_WINDOW:]


def _compressed(file: IO[bytes], at: int, before: bytes) -> tuple[int, int, bytes]:
    """Return how many bits a compressed block has, how many bytes of text, and the last text up to its end."""
    whole, length, text = _alone(file, at, before, 0, 0)
    low, high = 0, 7  # of the bits that its last byte has left
    while low < high:
        more = (low + high) // 2 + 1
        ahead, value = _ahead(more)
        if _alone(file, at, before, value, ahead)[0] > whole + ahead // 8:
            high = more - 1
        else:
            low = more
    return 8 * whole - low, length, text


def _ahead(more: int) -> tuple[int, int]:
    """Return blocks that have ``more`` bits than some whole bytes: how many bits in all, and the bits."""
    bits, value = (_LETTER_BITS, _LETTER) if more % 2 else (0, 0)
    while bits % 8 != more:
        bits, value = bits + _EMPTY_BITS, value | _EMPTY << bits
    return bits, value


def _alone(file: IO[bytes], at: int, before: bytes, value: int, width: int) -> tuple[int, int, bytes]:
    """Read a block behind others of ``width`` bits: how many bytes they fill, how much text, and the last of it."""
    stream = zlib.decompressobj(-15, zdict=before) if before else zlib.decompressobj(-15)
    file.seek(at // 8)
    piece = file.read(_PIECE)
    value |= (int.from_bytes(piece, "little") >> at % 8 | 1) << width  # as if the block were the last one
    width += 8 * len(piece) - at % 8
    given = length = 0
    text = before
    while piece:
        ready = value & (1 << width // 8 * 8) - 1
        shown = stream.decompress(ready.to_bytes(width // 8, "little"))
        given, length = given + width // 8, length + len(shown)
        text = (text + shown[-_WINDOW:])[-_WINDOW:]
        if stream.eof:
            return given - len(stream.unused_data), length, text
        value, width = value >> width // 8 * 8, width % 8
        piece = file.read(_PIECE)
        value, width = value | int.from_bytes(piece, "little") << width, width + 8 * len(piece)
    raise BlockError("ends within a block")
