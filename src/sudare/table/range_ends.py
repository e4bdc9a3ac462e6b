"""Safe ends of ranges: a rare value is replaced by a round number beyond it.

The ends of a range are values of the table. The smallest income of a class is somebody's income, and the largest of all
incomes belongs to a person whom everybody knows. So an end is shown unchanged only if ``least`` records (or people)
hold that value. Otherwise it moves outward, to the finest round number that as many share:

- numbers: multiples of 1, 2 or 5 times a power of ten;
- dates: the first of a month, of a quarter, of a year, then of 2, 5, 10, ... years;
- times: full seconds, minutes, hours and days before these; times of day stay within their day.

A round number serves as a lower end if ``least`` records hold rare values between it and the next number of its kind.
The range may begin with any of these. Common values do not count: they are shown unchanged, so that an intruder would
exclude them. Where no step gathers that many, the first step that is as wide as the column is taken.

The work grows with the number of different values, times the number of steps, of which there are about three for each
decimal place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.sizes import LARGEST_INT64

Ints = NDArray[np.int64]
Whole = NDArray[Any]
"""Whole numbers: of 64 bits, or Python's own where these do not suffice."""

_DIGITS = 8
"""The decimal places, of a column's width, to which fractions are rounded first."""
_PRECISE = 14
"""The decimal places that a float surely holds, of any number."""
_EXACT_POWER = 22
"""Powers of ten up to this one are floats."""
_LARGEST = LARGEST_INT64
_SAFE = 1 << 61
"""Whole numbers below this can be rounded up in 64 bits."""
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_DAY = 86_400


@dataclass(frozen=True, eq=False)
class Ends:
    """What a range shows at its ends: ``values[low[code]]`` where it begins, ``values[high[code]]`` where it ends.

    ``values`` are those of the column, followed by the round numbers that stand for some of them. ``positions`` are
    their places on the column's axis.
    """

    values: pa.Array
    positions: NDArray[np.float64]
    low: Ints
    high: Ints


def safe_ends(values: pa.Array, positions: NDArray[np.float64], held: Ints, alone: Ints, least: int) -> Ends | None:
    """Return the ends that a column shows; None if all its values may be shown unchanged.

    ``values`` are ascending. ``held`` is how many records or people hold each value. ``alone`` is the same where each
    person counts once for the whole column, so that it may be added up; of records it is equal to ``held``.
    """
    rare = held < least
    if not rare.any():
        return None
    axis = _axis(values)
    counts = np.where(rare, alone, 0)
    low = _outward(axis, counts, rare, least, up=False)
    high = _outward(axis, counts, rare, least, up=True)
    return _joined(values, positions, axis, rare, low, high)


class _Step(NamedTuple):
    """A step of rounding: down, and up; a round number stays."""

    down: Callable[[Whole], Whole]
    up: Callable[[Whole], Whole]


@dataclass(frozen=True, eq=False)
class _Axis:
    """The values of a column as whole numbers of a unit, and how to round them.

    ``below`` and ``above`` are equal but for fractions that lie between two whole numbers. ``steps`` are steps of
    rounding, from fine to coarse. ``arrow`` turns whole numbers back into values, and ``scale`` is a unit on the
    column's axis. What is within ``least`` and ``most`` is not rounded beyond them.
    """

    below: Whole
    above: Whole
    steps: Callable[[], Iterator[_Step]]
    arrow: Callable[[list[int]], pa.Array]
    scale: float
    least: int | None = None
    most: int | None = None


