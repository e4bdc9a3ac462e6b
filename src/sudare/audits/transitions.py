"""Matrices of random draws: how well they distinguish values, and what someone who knows them can infer.

``R[t, o]`` is the probability with which the truth t is shown as o. With a prior pi, what is shown has the distribution
q(o) = sum of pi(t) R[t, o], and whoever sees o believes s with pi(s) R[s, o] / q(o). On average over what somebody with
the truth t shows, s is believed

    B(t, s) = pi(s) K(t, s),    K(t, s) = sum over o of R[t, o] R[s, o] / q(o)

Where all truths but o itself show o with the same probability, R[t, o] = rest(o) + more(o) [t = o], and K falls apart:

    K(t, s) = H + v(t) + v(s) + [t = s] more(s)² / q(s),    H = sum of rest(o)² / q(o),    v(o) = rest(o) more(o) / q(o)

So the largest B(s, s) takes one pass, and so does the smallest B(t, s): for each s, the t with the smallest v. To keep
a value with p and else draw any of all m is rest = (1 - p) / m, more = p; to draw by the prior is rest = (1 - p) pi.
What nobody has by the prior is neither a truth nor a value that could be believed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Any

import duckdb
import pyarrow as pa

from sudare.policy import TOLERANCE

Shares = Sequence[float]

MANY = 1 << 21
"""How many products of two numbers are left to DuckDB, which takes a tenth of the time once it is there."""


@dataclass(frozen=True)
class Even:
    """A matrix in which all values except o show o equally often: ``rest[o]``, and o itself ``more[o]`` above that."""

    rest: Shares
    more: Shares

    @property
    def size(self) -> int:
        """The number of truths."""
        return len(self.rest)

    def spans(self) -> list[tuple[float, float]]:
        """Return the least and the largest probability with which each value is shown."""
        if self.size == 1:
            return [(self.rest[0] + self.more[0],) * 2]
        return [(rest + min(more, 0), rest + max(more, 0)) for rest, more in zip(self.rest, self.more, strict=True)]

    def shown(self, prior: Shares) -> list[float]:
        """Return the distribution of what is shown."""
        return [rest + share * more for rest, more, share in zip(self.rest, self.more, prior, strict=True)]

    def variances(self, prior: Shares) -> list[float]:
        """Return the variance that drawing adds to each shown count, per record."""
        both = zip(self.rest, self.more, prior, strict=True)
        return [(1 - share) * _spread(rest) + share * _spread(rest + more) for rest, more, share in both]

    def beliefs(self, prior: Shares) -> tuple[float, float]:
        """Return the most that is believed of anybody's truth, and the least that is believed of any value."""
        seen = [
            (place, rest, more, q)
            for place, (rest, more, q) in enumerate(zip(self.rest, self.more, self.shown(prior), strict=True))
            if q > 0
        ]
        common = math.fsum(rest * rest / q for _, rest, _, q in seen)
        cross, own = [0.0] * self.size, [0.0] * self.size
        for place, rest, more, q in seen:
            cross[place], own[place] = rest * more / q, more * more / q
        there = [place for place, share in enumerate(prior) if share > 0]
        truths = [prior[s] * (common + 2 * cross[s] + own[s]) for s in there]
        others = sorted(there, key=cross.__getitem__)[:2]
        least = min(truths)
        for s in there:
            t = next((place for place in others if place != s), None)
            if t is not None:
                least = min(least, prior[s] * (common + cross[t] + cross[s]))
        return max(truths), least

    def full(self) -> Full:
        """Return the matrix by its rows."""
        rows = [list(self.rest) for _ in self.rest]
        for place, more in enumerate(self.more):
            rows[place][place] += more
        return Full(rows)


@dataclass(frozen=True)
class Full:
    """Any matrix, by its rows; it may show more values than there are truths."""

    rows: Sequence[Shares]

    @property
    def size(self) -> int:
        """The number of truths."""
        return len(self.rows)

    @cached_property
    def _columns(self) -> list[tuple[float, ...]]:
        return list(zip(*self.rows, strict=True))

    @cached_property
    def _spans(self) -> list[tuple[float, float]]:
        return [(min(column), max(column)) for column in self._columns]

    def spans(self) -> list[tuple[float, float]]:
        """Return the least and the largest probability with which each value is shown."""
        return self._spans

    def shown(self, prior: Shares) -> list[float]:
        """Return the distribution of what is shown."""
        return [sum(map(mul, prior, column)) for column in self._columns]

    def variances(self, prior: Shares) -> list[float]:
        """Return the variance that drawing adds to each shown count, per record."""
        both = zip(self.shown(prior), self._columns, strict=True)
        return [q - sum(map(mul, map(mul, prior, column), column)) for q, column in both]

    def beliefs(self, prior: Shares, parts: Sequence[int] | None = None) -> tuple[float, float]:
        """Return the most that is believed of anybody's truth, and the least that is believed of any value.

        Where truths are combinations, ``parts`` gives the value of each that it is about: what is believed of a value
        is the sum over all combinations with it.
        """
        shown = self.shown(prior)
        values = range(self.size) if parts is None else parts
        there = [(t, value, share) for t, (value, share) in enumerate(zip(values, prior, strict=True)) if share > 0]
        believed: dict[int, list[float]] = {}
        for t, value, share in there:
            line = [share * cell / q if q > 0 else 0.0 for cell, q in zip(self.rows[t], shown, strict=True)]
            sofar = believed.get(value)
            believed[value] = line if sofar is None else [b + more for b, more in zip(sofar, line, strict=True)]
        truths = {t: value for t, value, _ in there}
        if len(truths) * len(believed) * len(shown) > MANY:
            return _extremes_by_query({t: self.rows[t] for t in truths}, truths, believed)
        most, least = 0.0, math.inf
        for t, own in truths.items():
            for value, line in believed.items():
                figure = sum(map(mul, self.rows[t], line))
                least = min(least, figure)
                if value == own:
                    most = max(most, figure)
        return most, least

    def full(self) -> Full:
        """Return the matrix by its rows."""
        return self


