"""Reading tables from files: CSV and the like, Parquet, Arrow.

Only the columns asked for are read. What is wrong with a file is said without its content; the libraries' own
messages quote cells, so they are never passed on.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sudare.errors import DataError, Problem, did_you_mean

TEXT = (".csv", ".tsv", ".txt", ".tab")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
PACKED = (".gz", ".bz2", ".zst", ".lz4")
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class TextForm:
    """How a text file is written; a delimiter that is not given is told from the header."""

    delimiter: str | None = None
    encoding: str = "utf-8"
    missing: Sequence[str] = ("",)


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
    kind = _existing(path)
    with _reading(path):
        if kind == "text":
            names, _ = _header(path, form)
        elif kind == "parquet":
            import pyarrow.parquet as pq

            names = pq.read_schema(path).names
        else:
            names = _open_arrow(path).schema.names
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(
            [Problem(path.name, f"the column '{name}' stands there {names.count(name)} times.") for name in repeated]
        )
    return list(names)


def read_file(path: Path, columns: Sequence[str], form: TextForm) -> pa.Table:
    """Read some columns of a file, those of a text file as text, with missing cells as nulls."""
    kind = _existing(path)
    names = file_columns(path, form)
    absent = [name for name in columns if name not in names]
    if absent:
        raise DataError(missing_columns(path.name, absent, names))
    with _reading(path):
        if kind == "text":
            table = _read_text(path, list(columns), names, form)
        elif kind == "parquet":
            import pyarrow.parquet as pq

            # one file, whatever its folder is called: no partition columns are made up from the path
            table = pq.ParquetFile(path).read(columns=list(columns))
        else:
            table = _open_arrow(path).read_all().select(list(columns))
    if table.num_rows == 0:
        raise DataError(Problem(path.name, "has columns but no records."))
    return table.replace_schema_metadata(None)


def missing_columns(place: str, absent: Sequence[str], names: Sequence[str]) -> list[Problem]:
    """Return a problem for each column that the policy names and the table does not have."""
    return [
        Problem(
            place,
            f"there is no column '{name}', which the policy names.",
            did_you_mean(name, names) or f"its columns: {', '.join(names[:40])}.",
        )
        for name in absent
    ]


def _existing(path: Path) -> str:
    kind = file_kind(path)
    if not path.exists():
        raise DataError(Problem(str(path), "there is no such file."))
    if path.is_dir():
        raise DataError(Problem(str(path), "is a folder.", "name one file."))
    if path.stat().st_size == 0:
        raise DataError(Problem(path.name, "is empty."))
    return kind


class _reading:  # noqa: N801 - reads like the verb it is
    """Turn whatever goes wrong while reading into one message without content."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        name = self.path.name
        if error is None or isinstance(error, DataError):
            return
        if isinstance(error, UnicodeError) or "UTF8" in str(error) or "UTF-8" in str(error):
            hint = "say how it is written, as in source: {encoding: latin-1}."
            raise DataError(
                Problem(name, "is not in the encoding it was said to be in (UTF-8 by default).", hint)
            ) from None
        if isinstance(error, PermissionError):
            raise DataError(Problem(name, "may not be read by you.")) from None
        if isinstance(error, MemoryError | pa.ArrowMemoryError):
            raise DataError(Problem(name, "does not fit into memory.")) from None
        if isinstance(error, OSError | pa.ArrowException | csv.Error):
            raise DataError(Problem(name, "cannot be read: it is damaged, or not what its ending says.")) from None


def _open_arrow(path: Path) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    try:
        return pa.ipc.open_file(path)
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.OSFile(str(path)))


def _header(path: Path, form: TextForm) -> tuple[list[str], str]:
    """Read the first record as names; tell the delimiter by which one cuts it most often."""
    try:
        codecs.lookup(form.encoding)
    except LookupError:
        raise DataError(
            Problem("source.encoding", f"'{form.encoding}' is not an encoding that Python knows.")
        ) from None
    with pa.input_stream(str(path)) as stream, io.TextIOWrapper(stream, form.encoding, newline="") as text:
        beginning = text.read(1 << 16)
    beginning = beginning.removeprefix("\ufeff")
    if not beginning.strip():
        raise DataError(Problem(path.name, "is empty."))
    unquoted = re.sub(r'"[^"]*"', "", beginning).splitlines()
    first = unquoted[0] if unquoted else ""
    delimiter = form.delimiter or max(DELIMITERS, key=first.count)
    return next(csv.reader(io.StringIO(beginning, newline=""), delimiter=delimiter)), delimiter


def _read_text(path: Path, columns: list[str], names: list[str], form: TextForm) -> pa.Table:
    from pyarrow import csv as arrow_csv

    _, delimiter = _header(path, form)
    ragged: list[int] = []

    def note(row: arrow_csv.InvalidRow) -> str:
        ragged.append(row.number or 0)
        return "skip"

    def read(threads: bool) -> pa.Table:
        ragged.clear()
        return arrow_csv.read_csv(
            path,
            # the names are given, so that what the library makes of odd ones does not matter
            read_options=arrow_csv.ReadOptions(
                column_names=names, skip_rows=0, skip_rows_after_names=1, encoding=form.encoding, use_threads=threads
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                invalid_row_handler=note,
                # in a table of one column an empty line is a missing cell
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=columns,
                column_types=dict.fromkeys(columns, pa.string()),
                null_values=list(form.missing),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )

    table = read(threads=True)
    if ragged:
        read(threads=False)  # only then does the library know the numbers of the rows
        at = f" (the first in line {min(ragged)})" if min(ragged) else ""
        raise DataError(
            Problem(
                path.name,
                f"{len(ragged)} records do not have the header's {len(names)} fields{at}.",
                "check for unquoted delimiters or line breaks inside fields.",
            )
        )
    return table