def _axis(values: pa.Array) -> _Axis:
    kind = values.type
    if pa.types.is_floating(kind):
        return _fractions(values.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if pa.types.is_decimal(kind):
        digits = int(kind.scale)
        whole = _fitting([int(value.as_py().scaleb(digits)) for value in values])
        wide = pa.decimal256(76, digits)
        return _Axis(
            below=whole,
            above=whole,
            steps=lambda: _decimal_steps(whole, 2),
            arrow=lambda found: pa.array([Decimal(each).scaleb(-digits) for each in found], wide),
            scale=10.0**-digits,
        )
    if pa.types.is_integer(kind):
        whole = _fitting(values.to_pylist() if pa.types.is_uint64(kind) else values.cast(pa.int64()).to_numpy())
        return _Axis(whole, whole, lambda: _decimal_steps(whole, 2), _integers, 1.0)
    return _temporal(values)


def _integers(found: list[int]) -> pa.Array:
    small = all(-LARGEST_INT64 - 1 <= each <= LARGEST_INT64 for each in found)
    return pa.array(found, pa.int64()) if small else pa.array([Decimal(each) for each in found], pa.decimal128(38, 0))


def _fractions(given: NDArray[np.float64]) -> _Axis:
    """Return fractions as whole numbers of a power of ten that is as fine as a reader could want."""
    with np.errstate(over="ignore"):
        width = float(given[-1] - given[0])
    quartered = not np.isfinite(width)  # as the axis of such a column is
    bound = float(np.finfo(np.float64).max)
    largest = max(abs(float(given[0])), abs(float(given[-1])), float(np.finfo(np.float64).tiny))
    width = bound if quartered else width or largest
    finest = max(_magnitude(width) - _DIGITS, _magnitude(largest) - _PRECISE)

    def shown(whole: int) -> float:
        return min(max(float(Decimal(whole).scaleb(finest)), -bound), bound)

    below, above = _around(given, finest, shown)
    return _Axis(
        below=below,
        above=above,
        steps=lambda: _decimal_steps(above, 1),
        arrow=lambda found: pa.array([shown(each) for each in found]),
        scale=(0.25 if quartered else 1.0) * 10.0**finest,
    )


def _magnitude(size: float) -> int:
    return int(np.floor(np.log10(size)))


def _around(given: NDArray[np.float64], exponent: int, shown: Callable[[int], float]) -> tuple[Whole, Whole]:
    """Return the whole numbers of a power of ten that are next to fractions: below, and above.

    Both are the same where the number, as text, is the fraction itself.
    """
    if abs(exponent) <= _EXACT_POWER:
        power = 10.0 ** abs(exponent)
        near = np.rint(given * power if exponent < 0 else given / power)
        # of exact numbers a quotient or product is the float next to the truth, which is what the text is read as
        back = near / power if exponent < 0 else near * power
        whole = near.astype(np.int64)
    else:
        whole = np.array([round(Decimal(each).scaleb(-exponent)) for each in given.tolist()], dtype=np.int64)
        back = np.array([shown(each) for each in whole.tolist()])
    return whole - (back > given), whole + (back < given)


def _fitting(whole: Any) -> Whole:
    """Return whole numbers in 64 bits if these leave room for rounding, otherwise as Python's own."""
    if isinstance(whole, np.ndarray):
        small = not len(whole) or max(abs(int(whole[0])), abs(int(whole[-1]))) < _SAFE
        return whole.astype(np.int64) if small else np.array(whole.tolist(), dtype=object)
    small = all(abs(each) < _SAFE for each in whole)
    return np.array(whole, dtype=np.int64 if small else object)


def _multiples(step: int) -> _Step:
    return _Step(lambda given: given // step * step, lambda given: -(-given // step) * step)


def _decimal_steps(whole: Whole, first: int) -> Iterator[_Step]:
    """Round to multiples of 1, 2, 5, 10, 20, ... up to the width of the column."""
    width = int(whole[-1]) - int(whole[0])
    power = 1
    while True:
        for factor in (1, 2, 5):
            step = factor * power
            if step >= first:
                yield _multiples(step)
                if step >= width:
                    return
        power *= 10


def _temporal(values: pa.Array) -> _Axis:
    """Return dates, times and durations as whole numbers of their own unit."""
    kind = values.type
    narrow = pa.types.is_date32(kind) or pa.types.is_time32(kind)
    whole = values.cast(pa.int32()).cast(pa.int64()) if narrow else values.cast(pa.int64())
    if pa.types.is_date(kind):
        per_day = 1 if pa.types.is_date32(kind) else 1_000 * _DAY
        scale = 1 / per_day
    else:
        per_day, scale = _PER_SECOND[kind.unit] * _DAY, 1 / _PER_SECOND[kind.unit]
    numbers = _fitting(whole.to_numpy())

    def arrow(found: list[int]) -> pa.Array:
        plain = pa.array([min(max(each, -_LARGEST), _LARGEST) for each in found], pa.int64())
        return plain.cast(pa.int32()).cast(kind) if narrow else plain.cast(kind)

    if pa.types.is_duration(kind):
        return _Axis(numbers, numbers, lambda: _decimal_steps(numbers, 2), arrow, scale)
    if pa.types.is_time(kind):
        return _Axis(numbers, numbers, lambda: _clock_steps(numbers, per_day), arrow, scale, 0, per_day - 1)
    first, last = (int(np.datetime64(day, "D").astype(np.int64)) for day in ("0001-01-01", "9999-12-31"))
    low, high = max(first * per_day, -_LARGEST), min((last + 1) * per_day - 1, _LARGEST)
    return _Axis(numbers, numbers, lambda: _calendar_steps(numbers, per_day), arrow, scale, low, high)


def _clock_steps(whole: Whole, per_day: int) -> Iterator[_Step]:
    """Round to full seconds, minutes, hours and days, where values are finer."""
    for seconds in (1, 60, 3_600, _DAY):
        step = per_day * seconds // _DAY
        if step > 1 and np.any(whole % step != 0):
            yield _multiples(step)


def _calendar_steps(whole: Whole, per_day: int) -> Iterator[_Step]:
    """Round to full units of the clock, then to months, quarters, years, and 2, 5, 10, ... years."""
    yield from _clock_steps(whole, per_day)
    for months in (1, 3):
        yield _runs(per_day, months)
    width = (int(whole[-1]) - int(whole[0])) / per_day / 365
    power = 1
    while True:
        for factor in (1, 2, 5):
            yield _runs(per_day, 12 * factor * power)
            if factor * power > width:
                return
        power *= 10


def _runs(per_day: int, months: int) -> _Step:
    """Round to the first moment of runs of months; runs of years begin with year 0."""

    def first(whole: Whole, *, later: NDArray[np.bool_] | bool = False) -> Whole:
        days = np.asarray(whole // per_day, dtype=np.int64)
        month = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
        begun = (month // months + later) * months - 1970 * 12
        found = begun.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        return np.asarray(found.astype(whole.dtype) * per_day)

    return _Step(first, lambda whole: first(whole, later=np.asarray(first(whole) < whole, dtype=np.bool_)))


def _outward(axis: _Axis, counts: Ints, rare: NDArray[np.bool_], least: int, *, up: bool) -> Whole:
    """Return, for each rare value, the round number below it, or above."""
    given = axis.above if up else axis.below
    found, rounded = given.copy(), given
    waiting = rare.copy()
    for step in axis.steps():
        rounded = step.up(given) if up else step.down(given)
        begin = np.flatnonzero(np.concatenate(([True], rounded[1:] != rounded[:-1])))
        enough = np.add.reduceat(counts, begin) >= least
        reached = waiting & np.repeat(enough, np.diff(np.append(begin, len(given))))
        found[reached] = rounded[reached]
        waiting &= ~reached
        if not waiting.any():
            break
    found[waiting] = rounded[waiting]
    if axis.least is not None and axis.most is not None:
        found = np.where((found < axis.least) & (given >= axis.least), axis.least, found)
        found = np.where((found > axis.most) & (given <= axis.most), axis.most, found)
    return np.asarray(found)


def _joined(
    values: pa.Array, positions: NDArray[np.float64], axis: _Axis, rare: NDArray[np.bool_], low: Whole, high: Whole
) -> Ends:
    """Put the round numbers behind the values, each once; one that is a value is that value."""
    wanted = np.unique(np.concatenate((low[rare], high[rare])))
    near = np.minimum(np.searchsorted(axis.below, wanted), len(values) - 1)
    known = np.asarray((axis.below[near] == wanted) & (axis.above[near] == wanted), dtype=np.bool_)
    place = np.where(known, near, len(values) + np.cumsum(~known) - 1)
    extra = axis.arrow(wanted[~known].tolist())
    away = np.asarray(wanted[~known] - axis.below[near[~known]], dtype=np.float64)
    places = np.concatenate((positions, positions[near[~known]] + away * axis.scale))
    ends = []
    for numbers, further in ((low, np.minimum), (high, np.maximum)):
        of_code = np.arange(len(values))
        of_code[rare] = place[np.searchsorted(wanted, numbers[rare])]
        further.at(places, of_code[rare], positions[rare])  # rounding must not turn an interval inside out
        ends.append(of_code)
    kind = _common(values.type, extra.type)
    return Ends(pa.concat_arrays([values.cast(kind), extra.cast(kind)]), places, ends[0], ends[1])


def _common(kind: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return a type that values and round numbers share, and in which the values are written as ever."""
    if pa.types.is_decimal(kind):
        return pa.decimal256(76, kind.scale)
    if pa.types.is_integer(kind):
        wide = pa.types.is_decimal(other) or pa.types.is_uint64(kind)
        return pa.decimal128(38, 0) if wide else pa.int64()
    return pa.float64() if pa.types.is_floating(kind) else kind
