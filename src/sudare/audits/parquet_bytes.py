"""Every byte of a Parquet file accounted for: magic, pages, indexes and footer, and nothing that no row shows.

Readers follow the footer and ignore the rest, so a file may hold anything between its pages. Here all fields of the
footer are read. The pages of the columns must fill the file without a gap, dictionaries may hold only values that rows
show, and the recorded smallest and largest values must be true.
"""

from __future__ import annotations

import mmap
import re
import struct
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sudare.audits.payload import PayloadError, check_fields, check_notes
from sudare.audits.thrift import MalformedError, read_struct

_MAGIC = b"PAR1"
_CREATOR = re.compile(rb"[\w .,:/()+-]{0,160}")
_FIXED = {1: "<i", 2: "<q", 4: "<f", 5: "<d"}
"""How numbers of Parquet's physical types are written; type 6 is text."""
_BYTES, _SHORT = 6, 32
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_TRUNCATED = 8
"""Writers may cut off what they note of a long text, but not of one shorter than this."""

# the fields of each struct that are known; texts only where they are looked at
_FILE = {1, 2, 3, 4, 5, 6, 7}
_GROUP = {1, 2, 3, 4, 5, 6, 7}
_CHUNK = {2, 3, 4, 5, 6, 7}
_COLUMN = {1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 16}
_ELEMENT = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
_PAGE = {1, 2, 3, 4, 5, 7, 8}
_STATISTICS = {1, 2, 3, 4, 5, 6, 7, 8}
_INDEX = {1, 2, 3, 4, 5, 6, 7}


def check_parquet(path: Path, stop: threading.Event) -> None:
    """Raise :class:`PayloadError` if a Parquet file holds more than its rows."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            _Footer(data, path).check(stop)
        except (MalformedError, KeyError, TypeError, AttributeError, struct.error):
            raise PayloadError("has a footer or pages that violate the format") from None


class _Footer:
    """The footer of a file, and the ranges of bytes that it speaks of."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self.data, self.path, self.size = data, path, len(data)
        if data[:4] != _MAGIC or data[-4:] != _MAGIC:
            raise PayloadError("is encrypted, or has bytes before its table or after it")
        self.begin = self.size - 8 - int.from_bytes(data[-8:-4], "little")
        if self.begin < 4:
            raise MalformedError
        self.told, end = read_struct(data, self.begin, self.size - 8)
        self.ranges: list[tuple[int, int]] = []
        if end != self.size - 8:
            raise PayloadError("has bytes after its footer")

    def check(self, stop: threading.Event) -> None:
        """Check the whole file, one row group after the other."""
        told = self.told
        _known(told, _FILE)
        if not _CREATOR.fullmatch(told.get(6, b"")):
            raise PayloadError("has a long or unusual text as the name of its writer")
        for element in told[2]:
            _known(element, _ELEMENT)
            _no_text(element.get(10))
        _no_text(told.get(7))
        with pq.ParquetFile(self.path) as file:
            notes = {pair[1]: pair.get(2, b"") for pair in told.get(5, [])}
            if len(notes) != len(told.get(5, [])):
                raise PayloadError("has a note twice")
            check_notes(notes, file.schema_arrow.names, told[3])
            check_fields(file.schema_arrow)
            paths = [file.schema.column(place).path for place in range(len(file.schema))]
            for number, group in enumerate(told[4]):
                if stop.is_set():
                    return
                self._check_group(group, file, number, paths)
        self._check_gaps()

    def _check_group(self, group: dict[int, Any], file: Any, number: int, paths: list[str]) -> None:
        _known(group, _GROUP)
        _no_text(group.get(4))
        chunks = [_Chunk(self, chunk, name) for chunk, name in zip(group[1], paths, strict=True)]
        tops = {name.split(".")[0] for chunk, name in zip(chunks, paths, strict=True) if chunk.has_claims}
        needed = [name for name in file.schema_arrow.names if name in tops]  # in the order of the file
        if not tops:
            return
        whole = any("." in name for name in file.schema_arrow.names)  # which Arrow takes for the path of a nested one
        table = file.read_row_group(number, columns=None if whole or len(needed) == len(paths) else needed)
        cells = dict(zip(_leaf_names(table, paths), _leaves(table), strict=True))
        for chunk, name in zip(chunks, paths, strict=True):
            if chunk.has_claims:
                chunk.check_claims(cells[name])

    def _check_gaps(self) -> None:
        """Raise unless the ranges fill the file from the magic to the footer."""
        at = 4
        for begin, end in sorted(self.ranges):
            if begin != at:
                raise PayloadError("has bytes outside its pages, which no program reads")
            at = end
        if at != self.begin:
            raise PayloadError("has bytes outside its pages, which no program reads")


