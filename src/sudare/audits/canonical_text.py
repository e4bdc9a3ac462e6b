"""Text files in canonical form: the only form that all CSV readers read in the same way.

Readers differ in all other cases. DuckDB drops blanks after a closing quote, where pandas keeps them; Polars
distinguishes an empty field in quotes from one without; some skip blank lines, others count them. So a class of six in
one reader may be six single rows in another. The audit therefore accepts only RFC 4180:

- every field is either in quotes as a whole, with quotes inside doubled, or holds no quote, line end or delimiter;
- all lines end alike, by LF or by CR LF, the last one perhaps without; quoted fields may hold line ends of any kind;
- every record has as many fields as the header, and none is a blank line;
- there are no control characters (but tabs, and line ends in quotes), and a byte order mark stands at the beginning or
  not at all;
- empty fields are all in quotes, or none is.

There are two checks of a block. :meth:`Tokens._surely_regular` is fast and returns True only if a block is regular.
:meth:`Tokens._closely` is slow and obvious. It is the definition: it decides all other blocks, and finds the line of
the first fault.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.sizes import MANY_ROWS

BLOCK = MANY_ROWS
HINT = (
    "the audit accepts only text that all programs read in the same way (RFC 4180); rewrite it with a CSV library, "
    "such as pandas' to_csv(index=False), or as Parquet."
)
_MARK = b"\xef\xbb\xbf"
_TAB, _LF, _CR, _QUOTE = 9, 10, 13, 34
_CONTROLS = frozenset(range(32)) - {_TAB, _LF, _CR} | {127}
_BLANK = re.compile(rb"^[ \t]*\r?$", re.MULTILINE)

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out: the number of its columns, and what parts them."""

    columns: int
    delimiter: str


class IrregularError(Exception):
    """Text that is not in canonical form: in which line, and why, without anything of the text."""

    def __init__(self, line: int, fault: str) -> None:
        super().__init__(fault.format(line=line))


_RAGGED = "the number of fields in line {line} differs from the header"
_BLANK_LINE = "line {line} is blank"
_STRAY_QUOTE = "line {line} has a quotation mark inside a field without quotation marks"
_AFTER_QUOTE = "line {line} has text after a closing quotation mark"
_OPEN_QUOTE = "line {line} has a quotation mark that is not closed"
_LINE_END = "line {line} ends differently from the first line, or contains a carriage return"
_CONTROL = "line {line} contains a control character"
_INNER_MARK = "line {line} contains a byte order mark, inside the file"
_TWO_EMPTIES = "line {line} has an empty field in quotation marks and others have not, or the reverse"


def count_records(path: Path, layout: Layout, stop: threading.Event) -> int:
    """Return how many records a file has below its header; raise if it is not in canonical form."""
    tokens = Tokens(layout)
    with path.open("rb") as file:
        for block, last in _blocks(file):
            if stop.is_set():
                break
            tokens.take(block, last=last)
    return tokens.records - 1


def _blocks(file: Any) -> Iterator[tuple[bytes, bool]]:
    """Cut a file into blocks that end with a line feed, except for the last; a byte order mark is removed."""
    rest: list[bytes] = []
    chunk = file.read(BLOCK).removeprefix(_MARK)
    while chunk:
        following = file.read(BLOCK)
        cut = chunk.rfind(b"\n") + 1
        if cut and following:
            yield b"".join((*rest, chunk[:cut])), False
            rest = [chunk[cut:]]
        else:
            rest.append(chunk)
        chunk = following
    yield b"".join(rest), True


