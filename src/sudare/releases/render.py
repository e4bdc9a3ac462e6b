"""Rendering: from a decision to the released rows, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa

from sudare.core.randomness import BLOCK as WORDS
from sudare.core.randomness import Entropy
from sudare.core.sizes import LARGEST_INT32, MANY_ROWS
from sudare.releases.aggregated_cells import Aggregates, aggregated_labels
from sudare.releases.cell_writer import CellTexts, cell_labels, cell_texts
from sudare.releases.item_set_cells import JoinedSets, Lists, OwnSets, UnchangedSets
from sudare.releases.row_blocks import Ints, Span, spans_as_they_came, spans_by_class
from sudare.releases.unchanged_columns import carried_columns
from sudare.releases.value_texts import too_long
from sudare.table import Column, Cover, Generalized, ItemSets, Partition, SetCover, Table, published_classes

BLOCK = MANY_ROWS
"""The rows of a block, which becomes a row group of a Parquet file."""
LONGEST_COLUMN = LARGEST_INT32
"""The bytes that the text of one released column may have in any case ..."""
LONGEST_CELL = 1000
"""... and beyond which its cells may not be longer than this on average."""
_LARGEST = 1 << 29


class Maker(Protocol):
    """Makes some columns of the release; ``widest`` is about how many bytes, or items, a row of them has."""

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        """The columns, with the types that they are read back with."""

    @property
    def widest(self) -> int:
        """What a row takes."""

    def block(self, span: Span) -> Mapping[str, pa.Array]:
        """Return the cells of these rows. Texts may come with a dictionary, of texts that occur among them."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a release, which are made on demand.

    ``schema`` is how they are to be read back. The batches have texts with a dictionary where that is faster to write;
    the written file does not differ.
    """

    schema: pa.Schema
    count: int
    makers: Sequence[Maker]
    spans: Callable[[int], Iterator[Span]]

    def batches(self, block: int = BLOCK) -> Iterator[pa.RecordBatch]:
        """Make the rows, about so many at a time."""
        widest = max((maker.widest for maker in self.makers), default=0)
        block = max(min(block, _LARGEST // max(widest, 1)), 1)
        for span in self.spans(block):
            made: dict[str, pa.Array] = {}
            for maker in self.makers:
                made.update(maker.block(span))
            yield pa.record_batch([made[name] for name in self.schema.names], names=self.schema.names)


@dataclass(frozen=True, eq=False)
class Layout:
    """How rows are released: which ``columns``, in which order, and what the cells of some columns look like.

    ``order: class`` puts the rows class by class, shuffled within each, so that their order reveals nothing. ``keep``
    keeps the order of the source. ``subjects`` is what the subject column shows: numbers that mean something only
    within a class, or numbers that link a person's records all over the release. ``separators`` is given for formats
    that are text: what joins the items of each item-set column. ``types`` are those that unchanged columns in text are
    to be read as. ``linked`` are the numbers that link a person's records, by the subject's codes, where other rows
    than these show them, too.
    """

    columns: Sequence[str]
    order: Literal["class", "keep"] = "class"
    subjects: Literal["per-class", "linked"] | None = None
    separators: Mapping[str, str] | None = None
    types: Mapping[str, pa.DataType] | None = None
    linked: Ints | None = None

    def unchanged(self, table: Table) -> list[str]:
        """Return the columns that are released unchanged."""
        there = () if table.carried is None else table.carried.column_names
        return [name for name in self.columns if name in there]

    def numbers_people(self, table: Table) -> bool:
        """Return whether a column numbers the people that records are about."""
        return table.subject is not None and table.subject.name in self.columns and self.subjects is not None


def render(table: Table, partition: Partition, layout: Layout, *, seed: int | None = None) -> tuple[Rows, Generalized]:
    """Return the rows of the release, and what they are made from for measuring.

    Randomness comes from the operating system unless a test gives a seed.
    """
    entropy = Entropy(seed)
    classes = published_classes(table, partition)
    alike = _class_columns(classes, layout)
    own = _record_columns(table, classes, layout)
    # where only quasi-identifiers are shown, the rows of a class are the same, and need no order
    needs_order = layout.numbers_people(table) or bool(own)
    rows = classes.order if needs_order else np.zeros(0, dtype=np.int64)
    if layout.order == "class" and len(rows):
        _shuffle(rows, classes.start, entropy)
    makers = [*alike, *own, *_people_columns(table, classes, layout, entropy)]

    def spans(block: int) -> Iterator[Span]:
        if layout.order == "class":
            return spans_by_class(classes.start, rows, block)
        return spans_as_they_came(classes.partition, block)

    kinds = {name: kind for maker in makers for name, kind in maker.types.items()}
    schema = pa.schema([(name, kinds[name]) for name in layout.columns if name in kinds])
    return Rows(schema, int(classes.start[-1]), makers, spans), classes


def _class_columns(classes: Generalized, layout: Layout) -> list[Maker]:
    """Return the columns in which all records of a class have the same cell."""
    makers: list[Maker] = []
    for name, cover in classes.covers.items():
        if name not in layout.columns:
            continue
        if isinstance(cover, Cover) and cover.aggregated is not None:
            makers.append(Aggregates(name, cover))
        elif isinstance(cover, SetCover) and layout.separators is None:
            makers.append(Lists(cover))
        else:
            makers.append(_labels(name, cover, classes.sizes, layout.separators or {}))
    return makers


def _record_columns(table: Table, classes: Generalized, layout: Layout) -> list[Maker]:
    """Return the columns in which records of a class may differ: their own items, and what is released unchanged."""
    named = [own for name, own in classes.own.items() if name in layout.columns]
    makers: list[Maker] = [_own_sets(own.column, classes.partition, layout.separators) for own in named]
    unchanged = layout.unchanged(table)
    sets = {name: each for name in unchanged if (each := table.sensitive.get(name)) is not None and each.sets}
    separators = layout.separators
    makers += [UnchangedSets(each, None if separators is None else separators[name]) for name, each in sets.items()]
    rest = [name for name in unchanged if name not in sets]
    return [*makers, *carried_columns(table, rest, layout.types or {})] if rest else makers


def _people_columns(table: Table, classes: Generalized, layout: Layout, entropy: Entropy) -> list[Maker]:
    """Return the column that numbers people, if there is one."""
    if table.subject is None or not layout.numbers_people(table):
        return []
    linked = layout.linked if layout.subjects == "linked" else None
    if layout.subjects == "linked" and linked is None:
        linked = entropy.permutation(table.subject.size) + 1
    return [People(table.subject, classes, linked, scattered=layout.order == "keep")]


class Labels:
    """A column that shows one text per class."""

    def __init__(self, name: str, texts: CellTexts) -> None:
        self.name, self.texts = name, texts
        self.types = {name: pa.string()}
        self.widest = 0  # a dictionary has each text once

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the texts of these rows, with a dictionary of those that occur."""
        labels = self.texts.labels(span.which)
        numbers = labels.indices.dictionary_encode()
        texts = labels.dictionary.take(numbers.dictionary)
        return {self.name: pa.DictionaryArray.from_arrays(span.spread(numbers.indices), texts)}