class _Chunk:
    """A column of a row group: its pages, and what they claim to hold."""

    def __init__(self, footer: _Footer, told: dict[int, Any], path: str) -> None:
        _known(told, _CHUNK)
        if 14 in told[3] or 15 in told[3]:
            raise PayloadError("has bloom filters, which may reveal values that the rows do not show")
        self.told = _known(told[3], _COLUMN)
        if ".".join(name.decode() for name in self.told[3]) != path:
            raise MalformedError
        _no_text(self.told.get(13), self.told.get(16))
        self.kind = self.told[1]
        self.entries: int | None = None
        self.mixed = False
        self.dictionary = b""
        self.noted: list[bytes] = []
        self._note(self.told.get(12, {}))
        starts = [self.told[number] for number in (9, 11) if self.told.get(number)]
        self._read_pages(footer, min(starts), min(starts) + self.told[7])
        self._read_copy(footer, min(starts) + self.told[7])
        for place, size, read in ((4, 5, self._read_places), (6, 7, self._read_index)):
            if place in told:
                begin, end = told[place], told[place] + told[size]
                footer.ranges.append((begin, end))
                found, after = read_struct(footer.data, begin, end)
                read(found)
                if after != end:
                    raise PayloadError("has bytes after an index of its pages")

    @property
    def has_claims(self) -> bool:
        """Whether there is anything that only the values themselves can prove."""
        return self.entries is not None or bool(self.noted)

    def _read_pages(self, footer: _Footer, at: int, end: int) -> None:
        if at < 4 or end > footer.begin:
            raise MalformedError
        footer.ranges.append((at, end))
        while at < end:
            header, at = read_struct(footer.data, at, end)
            _known(header, _PAGE)
            at += header[3]
            if header[1] == 2:
                if self.entries is not None:
                    raise PayloadError("has a column with two dictionaries")
                self.entries = header[7][1]
                self.dictionary = self._unpacked(footer.data[at - header[3] : at], header[2])
            else:
                page = header[5] if header[1] == 0 else header[8]
                self.mixed |= page[2] not in (2, 8)  # those that refer to a dictionary
                self._note(page.get(5 if header[1] == 0 else 8, {}))
        if at != end:
            raise PayloadError("has bytes after the pages of a column")

    def _read_copy(self, footer: _Footer, at: int) -> None:
        """Account for what some writers repeat behind a column: the very words of the footer."""
        try:
            found, end = read_struct(footer.data, at, footer.begin)
        except MalformedError:
            return
        if found == self.told:
            footer.ranges.append((at, end))

    def _note(self, statistics: dict[int, Any]) -> None:
        _known(statistics, _STATISTICS)
        self.noted += [statistics[number] for number in (1, 2, 5, 6) if number in statistics]

    def _read_places(self, index: dict[int, Any]) -> None:
        _no_text(index)

    def _read_index(self, index: dict[int, Any]) -> None:
        _known(index, _INDEX)
        empty = [bool(one == 1) for one in index[1]]
        for number in (2, 3):
            texts = index[number]
            if len(texts) != len(empty) or any(text and none for text, none in zip(texts, empty, strict=True)):
                raise PayloadError("has an index of pages that notes values of pages without any")
            self.noted += [text for text, none in zip(texts, empty, strict=True) if not none]

    def _unpacked(self, page: bytes, size: int) -> bytes:
        if self.told[4] == 0:
            return page
        codec = _CODECS.get(self.told[4])
        if codec is None:
            raise PayloadError("has a compression that the audit does not read")
        try:
            return bytes(pa.Codec(codec).decompress(page, size))
        except (pa.ArrowException, OSError):
            raise MalformedError from None

    def check_claims(self, cells: pa.ChunkedArray) -> None:
        """Raise if the dictionary has entries that no row shows, or if a value is noted that no row has."""
        values = pc.unique(_bits(cells)).drop_null()
        texts = pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type)
        if self.entries is not None:
            self._check_entries(values, self._entries() if texts and self.kind == _BYTES else None)
        if texts and self.kind == _BYTES:
            _check_texts(set(self.noted), values)
        elif self.kind in _FIXED:
            self._check_numbers(_forms(cells, struct.calcsize(_FIXED[self.kind])))
        elif any(len(text) > _SHORT for text in self.noted):
            raise PayloadError("notes a smallest or largest value that no row has")

    def _entries(self) -> list[bytes] | None:
        """Return the texts of the dictionary, if pages without one could hide that not all of them are used."""
        if not self.mixed or self.entries is None:
            return None
        found, at = [], 0
        for _ in range(self.entries):
            size = int.from_bytes(self.dictionary[at : at + 4], "little")
            found.append(self.dictionary[at + 4 : at + 4 + size])
            at += 4 + size
        if at != len(self.dictionary):
            raise PayloadError("has bytes after a dictionary")
        return found

    def _check_entries(self, values: Any, entries: list[bytes] | None) -> None:
        # as many as there are values: then each is one of them, and none is there twice
        strange = self.entries is not None and self.entries > len(values)
        if entries is not None:
            strange = strange or not pc.all(pc.is_in(pa.array(entries, values.type), value_set=values)).as_py()
        if strange:
            raise PayloadError("has entries in a dictionary that no row shows")

    def _check_numbers(self, forms: list[Any]) -> None:
        """Compare the recorded numbers with the actual ones, as written."""
        width = struct.calcsize(_FIXED[self.kind])
        if any(len(text) != width for text in self.noted):
            raise PayloadError("notes a smallest or largest value that no row has")
        if not forms or not self.noted:
            return
        size = pa.int32() if width == 4 else pa.int64()
        noted = pa.Array.from_buffers(size, len(self.noted), [None, pa.py_buffer(b"".join(self.noted))])
        if self.kind in (4, 5):  # a zero may be noted with either sign
            zeros = pc.is_in(noted, value_set=pa.array([0, -(1 << (width * 8 - 1))], size))
            noted = noted.filter(pc.invert(zeros))
        if len(noted) and not any(pc.all(pc.is_in(noted, value_set=form)).as_py() for form in forms):
            raise PayloadError("notes a smallest or largest value that no row has")


