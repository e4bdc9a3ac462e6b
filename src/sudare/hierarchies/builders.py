"""Hierarchies that follow from the values themselves: prefixes, dates, or no levels at all.

The leaves are the column's distinct values; the root is ``*``. Everything is done on whole arrays, so that a
million distinct values take seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import HierarchyError, Problem
from sudare.hierarchies.hierarchy import ROOT, Hierarchy
from sudare.hierarchies.leaf_labels import TEXT, distinct, text
from sudare.hierarchies.value_kinds import kind_in_words

MASK = "*"
"""What stands for each character that a prefix hides."""

_DATE_LEVELS = ("day", "month", "quarter", "year")


def flat(values: pa.Array, *, source: str = "flat") -> Hierarchy:
    """Put every value directly below the root: a value is shown unchanged, or not at all."""
    leaves = pc.unique(text(distinct(values)))
    if pc.any(pc.equal(leaves, ROOT)).as_py():
        raise HierarchyError(
            Problem(
                source,
                f"the column holds the value '{ROOT}', which is also the label of the root.",
                "a release could not distinguish them: use a hierarchy file with another root.",
            )
        )
    return Hierarchy.stacked([leaves, constant(ROOT, len(leaves))], source=source, names=("value", "all"))


def prefix(lengths: Sequence[int], values: pa.Array, *, source: str = "prefix") -> Hierarchy:
    """Hide the ends of codes: with lengths [5, 3, 2] 90210 becomes 902**, then 90***, then ``*``.

    The first length is that of the longest code. A shorter one becomes the same as its longer neighbours: with [5, 3,
    1] both E11.9 and E11 become ``E11**``; E1 stays as it is there, and then becomes ``E****``. Where all values are
    digits they need the first length, because a number may have lost its leading zeros. None may hold the mask
    character.
    """
    if not lengths or min(lengths) < 1 or sorted(set(lengths), reverse=True) != list(lengths):
        raise HierarchyError(Problem(source, "prefix lengths must be whole, at least 1, and fall, as in [5, 3, 2]."))
    leaves = pc.unique(text(distinct(values)))
    full = lengths[0]
    sizes = pc.utf8_length(leaves)
    digits = not _count(pc.invert(pc.match_substring_regex(leaves, rf"^[0-9{MASK}]*$")))
    wrong = _count(pc.not_equal(sizes, full) if digits else pc.greater(sizes, full))
    masked = _count(pc.match_substring(leaves, MASK))
    problems = []
    if wrong and digits:
        problems.append(
            Problem(
                source,
                f"{wrong:,} of {len(leaves):,} distinct values do not have {full} characters, the first prefix length.",
                "give all values one length first (numbers lose their leading zeros), or use a hierarchy file.",
            )
        )
    elif wrong:
        problems.append(
            Problem(
                source,
                f"{wrong:,} of {len(leaves):,} distinct values are longer than {full}, the first prefix length.",
                "the first length is that of the longest code.",
            )
        )
    if masked:
        problems.append(
            Problem(
                source,
                f"{masked:,} of {len(leaves):,} distinct values hold the character '{MASK}', which masks a prefix.",
                "use a hierarchy file for masked values.",
            )
        )
    if problems:
        raise HierarchyError(problems)
    columns = [leaves]
    for length in lengths[1:]:
        start = pc.utf8_rpad(pc.utf8_slice_codeunits(leaves, 0, length), width=full, padding=MASK)
        columns.append(pc.if_else(pc.less(sizes, length), leaves, start))
    names = [f"{length} characters" if length > 1 else "1 character" for length in lengths]
    return Hierarchy.stacked([*columns, constant(ROOT, len(leaves))], source=source, names=[*names, "all"])


def dates(levels: Sequence[str], values: pa.Array, *, source: str = "dates") -> Hierarchy:
    """Coarsen dates: day 2024-03-05, month 2024-03, quarter 2024-Q1, year 2024, then ``*``.

    ``levels`` are some of day, month, quarter and year, in this order. The leaf is always the value itself, so
    ``day`` adds a level only above times of day. A time with a zone falls on the day it shows on its own clock.
    """
    problems = []
    if not levels or list(levels) != [level for level in _DATE_LEVELS if level in levels]:
        problems.append(Problem(source, "date levels must go from day to year, as in [day, month, year]."))
    values = distinct(values)
    if not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type) or not len(values)):
        problems.append(
            Problem(
                source,
                f"date levels need dates or times; this column holds {kind_in_words(values.type)}.",
                "write dates as 2024-03-05, or use a hierarchy file.",
            )
        )
    if problems:
        raise HierarchyError(problems)
    if not len(values):
        values = pa.array([], pa.date32())
    moments = pc.local_timestamp(values) if getattr(values.type, "tz", None) else values
    days = np.asarray(moments).astype("datetime64[D]")
    # Dates that were stored as midnights, as some data frames do, are dates.
    timed = pa.types.is_timestamp(values.type) and bool(np.any(np.asarray(moments) != days))
    if timed:
        columns, names = [text(values)], ["time"]
    else:
        columns, names = [pc.cast(pa.array(days, pa.date32()), TEXT)], ["day"]
    for level in levels:
        if level != "day" or timed:
            columns.append(_PERIODS[level](days))
            names.append(level)
    return Hierarchy.stacked([*columns, constant(ROOT, len(values))], source=source, names=[*names, "all"])


def constant(label: str, size: int) -> pa.Array:
    """Return a column that holds one label everywhere."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, dtype=np.int32)), pa.array([label], TEXT))


def encoded(keys: NDArray[Any], label: Callable[[NDArray[Any]], Sequence[str]]) -> pa.Array:
    """Return the labels of keys as a dictionary in the order of the keys; ``label`` names the distinct ones."""
    present, codes = np.unique(keys, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(label(present), TEXT))


def _day(days: NDArray[np.datetime64]) -> pa.Array:
    return encoded(days, lambda present: np.datetime_as_string(present).tolist())


def _month(days: NDArray[np.datetime64]) -> pa.Array:
    return _day(days.astype("datetime64[M]"))


def _quarter(days: NDArray[np.datetime64]) -> pa.Array:
    quarters = days.astype("datetime64[M]").astype(np.int64) // 3  # since 1970, so 0 is 1970-Q1
    return encoded(quarters, lambda present: [f"{1970 + q // 4:04d}-Q{q % 4 + 1}" for q in present.tolist()])


def _year(days: NDArray[np.datetime64]) -> pa.Array:
    return _day(days.astype("datetime64[Y]"))


_PERIODS = {"day": _day, "month": _month, "quarter": _quarter, "year": _year}


def _count(condition: pa.Array) -> int:
    return int(pc.sum(condition).as_py() or 0)
