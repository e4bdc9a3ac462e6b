"""Cells of transformed columns: which of them break the form that the transformations leave.

Cells are taken apart by the rules of ``docs/release.md``: both ends of a range, and each member of a set, are values
and have the form. A label of a hierarchy covers such values, and is no value itself; it has to be a label of a group.
Numbers of cells are added up, so that parts of a release can be looked at one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sudare.audits.cell_counts import OTHER, members_of, unquoted
from sudare.audits.cell_equality import is_list, listed_items
from sudare.audits.rule_levels import LEAF, ODD, ROOT, is_written, level_of
from sudare.audits.transformation_forms import AnyOf, Bands, Form, Numbers, is_round_beyond, number_of
from sudare.policy import ColumnSpec, HierarchySpec


@dataclass
class Tally:
    """How many cells break the form, are groups of a hierarchy, or are ranges with ends that were rounded outward.

    ``written`` counts the labels of bands by how they are written.
    """

    broken: int = 0
    groups: int = 0
    outward: int = 0
    written: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Take in what other cells showed."""
        self.broken += other.broken
        self.groups += other.groups
        self.outward += other.outward
        for kind, many in other.written.items():
            self.written[kind] = self.written.get(kind, 0) + many

    @property
    def offending(self) -> int:
        """The cells that break the form; bands that are written in two ways are bands of two kinds."""
        return self.broken + min(self.written.get("closed", 0), self.written.get("open", 0))


@dataclass(frozen=True)
class Groups:
    """The labels of a hierarchy that stand for groups of values; ``labels`` are those of a hierarchy with a list."""

    spec: HierarchySpec
    labels: frozenset[str]

    def holds(self, label: str) -> bool:
        """Return whether a label is one of a group."""
        if label == ROOT:
            return True
        if is_written(self.spec):
            return label in self.labels
        level = level_of(self.spec, label)
        return level != LEAF and (level != ODD or bool(self.spec.auto))


@dataclass(frozen=True)
class Checked:
    """A transformed column of a release: the form of its values, and how its cells show them.

    ``generalized`` says that cells may be ranges, sets and labels, and ``safe`` that rare values are never ends of
    ranges or members of sets. ``sets`` says that each cell holds several values.
    """

    name: str
    form: Form
    generalized: bool = False
    safe: bool = False
    sets: bool = False
    groups: Groups | None = None

    def look(self, cells: Iterable[tuple[str, int]]) -> Tally:
        """Return what some different cells show, each with its number."""
        found = Tally()
        for cell, many in cells:
            kinds = set(self._kinds(cell, found, many)) if cell else set()
            if "broken" in kinds:
                found.broken += many
            elif "group" in kinds:
                found.groups += many
            elif "outward" in kinds:
                found.outward += many
        return found

    def _kinds(self, cell: str, found: Tally, many: int) -> Iterable[str]:
        """Yield what the parts of a cell are."""
        if not self.generalized:
            yield self._value(cell, found, many)
            return
        if self.sets or self.groups is not None:
            label = cell if self.sets else unquoted(cell)
            if self.groups is None or self.form.accepts(label):
                yield self._value(label, found, many)
            else:
                yield "group" if self.groups.holds(label) else "broken"
            return
        if cell == "*":
            return
        if cell.startswith("{") and cell.endswith("}"):
            members = members_of(cell[1:-1])
            if not members:
                yield "broken"
            for member in members:
                if member is not None:
                    yield "fine" if self.safe and member == OTHER else self._value(member, found, many)
            return
        if cell.startswith("[") and cell.endswith("]") and ", " in cell and not isinstance(self.form, Bands):
            yield self._range(*cell[1:-1].split(", ", 1))
            return
        alone = unquoted(cell)
        yield "fine" if self.safe and alone == OTHER else self._value(alone, found, many)

    def _value(self, text: str, found: Tally, many: int) -> str:
        if not self.form.accepts(text):
            return "broken"
        if isinstance(self.form, Bands):
            kind = self.form.kind(text)
            found.written[kind] = found.written.get(kind, 0) + many
        return "fine"

    def _range(self, low: str, high: str) -> str:
        """Return what a range is: its ends are values, or round numbers outside of rare ones."""
        first, last = number_of(low), number_of(high)
        if first is None or last is None or first > last:
            return "broken"
        bounds = self.form.bounds()
        if (bounds[1] is not None and first > bounds[1]) or (bounds[0] is not None and last < bounds[0]):
            return "broken"  # no value of the form lies in it
        ends = [end for end, text in ((first, low), (last, high)) if not self.form.accepts(text)]
        if not ends:
            return "fine"
        numbers = self.form.forms[0] if isinstance(self.form, AnyOf) else self.form
        grid = numbers.grid if isinstance(numbers, Numbers) else None
        sound = self.safe and isinstance(numbers, Numbers)
        return "outward" if sound and all(is_round_beyond(end, bounds, grid) for end in ends) else "broken"


def doubtful(raw: str, kind: Any, spec: ColumnSpec, checked: Checked, *, typed: bool = True) -> str:
    """Return SQL for the text of a cell, or a list of texts if it holds several values.

    What is empty, or quickly seen to have the form, is null. ``typed`` says that the raw cell has the type of its
    column, and is not its text.
    """
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not checked.sets:
        exact = pa.types.is_integer(kind) or pa.types.is_float64(kind)
        return _doubtful(f"CAST({raw} AS VARCHAR)", kind, checked, raw if exact and typed else None)
    inner = kind.value_type if is_list(kind) else kind
    return f"[{_doubtful('item', inner, checked)} FOR item IN {listed_items(raw, kind, spec)}]"


def _doubtful(cell: str, kind: Any, checked: Checked, number: str | None = None) -> str:
    if pa.types.is_floating(kind):
        cell = f"nullif({cell}, 'nan')"  # which is a missing cell
    # what is no value may look like one: a set of few letters
    plain = not checked.generalized or checked.sets or isinstance(checked.form, Numbers)
    quick = checked.form.quick(cell, number) if plain else None
    return f"nullif({cell}, '')" if quick is None else f"CASE WHEN {quick} THEN NULL ELSE nullif({cell}, '') END"
