"""Random queries for ``keep_qid.py``, and how far what four kinds of release say is from the truth.

A query picks some quasi-identifiers and some values of each; its cells are the combinations of these values that have
records. The analyst wants the distribution of the sensitive value in each of them.

This works on encoded tables, and gives what :func:`sudare.estimate` gives for a written release (a test compares them).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import PolicyUnmetError
from sudare.estimates.set_counts import from_sets
from sudare.kernels.compiled import kernel
from sudare.methods.clustering.three_phase import three_phase
from sudare.methods.hiding.anatomy import anatomy
from sudare.methods.hiding.dummies import dummies
from sudare.methods.topdown.mondrian import mondrian
from sudare.models import AlphaKAnonymity, LDiversity, Requirements
from sudare.table import Cover, Partition, Table, generalize

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CONVERGED = 1e-4
"""Records that no count moves by any more when the paper's iteration is taken to have converged."""
ESTIMATORS: dict[str, tuple[str, float | None]] = {
    "em-shrunk": ("em-shrunk", None),
    "em": ("em", None),
    "closed-form": ("closed-form", None),
    "bayes, eps 1": ("bayes", 1.0),
    "bayes, converged": ("bayes", CONVERGED),
}
OTHERS = ("anatomy", "mondrian", "mondrian, distinct", "three-phase")
WAYS = (*ESTIMATORS, *OTHERS)
SPREAD = OTHERS[1:]
"""Methods that generalize: how many records a cell has is an estimate as well."""
LARGE = 500
"""Records of a cell from which on it is counted as a large one."""
MOST_COUNTS = 4_000_000
"""Cells times sensitive values that are estimated in a query, at most: beyond, some of its cells are drawn."""
MOST_CODES = 64
"""Categories of a quasi-identifier, at most: a set of them is kept as the bits of one word."""


@dataclass(frozen=True, eq=False)
class Query:
    """The cells of a query: the cell of each record (-1: in none), and the codes of each cell, a line per cell."""

    names: tuple[str, ...]
    of_record: Ints
    codes: Ints
    chosen: Mapping[str, Ints]

    @property
    def count(self) -> int:
        """How many cells have records."""
        return len(self.codes)


