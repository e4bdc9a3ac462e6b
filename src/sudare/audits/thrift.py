"""A reader of Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages.

It reads any struct as a mapping of field numbers to values, so no field is skipped: libraries skip fields that they do
not know. Texts are bytes. A struct with a field twice is refused, because readers keep only one of them.
"""

from __future__ import annotations

import struct
from typing import Any

_DEEPEST = 32
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


class MalformedError(Exception):
    """Bytes that are no struct."""


def read_struct(data: Any, at: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the struct that begins at a place before ``end``, and the place after it."""
    reader = _Reader(data, at, end)
    try:
        found = reader.fields(0)
    except (IndexError, struct.error):
        raise MalformedError from None
    return found, reader.at


class _Reader:
    def __init__(self, data: Any, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def byte(self) -> int:
        if self.at >= self.end:
            raise MalformedError
        self.at += 1
        return int(self.data[self.at - 1])

    def varint(self) -> int:
        number = shift = 0
        while shift < 70:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
        raise MalformedError

    def integer(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def take(self, size: int) -> bytes:
        if size > self.end - self.at:
            raise MalformedError
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def fields(self, depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while header := self.byte():
            number = number + (header >> 4) if header >> 4 else self.integer()
            if number in found or depth > _DEEPEST:
                raise MalformedError
            kind = header & 15
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self.value(kind, depth + 1)
        return found

    def value(self, kind: int, depth: int) -> Any:
        if kind in (_I16, _I32, _I64):
            return self.integer()
        if kind in (_TRUE, _FALSE, _BYTE):  # in a list, a truth value takes a byte
            return self.byte()
        if kind == _DOUBLE:
            return struct.unpack("<d", self.take(8))[0]
        if kind == _BINARY:
            return self.take(self.varint())
        if kind == _STRUCT:
            return self.fields(depth)
        if kind in (_LIST, _SET):
            header = self.byte()
            size = self.varint() if header >> 4 == 15 else header >> 4
            if size > self.end - self.at:  # each takes a byte at least
                raise MalformedError
            return [self.value(header & 15, depth + 1) for _ in range(size)]
        raise MalformedError  # Parquet has no maps
