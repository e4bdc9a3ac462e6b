"""Rendering: from a decision to the rows that leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.errors import UnsupportedError
from sudare.release.cells import cell_labels
from sudare.table import Column, Generalized, Partition, Table, generalize, merge_alike

Ints = NDArray[np.int64]
LONGEST_COLUMN = (1 << 31) - 1
"""The bytes that the text of one released column may have: what one Arrow array of text can hold."""


def render(
    table: Table,
    partition: Partition,
    columns: Sequence[str],
    *,
    order: Literal["class", "keep"] = "class",
    subjects: Literal["per-class", "linked"] | None = None,
    seed: int | None = None,
) -> tuple[pa.Table, Generalized]:
    """Return the released table, with these columns, and what it was made from for measuring.

    ``order: class`` puts the rows class by class, shuffled within each, so that their order tells nothing; ``keep``
    leaves them as they came. ``subjects`` is what the subject column shows: numbers that mean something only
    within a class, or numbers that link a person's records all over the release. Entropy comes from the
    operating system unless a test gives a seed.
    """
    random = np.random.default_rng(seed)
    shuffled = random.permutation(table.rows) if order == "class" else None
    shown = generalize(table, partition, shuffled)
    merged = merge_alike(partition, shown)
    if merged is not partition:
        partition, shown = merged, generalize(table, merged, shuffled)
    rows = shown.order if order == "class" else np.flatnonzero(partition.classes >= 0)
    classes = partition.classes[rows]
    take = pa.array(rows)
    arrays = {}
    for name in columns:
        if name in shown.covers:
            labels = cell_labels(shown.covers[name])
            _check_length(name, labels, shown.sizes)
            # plain text: whoever reads the release should not have to know about dictionaries
            arrays[name] = labels.take(pa.array(classes)).cast(pa.string())
        elif table.subject is not None and name == table.subject.name:
            if subjects is not None:
                numbers = _pseudonyms(table.subject, rows, classes, random, linked=subjects == "linked")
                arrays[name] = pa.array(numbers)
        elif table.carried is not None and name in table.carried.schema.names:
            arrays[name] = _nothing_behind(_carried(table, name).take(take))
    return pa.table(arrays), shown


def _check_length(name: str, labels: pa.DictionaryArray, sizes: Ints) -> None:
    """Raise before a column of very long sets fills the memory."""
    of_label = np.append(pc.binary_length(labels.dictionary).to_numpy(), 0)
    lengths = of_label[pc.fill_null(labels.indices, -1).to_numpy()].astype(np.int64)
    if int((lengths * sizes).sum()) > LONGEST_COLUMN:
        raise UnsupportedError(
            f"column '{name}' would be released as sets of so many categories that their text exceeds 2 GB.",
            hint="give it a hierarchy, such as {prefix: [...]}, or make it kind: numeric, or leave it out.",
        )


def _nothing_behind(cells: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return cells without anything behind them that no row shows.

    A dictionary keeps the values of rows that were left out, and a struct those below its nulls; a file would too.
    """
    kind = _without_dictionaries(cells.type)
    if pa.types.is_dictionary(cells.type):
        return cells.cast(kind)
    flat = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not pa.types.is_nested(kind) or (flat and not pa.types.is_nested(kind.value_type) and kind == cells.type):
        return cells
    return pa.array(cells.to_pylist(), kind)


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(_without_dictionaries(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_without_dictionaries(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_dictionaries(field.type)) for field in kind])
    return kind


def _carried(table: Table, name: str) -> pa.ChunkedArray | pa.Array:
    """Return a column as it came, but for equal values of a required one that differ in writing.

    Not-a-number is missing, minus zero is zero, and of numbers in text "1" and "1.0" are the same. A reader who took
    them for different values would find other distributions than those that were required.
    """
    assert table.carried is not None
    cells, encoded = table.carried.column(name), table.sensitive.get(name)
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if encoded is None or not (text or pa.types.is_floating(kind)):
        return cells
    codes = pa.array(encoded.codes.astype(np.int64), mask=encoded.codes == encoded.missing_code)
    shown = encoded.values.take(codes)
    return shown.cast(kind) if encoded.kind == "categorical" or not text else shown


def _pseudonyms(subject: Column, rows: Ints, classes: Ints, random: np.random.Generator, *, linked: bool) -> Ints:
    """Number the data subjects: at random over the release, or from 1 in each class by first appearance."""
    people = subject.codes[rows].astype(np.int64)
    if linked:
        return np.asarray(1 + random.permutation(subject.size)[people])
    pairs, first, which = np.unique(classes * subject.size + people, return_index=True, return_inverse=True)
    owner = pairs // subject.size
    ranked = np.lexsort((first, owner))
    begins = np.searchsorted(owner, owner)  # pairs are sorted by class
    number = np.empty(len(pairs), dtype=np.int64)
    number[ranked] = np.arange(len(pairs)) - begins + 1
    return np.asarray(number[which.reshape(-1)])