def _check_texts(noted: Iterable[bytes], values: Any) -> None:
    given = pa.array(list(noted), values.type)
    missing = given.filter(pc.invert(pc.is_in(given, value_set=values)))
    for text in missing.to_pylist():
        # cut off, and the last byte of a largest one made larger
        ways = [text, text[:-1] + bytes([max(text[-1] - 1, 0)])] if len(text) >= _TRUNCATED else []
        if not any(pc.any(pc.starts_with(values, pattern=way)).as_py() for way in ways):
            raise PayloadError("notes a smallest or largest value that no row has")


def _bits(cells: pa.ChunkedArray) -> Any:
    """Return cells in a form in which they are equal only if they are written in the same way."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        cells = cells.cast(kind.value_type)
        kind = kind.value_type
    if pa.types.is_string(kind):
        return cells.cast(pa.binary())
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return cells.cast(pa.large_string()).cast(pa.large_binary())
    if pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        same = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width]
        return pa.chunked_array([chunk.view(same) for chunk in cells.chunks], same)
    return cells


def _forms(cells: pa.ChunkedArray, width: int) -> list[Any]:
    """Return the numbers of a column as whole numbers of so many bytes, as the file may have them."""
    kind, size = cells.type, pa.int32() if width == 4 else pa.int64()
    if pa.types.is_dictionary(kind):
        kind, cells = kind.value_type, cells.cast(kind.value_type)
    values = pc.unique(cells).drop_null()
    if pa.types.is_timestamp(kind):  # the file may have another unit than Arrow says
        units = [pc.cast(values, pa.timestamp(unit, kind.tz), safe=False) for unit in ("ms", "us", "ns")]
        return [one.view(pa.int64()) for one in units] if width == 8 else []
    if pa.types.is_integer(kind) and kind.bit_width < width * 8:
        values = values.cast(size)
    if not pa.types.is_primitive(values.type) or values.type.bit_width != width * 8:
        return []
    return [pc.unique(_bits(pa.chunked_array([values]))).view(size)]


def _leaves(table: pa.Table) -> Iterator[pa.ChunkedArray]:
    """Yield the columns of a table as Parquet has them: without lists and structs around."""
    for column in table.columns:
        yield from _parts(column)


def _parts(column: pa.ChunkedArray) -> Iterator[pa.ChunkedArray]:
    kind = column.type
    if pa.types.is_struct(kind):
        for part in column.flatten():
            yield from _parts(part)
    elif pa.types.is_map(kind):
        for place in (0, 1):
            chunks = [(chunk.keys if place == 0 else chunk.items) for chunk in column.chunks]
            yield from _parts(pa.chunked_array(chunks, kind.key_type if place == 0 else kind.item_type))
    elif pa.types.is_nested(kind):
        yield from _parts(pa.chunked_array([chunk.flatten() for chunk in column.chunks], kind.value_type))
    else:
        yield column


def _leaf_names(table: pa.Table, paths: list[str]) -> list[str]:
    chosen = set(table.column_names)
    whole = [name for name in paths if name.split(".")[0] in chosen]
    return paths if len(list(_leaves(table))) == len(paths) else whole


def _known(told: dict[int, Any], fields: set[int]) -> dict[int, Any]:
    """Return a struct if all its fields are known."""
    if not set(told) <= fields:
        raise PayloadError("has fields in its footer that are unknown, or do not belong to a plain table")
    return told


def _no_text(*values: Any) -> None:
    """Raise if a text stands anywhere within."""
    for value in values:
        if isinstance(value, bytes):
            raise PayloadError("has a text where the format allows none")
        if isinstance(value, dict):
            _no_text(*value.values())
        elif isinstance(value, list):
            _no_text(*value)
