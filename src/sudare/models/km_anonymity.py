"""k^m-anonymity of an item-set column.

Definition: every combination of at most ``m`` items that occurs in a record occurs in at least ``k`` records. Who knows
up to ``m`` items of a person then finds no fewer than ``k`` candidates. Null and empty sets hold no combination.

Reference: M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data",
PVLDB 1(1), 2008.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.models import parameters
from sudare.models.group_counts import Groups
from sudare.table import ItemSets

_BLOCK = 1 << 21
"""About so many occurrences are extended at a time; memory grows with this and with m, not with the pairs."""


@dataclass(frozen=True)
class KmAnonymity:
    """Every combination of at most ``m`` items that occurs, occurs in at least ``k`` records.

    This is a property of a column and not of a group: :meth:`violations` and :meth:`holds_for` read the item
    sets, while :meth:`holds` lets every group pass.

    Monotone: when items are merged into a more general one, a combination of general items in a record comes from
    a combination of no more original items there, and occurs wherever that one does, in at least k records.
    Reference: Terrovitis, Mamoulis and Kalnis 2008.
    """

    name: ClassVar[str] = "km-anonymity"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "column"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = False
    remedy: ClassVar[str] = "ask for a smaller k or m."

    k: int
    m: int
    column: str

    def __post_init__(self) -> None:
        parameters.require(
            parameters.whole(f"{self.name}.k", self.k, 2),
            parameters.whole(f"{self.name}.m", self.m, 1),
            parameters.column(f"{self.name}.column", self.column),
        )

    @property
    def least_rows(self) -> int:
        """Groups of records are not limited."""
        return 1

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return 0 for every group: no group has anything to answer for."""
        return np.zeros(len(groups))

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return true for every group: ask :meth:`holds_for` about the column."""
        return np.ones(len(groups), dtype=np.bool_)

    def best_possible(self, whole: Groups) -> str:
        """Return how many records there are to share a combination."""
        return f"the table has {int(whole.rows.sum()):,} records"

    def violations(self, sets: ItemSets) -> int:
        """Return how many different combinations of 1 to m items occur in fewer than k records."""
        return sum(self._rare(sets))

    def holds_for(self, sets: ItemSets) -> bool:
        """Return whether no combination is too rare; stops at the first block of combinations that has one."""
        return not any(self._rare(sets))

    def _rare(self, sets: ItemSets) -> Iterator[int]:
        """Yield the number of rare combinations, single items first and then block by block."""
        items, offsets = sets.items.astype(np.int64), sets.offsets
        if sets.missing:  # the one item of a null set says that there is no set, and is no part of any combination
            known = items != sets.missing_code
            items, offsets = items[known], np.concatenate(([0], np.cumsum(known)))[offsets]
        width = int(items.max(initial=-1)) + 1
        support = np.bincount(items, minlength=width)
        yield int(np.count_nonzero((support > 0) & (support < self.k)))
        if self.m > 1:
            left = np.repeat(offsets[1:], np.diff(offsets)) - np.arange(len(items)) - 1
            last = np.argsort(items, kind="stable")
            yield from self._longer(_Items(items, left, width), items[last], last, self.m - 1)

    def _longer(self, sets: _Items, prefix: NDArray[np.int64], last: NDArray[np.int64], more: int) -> Iterator[int]:
        """Yield the rare combinations that extend the given ones by 1 to ``more`` items.

        ``prefix`` numbers the combination of each occurrence, ascending; ``last`` is the place of its last item.
        Items are sorted within a record, so that every combination has one way to grow: to the right. A block holds
        all occurrences of its prefixes, which makes its counts final; depth comes first, which keeps memory small.
        """
        grows = sets.left[last] > 0
        prefix, last = prefix[grows], last[grows]
        for part in _blocks(prefix, sets.left[last]):
            times = sets.left[last[part]]
            ends = np.cumsum(times)
            step = np.arange(int(ends[-1])) - np.repeat(ends - times, times)
            place = np.repeat(last[part] + 1, times) + step
            _, local = np.unique(prefix[part], return_inverse=True)
            key = np.repeat(local * sets.width, times) + sets.items[place]
            if more == 1:
                yield _fewer(key, self.k)
                continue
            order = np.argsort(key, kind="stable")
            key = key[order]
            new = np.concatenate(([True], key[1:] != key[:-1]))
            support = np.diff(np.append(np.flatnonzero(new), len(key)))
            yield int(np.count_nonzero(support < self.k))
            yield from self._longer(sets, np.cumsum(new) - 1, place[order], more - 1)


@dataclass(frozen=True, eq=False)
class _Items:
    """The items of all records in a row, how many follow each in its record, and one more than the largest."""

    items: NDArray[np.int64]
    left: NDArray[np.int64]
    width: int


def _blocks(prefix: NDArray[np.int64], growth: NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices of whole prefixes that grow to about one block each.

    A single prefix may exceed it, but never the number of items of all records.
    """
    first = np.flatnonzero(np.concatenate(([True], prefix[1:] != prefix[:-1]))) if len(prefix) else prefix
    bounds = np.append(first, len(prefix))
    grown = np.concatenate(([0], np.cumsum(growth)))[bounds]
    at = 0
    while at < len(first):
        upto = max(int(np.searchsorted(grown, grown[at] + _BLOCK, side="right")) - 1, at + 1)
        yield slice(int(bounds[at]), int(bounds[upto]))
        at = upto


def _fewer(key: NDArray[np.int64], k: int) -> int:
    """Return how many different keys occur fewer than k times."""
    span = int(key.max()) + 1
    if span <= 4 * len(key):
        support = np.bincount(key)
        return int(np.count_nonzero((support > 0) & (support < k)))
    key = np.sort(key)
    bounds = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1], [True])))
    return int(np.count_nonzero(np.diff(bounds) < k))
