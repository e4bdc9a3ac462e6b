"""Transformed columns of a table that stays in its database: a temporary table in which they are derived from its own.

Steps that a database works out exactly as they are worked out here become SQL: top and bottom coding and rounding of
whole numbers, shifts of dates, and redaction. For all others the different values of the column come here with their
counts, the usual steps are applied to them, and what became of each value goes back as a temporary table. So the cells
are those of any other engine. These tables connect people with pseudonyms and offsets: they are dropped as soon as all
columns are derived.

Steps that are random, or that look at more than different values, need the records themselves (:func:`can_derive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from sudare.engines import Database, Place
from sudare.engines.database.derived_tables import Derived, Expression, fits
from sudare.pipeline.request import Request
from sudare.policy import Policy
from sudare.sources.cell_cleaner import CellProblemsError
from sudare.transformations.limits import Limit
from sudare.transformations.masks import Redaction
from sudare.transformations.noise import Noise
from sudare.transformations.periods import Beginning, Period
from sudare.transformations.rank_swaps import RankSwap
from sudare.transformations.rounded_numbers import Rounding
from sudare.transformations.shifts import Shift
from sudare.transformations.shuffles import Shuffle
from sudare.transformations.step import Findings, Step, is_text
from sudare.transformations.transformation_facts import facts
from sudare.transformations.transformed_columns import Transformed

SAME_TYPE = ("shift", "top", "bottom", "round", "noise", "swap", "shuffle")
"""The transformations after which a column keeps the type that the database has for it, if its cells can."""


def keeps_type(policy: Policy, name: str) -> bool:
    """Return whether what is released of a column is of its own type, in the words of a database."""
    steps = policy.columns[name].transform or ()
    return all(step.name in SAME_TYPE and not isinstance(getattr(step.step, "shows", None), str) for step in steps)


def can_derive(request: Request, kinds: Mapping[str, pa.DataType]) -> bool:
    """Return whether all transformations can be done where the records are; ``kinds`` are the types of columns."""
    policy = request.policy
    if policy.sample is not None:
        return False
    work = Transformed.of(policy, kinds, policy.released, request.seed)
    nested = any(pa.types.is_nested(kinds[name]) for name in work.steps)
    return not nested and all(_by_value(step) for steps in work.steps.values() for step in steps)


def _by_value(step: Step) -> bool:
    """Return whether what becomes of a cell depends on nothing but its value, and who it is about."""
    if isinstance(step, Noise | RankSwap | Shuffle):
        return False
    if isinstance(step, Rounding):
        return step.spec.how != "random"
    return not (isinstance(step, Limit) and step.whole)


@contextmanager
def derived(request: Request, database: Database, origin: Place) -> Iterator[Place]:
    """Yield the table whose columns are transformed; until it is left, it can be read as any other.

    What the certificate says of transformations goes to the request.
    """
    policy = request.policy
    if not policy.transforms:
        yield origin
        return
    schema = database.columns(origin)
    kinds = dict(zip(schema.names, database.types(origin), strict=True))
    work = Transformed.of(policy, kinds, policy.released, request.seed)
    work.findings.start = None
    with Derived(database, origin).dropped() as table:
        found: dict[str, Expression] = {}
        offsets: dict[tuple[str, int, object], Expression] = {}
        for name, steps in work.steps.items():
            found[name] = _Column(table, work, name, offsets).after(steps)
        if problems := work.findings.problems():
            raise CellProblemsError(problems)
        request.transformations = list(facts(work))
        same = [name for name in found if keeps_type(policy, name)]
        names = [name for name in policy.released if name in schema.names]
        yield table.made(names, found, same)


class _Column:
    """The steps of one column."""

    def __init__(
        self, table: Derived, work: Transformed, name: str, offsets: dict[tuple[str, int, object], Expression]
    ) -> None:
        self.table, self.work, self.name, self.offsets = table, work, name, offsets

    def after(self, steps: Sequence[Step]) -> Expression:
        """Return the column after its steps: as many as can be are SQL, and the rest is looked up by value."""
        cells = self.table.column(self.name)
        for number, step in enumerate(steps):
            following = self._in_sql(step, cells)
            if following is None:
                return self._looked_up(self._reduced(step, cells), steps[number:])
            cells = following
        return cells

    def _in_sql(self, step: Step, cells: Expression) -> Expression | None:
        """Return the cells after a step, or None if SQL would not say exactly the same."""
        if isinstance(step, Redaction):
            return cells.nothing(step.kind(cells.kind))
        if isinstance(step, Limit) and cells.is_whole and fits(step.spec.at):
            shows = step.spec.at if step.spec.shows is None else step.spec.shows
            if isinstance(shows, float) and fits(shows) and step.spec.at is not None:
                self._note_figures(step, cells)
                return cells.limited(int(step.spec.at), int(shows), below=step.below)
        if isinstance(step, Rounding) and cells.is_whole and fits(step.spec.to):
            self._note_figures(step, cells)
            return cells.rounded(int(step.spec.to), step.spec.how)
        if isinstance(step, Shift) and (cells.is_date or cells.is_time):
            return self._shifted(step, cells)
        return None

    def _note_figures(self, step: Step, cells: Expression) -> None:
        """Note the figures of a step that follow from the type of cells alone."""
        step.apply(pa.array([], cells.kind), {}, self.work.findings)

    def _shifted(self, step: Shift, cells: Expression) -> Expression:
        """Return dates that move by the offsets of people; those that cannot are noted."""
        key = (step.person, step.spec.days, step.key)
        if key not in self.offsets:
            person = self.table.column(step.person)
            people = self.table.distinct([person]).cells
            self.offsets[key] = self.table.mapped([person], people, step.moves(_one(people.column(0))))
        days = self.offsets[key]
        findings, moved = self.work.findings, cells.moved(days)
        step.note_nobody(self.table.counted(cells.without(days)), findings)
        step.note_outside(self.table.counted(moved.outside_of_years()), findings)
        return moved

    def _reduced(self, step: Step, cells: Expression) -> Expression:
        """Return what a step looks at of the cells, which has fewer different values."""
        if isinstance(step, Period) and cells.is_time:
            return cells.day()
        if isinstance(step, Beginning) and is_text(cells.kind) and step.spec.keep is not None:
            # one character more than the longest text for missing tells such texts from all others
            tokens = self.work.policy.source.missing_everywhere
            return cells.beginning(max([step.spec.keep, *(len(token) + 1 for token in tokens)]))
        return cells

    def _looked_up(self, cells: Expression, steps: Sequence[Step]) -> Expression:
        """Return the cells after steps that go by value."""
        beside = list(dict.fromkeys(name for step in steps for name in step.beside))
        keys = [cells, *(self.table.column(name) for name in beside)]
        values = self.table.distinct(keys)
        findings = Findings(None, values.counts, checks=self.work.findings.checks)
        own = replace(self.work, steps={self.name: list(steps)}, findings=findings)
        given = {name: _one(column) for name, column in zip([self.name, *beside], values.cells.columns, strict=True)}
        shown = own.columns(given)[self.name]
        self.work.findings.add(findings)
        kind = cells.kind
        for step in steps:
            kind = step.kind(kind)
        return self.table.mapped(keys, values.cells, shown.cast(kind))


def _one(cells: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, without a dictionary; text needs offsets of 64 bits."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    kind = pa.large_string() if is_text(kind) else kind
    found = cells.cast(kind).combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
