"""Text files with a delimiter, such as CSV: how one is written, its header, and its cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem
from sudare.core.missing_words import is_missing_word
from sudare.core.shown_places import first_places
from sudare.core.sizes import MIB
from sudare.engines.batches import Source, open_table, plain_batches, read_ahead
from sudare.engines.file_errors import no_records
from sudare.engines.opened_file import OpenedFile

DELIMITERS = ",;\t|"
_LONGEST_HEADER = 16 * MIB
_SAMPLE = MIB
_PIECE = 16 * MIB
_FEWEST_MARKS, _MANY_MARKS = 3, 100  # in one line; prose has fewer delimiters
_UNNAMED = "\0unnamed"  # no text file has such a name
_DIGITS = r"^[\s+-]*[.,]?\d"
_VALUE = re.compile(_DIGITS)
_LINE_END = re.compile(r"\r\n|\r|\n")  # not what splitlines takes for one, too: form feeds stand in texts
_MOSTLY = 0.9  # of the cells of a column
_SETTING = re.compile(r'^"?sep=(.)"?[\r\n]+$')
_PACKED = 5  # how many times smaller text usually gets by packing


@dataclass(frozen=True)
class TextForm:
    """How a file is to be read, where it does not say so itself; a missing delimiter is detected from the header.

    Text files have a ``delimiter`` and texts for ``missing``; these and files of statistics programs an ``encoding``.
    Above the header of text files and sheets may be rows to skip; workbooks have sheets, by their names or numbers.
    ``labels``: value labels of statistics programs are read instead of their codes. ``missing_labels`` of a column are
    for missing cells, also where only some codes have labels, so that codes are read. ``blank_records``: lines of
    nothing but delimiters are records, and each delimiter parts columns, as in a release that shows nothing of a
    person.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    missing: Sequence[str] = ("",)
    skip_rows: int = 0
    sheet: str | int | None = None
    labels: bool = True
    blank_records: bool = False
    missing_labels: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Header(NamedTuple):
    """The names of a text file's columns, the delimiter between them, and what stands around them.

    ``above`` is the number of lines above the header. ``behind`` is the number of columns without a name behind the
    last one, which delimiters at the ends of lines make. ``headed`` says that the names surely are no first
    record: none is a number or a date, and below them is one.
    """

    names: list[str]
    delimiter: str
    above: int = 0
    behind: int = 0
    headed: bool = False

    @property
    def unnamed(self) -> list[str]:
        """Names for the columns without one, which no other column has."""
        return [f"{_UNNAMED}{number}" for number in range(self.behind)]


def open_text_file(path: Path, form: TextForm) -> OpenedFile:
    """Open a text file: its header is read."""
    head = header(path, form)
    return OpenedFile(
        head.names,
        lambda columns: read_text(path, columns, form),
        lambda columns, stream: open_text(path, columns, form, stream=stream),
        head.headed,
    )


def header(path: Path, form: TextForm) -> Header:
    """Read the first record as names; tell the delimiter by which one cuts it most often."""
    above, mark = form.skip_rows, form.delimiter
    with pa.input_stream(str(path)) as stream, io.TextIOWrapper(stream, form.encoding, newline="") as text:
        for _ in range(above):
            text.readline()
        names, ended = _record(text)
        if not form.blank_records and (match := _SETTING.match(names)):  # tells spreadsheet programs the delimiter
            above, mark = above + 1, mark or match[1]
            names, ended = _record(text)
        first = _record(text)[0]
    if not names.strip():
        line = "first line" if not above else f"line {above + 1}"
        hint = f"the {line} must name the columns; source: {{skip_rows: ...}} says how many lines are above it."
        raise DataError(Problem(path.name, f"its {line} is blank.", hint))
    if not ended:  # the file ends with it
        raise no_records(path)
    if "\0" in names:
        raise DataError(
            Problem(path.name, "its first line holds NUL characters.", "is it a text file? Save it as CSV.")
        )
    delimiter = mark or max(DELIMITERS, key=re.sub(r'"[^"]*"', "", names).count)
    head, cells = (_fields(record, delimiter) for record in (names, first))
    headed = not any(is_value(name) or is_missing_word(name) for name in head) and any(map(is_value, cells))
    named = len(head)
    if form.blank_records:
        return Header(head, delimiter, above, 0, headed)
    while named > 1 and not head[named - 1].strip() and not any(cells[named - 1 :]):
        named -= 1  # a column without a name and without cells
    behind = len(head) - named
    if not behind and len(cells) == named + 1 and not cells[-1]:
        behind = 1  # a delimiter at the end of each line but the header's
    return Header(head[:named], delimiter, above, behind, headed)


