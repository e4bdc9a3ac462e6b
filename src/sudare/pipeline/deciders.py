"""The source of a decision about a table: a method of the registry, or a saved plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from sudare.core.progress import Listener
from sudare.methods import Method
from sudare.models import Requirements
from sudare.pipeline.request_checks import PolicyView, view_of
from sudare.policy import Policy
from sudare.releases.plans import Plan
from sudare.sources.unknown_values import UnknownValues
from sudare.table import Recoding, Table, height


class Decider(Protocol):
    """Decides what a release shows of a table."""

    @property
    def described(self) -> Mapping[str, Any]:
        """The method and its options, as the certificate names them."""

    @property
    def makes_classes(self) -> bool:
        """Whether records become equivalence classes, in which quasi-identifiers are generalized."""

    @property
    def unknown(self) -> UnknownValues | None:
        """Where values are recorded that a plan does not know; None if such values are errors."""

    def view(self, policy: Policy) -> PolicyView:
        """Return the policy as the method reads it."""

    def decide(self, table: Table, requirements: Requirements, listener: Listener) -> Recoding:
        """Return what becomes of the records."""


@dataclass(frozen=True)
class MethodDecider:
    """A method with its options; ``seed`` is for tests."""

    method: Method
    options: Mapping[str, Any]
    seed: int | None = None
    unknown: None = field(default=None, init=False)

    @property
    def described(self) -> Mapping[str, Any]:
        """The method and its options."""
        return {"name": self.method.name, **self.options}

    @property
    def makes_classes(self) -> bool:
        """Whether the method generalizes."""
        return not self.method.leaves_quasi

    def view(self, policy: Policy) -> PolicyView:
        """Return the policy as the method reads it."""
        return view_of(self.method, self.options, policy)

    def decide(self, table: Table, requirements: Requirements, listener: Listener) -> Recoding:
        """Run the method."""
        self.method.check_table(self.options, any(not requirements.free(name) for name in table.sets))
        return self.method.load()(table, requirements, **self.options, seed=self.seed, progress=listener)


@dataclass(frozen=True)
class PlanDecider:
    """A plan, applied to new records."""

    plan: Plan
    unknown: UnknownValues | None
    makes_classes: bool = field(default=True, init=False)

    @property
    def described(self) -> Mapping[str, Any]:
        """The method that made the plan."""
        return {**self.plan.method, "applied": True}

    def view(self, policy: Policy) -> PolicyView:
        """Return the policy unchanged."""
        return PolicyView(policy)

    def decide(self, table: Table, requirements: Requirements, listener: Listener) -> Recoding:
        """Generalize every column to the level of the plan."""
        from sudare.methods.lattice.full_domain import at_levels

        del listener
        self.plan.check_heights({name: height(column) for name, column in table.quasi.items()})
        rows = None if self.unknown is None else self.unknown.rows
        partition = at_levels(table, requirements, self.plan.levels, unusable=rows)
        unknown = {} if self.unknown is None else self.unknown.to_dict()
        return replace(partition, facts={**partition.facts, "unseen": unknown})
