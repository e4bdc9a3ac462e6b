"""Opening a release: CSV, Parquet, Arrow files, or an Arrow table.

Column names of the data never reach SQL: a column is known there by its position, as ``c0``, ``c1``, ..., so
no name can collide, be quoted wrongly or be folded into another by case. No message holds a cell: errors of the
readers, which quote the line they stumbled over, are replaced by our own.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from sudare.errors import DataError, Problem, did_you_mean
from sudare.policy import Policy

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
DELIMITERS = (",", ";", "\t", "|")
_HEADER_BYTES = 1 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Release:
    """A release that has been opened: its columns, their types, and a way to hand some of them to DuckDB."""

    where: str
    names: tuple[str, ...]
    types: tuple[Any, ...]
    sha256: str | None = None
    path: Path | None = None
    delimiter: str = ","
    table: Any = None
    _stamp: tuple[int, int] | None = field(default=None, repr=False)

    def source(self, connection: Any, names: Iterable[str]) -> str:
        """Return what to select the named columns from; each is called ``c`` and its position."""
        positions = sorted(self.names.index(name) for name in names)
        if self.table is not None:
            chosen = self.table.select(positions).rename_columns([f"c{position}" for position in positions])
            connection.register("source", chosen)
            return "source"
        if self.path is not None and self.path.suffix.lower() in TEXT_SUFFIXES:
            return self._csv_source()
        connection.register("source", self._parquet_reader(positions))
        return "source"

    def _parquet_reader(self, positions: list[int]) -> Any:
        """Return the columns as a stream of batches."""
        file = pq.ParquetFile(self.path)
        types = file.schema_arrow.types
        schema = pa.schema([pa.field(f"c{position}", types[position]) for position in positions])
        names = [self.names[position] for position in positions]
        # Arrow takes a dot in a name for the path of a nested column; then all columns are read
        wanted = None if any("." in name for name in self.names) else names
        places = positions if wanted is None else range(len(positions))
        batches = (
            pa.RecordBatch.from_arrays([batch.column(place) for place in places], schema=schema)
            for batch in (_in_order(batch, wanted) for batch in file.iter_batches(columns=wanted))
        )
        return pa.RecordBatchReader.from_batches(schema, batches)

    def _csv_source(self) -> str:
        file = _literal(_no_glob(str(self.path.absolute() if self.path else "")))
        columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(self.names)))
        # Strict: a quote that is never closed would otherwise swallow the rest of the file as one cell.
        return (
            f"read_csv({file}, delim = {_literal(self.delimiter)}, quote = '\"',"
            f" escape = '\"', header = true, columns = {{{columns}}}, auto_detect = false, nullstr = '',"
            " strict_mode = true, compression = 'none')"
        )

    def check_read(self, rows: int) -> None:
        """Raise if a second reader finds other rows, or if the file is no longer the one whose digest was taken."""
        if self.path is not None and self.table is None and self.path.suffix.lower() in TEXT_SUFFIXES:
            self._check_fields(rows)
        if self.path is not None and _stamp(self.path) != self._stamp:
            raise DataError(Problem(self.where, "changed while it was read.", "audit it again."))

    def _check_fields(self, rows: int) -> None:
        """Count rows and fields once more, with Arrow's reader.

        DuckDB lets a row pass that has empty fields too many at its end, which other readers take for a shifted row.
        And a file that two readers cut into different rows is no proof for whoever reads it with a third.
        """
        ragged = 0

        def count(_: Any) -> str:
            nonlocal ragged
            ragged += 1
            return "skip"

        columns = [f"c{position}" for position in range(len(self.names))]
        batches = pyarrow.csv.open_csv(
            self.path,
            read_options=pyarrow.csv.ReadOptions(column_names=columns, skip_rows_after_names=1, block_size=1 << 24),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(columns) > 1,
                invalid_row_handler=count,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=columns[:1], column_types={columns[0]: pa.binary()}
            ),
        )
        counted = sum(batch.num_rows for batch in batches)
        if ragged:
            raise DataError(Problem(self.where, f"rows with more or fewer fields than the header: {ragged}."))
        if counted != rows:
            raise DataError(
                Problem(
                    self.where,
                    "is ambiguous: two readers find different rows in it.",
                    "check its quotes and line ends.",
                )
            )


def _in_order(batch: Any, names: Sequence[str] | None) -> Any:
    return batch if names is None else batch.select(list(names))


def open_release(release: str | Path | Any, policy: Policy) -> Release:
    """Open a release and check that its columns can be audited against the policy, or raise DataError."""
    if isinstance(release, pa.Table):
        opened = Release("release", tuple(release.column_names), tuple(release.schema.types), table=release)
    elif isinstance(release, str | Path):
        with readable(str(release)):
            opened = _open_file(Path(release), policy)
    else:
        raise DataError(f"a release is a path or an Arrow table; got {type(release).__name__}.")
    problems = _unreadable_columns(opened.names, policy)
    if problems:
        raise DataError(problems)
    return opened


@contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn whatever a reader raises into a DataError that quotes nothing of the data."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(Problem(where, "there is no such file.")) from None
    except UnicodeDecodeError:
        raise DataError(Problem(where, "is not UTF-8 text.", "releases are written in UTF-8.")) from None
    except duckdb.Error as error:
        raise DataError(Problem(where, _csv_fault(str(error)))) from None
    except pa.ArrowException:
        raise DataError(
            Problem(where, "cannot be read: the file is damaged or not of the format it is named after.")
        ) from None
    except OSError as error:
        raise DataError(Problem(where, f"cannot be read: {error.strerror or 'the file is damaged'}.")) from None


def _open_file(path: Path, policy: Policy) -> Release:
    suffix = path.suffix.lower()
    if path.is_dir():
        raise DataError(Problem(str(path), "is a folder, not a file."))
    if suffix not in (*TEXT_SUFFIXES, *ARROW_SUFFIXES, ".parquet"):
        allowed = ", ".join((*TEXT_SUFFIXES, ".parquet", *ARROW_SUFFIXES))
        if path.exists():
            raise DataError(Problem(str(path), f"is not a kind of file the audit reads. Allowed: {allowed}."))
    stamp = _stamp(path)
    if stamp[0] == 0:
        raise DataError(Problem(str(path), "is empty."))
    digest = _digest(path, text=suffix in TEXT_SUFFIXES)
    if suffix in TEXT_SUFFIXES:
        delimiter, names = _header(path, policy)
        return Release(str(path), names, (pa.string(),) * len(names), digest, path, delimiter, _stamp=stamp)
    if suffix == ".parquet":
        schema = pq.read_schema(path)
        return Release(str(path), tuple(schema.names), tuple(schema.types), digest, path, _stamp=stamp)
    table = _ipc_table(path)
    return Release(
        str(path), tuple(table.column_names), tuple(table.schema.types), digest, path, table=table, _stamp=stamp
    )


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _digest(path: Path, *, text: bool) -> str:
    """Return the file's SHA-256; on the same pass make sure that text is UTF-8, in all columns."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            if text:
                decoder.decode(chunk)
    if text:
        decoder.decode(b"", final=True)
    return digest.hexdigest()


