"""Identifying power: how much each column singles people out, and what it costs to generalize it.

- **Cost** of a column: the share of the records that share its value and that of one other column with fewer than
  ``FEW`` records, on average over other columns. So many values have to become coarser, or records of the other column
  have to. It is cheap, and decides which columns a wide draft generalizes.
- **Share of the SUDA scores**: how much of all singling out by one or two columns comes from a column, in a small
  sample (see :mod:`sudare.risks.singling_out`).
- **Conditional uniqueness**: which share of the records a column brings into groups of fewer than ``FEW``, beyond the
  columns that were chosen before. The column that brings the most is chosen first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sudare.drafts.coded_columns import CodedColumns, coded, combined, sampled, share_in_small_groups
from sudare.drafts.rarity import FEW

LOOKED_AT = 200_000
"""The number of records in which uniqueness is counted."""

_COST_SAMPLE = 20_000
_COMPANY = 24  # a column is paired with so many others: this keeps wide tables quick
_SUDA_SAMPLE = 3_000
_SUDA_COLUMNS = 2
_ALL = 0.9999  # where nearly all records stand alone, more columns change nothing
_DENSE = 4  # as many places per record are counted, beyond they are sorted


def costs(table: pa.Table, names: Sequence[str]) -> dict[str, float]:
    """Return what it costs to generalize each column; 1 for item sets, whose items have to be hidden."""
    part = coded(sampled(table.select(list(names)), _COST_SAMPLE), names)
    there = part.names
    found = dict.fromkeys(names, 1.0)
    step = max(len(there) // _COMPANY, 1)
    company = there[::step][:_COMPANY]
    for name in there:
        shares = [_share_in_small_cells(part, name, other) for other in company if other != name]
        alone = share_in_small_groups(part.codes[name], FEW)
        found[name] = float(np.mean(shares)) if shares else alone
    return found


def _share_in_small_cells(part: CodedColumns, one: str, other: str) -> float:
    keys = part.codes[one] * part.sizes[other] + part.codes[other]
    if part.sizes[one] * part.sizes[other] > _DENSE * part.rows + 1000:
        sizes = np.unique(keys, return_counts=True)[1]
    else:
        sizes = np.bincount(keys)
    return float(sizes[sizes < FEW].sum() / part.rows) if part.rows else 0.0


def suda_shares(table: pa.Table, names: Sequence[str]) -> dict[str, float]:
    """Return the share of the SUDA scores with each column, by combinations of up to two columns in a sample."""
    from sudare.risks.singling_out import single_out

    part = coded(sampled(table.select(list(names)), _SUDA_SAMPLE), names)
    if not part.codes:
        return {}
    found = single_out(
        part.names,
        [part.codes[name].astype(np.uint32) for name in part.names],
        [part.sizes[name] for name in part.names],
        part.rows,
        most=_SUDA_COLUMNS,
    )
    return found.contribution


def added_uniqueness(table: pa.Table, names: Sequence[str]) -> dict[str, float]:
    """Return what each column adds to the share of records in small groups, the largest first."""
    whole = coded(table.select(list(names)).slice(0, LOOKED_AT), names)
    groups = np.zeros(whole.rows, dtype=np.int64)
    found: dict[str, float] = {}
    reached, left = 0.0, whole.names
    while left:
        if reached >= _ALL:
            return found | dict.fromkeys(left, 0.0)
        tried = {name: combined(groups, whole.codes[name]) for name in left}
        shares = {name: share_in_small_groups(tried[name], FEW) for name in left}
        best = max(left, key=lambda name: (shares[name], int(tried[name].max(initial=0))))
        found[best] = shares[best] - reached
        groups, reached = tried[best], shares[best]
        left = [name for name in left if name != best]
    return found


def unique_share(table: pa.Table, names: Sequence[str]) -> float:
    """Return the share of the records that no other one equals in all of some columns."""
    whole = coded(table.select(list(names)).slice(0, LOOKED_AT), names)
    groups = np.zeros(whole.rows, dtype=np.int64)
    for name in whole.names:
        groups = combined(groups, whole.codes[name])
        if int(groups.max(initial=0)) + 1 >= _ALL * whole.rows:
            break
    return share_in_small_groups(groups, 2)
