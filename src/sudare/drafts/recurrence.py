"""Recurring values: whether records with the same value belong to one person, because they agree in other columns.

Whoever comes back has the same sex as before. So in a column that says whom a record is about, records with the same
value agree in some other column, nearly all of them; and other people differ in that column. Of two people who happen
to have the same income, or the same weight in a survey, that is not so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

AGREE = 0.98
"""Of the values that come back, so many have records that agree; a few wrong entries are in every table."""

FEWEST_VALUES = 20
"""Fewer values that come back can agree by chance."""

_MOST_KINDS = 50  # what does not change about people has few values: sex, race, group of birth years
_MOST_ALIKE = 0.8  # where nearly all people are alike, records agree anyhow
_LOOKED_AT = 200_000
_TRIED_VALUES, _TRIED_RECORDS = 400, 4  # enough to see that most columns disagree, which keeps wide tables quick
_HARDLY = 0.85

Ints = NDArray[np.int64]


def come_back(table: pa.Table, candidates: Iterable[str], distinct: Mapping[str, int]) -> set[str]:
    """Return those of some columns whose values seem to recur in records of one person.

    ``distinct`` is how many values each column has.
    """
    names = list(candidates)
    if not names:
        return set()
    part = table.slice(0, _LOOKED_AT)
    kinds = [name for name, count in distinct.items() if 2 <= count <= _MOST_KINDS and name not in names]
    traits = [trait for name in kinds if (trait := _trait(part[name])) is not None]
    found = set()
    for name in names:
        recurring = _Recurring(_codes(part[name]))
        if any(map(recurring.agree, traits)):
            found.add(name)
    return found


def _trait(cells: pa.ChunkedArray) -> Ints | None:
    """Return the distinguishing values as numbers, -1 if missing; None if nearly all are equal."""
    if pa.types.is_nested(cells.type):
        return None
    codes = _codes(cells)
    there = codes[codes >= 0]
    if not len(there) or np.bincount(there).max() > _MOST_ALIKE * len(there):
        return None
    return codes


def _codes(cells: pa.ChunkedArray) -> Ints:
    whole = cells.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], cells.type)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    return np.asarray(pc.fill_null(whole.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False), dtype=np.int64)


class _Recurring:
    """The records of the values that come back, those of one value beside each other."""

    def __init__(self, who: Ints) -> None:
        order = np.argsort(who, kind="stable")
        order = order[np.searchsorted(who[order], 0) :]  # without missing ones
        self.order, self.who = order, who[order]
        first = np.flatnonzero(np.append(True, self.who[1:] != self.who[:-1])) if len(order) else order
        length = np.diff(np.append(first, len(order)))
        few = np.flatnonzero(length > 1)
        if len(few) > _TRIED_VALUES:  # spread over all values, since these are in the order of the records
            few = few[np.linspace(0, len(few) - 1, _TRIED_VALUES).astype(np.int64)]
        places = first[few][:, None] + np.arange(_TRIED_RECORDS)
        self.tried = places[np.arange(_TRIED_RECORDS) < length[few][:, None]]

    def agree(self, trait: Ints) -> bool:
        """Return whether nearly all values that come back have records that agree in a trait.

        A few records of some values are tried first: mostly these disagree already.
        """
        tried = _agreement(self.who[self.tried], trait[self.order[self.tried]])
        if tried is not None and tried < _HARDLY:
            return False
        share = _agreement(self.who, trait[self.order])
        return share is not None and share >= AGREE


def _agreement(who: Ints, trait: Ints) -> float | None:
    """Return the share of the values that come back whose records agree; None if hardly any come back.

    ``who`` is sorted.
    """
    there = trait >= 0
    who, trait = who[there], trait[there]
    if not len(who):
        return None
    first = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
    several = np.diff(np.append(first, len(who))) > 1
    if np.count_nonzero(several) < FEWEST_VALUES:
        return None
    same = np.minimum.reduceat(trait, first) == np.maximum.reduceat(trait, first)
    return float(np.mean(same[several]))
