"""Bands of numbers: 23 lies in [20, 24], [20, 29] and [20, 39]."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import HierarchyError, Problem
from sudare.hierarchies.builders import constant, encoded
from sudare.hierarchies.hierarchy import ROOT, Hierarchy
from sudare.hierarchies.leaf_labels import distinct, text
from sudare.hierarchies.value_kinds import is_number, not_numbers

# Widths need be multiples of each other only up to this: 0.3 / 0.1 is 2.9999999999999996.
_ROUNDING = 1e-9

# A quotient so few units of rounding below a whole number is that number: 0.3 opens the band [0.3, 0.4). Never more
# than a thousandth of a band, however coarse the floats are.
_UNITS, _AT_MOST = 8.0, 1e-3

# Arrow's widest decimals have 76 digits; Python's usual context would round them to 28.
_PRECISE = Context(prec=160)


def bands(widths: Sequence[float], origin: float, values: pa.Array, *, source: str = "bands") -> Hierarchy:
    """Put numbers into bands from ``origin + i * width`` up to, without, ``origin + (i + 1) * width``.

    Each width is a multiple of the one before it, so that bands nest. Where column, widths and origin are whole,
    a band names its first and last number, "[20, 29]" (and a single number stands for itself); otherwise it is
    half-open, "[20, 30)".
    """
    values = distinct(values)
    ratios = [wide / narrow if narrow > 0 else 0.0 for narrow, wide in pairwise(widths)]
    problems = []
    if not widths or min(widths) <= 0 or any(r < 1.5 or abs(r - round(r)) > _ROUNDING for r in ratios):
        problems.append(
            Problem(source, "band widths must be above 0 and grow, each a multiple of the one before, as in [5, 10].")
        )
    if not (len(values) == 0 or is_number(values.type)):
        held, hint = not_numbers(values)
        problems.append(Problem(source, f"bands need a column of numbers; this one holds {held}.", hint))
    elif pa.types.is_floating(values.type):
        endless = len(values) - int(pc.sum(pc.is_finite(values)).as_py() or 0)
        if endless:
            problems.append(
                Problem(
                    source,
                    f"{endless:,} of {len(values):,} distinct values are not finite numbers.",
                    "mark them as missing.",
                )
            )
    if problems:
        raise HierarchyError(problems)
    if not len(values):
        values = pa.array([], pa.int64())
    # Ends of bands are counted in units of the last digit that widths and origin have, so that they stay exact.
    exact = [Decimal(str(number)).normalize() for number in (origin, *widths)]
    places = max(0, *(-int(number.as_tuple().exponent) for number in exact))
    start, *steps = (int(Fraction(number) * 10**places) for number in exact)
    closed = places == 0 and pa.types.is_integer(values.type)
    index = _indices(values, start, steps[0], places)
    leaves = text(values)
    columns = [leaves]
    for step in steps:
        label = partial(_labels, start=start, step=step, places=places, closed=closed)
        columns.append(encoded(index // round(step / steps[0]), label))
    names = ["number", *(f"bands of {_written(step, places)}" for step in steps), "all"]
    return Hierarchy.stacked([*columns, constant(ROOT, len(values))], source=source, names=names)


def _indices(values: pa.Array, start: int, step: int, places: int) -> NDArray[Any]:
    """Return the number of each value's narrowest band; the band at the origin is 0."""
    if pa.types.is_floating(values.type):
        wide = np.asarray(pc.cast(values, pa.float64()), dtype=np.float64)
        origin, width = start / 10**places, step / 10**places
        quotient = (wide - origin) / width
        nearest = np.round(quotient)
        precision = np.finfo(np.asarray(values).dtype).eps
        slack = _UNITS * precision * (np.abs(wide) + abs(origin)) / width
        opens = np.abs(quotient - nearest) <= np.minimum(slack, _AT_MOST)
        index = np.where(opens, nearest, np.floor(quotient))
        return index.astype(np.int64) if np.all(np.abs(index) < 2**62) else np.array([int(i) for i in index], object)
    if pa.types.is_integer(values.type):
        unit = 10**places
        low, high = (abs(int(bound.as_py() or 0)) for bound in pc.min_max(values).values())
        # Python's integers, only where 64 bits might overflow.
        narrow = max(low, high) * unit + abs(start) + step < 2**62
        numbers = np.asarray(values).astype(np.int64) if narrow else np.array(values.to_pylist(), dtype=object)
        return np.asarray((numbers * unit - start) // step)
    scale = max(places, values.type.scale)
    shift = 10 ** (scale - places)
    units = [int(_PRECISE.scaleb(value, scale)) for value in values.to_pylist()]
    return np.asarray((np.array(units, dtype=object) - start * shift) // (step * shift))


def _labels(indices: NDArray[Any], *, start: int, step: int, places: int, closed: bool) -> list[str]:
    lows = [start + index * step for index in indices.tolist()]
    if closed:
        return [f"[{low}, {low + step - 1}]" if step > 1 else str(low) for low in lows]
    return [f"[{_written(low, places)}, {_written(low + step, places)})" for low in lows]


def _written(units: int, places: int) -> str:
    """Write units of the last place as a plain decimal number."""
    if not places:
        return str(units)
    whole, rest = divmod(abs(units), 10**places)
    fraction = f"{rest:0{places}d}".rstrip("0")
    sign = "-" if units < 0 else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
