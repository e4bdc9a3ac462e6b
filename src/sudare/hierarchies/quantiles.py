"""Levels of numbers that follow from the values: ``hierarchy: auto``.

The distinct values are cut in two about in the middle, each half again, and so on: up to sixteen bands, above them
eight, four and two. A cut is the roundest number (a multiple of 1, 2 or 5 times a power of ten) in the middle third of
its part, and so are the outermost ends as round as the whole column is wide. So the bands nest, and their ends are
round numbers between values and not the values of somebody. How many records hold a value has no influence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import HierarchyError, Problem
from sudare.hierarchies.builders import constant
from sudare.hierarchies.hierarchy import ROOT, Hierarchy
from sudare.hierarchies.leaf_labels import TEXT, distinct, text
from sudare.hierarchies.value_kinds import is_number, not_numbers

_MOST_LEVELS = 4
_LEAST_VALUES = 6
"""As many different values, on average, have the narrowest bands."""
_CUTTABLE = 4

Span = tuple[int, int, Fraction, Fraction]
"""A part of the sorted values, from a place up to, without, another; and the ends of its band."""


def quantiles(values: pa.Array, *, source: str = "auto") -> Hierarchy:
    """Put numbers into nested bands with round ends, each with about as many different values as its neighbours."""
    values = distinct(values)
    kind = values.type
    if len(values) and not is_number(kind):
        held, hint = not_numbers(values)
        raise HierarchyError(Problem(source, f"auto makes levels of numbers; this column holds {held}.", hint))
    if pa.types.is_floating(kind):
        endless = len(values) - int(pc.sum(pc.is_finite(values)).as_py() or 0)
        if endless:
            what = f"{endless:,} of {len(values):,} distinct values are not finite numbers."
            raise HierarchyError(Problem(source, what, "mark them as missing."))
    order = pc.sort_indices(values)
    ordered = values.take(order)
    numbers = ordered.to_pylist()
    whole = pa.types.is_integer(kind)
    levels = _levels(numbers, whole)
    leaves = text(ordered)
    columns = [leaves]
    for spans in reversed(levels):
        sizes = [end - begin for begin, end, _, _ in spans]
        labels = pa.array([_band(low, high, whole) for _, _, low, high in spans], TEXT)
        columns.append(pa.DictionaryArray.from_arrays(pa.array(np.repeat(np.arange(len(spans)), sizes)), labels))
    names = [f"{len(spans)} bands" for spans in reversed(levels)]
    return Hierarchy.stacked([*columns, constant(ROOT, len(leaves))], source=source, names=["number", *names, "all"])


def _levels(numbers: Sequence[float | Decimal], whole: bool) -> list[list[Span]]:
    """Return the bands of each level, from the top."""
    depth = min(_MOST_LEVELS, max(len(numbers) // _LEAST_VALUES, 1).bit_length() - 1)
    if depth < 1:
        return []
    low, high = _outside(_exact(numbers[0]), _exact(numbers[-1]), whole)
    spans, levels = [(0, len(numbers), low, high)], []
    for _ in range(depth):
        spans = [part for span in spans for part in _halves(numbers, span, whole)]
        levels.append(spans)
    return levels


def _halves(numbers: Sequence[float | Decimal], span: Span, whole: bool) -> list[Span]:
    """Cut a band in two; one with few values stays as it is."""
    begin, end, low, high = span
    if end - begin < _CUTTABLE:
        return [span]
    third = -(-(end - begin) // 3)
    before, behind = _exact(numbers[begin + third - 1]), _exact(numbers[end - third])
    middle = _exact(numbers[(begin + end) // 2])
    cut = next(
        found
        for step in _steps(behind - before, whole)
        if (found := _nearest(before, behind, middle, step)) is not None
    )
    place = bisect_left(numbers, cut, lo=begin, hi=end, key=_exact)
    return [(begin, place, low, cut), (place, end, cut, high)]


def _nearest(before: Fraction, behind: Fraction, middle: Fraction, step: Fraction) -> Fraction | None:
    """Return the multiple of a step above ``before``, and not above ``behind``, that is nearest to the middle."""
    first, last = before // step + 1, behind // step
    return min(max(round(middle / step), first), last) * step if first <= last else None


def _steps(width: Fraction, whole: bool) -> Iterator[Fraction]:
    """Yield 5, 2 and 1 times powers of ten, from ten times a width down."""
    power = _power(10 * width)
    while True:
        for factor in (5, 2, 1):
            step = factor * power
            if not whole or step >= 1:
                yield step
        power /= 10


def _outside(least: Fraction, most: Fraction, whole: bool) -> tuple[Fraction, Fraction]:
    """Return round numbers below and above all values: multiples of a step as wide as about half of them."""
    step = next(step for step in _steps(most - least, whole) if step <= most - least)
    return least // step * step, (most // step + 1) * step


def _power(width: Fraction) -> Fraction:
    """Return the largest power of ten that is not above a width."""
    power = Fraction(10) ** (len(str(int(width))) - 1 if width >= 1 else -len(str(int(1 / width))))
    return power if power <= width else power / 10


def _exact(number: float | Decimal) -> Fraction:
    return Fraction(Decimal(str(number)))


def _band(low: Fraction, high: Fraction, whole: bool) -> str:
    if whole:
        return f"[{int(low)}, {int(high) - 1}]"
    return f"[{_decimal(low)}, {_decimal(high)})"


def _decimal(number: Fraction) -> str:
    """Write a number with few digits in full; its denominator is a divisor of a power of ten."""
    places = 0
    while number * 10**places % 1:
        places += 1
    units = int(number * 10**places)
    if not places:
        return str(units)
    sign, digits = ("-" if units < 0 else ""), str(abs(units)).zfill(places + 1)
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
