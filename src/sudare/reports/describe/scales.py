"""Scales of a report: round bins of numbers, or the most frequent categories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.releases.value_texts import value_texts
from sudare.reports.describe.category_ranks import ranked
from sudare.reports.describe.chart_axes import Axis, Bins, cut, kind_of
from sudare.reports.describe.disclosure_control import Crowd
from sudare.table import Column

Ints = NDArray[np.int64]
MOST_CATEGORIES = 20
FREE_TEXT = 200
"""A column of more different categories is not shown value by value."""
NEARLY_ALL = 0.9
_CODE = re.compile(r"\s*[^\W_][\w./:#+-]{0,9}\s*")
MISSING, OTHERS = "(missing)", "all other values"


@dataclass(frozen=True, eq=False)
class Scale:
    """The parts that a column is shown in.

    ``of_code`` is the part of each code of the data's column, -1 where it is in none. ``others`` is the part of all
    other values, -1 if there is no such part. ``values`` are the texts of categories, to find them by. ``few`` says
    that some records are in no part, since they are fewer than may be shown.
    """

    kind: str
    labels: list[str]
    of_code: Ints
    others: int
    missing: int
    bins: Bins | None = None
    axis: Axis | None = None
    values: pa.Array | None = None
    few: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    def parts_of(self, texts: pa.Array) -> Ints:
        """Return the part of each category by its text; null is a missing value."""
        assert self.values is not None
        found = pc.index_in(texts.cast(pa.large_string()), self.values)
        codes = np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
        parts = np.where(codes >= 0, self.of_code[codes], self.others)
        nulls = texts.is_null().to_numpy(zero_copy_only=False)
        return np.where(nulls, self.missing if self.missing >= 0 else self.others, parts)


def is_free_text(column: Column, counts: Ints, rows: int) -> bool:
    """Return whether a column holds text that is seldom the same twice, so that no value of it is to be shown."""
    alone = int(np.count_nonzero(counts[: len(column.values)] == 1))
    return len(column.values) > FREE_TEXT or alone * 2 > rows


def are_codes(column: Column) -> bool:
    """Return whether all texts of a column are short codes, such as 250.83 and V27: one word, most with a digit."""
    words = [text for text in column.values.cast(pa.large_string()).to_pylist() if any(map(str.isalnum, text))]
    digits = sum(any(map(str.isdigit, word)) for word in words)
    return bool(words) and digits >= NEARLY_ALL * len(words) and all(map(_CODE.fullmatch, words))


def scale_of(column: Column, counts: Ints, crowd: Crowd, order: Sequence[str] | None = None) -> Scale | None:
    """Return the parts that a column is shown in; None if nothing of it can be.

    ``counts`` is how many records have each code, ``order`` what the policy says of how categories are ranked.
    """
    if kind_of(column) != "category":
        return _numbers(column, counts, crowd)
    return None if is_free_text(column, counts, crowd.rows) else _categories(column, counts, crowd, order)


def _numbers(column: Column, counts: Ints, crowd: Crowd) -> Scale | None:
    axis = Axis.of(column)
    bins = cut(axis, counts[: len(column.values)], column.codes, crowd)
    if bins is None:
        return None
    of_code, labels, missing = bins.of(axis.places), list(bins.labels), -1
    if column.missing:
        gone = column.codes == column.missing_code
        if int(crowd.heads(gone.astype(np.int64), 2)[1]) >= crowd.least:
            missing, labels = len(labels), [*labels, MISSING]
        of_code = np.append(of_code, missing)
    return Scale(axis.kind, labels, of_code, -1, missing, bins, axis)


def _categories(column: Column, counts: Ints, crowd: Crowd, order: Sequence[str] | None) -> Scale | None:
    """Show the most frequent categories, in their own order if they have one, and all others together.

    If those others are too few records to be shown, they are in no part (see `before`). Many records of too few people
    would be missed in a sum; the smallest of the other categories joins them until there are people enough.
    """
    heads = crowd.heads(column.codes, column.size)
    frequent = np.argsort(-counts, kind="stable")
    shown = [code for code in frequent.tolist() if heads[code] >= crowd.least][:MOST_CATEGORIES]
    if not shown:
        return None
    rest = np.setdiff1d(np.arange(column.size), shown)
    left = int(crowd.heads(np.isin(column.codes, rest).astype(np.int64), 2)[1]) if len(rest) else 0
    few = bool(len(rest)) and 0 < int(counts[rest].sum()) < crowd.least
    while not few and 0 < left < crowd.least and shown:
        left = crowd.together(left, int(heads[shown.pop()]))
    if not shown:
        return None
    texts = value_texts(column)
    names = [*texts.to_pylist(), *([MISSING] if column.missing else [])]
    shown = _in_order(shown, names, order)
    others = len(shown) if left and not few else -1
    of_code = np.full(column.size, others, dtype=np.int64)
    of_code[shown] = np.arange(len(shown))
    labels = [names[code] for code in shown] + ([OTHERS] if others >= 0 else [])
    missing = int(of_code[column.missing_code]) if column.missing else -1
    return Scale("category", labels, of_code, others, missing, values=texts, few=few)


def _in_order(shown: list[int], names: Sequence[str], order: Sequence[str] | None) -> list[int]:
    """Return categories in their own order, those that are missing last; by frequency if they have none."""
    there = [code for code in shown if names[code] != MISSING]
    places = ranked([names[code] for code in there], order)
    if places is None:
        return shown
    return [there[place] for place in places] + [code for code in shown if names[code] == MISSING]


def before(scale: Scale, column: Column, crowd: Crowd) -> list[float]:
    """Return the blurred share of the data's records in each part, of those that are in one.

    Records that are too few to be shown count for the most frequent part, where they make no difference: parts that
    left them out would fall short of all records by their number.
    """
    part = scale.of_code[column.codes]
    counts = crowd.records(part[part >= 0], len(scale))
    left = int(np.count_nonzero(part < 0))
    if left < crowd.least:
        counts[int(np.argmax(counts))] += left
    shown = np.array([crowd.rounded(count) for count in counts.tolist()], dtype=np.float64)
    return [round(share, 6) for share in (shown / max(shown.sum(), 1.0)).tolist()]
