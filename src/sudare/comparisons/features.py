"""Features for classifiers, from raw records and from released cells.

Numbers stay numbers; a missing one is the median of the others, with a column that says so. Categories become a column
of 0 and 1 for each value.

- **Global recoding**: each value shows the same cell everywhere. Whoever has the release sees that, and can recode
  records of their own alike: training and test records are described by their cells.
- **Local recoding**: what a value shows depends on its class, so that other records cannot be recoded. Each released
  record gets, for each cell, a value drawn from those that the cell covers; test records stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.table import Column, Cover, Generalized, Table, encode_column, placed, places_of

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]
Pair = tuple[Reals, Reals]
"""The same columns of the training records and of the test records."""
MOST = 256
"""The most values of a column that get a column of their own, the most frequent first: rarer values help little, and
thousands would not fit into memory.
"""


def others(table: Table) -> list[Column]:
    """Return the unchanged columns, except for the class: every release has them. Sets and bytes are no features."""
    if table.carried is None:
        return []
    target = None if table.target is None else table.target.name
    found = []
    for name, cells in zip(table.carried.column_names, table.carried.columns, strict=True):
        kind = cells.type
        if name in table.sensitive and table.sensitive[name].sets is not None:
            continue
        if name == target or pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            continue
        found.append(table.sensitive[name] if name in table.sensitive else encode_column(name, cells))
    return found


def raw(columns: Iterable[Column], training: Ints, test: Ints) -> Pair:
    """Return the features of original records."""
    return joined([plain(c, c.codes[training], c.codes[test]) for c in columns], len(training), len(test))


def released(table: Table, shown: Generalized, training: Ints, test: Ints, generator: np.random.Generator) -> Pair:
    """Return the features of the quasi-identifiers in a release of the training records; it must have all of them.

    ``shown`` is the release of the table's ``training`` rows. The features are of records that are neither suppressed
    nor masked (see :func:`kept`), in their order.
    """
    rows = kept(shown)
    classes = shown.partition.classes[rows]
    cuts = shown.partition.cuts
    alike = all(name in cuts for name in table.quasi)
    pairs = []
    for name, column in table.single.items():
        known, asked = column.codes[training], column.codes[test]
        cover = shown.covers[name]
        assert isinstance(cover, Cover)  # single-valued columns have no other
        if cover.aggregated is not None:
            pairs.append(aggregated(cover, classes, asked))
        elif alike:
            pairs.append(recoded(column, cuts[name], known, known[rows], asked))
        else:
            pairs.append(plain(column, drawn(cover, classes, generator), asked))
    return joined(pairs, len(rows), len(test))


def kept(shown: Generalized) -> Ints:
    """Return the records of which a release shows something."""
    return np.flatnonzero(shown.partition.shows_something)


def plain(column: Column, known: Codes, asked: Codes) -> Pair:
    """Return the features of an unchanged column, from the codes of training and test records."""
    if column.positions is None:
        return one_hot(known, asked, column.size)
    there = known[known != column.missing_code]
    middle = float(np.median(column.positions[there])) if len(there) else 0.0
    places = np.append(column.positions, middle)

    def numbers(codes: Codes) -> Reals:
        number = places[codes][:, None]
        return np.hstack((number, codes[:, None] == column.missing_code)) if column.missing else number

    return numbers(known), numbers(asked)


def aggregated(cover: Cover, classes: Codes, asked: Codes) -> Pair:
    """Return the features of an aggregated column: what it shows of the records in these classes."""
    column, shown = cover.column, cover.aggregated
    assert shown is not None
    if column.positions is None:
        codes = pc.fill_null(pc.index_in(shown.values, column.values), column.missing_code).to_numpy()
        return plain(column, codes[shown.of_class[classes]], asked)
    own = places_of(column)
    assert own is not None
    numbers, places = placed(column, shown.values)
    known = places[numbers][shown.of_class[classes]]
    told = np.append(own, np.nan)[asked]
    there = known[~np.isnan(known)]
    middle = float(np.median(there)) if len(there) else 0.0

    def filled(cells: Reals) -> Reals:
        number = np.where(np.isnan(cells), middle, cells)[:, None]
        return np.hstack((number, np.isnan(cells)[:, None])) if column.missing else number

    return filled(known), filled(told)


def one_hot(known: Codes, asked: Codes, size: int) -> Pair:
    """Return a column of 0 and 1 for each code, or for the ``MOST`` that are most frequent among training records."""
    codes = np.arange(size)
    if size > MOST:
        codes = np.sort(np.argsort(-np.bincount(known, minlength=size), kind="stable")[:MOST])
    return (known[:, None] == codes).astype(np.float64), (asked[:, None] == codes).astype(np.float64)


def recoded(column: Column, cut: Ints, held: Codes, known: Codes, asked: Codes) -> Pair:
    """Return the cells of a globally recoded column; numbers that are all shown stay numbers.

    ``held`` are the codes of all records that the cut was made for, ``known`` those of the released ones.
    """
    codes = np.unique(held)
    if column.positions is not None and _untouched(column, cut, codes):
        return plain(column, known, asked)
    cells = cell_of(column, cut, codes)
    numbers, cell = np.unique(cells, return_inverse=True)
    return one_hot(cell[known], cell[asked], len(numbers))


def _untouched(column: Column, cut: Ints, codes: Codes) -> bool:
    """Return whether a cut shows all of these codes unchanged."""
    if column.taxonomy is not None:
        return bool(column.taxonomy.is_leaf[cut[codes]].all())
    return len(np.unique(cut[codes])) == len(codes) and not np.any(cut < 0)


def cell_of(column: Column, cut: Ints, codes: Codes) -> Ints:
    """Return a number for the cell that each code falls into, also those that no record had when the cut was made.

    These get the node over them that is shown, or the interval of the nearest number; -1 where there is none.
    """
    cells = np.full(column.size, -1, dtype=np.int64)
    if column.taxonomy is not None:
        shown = np.zeros(len(column.taxonomy.parent), dtype=np.bool_)
        shown[cut[codes]] = True
        for depth in range(column.taxonomy.path.shape[1]):
            node = column.taxonomy.path[:, depth]
            cells = np.where(shown[node], node, cells)
        return cells
    # a cut may have -1 for everything, which is a cell as good as any
    cells[codes] = cut[codes] - cut.min()
    if column.positions is not None:
        there = codes[codes != column.missing_code]
        absent = np.setdiff1d(np.arange(len(column.values)), there)
        if len(there) and len(absent):
            far = np.abs(column.positions[absent][:, None] - column.positions[there])
            cells[absent] = cells[there[far.argmin(axis=1)]]
    return cells


def drawn(cover: Cover, classes: Codes, generator: np.random.Generator) -> Ints:
    """Return for each record a code that its class's cell covers, each of them as likely."""
    column = cover.column
    if column.taxonomy is None and column.positions is None:
        place = generator.integers(cover.begin[classes], cover.end[classes])
        return np.minimum(cover.codes[place], column.size - 1)  # a cell that shows everything may count one code more
    low, high = cover.reach
    return generator.integers(low[classes], high[classes] + 1)


def joined(pairs: Iterable[Pair], training: int, test: int) -> Pair:
    """Put columns beside each other; there may be none."""
    pairs = list(pairs)
    return (
        np.hstack([np.empty((training, 0)), *(pair[0] for pair in pairs)]),
        np.hstack([np.empty((test, 0)), *(pair[1] for pair in pairs)]),
    )
