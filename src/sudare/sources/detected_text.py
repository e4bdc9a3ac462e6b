"""How a text file is laid out, found out from its bytes: encoding, delimiter, and lines above the header."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from sudare.core.sizes import MIB
from sudare.engines.delimited_text import DELIMITERS, is_value

_LINES = 200
"""The first records of a file show how it is laid out."""

_MOST_ABOVE = 50
_LONGEST_LINE = MIB
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_WESTERN = "cp1252"


def find_encoding(path: Path) -> tuple[str, str]:
    """Return the encoding of a file, and why it is that one; no reason if it is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    undefined = False
    with pa.input_stream(str(path)) as stream:
        start = stream.read(16 * MIB)
        if start[:2] in _MARKS:
            return _MARKS[start[:2]], "the file begins with the mark of this encoding"
        utf8 = True
        while start:
            if utf8:
                try:
                    decoder.decode(start)
                except UnicodeDecodeError:
                    utf8 = False
            undefined = undefined or any(byte in start for byte in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"))
            start = stream.read(16 * MIB)
    if utf8:
        return "utf-8", ""
    if undefined:
        return "latin-1", "the file is not UTF-8; check that letters such as ä and é look right"
    return (
        _WESTERN,
        "the file is not UTF-8, and files from Windows are in this one; check that letters such as ä look right",
    )


def find_layout(path: Path, encoding: str, delimiter: str | None) -> tuple[str | None, int, str]:
    """Return the delimiter if the header alone would not tell it, the number of lines above the header, and why.

    Most records have as many fields as the header. Lines above it have fewer, or hardly any that is filled; and the
    line below them must look like names. Otherwise a first record could become the header.
    """
    text = _start(path, encoding)
    best, most, width = None, 0, 0
    for mark in [delimiter] if delimiter else DELIMITERS:
        counts = Counter(len(fields) for _, fields in _records(text, mark) if len(fields) > 1)
        common, times = max(counts.items(), key=lambda each: each[1] * each[0], default=(0, 0))
        if times * common > most * width:
            best, most, width = mark, times, common
    if best is None:
        return None, 0, ""
    records = _records(text, best)
    if most < 0.5 * sum(any(field.strip() for field in fields) for _, fields in records):
        return None, 0, ""
    setting = text.lstrip('\ufeff"').startswith("sep=")
    records = records[1:] if setting else records
    header = next((at for at, (_, fields) in enumerate(records) if not _is_title(fields, width)), 0)
    above = records[header][0] if records else 0
    if above > _MOST_ABOVE or (header and any(map(is_value, records[header][1]))):
        header, above = 0, 0
    above = above if header else 0
    first = text.splitlines()[above] if text else ""
    told = None if delimiter or max(DELIMITERS, key=first.count) == best else best
    why = f"the first {above} lines have fewer fields than the others" if above > 1 else ""
    return told, above, why or ("the first line has fewer fields than the others" if above else "")


def _is_title(fields: Sequence[str], width: int) -> bool:
    """Return whether a record stands above the table: it has fewer fields than the others, or most are empty."""
    return len(fields) < width - 1 or 2 * sum(bool(field.strip()) for field in fields) < width


def _start(path: Path, encoding: str) -> str:
    with pa.input_stream(str(path)) as stream, io.TextIOWrapper(stream, encoding, newline="", errors="replace") as text:
        return "".join(line[:_LONGEST_LINE] for _, line in zip(range(_LINES), text, strict=False))


def _records(text: str, mark: str) -> list[tuple[int, list[str]]]:
    """Return records with the numbers of the lines above them; a quoted field may hold line breaks."""
    reader, found, above = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=mark), [], 0
    with suppress(csv.Error):  # such as a field that is longer than the module allows
        for fields in reader:
            found.append((above, fields))
            above = reader.line_num
    return found
