"""Released cells in the codes of the source: for each cell, the codes that it allows.

A release writes values as its renderer does, so that they are found by their texts: an end of an interval, a member of
a set, a label of the hierarchy, or a value as it was. ``*`` allows everything; a missing cell allows missing values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.releases import Anything, Choice, Interval
from sudare.releases.cell_reader import ReadCell, ReleasedCells, label_of, read_cells
from sudare.releases.cell_writer import node_texts
from sudare.releases.value_texts import value_texts
from sudare.risks.class_risk import Classes, group_rows
from sudare.table import OTHER, Column, ItemSets, Table, encode_items, encode_like, placed, places_of

Ints = NDArray[np.int64]
TEXT = pa.large_string()


@dataclass(frozen=True, eq=False)
class Cells:
    """A released column of single values: the number of each row's cell, and what the different cells allow.

    Cell ``i`` allows the codes from ``low[i]`` to ``high[i]``, of these only ``members[i]`` where there are any. In an
    aggregated column cells allow what is nearest to them, and stand at ``places`` on the column's axis (categories at
    their codes); not-a-number is an empty cell. In a column that was changed at random they allow what is near, and go
    from ``spans[i, 0]`` to ``spans[i, 1]`` on that axis.
    """

    of_row: Ints
    low: Ints
    high: Ints
    members: dict[int, Ints]
    places: NDArray[np.float64] | None = None
    spans: NDArray[np.float64] | None = None

    @property
    def count(self) -> int:
        """The number of different cells."""
        return len(self.low)


@dataclass(frozen=True, eq=False)
class Sets:
    """A released column of item sets: the number of each row's set, and the labels that the different sets show.

    Set ``i`` shows ``labels[begin[i]:begin[i + 1]]``. ``held[code]`` are the labels that an item of the data stands
    below, itself included; there are ``size`` labels.
    """

    of_row: Ints
    begin: Ints
    labels: Ints
    held: list[Ints]
    size: int

    @property
    def count(self) -> int:
        """The number of different sets."""
        return len(self.begin) - 1


@dataclass(frozen=True, eq=False)
class ReleasedCodes:
    """What a release shows of some quasi-identifiers, row by row."""

    rows: int
    cells: dict[str, Cells]
    sets: dict[str, Sets]

    def shows_nothing(self, table: Table) -> NDArray[np.bool_]:
        """Return which rows say nothing in any column."""
        nothing = np.ones(self.rows, dtype=np.bool_)
        for name, each in self.cells.items():
            size = table.quasi[name].size
            open_ = (each.low == 0) & (each.high >= size - 1)
            for number, members in each.members.items():
                open_[number] &= len(members) >= size
            nothing &= open_[each.of_row]
        for sets in self.sets.values():
            nothing &= (np.diff(sets.begin) == 0)[sets.of_row]
        return nothing

    def grouped(self, names: Sequence[str]) -> Classes:
        """Group the rows that show the same in some columns."""
        columns = [self.cells[name] if name in self.cells else self.sets[name] for name in names]
        return group_rows([each.of_row for each in columns], [each.count for each in columns], self.rows)


def read_released_codes(
    table: Table,
    released: pa.Table,
    *,
    generalized: bool,
    untouched: Collection[str] = (),
    drawn: bool = False,
    text: bool = False,
    missing: Sequence[str] = (),
    separators: Mapping[str, str | None] | None = None,
    published: Table | None = None,
    aggregated: Collection[str] = (),
) -> ReleasedCodes:
    """Read the quasi-identifiers of a release of a table; ``generalized`` is false if they are unchanged.

    ``untouched`` columns are unchanged, too: the known columns need not be quasi-identifiers of the policy. Values that
    were ``drawn`` may not occur in the table: their cells match nobody. ``text`` says that it is a text file, where an
    empty set looks like a missing one. ``missing`` are texts that stand for a missing cell, ``separators`` what joins
    items in text. ``published`` is the table with rare values as the release shows them, where it does not name them.
    ``aggregated`` columns show one value in place of those of a class.
    """
    cells, sets = {}, {}
    for name, column in table.quasi.items():
        if isinstance(column, ItemSets):
            sets[name] = _sets(column, released.column(name), missing, (separators or {}).get(name), not text)
        elif name in aggregated and column.positions is not None:
            cells[name] = _aggregated(column, released.column(name))
        elif generalized and name not in untouched:
            cells[name] = _cells(column, released.column(name), column if published is None else published.single[name])
        else:
            cells[name] = _as_they_came(column, released.column(name), missing, drawn)
        if name in aggregated and name in cells and cells[name].places is None:
            low = cells[name].low
            cells[name] = replace(cells[name], places=np.where(low == column.missing_code, np.nan, low))
    return ReleasedCodes(released.num_rows, cells, sets)


def codes_in(column: Column, cells: pa.ChunkedArray, missing: Sequence[str] = ()) -> Ints:
    """Return the code that each cell of another table has in a column; -1 for a value that the column does not have."""
    other = encode_like(column, cells, missing)
    return np.asarray(translated(column, other)[other.codes])


def translated(column: Column, other: Column) -> Ints:
    """Return what the codes of one column are in another with the same kind of values; -1 where it lacks a value."""
    place = pc.index_in(value_texts(other), value_texts(column))
    codes = np.asarray(pc.fill_null(place, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return np.append(codes, column.missing_code)  # the last code is that of a missing cell


def _cells(column: Column, cells: pa.ChunkedArray, published: Column) -> Cells:
    shown = read_cells(cells)
    low, high = np.ones(len(shown), np.int64), np.zeros(len(shown), np.int64)
    members: dict[int, Ints] = {}
    if column.positions is not None and column.taxonomy is None:
        low, high = _ends(column, published, shown)
        unknown = int(np.count_nonzero((low < 0) | (high < 0)))
    else:
        unknown = 0
        plain = _codes_of(column, published)
        nodes = _nodes(column)
        for number, (text, cell) in enumerate(zip(shown.texts.to_pylist(), shown.cells, strict=True)):
            found = nodes.get(text)
            told = _allowed(column, plain, text, cell) if found is None else found
            if told is None:
                unknown += 1
            elif isinstance(told, tuple):
                low[number], high[number] = told
            else:
                low[number], high[number], members[number] = told.min(), told.max(), told
    if unknown:
        what = f"column '{column.name}' shows {unknown:,} different cells that match no value in the data."
        raise DataError(Problem("release", what, "it is not a release of this data."))
    return Cells(shown.of_row, low, high, members)


def _aggregated(column: Column, cells: pa.ChunkedArray) -> Cells:
    """Read numbers, dates or times that stand for those of a class: they need not occur in the data."""
    of_row, places = placed(column, cells)
    own = places_of(column)
    assert own is not None
    order = np.searchsorted(own, places[:-1])
    after, before = np.minimum(order, len(own) - 1), np.maximum(order - 1, 0)
    nearer = places[:-1] - own[before] <= own[after] - places[:-1]
    codes = np.append(np.where(nearer, before, after), column.missing_code)
    return Cells(of_row, codes, codes, {}, places)


def _codes_of(column: Column, published: Column) -> dict[str, list[int]]:
    """Return the codes that each text stands for: one, or those of all categories that are too rare to be named."""
    texts = value_texts(column).to_pylist()
    plain = {text: [code] for code, text in enumerate(texts)}
    if published.other is not None:
        named = set(value_texts(published).to_pylist())
        plain[OTHER] = [code for code, text in enumerate(texts) if text == OTHER or text not in named]
    return plain


def _ends(column: Column, published: Column, shown: ReleasedCells) -> tuple[Ints, Ints]:
    """Return the ends of cells of numbers or dates, of which there may be as many as classes; -1 if one is no value.

    An end may lie between the values of the column: then it is the one next to it, within the interval.
    """
    assert column.positions is not None
    assert published.positions is not None
    if published.ends is None:
        values, places = value_texts(published), published.positions
    else:
        places = published.ends.positions
        values = value_texts(replace(published, values=published.ends.values, positions=places))
    first = np.searchsorted(column.positions, places)
    last = np.searchsorted(column.positions, places, side="right") - 1
    anything = pc.fill_null(pc.equal(shown.texts, "*"), False).to_numpy(zero_copy_only=False)
    missing = shown.texts.is_null().to_numpy(zero_copy_only=False)
    found = []
    low, high = shown.ends()
    for end, open_end, nearest in ((low, 0, first), (high, column.size - 1, last)):
        place = pc.index_in(end, values)
        codes = np.append(nearest, -1)[pc.fill_null(place, -1).to_numpy(zero_copy_only=False).astype(np.int64)]
        codes[anything], codes[missing] = open_end, column.missing_code
        found.append(codes)
    return found[0], found[1]


def _nodes(column: Column) -> dict[str | None, tuple[int, int]]:
    """Return the range of codes below each label of a column's hierarchy."""
    if column.taxonomy is None:
        return {}
    first, last = column.taxonomy.span
    nodes: dict[str | None, tuple[int, int]] = {}
    for node, text in enumerate(node_texts(column).to_pylist()):
        if text is not None:  # of equal labels the upper comes first, and covers the lower
            nodes.setdefault(text, (int(first[node]), int(last[node])))
    return nodes


