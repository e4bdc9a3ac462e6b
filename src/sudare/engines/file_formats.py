"""The formats of files that tables are read from. A new one is an entry in ``FORMATS``, and a file beside this one.

Only the requested columns are read. Messages never quote the content of a file; messages of libraries quote cells, so
they are replaced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.core.memory import available
from sudare.core.sizes import MIB
from sudare.engines.arrow_files import open_arrow_file
from sudare.engines.batches import Source
from sudare.engines.column_checks import check_columns, check_names
from sudare.engines.delimited_text import TextForm, open_text_file
from sudare.engines.excel_files import open_excel
from sudare.engines.file_errors import check_file, no_records, reading
from sudare.engines.json_lines import open_json_lines
from sudare.engines.opened_file import OpenedFile
from sudare.engines.parquet_files import open_parquet_file
from sudare.engines.statistics_files import open_statistics

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""Endings of compressed files, with how Arrow calls the compression; the ending before it says the format."""

_RATIO_KNOWN = 64 * MIB  # of text; then it is clear how it packs


@dataclass(frozen=True)
class FileFormat:
    """A format of files.

    ``name`` is the kind of source that a certificate names, ``title`` that of messages. ``open`` opens a file. Cells of
    a format that is ``text`` have no types. ``keys`` are those of a policy's ``source`` that say how such a file is
    read. A file that ``streams`` need not fit into memory.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    open: Callable[[Path, TextForm], OpenedFile]
    text: bool = False
    keys: frozenset[str] = frozenset()
    compressed: bool = False
    streams: bool = False


FORMATS = (
    FileFormat(
        "text",
        "text files",
        (".csv", ".tsv", ".txt", ".tab"),
        open=open_text_file,
        text=True,
        keys=frozenset({"delimiter", "encoding", "skip_rows"}),
        compressed=True,
        streams=True,
    ),
    FileFormat(
        "parquet", "Parquet files", (".parquet", ".pq"), open=lambda path, _: open_parquet_file(path), streams=True
    ),
    FileFormat(
        "arrow", "Arrow files", (".arrow", ".feather", ".ipc"), open=lambda path, _: open_arrow_file(path), streams=True
    ),
    FileFormat("excel", "Excel workbooks", (".xlsx", ".xlsm"), open=open_excel, keys=frozenset({"sheet", "skip_rows"})),
    FileFormat(
        "opendocument", "OpenDocument sheets", (".ods",), open=open_excel, keys=frozenset({"sheet", "skip_rows"})
    ),
    FileFormat(
        "json", "JSON lines", (".jsonl", ".ndjson"), open=lambda path, _: open_json_lines(path), compressed=True
    ),
    FileFormat(
        "spss", "SPSS files", (".sav", ".zsav", ".por"), open=open_statistics, keys=frozenset({"encoding", "labels"})
    ),
    FileFormat("stata", "Stata files", (".dta",), open=open_statistics, keys=frozenset({"encoding", "labels"})),
    FileFormat("sas", "SAS files", (".sas7bdat", ".xpt"), open=open_statistics, keys=frozenset({"encoding", "labels"})),
)
"""Every format that is read, in the order in which messages name them."""

_INSTEAD = {".xls": "save it as .xlsx.", ".xlsb": "save it as .xlsx.", ".json": "save it as JSON lines (.jsonl)."}
"""What to do with files of a similar kind that are not read."""


def file_format(path: Path) -> FileFormat:
    """Return a file's format by its name, or raise."""
    endings = [ending.lower() for ending in path.suffixes]
    packed = bool(endings) and endings[-1] in COMPRESSED
    if packed and path.suffix not in COMPRESSED:
        raise DataError(Problem(path.name, f"ends in {path.suffix}.", f"write {path.suffix.lower()} in small letters."))
    if packed:
        endings.pop()
    ending = endings[-1] if endings else ""
    for known in FORMATS:
        if ending in known.endings and (known.compressed or not packed):
            return known
    what = f"is not a supported kind of file (by its ending, '{ending}')."
    if packed and any(ending in known.endings for known in FORMATS):
        raise DataError(Problem(path.name, "is compressed, which only text files and JSON lines may be.", "unpack it."))
    hint = (
        f"use one of {', '.join(ending for known in FORMATS for ending in known.endings)}; text and JSON lines may be "
        f"compressed ({', '.join(COMPRESSED)})."
    )
    raise DataError(Problem(path.name, what, _INSTEAD.get(ending, hint)))


def formats_with(key: str) -> str:
    """Return the formats, in words, for which a key of a policy's ``source`` has an effect."""
    found = [known.title for known in FORMATS if key in known.keys]
    return " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))


def unpacked_size(path: Path) -> int:
    """Return about how many bytes a file has in memory: a compressed one is judged by how its start unpacks."""
    size = path.stat().st_size
    if path.suffix.lower() not in COMPRESSED:
        return size
    with path.open("rb") as file:
        packed = file.read(MIB)
    unpacked = 0
    kind = COMPRESSED[path.suffix.lower()]
    # raised where the start ends; reading a damaged file says what is wrong with it
    with suppress(OSError), pa.CompressedInputStream(pa.BufferReader(packed), kind) as stream:
        while unpacked < _RATIO_KNOWN and (piece := stream.read(MIB)):
            unpacked += len(piece)
    return size * max(unpacked, len(packed)) // max(len(packed), 1)


def open_path(path: Path, form: TextForm) -> OpenedFile:
    """Open a file, or raise what is wrong with it or with the names of its columns."""
    known = file_format(path)
    check_file(path)
    if not known.streams and unpacked_size(path) > (available() or math.inf):
        raise DataError(Problem(path.name, "does not fit into memory.", "save it as .csv or .parquet."))
    with reading(path, form.encoding):
        opened = known.open(path, form)
    check_names(path.name, opened.names, headed=opened.headed)

    def read(columns: list[str]) -> pa.Table:
        check_columns(path.name, columns, opened.names, headed=opened.headed)
        with reading(path, form.encoding):
            table = opened.read(columns)
        if table.num_rows == 0:
            raise no_records(path)
        return table.replace_schema_metadata(None)

    def source(columns: list[str], stream: bool) -> Source:
        check_columns(path.name, columns, opened.names, headed=opened.headed)
        with reading(path, form.encoding):
            return opened.source(columns, stream)

    return OpenedFile(opened.names, read, source, opened.headed)


def file_columns(path: Path, form: TextForm) -> list[str]:
    """Return the names of a file's columns, or raise if two are the same."""
    return list(open_path(path, form).names)


def read_file(path: Path, columns: Sequence[str], form: TextForm) -> pa.Table:
    """Read some columns of a file, those of a text file as text, with missing cells as nulls."""
    return open_path(path, form).read(list(columns))


def open_file(path: Path, columns: Sequence[str], form: TextForm, *, stream: bool = False) -> Source:
    """Return some columns of a file as a source, those of a text file as text, with missing cells as nulls."""
    return open_path(path, form).source(list(columns), stream)
