"""Matches of people and released classes: the classes whose cells all allow the known values of a person.

An intruder who knows some columns of a person cannot distinguish these classes. Classes are compared, never pairs of
records: each code of a column, or range of codes, has a line with a bit for every class that allows it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.risks import class_matches as kernels
from sudare.risks.class_risk import Classes
from sudare.risks.released_codes import Cells, ReleasedCodes, Sets
from sudare.table import Column, ItemSets

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = Mapping[str, Column | ItemSets]
WORDS = 1 << 23
"""As many words are there for all lines; a column has fewer lines, and ranges of more codes, where classes are many."""
MOST_LINES, FEWEST_LINES = 256, 8
"""Lines of a column at the most, and in any case."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often classes have each value: ``counts[begin[c]:begin[c + 1]]`` of ``values``, which are below ``size``."""

    begin: Ints
    values: Ints
    counts: Floats
    size: int

    @classmethod
    def of(cls, classes: Ints, values: Ints, weights: Floats | None, count: int, size: int) -> Histogram:
        """Count values by class; ``weights`` are how much each counts. Values of -1 are not counted."""
        known = values >= 0
        key = classes[known].astype(np.int64) * size + values[known]
        used, own = np.unique(key, return_inverse=True)
        totals = np.bincount(own, None if weights is None else weights[known], len(used)).astype(np.float64)
        begin = np.searchsorted(used // max(size, 1), np.arange(count + 1)).astype(np.int64)
        return cls(begin, used % max(size, 1), totals, size)

    @property
    def arrays(self) -> kernels.Counts:
        """The same for kernels."""
        return kernels.Counts(self.begin, self.values, self.counts, max(self.size, 1))


@dataclass(frozen=True, eq=False)
class _Side:
    """A column of single values: the cell of each class, what cells allow, and the range of codes of each line."""

    name: str
    cells: Ints
    shown: Cells
    word: Ints
    bits: NDArray[np.uint64]
    ranges: Ints
    exact: bool

    def line_of(self, codes: Ints) -> Ints:
        """Return the line of each code."""
        return np.searchsorted(self.ranges[:, 0], codes, side="right") - 1


class Matching:
    """Some classes of a release, as far as some columns show them, to be compared with people.

    ``only`` are the classes that are compared, or all.
    """

    def __init__(
        self, shown: ReleasedCodes, names: Sequence[str], grouped: Classes, columns: Columns, only: Ints | None = None
    ) -> None:
        first = np.zeros(len(grouped.sizes), dtype=np.int64)
        first[grouped.of_row] = np.arange(shown.rows)
        first = first if only is None else first[only]
        self.count = len(first)
        single = [name for name in names if name in shown.cells]
        # what decides most comes first, so that the others are seldom looked at
        single.sort(key=lambda name: _openness(shown.cells[name], first, columns[name].size))
        most = WORDS // max((self.count // 64 + 1) * len(single), 1)
        lines = min(max(most, FEWEST_LINES), MOST_LINES)
        self.single = [_side(name, shown.cells[name], first, columns[name].size, lines) for name in single]
        self.sets = {name: shown.sets[name] for name in names if name in shown.sets}
        self.offset, labels = {}, 0
        for name, each in self.sets.items():
            self.offset[name], labels = labels, labels + each.size
        shown_labels = [_shown_labels(each, first, self.offset[name]) for name, each in self.sets.items()]
        self.begin = np.concatenate(([0], np.cumsum([len(side.ranges) for side in self.single]))).astype(np.int64)
        direct = [side for side in self.single if not side.exact]
        starts = np.cumsum([0, *(side.shown.count for side in direct)])
        words = np.cumsum([0, *(len(side.bits) for side in direct)])
        none = np.zeros((self.count, 0), dtype=np.int64)
        self.classes = kernels.Classes(
            self._allowed(),
            np.stack([side.cells + start for side, start in zip(direct, starts, strict=False)], axis=1)
            if direct
            else none,
            _joined([side.shown.low for side in direct], np.int64),
            _joined([side.shown.high for side in direct], np.int64),
            _joined(
                [np.where(side.word < 0, -1, side.word + at) for side, at in zip(direct, words, strict=False)], np.int64
            ),
            _joined([side.bits for side in direct], np.uint64),
            *_by_owner(shown_labels, len(first)),
            labels,
            self.count,
        )

    def _allowed(self) -> NDArray[np.uint64]:
        """Return the lines of all columns."""
        allowed = np.zeros((int(self.begin[-1]), (self.count + 63) // 64), dtype=np.uint64)

        def fill(place: int) -> None:
            side, part = self.single[place], allowed[self.begin[place] : self.begin[place + 1]]
            kernels.allow_codes(side.cells, side.shown.low, side.shown.high, side.word, side.bits, side.ranges, part)

        with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
            list(pool.map(fill, range(len(self.single))))
        return allowed

    def weigh_people(self, columns: Columns, rows: Ints, weight: Floats) -> Floats:
        """Add up, for each of some people, the weights of the classes that the person may be in."""
        result = np.zeros(len(rows), dtype=np.float64)

        def work(people: kernels.People, first: int, last: int) -> None:
            kernels.weigh_people(people, self.classes, weight, first, last, result)

        self._compare(columns, rows, work)
        return result

    def weigh_classes(self, columns: Columns, rows: Ints, weight: Floats) -> Floats:
        """Add up, for each class, the weights of the people who may be in it."""
        results: list[Floats] = [np.zeros(self.count, dtype=np.float64)]

        def work(people: kernels.People, first: int, last: int) -> None:
            own = np.zeros(self.count, dtype=np.float64)
            kernels.weigh_classes(people, self.classes, weight, first, last, own)
            results.append(own)

        self._compare(columns, rows, work)
        return np.asarray(np.sum(results, axis=0))

    def guess(self, columns: Columns, rows: Ints, histogram: Histogram, truth: Ints) -> Floats:
        """Judge the most frequent value of the classes that each person may be in (two columns, see the kernel)."""
        result = np.zeros((len(rows), 2), dtype=np.float64)
        arrays = histogram.arrays

        def work(people: kernels.People, first: int, last: int) -> None:
            kernels.guess_values(people, self.classes, arrays, truth, first, last, result)

        self._compare(columns, rows, work)
        return result

    def _compare(self, columns: Columns, rows: Ints, work: Callable[[kernels.People, int, int], None]) -> None:
        """Compare people with the classes, all cores taking their parts of them."""
        codes = {side.name: _codes(columns[side.name])[rows].astype(np.int64) for side in self.single}
        lines = np.zeros((len(rows), len(self.single)), dtype=np.int64)
        for place, side in enumerate(self.single):
            lines[:, place] = side.line_of(codes[side.name]) + self.begin[place]
        direct = [codes[side.name] for side in self.single if not side.exact]
        one_by_one = np.stack(direct, axis=1) if direct else np.zeros((len(rows), 0), dtype=np.int64)
        people = kernels.People(lines, one_by_one, *self._held(columns, rows))
        workers = min(os.cpu_count() or 1, 4)
        cuts = np.linspace(0, len(rows), 4 * workers + 1).astype(int).tolist()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda ends: work(people, *ends), pairwise(cuts)))

    def _held(self, columns: Columns, rows: Ints) -> tuple[Ints, Ints]:
        """Return the labels that the sets of each person hold, of all set columns together."""
        parts = []
        for name, each in self.sets.items():
            column = columns[name]
            assert isinstance(column, ItemSets)
            parts.append(_held_labels(column.taken(rows), each, self.offset[name]))
        return _by_owner(parts, len(rows))


def _codes(column: Column | ItemSets) -> NDArray[Any]:
    assert isinstance(column, Column)
    return column.codes


def _openness(cells: Cells, rows: Ints, size: int) -> float:
    """Return the share of a column's codes that its cells allow on average."""
    width = (cells.high - cells.low + 1).astype(np.float64)
    for number, members in cells.members.items():
        width[number] = len(members)
    return float(width[cells.of_row[rows]].mean() / max(size, 1)) if len(rows) else 0.0


def _side(name: str, shown: Cells, rows: Ints, size: int, most: int) -> _Side:
    """Return a column of the classes with these first rows, with as many lines at the most."""
    word = np.full(shown.count, -1, dtype=np.int64)
    lines = np.zeros((len(shown.members), size // 64 + 1), dtype=np.uint64)
    for line, (number, members) in enumerate(shown.members.items()):
        word[number] = line * lines.shape[1]
        np.bitwise_or.at(lines[line], members // 64, np.uint64(1) << (members % 64).astype(np.uint64))
    cuts = np.linspace(0, max(size, 1), min(max(size, 1), most) + 1).astype(np.int64)
    ranges = np.stack([cuts[:-1], cuts[1:] - 1], axis=1)
    return _Side(name, shown.of_row[rows], shown, word, lines.ravel(), ranges, len(ranges) >= size)


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *parts]).astype(kind)


def _shown_labels(sets: Sets, rows: Ints, offset: int) -> tuple[Ints, Ints]:
    """Return the labels that classes with these first rows show, and whose they are."""
    own = sets.of_row[rows]
    length = np.diff(sets.begin)[own]
    return np.repeat(np.arange(len(rows)), length), sets.labels[_places(sets.begin[own], length)] + offset


def _held_labels(people: ItemSets, sets: Sets, offset: int) -> tuple[Ints, Ints]:
    """Return the labels that the items of people stand below, and whose they are."""
    items = people.items.astype(np.int64)
    count = np.array([len(each) for each in sets.held], dtype=np.int64)
    begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(count)))
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *sets.held])
    length = count[items]
    owner = np.repeat(np.arange(len(people)), np.diff(people.offsets))
    return np.repeat(owner, length), flat[_places(begin[items], length)] + offset


def _places(start: Ints, length: Ints) -> Ints:
    """Return the places of runs, one run after the other."""
    return np.asarray(np.repeat(start - np.cumsum(length) + length, length) + np.arange(int(length.sum())))


def _by_owner(parts: Sequence[tuple[Ints, Ints]], count: int) -> tuple[Ints, Ints]:
    """Return labels by their owners, and where those of each owner begin."""
    none = np.zeros(0, dtype=np.int64)
    owner = np.concatenate([none, *(owner for owner, _ in parts)])
    labels = np.concatenate([none, *(labels for _, labels in parts)])
    order = np.argsort(owner, kind="stable")
    begin = np.searchsorted(owner[order], np.arange(count + 1)).astype(np.int64)
    return begin, labels[order]
