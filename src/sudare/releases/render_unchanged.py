"""Rendering with unchanged quasi-identifiers: sensitive cells are drawn, or are in a second table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem
from sudare.core.randomness import Entropy
from sudare.releases.item_set_cells import check_items
from sudare.releases.render import Maker, Rows
from sudare.releases.row_blocks import Ints, Span, spans_by_class
from sudare.releases.unchanged_columns import carried_columns
from sudare.table import Column, Draw, Perturbation, Separation, Table, smallest

GROUP = "group"
"""The column that joins the two tables of a separated release."""
COUNT = "count"
"""The column that says how often a value occurs in a group."""


def render_untouched(
    table: Table,
    recoding: Perturbation | Separation,
    columns: Sequence[str],
    *,
    order: Literal["class", "keep"] = "class",
    separators: Mapping[str, str] | None = None,
    types: Mapping[str, pa.DataType] | None = None,
    seed: int | None = None,
) -> tuple[Rows, Rows | None]:
    """Return the rows of the release, with these columns, and those of its second table if it has one.

    ``order: class`` shuffles all rows, so that their order reveals nothing; ``keep`` keeps their order. The rest is as
    in :func:`~sudare.releases.render`.
    """
    entropy = Entropy(seed)
    drawn = recoding.draws if isinstance(recoding, Perturbation) else {}
    apart = set(table.sensitive) if isinstance(recoding, Separation) else set()
    assert table.carried is not None
    carried = [
        name for name in columns if name in table.carried.column_names and name not in drawn and name not in apart
    ]
    makers: list[Maker] = list(carried_columns(table, carried, types or {})) if carried else []
    for name, draw in drawn.items():
        separator = None if separators is None else separators[name]
        makers.append(drawn_column(draw, shown_values(table, draw.column), separator))
    second = None
    names = [name for name in columns if name in carried or name in drawn]
    if isinstance(recoding, Separation):
        if {*columns, *apart} & {GROUP, COUNT}:
            what = f"'{GROUP}' and '{COUNT}' are names of columns that a release in two tables adds."
            raise DataError(Problem("columns", what, "rename the column."))
        # by chance, so that the numbers do not tell the order in which groups were made
        numbers = entropy.permutation(recoding.count) + 1
        makers.append(Numbers(GROUP, numbers[recoding.groups]))
        names.append(GROUP)
        second = _apart(table, recoding, numbers, in_text=separators is not None)
    rows = np.arange(table.rows) if order == "keep" else entropy.permutation(table.rows)
    start = np.array([0, table.rows])

    def spans(block: int) -> Iterator[Span]:
        return spans_by_class(start, rows, block)

    kinds = {name: kind for maker in makers for name, kind in maker.types.items()}
    schema = pa.schema([(name, kinds[name]) for name in names])
    return Rows(schema, table.rows, makers, spans), second


def drawn_column(draw: Draw, values: pa.Array, separator: str | None) -> Maker:
    """Return what makes a column that is drawn, of what its codes show; with a separator, sets are text."""
    if draw.width is not None:
        return DrawnSets(draw, values, separator)
    return DrawnValues(draw, values if separator is None else _told(values))


def _told(values: pa.Array) -> pa.Array:
    """Return values as the certificate of a text file lists them: text formats write times in many forms."""
    told = pa.types.is_temporal(values.type) and not pa.types.is_date(values.type)
    return values.cast(pa.string()) if told else values


class DrawnSets:
    """A column that shows a set of values, in ascending order, of which one is true."""

    def __init__(self, draw: Draw, values: pa.Array, separator: str | None) -> None:
        self.draw, self.separator = draw, separator
        self.name = draw.column.name
        self.values = values
        if separator is not None:
            texts = self.values.cast(pa.string())
            check_items(self.name, texts.drop_null(), separator)
            self.values = pc.fill_null(texts, "")  # in text an empty item is a missing value
        self.types = {self.name: pa.list_(self.values.type) if separator is None else pa.string()}
        self.widest = (draw.width or 1) * (_longest(self.values) + len(separator or ""))

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Draw the sets of these rows."""
        codes = self.draw.cells(np.asarray(span.rows, dtype=np.int64))
        width = codes.shape[1]
        ends = pa.array(np.arange(0, codes.size + 1, width), pa.int32())
        numbers = pa.array(codes.reshape(-1))
        if self.separator is None and pa.types.is_string(self.values.type) and not self.values.null_count:
            # text goes with a dictionary, which is cheaper to write; all values of the domain are published anyway
            return {self.name: pa.ListArray.from_arrays(ends, _coded(numbers, self.values))}
        lists = pa.ListArray.from_arrays(ends, self.values.take(numbers))
        return {self.name: lists if self.separator is None else pc.binary_join(lists, self.separator)}


