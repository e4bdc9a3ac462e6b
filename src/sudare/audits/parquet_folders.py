"""Folders of Parquet files, as Spark writes them: files of rows, and files that follow from these.

Readers skip names that begin with a dot or an underscore, so such files could contain anything.
"""

from __future__ import annotations

import re
import threading
import zlib
from pathlib import Path

from sudare.audits.parquet_bytes import check_parquet
from sudare.audits.payload import PayloadError
from sudare.audits.release_columns import readable
from sudare.core.errors import DataError, Problem

_PARTITION = re.compile(r"[^=]+=[^=]*")
_SUMMED = 512
"""Bytes that Hadoop takes one sum of."""


def check_folder(folder: Path) -> None:
    """Raise DataError if a folder of Parquet files, or one of them, holds more than its rows."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else [folder]:
        with readable(str(path)):
            _check_entry(path)


def _check_entry(path: Path) -> None:
    name = path.name
    if path.is_symlink():
        raise DataError(Problem(str(path), "is a link, which may point anywhere.", "replace it with the file itself."))
    if path.is_dir():
        if not _PARTITION.fullmatch(name):
            raise _strange(path)
        check_folder(path)
    elif name == "_SUCCESS":
        if path.stat().st_size:
            raise _strange(path)
    elif name.startswith(".") and name.endswith(".crc"):
        summed = path.with_name(name[1:-4])
        if not summed.is_file() or path.read_bytes() != _sums(summed):
            raise _strange(path)
    elif name.startswith(("_", ".")) or not name.endswith(".parquet"):
        raise _strange(path)
    elif path.stat().st_size:
        check_parquet(path, threading.Event())
    else:
        raise PayloadError("is empty")


def _sums(path: Path) -> bytes:
    """Return what Hadoop writes beside a file: a sum of every 512 bytes."""
    found = [b"crc\x00", _SUMMED.to_bytes(4, "big")]
    with path.open("rb") as file:
        while part := file.read(_SUMMED):
            found.append(zlib.crc32(part).to_bytes(4, "big"))
    return b"".join(found)


def _strange(path: Path) -> DataError:
    what = "is in the folder of the release, but is not part of its rows."
    return DataError(Problem(str(path), what, "remove it, if nobody should get it."))