def _labels(name: str, cover: Cover | SetCover, sizes: Ints, separators: Mapping[str, str]) -> Labels:
    texts = cell_texts(cover, sizes) if isinstance(cover, Cover) else JoinedSets(cover, sizes, separators[name])
    if texts.length() > max(LONGEST_COLUMN, LONGEST_CELL * int(sizes.sum())):
        raise too_long(name)
    return Labels(name, texts)


class MaskedSets:
    """An item-set column where each record shows its own items, and a masked one none.

    Behind all records comes one more, which holds nothing. Masked ones show what it shows.
    """

    def __init__(self, column: ItemSets, partition: Partition, separator: str | None) -> None:
        more = replace(column, offsets=np.append(column.offsets, column.offsets[-1]))
        self.sets = OwnSets(more, partition.cuts[column.name], separator)
        self.empty, self.masked = len(column), partition.count - 1
        self.types, self.widest = self.sets.types, self.sets.widest

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the sets of these rows."""
        hidden = np.repeat(span.classes == self.masked, span.times)
        return self.sets.block(replace(span, rows=np.where(hidden, self.empty, span.rows)))


def _own_sets(column: ItemSets, partition: Partition, separators: Mapping[str, str] | None) -> Maker:
    separator = None if separators is None else separators[column.name]
    if partition.masked:
        return MaskedSets(column, partition, separator)
    return OwnSets(column, partition.cuts[column.name], separator)


class People:
    """The subject column: random numbers for the whole release, or from 1 in each class by first appearance."""

    def __init__(self, subject: Column, shown: Generalized, linked: Ints | None, *, scattered: bool) -> None:
        self.subject, self.linked = subject, linked
        self.types = {subject.name: pa.int64()}
        self.widest = 0
        if linked is None:
            from sudare.kernels.class_rows import number_people

            # one type for all tables: each other one would be compiled anew
            numbers = number_people(subject.codes.astype(np.uint32, copy=False), shown.order, shown.start)
            if scattered:
                self.numbers = np.zeros(shown.rows, dtype=numbers.dtype)
                self.numbers[shown.order] = numbers
            else:
                self.numbers = numbers

    def block(self, span: Span) -> dict[str, pa.Array]:
        """Return the numbers of the people that these rows are about."""
        if self.linked is not None:
            found = self.linked[self.subject.codes[span.rows]]
        elif span.first is None:
            found = self.numbers[span.rows]
        else:
            found = self.numbers[span.first : span.first + len(span.rows)]
        return {self.subject.name: pa.array(found, pa.int64())}


def _shuffle(rows: Ints, start: Ints, entropy: Entropy) -> None:
    """Shuffle the rows within their classes, where they stand: a copy may be too large."""
    from sudare.kernels.class_rows import shuffle_within

    place = np.zeros(2, dtype=np.int64)
    while place[0] < len(start) - 1:
        # hardly more than are needed, which is less than a word for each row that is left
        shuffle_within(rows, start, entropy.words(int(min(start[-1] - start[place[0]] + 64, WORDS))), place)


def class_labels(shown: Generalized, columns: Sequence[str]) -> pa.Table:
    """Return the cells of each class in those of these columns that are quasi-identifiers: a row for each class."""
    return pa.table(
        {
            name: cell_labels(cover).cast(pa.string()) if cover.aggregated is None else aggregated_labels(cover)
            for name, cover in shown.covers.items()
            if name in columns and isinstance(cover, Cover)
        }
    )


def people_numbers(
    subject: Column, shown: Generalized, how: Literal["per-class", "linked"], seed: int | None = None
) -> Ints:
    """Return the number that stands for the person of each record, as the subject column of a release shows it."""
    if how == "linked":
        return np.asarray((Entropy(seed).permutation(subject.size) + 1)[subject.codes])
    return People(subject, shown, None, scattered=True).numbers
