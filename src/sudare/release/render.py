"""Rendering: from a decision to the rows that leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.release.cells import cell_labels
from sudare.table import Column, Generalized, Partition, Table, generalize

Ints = NDArray[np.int64]


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
    shown = generalize(table, partition, random.permutation(table.rows) if order == "class" else None)
    rows = shown.order if order == "class" else np.flatnonzero(partition.classes >= 0)
    classes = partition.classes[rows]
    take = pa.array(rows)
    arrays = {}
    for name in columns:
        if name in shown.covers:
            # plain text: whoever reads the release should not have to know about dictionaries
            arrays[name] = cell_labels(shown.covers[name]).take(pa.array(classes)).cast(pa.string())
        elif table.subject is not None and name == table.subject.name:
            if subjects is not None:
                numbers = _pseudonyms(table.subject, rows, classes, random, linked=subjects == "linked")
                arrays[name] = pa.array(numbers)
        elif table.carried is not None and name in table.carried.schema.names:
            arrays[name] = _carried(table, name).take(take)
    return pa.table(arrays), shown


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
