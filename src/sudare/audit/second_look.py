"""A second look at the file, in a thread of its own while the queries run: its digest, and how others would read it."""

from __future__ import annotations

import codecs
import hashlib
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out: the number of its columns, and what parts them."""

    columns: int
    delimiter: str


class SecondLook:
    """Takes the digest of a file from now on; for text also makes sure of UTF-8, and counts rows and fields.

    The digest is that of the file which the queries read only if the file stays as it is until both have finished:
    see :meth:`unchanged`.
    """

    def __init__(self, path: Path, text: bool) -> None:
        """Start to read the file."""
        self._path = path
        self._stamp = stamp(path)
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sudare-audit")
        self._digest: Future[str] = self._pool.submit(_digest, path, text, self._stop)
        self._fields: Future[tuple[int, int]] | None = None

    def count_fields(self, layout: Layout) -> None:
        """Count rows and ragged rows as well, once the digest is taken."""
        self._fields = self._pool.submit(_fields, self._path, layout, self._stop)

    def digest(self) -> str:
        """Return the SHA-256 of the file, or raise UnicodeDecodeError if it is text and not UTF-8."""
        return self._digest.result()

    def fields(self) -> tuple[int, int]:
        """Return the number of rows, and of those with more or fewer fields than the header."""
        return (0, 0) if self._fields is None else self._fields.result()

    def unchanged(self) -> bool:
        """Whether the file is, after the digest was taken, still the one that it was before."""
        self._digest.result()
        return stamp(self._path) == self._stamp

    def close(self) -> None:
        """Stop reading, and wait for the thread to end."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)


def stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes with a file: its size, the time of its last change, and which file it is."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _digest(path: Path, text: bool, stop: threading.Event) -> str:
    """Return the file's SHA-256; on the same pass make sure that text is UTF-8, in all columns."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        while (chunk := file.read(_CHUNK)) and not stop.is_set():
            digest.update(chunk)
            if text:
                decoder.decode(chunk)
    if text and not stop.is_set():
        decoder.decode(b"", final=True)
    return digest.hexdigest()


def _fields(path: Path, layout: Layout, stop: threading.Event) -> tuple[int, int]:
    """Count rows and ragged rows with Arrow's reader.

    DuckDB lets a row pass that has empty fields too many at its end, which other readers take for a shifted row.
    And a file that two readers cut into different rows is no proof for whoever reads it with a third.
    """
    ragged = 0

    def count(_: Any) -> str:
        nonlocal ragged
        ragged += 1
        return "skip"

    columns = [f"c{position}" for position in range(layout.columns)]
    batches = pyarrow.csv.open_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(column_names=columns, skip_rows_after_names=1, block_size=1 << 24),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=len(columns) > 1,
            invalid_row_handler=count,
        ),
        convert_options=pyarrow.csv.ConvertOptions(include_columns=columns[:1], column_types={columns[0]: pa.binary()}),
    )
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        if stop.is_set():
            break
    return rows, ragged
