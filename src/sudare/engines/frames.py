"""Tables that live in Python: pandas, Polars, Arrow and DuckDB in, and the same kind back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from sudare.errors import DataError, Problem

GiveBack = Callable[[pa.Table], Any]


def adopt(data: Any) -> tuple[pa.Table, GiveBack]:
    """Return a table's content as Arrow, and a function that turns Arrow into that kind of table again.

    The given object is never changed; row numbers and indices are not part of the data.
    """
    library = type(data).__module__.partition(".")[0].lstrip("_")
    try:
        table, back = _ADOPTERS.get(library, _from_protocol)(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        # the library's message would quote the cell
        raise DataError(
            Problem("the table", "a column mixes types or holds objects.", "make every column of one plain type.")
        ) from None
    _all_different(table.schema.names)
    if table.num_rows == 0:
        raise DataError(Problem("the table", "has no records."))
    return table.replace_schema_metadata(None), back


def _all_different(names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError([Problem("the table", f"the column '{name}' is there more than once.") for name in repeated])


def _from_pandas(data: Any) -> tuple[pa.Table, GiveBack]:
    names = [str(name) for name in data.columns]
    _all_different(names)  # pandas allows it, Arrow's conversion does not
    return pa.Table.from_pandas(data.set_axis(names, axis=1), preserve_index=False), lambda table: table.to_pandas()


def _from_polars(data: Any) -> tuple[pa.Table, GiveBack]:
    import polars

    if isinstance(data, polars.LazyFrame):
        return data.collect().to_arrow(), lambda table: polars.DataFrame(polars.from_arrow(table)).lazy()
    return data.to_arrow(), polars.from_arrow


def _from_duckdb(data: Any) -> tuple[pa.Table, GiveBack]:
    import duckdb

    found = data.arrow()
    return found if isinstance(found, pa.Table) else found.read_all(), lambda table: duckdb.from_arrow(table)


def _from_protocol(data: Any) -> tuple[pa.Table, GiveBack]:
    if isinstance(data, pa.Table):
        return data, lambda table: table
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]), lambda table: table
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data), lambda table: table
    raise DataError(
        Problem(
            "the table",
            f"a {type(data).__name__} is not a table that is known here.",
            "give a path, a pandas or Polars DataFrame, an Arrow table or a DuckDB relation.",
        )
    )


_ADOPTERS: dict[str, Callable[[Any], tuple[pa.Table, GiveBack]]] = {
    "pandas": _from_pandas,
    "polars": _from_polars,
    "duckdb": _from_duckdb,
}
