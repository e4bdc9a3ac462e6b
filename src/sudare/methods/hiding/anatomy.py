"""Anatomy: quasi-identifiers in one table, sensitive values in another, joined only by groups.

Steps
    1. Records are put into buckets by their sensitive value, each in an order that is drawn at random.
    2. While l buckets hold records, the l largest give one record each to a new group.
    3. Each record that is left over joins a group, drawn at random, that does not hold its value yet.
    The release is two tables: the records as they are, with the number of their group instead of the sensitive value;
    and for each group how often each value occurs in it.

Cost
    The number of records, times the logarithm of the number of values.

Guarantee Every group holds at least l different values, each of them once: someone who knows the group of a person with
one record can infer the value with a probability of at most 1/l. No value may take more than 1/l of all records (the
table is *eligible*); if one does, there are no such groups. Quasi-identifiers are unchanged, so people can be found in
the release. Several records of one person may be in one group, and all their values are then in it.

Deviations Randomness is the operating system's, because groups that can be drawn again would reveal who is in them.

References
    Xiao, Tao: Anatomy: simple and effective privacy preservation. VLDB 2006.
"""

from __future__ import annotations

import numpy as np

from sudare.core.errors import PolicyUnmetError, Problem
from sudare.core.progress import Listener, silent
from sudare.core.randomness import Entropy
from sudare.kernels.hiding.buckets import group_buckets, join_leftover
from sudare.methods.hiding.hidden_column import domain, hidden_columns
from sudare.models import Requirements
from sudare.table import Separation, Table

REPEATED = (
    "Some people have several records. Someone who knows which records belong to one person can compare their groups, "
    "and may find the value that all of them share. If one group holds several of these records, the person has "
    "several of its values."
)


def anatomy(
    table: Table, requirements: Requirements, *, seed: int | None = None, progress: Listener | None = None
) -> Separation:
    """Group the records (see the module's description). ``seed`` is for tests."""
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    asked = hidden_columns(table, requirements, "anatomy", balanced=True)
    if len(asked) > 1:
        what = f"anatomy separates one sensitive column, but the policy has {len(asked)}."
        raise PolicyUnmetError(Problem("columns", what, "use dummies, which hides several."))
    [(name, least)] = asked.items()
    column = table.sensitive[name]
    counts = np.bincount(column.codes, minlength=column.size)
    most = int(counts.max())
    if most * least > table.rows:
        possible = table.rows // most
        what = (
            f"one value of '{name}' takes {most} of {table.rows} records, more than 1/{least} of them, so that "
            "there are no groups that hold each value once."
        )
        hint = f"require at most l = {possible}." if possible > 1 else "use dummies, which needs no such balance."
        raise PolicyUnmetError(Problem(f"l-diversity (l = {least}, column = {name})", what, hint))
    listener("decide", 0.0, 1.0)
    entropy = Entropy(seed)
    shuffled = entropy.permutation(table.rows)
    rows = shuffled[np.argsort(column.codes[shuffled], kind="stable")]
    start = np.concatenate(([0], np.cumsum(counts)))
    groups = np.full(table.rows, -1, dtype=np.int64)
    count = int(group_buckets(start, rows, np.int64(least), groups))
    left = np.flatnonzero(groups < 0)
    if len(left):
        placed = np.flatnonzero(groups >= 0)
        codes = column.codes.astype(np.int64)
        holds = np.sort(groups[placed] * (int(codes.max()) + 1) + codes[placed])
        places = entropy.permutation(count)[np.arange(len(left)) % count]
        lost = int(join_leftover(left, codes, groups, np.int64(count), holds, places))
        assert lost == 0, "an eligible table leaves fewer records than groups"
    listener("decide", 1.0, 1.0)
    facts = {"columns": {name: {"l": least, "values": domain(column)}}, "groups": count, "randomness": entropy.source}
    if table.subject is not None and len(np.unique(table.subject.codes)) < table.rows:
        facts["notes"] = [REPEATED]
    return Separation(groups, count, facts)
