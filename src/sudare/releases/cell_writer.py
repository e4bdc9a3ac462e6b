"""How the text of a released cell is written: ranges, sets, labels; :mod:`sudare.releases.cell_reader` reads it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.releases.spreadsheet_formulas import SIGNS
from sudare.releases.value_texts import Ints, joined_runs, put_together, quoted, value_texts
from sudare.table import Column, Cover

_SPECIAL = re.compile(rf"""^$|^\s|\s$|^[\[{{"]|^\*$|^'+[{SIGNS}]""")
_SPECIAL_MEMBER = re.compile(r'^$|^\s|\s$|^[\[{"]|^\*$|[,{}"]|^null$')


def cell_labels(cover: Cover) -> pa.DictionaryArray:
    """Return what a column shows in each class, as text with a dictionary (each different cell is written once)."""
    if cover.column.taxonomy is not None:
        return dictionary(cover.node, node_texts(cover.column))
    if cover.column.positions is not None:
        return Intervals(cover).labels()
    return _choice_labels(cover)


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
        ends[cover.ends[0]], ends[cover.ends[1]] = True, True
        ends[len(column.values) :] = False
        codes = np.flatnonzero(ends)
        self.place = np.full(len(ends), len(codes))  # of the text of each code; that of missing is null
        self.place[codes] = np.arange(len(codes))
        self.texts = pa.concat_arrays([value_texts(column, codes), pa.nulls(1, pa.large_string())])

    def labels(self, classes: Ints | None = None) -> pa.DictionaryArray:
        """Return what these classes show, or all."""
        cover = self.cover
        cells = pa.array(cover.cell if classes is None else cover.cell[classes]).dictionary_encode().indices.to_numpy()
        found = first_of_each(cells)
        shown = found if classes is None else classes[found]
        low, high = (end[shown] for end in cover.ends)
        first, last = (self.texts.take(pa.array(self.place[codes])) for codes in (low, high))
        labels = pc.if_else(pa.array(low == high), first, put_together("[", first, ", ", last, "]"))
        return dictionary(cells, pc.if_else(pa.array(cover.everything[shown]), pa.scalar("*", labels.type), labels))


def _choice_labels(cover: Cover) -> pa.DictionaryArray:
    column = cover.column
    texts = value_texts(column)
    alone = quoted(texts, lambda text: bool(_SPECIAL.search(text)))
    within = quoted(texts, lambda text: bool(_SPECIAL_MEMBER.search(text)))
    if column.missing:
        alone = pa.concat_arrays([alone, pa.nulls(1, alone.type)])
        within = pa.concat_arrays([within, pa.array(["null"], within.type)])
    first = first_of_each(cover.cell)
    whole = cover.everything[first]
    length = np.where(whole, 0, cover.distinct[first])  # it would be long, and is not shown
    joined = joined_runs(column.name, within, cover.begin[first], length, cover.codes, ", ")
    sets = pc.if_else(pa.array(whole), pa.scalar("*", joined.type), put_together("{", joined, "}"))
    single = alone.take(pa.array(cover.low[first]))
    return dictionary(cover.cell, pc.if_else(pa.array(cover.distinct[first] == 1), single, sets))


def first_of_each(numbers: Ints) -> Ints:
    """Return where each number first stands; numbers go from 0, by first appearance."""
    found = np.empty(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    found[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of equal numbers the last assignment stays
    return found


def dictionary(which: Ints, labels: pa.Array) -> pa.DictionaryArray:
    """Return dictionary-encoded labels; a label of null becomes a null, not an entry."""
    numbers = which.astype(np.int32)
    if labels.null_count:
        nulls = labels.is_null().to_numpy(zero_copy_only=False)
        indices = pa.array(numbers, mask=nulls[numbers])
    else:
        indices = pa.array(numbers)
    return pa.DictionaryArray.from_arrays(indices, labels.fill_null("").cast(pa.string()))
