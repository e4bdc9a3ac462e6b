"""Reading tables from files: CSV and the like, Parquet, Arrow.

Only the columns asked for are read. What is wrong with a file is said without its content; the libraries' own
messages quote cells, so they are never passed on.
"""

from __future__ import annotations

import csv
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from sudare.core.errors import DataError, Problem, did_you_mean
from sudare.engines.delimited_text import TextForm, header, no_records, read_text

TEXT = (".csv", ".tsv", ".txt", ".tab")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
PACKED = (".gz", ".bz2", ".zst", ".lz4")


def file_kind(path: Path) -> str:
    """Return "text", "parquet" or "arrow" by the file's name, or raise."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in PACKED:
        endings.pop()
    ending = endings[-1] if endings else ""
    for kind, known in (("text", TEXT), ("parquet", PARQUET), ("arrow", ARROW)):
        if ending in known:
            return kind
    raise DataError(
        Problem(
            path.name,
            f"is not a kind of file that is known here (by its ending, '{ending}').",
            f"use one of {', '.join(TEXT + PARQUET + ARROW)}.",
        )
    )


def file_columns(path: Path, form: TextForm) -> list[str]:
    """Return the names of a file's columns, or raise if two are the same."""
    kind = existing_kind(path)
    with reading(path, form.encoding):
        if kind == "text":
            names, _ = header(path, form)
        elif kind == "parquet":
            import pyarrow.parquet as pq

            names = pq.read_schema(path).names
        else:
            names = open_arrow(path).schema.names
    check_names(path.name, names)
    return list(names)


def read_file(path: Path, columns: Sequence[str], form: TextForm) -> pa.Table:
    """Read some columns of a file, those of a text file as text, with missing cells as nulls."""
    kind = existing_kind(path)
    names = file_columns(path, form)
    check_columns(path.name, columns, names)
    with reading(path, form.encoding):
        if kind == "text":
            table = read_text(path, list(columns), names, form)
        elif kind == "parquet":
            import pyarrow.parquet as pq

            # one file, whatever its folder is called: no partition columns are made up from the path
            table = pq.ParquetFile(path).read(columns=list(columns))
        else:
            table = open_arrow(path).read_all().select(list(columns))
    if table.num_rows == 0:
        raise no_records(path)
    return table.replace_schema_metadata(None)


def check_names(place: str, names: Sequence[str]) -> None:
    """Raise if two columns have one name; it is not shown, for without a header it is a cell of the first record."""
    places: dict[str, list[str]] = {}
    for number, name in enumerate(names, 1):
        places.setdefault(name, []).append(str(number))
    repeated = [" and ".join(numbers) for numbers in places.values() if len(numbers) > 1]
    if repeated:
        hint = "give every column a name of its own, in the first line."
        raise DataError([Problem(place, f"columns {numbers} have the same name.", hint) for numbers in repeated])


def check_columns(place: str, wanted: Iterable[str], names: Sequence[str]) -> None:
    """Raise if the policy names columns that the table does not have.

    The names of the table are shown only if the policy knows some of them: without a header they are the cells of
    the first record.
    """
    absent = [name for name in wanted if name not in names]
    if not absent:
        return
    if not {_simple(name) for name in wanted} & {_simple(name) for name in names}:
        raise DataError(
            Problem(
                place,
                f"none of its {len(names)} columns is one that the policy names.",
                "the first line has to name the columns; check the delimiter, too (source: {delimiter: ...}).",
            )
        )
    raise DataError(
        [
            Problem(
                place,
                f"there is no column '{name}', which the policy names.",
                did_you_mean(name, names) or f"its columns: {', '.join(names[:40])}.",
            )
            for name in absent
        ]
    )


def _simple(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def existing_kind(path: Path) -> str:
    """Return the kind of a file that is there, or raise."""
    kind = file_kind(path)
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
    return kind


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
            raise DataError(Problem(name, "may not be read by you.")) from None
        if isinstance(error, MemoryError | pa.ArrowMemoryError):
            raise DataError(Problem(name, "does not fit into memory.")) from None
        if isinstance(error, OSError | pa.ArrowException | csv.Error):
            raise DataError(Problem(name, "cannot be read: it is damaged, or not what its ending says.")) from None


def _misread(name: str, encoding: str) -> Problem:
    """Return what is wrong with a file that is not in an encoding, and what to do."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        hint = (
            "save it as UTF-8, or say what it is in: cp1252 in many files from Windows and spreadsheets. In a policy "
            "that is source: {encoding: cp1252}, for a draft `sudare init --encoding cp1252`."
        )
        return Problem(name, "is not UTF-8, which text is read as if nothing else is said.", hint)
    return Problem(name, f"is not in {encoding}, the encoding that was given.", "give the one that it was saved in.")


def open_arrow(
    path: Path, options: pa.ipc.IpcReadOptions | None = None
) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Open an Arrow file in either of its two formats."""
    try:
        return pa.ipc.open_file(path, options=options)
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.OSFile(str(path)), options=options)