Matrix = Even | Full


def _extremes_by_query(
    rows: dict[int, Shares], truths: dict[int, int], believed: dict[int, list[float]]
) -> tuple[float, float]:
    """Return the largest product of a row with what is believed of its own value, and the least with any."""
    numbers = pa.list_(pa.float64())
    left = {"own": pa.array(truths.values(), pa.int64()), "line": pa.array(rows.values(), numbers)}
    right = {"value": pa.array(believed.keys(), pa.int64()), "line": pa.array(believed.values(), numbers)}
    with duckdb.connect() as connection:
        connection.register("truths", pa.table(left))
        connection.register("believed", pa.table(right))
        query = """
            SELECT max(figure) FILTER (own = value), min(figure) FROM (
                SELECT own, value, list_dot_product(t.line, b.line) AS figure FROM truths t, believed b
            )
        """
        [(most, least)] = connection.execute(query).fetchall()
    return most, least


def least_ratio(matrix: Matrix) -> float:
    """Return the least ratio of the probabilities with which two truths show the same; 0 if only one of them does."""
    return min((low / high for low, high in matrix.spans() if high > 0), default=0.0)


def read_matrix(told: Any, size: int) -> Matrix | str:
    """Return a matrix of a certificate, for so many values, or what is wrong with it."""
    if not isinstance(told, dict) or len(told) != 1 or next(iter(told)) not in ("p", "rows"):
        return "has neither {p} nor {rows}"
    if "p" in told:
        p = told["p"]
        if not _is_number(p) or not 0 <= p <= 1:
            return "has a p that is not a number from 0 to 1"
        return Even([(1 - p) / size] * size, [float(p)] * size)
    return read_rows(told["rows"], size)


def read_rows(rows: Any, size: int) -> Matrix | str:
    """Return a matrix from its rows, or its problem; rows are numbered from 0."""
    if not isinstance(rows, list) or len(rows) != size:
        return f"does not have a row for each of the {size:,} values"
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != size or not _are_numbers(row):
            return f"does not have {size:,} numbers in row {number}"
        if not _adds_up(row):
            return f"has a row that is not a distribution: row {number}"
    return _as_even(rows) or Full(rows)


def _as_even(rows: Sequence[Shares]) -> Even | None:
    """Return the matrix in its simpler form, if it has one."""
    size = len(rows)
    if size == 1:
        return Even([0.0], [float(rows[0][0])])
    rest = [rows[1][0], *rows[0][1:]]
    for place, row in enumerate(rows):
        if row[:place] != rest[:place] or row[place + 1 :] != rest[place + 1 :]:
            return None
    return Even(rest, [row[place] - rest[place] for place, row in enumerate(rows)])


def read_prior(told: Any, size: int, *, zeros: bool = False) -> list[float] | str:
    """Return a prior of a certificate, for so many values, or what is wrong with it; ``zeros`` are allowed or not."""
    if not isinstance(told, list) or len(told) != size or not _are_numbers(told):
        return f"is not a share for each of the {size:,} values"
    if not _adds_up(told) or (not zeros and min(told) == 0):
        return "does not consist of shares above 0 that add up to 1"
    return [float(share) for share in told]


def _adds_up(shares: Shares) -> bool:
    # what is far above 1 is not added: it may be too large for that
    return min(shares) >= 0 and max(shares) < 2 and abs(math.fsum(shares) - 1) <= TOLERANCE


def _is_number(value: object) -> bool:
    # by comparing: a whole number may be too large for what asks whether it is finite
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf


def _are_numbers(values: Sequence[object]) -> bool:
    """Return the same for many values, fast for a million: mostly their types are enough."""
    return (set(map(type, values)) == {float} and all(map(math.isfinite, values))) or all(map(_is_number, values))  # type: ignore[arg-type]


def _spread(probability: float) -> float:
    return probability * (1 - probability)
