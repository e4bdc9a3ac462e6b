"""Writer of released text files: RFC 4180 with the delimiter, the decimal mark and the encoding of a layout.

The database writes a plain file in UTF-8. Where the layout wants another encoding or a byte order mark, or the name
wants compression, the plain file is then copied in one pass and removed. Compressed files are the same for the same
rows: they hold neither a time nor a name.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from sudare.core.sizes import MIB
from sudare.policy import TextLayout
from sudare.releases.decimal_commas import with_commas
from sudare.releases.text_columns import TextFaults, as_text, check_names

_LEVEL = 6
"""The effort of gzip, as most programs have it."""


def write_text(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    path: Path,
    layout: TextLayout,
    *,
    keep_formulas: bool,
    packed: str | None,
) -> None:
    """Write text with a header, quoted only where it must be; item lists are joined by commas.

    A missing cell and an empty text are both an empty field. It is in quotes where there is but one column: readers
    take a blank line for no record at all.
    """
    check_names(schema.names, keep_formulas=keep_formulas, encoding=layout.encoding)
    if packed is None and not layout.bom and layout.encoding == "utf-8":
        _write_plain(schema, batches, path, layout, keep_formulas)
        return
    plain = path.with_name("plain.txt")
    try:
        _write_plain(schema, batches, plain, layout, keep_formulas)
        with plain.open("rb") as source, ExitStack() as undo:
            target = _opened(path, packed, undo)
            if layout.bom:
                target.write(b"\xef\xbb\xbf")
            for piece in _encoded(source, layout.encoding):
                target.write(piece)
    finally:
        plain.unlink(missing_ok=True)


def _opened(path: Path, packed: str | None, undo: ExitStack) -> Any:
    """Open a file to write to, by the ending of its compression."""
    file = undo.enter_context(path.open("wb"))
    if packed is None:
        return file
    if packed == ".gz":
        return undo.enter_context(gzip.GzipFile("", "wb", _LEVEL, file, mtime=0))
    return undo.enter_context(pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd"))


def _encoded(source: IO[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a file of UTF-8 in another encoding, line by line where it has to be decoded."""
    if encoding == "utf-8":
        yield from iter(lambda: source.read(MIB), b"")
        return
    while lines := source.readlines(MIB):
        yield b"".join(lines).decode("utf-8").encode(encoding)


def _write_plain(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path, layout: TextLayout, keep_formulas: bool
) -> None:
    import duckdb

    text_of = partial(as_text, keep_formulas=keep_formulas)
    failed: list[BaseException] = []
    keys = [f"c{index}" for index in range(len(schema))]
    faults = TextFaults(layout)

    def written(name: str, cells: pa.Array) -> pa.Array:
        texts = text_of(name, cells)
        commas = layout.decimal == "," and name in layout.numbers
        return with_commas(texts) if commas and _is_text(texts.type) else texts

    def texts() -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches:
                cells = [written(name, batch.column(place)) for place, name in enumerate(schema.names)]
                for name, column in zip(schema.names, cells, strict=True):
                    faults.look(name, column)
                yield pa.record_batch(cells, names=keys)
            faults.check()
        except BaseException as error:  # the database would tell it in other words
            failed.append(error)
            raise

    stream = texts()
    empty = pa.record_batch([written(field.name, pa.array([], field.type)) for field in schema], names=keys)
    first = next(stream, empty)
    # The header is written as a row: as names, the database would rename those that differ in case alone.
    header = pa.table({key: [name] for key, name in zip(keys, schema.names, strict=True)})
    shown = "coalesce({}, '')" if len(keys) == 1 else "nullif({}, '')"
    plain = [f"{key}::VARCHAR" for key in keys]
    names = ", ".join(map(shown.format, plain))
    columns = ", ".join(
        shown.format(f"replace({text}, '.', ',')" if _takes_commas(field, layout) else text)
        for text, field in zip(plain, schema, strict=True)
    )
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
                f"COPY (SELECT {names} FROM header UNION ALL SELECT {columns} FROM release) "
                f"TO '{place}' (FORMAT csv, HEADER false, DELIMITER '{layout.delimiter}')"
            )
        except Exception:
            if failed:
                raise failed[0] from None
            raise


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _takes_commas(field: pa.Field, layout: TextLayout) -> bool:
    """Return whether the database writes the commas of a column: numbers become text there."""
    number = pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
    return layout.decimal == "," and number and field.name in layout.numbers
