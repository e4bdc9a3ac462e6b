"""Writers of released tables: CSV, Parquet or Arrow, by the name of the target."""

from __future__ import annotations

import base64
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa

from sudare.core.errors import Problem, TargetError
from sudare.core.sizes import LARGEST_INT32
from sudare.releases.placement import certificate_path, check_folder
from sudare.releases.text_columns import as_text, check_names

ENDINGS = {".csv": ",", ".tsv": "\t", ".parquet": "", ".arrow": "", ".feather": "", ".ipc": ""}
_LONGEST_TEXT = LARGEST_INT32


def check_target(target: Path) -> None:
    """Raise if a release cannot be written under this name."""
    if target.suffix.lower() not in ENDINGS:
        raise TargetError(
            Problem(
                target.name,
                f"'{target.suffix}' is not a file ending for a release.",
                f"use one of {', '.join(ENDINGS)}.",
            )
        )
    if "\\" in str(target.absolute()) and set("*?[") & set(str(target.absolute())):
        what = "has a backslash and one of * ? [ in its path, so the audit could not read it."
        raise TargetError(Problem(str(target), what, "choose another name, or another folder."))
    for path in (target, certificate_path(target)):
        try:
            taken = path.is_dir()
        except OSError as error:  # such as a name that is too long
            raise TargetError(Problem(str(target), f"cannot be written: {error.strerror}.")) from None
        if taken:
            raise TargetError(Problem(str(path), "is a folder.", "choose another name for the release."))
    check_folder(target.parent)


def is_text(target: Path) -> bool:
    """Return whether a release of this name is text, where an empty field is a missing cell."""
    return bool(ENDINGS.get(target.suffix.lower()))


def write_batches(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    path: Path,
    *,
    progress: Callable[[int], None] | None = None,
    keep_formulas: bool = False,
) -> None:
    """Write batches to a file that reads back as ``schema``; missing cells are nulls, and empty fields in text.

    The batches are requested one at a time, the next one while the last one is being written. Their texts may have a
    dictionary each. ``progress`` gets the number of rows so far. ``keep_formulas``: texts that spreadsheets would run
    are not escaped in text files.
    """
    ending = path.suffix.lower()
    counted = telling(batches, progress)
    try:
        if ENDINGS[ending]:
            _write_text(schema, counted, path, ENDINGS[ending], keep_formulas)
        elif ending == ".parquet":
            _write_parquet(schema, counted, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
                _write_behind(counted, lambda batch: _write_plain(writer, schema, batch))
    except Exception as error:
        # the libraries tell a full disk in words only
        for number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            if os.strerror(number) in str(error):
                raise OSError(number, os.strerror(number)) from None
        raise


def telling(batches: Iterable[pa.RecordBatch], progress: Callable[[int], None] | None) -> Iterator[pa.RecordBatch]:
    """Pass batches through, reporting the number of rows so far to ``progress``."""
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.num_rows
        if progress is not None:
            progress(rows)


def _write_behind(batches: Iterable[pa.RecordBatch], write: Callable[[pa.RecordBatch], None]) -> None:
    """Write each batch while the next one is made."""
    with ThreadPoolExecutor(1) as writer:
        last: Future[None] | None = None
        for batch in batches:
            if last is not None:
                last.result()
            last = writer.submit(write, batch)
        if last is not None:
            last.result()


def _write_parquet(schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path) -> None:
    """Write each batch as a row group.

    Dictionaries are written directly, which is faster; but the schema in the file is the plain one, so that it is read
    as such. Smallest and largest labels are useless, and slow to compute.
    """
    import pyarrow.parquet as pq

    first = next(batches, None) or pa.RecordBatch.from_pylist([], schema)
    coded = {field.name for field in first.schema if _has_dictionary(field.type)}
    writer = pq.ParquetWriter(
        path,
        first.schema,
        compression="zstd",
        store_schema=False,
        write_statistics=[name for name in schema.names if name not in coded],
    )
    with writer:
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(schema.serialize().to_pybytes()).decode()})
        _write_behind(
            chain([first], batches), lambda batch: writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))
        )


def _has_dictionary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind.value_type if pa.types.is_list(kind) else kind))


def _write_plain(writer: pa.ipc.RecordBatchFileWriter, schema: pa.Schema, batch: pa.RecordBatch) -> None:
    """Write a batch without dictionaries, in parts if its texts are too long for one array."""
    if batch.num_rows > 1 and any(_text_bytes(column) > _LONGEST_TEXT for column in batch.columns):
        half = batch.num_rows // 2
        _write_plain(writer, schema, batch.slice(0, half))
        _write_plain(writer, schema, batch.slice(half))
    else:
        writer.write_batch(batch.cast(schema))


def _text_bytes(cells: pa.Array) -> int:
    """Return how long the texts of a dictionary become in its rows."""
    import pyarrow.compute as pc

    if pa.types.is_list(cells.type):
        cells = cells.flatten()
    if not pa.types.is_dictionary(cells.type) or not pa.types.is_string(cells.type.value_type):
        return 0
    return int(pc.sum(pc.binary_length(cells.dictionary).cast(pa.int64()).take(cells.indices)).as_py() or 0)


def _write_text(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path, delimiter: str, keep_formulas: bool
) -> None:
    """Write text with a header, quoted only where it must be; item lists are joined by commas.

    A missing cell and an empty text are both an empty field. It is in quotes where there is but one column: readers
    take a blank line for no record at all.
    """
    import duckdb

    check_names(schema.names, keep_formulas=keep_formulas)
    text_of = partial(as_text, keep_formulas=keep_formulas)
    failed: list[BaseException] = []
    keys = [f"c{index}" for index in range(len(schema))]

    def texts() -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches:
                cells = [text_of(name, batch.column(place)) for place, name in enumerate(schema.names)]
                yield pa.record_batch(cells, names=keys)
        except BaseException as error:  # the database would tell it in other words
            failed.append(error)
            raise

    stream = texts()
    empty = pa.record_batch([text_of(field.name, pa.array([], field.type)) for field in schema], names=keys)
    first = next(stream, empty)
    # The header is written as a row: as names, the database would rename those that differ in case alone.
    header = pa.table({key: [name] for key, name in zip(keys, schema.names, strict=True)})
    shown = "coalesce({}::VARCHAR, '')" if len(keys) == 1 else "nullif({}::VARCHAR, '')"
    columns = ", ".join(shown.format(key) for key in keys)
    # what does not fit into memory goes to the private folder that the release is written in, and nowhere else
    with duckdb.connect(config={"temp_directory": str(path.parent)}) as database:
        database.execute("SET enable_progress_bar = false")
        database.execute("SET threads = 1")  # with more, it keeps what it has yet to put in order in memory
        # Nor may threads of its own write to the file: if the statement ends early (a signal, a full disk), version 2.0
        # waits for what they still have to write, with a lock in hand that they need. Older versions have none.
        with suppress(duckdb.CatalogException):
            database.execute("SET async_threads = 0")
        database.register("header", header)
        database.register("release", pa.RecordBatchReader.from_batches(first.schema, chain([first], stream)))
        place = str(path).replace("'", "''")
        try:
            database.execute(
                f"COPY (SELECT {columns} FROM header UNION ALL SELECT {columns} FROM release) "
                f"TO '{place}' (FORMAT csv, HEADER false, DELIMITER '{delimiter}')"
            )
        except Exception:
            if failed:
                raise failed[0] from None
            raise