def _coded(numbers: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    signed = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    return pa.DictionaryArray.from_arrays(numbers.cast(signed.get(numbers.type, numbers.type)), values)


def _longest(values: pa.Array) -> int:
    """Return the bytes of the longest of some texts; other values are short."""
    kind = values.type
    return pc.max(pc.binary_length(values)).as_py() or 1 if pa.types.is_string(kind) else 1


class DrawnValues:
    """A column whose cells are drawn at random."""

    def __init__(self, draw: Draw, values: pa.Array) -> None:
        self.draw, self.name = draw, draw.column.name
        self.values = values
        self.types = {self.name: self.values.type}
        self.widest = self.values.nbytes // max(len(self.values), 1)

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Draw the cells of these rows."""
        return {self.name: self.values.take(pa.array(self.draw.cells(np.asarray(span.rows, dtype=np.int64))))}


class Numbers:
    """A column of numbers, one for each record."""

    def __init__(self, name: str, numbers: Ints) -> None:
        self.name, self.numbers = name, numbers
        self.types: Mapping[str, pa.DataType] = {name: pa.int64()}
        self.widest = 8

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the numbers of these rows."""
        return {self.name: pa.array(self.numbers[span.rows], pa.int64())}


def shown_values(table: Table, column: Column) -> pa.Array:
    """Return what each code of a column shows, in the type that it came with; the last is null if cells are missing.

    Numbers that came as text are numbers, and categories that came as anything but text, numbers or truth values stay
    text. Whole seconds become milliseconds, as Parquet has no seconds.
    """
    values, kind = column.values, column.values.type
    if column.kind == "categorical" and table.carried is not None and column.name in table.carried.column_names:
        kind = table.carried.schema.field(column.name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        same = pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind)
        kind = kind if same else values.type
    elif pa.types.is_timestamp(kind) and kind.unit == "s":
        kind = pa.timestamp("ms", kind.tz)
    elif kind == pa.time32("s"):
        kind = pa.time32("ms")
    values = values.cast(kind)
    return pa.concat_arrays([values, pa.nulls(1, kind)]) if column.missing else values


def _apart(table: Table, recoding: Separation, numbers: Ints, *, in_text: bool) -> Rows:
    """Return the rows of the second table: how often each value occurs in each group, by their numbers."""
    column = next(iter(table.sensitive.values()))
    pairs = numbers[recoding.groups] * column.size + column.codes
    found, counts = np.unique(pairs, return_counts=True)
    shown = shown_values(table, column)
    values = (_told(shown) if in_text else shown).take(pa.array(smallest(found % column.size, column.size)))
    cells = {GROUP: pa.array(found // column.size), column.name: values, COUNT: pa.array(counts)}
    made = pa.table(cells)
    return Rows(
        made.schema,
        made.num_rows,
        [_Whole(made)],
        lambda block: spans_by_class(np.array([0, made.num_rows]), np.arange(made.num_rows), block),
    )


class _Whole:
    """Columns that are there already."""

    def __init__(self, made: pa.Table) -> None:
        self.made = made.combine_chunks()
        self.types = dict(zip(made.column_names, made.schema.types, strict=True))
        self.widest = made.nbytes // max(made.num_rows, 1)

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return a slice, which is what spans of all rows in order are."""
        part = self.made.slice(span.first or 0, len(span.rows)).combine_chunks()
        return {name: part.column(name).chunk(0) for name in part.column_names}
