"""The texts of values in released cells, many at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import UnsupportedError
from sudare.core.sizes import LARGEST_INT32
from sudare.releases.cell_values import number_text
from sudare.table import Column, inside_runs

Ints = NDArray[np.integer[Any]]
LONGEST_TEXT = LARGEST_INT32
"""The bytes that one Arrow array of text can hold."""

_PERHAPS_SPECIAL = r'^$|^[^\pL\pN]|[^\pL\pN]$|[,{}"]|^null$'  # for Arrow, which has another idea of white space


def value_texts(column: Column, codes: Ints | None = None) -> pa.Array:
    """Return the text of each value of a column (or of these codes), as a release shows it when not generalized."""
    values = column.values if column.positions is None else _writable(column)
    if codes is not None:
        values = values.take(pa.array(codes))
    kind = values.type
    if column.positions is None or pa.types.is_integer(kind):
        return values.cast(pa.large_string())
    if pa.types.is_duration(kind):
        return pa.array(_duration_texts(values), pa.large_string())
    if getattr(kind, "unit", "") == "ns":  # Python's own types would cut these off
        return pc.replace_substring(values.cast(pa.large_string()), " ", "T")
    return pa.array([number_text(value) for value in values.to_pylist()], pa.large_string())


def _writable(column: Column) -> pa.Array:
    """Return numbers, dates and times as a type that says as much as all of them need, and no more."""
    values, kind = column.values, column.values.type
    assert column.positions is not None
    if pa.types.is_timestamp(kind) and not kind.tz and not np.any(column.positions % 86_400):
        return values.cast(pa.date32())  # midnights are days; pandas has no other way to say so
    if getattr(kind, "unit", "") == "ns" and not pa.types.is_duration(kind):
        with suppress(pa.ArrowInvalid):  # which says that some do need nanoseconds
            return values.cast(pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else pa.time64("us"))
    return values


def _duration_texts(values: pa.Array) -> list[str]:
    """Write durations in seconds; Python's "1 day, 2:00:00" would cut an interval in the wrong place."""
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[values.type.unit]
    numbers = values.cast(pa.int64()).to_pylist()
    return [f"PT{Decimal(number).scaleb(-digits).normalize():f}S" for number in numbers]


def joined_runs(name: str, texts: pa.Array, start: Ints, length: Ints, codes: Ints, separator: str) -> pa.Array:
    """Return, for each run of codes, their texts joined; raise before that of column ``name`` fills the memory."""
    inside = codes[inside_runs(start, length)]
    sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    if len(inside) and int(sizes[inside].sum(dtype=np.int64)) + len(separator.encode()) * len(inside) > LONGEST_TEXT:
        raise too_long(name)
    offsets = pa.array(np.concatenate(([0], np.cumsum(length))), pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, texts.take(pa.array(inside)))
    return pc.binary_join(lists, pa.scalar(separator, texts.type))


def put_together(*parts: str | pa.Array) -> pa.Array:
    """Return texts put together from these parts, one after the other; with a null among them, null."""
    texts = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in (*parts, "")]
    return pc.binary_join_element_wise(*texts)


def too_long(name: str) -> UnsupportedError:
    """Return what to raise about a column whose sets cannot be written."""
    return UnsupportedError(
        f"column '{name}' would be released as sets of so many categories that their text exceeds 2 GB.",
        hint="give it a hierarchy, such as {prefix: [...]}, or set kind: numeric, or remove it.",
    )


def quoted(texts: pa.Array, special: Callable[[str], bool]) -> pa.Array:
    """Return texts with those quoted as in JSON that could be taken for something else."""
    perhaps = np.flatnonzero(pc.match_substring_regex(texts, _PERHAPS_SPECIAL).to_numpy(zero_copy_only=False))
    if not len(perhaps):
        return texts
    shown = [
        json.dumps(text, ensure_ascii=False) if special(text) else text
        for text in texts.take(pa.array(perhaps)).to_pylist()
    ]
    which = np.zeros(len(texts), dtype=np.bool_)
    which[perhaps] = True
    return pc.replace_with_mask(texts, pa.array(which), pa.array(shown, texts.type))
