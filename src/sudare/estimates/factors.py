"""The matrices of random draws, one for each axis of a table, with their inverses and moments.

Several columns that were perturbed independently have the Kronecker product of their matrices. It is never computed:
each matrix is applied along its own axis. If the true value is kept with one probability and otherwise any value is
drawn, evenly or by shares, a matrix is a diagonal plus a constant row, and so are its inverse and all moments. Applying
it then takes time that grows with the table, and not with the square of its values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import ParameterError

Floats = NDArray[np.float64]

FLAT = 1e10  # condition of a matrix beyond which rounding would be all that is left of an inverse
ROUNDED = 1e-9  # by which the sum of a line may differ from 1
ALIKE = 1e-12  # difference of two probabilities below which values are drawn alike
SMALL = 12  # values up to which products of whole matrices are as fast


@dataclass(frozen=True)
class Whole:
    """A matrix in full form."""

    matrix: Floats

    @property
    def size(self) -> int:
        """Return how many lines there are."""
        return len(self.matrix)

    @property
    def diagonal(self) -> Floats:
        """Return the diagonal."""
        return np.diag(self.matrix)

    @property
    def turned(self) -> Whole:
        """Return the transposed matrix."""
        return Whole(self.matrix.T)

    def apply(self, cube: Floats) -> Floats:
        """Multiply along the second axis, and exchange it with the third."""
        return np.asarray(cube.swapaxes(1, 2).reshape(-1, self.size) @ self.matrix)


@dataclass(frozen=True)
class Even:
    """A diagonal, and a line that is added to all others; ``upright``: a column instead."""

    own: Floats
    line: Floats
    upright: bool = False

    @property
    def size(self) -> int:
        """Return how many lines there are."""
        return len(self.own)

    @property
    def diagonal(self) -> Floats:
        """Return the diagonal."""
        return self.own + self.line

    @property
    def turned(self) -> Even:
        """Return the transposed matrix."""
        return Even(self.own, self.line, not self.upright)

    def apply(self, cube: Floats) -> Floats:
        """Multiply along the second axis, and exchange it with the third."""
        made = cube * self.own[:, None]
        if self.upright:
            made += np.einsum("lvr,v->lr", cube, self.line)[:, None, :]
        else:
            made += cube.sum(axis=1)[:, None, :] * self.line[:, None]
        return made.swapaxes(1, 2)


Factor = Whole | Even


@dataclass(frozen=True)
class Drawing:
    """The matrices, and the moments of what a record adds to the unbiased estimate.

    ``squares[t, s]`` and ``cubes[t, s]`` are the expected square and cube of what the truth t adds to the count of s.
    """

    forth: list[Factor]
    back: list[Factor]
    squares: list[Factor]
    cubes: list[Factor]

    @property
    def values(self) -> int:
        """Return how many values, or combinations of them, there are."""
        return math.prod(part.size for part in self.forth)

    def shown(self, counts: Floats) -> Floats:
        """Return how often each value is shown on average."""
        return along(counts, self.forth)

    def traced(self, ratios: Floats) -> Floats:
        """Return what each truth is expected to meet, of numbers that belong to what is shown."""
        return along(ratios, [part.turned for part in self.forth])

    def unbiased(self, observed: Floats) -> Floats:
        """Return the unbiased estimate."""
        return along(observed, self.back)

    def variances(self, counts: Floats) -> Floats:
        """Return the variances of the unbiased estimate, if the counts are these."""
        return np.asarray(np.maximum(along(counts, self.squares) - counts, 0.0))

    def variance_of(self, sums: Floats, counts: Floats) -> Floats:
        """Return the variance of a sum of the unbiased estimate with these factors, in each cell with these counts."""
        adds = along(sums, [part.turned for part in self.back])
        return np.asarray(np.maximum((counts * (self.traced(adds**2) - sums**2)).sum(axis=1), 0.0))

    def curvature(self, fit: Floats) -> Floats:
        """Return, for each cell, the information about counts in numbers that are shown, of which this many fit."""
        cells, values = fit.shape
        curve = np.zeros((cells, values, values))
        curve[:, range(values), range(values)] = fit
        for _ in range(2):  # along the lines, and along the columns
            curve = self.traced(curve.reshape(-1, values)).reshape(curve.shape).swapaxes(1, 2)
        return curve

    def own(self) -> Floats:
        """Return, in a line for each value, variance and third moment of what a record adds to its own value."""
        square, cube = (_diagonal(parts) for parts in (self.squares, self.cubes))
        return np.stack([np.maximum(square - 1, 0.0), cube - 3 * square + 2], axis=1)

    def others(self, counts: Floats) -> Floats:
        """Return the same for records with other values, on average, in each cell with these counts."""
        counts = counts + 1 / counts.shape[1]  # one record more, so that there always is another value
        rest = np.maximum(counts.sum(axis=1, keepdims=True) - counts, np.finfo(float).tiny)
        moments = [along(counts, parts) - counts * _diagonal(parts) for parts in (self.squares, self.cubes)]
        return np.ascontiguousarray(np.stack([moment / rest for moment in moments], axis=2))


def drawing_of(matrix: NDArray[Any] | Sequence[NDArray[Any]]) -> Drawing:
    """Return a matrix, or one for each axis, with its inverse and moments; raise if it does not have these."""
    given = [matrix] if isinstance(matrix, np.ndarray) else list(matrix)
    forth = [np.ascontiguousarray(part, dtype=np.float64) for part in given]
    if not forth or any(part.ndim != 2 or part.shape[0] != part.shape[1] or not part.size for part in forth):
        raise ParameterError(f"the matrices have shapes {[part.shape for part in forth]}; they must be square.")
    made = Drawing([], [], [], [])
    for part in forth:
        if not (part.min() >= 0 and np.abs(part.sum(axis=1) - 1).max() <= ROUNDED):
            raise ParameterError(
                "a row of a matrix is not a distribution: its numbers must be at least 0 and add up to 1."
            )
        even = _even(part)
        if not (np.linalg.cond(part) if even is None else 1 / max(float(even.own.min()), 1 / FLAT)) < FLAT:
            raise ParameterError(
                f"a matrix of {len(part)} values has no inverse: different true values look the same.",
                hint="if no value is kept, values cannot be distinguished.",
            )
        _add(made, _inverted(part) if even is None else _inverted_even(even))
    return made


def _add(made: Drawing, factors: tuple[Factor, Factor, Factor, Factor]) -> None:
    for parts, factor in zip((made.forth, made.back, made.squares, made.cubes), factors, strict=True):
        parts.append(factor)


def _even(matrix: Floats) -> Even | None:
    """Return a matrix in its short form, if it has one that is worth it."""
    if len(matrix) <= SMALL:
        return None
    line = np.concatenate([matrix[1:2, 0], matrix[0, 1:]])
    own = np.diag(matrix) - line
    if np.abs(own - own.mean()).max() > ALIKE or np.abs(matrix - line - np.diag(own)).max() > ALIKE:
        return None
    return Even(np.full(len(own), own.mean()), line)


def _inverted(matrix: Floats) -> tuple[Factor, Factor, Factor, Factor]:
    back = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    return Whole(matrix), Whole(back), Whole(matrix @ back**2), Whole(matrix @ back**3)


def _inverted_even(forth: Even) -> tuple[Factor, Factor, Factor, Factor]:
    keep = float(forth.own[0])
    # (k I + 1 b')^-1 by Sherman and Morrison; lines sum up to 1
    back = Even(np.full(forth.size, 1 / keep), -forth.line / (keep * (keep + forth.line.sum())))

    def moment(power: int) -> Even:
        line = back.line**power
        own = back.diagonal**power - line
        return Even(keep * own, (keep + forth.line.sum()) * line + forth.line * own)

    return forth, back, moment(2), moment(3)


def along(lines: Floats, parts: Sequence[Factor]) -> Floats:
    """Multiply each line by the Kronecker product of some matrices, one after the other along its own axis.

    The first axis becomes the last one each time, so that in the end all are where they were.
    """
    result = lines
    for part in parts:
        cube = result.reshape(len(lines), part.size, lines.shape[1] // part.size)
        result = part.apply(cube).reshape(lines.shape)
    return result


def _diagonal(parts: Sequence[Factor]) -> Floats:
    """Return the diagonal of a Kronecker product."""
    result: Floats = np.ones(1)
    for part in parts:
        result = np.multiply.outer(result, part.diagonal).ravel()
    return result
