"""Writing a released table to a file: CSV, Parquet or Arrow, by the name of the target."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pyarrow as pa

from sudare.errors import Problem, TargetError
from sudare.release.placing import certificate_path, check_folder

ENDINGS = {".csv": ",", ".tsv": "\t", ".parquet": "", ".arrow": "", ".feather": "", ".ipc": ""}


def check_target(target: Path) -> None:
    """Raise if a release cannot be written under this name."""
    if target.suffix.lower() not in ENDINGS:
        raise TargetError(
            Problem(
                target.name, f"'{target.suffix}' is not an ending of a release.", f"use one of {', '.join(ENDINGS)}."
            )
        )
    for path in (target, certificate_path(target)):
        try:
            taken = path.is_dir()
        except OSError as error:  # such as a name that is too long
            raise TargetError(Problem(str(target), f"cannot be written: {error.strerror}.")) from None
        if taken:
            raise TargetError(Problem(str(path), "is a folder.", "choose another name for the release."))
    check_folder(target.parent)


def is_text(target: Path) -> bool:
    """Say whether a release of this name is text, where an empty field is a missing cell."""
    return bool(ENDINGS.get(target.suffix.lower()))


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table; missing cells are nulls, and empty fields in text."""
    ending = path.suffix.lower()
    try:
        if ENDINGS[ending]:
            _write_text(table, path, ENDINGS[ending])
        elif ending == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, path, compression="zstd")
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    except Exception as error:
        # the libraries tell a full disk in words only
        for number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            if os.strerror(number) in str(error):
                raise OSError(number, os.strerror(number)) from None
        raise


def _write_text(table: pa.Table, path: Path, delimiter: str) -> None:
    """Write text with a header, quoted only where it must be; item lists are joined by commas."""
    import duckdb

    cells = {f"c{index}": _as_text(name, table.column(name)) for index, name in enumerate(table.schema.names)}
    # The header is written as a row: as names, the database would rename those that differ in case alone.
    header = pa.table({key: [name] for key, name in zip(cells, table.schema.names, strict=True)})
    texts = ", ".join(f"{key}::VARCHAR" for key in cells)
    # what does not fit into memory goes to the private folder that the release is written in, and nowhere else
    with duckdb.connect(config={"temp_directory": str(path.parent)}) as database:
        database.execute("SET enable_progress_bar = false")
        database.register("header", header)
        database.register("release", pa.table(cells))
        place = str(path).replace("'", "''")
        database.execute(
            f"COPY (SELECT * FROM header UNION ALL SELECT {texts} FROM release) "
            f"TO '{place}' (FORMAT csv, HEADER false, DELIMITER '{delimiter}')"
        )


def kind_name(kind: pa.DataType) -> str:
    """Return a type's name without what is inside it: the names of a struct's fields may be data."""
    return str(kind).partition("<")[0]


def _as_text(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Return what the database can write of a column, or raise."""
    import pyarrow.compute as pc

    kind = column.type
    try:
        if pa.types.is_float16(kind) or pa.types.is_decimal256(kind) or getattr(kind, "tz", None):
            return column.cast(pa.string())  # the database would show a time in the zone of this machine
        if not pa.types.is_nested(kind):
            return column
        lists = column.combine_chunks().cast(pa.list_(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise TargetError(
            Problem(
                f"column '{name}'", f"holds {kind_name(kind)}, which text cannot show.", "write the release as Parquet."
            )
        ) from None
    if pc.list_flatten(lists).null_count:  # joined, a list with a null would be null as a whole
        rows = ([item for item in row if item is not None] if row is not None else None for row in lists.to_pylist())
        lists = pa.array(rows, lists.type)
    return pc.binary_join(lists, ",")
