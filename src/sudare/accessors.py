"""Released cells in pandas and Polars: `frame["age"].sudare.low`, `frame.sudare.split("age")`.

Importing this module registers the accessor `sudare` for columns and frames of both libraries, as far as they are
installed:

>>> import sudare.accessors
>>> frame["age"].sudare.middle  # doctest: +SKIP
>>> frame.sudare.split("age")  # doctest: +SKIP
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.api import numeric
from sudare.core.errors import DataError, MissingExtraError, Problem, did_you_mean
from sudare.engines import adopt
from sudare.releases.numeric.number_column import NumberColumn, number_array
from sudare.releases.numeric.numeric_options import NumericOptions
from sudare.releases.numeric.shown_column import ShownColumn

__all__ = ["CellAccessor", "TableAccessor"]

MICROSECONDS = 86_400_000_000
"""How many there are in a day."""


class CellAccessor:
    """The numbers of a released column of numbers, dates or times.

    Dates come as timestamps, times of the day and durations as seconds. A cell that shows nothing, `*`, is missing.
    """

    def __init__(self, column: Any) -> None:
        self._column = column

    @property
    def low(self) -> Any:
        """Where each cell begins."""
        return self._part("low")

    @property
    def high(self) -> Any:
        """Where each cell ends."""
        return self._part("high")

    @property
    def middle(self) -> Any:
        """The middle of each cell."""
        return self._part("middle")

    def _part(self, part: str) -> Any:
        column = self._column
        if len(column) == 0:
            return column.astype(float) if hasattr(column, "astype") else column.cast(float)
        name = "" if column.name is None else str(column.name)
        ending = "" if part == "middle" else f"_{part}"
        frame = column.to_frame(name or "values")
        table, back = adopt(frame)
        made = back(pa.table({"made": _numbers(ShownColumn(name, table.column(0)), part)}))
        made = made.set_index(frame.index) if hasattr(frame, "index") else made
        return made["made"].rename(f"{name}{ending}" if name else column.name)


class TableAccessor:
    """A released table: its columns of ranges divided in two, or all of it as numbers."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def split(self, *names: str) -> Any:
        """Return the table with `NAME_low` and `NAME_high` in place of these columns."""
        frame = self._frame
        there = list(frame.columns)
        problems = [
            Problem("the table", f"has no column '{name}'.", did_you_mean(name, map(str, there)))
            for name in names
            if name not in there
        ]
        made = {f"{name}_{end}": (name, end) for name in names for end in ("low", "high")}
        problems += [
            Problem("the table", f"has a column '{new}' already.", "rename it.") for new in made if new in there
        ]
        if problems:
            raise DataError(problems)
        columns = {new: getattr(frame[name].sudare, end) for new, (name, end) in made.items()}
        whole = frame.assign(**columns) if hasattr(frame, "assign") else frame.with_columns(**columns)
        order = [new for name in there for new in ([f"{name}_low", f"{name}_high"] if name in names else [name])]
        return whole[order]

    def to_numeric(self, certificate: Any = None, **options: Any) -> Any:
        """Return the whole table as numbers; see `sudare.numeric`."""
        return numeric(self._frame, certificate, **options)


def _numbers(shown: ShownColumn, part: str) -> pa.Array:
    """Return where the cells of a column begin, or end, or their middles."""
    try:
        column = NumberColumn.of(shown, {}, "numeric")
    except DataError:
        column = None
    if column is None:
        raise DataError(Problem(f"column '{shown.name}'", "holds other cells than numbers, dates or times.")) from None
    low, high = column.ends(shown, NumericOptions(everything="missing"))
    whole = column.whole and part != "middle"
    found = number_array({"low": low, "high": high}.get(part, low + (high - low) / 2), whole)
    return _timestamps(found) if column.axis == "day" else found


def _timestamps(days: pa.Array) -> pa.Array:
    """Return days from 1970 as timestamps."""
    moments = pc.round(pc.multiply(days.cast(pa.float64()), float(MICROSECONDS)))
    return moments.cast(pa.int64()).cast(pa.timestamp("us"))


def _register() -> None:
    """Register the accessors in the libraries that are there."""
    there = False
    with suppress(ModuleNotFoundError):
        from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

        register_series_accessor("sudare")(CellAccessor)
        register_dataframe_accessor("sudare")(TableAccessor)
        there = True
    with suppress(ModuleNotFoundError):
        from polars.api import register_dataframe_namespace, register_series_namespace

        register_series_namespace("sudare")(CellAccessor)
        register_dataframe_namespace("sudare")(TableAccessor)
        there = True
    if not there:
        what = "sudare.accessors needs pandas or Polars; neither is installed."
        raise MissingExtraError(what, hint="pip install pandas, or pip install polars.")


_register()
