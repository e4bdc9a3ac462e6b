"""How the text of a released cell is written: ranges, sets, labels; :mod:`sudare.releases.cell_reader` reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.releases.spreadsheet_formulas import SIGNS
from sudare.releases.value_texts import Ints, joined_runs, put_together, quoted, value_texts
from sudare.table import Column, Cover, chunks, first_of_each

_SPECIAL = re.compile(rf"""^$|^\s|\s$|^"|^\[.*, .*[\])]$|^\{{.*\}}$|^\*$|^'+[{SIGNS}]""", re.S)
"""Texts of single cells that a reader would take for something else: a range, a set, quoted text, an escaped one."""
_SPECIAL_MEMBER = re.compile(r'^$|^\s|\s$|^"|^\*$|[{}"]|, |,$|^null$')
"""Texts that would end a set, or be taken for several of its members, or for none."""


class CellTexts(Protocol):
    """The texts of a column's cells, which are made on demand: there may be nearly as many classes as records."""

    def labels(self, classes: slice | Ints) -> pa.DictionaryArray:
        """Return what these classes show, as text with a dictionary (each different cell is written once)."""

    def length(self) -> int:
        """Return how many bytes the texts of all records have, at least."""


def cell_texts(cover: Cover, sizes: Ints) -> CellTexts:
    """Return the texts of a column's cells; ``sizes`` are the records of each class."""
    if cover.column.taxonomy is not None:
        return Nodes(cover, sizes)
    if cover.column.positions is not None:
        return Intervals(cover)
    return Choices(cover, sizes)


def cell_labels(cover: Cover) -> pa.DictionaryArray:
    """Return what a column shows in each class, as text with a dictionary."""
    classes = len(cover.begin)
    return cell_texts(cover, np.ones(classes, np.int64)).labels(slice(0, classes))


class Nodes:
    """The cells of a column with a hierarchy, which are labels of its nodes."""

    def __init__(self, cover: Cover, sizes: Ints) -> None:
        self.cover, self.sizes = cover, sizes
        texts = node_texts(cover.column)
        self.null = texts.is_null().to_numpy(zero_copy_only=False)
        self.texts = texts.fill_null("").cast(pa.string())

    def labels(self, classes: slice | Ints) -> pa.DictionaryArray:
        """Return what these classes show."""
        return with_nulls(self.cover.taken(classes).node, self.texts, self.null)

    def length(self) -> int:
        """Return how many bytes the texts of all records have."""
        of_node = pc.binary_length(self.texts).to_numpy(zero_copy_only=False).astype(np.int64)
        parts = chunks(len(self.sizes))
        return sum(int((of_node[self.cover.taken(part).node] * self.sizes[part]).sum()) for part in parts)


def node_texts(column: Column) -> pa.Array:
    """Return what each node of a column's taxonomy shows; the node of missing values is null.

    A label that could be taken for a set or for quoted text is quoted; bands and the root are meant as they look.
    """
    assert column.taxonomy is not None
    texts = quoted(
        pa.array(column.taxonomy.labels, pa.large_string()),
        lambda label: bool(_SPECIAL.search(label)) and label[:1] not in ("*", "["),
    )
    if not column.missing:
        return texts
    missing = np.arange(len(texts)) == column.taxonomy.path[-1, -1]
    return pc.if_else(pa.array(missing), pa.scalar(None, texts.type), texts)


class Intervals:
    """The cells of a column of numbers, dates or times, whose texts are made on demand.

    There may be as many different ones as classes.
    """

    def __init__(self, cover: Cover) -> None:
        self.cover = cover
        column = cover.column
        if column.ends is not None:
            column = replace(column, values=column.ends.values, positions=column.ends.positions)
        # Behind the values are missing ones, and what masked classes have.
        ends = np.zeros(len(column.values) + 2, dtype=np.bool_)
        for part in chunks(len(cover.begin)):
            for end in cover.taken(part).ends:
                ends[end] = True
        ends[len(column.values) :] = False
        codes = np.flatnonzero(ends)
        self.place = np.full(len(ends), len(codes))  # of the text of each code; that of missing is null
        self.place[codes] = np.arange(len(codes))
        self.texts = pa.concat_arrays([value_texts(column, codes), pa.nulls(1, pa.large_string())])

    def labels(self, classes: slice | Ints) -> pa.DictionaryArray:
        """Return what these classes show."""
        cover = self.cover.taken(classes)
        cells = pa.array(cover.cell).dictionary_encode().indices.to_numpy()
        shown = first_of_each(cells)
        low, high = (end[shown] for end in cover.ends)
        first, last = (self.texts.take(pa.array(self.place[codes])) for codes in (low, high))
        labels = pc.if_else(pa.array(low == high), first, put_together("[", first, ", ", last, "]"))
        return dictionary(cells, pc.if_else(pa.array(cover.everything[shown]), pa.scalar("*", labels.type), labels))

    def length(self) -> int:
        """Return 0: two numbers are never long."""
        return 0


class Choices:
    """The cells of a column of categories, which are one of them or a set."""

    def __init__(self, cover: Cover, sizes: Ints) -> None:
        self.cover, self.sizes = cover, sizes
        texts = value_texts(cover.column)
        self.alone = alone(texts)
        self.within = quoted(texts, lambda text: bool(_SPECIAL_MEMBER.search(text)))
        if cover.column.missing:
            self.alone = pa.concat_arrays([self.alone, pa.nulls(1, self.alone.type)])
            self.within = pa.concat_arrays([self.within, pa.array(["null"], self.within.type)])

    def labels(self, classes: slice | Ints) -> pa.DictionaryArray:
        """Return what these classes show."""
        cover = self.cover.taken(classes)
        first = first_of_each(cover.cell)
        whole = cover.everything[first]
        length = np.where(whole, 0, cover.distinct[first])  # it would be long, and is not shown
        joined = joined_runs(cover.column.name, self.within, cover.begin[first], length, cover.codes, ", ")
        sets = pc.if_else(pa.array(whole), pa.scalar("*", joined.type), put_together("{", joined, "}"))
        single = self.alone.take(pa.array(cover.low[first]))
        return dictionary(cover.cell, pc.if_else(pa.array(cover.distinct[first] == 1), single, sets))

    def length(self) -> int:
        """Return how many bytes the texts of all records have: members, and what stands between and around them."""
        of_code = pc.binary_length(self.within).to_numpy(zero_copy_only=False).astype(np.float64)
        found = 0
        for part in chunks(len(self.sizes)):
            cover = self.cover.taken(part)
            bytes_of = np.where(cover.everything, 1.0, cover.total(of_code) + 2.0 * cover.distinct)
            found += int((bytes_of * self.sizes[part]).sum())
        return found


def alone(texts: pa.Array) -> pa.Array:
    """Return categories as cells that show one of them."""
    return quoted(texts, lambda text: bool(_SPECIAL.search(text)))


def dictionary(which: Ints, labels: pa.Array) -> pa.DictionaryArray:
    """Return dictionary-encoded labels; a label of null becomes a null, not an entry."""
    null = labels.is_null().to_numpy(zero_copy_only=False)
    return with_nulls(which, labels.fill_null("").cast(pa.string()), null)


def with_nulls(which: Ints, texts: pa.Array, null: NDArray[np.bool_]) -> pa.DictionaryArray:
    """Return texts by their numbers; those that stand for null become nulls, not entries."""
    numbers = which.astype(np.int32)
    indices = pa.array(numbers, mask=null[numbers]) if null.any() else pa.array(numbers)
    return pa.DictionaryArray.from_arrays(indices, texts)
