"""Which values count as rare by the policy, and the table without them."""

from __future__ import annotations

import math
from typing import NamedTuple

from sudare.policy import Policy
from sudare.table import Table
from sudare.table.rare_values import hide_rare


class Rarity(NamedTuple):
    """Which values count as rare: those that fewer than ``least`` records, or ``people``, hold.

    The categories of ``public`` columns are known to everybody.
    """

    least: int
    people: bool
    public: frozenset[str]


def rarity(policy: Policy) -> Rarity | None:
    """Return which values a release must not name; None if the policy lets it name all."""
    if policy.release.ranges == "tight":
        return None
    least = max(
        2,
        *(math.ceil(getattr(spec, "k", 0)) for spec in policy.require),
        *(math.ceil(getattr(spec, "l", 0)) for spec in policy.require),
    )
    public = frozenset(name for name, spec in policy.columns.items() if spec.order is not None)
    return Rarity(least, policy.counts_subjects, public)


def without_rare(table: Table, policy: Policy) -> Table:
    """Return a table whose quasi-identifiers show rare values as the policy says."""
    rule = rarity(policy)
    return table if rule is None else hide_rare(table, rule.least, people=rule.people, public=rule.public)