def draw_query(table: Table, g: int, s: float, generator: np.random.Generator) -> Query:
    """Draw g quasi-identifiers, and b = ceil(size * s^(1/(g+1))) values of each; redraw until a cell has records."""
    [sensitive] = table.sensitive.values()
    columns = list(table.single.values())
    while True:
        chosen = {}
        for at in generator.permutation(len(columns))[:g]:
            size = columns[at].size
            chosen[columns[at].name] = np.sort(generator.permutation(size)[: math.ceil(size * s ** (1 / (g + 1)))])
        query = query_of(table, chosen)
        if query.count:
            break
    most = max(MOST_COUNTS // sensitive.size, 1)
    if query.count <= most:
        return query
    kept = np.sort(generator.permutation(query.count)[:most])
    number = np.full(query.count + 1, -1, dtype=np.int64)  # the last one is for records in no cell
    number[kept] = np.arange(most)
    return Query(query.names, number[query.of_record], query.codes[kept], query.chosen)


def query_of(table: Table, chosen: Mapping[str, Ints]) -> Query:
    """Return the cells that have records, of some values (by their codes) of some columns."""
    # those with few values first: a class that does not reach one of them skips many cells at once
    picked = sorted((table.single[name] for name in chosen), key=lambda column: column.size)
    inside, key = np.ones(table.rows, dtype=np.bool_), np.zeros(table.rows, dtype=np.int64)
    for column in picked:
        allowed = np.zeros(column.size, dtype=np.bool_)
        allowed[chosen[column.name]] = True
        inside &= allowed[column.codes]
        key = key * column.size + column.codes
    found, place = np.unique(key[inside], return_inverse=True)
    of_record = np.full(table.rows, -1, dtype=np.int64)
    of_record[inside] = place.reshape(-1)
    codes = np.empty((len(found), len(picked)), dtype=np.int64)
    for level in reversed(range(len(picked))):
        found, codes[:, level] = np.divmod(found, picked[level].size)
    return Query(tuple(column.name for column in picked), of_record, codes, chosen)


# Releases


def asked(way: str, diverse: int, name: str) -> Requirements:
    """Return what is required: that no value has more than 1/l of a class, or (distinct) that it has l of them.

    Methods other than mondrian see to the former by themselves.
    """
    if way == "mondrian":
        return Requirements((AlphaKAnonymity(1 / diverse, diverse, name),))
    return Requirements((LDiversity(diverse, name),))


def released(way: str, table: Table, diverse: int, seed: int = 0) -> Sets | Groups | Classes | None:
    """Make a release of a table with one sensitive column; None if the method cannot."""
    [name] = table.sensitive
    require = asked(way, diverse, name)
    try:
        if way == "dummies":
            made = dummies(table, require, seed=seed).draws[name]
            sets = made.cells(np.arange(table.rows))
            return Sets(table, np.ascontiguousarray(sets, dtype=np.uint32))
        if way == "anatomy":
            return Groups(table, anatomy(table, require, seed=seed).groups)
        method: Callable[..., Partition] = three_phase if way == "three-phase" else mondrian
        return Classes(table, method(table, require))
    except PolicyUnmetError:
        return None


class Sets:
    """A release by dummies: a set of codes for each record."""

    def __init__(self, table: Table, sets: NDArray[np.uint32]) -> None:
        self.sets = sets
        [column] = table.sensitive.values()
        self.size = column.size

    def counts(self, query: Query, way: str = "em-shrunk") -> Floats:
        """Estimate the counts of each cell by one of the estimators."""
        estimator, eps = ESTIMATORS[way]
        found = from_sets(query.of_record, self.sets, self.size, query.count, estimator=estimator, eps=eps)
        counts: Floats = found.counts
        return counts


class Groups:
    """A release by anatomy: the group of each record, and the sensitive values of each group."""

    def __init__(self, table: Table, groups: NDArray[Any]) -> None:
        [column] = table.sensitive.values()
        self.size = column.size
        self.groups = groups.astype(np.int64)
        order = np.argsort(self.groups, kind="stable")
        self.values = column.codes[order].astype(np.int64)
        self.sizes = np.bincount(self.groups)
        self.start = np.concatenate(([0], np.cumsum(self.sizes)))

    def counts(self, query: Query) -> Floats:
        """Let each record of a cell count for all values of its group, in proportion."""
        rows = np.flatnonzero(query.of_record >= 0)
        group = self.groups[rows]
        length = self.sizes[group]
        at = np.repeat(self.start[group] - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        place = np.repeat(query.of_record[rows], length) * self.size + self.values[at]
        found = np.bincount(place, np.repeat(1 / length, length), query.count * self.size)
        return found.astype(np.float64).reshape(query.count, self.size)


@dataclass(frozen=True, eq=False)
class _Cells:
    """What the classes of a column show: the cell of each class, and of each cell its ends, members and share.

    A value that it reaches has the share 1 by whole numbers in an interval, or by members of a set.
    """

    of_class: Ints
    low: Ints
    high: Ints
    members: NDArray[np.uint64]
    share: Floats
    numeric: bool


class Classes:
    """A release by classes: what each of them shows, and the sensitive values of its records."""

    def __init__(self, table: Table, partition: Partition) -> None:
        [column] = table.sensitive.values()
        self.size = column.size
        covers = generalize(table, partition).covers
        self.cells = {name: _cells(cover) for name, cover in covers.items() if isinstance(cover, Cover)}
        key = partition.classes.astype(np.int64) * self.size + column.codes
        pairs, self.amount = np.unique(key, return_counts=True)
        self.of, self.value = np.divmod(pairs, self.size)

    def counts(self, query: Query) -> Floats:
        """Let each record count in every cell that its class reaches into, in proportion."""
        shown = [self.cells[name] for name in query.names]
        key = np.zeros(len(shown[0].of_class), dtype=np.int64)
        for one in shown:
            # numbered anew each time: there are no more kinds than classes, and products of them would not fit
            key = np.unique(key * len(one.share) + one.of_class, return_inverse=True)[1].reshape(-1)
        _, first = np.unique(key, return_index=True)
        pairs, place = np.unique(key[self.of] * self.size + self.value, return_inverse=True)
        amount = np.bincount(place.reshape(-1), self.amount).astype(np.float64)
        start = np.searchsorted(pairs // self.size, np.arange(len(first) + 1))
        own = [one.of_class[first] for one in shown]
        result = np.zeros((query.count, self.size))
        _spread_out(
            query.codes,
            _skips(query.codes),
            np.array([one.numeric for one in shown]),
            np.stack([one.low[at] for one, at in zip(shown, own, strict=True)], axis=1),
            np.stack([one.high[at] for one, at in zip(shown, own, strict=True)], axis=1),
            np.stack([one.members[at] for one, at in zip(shown, own, strict=True)], axis=1),
            np.prod([one.share[at] for one, at in zip(shown, own, strict=True)], axis=0),
            start,
            pairs % self.size,
            amount,
            result,
        )
        return result


def _cells(cover: Cover) -> _Cells:
    column = cover.column
    _, first, of_class = np.unique(cover.cell, return_index=True, return_inverse=True)
    low, high = cover.low[first], cover.high[first]
    if column.positions is not None:
        share = 1 / (column.positions[high] - column.positions[low] + 1)
        return _Cells(of_class.reshape(-1), low, high, np.zeros(len(first), np.uint64), share, True)
    if column.size > MOST_CODES:
        raise ValueError(f"column '{column.name}' has more than {MOST_CODES} categories.")
    members = np.bitwise_or.reduceat(np.uint64(1) << cover.codes.astype(np.uint64), cover.start[:-1])[first]
    return _Cells(of_class.reshape(-1), low, high, members, 1 / cover.distinct[first], False)


def _skips(codes: Ints) -> Ints:
    """Return for each cell and each level the next cell that differs from it up to that level."""
    count, levels = codes.shape
    result = np.empty((count, levels), dtype=np.int64)
    differs = np.zeros(max(count - 1, 0), dtype=np.bool_)
    for level in range(levels):
        differs |= codes[1:, level] != codes[:-1, level]
        ends = np.append(np.flatnonzero(differs) + 1, count)
        result[:, level] = ends[np.searchsorted(ends, np.arange(count), side="right")]
    return result


def _spread_plainly(
    codes: Ints,
    skips: Ints,
    numeric: NDArray[np.bool_],
    low: Ints,
    high: Ints,
    members: NDArray[np.uint64],
    share: Floats,
    start: Ints,
    value: Ints,
    amount: Floats,
    result: Floats,
) -> None:
    """Add the records of each kind of class to the cells that it reaches into."""
    for kind in range(len(share)):
        cell = 0
        while cell < len(codes):
            missed = -1
            for level in range(codes.shape[1]):
                code = codes[cell, level]
                if numeric[level]:
                    reached = low[kind, level] <= code <= high[kind, level]
                else:
                    reached = (members[kind, level] >> np.uint64(code)) & np.uint64(1) == np.uint64(1)
                if not reached:
                    missed = level
                    break
            if missed >= 0:
                cell = skips[cell, missed]
                continue
            for at in range(start[kind], start[kind + 1]):
                result[cell, value[at]] += share[kind] * amount[at]
            cell += 1


_spread_out = kernel(_spread_plainly)


# Errors


def truth(table: Table, query: Query) -> Floats:
    """Return how many records of each cell have each sensitive value."""
    [column] = table.sensitive.values()
    rows = np.flatnonzero(query.of_record >= 0)
    place = query.of_record[rows] * column.size + column.codes[rows]
    found = np.bincount(place, minlength=query.count * column.size)
    return found.astype(np.float64).reshape(query.count, column.size)


def errors(true: Floats, found: Floats) -> Floats:
    """Return the paper's MSE of each cell: the mean, over the values, of the squared error of their shares."""
    return np.asarray((((true - found) / true.sum(axis=1)[:, None]) ** 2).mean(axis=1))


def own_shares(true: Floats, found: Floats) -> Floats:
    """Return counts that sum up to the records of the cell: what is estimated of a cell, by its own estimated size."""
    total = found.sum(axis=1)[:, None]
    even = true.sum(axis=1)[:, None] / true.shape[1]
    scaled = found * true.sum(axis=1)[:, None] / np.where(total > 0, total, 1.0)
    return np.asarray(np.where(total > 0, scaled, even))


class Tally:
    """Errors of many queries: the mean over cells of each, and then over queries, of all cells and of large ones."""

    def __init__(self) -> None:
        self.queries = self.cells = self.with_large = self.large_cells = 0
        self.all: dict[str, float] = {}
        self.large: dict[str, float] = {}
        self.own: dict[str, float] = {}
        self.own_large: dict[str, float] = {}
        self.squares: dict[str, float] = {}

    def add(self, table: Table, query: Query, releases: Mapping[str, Sets | Groups | Classes | None]) -> None:
        """Put one query to all releases."""
        true = truth(table, query)
        large = true.sum(axis=1) >= LARGE
        self.queries += 1
        self.cells += query.count
        self.with_large += bool(large.any())
        self.large_cells += int(large.sum())
        for way, counts in answers(query, releases):
            error = errors(true, counts)
            _count(self.all, way, error)
            self.squares[way] = self.squares.get(way, 0.0) + float(error.mean()) ** 2
            _count(self.large, way, error[large])
            if way in SPREAD:
                error = errors(true, own_shares(true, counts))
                _count(self.own, way, error)
                _count(self.own_large, way, error[large])

    def figures(self) -> dict[str, Any]:
        """Return what is kept: mean errors by way, and how many queries and cells they are of."""
        return {
            "queries": self.queries,
            "cells": round(self.cells / max(self.queries, 1), 1),
            "mse": _means(self.all, self.queries),
            "se": self._standard_errors(),
            "large": _means(self.large, self.with_large),
            "large queries": self.with_large,
            "large cells": round(self.large_cells / max(self.with_large, 1), 1),
            "own": _means(self.own, self.queries),
            "own large": _means(self.own_large, self.with_large),
        }

    def _standard_errors(self) -> dict[str, float]:
        """Return that of each mean over queries."""
        n = self.queries
        if n < 2:
            return {}
        spread = {way: max(self.squares[way] - total**2 / n, 0.0) / (n - 1) for way, total in self.all.items()}
        return {way: float(f"{math.sqrt(one / n):.3g}") for way, one in spread.items()}


def _count(sums: dict[str, float], way: str, error: Floats) -> None:
    sums[way] = sums.get(way, 0.0) + (float(error.mean()) if len(error) else 0.0)


def answers(
    query: Query, releases: Mapping[str, Sets | Groups | Classes | None], estimators: Sequence[str] = tuple(ESTIMATORS)
) -> list[tuple[str, Floats]]:
    """Return what each release that there is says of a query, by way."""
    found = []
    for name, release in releases.items():
        if isinstance(release, Sets):
            found += [(way, release.counts(query, way)) for way in estimators]
        elif release is not None:
            found.append((name, release.counts(query)))
    return found


def _means(sums: Mapping[str, float], count: int) -> dict[str, float]:
    return {way: float(f"{total / count:.6g}") for way, total in sums.items()} if count else {}