def is_value(field: str) -> bool:
    """Return whether a field begins as numbers and dates do, and names of columns seldom."""
    return _VALUE.match(field) is not None


def _record(text: io.TextIOWrapper) -> tuple[str, bool]:
    """Read the next record, and whether a line break ends it; a quoted field may hold line breaks."""
    lines, quotes, length, ended = [], 0, 0, False
    for line in text:
        lines.append(line)
        quotes, length, ended = quotes + line.count('"'), length + len(line), line.endswith(("\n", "\r"))
        if quotes % 2 == 0 or length > _LONGEST_HEADER:
            break
    return "".join(lines).removeprefix("\ufeff"), ended


def _fields(record: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter), [])


def read_text(path: Path, columns: list[str], form: TextForm) -> pa.Table:
    """Read some columns of a text file as a whole, on all cores; lines of nothing but delimiters are no records."""
    head = header(path, form)
    table = _read_text(path, head, [*columns, *head.unnamed], form)
    if not form.blank_records and len(head.names) > 1 and _may_be_blank(table):
        whole = _read_text(path, head, [*head.names, *head.unnamed], replace(form, missing=("",)))
        table = table.filter(_filled(whole))
    _check_unnamed(path, head, table)
    if table.num_rows == 0:
        raise no_records(path)
    if not form.blank_records:
        _check_quotes(path, head, form, table.num_rows)
    return table.select(columns)


def _read_text(path: Path, head: Header, columns: list[str], form: TextForm) -> pa.Table:
    from pyarrow import csv as arrow_csv

    ragged: list[int] = []
    table = arrow_csv.read_csv(path, **_text_options(head, columns, form, ragged))
    if ragged:
        raise _ragged(path, head, columns, form)
    return table


def _may_be_blank(cells: pa.Table | pa.RecordBatch) -> bool:
    """Return whether all columns that are read have a missing cell in the same record."""
    if cells.num_columns == 0 or not all(column.null_count for column in cells.columns):
        return False
    return not pc.all(_filled(cells)).as_py()


def _filled(cells: pa.Table | pa.RecordBatch) -> pa.Array | pa.ChunkedArray:
    """Return which records hold anything."""
    found = cells.columns[0].is_valid()
    for column in cells.columns[1:]:
        found = pc.or_(found, column.is_valid())
    return found


def _check_unnamed(path: Path, head: Header, cells: pa.Table | pa.RecordBatch) -> None:
    """Raise if there are cells behind the last column that has a name."""
    held = sum(cells.num_rows - cells.column(name).null_count for name in head.unnamed)
    if held:
        stray = f"{held} cell{' stands' if held == 1 else 's stand'}"
        what = f"{stray} behind the last of its {len(head.names)} named columns."
        raise DataError(Problem(path.name, what, "name every column, and check for unquoted delimiters inside fields."))


def _check_quotes(path: Path, head: Header, form: TextForm, records: int) -> None:
    """Raise if quoted fields hold what looks like whole records: a quotation mark is missing then.

    Everything up to the next one would be one cell, with the names and numbers of other people in it. Fields with line
    breaks are looked at only in a file that has more lines than records.
    """
    if _line_breaks(path) <= records + 1 + head.above:
        return
    names = [*head.names, *head.unnamed]
    found, before, in_digits = set[int](), 0, frozenset[int]()
    many = _many_delimiters(head.delimiter, len(names))
    for number, batch in enumerate(_text_batches(path, head, names, form)):
        if number == 0:
            in_digits = frozenset(place for place, cells in enumerate(batch.columns) if _mostly_digits(cells))
        for place, cells in enumerate(batch.columns):
            broken = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(cells, r"[\r\n]"), False))
            texts = cells.take(broken)
            sure = pc.match_substring_regex(texts, many).to_pylist()
            for row, text, is_sure in zip(broken.to_pylist(), texts.to_pylist(), sure, strict=True):
                if is_sure or _is_span_of_records(text, head.delimiter, place, len(names), in_digits):
                    found.add(before + row + 1)
        before += len(batch)
    if found:
        several = len(found) > 1
        where = first_places(sorted(found), "record")
        what = f"quoted fields of {len(found)} records hold" if several else "a quoted field of one record holds"
        hint = (
            "a quotation mark begins a field there and does not end it: remove it, or write it twice in quotes. "
            "If the text is right, save the table with another delimiter, as a workbook or as Parquet."
        )
        raise DataError(Problem(path.name, f"{what} what looks like whole records ({where}).", hint))


