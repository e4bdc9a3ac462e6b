"""Singling out by combinations of few columns: minimal sample uniques, and SUDA scores.

A record is *unique* on some columns if no other has the same values there. Such a combination is a **minimal sample
unique** (MSU) of the record if it is not unique on any part of it: then each of these columns is needed. Records with
many and small MSUs are easily recognised by somebody who happens to know a few things about them.

**SUDA score.** With A columns and combinations of up to M looked at, an MSU of k columns counts
(A - k) (A - k - 1) ... (A - M + 1), that is, one for M columns and more for fewer. A record's score is the sum over its
MSUs. The papers multiply once more, by A - M, which is the same for all. A column's contribution is the share of all
scores that comes from MSUs with this column.

All combinations are tried, the small ones first. A record that a part of a combination singles out is not considered
there: no record is equal to it, so the uniqueness of others does not depend on it. This is exact.

Reference: Elliot, Manning, Ford: A computational algorithm for handling the special uniques problem. International
Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 493-509 (2002). Manning, Haglin, Keane: A recursive
search algorithm for statistical disclosure assessment. Data Mining and Knowledge Discovery 16, 165-196 (2008).
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.progress import Listener, silent
from sudare.core.sizes import FEW_ROWS
from sudare.risks.class_risk import SPAN, Classes, group_rows

Floats = NDArray[np.float64]
MOST = 8
"""The most columns of a combination."""
LISTED = 20
"""The number of listed combinations."""
CELLS = 16
"""As many possible keys per record are counted in a table with a place for each; beyond, they are looked up."""
LARGEST = 1 << 25


@dataclass(frozen=True, eq=False)
class SinglingOut:
    """What combinations of up to ``most`` columns single out.

    ``records`` have at least one MSU. ``by_size`` counts MSUs by their number of columns. ``combinations`` lists those
    that are the MSU of most records, ``contribution`` has the share of the scores that comes from each column.
    ``scores`` are those of the records in their order, and are not in what JSON shows.
    """

    columns: tuple[str, ...]
    most: int
    rows: int
    records: int
    by_size: dict[int, int]
    combinations: list[tuple[tuple[str, ...], int]]
    contribution: dict[str, float]
    scores: Floats = field(repr=False)

    @property
    def share(self) -> float:
        """The share of records that some combination singles out."""
        return self.records / self.rows if self.rows else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the records' own scores in the types that JSON has."""
        return {
            "columns": list(self.columns),
            "most_columns": self.most,
            "records": self.records,
            "share": self.share,
            "by_size": {str(size): count for size, count in self.by_size.items()},
            "combinations": [{"columns": list(names), "records": count} for names, count in self.combinations],
            "contribution": self.contribution,
            "largest_score": float(self.scores.max(initial=0.0)),
            "mean_score": float(self.scores.mean()) if len(self.scores) else 0.0,
        }


def points(columns: int, most: int, size: int) -> float:
    """Return what a minimal sample unique counts."""
    return float(math.prod(range(columns - most + 1, columns - size + 1)))


def single_out(
    names: Sequence[str],
    columns: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    rows: int,
    *,
    most: int = 3,
    progress: Listener | None = None,
) -> SinglingOut:
    """Find the minimal sample uniques of up to ``most`` columns; codes of a column are below its size."""
    most = min(most, len(names))
    groups = group_rows(columns, sizes, rows)
    search = _Search(groups, columns, sizes, rows, most)
    listener = progress or silent
    total = sum(math.comb(len(names), size) for size in range(1, most + 1))
    found: dict[tuple[int, ...], int] = {}
    workers = min(os.cpu_count() or 1, 4)
    listener("single out", 0, total)
    if search.once.any():
        with ThreadPoolExecutor(workers) as pool:
            for size in range(1, most + 1):
                level = list(combinations(range(len(names)), size))
                for chosen, alone in zip(level, pool.map(search.alone, level), strict=True):
                    found[chosen] = len(alone)
                    search.score(chosen, alone)
                    listener("single out", len(found), total)
    listener("single out", total, total)
    total_score = float(sum(count * points(len(names), most, len(chosen)) for chosen, count in found.items()))
    by_column = {
        name: sum(count * points(len(names), most, len(chosen)) for chosen, count in found.items() if place in chosen)
        for place, name in enumerate(names)
    }
    listed = sorted((chosen for chosen in found if found[chosen]), key=lambda each: (-found[each], len(each), each))
    return SinglingOut(
        columns=tuple(names),
        most=most,
        rows=rows,
        records=int(np.count_nonzero(search.scores)),
        by_size={
            size: sum(count for chosen, count in found.items() if len(chosen) == size) for size in range(1, most + 1)
        },
        combinations=[(tuple(names[place] for place in each), found[each]) for each in listed[:LISTED]],
        contribution={name: each / total_score if total_score else 0.0 for name, each in by_column.items()},
        scores=search.scores[groups.of_row],
    )


