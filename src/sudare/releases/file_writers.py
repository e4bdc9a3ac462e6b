"""Writers of released tables: text, Parquet, Arrow, JSON lines or Excel, by the name of the target."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import pyarrow as pa

from sudare.core.errors import Problem, TargetError
from sudare.core.operating_system import FULL_DISK, backslash_is_letter, name_problems
from sudare.core.sizes import LARGEST_INT32
from sudare.policy import TextLayout
from sudare.releases.excel_writer import check_sheet, check_sheet_rows, write_excel
from sudare.releases.json_lines_writer import write_json_lines
from sudare.releases.placement import certificate_path, check_folder
from sudare.releases.release_formats import (
    ENDINGS,
    EXCEL,
    JSON_LINES,
    PARQUET,
    TEXT,
    compression,
    release_ending,
    release_format,
    with_tabs,
)
from sudare.releases.text_columns import check_names
from sudare.releases.text_writer import write_text

_LONGEST_TEXT = LARGEST_INT32


def check_target(target: Path) -> None:
    """Raise if a release cannot be written under this name."""
    if release_format(target) is None:
        raise TargetError(
            Problem(
                target.name,
                f"'{release_ending(target)}' is not a file ending for a release.",
                f"use one of {', '.join(ENDINGS)}.",
            )
        )
    problems = name_problems(target)
    if problems:
        raise TargetError(problems)
    if backslash_is_letter() and "\\" in str(target.absolute()) and set("*?[") & set(str(target.absolute())):
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


def check_columns(target: Path, names: Sequence[str], *, keep_formulas: bool, layout: TextLayout | None) -> None:
    """Raise if a file of this name cannot have these columns."""
    if release_format(target) is EXCEL:
        check_sheet(names)
    elif layout is not None:
        check_names(names, keep_formulas=keep_formulas, encoding=layout.encoding)


def check_rows(target: Path, rows: int) -> None:
    """Raise if a file of this name cannot hold so many records."""
    if release_format(target) is EXCEL:
        check_sheet_rows(rows)


def write_batches(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    path: Path,
    *,
    progress: Callable[[int], None] | None = None,
    keep_formulas: bool = False,
    layout: TextLayout | None = None,
) -> None:
    """Write batches to a file that reads back as ``schema``; missing cells are nulls, and empty fields in text.

    The batches are requested one at a time, the next one while the last one is being written. Their texts may have a
    dictionary each. ``progress`` gets the number of rows so far. ``keep_formulas``: texts that spreadsheets would run
    are not escaped in text files. ``layout`` is how a text file is laid out.
    """
    known = release_format(path)
    counted = telling(batches, progress)
    try:
        if known is TEXT:
            form = layout or TextLayout("\t" if with_tabs(path) else ",")
            write_text(schema, counted, path, form, keep_formulas=keep_formulas, packed=compression(path))
        elif known is JSON_LINES:
            write_json_lines(schema, counted, path)
        elif known is EXCEL:
            write_excel(schema, counted, path)
        elif known is PARQUET:
            _write_parquet(schema, counted, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
                _write_behind(counted, lambda batch: _write_plain(writer, schema, batch))
    except Exception as error:
        # the libraries tell a full disk in words only
        for number in FULL_DISK:
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
