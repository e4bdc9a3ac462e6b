"""Duplicated columns: what says the same as another column, or follows from it.

A column *follows* from another one if records that agree there agree here, too: an age in years follows from the day of
birth, a state from the postal code. Two columns that follow from each other say *the same*, such as a code beside its
name.

**How it is found.** In a sample, records are sorted by one column, and neighbours with the same value are compared in
all other columns. The share of neighbours that differ, divided by the share of any two records that differ, is one
minus an estimate of Goodman and Kruskal's tau: 1 if the column follows, 0 if it has nothing to do with the other one.
Unlike mutual information it needs no table of frequencies for each pair, and has no bias from values that are rare. A
column that seems to follow is looked at again, in many more records. Numbers and dates of nearly the same order
(Spearman's rank correlation) say the same within a small error.

Nothing is said where there are too few records to know: where values hardly repeat, or nearly all records are alike.

Reference: Goodman, Kruskal: Measures of association for cross classifications. Journal of the American Statistical
Association 49, 732-764 (1954).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.drafts.coded_columns import CodedColumns, Ints, coded, combined, sampled

FOLLOWS = 0.98
"""The smallest tau of a column that follows from another one; a few wrong entries are in every table."""

SAME_ORDER = 0.99
"""The smallest rank correlation of numbers that say nearly the same."""

_SAMPLE = 10_000
_LOOKED_AT = 100_000
_FEWEST_NEIGHBOURS = 50
_FEWEST_DIFFERENCES = 20  # of neighbours that would differ if the columns had nothing to do with each other
_TRIED = 8  # columns from which one may follow, the most likely first

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Duplicate:
    """The column ``of`` which another one repeats: both say the ``same``, or the other one follows from it."""

    of: str
    same: bool
    exact: bool = True

    @property
    def words(self) -> str:
        """The sentence for a reader."""
        if not self.exact:
            return f"nearly the same order as '{self.of}'"
        return f"says the same as '{self.of}'" if self.same else f"follows from '{self.of}'"


def find_duplicates(table: pa.Table, names: Sequence[str]) -> dict[str, list[Duplicate]]:
    """Return what columns repeat, the closest first; only columns that repeat something are in it.

    Columns that say the same name each other.
    """
    part = coded(sampled(table.select(list(names)), _SAMPLE), names)
    if len(part.codes) < 2 or part.rows < _FEWEST_NEIGHBOURS:
        return {}
    likely = _taus(part)
    sources = {
        name: [o for o in np.argsort(-likely[:, place], kind="stable")[:_TRIED] if likely[o, place] >= FOLLOWS]
        for place, name in enumerate(part.names)
    }
    asked = sorted({name for name, others in sources.items() if others} | {
        part.names[other] for others in sources.values() for other in others
    })  # fmt: skip
    whole = coded(table.select(asked).slice(0, _LOOKED_AT), asked)
    proven: dict[str, list[str]] = {}
    for name, others in sources.items():
        proven[name] = [part.names[o] for o in others if _follows(whole, part.names[o], name)]
    found = {
        name: [Duplicate(other, same=_follows(whole, name, other)) for other in others]
        for name, others in proven.items()
    }
    for one, other in _same_order(part):
        if other not in proven[one] and one not in proven[other]:
            found[one].append(Duplicate(other, same=True, exact=False))
            found[other].append(Duplicate(one, same=True, exact=False))
    return {name: sorted(of, key=lambda each: (not each.same, not each.exact)) for name, of in found.items() if of}


def _taus(part: CodedColumns) -> Floats:
    """Return, for every two columns, how surely the second follows from the first; 0 where nothing can be said."""
    matrix = np.stack([part.codes[name] for name in part.names], axis=1).astype(np.uint16)
    apart = np.array([_any_two_differ(part.codes[name]) for name in part.names])
    taus = np.zeros((len(part.names), len(part.names)))
    for place in range(len(part.names)):
        order = np.argsort(matrix[:, place], kind="stable")
        by_value = matrix[order]
        together = np.flatnonzero(by_value[1:, place] == by_value[:-1, place])
        expected = len(together) * apart
        if len(together) < _FEWEST_NEIGHBOURS:
            continue
        differ = np.count_nonzero(by_value[together + 1] != by_value[together], axis=0)
        known = expected >= _FEWEST_DIFFERENCES
        taus[place, known] = 1 - differ[known] / expected[known]
        taus[place, place] = 0.0
    return taus


def _any_two_differ(codes: Ints) -> float:
    shares = np.bincount(codes) / len(codes)
    return float(1 - np.sum(shares**2))


def _follows(whole: CodedColumns, source: str, name: str) -> bool:
    """Return whether a column follows from another one in all records that are looked at.

    Of the records that share a value, those that hold the most frequent one of the others do not differ.
    """
    by, of = whole.codes[source], whole.codes[name]
    groups = combined(by, of)
    sizes = np.bincount(groups)
    first = np.zeros(len(sizes), dtype=np.int64)
    first[groups] = by
    largest = np.zeros(whole.sizes[source], dtype=np.int64)
    np.maximum.at(largest, first, sizes)
    repeated = np.bincount(by, minlength=whole.sizes[source]) > 1
    records = int(np.bincount(by, minlength=whole.sizes[source])[repeated].sum())
    wrong = records - int(largest[repeated].sum())
    commonest = np.bincount(of).max(initial=0)
    return records > 0 and wrong <= (1 - FOLLOWS) * records * (1 - commonest / whole.rows)


def _same_order(part: CodedColumns) -> list[tuple[str, str]]:
    """Return pairs of columns of many numbers or dates that rank the records in nearly the same way."""
    names = [name for name in part.ranks if part.sizes[name] > _FEWEST_DIFFERENCES]
    ranks = []
    for name in names:
        values = part.ranks[name][part.codes[name]].astype(np.float64)
        missing = values < 0
        if missing.mean() > 0.5:
            values[:] = 0
        else:
            values[missing] = np.median(values[~missing])
            below = np.concatenate([[0], np.cumsum(np.bincount(values.astype(np.int64)))])
            values = (below[values.astype(np.int64)] + below[values.astype(np.int64) + 1]) / 2
        values -= values.mean()
        length = float(np.linalg.norm(values))
        ranks.append(values / length if length else values)
    if len(ranks) < 2:
        return []
    stacked = np.stack(ranks)
    related = np.triu(stacked @ stacked.T, 1)
    return [(names[a], names[b]) for a, b in zip(*np.nonzero(np.abs(related) >= SAME_ORDER), strict=True)]
