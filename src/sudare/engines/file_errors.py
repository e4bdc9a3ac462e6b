"""What goes wrong with files, in words that quote no cell."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

import pyarrow as pa

from sudare.core.errors import DataError, Problem


def no_records(path: Path) -> DataError:
    """Return what is wrong with a file that has a header alone."""
    return DataError(Problem(path.name, "has columns but no records."))


def check_file(path: Path) -> None:
    """Raise if there is no file that can be read, or nothing in it."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        raise DataError(Problem(str(path), "there is no such file.")) from None
    except OSError as error:
        raise DataError(Problem(str(path), f"cannot be read: {error.strerror}.")) from None
    if stat.S_ISDIR(facts.st_mode):
        raise DataError(Problem(str(path), "is a folder.", "name one file."))
    if not stat.S_ISREG(facts.st_mode):  # a pipe would be waited for, a device never ends
        raise DataError(Problem(str(path), "is not a regular file.", "write the table to a file first."))
    if facts.st_size == 0:
        raise DataError(Problem(path.name, "is empty."))


class reading:  # noqa: N801 - reads like the verb it is
    """Turn whatever goes wrong while reading into one message without content; ``encoding`` is how text is written."""

    def __init__(self, path: Path, encoding: str = "utf-8") -> None:
        self.path, self.encoding = path, encoding

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        name = self.path.name
        if error is None or isinstance(error, DataError):
            return
        if isinstance(error, UnicodeError) or "UTF8" in str(error) or "UTF-8" in str(error):
            raise DataError(_misread(name, self.encoding)) from None
        if isinstance(error, PermissionError):
            raise DataError(Problem(name, "you have no permission to read it.")) from None
        if isinstance(error, MemoryError | pa.ArrowMemoryError):
            raise DataError(Problem(name, "does not fit into memory.")) from None
        if isinstance(error, OSError | pa.ArrowException | csv.Error):
            raise DataError(
                Problem(name, "cannot be read: it is damaged, or its format does not match its ending.")
            ) from None


def _misread(name: str, encoding: str) -> Problem:
    """Return what is wrong with a file that is not in an encoding, and what to do."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        hint = (
            "save it as UTF-8, or say what it is in: cp1252 in many files from Windows and spreadsheets. In a policy "
            "that is source: {encoding: cp1252}, for a draft `sudare init --encoding cp1252`."
        )
        return Problem(name, "is not UTF-8, the default encoding of text files.", hint)
    return Problem(name, f"is not text in {encoding}.", "give the encoding in which it was saved.")
