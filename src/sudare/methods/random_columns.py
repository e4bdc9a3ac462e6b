"""Columns whose released cells are drawn at random, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import ParameterError, UnsupportedError
from sudare.core.randomness import BLOCK, Entropy
from sudare.core.sizes import WORDS
from sudare.kernels import random_cells as kernel
from sudare.kernels.hiding import partitions
from sudare.table import Column, smallest

Codes = NDArray[np.uint32]
Rows = NDArray[np.int64]
Step = Callable[[Codes, NDArray[np.uint32], Codes], tuple[int, int]]
"""Draws for some codes with some words into an array: the records done, and the words that they took."""

MOST_WEIGHED = 20_000_000
"""Values times l at most, where weights are unequal: the tables take 24 bytes each."""
MOST_CELLS = 1 << 24
"""Cells of a matrix of probabilities at most."""


def drawn(codes: Codes, result: Codes, entropy: Entropy, each: float, step: Step) -> Codes:
    """Draw for all codes; ``each`` is about how many words a record takes. Words that are left over are forgotten."""
    done, words = 0, np.empty(0, np.uint32)
    while done < len(codes):
        wanted = int((len(codes) - done) * each * 1.01) + 64
        words = np.concatenate((words, entropy.words(min(wanted, BLOCK))))
        made, used = step(codes[done:], words, result[done:])
        done, words = done + made, words[used:]
    return result


class SetDraw:
    """A column that shows sets of ``width`` values: the truth, and others drawn from the rest of the domain.

    Without ``weights`` every set that holds the truth is equally likely; with them (one for each code, above 0) as
    likely as the product of the weights of the others.

    ``same`` is the person of each record. Records of one person with the same true value show the same set: different
    sets would have little in common except the true value. And sets of one person have no values in common (see
    :mod:`sudare.kernels.hiding.partitions`): otherwise different sets would reveal that true values differ. They are
    drawn at once, and kept.
    """

    def __init__(
        self,
        column: Column,
        width: int,
        entropy: Entropy,
        *,
        weights: NDArray[np.float64] | None = None,
        same: Column | None = None,
    ) -> None:
        if not 1 <= width <= column.size < kernel.MOST_VALUES:
            raise ParameterError(f"sets of {width} values cannot be drawn from {column.size:,}.")
        self.column, self.width = column, width
        self._entropy = entropy
        self._plan = kernel.plan_sets(column.size, width)
        self._tables = None if weights is None else self._weighed(weights)
        self._owner: NDArray[np.unsignedinteger[Any]] | None = None
        self._kept: NDArray[np.unsignedinteger[Any]] | None = None
        self.repeats = False  # whether sets of several records are one draw
        if same is not None:
            self._keep(same)

    def cells(self, rows: Rows) -> NDArray[np.unsignedinteger[Any]]:
        """Draw the sets of some records: a line of ascending codes for each."""
        if self._owner is None or self._kept is None:
            return self._draw(self.column.codes[rows])
        owner = self._owner[rows]
        alone = owner == len(self._kept)
        lines = np.empty((len(rows), self.width), np.uint32)
        lines[~alone] = self._kept[owner[~alone]]
        lines[alone] = self._draw(self.column.codes[rows[alone]])
        return lines

    def _draw(self, codes: NDArray[np.unsignedinteger[Any]]) -> Codes:
        given = np.ascontiguousarray(codes, dtype=np.uint32)
        lines = np.empty((len(given), self.width), np.uint32)
        plan, tables, values = self._plan, self._tables, self.column.size
        if tables is None:
            each = float((WORDS / (WORDS - plan.least.astype(np.float64))).sum())
            return drawn(
                given, lines, self._entropy, each, lambda *some: kernel.draw_sets(some[0], values, plan, *some[1:])
            )
        each = 2.0 * self.width
        return drawn(given, lines, self._entropy, each, lambda *some: kernel.draw_weighted(some[0], tables, *some[1:]))

    def _weighed(self, weights: NDArray[np.float64]) -> kernel.Weighing:
        values = self.column.size
        if len(weights) != values or not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ParameterError(f"there have to be {values:,} weights, all above 0.")
        if values * self.width > MOST_WEIGHED:
            raise UnsupportedError(
                f"sets of {self.width} of the {values:,} values of column '{self.column.name}' are too large to be "
                "drawn with unequal frequencies.",
                hint="use frequencies: uniform.",
            )
        return kernel.weigh_sets(np.asarray(weights, np.float64), self.width)

    def _keep(self, same: Column) -> None:
        """Draw the sets of everybody who has several records."""
        person, size = same.codes.astype(np.int64), self.column.size
        pairs, place, count = np.unique(person * size + self.column.codes, return_inverse=True, return_counts=True)
        owner = pairs // size
        repeated = np.bincount(owner, count, int(owner.max(initial=0)) + 1)[owner] > 1
        if same.missing:  # nobody knows whether two records about somebody unknown are about the same person
            repeated &= owner != same.missing_code
        self.repeats = bool(repeated.any())
        several = np.bincount(owner[repeated]) > 1
        if self._tables is not None and several.any():
            what = f"{int(several.sum()):,} people have different values of '{self.column.name}' in several records"
            raise UnsupportedError(
                f"{what}, whose sets cannot be drawn with unequal frequencies.", hint="use frequencies: uniform."
            )
        number = np.cumsum(repeated) - 1
        number[~repeated] = int(repeated.sum())
        self._owner = smallest(number[place.reshape(-1)], int(repeated.sum()) + 1)
        truth = (pairs[repeated] % size).astype(np.uint32)
        if self._tables is not None:
            self._kept = smallest(self._draw(truth), size)
            return
        lines = np.zeros((len(truth), self.width), np.uint32)
        owners = owner[repeated]
        first = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])) if len(owners) else owners
        step = max(BLOCK // (self.width + 2), 1)
        bounds = [0, *first[np.searchsorted(first, np.arange(step, len(truth), step))[:-1]].tolist(), len(truth)]
        for low, high in pairwise(dict.fromkeys(bounds)):
            words = self._entropy.words(2 * (high - low) * (self.width + 2)).view(np.uint64)
            partitions.draw_parts(
                owners[low:high], truth[low:high], np.int64(size), np.int64(self.width), words, lines[low:high]
            )
        self._kept = smallest(lines, size)


class CodeDraw:
    """A column that shows one value, drawn by the true one (post-randomization, PRAM).

    Either the true value is kept with probability ``keep``, and otherwise any value of the domain is drawn, itself
    included, or ``matrix[t, v]`` is the probability with which the truth t shows as v.
    """

    width = None

    def __init__(
        self,
        column: Column,
        entropy: Entropy,
        *,
        keep: float | None = None,
        matrix: NDArray[np.float64] | None = None,
    ) -> None:
        if (keep is None) == (matrix is None):
            raise ParameterError("a draw needs either a probability of keeping the true value, or a matrix.")
        if column.size >= kernel.MOST_VALUES:
            raise ParameterError(f"codes cannot be drawn from {column.size:,} values.")
        self.column = column
        self._entropy = entropy
        self._step: Step
        if matrix is not None:
            alias = self._alias(np.asarray(matrix, np.float64))
            self._each = 1.0
            self._step = lambda *some: kernel.draw_by_matrix(some[0], alias, *some[1:])
            return
        if keep is None or not 0 <= keep <= 1:
            raise ParameterError(f"the probability of keeping the true value must be from 0 to 1; got {keep}.")
        kept, values = kernel.units(np.array(keep, np.float64))[()], column.size
        self._each = 1 + (1 - keep) * WORDS / (WORDS - WORDS % max(values, 1))
        self._step = lambda *some: kernel.draw_uniform(some[0], values, kept, *some[1:])

    def cells(self, rows: Rows) -> NDArray[np.unsignedinteger[Any]]:
        """Draw the released codes of some records."""
        codes = np.ascontiguousarray(self.column.codes[rows], dtype=np.uint32)
        return drawn(codes, np.empty(len(codes), np.uint32), self._entropy, self._each, self._step)

    def _alias(self, matrix: NDArray[np.float64]) -> kernel.Alias:
        values = self.column.size
        if matrix.shape != (values, values):
            raise ParameterError(f"the matrix has the shape {matrix.shape}; there are {values:,} values.")
        if values * values > MOST_CELLS:
            raise UnsupportedError(
                f"a matrix for the {values:,} values of column '{self.column.name}' is too large.",
                hint="use one probability of keeping the true value for all values.",
            )
        if not ((matrix >= 0).all() and np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-9)):
            raise ParameterError("every row of the matrix must consist of probabilities that add up to 1.")
        return kernel.alias_of(matrix)


class CellDraw:
    """A column that shows one value, drawn in each cell of records among values of its own.

    ``each[c]`` draws for records of cell c, by places in ``domains[c]``, which are codes of the column; ``of_row`` is
    the cell of each record, None if there is but one.
    """

    width = None

    def __init__(
        self,
        column: Column,
        of_row: NDArray[np.unsignedinteger[Any]] | None,
        each: Sequence[CodeDraw],
        domains: Sequence[NDArray[np.int64]],
    ) -> None:
        self.column = column
        self._of_row, self._each = of_row, each
        self._domains = [codes.astype(np.uint32) for codes in domains]

    def cells(self, rows: Rows) -> NDArray[np.unsignedinteger[Any]]:
        """Draw the released codes of some records, cell by cell."""
        if self._of_row is None:
            return np.asarray(self._domains[0][self._each[0].cells(rows)])
        cell = self._of_row[rows]
        order = np.argsort(cell, kind="stable")
        ends = np.cumsum(np.bincount(cell, minlength=len(self._each)))
        result = np.empty(len(rows), np.uint32)
        for number in np.unique(cell).tolist():
            there = order[(ends[number - 1] if number else 0) : ends[number]]
            result[there] = self._domains[number][self._each[number].cells(rows[there])]
        return result


class Joint:
    """Columns that are drawn jointly, as one attribute whose codes number their combinations, the last fastest.

    The columns of a release are made one by one, but must not be drawn separately. So all records are drawn when the
    first column is requested, and the codes are kept.
    """

    def __init__(self, draw: CodeDraw | CellDraw, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self._draw = draw
        self._lock = Lock()
        self._held: NDArray[np.unsignedinteger[Any]] | None = None

    def views(self) -> dict[str, JointColumn]:
        """Return the columns, each to be drawn by itself."""
        return {column.name: JointColumn(self, place) for place, column in enumerate(self.columns)}

    def part(self, place: int, rows: Rows) -> NDArray[np.unsignedinteger[Any]]:
        """Return the codes of one column for some records."""
        with self._lock:  # columns may be made by several threads
            if self._held is None:
                self._held = self._all()
        below = int(np.prod([column.size for column in self.columns[place + 1 :]], dtype=np.int64))
        size = self.columns[place].size
        return smallest(self._held[rows].astype(np.int64) // below % size, size)

    def _all(self) -> NDArray[np.unsignedinteger[Any]]:
        size, count = self._draw.column.size, len(self._draw.column)
        held = np.empty(count, np.min_scalar_type(max(size - 1, 0)))
        for first in range(0, count, BLOCK):
            rows = np.arange(first, min(first + BLOCK, count))
            held[rows] = self._draw.cells(rows)
        return held


class JointColumn:
    """One of the columns that are drawn together."""

    width = None

    def __init__(self, joint: Joint, place: int) -> None:
        self.column = joint.columns[place]
        self._joint, self._place = joint, place

    def cells(self, rows: Rows) -> NDArray[np.unsignedinteger[Any]]:
        """Return the released codes of some records."""
        return self._joint.part(self._place, rows)
