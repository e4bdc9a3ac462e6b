"""What an intruder who uses all drawn columns of a record can infer about one of them, at most.

Somebody knows the distribution of the table and sees a whole record y. Let W(s, y) be the probability that the column
has the value s and the record shows y, and q(y) the sum over all s. Of people with the truth t, s is believed

    B(t, s) = sum over y of W(t, y) W(s, y) / q(y) / pi(t)

on average. Neither the release nor the certificate shows W. The certificate lists *combinations* of the column with
some others, each with a number of records that there are at least. So W is the sum of three parts:

- the combinations: every one shows y with the product of its rows of the matrices;
- the rest of the records, of which only the value of the column is known, by its prior. Whatever they hold in the
  listed columns, these show y with the product of the least probabilities of each value (the *floor*);
- what the rest shows beyond its floor: its mass is known, and it may show anything.

Of columns that are not listed nothing is known. The worst is that s has one combination there, and everybody else
another one, which differs in all columns. If a column keeps a value with p and else draws any of m, it shows the value
of s, that of everybody else, or one that says nothing. Any other matrix reveals at most what a coin does that is right
with the probability 1 / (1 + r), where r is its least ratio.

B(s, s) pi(s) = sum of W(s, y)² / q(y) is convex and homogeneous in W. So it is at most the sum of what it is for the
parts, and that of a part is at most the mass of s in it. It is also at most what it is if nothing is known of any
column. B(t, s) pi(t) is at least the sum over the combinations and floors, with a q to which the missing mass is added
where it harms most; 1 / (q + z) >= 1 / q - z / q². A column of which nothing is known takes the factor of the Cauchy-
Schwarz inequality. The bounds of :mod:`sudare.audits.transitions` for the column alone have to hold as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.audits.transitions import Even, Matrix, least_ratio

Array = NDArray[np.float64]

MOST_LIKELIHOODS = 243
"""Outcomes that are listed one by one; if there are more, they are put on a grid, between whose points they lie."""
GRID = 256
MOST_VALUES = 1024
"""Values of an attribute that is limited against all columns."""
MOST_SHOWN = 1 << 20
"""Values of the attribute times combinations that can be shown."""
MOST_COMPARED = 64
"""Values of which every two are compared by the combinations."""
MOST_LINES = 1 << 20


class Inferred(NamedTuple):
    """The most that is believed of a truth, the least of any value, and the most if one single record is shown."""

    alpha: float
    gamma: float
    record: float


@dataclass(frozen=True)
class Listed:
    """Combinations of attributes that a certificate lists: places of their values, and numbers of records."""

    columns: tuple[tuple[str, ...], ...]
    places: tuple[tuple[int, ...], ...]
    records: tuple[int, ...]


def read_listed(told: Any, sizes: Mapping[tuple[str, ...], int], rows: int) -> list[Listed] | str:
    """Return the combinations that a certificate lists for some records, or what is wrong with them.

    ``sizes`` are the attributes that are drawn, by their columns, each with the number of its values.
    """
    if told is None:
        return []
    if not isinstance(told, list) or not all(isinstance(one, Mapping) for one in told):
        return "is not a list of combinations"
    found: list[Listed] = []
    for one in told:
        names, lines = one.get("columns"), one.get("combinations")
        if not isinstance(names, list) or not all(isinstance(some, list) for some in names):
            return "does not name the columns of its combinations"
        columns = tuple(tuple(map(str, some)) for some in names)
        if len(columns) < 2 or len(set(columns)) < len(columns) or any(some not in sizes for some in columns):
            return "names columns that are not drawn, or names them twice"
        if any(columns[0] == other.columns[0] for other in found):
            return "lists the combinations of a column twice"
        if not isinstance(lines, list) or len(lines) > MOST_LINES:
            return "does not list combinations"
        widths = [sizes[some] for some in columns]
        if widths[0] * math.prod(widths) > MOST_SHOWN:
            return "has more combinations than can be gone through"
        if not all(_is_line(line, widths) for line in lines):
            return "has a combination that is not made of places and a number of records"
        places = tuple(tuple(line[:-1]) for line in lines)
        records = tuple(line[-1] for line in lines)
        if len(set(places)) < len(places):
            return "lists a combination twice"
        if sum(records) > rows:
            return "lists more records than there are"
        found.append(Listed(columns, places, records))
    return found


def _is_line(line: Any, widths: Sequence[int]) -> bool:
    if not isinstance(line, list) or len(line) != len(widths) + 1 or {type(each) for each in line} != {int}:
        return False
    return all(0 <= place < width for place, width in zip(line, widths, strict=False)) and line[-1] > 0


class Likelihoods(NamedTuple):
    """Pairs of probabilities of the same outcome: for somebody with a value, and for everybody else."""

    mine: Array
    theirs: Array


@dataclass(frozen=True, eq=False)
class _Parts:
    """What combinations, the rest and its floor show: an array by value, by shown own value, and by the others."""

    listed: Array
    floor: Array
    ceiling: Array
    rest: Array
    spread: float
    prior: Array


def inferred(
    prior: Sequence[float],
    values: Sequence[int],
    own: Matrix,
    listed: tuple[Listed | None, Sequence[Matrix]],
    unlisted: Sequence[Matrix],
    rows: int,
) -> Inferred:
    """Return what is inferred about a column at most.

    ``prior`` is that of its attribute, and ``values`` has its value in each value of the attribute. ``listed`` are
    combinations with other attributes, and the matrices of these; ``unlisted`` the matrices of all further ones.
    """
    combinations, others = listed
    parts = _parts(prior, values, own, combinations, others, rows)
    pi = parts.prior.sum(axis=1)
    if len(pi) < 2:
        return Inferred(1.0, 1.0, 1.0)
    everything, further = likelihoods([*others, *unlisted]), likelihoods(unlisted)
    beyond = parts.rest.sum(axis=1) * (1 - parts.spread)
    solid = parts.listed + parts.floor
    worst = _squares(parts.prior[:, :, None], everything)
    if combinations is not None:
        apart = _squares(parts.listed, further) + _squares(parts.rest[:, :, None], everything)
        worst = np.minimum(np.minimum(worst, apart), _squares(solid, further) + beyond)
    alphas = np.minimum(1.0, worst / pi)
    least = _cross(parts.prior[:, :, None]) * math.prod(map(_kept_overlap, [*others, *unlisted]))
    if combinations is not None and len(pi) <= MOST_COMPARED:
        missing = parts.rest.sum(axis=0) * (1 - parts.spread)
        least = np.maximum(least, (_cross(solid) - _harm(solid, missing)) * math.prod(map(_kept_overlap, unlisted)))
    least = least / pi[:, None]
    if len(pi) == 2:  # what is not believed of one value is believed of the other
        least = np.maximum(least, 1 - alphas[:, None])
    odds = math.prod(map(least_ratio, unlisted))
    most = parts.listed + parts.ceiling
    against = (solid.sum(axis=0) - solid).clip(min=0) * odds
    sure = _ratio(most, most + against)
    return Inferred(float(alphas.max()), float(least.min()), float(sure.max()))


def from_one_value(prior: Sequence[float], values: Sequence[int], own: Matrix) -> float:
    """Return the most that is believed of a column if one value of its attribute is shown, and no other column."""
    if isinstance(own, Even) and len(set(values)) == len(values):
        # a value is believed most where it is shown itself, or not at all more than before
        both = zip(own.rest, own.more, prior, strict=True)
        return max(
            (share * (rest + more) / (rest + share * more) for rest, more, share in both if share > 0), default=1.0
        )
    shown = _parts(prior, values, own, None, (), 1).prior
    return float(_ratio(shown, shown.sum(axis=0)[None]).max())


def ends(
    listed: Listed,
    kept: Sequence[int],
    matrices: Sequence[Matrix],
    prior: Sequence[float],
    rows: int,
    off: tuple[float, float],
) -> tuple[Array, Array]:
    """Return how often, as a share, some of the listed attributes show every combination in the mean: least and most.

    ``kept`` are the places of these attributes in the list, ascending, and ``matrices`` theirs. The rest of the records
    has the values of the first attribute that its prior says, and any values of the others. A share of the prior may be
    ``off``, in proportion and in any case: it is rounded, or the policy's.
    """
    dense = [_dense(matrix) for matrix in matrices]
    merged: dict[tuple[int, ...], float] = {}
    shares = np.zeros(len(prior))
    for place, records in zip(listed.places, listed.records, strict=True):
        some = tuple(place[at] for at in kept)
        merged[some] = merged.get(some, 0.0) + records / rows
        shares[place[0]] += records / rows
    rounded = off[0] * np.asarray(prior, float) + off[1]
    fewest = np.maximum(np.asarray(prior, float) - shares - rounded, 0.0)
    largest = np.maximum(np.asarray(prior, float) - shares, 0.0) + rounded
    shape = tuple(len(matrix) for matrix in dense)
    solid = np.zeros(math.prod(shape))
    for some, share in merged.items():
        line = np.full(1, share)
        for matrix, at in zip(dense, some, strict=True):
            line = (line[:, None] * matrix[at]).reshape(-1)
        solid += line
    low, high = (np.full(1, rest.sum()) if kept[0] else rest @ dense[0] for rest in (fewest, largest))
    for matrix in dense if kept[0] else dense[1:]:
        low = (low[:, None] * matrix.min(axis=0)).reshape(-1)
        high = (high[:, None] * matrix.max(axis=0)).reshape(-1)
    return (solid + low).reshape(shape), (solid + high).reshape(shape)


def _parts(
    prior: Sequence[float],
    values: Sequence[int],
    own: Matrix,
    combinations: Listed | None,
    others: Sequence[Matrix],
    rows: int,
) -> _Parts:
    matrix = _dense(own)
    side = [_dense(other) for other in others]
    shares = np.zeros(len(prior))
    lines = [] if combinations is None else list(zip(combinations.places, combinations.records, strict=True))
    for place, records in lines:
        shares[place[0]] += records / rows
    rest = np.maximum(np.asarray(prior, float) - shares, 0.0)
    total = float(shares.sum() + rest.sum())
    whole = (shares + rest) / total
    rest = rest / total
    named = sorted({value for value, share in zip(values, whole, strict=True) if share > 0})
    width = math.prod(len(other[0]) for other in side)
    # one line for each combination, of what its other columns show; it counts for its value of the attribute
    shown = np.zeros((len(prior), width))
    for place, records in lines:
        line = np.full(1, records / rows / total)
        for other, at in zip(side, place[1:], strict=True):
            line = (line[:, None] * other[at]).reshape(-1)
        shown[place[0]] += line
    low, high = np.ones(1), np.ones(1)
    for other in side:
        low = (low[:, None] * other.min(axis=0)).reshape(-1)
        high = (high[:, None] * other.max(axis=0)).reshape(-1)
    mine = [[at for at, value in enumerate(values) if value == name] for name in named]

    def by_value(given: Array) -> Array:
        return np.array([sum(matrix[at][:, None] * given[at] for at in some) for some in mine])

    return _Parts(
        by_value(shown),
        by_value(rest[:, None] * low),
        by_value(rest[:, None] * high),
        by_value(rest[:, None])[:, :, 0],
        float(low.sum()),
        by_value(whole[:, None])[:, :, 0],
    )


def likelihoods(matrices: Sequence[Matrix]) -> Likelihoods:
    """Return all outcomes of columns of which nothing is known, for somebody with a value and for everybody else."""
    mine, theirs = np.ones(1), np.ones(1)
    for matrix in matrices:
        one, other = _outcomes(matrix)
        mine, theirs = np.multiply.outer(mine, one).reshape(-1), np.multiply.outer(theirs, other).reshape(-1)
        if len(mine) > MOST_LIKELIHOODS:
            mine, theirs = _between(mine, theirs)
    return Likelihoods(mine, theirs)


def _outcomes(matrix: Matrix) -> tuple[Array, Array]:
    if isinstance(matrix, Even) and len(set(matrix.rest)) == 1 and len(set(matrix.more)) == 1 and matrix.more[0] >= 0:
        low, kept = matrix.rest[0], matrix.more[0]
        # with two values there is none that says nothing; it must not count as an outcome
        nothing = [] if matrix.size == 2 else [max(0.0, 1 - 2 * low - kept)]
        return np.array([low + kept, low, *nothing]), np.array([low, low + kept, *nothing])
    right = 1 / (1 + least_ratio(matrix))
    return np.array([right, 1 - right]), np.array([1 - right, right])


def _between(mine: Array, theirs: Array) -> tuple[Array, Array]:
    """Return outcomes on a grid of beliefs that reveal no less: each is replaced by the two points around it."""
    weight = mine + theirs
    there = weight > 0
    weight, belief = weight[there], mine[there] / weight[there] * GRID
    left = np.clip(np.floor(belief), 0, GRID - 1)
    mass = np.zeros(GRID + 1)
    np.add.at(mass, left.astype(int), weight * (left + 1 - belief))
    np.add.at(mass, left.astype(int) + 1, weight * (belief - left))
    points = np.linspace(0, 1, GRID + 1)
    return mass * points, mass * (1 - points)


def _squares(shown: Array, more: Likelihoods) -> Array:
    """Return the sum of W² / q for each value, with the outcomes of further columns."""
    whole = shown.sum(axis=0)
    sums = []
    for own in shown:
        total, others = 0.0, (whole - own).clip(min=0)
        for one, other in zip(more.mine, more.theirs, strict=True):
            top = own * one
            total += float((top * _ratio(top, top + others * other)).sum())
        sums.append(total)
    return np.array(sums)


def _cross(shown: Array) -> Array:
    """Return the sum of W(t) W(s) / q for every two values."""
    lines = shown.reshape(len(shown), -1)
    return np.asarray(_ratio(lines, lines.sum(axis=0)[None]) @ lines.T)


def _harm(shown: Array, missing: Array) -> Array:
    """Return how much the missing mass, by the own value that it shows, lowers each sum at most."""
    beliefs = _ratio(shown, shown.sum(axis=0)[None])
    return np.array([[float(missing @ (one * other).max(axis=1)) for other in beliefs] for one in beliefs])


def _kept_overlap(matrix: Matrix) -> float:
    """Return the square of the least sum of sqrt(R[a, o] R[b, o]) over what is shown, for two truths a and b."""
    if isinstance(matrix, Even):
        if matrix.size < 2:
            return 1.0
        gains = [math.sqrt(rest * (rest + more)) - rest for rest, more in zip(matrix.rest, matrix.more, strict=True)]
        return (math.fsum(matrix.rest) + sum(sorted(gains)[:2])) ** 2
    roots = np.sqrt(np.asarray(matrix.rows, float))
    return float((roots @ roots.T).min() ** 2)


def _dense(matrix: Matrix) -> Array:
    return np.asarray(matrix.full().rows, float)


def _ratio(top: Array, bottom: Array) -> Array:
    bottom = np.broadcast_to(bottom, top.shape)
    return np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0)
