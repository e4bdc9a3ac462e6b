"""Tests whether sets of dummies look like random draws, as far as a release can show this.

A set of l of the m values of a column holds the true value, and l - 1 of the others, all equally likely. For any true
values this implies

    q = (l - 1) / (m - 1)                        how likely a value is that is not the truth
    r = q (l - 2) / (m - 2)                      how likely two of them are

- A set is written in the order of the values: in any other order, the places could reveal the true one.
- No value is shown less often than dummies alone would show it: the sum of [a in X] - q over all records is 0 at least.
- Two values are shown together as often as follows from how often each is shown: with c = (q - r) / (1 - q) the sum of

      [a and b in X] - c ([a in X] + [b in X] - 2q) - r

  is 0 on average, for every truth, so that the truths need not be known.

Both sums are of independent terms of known variance, and are off by more than Bernstein's inequality allows in at most
one of a thousand million true releases. Dummies that are neighbours of the truth, or the same for all, are found in
some hundred records. A release that passes is not proven to be random: a draw that someone can repeat looks like any
other. Sets of people with several records are not independent, and sets by frequency have other probabilities: these
are not tested.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import Problem

ALARMS = 1e-9
"""The largest share of true releases that are refused."""
MOST_VALUES, MOST_WIDTH, MOST_ROWS = 300, 12, 1_000_000
"""Of larger domains, wider sets and further records nothing is counted."""


@dataclass
class SetCounts:
    """How often values are shown, and two of them together, in so many sets of one width; who is out of order."""

    rows: int = 0
    width: int = 0
    alone: Counter[str | None] = field(default_factory=Counter)
    together: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    unordered: int = 0
    uneven: bool = False
    """Whether sets differ in width, or are too wide or too many to count."""

    def add(self, other: SetCounts) -> None:
        """Take in what was counted elsewhere."""
        if not other.rows and not other.uneven:
            self.unordered += other.unordered
            return
        self.uneven = self.uneven or other.uneven or (bool(self.rows) and self.width != other.width)
        self.width = other.width or self.width
        self.rows += other.rows
        self.alone.update(other.alone)
        self.together.update(other.together)
        self.unordered += other.unordered

    def count(self, texts: Sequence[str | None], places: Any, lengths: Any) -> None:
        """Count some sets: ``places`` are those of their values among the texts, one set after the other."""
        widths = pc.unique(lengths).to_pylist()
        if len(widths) != 1 or not 1 < widths[0] <= MOST_WIDTH or len(set(texts)) > MOST_VALUES:
            self.uneven = True
        if self.uneven or self.rows >= MOST_ROWS or (self.rows and self.width != widths[0]):
            self.uneven = self.uneven or (bool(self.rows) and self.width != widths[0])
            return
        self.width = widths[0]
        self.rows += len(lengths)
        columns = [places.take(pa.array(range(at, len(places), self.width))) for at in range(self.width)]
        for found in pc.value_counts(places).to_pylist():
            self.alone[_text(texts, found["values"])] += found["counts"]
        for one, other in combinations(range(self.width), 2):
            pair = pa.table({"a": columns[one], "b": columns[other], "n": columns[one]})
            counted = pair.group_by(["a", "b"]).aggregate([([], "count_all")])
            for a, b, n in zip(*(counted.column(name).to_pylist() for name in ("a", "b", "count_all")), strict=True):
                self.together[_pair(_text(texts, a), _text(texts, b))] += n

    def look_at_order(self, texts: Sequence[str | None], places: Any, owner: Any, order: Order) -> None:
        """Note values that stand behind one that they should stand before; ``owner`` is the set of each."""
        ranks = pa.array([*map(order.rank, texts), order.rank(None)], pa.int64())
        found = ranks.take(pc.fill_null(places, len(texts)))
        same = pc.equal(owner.slice(1), owner.slice(0, len(owner) - 1))
        falling = pc.less(found.slice(1), found.slice(0, len(found) - 1))
        self.unordered += pc.sum(pc.and_(same, falling)).as_py() or 0


@dataclass(frozen=True)
class Order:
    """The order of the values of a column; numbers are known in few digits, since text may have fewer than they had."""

    places: Mapping[str | None, int]
    numbers: bool

    def rank(self, text: str | None) -> int | None:
        """Return the place of a value; None if it has none, which is reported elsewhere."""
        if text is not None and self.numbers:
            try:
                text = f"{float(text):.6g}"
            except ValueError:
                return None
        return self.places.get(text)


def order_of(told: Any) -> Order | None:
    """Return the order of the values of a column in a mechanism; None if it has none."""
    values = told.get("values") if isinstance(told, Mapping) else None
    if not isinstance(values, list) or not all(isinstance(v, str | int | float | None) for v in values):
        return None
    numbers = all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values)
    try:
        known = [None if v is None else f"{float(v):.6g}" if numbers else str(v) for v in values]
    except OverflowError:
        return None
    return Order({text: place for place, text in enumerate(known)}, numbers)


def doubts(found: SetCounts, column: str, told: Any, *, people: bool) -> list[Problem]:
    """Return the differences from a random draw by the mechanism of a column.

    ``people``: the policy has a subject, so sets may not be independent.
    """
    where = f"column '{column}'"
    problems = []
    if found.unordered:
        what = f"has {found.unordered:,} values in sets out of order: their places may reveal the true value."
        problems.append(Problem(where, what))
    if not isinstance(told, Mapping) or not isinstance(told.get("values"), list):
        return problems
    if told.get("repeated") and not people:
        what = (
            "shows the same sets for the records of one person (by the certificate), but the policy names no subject."
        )
        problems.append(Problem(f"certificate.mechanism.columns.{column}.repeated", what))
    values = len(told["values"])
    if people or told.get("frequencies", "uniform") != "uniform" or found.uneven or not found.rows:
        return problems
    if not 1 < found.width < values or len(found.alone) > values:
        return problems
    rare, odd = _unlikely(found, values)
    if rare:
        what = f"shows {rare:,} values less often than random dummies alone would."
        problems.append(Problem(where, what))
    if odd:
        what = f"shows {odd:,} pairs of values more or less often than random dummies would."
        problems.append(Problem(where, what))
    return problems


def _unlikely(found: SetCounts, values: int) -> tuple[int, int]:
    """Return how many values are shown too rarely, and how many pairs of them too often or too rarely."""
    n, width = found.rows, found.width
    q = (width - 1) / (values - 1)
    r = q * (width - 2) / (values - 2) if values > 2 else 0.0
    certainty = math.log(2 * (values + values * (values - 1) / 2) / ALARMS)
    known = list(found.alone)
    rare = sum(found.alone[a] - n * q < -_room(n * q * (1 - q), 1.0, certainty) for a in known)
    if len(known) < values and n * q > _room(n * q * (1 - q), 1.0, certainty):
        rare += values - len(known)
    c = (q - r) / (1 - q)
    rest = 2 * c * q - r
    terms = {0: rest, 1: rest - c, 2: rest + 1 - 2 * c}
    # the variance of a term where the truth is one of the two, and where it is neither
    one = q * terms[2] ** 2 + (1 - q) * terms[1] ** 2
    neither = r * terms[2] ** 2 + 2 * (q - r) * terms[1] ** 2 + (1 - 2 * q + r) * terms[0] ** 2
    room = _room(n * max(one, neither), max(map(abs, terms.values())), certainty)
    odd = 0
    for a, b in combinations(known, 2):
        off = found.together[_pair(a, b)] - c * (found.alone[a] + found.alone[b] - 2 * n * q) - n * r
        odd += abs(off) > room
    return rare, odd


def _room(variance: float, largest: float, certainty: float) -> float:
    """Return how far a sum of independent terms may be off (Bernstein)."""
    third = certainty * largest / 3
    return third + math.sqrt(third * third + 2 * certainty * max(variance, 0.0))


def _text(texts: Sequence[str | None], place: int | None) -> str | None:
    return None if place is None else texts[place]


def _pair(a: str | None, b: str | None) -> tuple[str | None, str | None]:
    return (a, b) if (a is None, a or "") <= (b is None, b or "") else (b, a)
