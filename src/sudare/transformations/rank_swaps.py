"""Rank swapping: each value changes places with one whose rank is not far (Moore 1996).

Values are ranked. From the lowest upwards, each value that has not been swapped gets a
partner at random among the next ranks. So the column keeps all its values, and hence its mean and variance, and no
value moves further than the policy allows. Missing cells stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.core.randomness import Entropy
from sudare.policy import SwapSpec
from sudare.transformations.date_cells import dates_only
from sudare.transformations.number_cells import read_numbers
from sudare.transformations.step import Figures, Findings, Place, is_text, plain

LEAST_RANKS = 2
"""With one rank only, all values would change places with the next one."""


@dataclass(frozen=True)
class RankSwap:
    """Swaps values of near ranks; ``order`` ranks categories."""

    place: Place
    spec: SwapSpec
    entropy: Entropy
    order: Sequence[str] | None
    beside: tuple[str, ...] = ()
    whole: bool = True

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return given.value_type if pa.types.is_dictionary(given) else given

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the swapped cells."""
        from sudare.kernels.transformations.swap_partners import swap_partners

        cells = plain(cells)
        keys, there = self._keys(cells, findings)
        places = np.flatnonzero(there)
        places = places[np.argsort(keys[places], kind="stable")]
        most = int(self.spec.within * len(places))
        if most < LEAST_RANKS and len(places):
            what = f"reaches fewer than {LEAST_RANKS} ranks: with so few records everybody could undo it."
            findings.problem(Problem(self.place.where, what, "use a larger within, or shuffle."))
            return cells
        partners = swap_partners(len(places), most, self.entropy.words(len(places)))
        source = np.arange(len(cells))
        source[places] = places[partners]
        moves = np.abs(partners - np.arange(len(partners)))
        figures: Figures = {"largest_move": float(f"{moves.max(initial=0) / max(len(moves), 1):.3g}")}
        findings.figures[self.place] = figures
        return cells.take(pa.array(source))

    def _keys(self, cells: pa.Array, findings: Findings) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
        """Return what cells are ranked by, and which are there."""
        if self.order is not None:
            texts = pc.utf8_trim_whitespace(cells.cast(pa.large_string()))
            rank = pc.index_in(texts, value_set=pa.array(self.order, pa.large_string()))
            bad = pc.and_(cells.is_valid(), rank.is_null())
            findings.note(self.place, bad, "are not in the order of the column", "add them to order.")
            return rank.fill_null(0).to_numpy(), rank.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
            return _axis(cells)
        if is_text(cells.type) and _dated(cells):
            return _axis(dates_only(cells, self.place, findings))
        numbers = read_numbers(cells, self.place, findings, ranked=True)
        return numbers.values, numbers.there


def _axis(dates: pa.Array) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
    whole = dates.cast(pa.int32() if dates.type == pa.date32() else pa.int64())
    return np.asarray(whole.fill_null(0)), np.asarray(dates.is_valid())


def _dated(cells: pa.Array) -> bool:
    """Return whether texts look like dates: the first that is there has the form of one."""
    first = cells.drop_null().slice(0, 1).to_pylist()
    return bool(first) and len(first[0]) >= 10 and first[0][4:5] == "-" and first[0][7:8] == "-"
