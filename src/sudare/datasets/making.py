"""How adult.parquet was made: `python -m sudare.datasets.making TRAIN.csv TEST.csv OUT.parquet`."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq


def make_adult(train: Path, test: Path, out: Path) -> None:
    """Put the two CSV files (with a header, gzip allowed) into one Parquet file.

    Spaces around cells go, ``?`` becomes null, whole numbers take 32 bits, and a column ``part`` says which file a
    row came from.
    """
    parts = []
    for name, path in (("train", train), ("test", test)):
        table = pyarrow.csv.read_csv(path)
        columns = [_cleaned(column.combine_chunks()) for column in table.columns]
        columns.append(pa.repeat(name, table.num_rows))
        parts.append(pa.table(columns, names=[*table.column_names, "part"]))
    pq.write_table(pa.concat_tables(parts), out, compression="zstd", compression_level=19)


def _cleaned(column: pa.Array) -> pa.Array:
    if pa.types.is_integer(column.type):
        return pc.cast(column, pa.int32())
    stripped = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(stripped, "?"), pa.scalar(None, pa.string()), stripped)


if __name__ == "__main__":
    make_adult(*(Path(argument) for argument in sys.argv[1:4]))