class _Search:
    """Records that agree in all columns, kept once, and which of them each combination singles out.

    Only a record that nobody agrees with can be singled out; the others are there to keep it company.
    """

    def __init__(
        self, groups: Classes, columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int, most: int
    ) -> None:
        count = len(groups.sizes)
        self.once = groups.sizes == 1
        first = np.zeros(count, dtype=np.int64)
        first[groups.of_row] = np.arange(rows)
        self.codes = np.stack([codes[first].astype(np.uint32, copy=False) for codes in columns])
        self.sizes = [max(size, 1) for size in sizes]
        self.most = most
        self.scores = np.zeros(count, dtype=np.float64)
        below = [each for size in range(1, most) for each in combinations(range(len(columns)), size)]
        self.number = {each: place for place, each in enumerate(below)}
        # what the largest combinations single out is not needed any more
        self.bits = np.zeros((max(len(below), 1), (count + 63) // 64), dtype=np.uint64)
        self.counts = threading.local()

    def alone(self, chosen: tuple[int, ...]) -> NDArray[np.int32]:
        """Return the records that a combination singles out, and no part of it."""
        from sudare.kernels.risks.sample_uniques import close_rows, open_rows

        parts = combinations(chosen, len(chosen) - 1) if len(chosen) > 1 else ()
        parents = np.array([self.number[part] for part in parts], dtype=np.int64)
        rows = open_rows(self.bits, parents, self.once)
        alone = self._unlike_others(chosen, rows) if len(rows) else rows
        if chosen in self.number:
            close_rows(self.bits, parents, self.number[chosen], alone)
        return alone

    def score(self, chosen: tuple[int, ...], alone: NDArray[np.int32]) -> None:
        """Add what a combination counts to the scores of the records that it singles out."""
        from sudare.kernels.risks.sample_uniques import add_scores

        add_scores(self.scores, alone, points(len(self.sizes), self.most, len(chosen)))

    def _unlike_others(self, chosen: tuple[int, ...], rows: NDArray[np.int32]) -> NDArray[np.int32]:
        from sudare.kernels.risks.sample_uniques import combine_codes, rows_alone, rows_alone_by_lookup

        codes, sizes = self.codes[list(chosen)], [self.sizes[place] for place in chosen]
        while math.prod(sizes) >= SPAN:  # the first two become one column, of no more values than there are records
            both = group_rows(list(codes[:2]), sizes[:2], codes.shape[1])
            codes = np.concatenate([both.of_row[None].astype(np.uint32), codes[2:]])
            sizes = [len(both.sizes), *sizes[2:]]
        keys = combine_codes(codes, np.array(sizes, dtype=np.int64), rows)
        span = math.prod(sizes)
        if span > min(max(CELLS * len(rows), FEW_ROWS), LARGEST):
            return np.asarray(rows_alone_by_lookup(keys, rows, self.once))
        if span > len(getattr(self.counts, "array", ())):
            self.counts.array = np.zeros(span, dtype=np.uint8)
        return np.asarray(rows_alone(keys, rows, self.once, self.counts.array))
