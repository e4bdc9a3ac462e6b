"""What every transformation of a column is: a step that turns cells into other cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.core.shown_places import SHOWN, first_places

Figures = dict[str, float | int | bool]
"""What a step computed for the certificate: no value of a person is in it."""


@dataclass(frozen=True)
class Place:
    """Where a step stands: its column, its number in the column's list, and its name."""

    column: str
    number: int
    name: str

    @property
    def where(self) -> str:
        """The place in a policy, for messages."""
        return f"columns.{self.column}.transform.{self.number}.{self.name}"


class Step(Protocol):
    """A transformation, ready to be applied.

    Columns beside its own are those of the source. A ``whole`` step needs all cells of its column at once, because what
    becomes of one cell depends on the others.
    """

    @property
    def place(self) -> Place:
        """Where the step stands in the policy."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that it also reads."""

    @property
    def whole(self) -> bool:
        """Whether it needs all cells of its column at once."""

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the cells afterwards; what is wrong with some goes to the findings, and these cells are null."""


@dataclass
class _Wrong:
    count: int = 0
    records: list[int] = field(default_factory=list)


@dataclass
class Findings:
    """What steps find out: cells that they cannot transform, and figures. ``start`` is the number of the first record.

    Problems are raised after the last record, so that one message has all of them. ``checks`` look at all cells of a
    column together. Where records have no numbers, ``start`` is None; and where each cell stands for several records,
    ``counts`` says for how many. ``zones`` are the time zones in which texts have the times of the people of a column.
    """

    start: int | None = 1
    counts: NDArray[np.int64] | None = None
    figures: dict[Place, Figures] = field(default_factory=dict)
    checks: dict[Place, Callable[[], list[Problem]]] = field(default_factory=dict)
    zones: dict[str, dict[Place, set[str]]] = field(default_factory=dict)
    _wrong: dict[tuple[str, str, str], _Wrong] = field(default_factory=dict)
    _others: dict[Problem, None] = field(default_factory=dict)

    def note(self, place: Place, bad: pa.Array, what: str, hint: str) -> None:
        """Note that some cells are wrong; ``what`` follows their number, as in "3 cells are no numbers"."""
        mask = np.asarray(pc.fill_null(bad, False).to_numpy(zero_copy_only=False))
        if not mask.any():
            return
        places = np.flatnonzero(mask)
        wrong = self._wrong.setdefault((place.where, what, hint), _Wrong())
        wrong.count += len(places) if self.counts is None else int(self.counts[places].sum())
        if self.start is not None and len(wrong.records) <= SHOWN:
            wrong.records += (places[: SHOWN + 1] + self.start).tolist()

    def noted(self, place: Place, count: int, what: str, hint: str) -> None:
        """Note that so many cells are wrong, which others have counted."""
        if count:
            self._wrong.setdefault((place.where, what, hint), _Wrong()).count += count

    def add(self, other: Findings) -> None:
        """Add what was found out about other records, which have no numbers, but for what ``checks`` look at.

        A figure that says yes or no says yes if it does so of all records.
        """
        for where, wrong in other._wrong.items():
            self._wrong.setdefault(where, _Wrong()).count += wrong.count
        self._others |= other._others
        for person, places in other.zones.items():
            for place, zones in places.items():
                self.zones.setdefault(person, {}).setdefault(place, set()).update(zones)
        for place, figures in other.figures.items():
            before = self.figures.get(place, {})
            both = {
                name: before[name] and figure for name, figure in figures.items() if isinstance(before.get(name), bool)
            }
            self.figures[place] = {**figures, **both}

    def problem(self, problem: Problem) -> None:
        """Note something that is wrong with a column as a whole."""
        self._others[problem] = None

    def wrong(self) -> tuple[str, str] | None:
        """Return what is wrong with some cells, and a hint; None if nothing is."""
        return next(((what, hint) for _, what, hint in self._wrong), None)

    def problems(self) -> list[Problem]:
        """Return everything that is wrong so far."""
        found = [
            Problem(
                where,
                f"{_counted(wrong.count, what)}{f' ({places})' if (places := _records(wrong)) else ''}.",
                hint,
            )
            for (where, what, hint), wrong in self._wrong.items()
        ]
        checked = (problem for check in self.checks.values() for problem in check())
        return [*found, *self._others, *self._of_zones(), *checked]

    def _of_zones(self) -> Iterator[Problem]:
        """Yield a problem for each column of people whose times are in several zones."""
        for places in self.zones.values():
            zoned = {place: zones for place, zones in places.items() if zones}
            zones = set().union(*zoned.values())
            if len(zones) > 1:
                beside = "" if len(zoned) == 1 else f" in {len(zoned)} columns"
                what = f"has times of {len(zones)} time zones{beside}, and a person may be in several of them."
                yield Problem(next(iter(zoned)).where, what, "write all times in one time zone.")


def _records(wrong: _Wrong) -> str:
    return first_places(wrong.records, "record") if wrong.records else ""


def _counted(count: int, what: str) -> str:
    """Return a sentence about so many cells; ``what`` is in the plural."""
    if count != 1:
        return f"{count} cells {what}"
    verb, rest = what.split(" ", 1)
    return f"1 cell {({'are': 'is', 'have': 'has'}).get(verb, verb)} {rest}"


def inner(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values, where cells come with a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells of a type are texts."""
    kind = inner(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def text_kind(kind: pa.DataType) -> pa.DataType:
    """Return the type of texts that replace cells of a type: their own, if they are texts."""
    kind = inner(kind)
    return kind if pa.types.is_string(kind) or pa.types.is_large_string(kind) else pa.string()


def by_value(cells: pa.Array, work: Any) -> pa.Array:
    """Do something with each different value once, and give each cell what became of its value."""
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    return work(coded.dictionary).take(coded.indices)


def plain(cells: pa.Array) -> pa.Array:
    """Return cells without a dictionary."""
    return cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