def _header(path: Path, policy: Policy) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the column names.

    The delimiter is the one under which the header names the most columns of the policy: the source's own, where
    the policy gives one, may not be the release's. Where several do as well, the file's ending decides.
    """
    with path.open("rb") as file:
        start = codecs.getincrementaldecoder("utf-8-sig")().decode(file.read(_HEADER_BYTES))
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    candidates = dict.fromkeys([usual, policy.source.delimiter or usual, *DELIMITERS])
    headers = {delimiter: names for delimiter in candidates if (names := _first_record(start, delimiter))}
    if not headers:
        raise DataError(Problem(str(path), "has no header: the first line must name the columns."))
    known = set(policy.columns)
    hits = {delimiter: len(known.intersection(names)) for delimiter, names in headers.items()}
    chosen = max(headers, key=lambda delimiter: (hits[delimiter], len(headers[delimiter])))
    return chosen, headers[chosen]


def _first_record(text: str, delimiter: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), ()))
    except (csv.Error, TypeError, ValueError):
        return ()


def _ipc_table(path: Path) -> Any:
    """Read an Arrow file, in the file format or the streaming one."""
    source = pa.memory_map(str(path))
    try:
        reader = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        reader = pa.ipc.open_stream(source)
    table = reader.read_all()
    table.validate(full=True)  # damaged offsets would otherwise be read outside their buffers
    return table


def _unreadable_columns(names: Sequence[str], policy: Policy) -> list[Problem]:
    """List the columns that are there twice, or that a promise needs and that are not there."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    # In a file without a header its first row stands here, and those are cells: a name is shown only if the policy
    # has it too, or for a hint, if the policy has another one of them.
    problems = [Problem(name, "is the name of more than one column.") for name in twice if name in policy.columns]
    unknown = len(twice) - len(problems)
    if unknown:
        problems.append(Problem("header", f"column names that occur more than once: {unknown}."))
    needed = [*policy.quasi, *policy.sensitive, *(policy.named("subject") if policy.counts_subjects else ())]
    hints = names if any(name in policy.columns for name in names) else ()
    return problems + [
        Problem(name, "is not a column of the release.", did_you_mean(name, hints))
        for name in needed
        if name not in names
    ]


def _csv_fault(message: str) -> str:
    """Say what was wrong with a file in our own words; of DuckDB's only the line number is kept."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    place = f" in line {line.group(1)}" if line else ""
    if "Expected Number of Columns" in message:
        return f"the number of fields{place} is not that of the header."
    if "unterminated quote" in message:
        return f"a quote{place} is not closed, or is followed by more text."
    if "Unsupported Internal Arrow Type" in message:
        return "has a column of a type that cannot be audited."
    return f"cannot be read{place}: the file is damaged or not of the format it is named after."


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _no_glob(path: str) -> str:
    """Keep DuckDB from reading a name such as ``a*.csv`` as a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", path)