def _many_delimiters(delimiter: str, columns: int) -> str:
    """Return a pattern of cells with as many delimiters in one line, behind a line break, as only records have."""
    marks = min(max(columns - 1, _FEWEST_MARKS), _MANY_MARKS)
    return rf"[\r\n](?:[^\r\n]*{re.escape(delimiter)}){{{marks}}}"


def _is_span_of_records(text: str, delimiter: str, place: int, columns: int, in_digits: Collection[int]) -> bool:
    """Return whether a cell of the column at this place, from 0, holds the end of one record and the start of a later.

    A cell that runs on to a quotation mark in a later record holds what follows its own place in the first record, what
    comes before it in the last one, and all records between: with other numbers of delimiters, the record would have
    too many or too few fields. Fields of columns ``in_digits`` must begin with digits, or it is somebody's text.
    """
    # a cell of the last column that never ends holds the end of the file, too
    lines = _LINE_END.split(text.rstrip("\r\n") if place == columns - 1 else text)
    if len(lines) < 2 or columns < 2:
        return False
    fields = [line.split(delimiter) for line in lines]
    wanted = [columns - place, *[columns] * (len(lines) - 2), place + 1]
    if [len(each) for each in fields] != wanted:
        return False
    places = [range(place, columns), *[range(columns)] * (len(lines) - 2), range(place + 1)]
    return all(
        is_value(field) or not field.strip()
        for record, numbers in zip(fields, places, strict=True)
        for field, number in zip(record, numbers, strict=True)
        if number in in_digits
    )


def _mostly_digits(cells: pa.Array) -> bool:
    """Return whether nearly all cells begin with digits, as numbers and dates do."""
    held = cells.drop_null()
    return bool(len(held)) and pc.mean(pc.match_substring_regex(held, _DIGITS).cast(pa.float64())).as_py() >= _MOSTLY


def _line_breaks(path: Path) -> int:
    feeds = returns = 0
    with pa.input_stream(str(path)) as stream:
        while piece := stream.read(_PIECE):
            feeds, returns = feeds + piece.count(b"\n"), returns + piece.count(b"\r")
    return max(feeds, returns)


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
    head = header(path, form)
    blank = not form.blank_records and len(head.names) > 1
    whole: Iterator[pa.RecordBatch] | None = None
    records = 0
    for number, batch in enumerate(_text_batches(path, head, [*columns, *head.unnamed], form)):
        _check_unnamed(path, head, batch)
        if blank and whole is None and _may_be_blank(batch):
            every = [*head.names, *head.unnamed]
            whole = islice(_text_batches(path, head, every, replace(form, missing=("",))), number, None)
        kept = batch if whole is None else batch.filter(_filled(next(whole)))
        records += len(kept)
        if len(kept):
            yield kept.select(columns)
    if not form.blank_records:
        _check_quotes(path, head, form, records)


def _text_batches(path: Path, head: Header, columns: list[str], form: TextForm) -> Iterator[pa.RecordBatch]:
    from pyarrow import csv as arrow_csv

    ragged: list[int] = []
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
            column_names=[*head.names, *head.unnamed],
            skip_rows=head.above,
            skip_rows_after_names=1,
            encoding=form.encoding,
            use_threads=threads,
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=head.delimiter,
            newlines_in_values=True,
            invalid_row_handler=note,
            # in a table of one column an empty line is a missing cell
            ignore_empty_lines=len(head.names) + head.behind > 1,
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
