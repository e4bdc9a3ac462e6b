"""The formats of files that tables are read from. A new one is an entry in ``FORMATS``, and a file beside this one.

Only the requested columns are read. Messages never quote the content of a file; messages of libraries quote cells, so
they are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.engines.arrow_files import arrow_columns, open_arrow, read_arrow
from sudare.engines.batches import Source
from sudare.engines.column_checks import check_columns, check_names
from sudare.engines.delimited_text import TextForm, header, open_text, read_text
from sudare.engines.file_errors import check_file, no_records, reading
from sudare.engines.parquet_files import open_parquet, parquet_columns, read_parquet

COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
"""Endings of compressed files; the one before it says the format."""


@dataclass(frozen=True)
class FileFormat:
    """A format of files.

    ``name`` is the kind of source that a certificate names. ``columns`` returns the names of a file's columns, ``read``
    some of them as a table, and ``open`` some of them as a source, which may have to be a stream. Cells of a format
    that is ``text`` have no types, and a policy may say how they are written.
    """

    name: str
    endings: tuple[str, ...]
    columns: Callable[[Path, TextForm], Sequence[str]]
    read: Callable[[Path, list[str], TextForm], pa.Table]
    open: Callable[[Path, list[str], TextForm, bool], Source]
    text: bool = False


FORMATS = (
    FileFormat(
        "text",
        (".csv", ".tsv", ".txt", ".tab"),
        columns=lambda path, form: header(path, form).names,
        read=read_text,
        open=lambda path, columns, form, stream: open_text(path, columns, form, stream=stream),
        text=True,
    ),
    FileFormat(
        "parquet",
        (".parquet", ".pq"),
        columns=lambda path, _: parquet_columns(path),
        read=lambda path, columns, _: read_parquet(path, columns),
        open=lambda path, columns, _, __: open_parquet(path, columns),
    ),
    FileFormat(
        "arrow",
        (".arrow", ".feather", ".ipc"),
        columns=lambda path, _: arrow_columns(path),
        read=lambda path, columns, _: read_arrow(path, columns),
        open=lambda path, columns, _, __: open_arrow(path, columns),
    ),
)
"""Every format that is read, in the order in which messages name them."""


def file_format(path: Path) -> FileFormat:
    """Return a file's format by its name, or raise."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    ending = endings[-1] if endings else ""
    for known in FORMATS:
        if ending in known.endings:
            return known
    raise DataError(
        Problem(
            path.name,
            f"is not a supported kind of file (by its ending, '{ending}').",
            f"use one of {', '.join(ending for known in FORMATS for ending in known.endings)}.",
        )
    )


def file_columns(path: Path, form: TextForm) -> list[str]:
    """Return the names of a file's columns, or raise if two are the same."""
    known = file_format(path)
    check_file(path)
    with reading(path, form.encoding):
        names = list(known.columns(path, form))
    check_names(path.name, names)
    return names


def read_file(path: Path, columns: Sequence[str], form: TextForm) -> pa.Table:
    """Read some columns of a file, those of a text file as text, with missing cells as nulls."""
    check_columns(path.name, columns, file_columns(path, form))
    with reading(path, form.encoding):
        table = file_format(path).read(path, list(columns), form)
    if table.num_rows == 0:
        raise no_records(path)
    return table.replace_schema_metadata(None)


def open_file(path: Path, columns: Sequence[str], form: TextForm, *, stream: bool = False) -> Source:
    """Return some columns of a file as a source, those of a text file as text, with missing cells as nulls."""
    check_columns(path.name, columns, file_columns(path, form))
    with reading(path, form.encoding):
        return file_format(path).open(path, list(columns), form, stream)
