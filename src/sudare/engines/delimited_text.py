"""Text files with a delimiter, such as CSV: how one is written, its header, and its cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import MIB
from sudare.engines.batches import Source, open_table, plain_batches, read_ahead
from sudare.engines.file_errors import no_records

DELIMITERS = ",;\t|"
_LONGEST_HEADER = 16 * MIB
_SAMPLE = MIB
_PACKED = 5  # how many times smaller text usually gets by packing


@dataclass(frozen=True)
class TextForm:
    """The format of a text file; a missing delimiter is detected from the header."""

    delimiter: str | None = None
    encoding: str = "utf-8"
    missing: Sequence[str] = ("",)


class Header(NamedTuple):
    """The names of a text file's columns, and the delimiter between them."""

    names: list[str]
    delimiter: str


def header(path: Path, form: TextForm) -> Header:
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
        raise DataError(Problem(path.name, "its first line is blank.", "the first line must name the columns."))
    if not ended:  # the file ends with it
        raise no_records(path)
    if re.match(r'^"?sep=', header):
        what = "its first line is a setting for spreadsheet programs (sep=), not the column names."
        raise DataError(Problem(path.name, what, "remove that line."))
    delimiter = form.delimiter or max(DELIMITERS, key=re.sub(r'"[^"]*"', "", header).count)
    return Header(next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter)), delimiter)


def read_text(path: Path, columns: list[str], form: TextForm) -> pa.Table:
    """Read some columns of a text file as a whole, on all cores."""
    from pyarrow import csv as arrow_csv

    head, ragged = header(path, form), list[int]()
    table = arrow_csv.read_csv(path, **_text_options(head, columns, form, ragged))
    if ragged:
        raise _ragged(path, head, columns, form)
    if table.num_rows == 0:
        raise no_records(path)
    return table


def open_text(path: Path, columns: list[str], form: TextForm, *, stream: bool) -> Source:
    """Return some columns of a text file as a source.

    It is read as a whole, which is quicker, unless it is to be a ``stream``.
    """
    if not stream:
        return open_table(read_text(path, columns, form))

    def batches(_: Collection[str]) -> Iterator[pa.RecordBatch]:
        return read_ahead(plain_batches(path, text_batches(path, columns, form), form.encoding))

    schema = pa.schema([(name, pa.string()) for name in columns])
    return Source(schema, None, batches, likely=likely_rows(path))


def text_batches(path: Path, columns: list[str], form: TextForm) -> Iterator[pa.RecordBatch]:
    """Read some columns of a text file piece by piece."""
    from pyarrow import csv as arrow_csv

    head, ragged = header(path, form), list[int]()
    options = _text_options(head, columns, form, ragged)
    options["read_options"].block_size = 16 * MIB
    try:
        reader = arrow_csv.open_csv(path, **options)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error) and not ragged:
            return
        raise
    yield from (batch for batch in reader if len(batch))
    if ragged:
        raise _ragged(path, head, columns, form)


def likely_rows(path: Path) -> int:
    """Return about how many records a text file has, from its size and the length of its first lines."""
    with path.open("rb") as file, pa.input_stream(str(path)) as text:
        start = text.read(_SAMPLE)
        packed = not start.startswith(file.read(64))  # what is read is not what is there
    lines = max(start.count(b"\n"), start.count(b"\r"), 1)
    return int(path.stat().st_size * (_PACKED if packed else 1) * lines // max(len(start), 1))


def _text_options(
    head: Header, columns: list[str], form: TextForm, ragged: list[int], *, threads: bool = True
) -> dict[str, Any]:
    """Return how a text file is to be read; the numbers of records with too many or few fields go to ``ragged``."""
    from pyarrow import csv as arrow_csv

    def note(row: arrow_csv.InvalidRow) -> str:
        ragged.append(row.number or 0)
        return "skip"

    return {
        # the names are given, so that what the library makes of odd ones does not matter
        "read_options": arrow_csv.ReadOptions(
            column_names=head.names, skip_rows=0, skip_rows_after_names=1, encoding=form.encoding, use_threads=threads
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=head.delimiter,
            newlines_in_values=True,
            invalid_row_handler=note,
            # in a table of one column an empty line is a missing cell
            ignore_empty_lines=len(head.names) > 1,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string()),
            null_values=list(form.missing),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    }


def _ragged(path: Path, head: Header, columns: list[str], form: TextForm) -> DataError:
    """Return what is wrong with records that have too many or too few fields."""
    from pyarrow import csv as arrow_csv

    ragged: list[int] = []
    # only on one core does the library know the numbers of the rows
    arrow_csv.read_csv(path, **_text_options(head, columns, form, ragged, threads=False))
    at = f" (the first in line {min(ragged)})" if min(ragged) else ""
    return DataError(
        Problem(
            path.name,
            f"{len(ragged)} {'record does' if len(ragged) == 1 else 'records do'} not have the header's "
            f"{len(head.names)} fields{at}.",
            "check for unquoted delimiters or line breaks inside fields, or set source: {delimiter: ...}.",
        )
    )
