"""Random count queries: how many records have these values in one to three quasi-identifiers (and a sensitive column)?

Drawing. A query picks one, two or three quasi-identifiers, and by a coin a sensitive column, too. How many records it
is to have is drawn between 2% and half of them, on a logarithmic scale, and each of its d columns gets the d-th root of
that share: a number the range between two records that far apart, a category random values until they have the share.
A query that has less than 1% of the records is drawn again.

Answering. An analyst has the release alone. A record whose cell covers several values counts for each of them alike:
an interval of whole numbers for each number, any other by length, a set for each member, a node for each leaf below it.
Columns are spread independently. This is what ``sudare estimate`` does with a release; a test compares them.

Error. |estimate - truth| by the truth, which counts as :data:`SANE` records at least.

Reference: Xiao, Tao: Anatomy: simple and effective privacy preservation. VLDB 2006; Li, Li, Zhang: Slicing. TKDE 2012.
The bound: Vitter, Wang: Approximate computation of multidimensional aggregates. SIGMOD 1999.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.table import Column, Cover, Generalized, Table

Bools = NDArray[np.bool_]
Reals = NDArray[np.float64]
MOST_COLUMNS = 3
LEAST, FEWEST, MOST = 0.01, 0.02, 0.5
"""The share of the records that a query has at least, and between which its share is drawn."""
SANE = 10
"""Records that the truth counts for at least: an error of one record in one is no error of 100%."""
TRIES = 50
"""Draws for each query that is wanted, at most: few values may leave hardly any query that has enough records."""


@dataclass(frozen=True, eq=False)
class Condition:
    """What a query asks of a column: the codes that count, and of numbers the ends of their range."""

    column: Column
    codes: Bools
    low: float | None = None
    high: float | None = None

    @property
    def rows(self) -> Bools:
        """Which records of the table it is true of."""
        return np.asarray(self.codes[self.column.codes])


@dataclass(frozen=True, eq=False)
class Query:
    """Conditions on quasi-identifiers, perhaps one on a sensitive column, and how many records meet them all."""

    quasi: Mapping[str, Condition]
    sensitive: Condition | None
    truth: int

    def error(self, estimate: float) -> float:
        """Return the relative error of an estimate."""
        return abs(estimate - self.truth) / max(self.truth, SANE)

    @property
    def rows(self) -> Bools:
        """Which records meet the conditions on quasi-identifiers."""
        return _met(list(self.quasi.values()))


def draw_queries(table: Table, wanted: int, seed: int) -> list[Query]:
    """Draw queries about a table; fewer than wanted if its values leave no more, none without single-valued columns.

    Queries may use the columns of ``table.sensitive`` that hold single values.
    """
    columns = list(table.single.values())
    sensitive = [column for column in table.sensitive.values() if column.sets is None]
    if not columns or not table.rows:
        return []
    generator = np.random.default_rng([seed, 0x9E3779B9])
    found: list[Query] = []
    for _ in range(TRIES * wanted):
        if len(found) == wanted:
            break
        query = _draw(columns, sensitive, generator)
        if query.truth >= max(LEAST * table.rows, 1):
            found.append(query)
    return found


def _draw(columns: Sequence[Column], sensitive: Sequence[Column], generator: np.random.Generator) -> Query:
    picked = generator.permutation(len(columns))[: generator.integers(1, MOST_COLUMNS + 1)]
    with_secret = len(sensitive) > 0 and bool(generator.integers(2))
    share = float(np.exp(generator.uniform(np.log(FEWEST), np.log(MOST))))
    each = share ** (1 / (len(picked) + with_secret))
    conditions = [draw_condition(columns[place], each, generator) for place in picked]
    secret = None
    if with_secret:
        secret = draw_condition(sensitive[int(generator.integers(len(sensitive)))], each, generator)
    truth = int(np.count_nonzero(_met([*conditions, *([] if secret is None else [secret])])))
    return Query({condition.column.name: condition for condition in conditions}, secret, truth)


def _met(conditions: Sequence[Condition]) -> Bools:
    return np.asarray(np.logical_and.reduce([condition.rows for condition in conditions]))


def draw_condition(column: Column, share: float, generator: np.random.Generator) -> Condition:
    """Draw a condition that about such a share of the records meets."""
    counts = np.bincount(column.codes, minlength=column.size)
    values = len(column.values)
    if column.positions is not None and counts[:values].any():
        order = np.argsort(column.positions, kind="stable")  # by a hierarchy the codes may be in another
        reached = np.cumsum(counts[:values][order])
        begin = generator.uniform(0, 1 - share) * reached[-1]
        first, last = np.searchsorted(reached, [begin, begin + share * reached[-1]], side="right")
        low, high = (float(column.positions[order[min(end, values - 1)]]) for end in (first, last))
        codes = np.zeros(column.size, dtype=np.bool_)
        codes[:values] = (column.positions >= low) & (column.positions <= high)
        return Condition(column, codes, low, high)
    order = generator.permutation(column.size)
    reached = np.cumsum(counts[order])
    taken = int(np.searchsorted(reached, share * reached[-1])) + 1
    codes = np.zeros(column.size, dtype=np.bool_)
    codes[order[:taken]] = True
    return Condition(column, codes)


def estimates(shown: Generalized, queries: Sequence[Query]) -> list[float]:
    """Return what an analyst estimates for each query, from a release by classes."""
    classes = shown.partition.classes
    found = []
    for query in queries:
        share = np.ones(len(shown.sizes))
        for name, condition in query.quasi.items():
            cover = shown.covers[name]
            assert isinstance(cover, Cover)  # single-valued columns have no other
            share = share * covered(cover, condition)
        records: NDArray[Any] = shown.sizes
        if query.sensitive is not None:
            inside = query.sensitive.rows & (classes >= 0)
            records = np.bincount(classes[inside], minlength=len(shown.sizes))
        found.append(float((records * share).sum()))
    return found


def covered(cover: Cover, condition: Condition) -> Reals:
    """Return the share of each class's cell that a condition allows."""
    column, allowed = cover.column, condition.codes.astype(np.float64)
    if column.taxonomy is not None:
        tree = column.taxonomy
        below = np.where(tree.is_leaf, 1, np.maximum(tree.leaves, 1)).astype(np.float64)
        part = cover.total(allowed) / below[cover.node]
        # the root is read as all leaves of the hierarchy; that a cell may be missing, it does not say
        leaves = allowed[: len(column.values)].sum() / max(tree.size, 1)
        return np.where((cover.node == 0) & ~tree.is_leaf[0], leaves, part)
    if condition.low is None or condition.high is None:
        part = cover.total(allowed) / cover.distinct
        return np.where(cover.everything, float(allowed.mean()), part)
    assert column.positions is not None
    places = column.positions
    whole = bool((places == np.floor(places)).all())
    shown = places if column.ends is None else column.ends.positions
    first, final = (np.minimum(end, len(shown) - 1) for end in cover.ends)
    low = np.where(cover.everything, places[0], shown[first])
    high = np.where(cover.everything, places[-1], shown[final])
    missing = ~cover.everything & (cover.low >= len(places))
    return np.where(missing, 0.0, within(low, high, condition.low, condition.high, whole=whole))


def within(low: Reals, high: Reals, first: float, last: float, *, whole: bool) -> Reals:
    """Return which share of intervals lies within another; of whole numbers, or by length."""
    one = float(whole)
    length = high - low + one
    common = np.clip(np.minimum(high, last) - np.maximum(low, first) + one, 0.0, None)
    inside = (low >= first) & (low <= last)
    return np.where(length > 0, common / np.where(length > 0, length, 1.0), inside.astype(np.float64))
