"""Writing a released table to a file: CSV, Parquet or Arrow, by the name of the target."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pyarrow as pa

from sudare.errors import Problem, TargetError

ENDINGS = {".csv": ",", ".tsv": "\t", ".parquet": "", ".pq": "", ".arrow": "", ".feather": "", ".ipc": ""}


def check_target(target: Path) -> None:
    """Raise if a release cannot be written under this name."""
    if target.suffix.lower() not in ENDINGS:
        raise TargetError(
            Problem(
                target.name, f"'{target.suffix}' is not an ending of a release.", f"use one of {', '.join(ENDINGS)}."
            )
        )
    if target.is_dir():
        raise TargetError(Problem(str(target), "is a folder."))


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table; missing cells are nulls, and empty fields in text."""
    ending = path.suffix.lower()
    try:
        if ENDINGS[ending]:
            _write_text(table, path, ENDINGS[ending])
        elif ending in (".parquet", ".pq"):
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
    import pyarrow.compute as pc

    for index, name in enumerate(table.schema.names):
        column = table.column(name)
        if pa.types.is_nested(column.type):
            joined = pc.binary_join(column.combine_chunks().cast(pa.list_(pa.string())), ",")
            table = table.set_column(index, name, joined)
    with duckdb.connect() as database:
        database.execute("SET enable_progress_bar = false")
        database.register("release", table)
        place = str(path).replace("'", "''")
        database.execute(f"COPY release TO '{place}' (FORMAT csv, HEADER true, DELIMITER '{delimiter}')")
