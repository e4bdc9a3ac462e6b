"""Released cells as text, and back.

=====================  ==========================================================================================
text                   meaning
=====================  ==========================================================================================
``39``                 one value, as it was
``[17, 25]``           a closed interval of numbers, dates or times
``{Cuba, Peru}``       one of these categories; ``null`` among them says that the value may be missing
a node's label         a node of the column's hierarchy
``*``                  anything, a missing value included
a null (empty in CSV)  the value is missing, for every record of the class
=====================  ==========================================================================================

A category that could be taken for something else is quoted as in JSON: ``"*"``, ``"[1, 2]"``, ``{"a, b", c}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.table import Column, Cover

_SPECIAL = re.compile(r'^$|^\s|\s$|^[\[{"]|^\*$')
_SPECIAL_MEMBER = re.compile(r'^$|^\s|\s$|^[\[{"]|^\*$|[,{}"]|^null$')


@dataclass(frozen=True)
class Interval:
    """A closed interval, its ends as text."""

    low: str
    high: str


@dataclass(frozen=True)
class Choice:
    """One of several categories; None among them stands for a missing value."""

    members: tuple[str | None, ...]


@dataclass(frozen=True)
class Anything:
    """Nothing is said about the value."""


Cell = str | Interval | Choice | Anything | None


def parse_cell(cell: Any) -> Cell:
    """Read a released cell; a plain value, or a label of a hierarchy, comes back as text.

    None and not-a-number (which is what pandas makes of a null) are missing values.
    """
    if cell is None or cell != cell:
        return None
    text = str(cell)
    if text == "*":
        return Anything()
    if text.startswith("[") and text.endswith("]") and ", " in text:
        low, _, high = text[1:-1].partition(", ")
        return Interval(low, high)
    if text.startswith("{") and text.endswith("}"):
        return Choice(tuple(_members(text[1:-1])))
    if text.startswith('"'):
        with suppress(ValueError):  # not quoted by us, so it is what it is
            return str(json.loads(text))
    return text


def _members(text: str) -> Iterator[str | None]:
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        if text[at] == '"':
            value, at = decoder.raw_decode(text, at)
            yield str(value)
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            yield None if text[at:end] == "null" else text[at:end]
            at = end
        at += len(", ")


def cell_labels(cover: Cover) -> pa.DictionaryArray:
    """Return what a column shows in each class, as text with a dictionary (each different cell is written once)."""
    if cover.column.taxonomy is not None:
        labels: list[str | None] = [_label_text(label) for label in cover.column.taxonomy.labels]
        if cover.column.missing:
            labels[cover.column.taxonomy.path[-1, -1]] = None
        return _dictionary(cover.node.astype(np.int64), labels)
    if cover.column.positions is not None:
        return _interval_labels(cover)
    return _choice_labels(cover)


def _label_text(label: str) -> str:
    """Quote a label that could be taken for a set or for quoted text; bands and the root are meant as they look."""
    return json.dumps(label, ensure_ascii=False) if _SPECIAL.search(label) and label[:1] not in ("*", "[") else label


def value_texts(column: Column) -> list[str]:
    """Return the text of each value of a column, as a release shows it when it is not generalized."""
    values = column.values
    if column.positions is None:
        return [str(value) for value in values.cast(pa.large_string()).to_pylist()]
    if pa.types.is_duration(values.type):
        return _duration_texts(values)
    if pa.types.is_timestamp(values.type) and not values.type.tz and not np.any(column.positions % 86_400):
        values = values.cast(pa.date32())  # midnights are days; pandas has no other way to say so
    if getattr(values.type, "unit", "") == "ns":
        return _nanosecond_texts(values)
    return [_number_text(value) for value in values.to_pylist()]


def _number_text(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def _nanosecond_texts(values: pa.Array) -> list[str]:
    """Write times that Python's own types, which end at microseconds, would cut off."""
    stamp = pa.types.is_timestamp(values.type)
    try:
        coarse = values.cast(pa.timestamp("us", values.type.tz) if stamp else pa.time64("us"))
    except pa.ArrowInvalid:
        return [text.replace(" ", "T") for text in values.cast(pa.string()).to_pylist()]
    return [_number_text(value) for value in coarse.to_pylist()]


def _duration_texts(values: pa.Array) -> list[str]:
    """Write durations in seconds; Python's "1 day, 2:00:00" would cut an interval in the wrong place."""
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[values.type.unit]
    numbers = values.cast(pa.int64()).to_pylist()
    return [f"PT{Decimal(number).scaleb(-digits).normalize():f}S" for number in numbers]


def _interval_labels(cover: Cover) -> pa.DictionaryArray:
    texts = value_texts(cover.column)
    size = cover.column.size
    pairs, which = np.unique(cover.low * size + cover.high, return_inverse=True)
    missing = cover.column.missing_code
    labels: list[str | None] = []
    for pair in pairs.tolist():
        low, high = divmod(pair, size)
        if high == missing:
            labels.append(None if low == missing else "*")
        else:
            labels.append(texts[low] if low == high else f"[{texts[low]}, {texts[high]}]")
    return _dictionary(which, labels)


def _choice_labels(cover: Cover) -> pa.DictionaryArray:
    column = cover.column
    texts = value_texts(column)
    alone = [json.dumps(text, ensure_ascii=False) if _SPECIAL.search(text) else text for text in texts]
    within = [json.dumps(text, ensure_ascii=False) if _SPECIAL_MEMBER.search(text) else text for text in texts]
    if column.missing:
        within.append("null")
    known: dict[bytes, int] = {}
    labels: list[str | None] = []
    which = np.empty(len(cover.distinct), dtype=np.int64)
    for group, (first, last) in enumerate(pairwise(cover.start.tolist())):
        key = cover.codes[first:last].tobytes()
        if key not in known:
            known[key] = len(labels)
            codes = cover.codes[first:last].tolist()
            if len(codes) == 1:
                labels.append(None if codes[0] == column.missing_code else alone[codes[0]])
            elif len(codes) == column.size:
                labels.append("*")
            else:
                labels.append("{" + ", ".join(within[code] for code in codes) + "}")
        which[group] = known[key]
    return _dictionary(which, labels)


def _dictionary(which: np.ndarray[Any, Any], labels: list[str | None]) -> pa.DictionaryArray:
    """Return dictionary-encoded labels; a label of None becomes a null."""
    nulls = np.array([label is None for label in labels], dtype=np.bool_)
    texts = pa.array(["" if label is None else label for label in labels], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(which.astype(np.int32), mask=nulls[which]), texts)
