"""Plain copies of compressed text, and of text in other encodings: what the proof then reads is UTF-8.

A compressed file could hold more than the text that programs show. So it is refused unless it is one stream from its
first byte to its last: one member of gzip without a name, a time, a comment or further fields in its header, or one
frame of Zstandard without a dictionary. In both, no block may stand there for nothing. Text in another encoding has to
be the only way to write what it says.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from sudare.audits.deflate_blocks import BlockError, check_blocks
from sudare.core.errors import DataError, Problem
from sudare.core.private_folders import locked_private_folder
from sudare.core.sizes import MIB

COMPRESSED = (".gz", ".zst")
_GZIP_HEADER, _GZIP_END = 10, 8
_MAGIC = b"\x28\xb5\x2f\xfd"
_WIDEST = b"\x88"
"""The widest window that a reader of Zstandard must know; its lowest bits, by which it could be finer, are not used."""
_LEAST_BLOCK = 1 << 10
"""The bytes that a block of Zstandard holds on the average, at least; writers fill them, up to 128 KiB."""
_AGAIN = "compress the text again, with gzip -n or zstd."


@contextmanager
def plain_copy(path: Path, packed: str | None, encoding: str, scratch: Path | None) -> Iterator[Path]:
    """Yield a copy of the file in UTF-8 and not compressed, in a private folder that is removed at the end."""
    with locked_private_folder(scratch) as folder:
        plain = folder / "plain"
        with path.open("rb") as file, plain.open("wb") as target:
            for piece in _decoded(_unpacked(path, file, packed), path, encoding):
                target.write(piece)
        yield plain


def _unpacked(path: Path, file: IO[bytes], packed: str | None) -> Iterator[bytes]:
    if packed == ".gz":
        return _gzip(path, file)
    if packed == ".zst":
        return _zstandard(path, file)
    return iter(lambda: file.read(MIB), b"")


def _decoded(pieces: Iterator[bytes], path: Path, encoding: str) -> Iterator[bytes]:
    """Yield text in UTF-8; raise if its bytes are not the ones that the encoding has for it."""
    if encoding == "utf-8":
        check = codecs.getincrementaldecoder("utf-8")()
        for piece in pieces:
            check.decode(piece)
            yield piece
        check.decode(b"", final=True)
        return
    decoder, encoder = codecs.getincrementaldecoder(encoding)(), codecs.getincrementalencoder(encoding)()
    rest = b""
    try:
        for piece in chain(pieces, (b"",)):
            text = decoder.decode(piece, final=not piece)
            again, rest = encoder.encode(text, final=not piece), rest + piece
            if not rest.startswith(again):
                raise DataError(Problem(str(path), f"is not written as {encoding} writes its text.", "write it again."))
            rest = rest[len(again) :]
            yield text.encode("utf-8")
    except UnicodeError:
        raise DataError(Problem(str(path), f"is not text in {encoding}, as it should be.")) from None
    if rest:
        raise DataError(Problem(str(path), f"is not written as {encoding} writes its text.", "write it again."))


def _gzip(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """Yield what one member of gzip holds; raise if there is more in the file."""
    header = file.read(_GZIP_HEADER)
    if len(header) < _GZIP_HEADER or header[:3] != b"\x1f\x8b\x08":
        raise DataError(Problem(str(path), "is not compressed by gzip, or is damaged."))
    if header[3] or header[4:8] != bytes(4):
        raise DataError(Problem(str(path), "has a name, a time or other notes in the header of gzip.", _AGAIN))
    if header[8] not in (0, 2, 4) or (header[9] > 13 and header[9] != 255):
        raise DataError(Problem(str(path), "has an unusual header of gzip.", _AGAIN))
    stream = zlib.decompressobj(wbits=31)
    given, size = header, 0
    try:
        while not stream.eof:
            piece = stream.decompress(given, MIB)
            size += len(piece)
            yield piece
            given = stream.unconsumed_tail or file.read(MIB)
            if not given and not stream.eof:
                raise DataError(Problem(str(path), "is damaged: its compressed text is cut off."))
    except zlib.error:
        raise DataError(Problem(str(path), "is damaged: it cannot be uncompressed.")) from None
    if stream.unused_data or given or file.read(1):
        raise DataError(Problem(str(path), "has more bytes behind its compressed text.", _AGAIN))
    try:
        check_blocks(file, _GZIP_HEADER, file.tell() - _GZIP_END, size)
    except BlockError as error:
        raise DataError(Problem(str(path), f"{error}.", _AGAIN)) from None


def _zstandard(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """Yield what one frame of Zstandard holds; raise if there is more in the file."""
    blocks = _walk_frame(path, file)
    file.seek(0)
    size = 0
    try:
        with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as stream:
            while piece := stream.read(MIB):
                size += len(piece)
                yield piece
    except (OSError, pa.ArrowException):
        raise DataError(Problem(str(path), "is damaged: it cannot be uncompressed.")) from None
    if (blocks - 2) * _LEAST_BLOCK > size:
        raise DataError(Problem(str(path), "has more blocks than its text needs.", _AGAIN))


def _walk_frame(path: Path, file: Any) -> int:
    """Count the blocks of a frame, and raise unless it is the whole file and no block is idle (RFC 8878)."""
    head = file.read(5)
    if len(head) < 5 or head[:4] != _MAGIC:
        raise DataError(Problem(str(path), "is not compressed by Zstandard, or is damaged."))
    flags = head[4]
    single = bool(flags & 0b10_0000)
    width = (1 if single else 0, 2, 4, 8)[flags >> 6]
    window = b"" if single else file.read(1)
    told = int.from_bytes(file.read(width), "little")
    wide = window > _WIDEST or bool(window and window[0] & 0b111)
    if flags & 0b1_1011 or wide or told < {4: 256 + (1 << 16), 8: 1 << 32}.get(width, 0):
        raise DataError(Problem(str(path), "has an unusual header of Zstandard.", _AGAIN))
    idle = DataError(Problem(str(path), "has blocks that hold no text.", _AGAIN))
    blocks = 0
    while True:
        block = file.read(3)
        if len(block) < 3:
            raise DataError(Problem(str(path), "is damaged: its compressed text is cut off."))
        blocks += 1
        told = int.from_bytes(block, "little")
        kind, size = told >> 1 & 0b11, told >> 3
        if not size and told != 1:  # the last one may be empty, without a byte of its own
            raise idle
        if kind == 2 and _is_idle(file.read(3)[:size]):
            raise idle
        file.seek(1 if kind == 1 else size - (min(size, 3) if kind == 2 else 0), 1)
        if told & 1:
            break
    end = file.tell() + (4 if flags & 0b100 else 0)
    if file.seek(0, 2) != end:
        raise DataError(Problem(str(path), "has more bytes behind its compressed text.", _AGAIN))
    return blocks


def _is_idle(start: bytes) -> bool:
    """Return whether a compressed block begins with no literals, unless sequences follow at once.

    Only a copy of earlier text needs no literals. Then writers say so in one byte, which is zero.
    """
    if len(start) < 2:
        return True
    bits = int.from_bytes(start, "little")
    packed, form = bits & 0b10, bits >> 2 & 0b11
    if packed:
        size = bits >> 4 & (0x3FF, 0x3FF, 0x3FFF, 0x3FFFF)[form]
    else:
        size = bits >> 4 & (0xFFF if form == 1 else 0xFFFFF) if form & 1 else bits >> 3 & 0x1F
    return not size and (start[0] != 0 or start[1] == 0)
