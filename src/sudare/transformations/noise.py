"""Noise: a random number is added to each, or each is multiplied by a random factor near 1.

The noise has mean 0 and a variance that the certificate publishes, so an analyst can take it off again. Correlated
noise has the covariances of the columns themselves, times ``sd`` squared: then means and correlations are kept, and all
covariances grow by the same factor, 1 + ``sd`` squared (Kim 1986; Tendick 1991).

The random words are the operating system's. With a statistical generator, whoever knew some of the true values could
compute its state, and take the noise off all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.core.randomness import Entropy
from sudare.policy import NoiseSpec
from sudare.transformations.number_cells import Numbers, beyond_whole, number_kind, read_numbers, written
from sudare.transformations.step import Figures, Findings, Place

Reals = NDArray[np.float64]
_LESS = "use less noise, or smaller numbers."
ROUNDED = 1 / 12
"""The variance of what rounding to whole numbers adds."""


@dataclass(frozen=True)
class Noise:
    """Adds noise to the numbers of one column; columns of whole numbers stay whole."""

    place: Place
    spec: NoiseSpec
    entropy: Entropy
    of_text: bool
    beside: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether all cells are needed at once: for their deviation or total, or to see whether they are whole."""
        return self.spec.sd is not None or self.spec.keep_total or self.of_text

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return number_kind(given, whole=True, numbers=self.spec.bounds or ())

    def _nothing_to_add(self, values: Reals, findings: Findings) -> None:
        """Note that no noise would be added, so that the cells would be shown as they are."""
        if self.spec.sd is not None and len(values) and spread(values) == 0:
            what = "the column has one value, so a share of its standard deviation is 0: there would be no noise."
            findings.problem(Problem(self.place.where, what, "use scale, or remove the column."))
        if self.spec.keep_total and len(values) == 1:
            what = "the total of one number is the number itself, so that keep_total leaves it as it is."
            findings.problem(Problem(self.place.where, what, "remove keep_total."))

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the cells with noise."""
        numbers = read_numbers(cells, self.place, findings)
        values, there = numbers.values.astype(np.float64), numbers.there
        self._nothing_to_add(values[there], findings)
        if self.spec.kind == "multiplicative":
            deviation = self.spec.scale or 0.0
            noise = values * normal(self.entropy, len(values)) * deviation
            figures: Figures = {"factor_sd": deviation}
        else:
            deviation = self.spec.scale or (self.spec.sd or 0.0) * spread(values[there])
            if self.spec.kind == "laplace":
                # scale is that of the distribution, whose variance is twice its square; sd is the deviation itself
                scale = deviation if self.spec.sd is None else deviation / np.sqrt(2)
                noise, variance = laplace(self.entropy, len(values)) * scale, 2 * scale * scale
            else:
                noise, variance = normal(self.entropy, len(values)) * deviation, deviation * deviation
            figures = {"error_variance": float(variance)}
        return self.finished(cells, numbers, noise, figures, findings)

    def finished(
        self, cells: pa.Array, numbers: Numbers, noise: Reals, figures: Figures, findings: Findings
    ) -> pa.Array:
        """Return the cells with this noise, rounded, bounded, and with their total as the policy asks; note figures."""
        values, there = numbers.values.astype(np.float64), numbers.there
        self._check(numbers, figures, findings)
        if self.spec.keep_total and there.any():
            noise = noise - noise[there].mean()
        found = values + np.where(there, noise, 0.0)
        beyond = there & (beyond_whole(found) if numbers.whole else ~np.isfinite(found))
        findings.note(self.place, pa.array(beyond), "would be beyond all numbers with their noise", _LESS)
        found = np.where(beyond, 0.0, found)
        if self.spec.bounds is not None:
            low, high = self.spec.bounds
            found = np.clip(found, low, high)
        if numbers.whole:
            found = self._rounded(found, numbers)
            if "error_variance" in figures:
                figures["error_variance"] = float(figures["error_variance"]) + ROUNDED
        noted: Figures = {name: float(f"{figure:.4g}") for name, figure in figures.items()}
        findings.figures[self.place] = {**noted, "rounded": numbers.whole, "bounded": self.spec.bounds is not None}
        shown: NDArray[Any] = found.astype(np.int64) if numbers.whole else found
        return written(shown, there, self.kind(cells.type))

    def _check(self, numbers: Numbers, figures: Figures, findings: Findings) -> None:
        """Note noise that is too much, and bounds that no number can have."""
        if not np.isfinite(float(figures.get("error_variance", 0.0))):
            findings.problem(Problem(self.place.where, "has a variance beyond all numbers.", _LESS))
        bounds = self.spec.bounds
        if numbers.whole and bounds is not None and np.ceil(bounds[0]) > np.floor(bounds[1]):
            what = "has bounds with no whole number between them, and the column holds whole numbers."
            findings.problem(Problem(f"{self.place.where}.bounds", what, "give others, as in [0, 100]."))

    def _rounded(self, found: Reals, numbers: Numbers) -> Reals:
        """Return whole numbers; some records, drawn at random, make up for what the total lost or gained."""
        rounded = np.round(found)
        if self.spec.bounds is not None:
            rounded = np.clip(rounded, np.ceil(self.spec.bounds[0]), np.floor(self.spec.bounds[1]))
        if self.spec.keep_total:
            places = np.flatnonzero(numbers.there)
            gain = int(rounded[places].sum() - numbers.values[places].sum())
            chosen = places[self.entropy.permutation(len(places))[: abs(gain)]]
            rounded[chosen] -= np.sign(gain)
        return rounded


def correlated(parts: Sequence[tuple[Noise, pa.Array]], entropy: Entropy, findings: Findings) -> list[pa.Array]:
    """Return columns with noise that has their own covariances, times the square of their common ``sd``."""
    numbers = [read_numbers(cells, noise.place, findings) for noise, cells in parts]
    complete = np.logical_and.reduce([each.there for each in numbers])
    sd = parts[0][0].spec.sd or 0.0
    if np.count_nonzero(complete) <= len(parts):
        for noise, _ in parts:
            what = "needs more records in which none of the columns is empty."
            findings.problem(Problem(noise.place.where, what, "remove correlated_with."))
        return [pa.nulls(len(cells), noise.kind(cells.type)) for noise, cells in parts]
    known = np.stack([each.values[complete].astype(np.float64) for each in numbers])
    covariance = np.atleast_2d(np.cov(known))
    # of a root by eigenvectors, columns may also determine each other
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.stack([normal(entropy, len(complete)) for _ in parts])
    noises = sd * (root @ drawn)
    found = []
    for at, (noise, cells) in enumerate(parts):
        figures: Figures = {"error_variance": float(sd**2 * covariance[at, at]), "inflation": 1 + sd**2}
        found.append(noise.finished(cells, numbers[at], noises[at], figures, findings))
    return found


def spread(values: Reals) -> float:
    """Return the standard deviation of numbers."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _uniform(entropy: Entropy, count: int) -> Reals:
    """Return numbers in (0, 1] with 53 random bits."""
    words = entropy.words(2 * count).view(np.uint64)
    return np.asarray(((words >> np.uint64(11)) + np.uint64(1)) * 2.0**-53)


def normal(entropy: Entropy, count: int) -> Reals:
    """Return standard normal numbers (Box and Muller 1958)."""
    half = (count + 1) // 2
    radius, angle = np.sqrt(-2 * np.log(_uniform(entropy, half))), 2 * np.pi * _uniform(entropy, half)
    return np.concatenate((radius * np.cos(angle), radius * np.sin(angle)))[:count]


def laplace(entropy: Entropy, count: int) -> Reals:
    """Return numbers with a standard Laplace distribution: the difference of two exponential ones."""
    return np.log(_uniform(entropy, count)) - np.log(_uniform(entropy, count))
