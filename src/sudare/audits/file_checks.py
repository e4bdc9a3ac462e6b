"""Checks of the file in a separate thread while the queries run: its digest, and its form."""

from __future__ import annotations

import codecs
import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from sudare.audits.canonical_text import Layout, count_records
from sudare.core.sizes import MIB

_CHUNK = MIB


class SecondLook:
    """Computes the digest of a file in a thread; for text it also checks UTF-8 and the form, and counts rows.

    The digest is that of the file which the queries read only if the file does not change until both have finished: see
    :meth:`unchanged`.
    """

    def __init__(self, path: Path, text: bool) -> None:
        """Start to read the file."""
        self._path = path
        self._stamp = stamp(path)
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sudare-audit")
        self._digest: Future[str] = self._pool.submit(_digest, path, text, self._stop)
        self._records: Future[int] | None = None
        self._payload: Future[None] | None = None

    def count_records(self, layout: Layout, plain: Path | None = None) -> None:
        """Make sure of the form of a text file, or a plain copy, and count its rows, once the digest is taken."""
        self._records = self._pool.submit(count_records, plain or self._path, layout, self._stop)

    def look_for_payload(self, check: Callable[[threading.Event], None]) -> None:
        """Make sure that a file holds nothing but its rows, once the digest is taken."""
        self._payload = self._pool.submit(check, self._stop)

    def digest(self) -> str:
        """Return the SHA-256 of the file, or raise UnicodeDecodeError if it is text and not UTF-8."""
        return self._digest.result()

    def records(self) -> int | None:
        """Return the number of rows of a text file, or raise IrregularError if it is not in canonical form."""
        self._digest.result()  # that text is not UTF-8 says more than what follows from it
        return None if self._records is None else self._records.result()

    def nothing_else(self) -> None:
        """Raise PayloadError if the file holds more than its rows."""
        if self._payload is not None:
            self._payload.result()

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
