"""What is compared of two releases of one table: everything but the order of rows, and what is drawn."""

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq

FIGURES = (
    "rows_in",
    "rows_out",
    "suppressed",
    "classes",
    "item_sets",
    "spellings",
    "guarantees",
    "columns",
    "search",
    "order",
)


def rows_of(release):
    """The rows of a release, by name, each as something that can be counted."""
    if release.path is not None:
        table = pq.read_table(release.path)
    else:
        table = release.data if isinstance(release.data, pa.Table) else release.data.toArrow()
    return Counter(tuple(plain(cell) for cell in row.values()) for row in table.to_pylist())


def plain(cell):
    return tuple(sorted(cell)) if isinstance(cell, list) else cell


def assert_same(local, spread, *, rows=True):
    one, other = local.certificate, spread.certificate
    assert {key: one[key] for key in FIGURES} == {key: other[key] for key in FIGURES}
    for name, figure in one["loss"].items():
        assert abs(other["loss"][name] - figure) <= 2e-9 * max(1.0, abs(figure)), name
    for column, figures in one["loss_by_column"].items():
        for name, figure in figures.items():
            assert abs(other["loss_by_column"][column][name] - figure) <= 2e-9 * max(1.0, abs(figure)), (column, name)
    assert set(one) == set(other)
    if rows:
        mine, theirs = rows_of(local), rows_of(spread)
        assert mine == theirs, (list((mine - theirs).items())[:3], list((theirs - mine).items())[:3])
