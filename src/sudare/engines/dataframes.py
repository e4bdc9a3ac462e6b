"""Tables in Python: pandas, Polars, Arrow and DuckDB as input, and the same kind as output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.engines.column_checks import check_names

GiveBack = Callable[[pa.Table], Any]
Wanted = Callable[[list[str]], list[str]]
_ODD_CELLS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError)
"""What Arrow raises where cells have no common type; its messages quote the cell."""
_PLAIN = "give it one plain type, or remove it from the table."


def adopt(data: Any, wanted: Wanted | None = None) -> tuple[pa.Table, GiveBack]:
    """Return a table's content as Arrow, and a function that turns Arrow into that kind of table again.

    The given object is never changed; row numbers and indices are not part of the data. ``wanted`` gets the names of
    all columns and returns those to use; the others are not converted.
    """
    libraries = (kind.__module__.partition(".")[0].lstrip("_") for kind in type(data).__mro__)
    library = next((name for name in libraries if name in _ADOPTERS), "")
    try:
        table, back = _ADOPTERS.get(library, _from_protocol)(data, wanted or list)
    except _ODD_CELLS:
        raise DataError(Problem("the table", "a column mixes types or holds objects.", _PLAIN)) from None
    if table.num_rows == 0:
        raise DataError(Problem("the table", "has no records."))
    return table.replace_schema_metadata(None), back


def _from_pandas(data: Any, wanted: Wanted) -> tuple[pa.Table, GiveBack]:
    import pandas

    if not isinstance(data, pandas.DataFrame):
        raise _unknown(data)
    names = [str(name) for name in data.columns]
    check_names("the table", names)  # pandas allows one name twice, Arrow's conversion does not
    frame = data.set_axis(names, axis=1)
    names = wanted(names)
    frame = _with_dates(frame[names])
    try:
        return pa.Table.from_pandas(frame, preserve_index=False), _to_pandas
    except _ODD_CELLS:
        odd = [name for name in names if not _converts(frame[[name]])]
        what = "mixes types or holds objects."
        raise DataError([Problem(f"column '{name}'", what, _PLAIN) for name in odd]) from None


def _with_dates(frame: Any) -> Any:
    """Return a frame whose periods, such as months, are their first moments: Arrow has only their numbers."""
    import pandas

    periods = [name for name in frame.columns if isinstance(frame[name].dtype, pandas.PeriodDtype)]
    return frame.assign(**{name: frame[name].dt.to_timestamp() for name in periods}) if periods else frame


def _to_pandas(table: pa.Table) -> Any:
    """Return a DataFrame; whole numbers and truth values with missing cells stay what they are."""
    import pandas

    kinds = {pa.bool_(): pandas.BooleanDtype()}
    for size in (8, 16, 32, 64):
        kinds[getattr(pa, f"int{size}")()] = getattr(pandas, f"Int{size}Dtype")()
        kinds[getattr(pa, f"uint{size}")()] = getattr(pandas, f"UInt{size}Dtype")()
    frame = table.to_pandas()
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if column.null_count and column.type in kinds:
            frame[name] = column.to_pandas(types_mapper=kinds.get)
    return frame


def _converts(frame: Any) -> bool:
    try:
        pa.Table.from_pandas(frame, preserve_index=False)
    except _ODD_CELLS:
        return False
    return True


def _from_polars(data: Any, wanted: Wanted) -> tuple[pa.Table, GiveBack]:
    import polars

    if not isinstance(data, polars.DataFrame | polars.LazyFrame):
        raise _unknown(data)
    if isinstance(data, polars.LazyFrame):
        found = _chosen(data.collect().to_arrow(), wanted)
        return found, lambda table: polars.DataFrame(polars.from_arrow(table)).lazy()
    return _chosen(data.to_arrow(), wanted), polars.from_arrow


def _from_duckdb(data: Any, wanted: Wanted) -> tuple[pa.Table, GiveBack]:
    import duckdb

    if not isinstance(data, duckdb.DuckDBPyRelation):
        raise _unknown(data)
    found = data.arrow()
    found = found if isinstance(found, pa.Table) else found.read_all()
    return _chosen(found, wanted), lambda table: duckdb.from_arrow(table)


def _from_protocol(data: Any, wanted: Wanted) -> tuple[pa.Table, GiveBack]:
    if isinstance(data, pa.Table):
        return _chosen(data, wanted), lambda table: table
    if isinstance(data, pa.RecordBatch):
        found = _chosen(pa.Table.from_batches([data]), wanted)
        return found, lambda table: table.combine_chunks().to_batches()[0]
    if hasattr(data, "__arrow_c_stream__"):
        return _chosen(pa.table(data), wanted), lambda table: table
    raise _unknown(data)


def _chosen(table: pa.Table, wanted: Wanted) -> pa.Table:
    check_names("the table", table.schema.names)
    return table.select(wanted(table.schema.names))


def _unknown(data: Any) -> DataError:
    return DataError(
        Problem(
            "the table",
            f"a {type(data).__name__} is not a supported kind of table.",
            "give a path, a pandas or Polars DataFrame, an Arrow table or a DuckDB relation.",
        )
    )


_ADOPTERS: dict[str, Callable[[Any, Wanted], tuple[pa.Table, GiveBack]]] = {
    "pandas": _from_pandas,
    "polars": _from_polars,
    "duckdb": _from_duckdb,
}
