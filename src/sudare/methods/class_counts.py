"""Classes as models read them: counts of records, people and sensitive values, from the records themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import UnsupportedError
from sudare.models import Groups, Histograms, Requirements
from sudare.table import Table


def tallied(
    table: Table,
    requirements: Requirements,
    classes: NDArray[np.signedinteger[Any]],
    count: int,
    *,
    against_all: bool = False,
    whole: Table | None = None,
) -> Groups:
    """Return classes as groups; records of class -1 are in none.

    Distributions are those of all records that are in a class, or ``against_all`` those of the whole table; or those of
    a table ``whole``, of which this one has some records.
    """
    inside = classes >= 0
    owner = classes[inside].astype(np.int64)
    histograms, subjects = {}, None
    for name in requirements.columns:
        column = table.sensitive[name]
        pairs, counts = np.unique(owner * column.size + column.codes[inside], return_counts=True)
        start = np.searchsorted(pairs, np.arange(count + 1) * column.size)
        everyone = column.codes if whole is None else whole.sensitive[name].codes
        total = np.bincount(
            everyone if against_all or whole is not None else column.codes[inside], minlength=column.size
        )
        histograms[name] = Histograms(start, pairs % column.size, counts, total.astype(np.int64), column)
    if requirements.counts_subjects and table.subject is not None:
        pairs = np.unique(owner * table.subject.size + table.subject.codes[inside])
        subjects = np.bincount(pairs // table.subject.size, minlength=count)
    return Groups(np.bincount(owner, minlength=count), subjects, histograms)


def everybody(table: Table, requirements: Requirements) -> Groups:
    """Return all records as one group."""
    return tallied(table, requirements, np.zeros(table.rows, dtype=np.int8), 1)


def refuse_free_sets(table: Table, requirements: Requirements) -> None:
    """Raise if there are item sets that take no part in the classes: only k^m-anonymity limits them."""
    free = [name for name in table.sets if requirements.free(name)]
    if free:
        what = f"this method does not recode sets that only km-anonymity limits; got {', '.join(map(repr, free))}."
        raise UnsupportedError(what, hint="use the method top-down, or require k-anonymity of all columns.")


def refuse_item_sets(table: Table) -> None:
    """Raise if there are item sets: few methods generalize them."""
    if table.sets:
        raise UnsupportedError(
            f"this method does not generalize item sets; got {', '.join(map(repr, table.sets))}.",
            hint="use top-down, l-clustering or full-domain, or remove the column from the policy.",
        )
