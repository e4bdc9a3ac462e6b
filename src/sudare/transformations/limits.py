"""Top and bottom coding: values beyond a limit show the limit, or a text such as ``90+``.

The limit is given, or found by a share of the records. It is then a round number with at least this share of the
records, and at least k people, beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.policy import BottomSpec, TopSpec
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.number_cells import Numbers, as_whole, is_small, number_kind, read_numbers, written
from sudare.transformations.step import Figures, Findings, Place, text_kind

_DIGITS = 2
"""The digits of a limit that is found: enough to be near, and so few that it is a round number."""


@dataclass(frozen=True)
class Limit:
    """Top coding, or bottom coding with ``below``; ``least`` people are beyond a limit that is found."""

    place: Place
    spec: TopSpec | BottomSpec
    least: int
    person: str | None

    @property
    def below(self) -> bool:
        """Whether small values are coded."""
        return isinstance(self.spec, BottomSpec)

    @property
    def whole(self) -> bool:
        """Whether the limit depends on all cells."""
        return self.spec.share is not None

    @property
    def beside(self) -> tuple[str, ...]:
        """The column of people, if these are counted."""
        return (self.person,) if self.whole and self.person is not None else ()

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        if isinstance(self.spec.shows, str):
            return text_kind(given)
        fixed = [each for each in (self.spec.at, self.spec.shows) if each is not None]
        return number_kind(given, whole=all(float(each).is_integer() for each in fixed), numbers=fixed)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the cells with those beyond the limit coded."""
        kind = self.kind(cells.type)
        numbers = read_numbers(cells, self.place, findings)
        limit = self.spec.at
        if limit is None:
            limit = self._found(numbers, beside, findings)
            if limit is None:
                return pa.nulls(len(cells), kind)
        values = numbers.values
        beyond = numbers.there & (values < limit if self.below else values > limit)
        if isinstance(self.spec.shows, str):
            texts = written(values, numbers.there, text_kind(cells.type))
            return pa.compute.if_else(pa.array(beyond), pa.scalar(self.spec.shows, kind), texts.cast(kind))
        shown = as_whole(limit if self.spec.shows is None else self.spec.shows)
        if not is_small(shown) and pa.types.is_integer(kind):
            findings.note(self.place, pa.array(beyond), "would show a number beyond 64 bits", "let shows be smaller.")
            return written(values, numbers.there & ~beyond, kind)
        if numbers.whole and (isinstance(shown, float) or not is_small(shown)):
            values = values.astype(np.float64)
        return written(np.where(beyond, np.asarray(shown, dtype=values.dtype), values), numbers.there, kind)

    def _found(self, numbers: Numbers, beside: Mapping[str, pa.Array], findings: Findings) -> float | None:
        """Return a round limit with enough records and people beyond it, and note it for the certificate."""
        sign = -1 if self.below else 1
        there = np.flatnonzero(numbers.there)
        order = there[np.argsort(sign * numbers.values[there], kind="stable")[::-1]]
        enough = max(math.ceil((self.spec.share or 0.0) * len(order)), self.least)
        if self.person is not None:
            enough = max(enough, _first_with(beside[self.person], order, self.least))
        sorted_values = (sign * numbers.values[order]).astype(np.float64)
        last = np.searchsorted(-sorted_values, -sorted_values[enough - 1], side="right") if enough <= len(order) else 0
        if enough > len(order) or last >= len(order):
            what = f"fewer than {self.least} people would be beyond a limit, or nobody within it."
            findings.problem(Problem(self.place.where, what, "give the limit itself: at."))
            return None
        limit = sign * _rounded_down(float(sorted_values[last]), whole=numbers.whole)
        beyond = numbers.there & (numbers.values < limit if self.below else numbers.values > limit)
        share = float(f"{np.count_nonzero(beyond) / max(len(order), 1):.2g}")
        figures: Figures = {"limit": as_whole(limit), "share": share}
        findings.figures[self.place] = figures
        return limit


def _first_with(persons: pa.Array, order: NDArray[np.int64], least: int) -> int:
    """Return how many records from the first on are about so many different people; too many if there are not."""
    texts = normal_texts(persons)
    codes = texts.dictionary_encode().indices.fill_null(-1).to_numpy()[order]
    _, first = np.unique(codes[codes >= 0], return_index=True)
    places: NDArray[Any] = np.sort(np.flatnonzero(codes >= 0)[first])
    return int(places[least - 1]) + 1 if len(places) >= least else len(order) + 1


def _rounded_down(number: float, *, whole: bool) -> float:
    """Return the next round number that is not above this one."""
    if number == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - _DIGITS + 1)
    if whole and unit < 1:
        unit = 1.0
    return float(f"{math.floor(number / unit) * unit:.12g}")