class Tokens:
    """Takes a text file block by block, and knows at the end of each how many records there were and where it is."""

    def __init__(self, layout: Layout) -> None:
        """Begin at the start of a file."""
        self.records = 0
        self._delimiter = ord(layout.delimiter)
        self._parts = layout.columns - 1  # delimiters of a record
        self._line, self._begun = 1, 1  # the line, and the one in which the record began
        self._opened = 0  # the line in which a quote was opened that is not closed; 0 if there is none
        self._fields = 0  # delimiters so far of the record that is not finished, if a quote is open
        self._ending: bytes | None = None
        self._bare_empty = self._quoted_empty = False
        telling = {self._delimiter, _QUOTE, _LF, _CR, *_CONTROLS}
        self._ordinary = bytes(byte for byte in range(256) if byte not in telling)
        allowed = np.ones(256, dtype=np.bool_)
        allowed[list(_CONTROLS - {self._delimiter})] = False
        self._allowed = allowed

    def take(self, block: bytes, *, last: bool) -> None:
        """Take the next block, which ends with a line feed unless it is the last; raise :class:`IrregularError`."""
        if last and block and not block.endswith(b"\n"):
            if block.endswith(b"\r"):
                self._closely(block)
                raise IrregularError(self._opened, _OPEN_QUOTE)
            block += self._ending or self._first_ending(block) or b"\n"
        if self._ending is None:
            self._ending = self._first_ending(block)
        if block and not self._surely_regular(block):
            self._closely(block)
        if last and self._opened:
            raise IrregularError(self._opened, _OPEN_QUOTE)

    def _first_ending(self, block: bytes) -> bytes | None:
        """Return how the first record ends, or None if that is not in this block."""
        quotes, at = bool(self._opened), 0
        while (end := block.find(b"\n", at)) >= 0:
            quotes ^= bool(block.count(b'"', at, end) % 2)
            if not quotes:
                return b"\r\n" if block[max(end - 1, 0) : end] == b"\r" else b"\n"
            at = end + 1
        return None

    def _surely_regular(self, block: bytes) -> bool:
        """Check a whole block at once: return True and count its records only if it is certainly regular."""
        if self._ending is None or _MARK in block or (self._parts == 0 and _BLANK.search(block)):
            return False
        told = block.translate(None, self._ordinary)
        if not self._opened and _QUOTE not in told:
            return self._without_quotes(block, told)
        data = np.frombuffer(b"\n" + block, np.uint8)  # so that there is a byte before each
        events = np.frombuffer(told, np.uint8)
        is_quote = events == _QUOTE
        inside = np.bitwise_xor.accumulate(is_quote)  # whether a quote is open after the event
        if self._opened:
            inside = ~inside
        quotes = np.flatnonzero(data == _QUOTE)
        opening = inside[is_quote]
        if not self._well_placed(data, quotes, opening) or not self._allowed[events[inside]].all():
            return False
        if self._ending == b"\r\n" and not self._ends_whole(data, events, inside):
            return False
        outer = bytes([self._delimiter]) * self._fields + events[~(inside | is_quote)].tobytes()
        pattern = self._pattern
        records, over = divmod(len(outer), len(pattern))
        if outer != pattern * records + pattern[:over]:
            return False
        bare = self._bare_empty or self._has_bare_empty(block, data, quotes)
        quoted = self._quoted_empty or self._has_quoted_empty(data, quotes, opening)
        open_after = bool(inside[-1]) if len(inside) else bool(self._opened)
        if (bare and quoted) or (over and not open_after):
            return False
        self._bare_empty, self._quoted_empty = bare, quoted
        feeds = events == _LF
        if open_after:
            self._fields = over
            if records:
                self._begun = self._line + _upto(feeds, feeds & ~inside)
            if len(quotes):
                self._opened = self._line + _upto(feeds, is_quote)
        else:
            self._opened = self._fields = 0
            self._begun = self._line + int(np.count_nonzero(feeds))
        self.records += records
        self._line += int(np.count_nonzero(feeds))
        return True

    @property
    def _pattern(self) -> bytes:
        """What a record has outside of quotes and besides ordinary text."""
        return bytes([self._delimiter]) * self._parts + (self._ending or b"")

    def _without_quotes(self, block: bytes, told: bytes) -> bool:
        pattern = self._pattern
        records = len(told) // len(pattern)
        if told != pattern * records or (self._ending == b"\r\n" and block.count(b"\r\n") != records):
            return False
        if not self._bare_empty and self._perhaps_bare_empty(block):
            if self._quoted_empty:
                return False
            self._bare_empty = True
        self.records += records
        self._line += block.count(b"\n")
        self._begun = self._line
        return True

    def _well_placed(self, data: Bytes, quotes: Places, opening: NDArray[np.bool_]) -> bool:
        """Whether quotes open where fields begin, and close where they end; doubled ones close and open again."""
        before, after = data[quotes[opening] - 1], data[quotes[~opening] + 1]
        begins = (before == self._delimiter) | (before == _LF) | (before == _QUOTE)
        ends = (after == self._delimiter) | (after == _LF) | (after == _QUOTE) | (after == _CR)
        return bool(begins.all() and ends.all())

    @staticmethod
    def _ends_whole(data: Bytes, events: Bytes, inside: NDArray[np.bool_]) -> bool:
        """Whether every carriage return outside of quotes has its line feed."""
        returns = np.flatnonzero(data == _CR)[~inside[events == _CR]]
        return bool((data[returns + 1] == _LF).all())

    def _perhaps_bare_empty(self, block: bytes) -> bool:
        """Whether two delimiters or line ends meet; in quotes that says nothing."""
        part = bytes([self._delimiter])
        return (
            block.startswith(part)
            or part + part in block
            or part + b"\n" in block
            or part + b"\r" in block
            or b"\n" + part in block
        )

    def _has_bare_empty(self, block: bytes, data: Bytes, quotes: Places) -> bool:
        if not self._perhaps_bare_empty(block):
            return False
        parts = (data == self._delimiter) | (data == _LF) | (data == _CR)
        pairs = parts[:-1] & parts[1:] & ((data[:-1] == self._delimiter) | (data[1:] == self._delimiter))
        places = np.flatnonzero(pairs)
        return bool((np.searchsorted(quotes, places) % 2 == bool(self._opened)).any())

    @staticmethod
    def _has_quoted_empty(data: Bytes, quotes: Places, opening: NDArray[np.bool_]) -> bool:
        first = np.flatnonzero(opening[:-1])  # one that is last is not closed here
        close = quotes[first + 1]
        empty = (close == quotes[first] + 1) & (data[quotes[first] - 1] != _QUOTE) & (data[close + 1] != _QUOTE)
        return bool(empty.any())

    def _closely(self, block: bytes) -> None:
        """Check a block byte by byte, and raise :class:`IrregularError` at the first fault."""
        at, size = 0, len(block)
        while at < size:
            if block.startswith(_MARK, at):
                raise IrregularError(self._line, _INNER_MARK)
            byte = block[at]
            if byte in _CONTROLS and byte != self._delimiter:
                raise IrregularError(self._line, _CONTROL)
            if self._opened:
                if byte == _QUOTE:
                    at += self._closed(block, at)
                elif byte == _LF:
                    self._line += 1
                at += 1
                continue
            field = at == 0 or block[at - 1] in (self._delimiter, _LF)
            if byte == _QUOTE:
                if not field:
                    raise IrregularError(self._line, _STRAY_QUOTE)
                self._opened = self._line
                if block.startswith(b'""', at) and not block.startswith(b'"""', at):
                    self._note_empty(quoted=True)
            elif byte == self._delimiter:
                self._fields += 1
                if field:
                    self._note_empty(quoted=False)
            elif byte in (_LF, _CR):
                at += self._ended(block, at, empty=field)
            at += 1

    def _closed(self, block: bytes, at: int) -> int:
        """Read a quote in a field in quotes; return how many bytes to pass over besides it."""
        if block.startswith(b'""', at):
            return 1
        following = block[at + 1 : at + 2]
        if following and following[0] not in (self._delimiter, _LF, _CR):
            raise IrregularError(self._line, _AFTER_QUOTE)
        self._opened = 0
        return 0

    def _ended(self, block: bytes, at: int, *, empty: bool) -> int:
        """Read a line end; return how many bytes to pass over besides its first."""
        found = b"\r\n" if block.startswith(b"\r\n", at) else block[at : at + 1]
        if found == b"\r" or found != (self._ending or found):
            raise IrregularError(self._line, _LINE_END)
        self._ending = found
        start = block.rfind(b"\n", 0, at) + 1
        if self._fields == 0 and not block[start:at].strip(b" \t"):
            raise IrregularError(self._line, _BLANK_LINE)
        if self._fields != self._parts:
            raise IrregularError(self._begun, _RAGGED)
        if empty:
            self._note_empty(quoted=False)
        self.records += 1
        self._line += 1
        self._begun, self._fields = self._line, 0
        return len(found) - 1

    def _note_empty(self, *, quoted: bool) -> None:
        self._quoted_empty |= quoted
        self._bare_empty |= not quoted
        if self._quoted_empty and self._bare_empty:
            raise IrregularError(self._line, _TWO_EMPTIES)


def _upto(counted: NDArray[np.bool_], marked: NDArray[np.bool_]) -> int:
    """Return how many are counted up to the last one that is marked."""
    return int(np.count_nonzero(counted[: int(np.flatnonzero(marked)[-1]) + 1]))
