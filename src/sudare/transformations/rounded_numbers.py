"""Rounding to a grid: the nearest multiple, the next one up or down, or one of the two at random.

At random, a number between two multiples becomes the upper one with a probability that grows with its distance from
the lower one. So the expected value is the number itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.randomness import Entropy
from sudare.core.sizes import EXACT, WORDS
from sudare.policy import RoundSpec
from sudare.transformations.number_cells import beyond_whole, is_small, number_kind, read_numbers, written
from sudare.transformations.step import Figures, Findings, Place

_UNITS = 8.0
"""A quotient so few units of rounding from a whole number is that number: 0.3 is on the grid of 0.1."""


@dataclass(frozen=True)
class Rounding:
    """Rounds numbers to multiples of one."""

    place: Place
    spec: RoundSpec
    entropy: Entropy
    beside: tuple[str, ...] = ()
    whole: bool = False

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return number_kind(given, whole=self._whole_grid, numbers=[self.spec.to])

    @property
    def _whole_grid(self) -> bool:
        return self.spec.to.is_integer() and is_small(self.spec.to)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the cells on the grid."""
        numbers = read_numbers(cells, self.place, findings)
        values = numbers.values
        if numbers.whole and self._whole_grid:
            low = self._whole(values, int(self.spec.to))
            beyond = beyond_whole(low * self.spec.to)
            what = "would be beyond 64 bits when they are rounded"
            findings.note(self.place, pa.array(beyond & numbers.there), what, "use smaller numbers.")
            found: NDArray[Any] = np.where(beyond, 0, low) * int(self.spec.to)
        else:
            found = self._real(values.astype(np.float64))
        # whole numbers err by whole numbers, whose mean and variance differ a little from those of all numbers
        before = findings.figures.get(self.place, {}).get("whole", True)
        figures: Figures = {"whole": bool(numbers.whole and before)}
        if self.spec.how == "random":
            # a number that lies evenly between two multiples errs by to^2 / 6 on average; whole numbers err by less
            less = 1 if figures["whole"] and self._whole_grid else 0
            figures["error_variance"] = float(f"{(self.spec.to**2 - less) / 6:.3g}")
        findings.figures[self.place] = figures
        return written(found, numbers.there, self.kind(cells.type))

    def _whole(self, values: NDArray[np.int64], to: int) -> NDArray[np.int64]:
        """Return of which multiple whole numbers become."""
        low, rest = np.divmod(values, to)
        if self.spec.how == "nearest":
            low += rest >= to - rest
        elif self.spec.how == "up":
            low += rest > 0
        elif self.spec.how == "random":
            low += self._upper(rest / to)
        return np.asarray(low)

    def _real(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        quotient = values / self.spec.to
        nearest = np.round(quotient)
        on_grid = np.abs(quotient - nearest) <= _UNITS * np.finfo(np.float64).eps * np.maximum(np.abs(quotient), 1.0)
        low = np.floor(quotient)
        if self.spec.how == "nearest":
            index = np.floor(quotient + 0.5)
        elif self.spec.how == "up":
            index = np.ceil(quotient)
        elif self.spec.how == "random":
            index = low + self._upper(quotient - low)
        else:
            index = low
        index = np.where(on_grid, nearest, index)
        # multiples by whole numbers, divided once: so they are written with as few digits as the grid has
        exact = Fraction(Decimal(str(self.spec.to)))
        if exact.numerator < EXACT and exact.denominator < EXACT:
            found = index * exact.numerator / exact.denominator
        else:
            found = index * self.spec.to
        return np.where(np.abs(index) < EXACT, found, values)

    def _upper(self, shares: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(self.entropy.words(len(shares)) < shares * WORDS)
