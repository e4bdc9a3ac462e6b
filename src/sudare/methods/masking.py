"""Records that are left out but stay in the release, as rows that show nothing: a class like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.models import Groups, Histograms, Requirements
from sudare.table import SUPPRESSED, Column, Partition, Table


def masked(table: Table, requirements: Requirements, partition: Partition) -> Partition | None:
    """Make a class of the records that are left out, or return None if it would not keep the requirements."""
    out = partition.classes == SUPPRESSED
    if not out.any():
        return partition
    if not requirements.holds(_as_one_group(table, requirements, out)).all():
        return None
    classes = np.where(out, partition.count, partition.classes).astype(partition.classes.dtype)
    return replace(partition, classes=classes, count=partition.count + 1, masked=True)


def shows_something(partition: Partition) -> NDArray[np.bool_]:
    """Say which records are neither left out nor masked."""
    last = partition.count - partition.masked
    return np.asarray((partition.classes >= 0) & (partition.classes < last))


def _as_one_group(table: Table, requirements: Requirements, members: NDArray[np.bool_]) -> Groups:
    """Return some records as one group of the whole table."""

    def tally(column: Column, codes: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(codes, minlength=column.size).astype(np.int64)

    histograms = {}
    for name in requirements.columns:
        column = table.sensitive[name]
        counts = tally(column, column.codes[members])
        codes = np.flatnonzero(counts)
        start = np.array([0, len(codes)])
        histograms[name] = Histograms(start, codes, counts[codes], tally(column, column.codes), column)
    subjects = None
    if requirements.counts_subjects and table.subject is not None:
        subjects = np.array([np.count_nonzero(tally(table.subject, table.subject.codes[members]))])
    return Groups(np.array([np.count_nonzero(members)]), subjects, histograms)
