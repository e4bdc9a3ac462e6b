"""A risk report: how exposed a table is, before and after a release, and what attacks on the release achieve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.core.progress import Listener, silent
from sudare.risks.class_risk import Classes, Exposure, exposure, exposure_of_people, group_rows, people_by_class
from sudare.risks.inference import Inference, Votes, guess_as_it_is, guess_by_model, histogram, judge
from sudare.risks.intervals import Success
from sudare.risks.linkage import Linkage, link, link_as_it_is
from sudare.risks.matches import Matching
from sudare.risks.nearest_classes import NearestClasses
from sudare.risks.nearest_records import NEAR, NearestRecords, Witness, changed, matching_of
from sudare.risks.population_risk import Journalist, from_fraction, from_release, from_table, row_codes
from sudare.risks.population_uniqueness import Uniqueness, uniqueness
from sudare.risks.released_codes import ReleasedCodes
from sudare.risks.released_columns import Unique
from sudare.risks.singling_out import SinglingOut, single_out
from sudare.table import Column, ItemSets, Table

Ints = NDArray[np.int64]
PEOPLE = 10_000
"""As many people are attacked at the most, or records, where nobody knows whose they are; of more, some are drawn."""
COMPARED = 2e10
"""Pairs of a person and a class that are compared at the most; where there are many classes, fewer people are."""
FEWEST = 1_000


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """A release as an intruder sees it, in the codes of the data.

    ``votes`` are its information about sensitive columns, ``people`` the persons of its rows if it shows them. ``lost``
    of ``rows_in`` records were suppressed or masked; ``masked`` says which rows show nothing, if any. ``drawn`` says
    that quasi-identifiers were drawn at random: a cell may then be wrong, so attacks by matching cells are not
    possible. ``beliefs`` is then what the certificate says may be believed, by limited column.

    Of ``silent`` columns no cell says anything about known values. Values of ``moved`` columns stand in other records.
    ``witness`` is what records show in columns without a random change, where some known columns have one.
    ``sampled_out`` of the lost records were not in the sample.
    """

    shown: ReleasedCodes
    votes: Mapping[str, Votes]
    people: NDArray[np.integer[Any]] | None = None
    rows_in: int = 0
    lost: int = 0
    masked: NDArray[np.bool_] | None = None
    drawn: bool = False
    beliefs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    witness: Witness | None = None
    sampled_out: int = 0


@dataclass(frozen=True, eq=False)
class Transformed:
    """A table after its transformations, as far as these can be repeated: in its terms a release is read.

    ``population`` has the same codes; it is None if it would have to be transformed, too.
    """

    table: Table
    targets: Mapping[str, Column]
    population: Table | None = None


@dataclass(frozen=True)
class Side:
    """The figures of one side, before or after; None where there is no such figure."""

    records: Exposure | None
    people: Exposure | None
    journalist: Journalist | None
    uniqueness: Uniqueness | None
    singling_out: SinglingOut | None
    linkage: Linkage | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return {name: None if part is None else part.to_dict() for name, part in vars(self).items()}


@dataclass(frozen=True)
class Risk:
    """How exposed a table is to an intruder who knows some ``columns``, before and after a release.

    ``scores`` are the SUDA scores of the data's records, in their order; they are not in ``to_dict``, which has column
    names, counts and figures only.
    """

    rows: int
    released: int | None
    columns: tuple[str, ...]
    seed: int
    before: Side
    after: Side | None
    inference: tuple[Inference, ...]
    notes: tuple[str, ...] = field(default=())
    unique: Mapping[str, Unique | None] = field(default_factory=dict)
    """What is unique by all columns that are released, before and after; None where no column is insensitive."""
    beliefs: Mapping[str, Mapping[str, float]] | None = None
    """For a release whose values were drawn at random: what the certificate says may be believed of each column that
    alpha-gamma limits. None for all other releases."""
    not_inferred: Mapping[str, str] = field(default_factory=dict)
    """Why the values of a sensitive column were not guessed, by column."""
    transformed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the policy does to columns before everything else, by column: the figures before are those before that."""

    @property
    def unit(self) -> str:
        """What is attacked and counted: people if the policy has a subject, otherwise records."""
        return "records" if self.before.people is None else "people"

    @property
    def scores(self) -> NDArray[np.float64]:
        """The SUDA score of each record of the data."""
        found = self.before.singling_out
        return np.zeros(self.rows) if found is None else found.scores

    @property
    def criteria(self) -> dict[str, dict[str, Success | None]]:
        """Return the measured figure of each criterion of WP216, before and after; of inference the worst target's.

        Inference from values that were drawn at random is not measured: an intruder would use the matrices.
        """

        def linkage(side: Side | None, name: str) -> Success | None:
            return None if side is None or side.linkage is None else getattr(side.linkage, name)

        def inferred(name: str) -> Success | None:
            found = [guesses.worst for each in self.inference if (guesses := getattr(each, name)) is not None]
            return max(found, key=lambda one: one.above, default=None)

        sides = {"before": self.before, "after": self.after}
        return {
            "singling_out": {name: linkage(side, "singled_out") for name, side in sides.items()},
            "linkability": {name: linkage(side, "linked") for name, side in sides.items()},
            "inference": {
                "before": inferred("before"),
                "after": None if self.beliefs is not None else inferred("after"),
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has; nothing of it is a value of a person."""
        return {
            "rows": self.rows,
            "released": self.released,
            "columns": list(self.columns),
            "seed": self.seed,
            "unit": self.unit,
            "before": self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "inference": [each.to_dict() for each in self.inference],
            "not_inferred": dict(self.not_inferred),
            "wp216": {
                name: {side: None if one is None else one.to_dict() for side, one in sides.items()}
                for name, sides in self.criteria.items()
            },
            "unique": {
                side: None if (one := self.unique.get(side)) is None else one.to_dict() for side in ("before", "after")
            },
            "beliefs": None if self.beliefs is None else {name: dict(one) for name, one in self.beliefs.items()},
            "transformed": {name: list(steps) for name, steps in self.transformed.items()},
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        records = self.before.records
        risk = "" if records is None else f", largest risk {records.largest_risk:.4f}, mean {records.mean_risk:.4f}"
        after = None if self.after is None else self.after.records
        now = "" if after is None else f"; released {after.largest_risk:.4f}, mean {after.mean_risk:.4f}"
        return f"<sudare.Risk of {self.rows} records by {len(self.columns)} columns{risk}{now}>"

    def __str__(self) -> str:
        from sudare.risks.risk_text import show

        return "\n".join(show(self))


def assess(
    table: Table,
    columns: Sequence[str],
    targets: Mapping[str, Column],
    *,
    release: ReleaseView | None = None,
    transformed: Transformed | None = None,
    population: Table | None = None,
    fraction: float | None = None,
    most: int = 3,
    model: bool = False,
    seed: int = 0,
    progress: Listener | None = None,
) -> Risk:
    """Measure all figures of a table, and of a release of it, for an intruder who knows some columns.

    ``targets`` are the sensitive columns to be inferred. ``population`` has the same codes as the table; without it
    the table may be a ``fraction`` of one. ``most`` columns are combined at the most, ``seed`` draws who is attacked.
    The release is compared with the table as it is ``transformed``, if it is.
    """
    later = transformed or Transformed(table, targets, population)
    study = _Study(table, columns, release, later, population, fraction, most, seed, progress or silent)
    before = study.before()
    after = None if release is None else study.after(release)
    found = tuple(study.inferred(name, column, model) for name, column in targets.items())
    study.note_beliefs(list(targets))
    return Risk(
        rows=table.rows,
        released=None if release is None else release.shown.rows,
        columns=tuple(columns),
        seed=seed,
        before=before,
        after=after,
        inference=found,
        notes=tuple(study.notes),
        beliefs=release.beliefs if release is not None and release.drawn else None,
    )


class _Study:
    """A table, the known columns, the attacked people, and the release or population to compare."""

    def __init__(
        self,
        table: Table,
        names: Sequence[str],
        release: ReleaseView | None,
        later: Transformed,
        population: Table | None,
        fraction: float | None,
        most: int,
        seed: int,
        listener: Listener,
    ) -> None:
        self.table, self.names, self.release, self.listener = table, list(names), release, listener
        self.original: dict[str, Column | ItemSets] = {name: table.quasi[name] for name in names}
        self.single = {name: each for name, each in self.original.items() if isinstance(each, Column)}
        # an intruder who knows how columns were transformed transforms what is known
        self.later = later
        self.told = [name for name in names if release is None or name not in release.silent]
        self.columns: dict[str, Column | ItemSets] = {name: later.table.quasi[name] for name in self.told}
        self.population, self.fraction, self.most = population, fraction, most
        self.generator = np.random.default_rng(seed)
        self.notes: list[str] = []
        listener("count classes", 0, 0)
        coded = [row_codes([column]) for column in self.original.values()]
        self.classes = group_rows([codes for codes, _ in coded], [size for _, size in coded], table.rows)
        self.shown_classes = None if release is None else release.shown.grouped(self.names)
        most_people = PEOPLE
        if self.shown_classes is not None:
            pairs = NEAR if release is not None and changed(release.shown) else COMPARED
            most_people = min(PEOPLE, max(FEWEST, int(pairs / max(len(self.shown_classes.sizes), 1))))
        self.people = self._attacked(most_people)
        self.matching: Matching | NearestClasses | None = None
        if len(self.single) < len(self.original):
            apart = ", ".join(f"'{name}'" for name in self.original if name not in self.single)
            self.notes.append(f"classes compare item sets as a whole; combinations of columns ignore {apart}.")

    def _attacked(self, most: int) -> Ints:
        """Return the records of those who are attacked: one of each person, if it is known whom records are about."""
        subject = self.table.subject
        records = np.arange(self.table.rows)
        if subject is not None:
            drawn = self.generator.permutation(self.table.rows)
            records = np.sort(drawn[np.unique(subject.codes[drawn], return_index=True)[1]])
        self.everybody = len(records)
        if len(records) > most:
            records = np.sort(self.generator.choice(records, most, replace=False))
        return records

    def before(self) -> Side:
        """Return the figures of the original table."""
        table, sizes = self.table, self.classes.sizes
        journalist = None
        if self.population is not None:
            others = {name: self.population.quasi[name] for name in self.names}
            journalist = from_table(self.original, others, table.rows, self.population.rows)
            if journalist.uncovered:
                self.notes.append(
                    f"{journalist.uncovered} records match fewer people of the population than records; for these, the "
                    "number of records counts."
                )
        return Side(
            records=exposure(self.classes),
            people=None if table.subject is None else exposure_of_people(self.classes, table.subject.codes),
            journalist=journalist if self.fraction is None else from_fraction(sizes, self.fraction),
            uniqueness=None if self.fraction is None else uniqueness(sizes, self.fraction),
            singling_out=self._combinations(
                [each.codes for each in self.single.values()], [each.size for each in self.single.values()], table.rows
            ),
            linkage=link_as_it_is(self.classes, self.people, None if table.subject is None else table.subject.codes),
        )

    def after(self, release: ReleaseView) -> Side:
        """Return the figures of the release."""
        if release.drawn:
            self.notes.append(
                "the release draws values at random: a cell may be wrong, so classes and linkage have no meaning; its "
                "own promise limits linkage."
            )
            return Side(None, None, None, None, None, None)
        grouped, shown = self.shown_classes, release.shown
        assert grouped is not None
        fitting = self._fitting(release, grouped) if self.told else None
        if isinstance(self.matching, NearestRecords):
            self._note_nearest(shown)
        elif isinstance(self.matching, NearestClasses):
            self.notes.append(
                "the release aggregates columns: the linkage attack takes the class whose numbers are nearest to those "
                "of a person, and counts it as the right one, so its figures are rather too high."
            )
        if len(self.names) < len(self.table.quasi):
            self.notes.append(
                "classes of the release have equal cells in the known columns. Several classes may match one person: "
                "the linkage attack considers this, the figures of classes do not."
            )
        self._note_silent(release)
        if release.lost:
            suppressed = release.lost - release.sampled_out
            out = [f"{suppressed} records were suppressed or masked"] if suppressed else []
            out += [f"{release.sampled_out} records are not in the sample"] if release.sampled_out else []
            self.notes.append(
                f"{', and '.join(out)}. The linkage attack still counts their people if some record matches, so its "
                "figures are rather too high."
            )
        journalist = self._against_population(shown, grouped)
        cells = {name: shown.cells[name] for name in self.single}
        self._note_people(release)
        return Side(
            records=exposure(grouped),
            people=None if release.people is None else exposure_of_people(grouped, release.people),
            journalist=journalist if self.fraction is None else from_fraction(grouped.sizes, self.fraction),
            uniqueness=None if self.fraction is None else uniqueness(grouped.sizes, self.fraction),
            singling_out=self._combinations(
                [each.of_row for each in cells.values()], [each.count for each in cells.values()], shown.rows
            ),
            linkage=None if fitting is None else self._linked(release, fitting),
        )

    def _fitting(self, release: ReleaseView, grouped: Classes) -> NDArray[np.float64]:
        """Return how many released records, or people, fit each of those who are attacked."""
        self.listener("match people", 0, 0)
        self.matching = matching_of(release.shown, self.told, grouped, self.columns)
        # who looks for a person passes over rows that say nothing
        hidden = 0 if release.masked is None else int(_crowds(grouped, release, release.masked).sum())
        telling = _crowds(grouped, release, None if release.masked is None else ~release.masked)
        fitting = self.matching.weigh_people(self.columns, self.people, telling.astype(np.float64))
        self._check_fits(int(np.count_nonzero(fitting < 0.5)), release)
        return np.where(fitting < 0.5, hidden, fitting)

    def _against_population(self, shown: ReleasedCodes, grouped: Classes) -> Journalist | None:
        """Return the risk of the release against the population, if that can be read as the release is."""
        if self.population is None:
            return None
        there = self.later.population
        if there is None or set(changed(shown)) & set(self.told) or len(self.told) < len(self.names):
            self.notes.append(
                "known columns are transformed, and the population is not: journalist risk after release is not "
                "measured."
            )
            return None
        self.listener("match the population", 0, 0)
        others = {name: there.quasi[name] for name in self.names}
        return from_release(shown, grouped, self.columns, others, there.rows, self.generator)

    def _note_nearest(self, shown: ReleasedCodes) -> None:
        """Add a note on the attack where known columns were changed at random."""
        names = ", ".join(f"'{name}'" for name in changed(shown) if name in self.told)
        self.notes.append(
            f"cells were changed at random: {names}. The linkage attack takes the released records that are nearest to "
            "what is known, and counts a match as right if the record may be the person's: if all columns without a "
            "random change agree. So its figures are upper bounds."
        )
        sets = [name for name in self.told if name not in self.single]
        if sets:
            listed = ", ".join(f"'{name}'" for name in sets)
            self.notes.append(f"the linkage attack does not use {listed}: item sets are neither near nor far.")

    def _note_silent(self, release: ReleaseView) -> None:
        """Add notes on known columns of whose cells nobody makes anything."""
        shuffled = ", ".join(f"'{name}'" for name in self.names if name in release.silent & release.moved)
        hidden = ", ".join(f"'{name}'" for name in self.names if name in release.silent - release.moved)
        if shuffled:
            self.notes.append(f"the linkage attack does not use {shuffled}: these values stand in other records.")
        if hidden:
            self.notes.append(
                f"the linkage attack does not use {hidden}: these cells cannot be compared with the data. Someone who "
                "has the key of pseudonyms finds people by them."
            )

    def note_beliefs(self, targets: Sequence[str]) -> None:
        """Add notes on what guesses from drawn values are not: those of an intruder who knows how they were drawn."""
        if self.release is None or not self.release.drawn or not targets:
            return
        self.notes.append(
            "inference after release takes the shown values as true. It ignores the published matrices and priors, "
            "which an intruder would use, so it says nothing about how safe the release is. See the beliefs in the "
            "certificate, which are upper bounds."
        )
        free = [f"'{name}'" for name in targets if name not in self.release.beliefs]
        if free:
            self.notes.append(f"the certificate does not bound what can be inferred about {', '.join(free)}.")

    def _note_people(self, release: ReleaseView) -> None:
        """Add a note if the release numbers people separately in each class."""
        subject = self.table.subject
        if subject is None or release.people is None:
            return
        numbers, people = len(np.unique(release.people)), len(np.unique(subject.codes))
        if numbers > people:
            self.notes.append(
                f"the release numbers people separately in each class: {numbers} numbers for {people} people. So "
                "figures per data subject after release count a person once per class with records of this person."
            )

    def _linked(self, release: ReleaseView, fitting: NDArray[np.float64]) -> Linkage:
        """Judge the linkage attack on a release, of which so many records or people fit those who are attacked."""
        subject, rows = self.table.subject, release.shown.rows
        may_be = None
        if isinstance(self.matching, NearestRecords) and release.witness is not None:
            may_be = self.matching.may_be_right(self.columns, self.people, release.witness)
        if subject is None:
            return link(fitting, rows, may_be)
        if release.people is not None:
            # numbers that mean something within a class only are more than there are people
            return link(fitting, min(len(np.unique(release.people)), len(np.unique(subject.codes))), may_be)
        # nobody sees whose records are whose, and any of the person's own will do: those that look alike in the data
        alike = self.classes
        if self.later.table is not self.table:
            coded = [row_codes([column]) for column in self.columns.values()]
            alike = group_rows([codes for codes, _ in coded], [size for _, size in coded], self.table.rows)
        pairs = group_rows([alike.of_row, subject.codes], [len(alike.sizes), subject.size], self.table.rows)
        of_person = np.bincount(subject.codes)[subject.codes[self.people]]
        usual = float(np.minimum(of_person / max(rows, 1), 1.0).mean()) if len(of_person) else 0.0
        own = pairs.own_size[self.people].astype(np.float64)
        return link(fitting, rows, own if may_be is None else own * may_be, usual)

    def inferred(self, name: str, target: Column, model: bool) -> Inference:
        """Return what can be inferred about a sensitive column."""
        self.listener(f"infer {name}", 0, 0)
        before = guess_as_it_is(self.classes, target.codes, self.people, target.size)
        release, values = self.release, int(np.count_nonzero(np.bincount(target.codes)))
        if release is None or name not in release.votes or not self.told:
            return Inference(name, values, before)
        target = self.later.targets[name]
        truth = target.codes[self.people].astype(np.int64)
        votes = release.votes[name] if release.masked is None else release.votes[name].of_rows(~release.masked)
        plain = votes.weight is None
        grouped = self.shown_classes
        assert grouped is not None
        counts = histogram(grouped, votes, target.size)
        if self.matching is None:  # values were drawn: who shows exactly what is known may be the person
            self.matching = matching_of(release.shown, self.told, grouped, self.columns)
        judged = self.matching.guess(self.columns, self.people, counts, truth)
        # without pairs of records nobody knows which one is the person's own
        paired = not (isinstance(self.matching, NearestRecords) or name in release.moved)
        after = judge(counts, grouped, judged, truth, held_out=plain and not release.drawn and paired)
        if model and plain:
            self.listener(f"learn {name}", 0, 0)
            single = {each: column for each, column in self.columns.items() if isinstance(column, Column)}
            by_model, held_out = guess_by_model(
                release.shown, single, votes, self.people, truth, after.by_class.baseline, self.generator
            )
            after = replace(after, by_model=by_model, model_held_out=held_out if paired else None)
        return Inference(name, values, before, after)

    def _combinations(self, codes: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int) -> SinglingOut | None:
        """Look for combinations of columns with single values that single out; one alone makes no combinations."""
        if len(codes) < 2:
            return None
        return single_out(list(self.single), codes, sizes, rows, most=self.most, progress=self.listener)

    def _check_fits(self, unmatched: int, release: ReleaseView) -> None:
        """Raise if more people match no released record than can have been suppressed."""
        people = len(self.people)
        expected = people * release.lost / max(self.everybody, 1)
        # all who were left out may be among those attacked; of a sample, as many as chance allows
        allowed = release.lost if people == self.everybody else expected + 6 * expected**0.5
        if unmatched > allowed:
            what = f"{unmatched} of {people} examined records match no record in it."
            raise DataError(Problem("release", what, "it is not a release of this data."))


def _crowds(grouped: Classes, release: ReleaseView, some: NDArray[np.bool_] | None) -> Ints:
    """Return how many records are in each class of a release, or people where it says who they are; by some rows."""
    if release.people is not None:
        return people_by_class(grouped, release.people, some)
    of_row = grouped.of_row if some is None else grouped.of_row[some]
    return np.bincount(of_row, minlength=len(grouped.sizes))