def _allowed(
    column: Column, plain: Mapping[str, list[int]], text: str | None, cell: ReadCell
) -> tuple[int, int] | Ints | None:
    """Return the range of codes that a cell allows, or its members; None if it names a value that is not there."""
    if cell is None:
        return (column.missing_code, column.missing_code) if column.missing else None
    if isinstance(cell, Anything):
        return 0, column.size - 1
    if isinstance(cell, Interval) and cell.low in plain and cell.high in plain:
        return plain[cell.low][0], plain[cell.high][-1]
    if isinstance(cell, Choice):
        codes = [
            code for each in cell.members for code in ([column.missing_code] if each is None else plain.get(each, [-1]))
        ]
        return None if -1 in codes or not codes else np.unique(np.array(codes, dtype=np.int64))
    # a value may look like an interval or a set, and is then written as it is only where it is no category
    found = plain.get(label_of(cell) or str(text))
    if not found:
        return None
    return (found[0], found[0]) if len(found) == 1 else np.array(found, dtype=np.int64)


def _as_they_came(column: Column, cells: pa.ChunkedArray, missing: Sequence[str], drawn: bool) -> Cells:
    codes = codes_in(column, cells, missing)
    unknown = codes < 0
    if unknown.any() and not drawn:
        what = f"column '{column.name}' shows values that are not in the data."
        raise DataError(Problem("release", what, "it is not a release of this data."))
    every = np.arange(column.size + 1)
    codes[unknown] = column.size
    return Cells(codes, every, np.append(every[:-1], -1), {})  # the last fits nobody


