"""The parts of an Excel workbook, as a ZIP archive: only those of a plain table, and not a byte besides them.

All parts but the sheet say the same in every release. So they are compared with those that XlsxWriter writes of an
empty workbook: there is no room in them for an author, a comment, a second sheet, a link or a macro.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import IO, Any

from sudare.audits.deflate_blocks import BlockError, check_blocks
from sudare.core.errors import DataError, Problem, UnsupportedError
from sudare.core.sizes import MIB

SHEET = "xl/worksheets/sheet1.xml"
NAME = "release"
DATE, TIME = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
HINT = "write the release again as .xlsx with sudare, or audit it as CSV or Parquet."
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4sBBHHHHH3L5H2L")
_VERSION = 20
"""The version of the format that archives with deflated parts need, and the one that their writers have."""
_MOMENTS = ((1980, 1, 31, 0, 0, 0), (1980, 1, 1, 0, 0, 0))
_MODES = (0, 0o600 << 16, 0o644 << 16, 0o100600 << 16, 0o100644 << 16)


def checked_parts(path: Path) -> tuple[str, ...]:
    """Return the formats of dates that cells of a workbook may have, in their order; raise if it holds more."""
    with _sound(path), path.open("rb") as file, zipfile.ZipFile(file) as archive:
        _check_bytes(path, file, archive)
        parts = archive.infolist()
        for formats in [found_ for count in range(3) for found_ in permutations((DATE, TIME), count)]:
            usual = _empty(formats)
            if [part.filename for part in parts] != list(usual):
                raise DataError(
                    Problem(
                        str(path), "has other parts than a workbook with one plain sheet, or in another order.", HINT
                    )
                )
            texts = zip(parts, usual.values(), strict=True)
            if all(part.filename == SHEET or _is(archive, part, text) for part, text in texts):
                return formats
    what = "has parts that say more than a plain table needs, such as authors, links, or further or hidden sheets"
    raise DataError(Problem(str(path), f"{what}; or another version of XlsxWriter wrote it.", HINT))


def sheet_text(path: Path) -> Iterator[str]:
    """Yield the text of the sheet piece by piece, each up to the end of a row."""
    rest = ""
    with _sound(path), path.open("rb") as file, zipfile.ZipFile(file) as archive, archive.open(SHEET) as sheet:
        reader = io.TextIOWrapper(sheet, "utf-8", newline="")
        while piece := reader.read(MIB):
            whole, end, rest = (rest + piece).rpartition("</row>")
            if end:
                yield whole + end
    yield rest


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Turn what the reader of archives raises of damaged ones into a DataError."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, OverflowError, RuntimeError):
        # RuntimeError: a part needs a password, or (NotImplementedError) another version or kind of compression
        raise DataError(Problem(str(path), "is no workbook of Excel, or is damaged.")) from None


def _is(archive: zipfile.ZipFile, part: zipfile.ZipInfo, text: bytes) -> bool:
    return part.file_size == len(text) and archive.read(part) == text


def _empty(formats: tuple[str, ...]) -> dict[str, bytes]:
    """Return the parts of a workbook whose sheet is nearly empty, but whose cells use these formats."""
    try:
        import xlsxwriter
    except ImportError:
        hint = "install it: pip install 'sudare[excel]'."
        raise UnsupportedError("the audit of a release as .xlsx needs XlsxWriter.", hint=hint) from None
    file = io.BytesIO()
    created = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    with xlsxwriter.Workbook(file, {"constant_memory": True}) as book:
        book.set_properties({"created": created})
        sheet = book.add_worksheet(NAME)
        styles = {name: book.add_format({"num_format": name}) for name in (DATE, TIME)}
        sheet.write_string(0, 0, "name", book.add_format({"bold": True}))
        for row, name in enumerate(formats):
            sheet.write_datetime(row + 1, 0, created, styles[name])
    with zipfile.ZipFile(file) as archive:
        return {part.filename: archive.read(part) for part in archive.infolist()}


def _check_bytes(path: Path, file: IO[bytes], archive: zipfile.ZipFile) -> None:
    """Raise unless an archive is its parts, one after the other, and a directory that says the same of them.

    The headers are made anew from what the directory says, with no other value than writers of plain archives have:
    then no field of a header has room for anything else.
    """
    payload = DataError(Problem(str(path), "has bytes besides the parts of its archive, or notes on them.", HINT))
    parts = archive.infolist()
    manners = {(part.date_time, part.compress_type, part.create_system, part.external_attr) for part in parts}
    if len(manners) != 1:
        raise payload
    [(moment, method, system, mode)] = manners
    if moment not in _MOMENTS or method not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        raise payload
    if system not in (0, 3) or mode not in _MODES:
        raise payload
    day = (moment[0] - 1980) << 9 | moment[1] << 5 | moment[2]
    at, directory = 0, []
    for part in parts:
        name = part.filename.encode()
        told = (0, method, 0, day, part.CRC, part.compress_size, part.file_size, len(name), 0)
        head = _LOCAL.pack(b"PK\x03\x04", _VERSION, *told) + name
        file.seek(at)
        if part.header_offset != at or file.read(len(head)) != head or not _fills(file, part):
            raise payload
        entry = _CENTRAL.pack(b"PK\x01\x02", _VERSION, system, _VERSION, *told, 0, 0, 0, mode, at)
        directory.append(entry + name)
        at += len(head) + part.compress_size
    listed = b"".join(directory)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(parts), len(parts), len(listed), at, 0)
    file.seek(at)
    if file.read(len(listed) + len(end) + 1) != listed + end:
        raise payload


def _fills(file: IO[bytes], part: Any) -> bool:
    """Return whether the compressed bytes of a part are a stream to the last of them, without blocks for nothing."""
    if part.compress_type == zipfile.ZIP_STORED:
        return bool(part.compress_size == part.file_size)
    start = file.tell()
    stream, left, size = zlib.decompressobj(-15), part.compress_size, 0
    try:
        while left:
            given = file.read(min(left, MIB))
            if not given or stream.eof:
                return False
            left -= len(given)
            while given:
                size += len(stream.decompress(given, MIB))
                given = stream.unconsumed_tail
        if not stream.eof or stream.unused_data or size != part.file_size:
            return False
        check_blocks(file, start, start + part.compress_size, size)
    except (zlib.error, BlockError):
        return False
    return True
