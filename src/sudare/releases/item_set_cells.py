"""Released item sets: lists of texts where a format has lists, else texts joined by a separator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import UnsupportedError
from sudare.releases.cell_writer import dictionary
from sudare.releases.row_blocks import Span
from sudare.releases.value_texts import Ints, joined_runs, put_together
from sudare.table import Column, ItemSets, SetCover, chunks, first_of_each, inside_runs


class Lists:
    """An item-set column as lists. A missing set is null, which an empty one is not."""

    def __init__(self, cover: SetCover) -> None:
        self.cover = cover
        self.texts = _node_texts(cover.column)
        self.types = {cover.column.name: pa.list_(pa.string())}
        self.widest = max((int(_length(part).max(initial=0)) for part in _parts(cover)), default=0)

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the lists of these rows; their dictionary has only values that the rows show."""
        from sudare.kernels.class_rows import repeat_runs

        cover = self.cover.taken(span.which)
        length = _length(cover)
        nodes = pa.array(cover.nodes[inside_runs(cover.start[:-1], length)]).dictionary_encode()
        texts = self.texts.take(nodes.dictionary)
        sizes = np.repeat(length, span.times)
        ends = np.concatenate(([0], np.cumsum(sizes)))
        begin = np.cumsum(length) - length
        items = repeat_runs(nodes.indices.to_numpy(), begin, length, span.times, int(ends[-1]))
        null = np.repeat(cover.null, span.times)
        lists = pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()),
            pa.DictionaryArray.from_arrays(pa.array(items), texts),
            mask=pa.array(null) if null.any() else None,
        )
        return {cover.column.name: lists}


class OwnSets:
    """An item-set column where each record shows its own items, as the nodes that a cut gives them (-1: not at all).

    With a separator the items are joined, and empty and missing sets are null.
    """

    def __init__(self, column: ItemSets, cut: Ints, separator: str | None) -> None:
        self.column, self.cut, self.separator = column, cut, separator
        self.texts = _node_texts(column)
        self.types = {column.name: pa.list_(pa.string()) if separator is None else pa.string()}
        self.widest = len(column.items) // max(len(column), 1) + 1
        if separator is not None:
            check_items(column.name, self.texts.take(pa.array(np.unique(self._visible()))), separator)

    def _visible(self) -> Ints:
        nodes = self.cut[: len(self.column.values)]
        return nodes[nodes >= 0]

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the sets of these rows; a dictionary has only values that the rows show."""
        from sudare.kernels.class_rows import cut_sets

        sets, count = self.column, len(span.rows)
        room = int((sets.offsets[span.rows + 1] - sets.offsets[span.rows]).sum())
        ends, found, null = np.zeros(count + 1, np.int32), np.empty(room, np.int64), np.empty(count, np.bool_)
        total = cut_sets(sets.offsets, sets.items, span.rows, self.cut, sets.missing_code, ends, found, null)
        nodes = pa.array(found[:total]).dictionary_encode()
        items = pa.DictionaryArray.from_arrays(nodes.indices, self.texts.take(nodes.dictionary))
        if self.separator is None:
            mask = pa.array(null) if null.any() else None
            return {sets.name: pa.ListArray.from_arrays(pa.array(ends), items, mask=mask)}
        joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), items.cast(pa.string())), self.separator)
        return {sets.name: pc.if_else(pa.array(np.diff(ends) > 0), joined, pa.scalar(None, joined.type))}


class UnchangedSets:
    """A sensitive item-set column: each record shows all of its items, sorted, in their own spellings."""

    def __init__(self, column: Column, separator: str | None) -> None:
        assert column.sets is not None
        self.codes, shown = column.codes, column.sets.shown
        self.sets = OwnSets(shown, np.arange(shown.size), separator)
        self.types, self.widest = self.sets.types, _widest(column)

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the sets of these rows."""
        return self.sets.block(replace(span, rows=self.codes[span.rows].astype(np.int64)))


def _widest(column: Column) -> int:
    """Return about how many items a record holds."""
    assert column.sets is not None
    lengths = np.diff(column.sets.shown.offsets)
    return int(lengths[column.codes].sum()) // max(len(column), 1) + 1


class JoinedSets:
    """The cells of an item-set column in text, its items joined; empty and missing sets are null.

    Raise if a reader who splits the text could find other items than those that were joined.
    """

    def __init__(self, cover: SetCover, sizes: Ints, separator: str) -> None:
        self.cover, self.sizes, self.separator = cover, sizes, separator
        self.texts = _node_texts(cover.column).cast(pa.large_string())
        shown = np.zeros(len(self.texts), dtype=np.bool_)
        for part in _parts(cover):
            shown[part.nodes[inside_runs(part.start[:-1], _length(part))]] = True
        check_items(cover.column.name, self.texts.filter(pa.array(shown)), separator)

    def labels(self, classes: slice | Ints) -> pa.DictionaryArray:
        """Return what these classes show."""
        cover = self.cover.taken(classes)
        first, length = first_of_each(cover.cell), _length(cover)
        joined = joined_runs(
            cover.column.name, self.texts, cover.start[first], length[first], cover.nodes, self.separator
        )
        empty = pa.array(length[first] == 0)
        return dictionary(cover.cell, pc.if_else(empty, pa.scalar(None, joined.type), joined))

    def length(self) -> int:
        """Return how many bytes the texts of all records have."""
        of_node = pc.binary_length(self.texts).to_numpy(zero_copy_only=False) + len(self.separator.encode())
        found = 0
        for part, classes in zip(_parts(self.cover), chunks(len(self.sizes)), strict=True):
            length = _length(part)
            sums = np.concatenate(([0], np.cumsum(of_node[part.nodes[inside_runs(part.start[:-1], length)]])))
            ends = np.cumsum(length)
            found += int(((sums[ends] - sums[ends - length]) * self.sizes[classes]).sum())
        return found


def _parts(cover: SetCover) -> Iterator[SetCover]:
    """Yield runs of about a million classes."""
    for part in chunks(len(cover.start) - 1):
        yield cover.taken(part)


def _node_texts(column: ItemSets) -> pa.Array:
    taxonomy = column.taxonomy
    return column.values.cast(pa.string()) if taxonomy is None else pa.array(taxonomy.labels, pa.string())


def _length(cover: SetCover) -> Ints:
    """Return the number of items that each class shows."""
    return np.where(cover.null, 0, np.diff(cover.start))


def check_items(name: str, items: pa.Array, separator: str) -> None:
    """Raise if a reader who splits joined items could find others than those that were joined."""
    items = items.cast(pa.large_string())
    # with the separator behind it an item must end where that begins: ";;" would cut "a;" in the wrong place
    cut = pc.find_substring(put_together(items, separator), pattern=separator)
    safe = pc.and_(pc.equal(cut, pc.binary_length(items)), pc.equal(pc.utf8_trim_whitespace(items), items))
    bad = len(items) - (pc.sum(pc.and_(safe, pc.not_equal(items, ""))).as_py() or 0)
    if bad:
        raise UnsupportedError(
            f"column '{name}' has items that contain the separator '{separator}' or begin or end with "
            f"blanks ({bad} of {len(items)}), which a text release cannot show.",
            hint="write Parquet, or give another separator.",
        )
