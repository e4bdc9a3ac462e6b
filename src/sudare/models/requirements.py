"""The requirements of a release: several privacy models, and the share of records that may be suppressed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.models import parameters
from sudare.models.group_counts import Groups, Histograms
from sudare.models.k_anonymity import KAnonymity
from sudare.models.km_anonymity import KmAnonymity

Scope = Literal["group", "column", "mechanism", "release"]


class Model(Protocol):
    """A privacy model: a frozen dataclass with validated parameters and a test of groups."""

    name: ClassVar[str]
    """What the policy calls it."""
    scope: ClassVar[Scope]
    """What it limits: groups of records, an item-set column as a whole, how values are drawn, or the whole release."""
    monotone: ClassVar[bool]
    """Whether a union of groups that satisfy it satisfies it."""
    depends_on_whole: ClassVar[bool]
    """Whether the limit is against the distribution of the whole release, which suppression changes."""

    @property
    def remedy(self) -> str:
        """What to ask for where a table cannot satisfy it."""
        ...

    @property
    def column(self) -> str | None:
        """The column it reads, None if it only counts."""
        ...

    @property
    def least_rows(self) -> int:
        """A number of records that no satisfying group has fewer of."""
        ...

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return the figure that the model limits, per group."""
        ...

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups satisfy it."""
        ...

    def best_possible(self, whole: Groups) -> str:
        """Return in a few words, without data values, the figure of all records as one group."""
        ...


@dataclass(frozen=True)
class Requirements:
    """All models that a release must keep; ``limit`` is the largest share of records that may be suppressed.

    With ``masked`` these stay in the release, as rows that show no quasi-identifier: a class like any other, which has
    to keep the models too, and a part of the whole that distributions are measured against.

    k-anonymity on a subset of the quasi-identifiers needs nothing of its own: it is kept by groups that keep
    it on all of them, and so is the test that :meth:`holds` makes and what :attr:`least_rows` says.
    """

    models: tuple[Model, ...]
    limit: float = 0.0
    masked: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", tuple(self.models))
        problem = parameters.number("limit", self.limit, least=0)
        if problem is not None or self.limit > 1:
            parameters.require(parameters.refusal("limit", self.limit, "a number from 0 to 1"))

    @cached_property
    def of_groups(self) -> tuple[Model, ...]:
        """The models that limit groups, in the order of the policy.

        Those of a mechanism are not among them, nor does :meth:`holds` speak of them: a method that makes groups has to
        refuse them. Those of a release are left to the audit, and no method uses them.
        """
        return tuple(model for model in self.models if model.scope == "group")

    @property
    def of_columns(self) -> tuple[KmAnonymity, ...]:
        """The models that limit an item-set column as a whole; :meth:`holds` says nothing of them."""
        return tuple(model for model in self.models if isinstance(model, KmAnonymity))

    @property
    def least_rows(self) -> int:
        """A number of records that no satisfying group has fewer of."""
        return max((model.least_rows for model in self.of_groups), default=1)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns whose histograms the groups have to carry, each once."""
        return tuple(dict.fromkeys(model.column for model in self.of_groups if model.column is not None))

    @cached_property
    def counts_subjects(self) -> bool:
        """Whether the groups have to carry their number of data subjects."""
        return any(isinstance(model, KAnonymity) and model.count == "subjects" for model in self.models)

    @cached_property
    def depends_on_whole(self) -> bool:
        """Whether some limit is against the distribution of the whole release."""
        return any(model.depends_on_whole for model in self.of_groups)

    @cached_property
    def only_rows(self) -> bool:
        """Whether a group's number of records alone decides, and is to be at least :attr:`least_rows`.

        This is about groups: item-set columns may be limited all the same, see :attr:`of_columns`.
        """
        return not self.columns and not self.counts_subjects

    def budget(self, rows: int) -> int:
        """Return how many of this many records may be suppressed; no record is lost to rounding."""
        return int(self.limit * rows + 1e-9)

    def split(self, columns: Collection[str]) -> tuple[Requirements, list[KAnonymity]]:
        """Return what groups by all these columns have to keep, and k-anonymity that groups by fewer of them keep.

        Not where people are counted: a release numbers them by class, so fewer columns do not show how many there are.
        """
        partial = [
            model
            for model in self.of_groups
            if isinstance(model, KAnonymity)
            and model.count == "rows"
            and model.columns is not None
            and not set(columns) <= set(model.columns)
        ]
        return Requirements(tuple(m for m in self.of_groups if m not in partial), self.limit), partial

    def free(self, column: str) -> bool:
        """Return whether an item-set column takes no part in the groups: k^m-anonymity alone limits it.

        That is so if every model of groups is k-anonymity of records, on columns among which it is not. If people are
        counted this is not so: numbers that distinguish people within a group would link their sets.
        """
        return any(model.column == column for model in self.of_columns) and all(
            isinstance(model, KAnonymity)
            and model.count == "rows"
            and model.columns is not None
            and column not in model.columns
            for model in self.of_groups
        )

    def for_groups(self, free: Collection[str]) -> Requirements:
        """Return what groups have to keep where some columns are free.

        Other item-set columns that are limited as a whole keep that limit if every group has that many records: all
        records of a group show the same items.
        """
        implied = tuple(KAnonymity(model.k) for model in self.of_columns if model.column not in free)
        return Requirements(self.of_groups + implied, self.limit, self.masked)

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups satisfy every model that limits groups."""
        passed = groups.rows >= self.least_rows  # necessary for all of them, and nearly free
        if self.only_rows:
            return passed
        members, rest = np.arange(len(groups)), groups
        for model in self.of_groups:
            if 2 * np.count_nonzero(passed) < len(passed):
                # most groups have failed already: the others are tested on their own
                members, rest = members[passed], _select(rest, passed)
                passed = np.ones(len(members), dtype=np.bool_)
            if not len(members):
                break
            passed &= model.holds(rest)
        answer = np.zeros(len(groups), dtype=np.bool_)
        answer[members[passed]] = True
        return answer

    def unmet(self, whole: Groups) -> list[Problem]:
        """Return a problem for each model that all records as one group do not satisfy.

        The models are monotone, so that no grouping of all of these records satisfies it either.
        """
        return [
            Problem(
                describe(model),
                f"even one class of all records falls short: {model.best_possible(whole)}.",
                model.remedy,
            )
            for model in self.of_groups
            if not model.holds(whole).all()
        ]


def describe(model: Model) -> str:
    """Return a model in one line, in the words of the policy."""
    named = [each.name for each in fields(cast(Any, model))]
    given = {name: value for name in named if (value := getattr(model, name)) is not None}
    shown = (f"{key} = {list(value) if isinstance(value, tuple) else value}" for key, value in given.items())
    return f"{model.name} ({', '.join(shown)})"


def _select(groups: Groups, chosen: NDArray[np.bool_]) -> Groups:
    """Return the chosen groups alone; the distribution of the whole release stays the same."""
    histograms = {}
    for name, given in groups.histograms.items():
        lengths = np.diff(given.start)
        entries = np.repeat(chosen, lengths)
        start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths[chosen])))
        histograms[name] = Histograms(start, given.codes[entries], given.counts[entries], given.total, given.column)
    subjects = None if groups.subjects is None else groups.subjects[chosen]
    return Groups(groups.rows[chosen], subjects, histograms)
