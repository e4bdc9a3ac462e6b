"""Classes that show the same in every column: a reader cannot tell them apart, so they are one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.core.sizes import MANY_ROWS
from sudare.table.array_storage import chunks
from sudare.table.covers import Cover, Generalized, Ints, SetCover, first_of_each, generalize, numbered
from sudare.table.recoding import SUPPRESSED, Partition
from sudare.table.table import Table

Digests = NDArray[np.uint64]
_BUCKET = 4 * MANY_ROWS
"""Digests that are sorted at a time, about."""


def published_classes(table: Table, partition: Partition) -> Generalized:
    """Return the cells of a decision: its classes covered, and classes with equal cells merged."""
    shown = generalize(table, partition)
    merged = merge_alike(partition, shown)
    return shown if merged is partition else generalize(table, merged)


def merge_alike(partition: Partition, shown: Generalized) -> Partition:
    """Return the classes that a reader sees: where a method made two that show the same, they become one.

    ``shown`` are the cells of the partition. Both sides of a split along a hierarchy may still show the same node;
    nearly always there is nothing to merge, and the partition itself is returned. If another class shows nothing
    either, the masked records join it and are no longer masked: nobody can distinguish them from its other rows. They
    do not where records show items of their own, which masked ones must not. A masked class stays the last one.

    Digests tell which classes may show the same, and only the cells of those are compared: there may be nearly as many
    classes as records.
    """
    if not shown.covers or partition.count < 2:
        return partition
    apart = partition.masked and bool(shown.own)
    members = _perhaps_alike(_digests(shown, apart))
    if not len(members):
        return partition
    first = _first_alike(shown, members, partition.count - 1 if apart else None)
    stands = np.ones(partition.count, dtype=np.bool_)
    stands[members] = members == first
    count = int(stands.sum())
    if count == partition.count:
        return partition
    number = np.cumsum(stands) - 1
    number[members] = number[first]
    classes = shown.storage.empty(len(partition.classes), partition.classes.dtype)
    for part in chunks(len(classes)):
        before = partition.classes[part]
        classes[part] = np.where(before >= 0, number[before], SUPPRESSED)
    # by first appearance: what stands alone at the end stays at the end
    alone = not np.any(number[:-1] == number[-1])
    aggregated = {name: each.taken(np.flatnonzero(stands)) for name, each in partition.aggregated.items()}
    masked = partition.masked and alone
    return replace(partition, classes=classes, count=count, masked=masked, aggregated=aggregated)


def _digests(shown: Generalized, apart: bool) -> Digests:
    """Return a digest of the cells of each class; that of the last one is its own if it has to stay ``apart``."""
    from sudare.kernels.class_rows import mix_runs

    digests: Digests = shown.storage.zeros(len(shown.sizes), np.uint64)
    for part in chunks(len(digests)):
        for cover in shown.covers.values():
            mix_runs(*_content(cover.taken(part)), digests[part])
    if apart:
        mix_runs(np.array([0, 1]), np.zeros(1, np.int64), digests[-1:])
    return digests


def _content(cover: Cover | SetCover) -> tuple[Ints, Ints]:
    """Return what each class shows as a run of numbers, the same for equal cells in any part of a release."""
    if isinstance(cover, SetCover):
        return cover.start, cover.nodes.astype(np.int64)
    column = cover.column
    if cover.aggregated is None and column.taxonomy is None and column.positions is None:
        if cover.shown is None:
            return cover.start, cover.codes
        cells = np.where(cover.everything, len(cover.start), cover.shown)
    else:
        cells = cover.cell
    return np.arange(len(cells) + 1), cells


def _perhaps_alike(digests: Digests) -> Ints:
    """Return the classes whose digest another class has, too, ascending."""
    bits = max((len(digests) // _BUCKET).bit_length(), 1)
    repeated = []
    for bucket in range(1 << bits):
        mine = np.sort(np.concatenate([_in_bucket(digests[part], bucket, bits) for part in chunks(len(digests))]))
        repeated.append(np.unique(mine[1:][mine[1:] == mine[:-1]]))
    known = np.concatenate(repeated)  # ascending: buckets are by the upper bits
    if not len(known):
        return np.zeros(0, np.int64)
    found = []
    for part in chunks(len(digests)):
        place = np.minimum(np.searchsorted(known, digests[part]), len(known) - 1)
        found.append(np.flatnonzero(known[place] == digests[part]) + part.start)
    return np.concatenate(found)


def _in_bucket(digests: Digests, bucket: int, bits: int) -> Digests:
    return np.asarray(digests[digests >> np.uint64(64 - bits) == np.uint64(bucket)])


def _first_alike(shown: Generalized, members: Ints, apart: int | None) -> Ints:
    """Return for each of some classes the first one that shows the same; one of them may have to stay ``apart``."""
    cells = [cover.taken(members).cell for cover in shown.covers.values()]
    cells.append((members == (-1 if apart is None else apart)).astype(np.int64))
    rows = np.stack(cells, axis=1)
    numbers = numbered(np.arange(0, rows.size + 1, rows.shape[1]), rows.reshape(-1))
    return np.asarray(members[first_of_each(numbers)[numbers]])