def _sets(column: ItemSets, cells: pa.ChunkedArray, missing: Sequence[str], separator: str | None, nulls: bool) -> Sets:
    """Read released item sets; a shown item or node is a label, and the absence of a whole set is one, too."""
    from sudare.kernels.class_rows import number_runs

    kind = cells.type
    plain = cells.cast(kind.value_type) if pa.types.is_dictionary(kind) else cells
    other = encode_items(column.name, plain, separator=separator, missing=missing, nulls=nulls)
    names = other.values.cast(TEXT).to_pylist()
    own = {text: code for code, text in enumerate(column.values.cast(TEXT).to_pylist())}
    labels = list(column.taxonomy.labels) if column.taxonomy is not None else list(own)
    size = len(labels) + 1  # the last stands for a missing set
    place: dict[str, int] = {}
    for number, text in enumerate(labels):
        place.setdefault(text, number)
    if any(name not in place for name in names):
        what = f"column '{column.name}' shows items that are neither in the data nor in its hierarchy."
        raise DataError(Problem("release", what, "it is not a release of this data."))
    lookup = np.array([*(place[name] for name in names), size - 1], dtype=np.int64)
    numbers = number_runs(other.offsets, other.items)
    first = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    first[numbers] = np.arange(len(numbers))
    different = other.taken(first)
    if column.taxonomy is None:
        held = [np.array([code], dtype=np.int64) for code in range(len(own))]
    else:
        held = [np.unique(line).astype(np.int64) for line in column.taxonomy.path[: len(own)]]
    held += [np.array([size - 1], dtype=np.int64)] * int(column.missing)
    return Sets(numbers, different.offsets, lookup[different.items.astype(np.int64)], held, size)
