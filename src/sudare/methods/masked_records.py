"""Masked records: suppressed records that stay in the release as rows without content, as one class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sudare.methods.class_counts import tallied
from sudare.models import Requirements
from sudare.table import SUPPRESSED, Partition, Table


def masked(table: Table, requirements: Requirements, partition: Partition) -> Partition | None:
    """Make a class of the suppressed records, or return None if it would not keep the requirements."""
    out = partition.classes == SUPPRESSED
    if not out.any():
        return partition
    alone = tallied(table, requirements, np.where(out, 0, -1), 1, against_all=True)
    if not requirements.holds(alone).all():
        return None
    classes = np.where(out, partition.count, partition.classes).astype(partition.classes.dtype)
    return replace(partition, classes=classes, count=partition.count + 1, masked=True)
