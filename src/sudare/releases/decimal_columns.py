"""The columns of a release that are written with decimal commas: numbers, and ranges."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from sudare.policy import Policy
from sudare.releases.cell_writer import Intervals
from sudare.releases.decimal_commas import numbers_among_words
from sudare.releases.render import Labels, Rows
from sudare.releases.unchanged_columns import plain_type
from sudare.table import Table


def number_columns(rows: Rows, second: Rows | None, table: Table, policy: Policy) -> tuple[str, ...]:
    """Return the columns whose cells are numbers or ranges, in the order of the release.

    Labels of a hierarchy from a file stay as they are there, but bands are ranges that sudare made. A column of a
    source in text has numbers if it looks so as a whole. If the source had decimal commas, there may be words among its
    numbers: the numbers become what they were, and the words stay as they are.
    """
    found = {*_ranges(rows, policy), *_numbers(rows.schema), *_numbers(None if second is None else second.schema)}
    if table.carried is not None:
        for name, cells in zip(table.carried.column_names, table.carried.columns, strict=True):
            spec = policy.columns.get(name)
            if pa.types.is_string(cells.type) and spec is not None and spec.kind not in ("categorical", "items"):
                kind = plain_type(name, cells)
                if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or _had_commas(name, cells, policy):
                    found.add(name)
    names = [*rows.schema.names, *([] if second is None else second.schema.names)]
    return tuple(dict.fromkeys(name for name in names if name in found))


def _had_commas(name: str, cells: pa.ChunkedArray, policy: Policy) -> bool:
    """Return whether a column of text had numbers with decimal commas in its source, and can have them again."""
    spec, source = policy.columns[name], policy.source
    if source.decimal != "," or spec.separator is not None or spec.order is not None or name in source.dates:
        return False  # codes and dates are read as they are
    return numbers_among_words(cells)


def _ranges(rows: Rows, policy: Policy) -> Iterator[str]:
    for maker in rows.makers:
        if isinstance(maker, Labels):
            hierarchy = policy.columns[maker.name].hierarchy
            if isinstance(maker.texts, Intervals) or (hierarchy is not None and hierarchy.bands is not None):
                yield maker.name


def _numbers(schema: pa.Schema | None) -> Iterator[str]:
    for field in schema or ():
        if pa.types.is_floating(field.type) or pa.types.is_decimal(field.type):
            yield field.name
