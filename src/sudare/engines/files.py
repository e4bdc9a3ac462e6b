"""Reading tables from files: CSV and the like, Parquet, Arrow.

Only the columns asked for are read. What is wrong with a file is said without its content; the libraries' own
messages quote cells, so they are never passed on.
"""

from __future__ import annotations

import csv
import io
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sudare.errors import DataError, Problem, did_you_mean

TEXT = (".csv", ".tsv", ".txt", ".tab")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
PACKED = (".gz", ".bz2", ".zst", ".lz4")
DELIMITERS = ",;\t|"
_LONGEST_HEADER = 1 << 24


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
    check_names(path.name, names)
    return list(names)


def read_file(path: Path, columns: Sequence[str], form: TextForm) -> pa.Table:
    """Read some columns of a file, those of a text file as text, with missing cells as nulls."""
    kind = _existing(path)
    names = file_columns(path, form)
    check_columns(path.name, columns, names)
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


def _existing(path: Path) -> str:
    kind = file_kind(path)
    try:
        facts = path.stat()
    except FileNotFoundError:
        raise DataError(Problem(str(path), "there is no such file.")) from None
    except OSError as error:
        raise DataError(Problem(str(path), f"cannot be read: {error.strerror}.")) from None
    if stat.S_ISDIR(facts.st_mode):
        raise DataError(Problem(str(path), "is a folder.", "name one file."))
    if facts.st_size == 0:
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
            hint = "say how it is written, as in source: {encoding: cp1252} (or with --encoding, for a draft)."
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
    with pa.input_stream(str(path)) as stream, io.TextIOWrapper(stream, form.encoding, newline="") as text:
        record, quotes, length, ended = [], 0, 0, False
        for line in text:  # a quoted name may hold line breaks
            record.append(line)
            quotes, length, ended = quotes + line.count('"'), length + len(line), line.endswith(("\n", "\r"))
            if quotes % 2 == 0 or length > _LONGEST_HEADER:
                break
    header = "".join(record).removeprefix("\ufeff")
    if not header.strip():
        raise DataError(Problem(path.name, "its first line is blank.", "the first line has to name the columns."))
    if not ended:  # the file ends with it
        raise DataError(Problem(path.name, "has columns but no records."))
    if re.match(r'^"?sep=', header):
        what = "its first line is a note to spreadsheet programs (sep=), not the names of the columns."
        raise DataError(Problem(path.name, what, "remove that line."))
    delimiter = form.delimiter or max(DELIMITERS, key=re.sub(r'"[^"]*"', "", header).count)
    return next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter)), delimiter


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
                f"{len(ragged)} {'record does' if len(ragged) == 1 else 'records do'} not have the header's "
                f"{len(names)} fields{at}.",
                "check for unquoted delimiters or line breaks inside fields, or say source: {delimiter: ...}.",
            )
        )
    return table
