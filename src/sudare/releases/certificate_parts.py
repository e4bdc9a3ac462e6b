"""Parts of a certificate: its guarantees, and what a method says about its search and its mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Self


@dataclass(frozen=True)
class Guarantee:
    """One promise, as the audit found it."""

    model: Annotated[str, "the model, or `identifiers absent`, `unnamed columns absent`, `subjects per class`"] = ""
    parameters: Annotated[Mapping[str, Any], "what the policy asked for"] = field(default_factory=dict)
    required: Annotated[Any, "the limit"] = None
    achieved: Annotated[Any, "the worst figure over all classes; null where no finite number says it"] = None
    holds: Annotated[bool, "whether every class keeps the promise"] = False
    offending_classes: Annotated[
        int,
        "how many classes do not keep it (for km-anonymity: combinations of items; for uniqueness: records; for absent "
        "columns: columns)",
    ] = 0
    note: Annotated[str, "what a reader should know, often empty"] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as it is in a certificate."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return a guarantee from a certificate."""
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})


@dataclass(frozen=True)
class Facts:
    """What a method says about its decision, by key; methods differ in what they say.

    Properties are the keys that are documented; of a key that is not there, they are None or empty. A file may hold
    anything, so whoever relies on what is inside of them checks it.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.facts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that the method says, as it is in a certificate."""
        return dict(self.facts)

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """Return what a certificate says; nothing, if that is no mapping."""
        return cls(given if isinstance(given, Mapping) else {})

    def _mapping(self, key: str) -> Mapping[str, Any]:
        found = self.facts.get(key)
        return found if isinstance(found, Mapping) else {}


class Search(Facts):
    """What a method says about how it decided; empty if it says nothing."""

    @property
    def notes(self) -> list[str]:
        """What a reader should know."""
        return list(self.facts.get("notes", ()))

    @property
    def loss(self) -> str | None:
        """Which loss was minimized."""
        return self.facts.get("loss")

    @property
    def value(self) -> float | None:
        """What the chosen levels lose, with the weights of the columns."""
        return self.facts.get("value")

    @property
    def at_least(self) -> float | None:
        """What any levels that keep the policy lose at least; equal to `value` if that is the least."""
        return self.facts.get("at_least")

    @property
    def optimal(self) -> bool | None:
        """Whether it is proven that no other levels lose less."""
        return self.facts.get("optimal")

    @property
    def levels(self) -> Mapping[str, int]:
        """The level of each quasi-identifier; 0 is unchanged."""
        return self._mapping("levels")

    @property
    def heights(self) -> Mapping[str, int]:
        """The level at which each quasi-identifier shows nothing."""
        return self._mapping("heights")

    @property
    def ties(self) -> int | None:
        """How many other nodes lose as little."""
        return self.facts.get("ties")

    @property
    def nodes(self) -> int | None:
        """How many nodes there are: ways to choose a level for each column."""
        return self.facts.get("nodes")

    @property
    def checked(self) -> int | None:
        """How many nodes were counted; bounds excluded the others."""
        return self.facts.get("checked")

    @property
    def unseen(self) -> Mapping[str, Mapping[str, int]]:
        """For each column with values that an applied plan does not know: these `values` and their `records`."""
        return self._mapping("unseen")

    @property
    def target(self) -> str | None:
        """The column whose values classes should predict."""
        return self.facts.get("target")

    @property
    def w(self) -> float | None:
        """The weight of what is said about the target."""
        return self.facts.get("w")

    @property
    def class_info(self) -> float | None:
        """Bits of doubt about the target of a record whose group is known."""
        return self.facts.get("class_info")

    @property
    def split_info(self) -> float | None:
        """Bits of doubt about the group of a record."""
        return self.facts.get("split_info")

    @property
    def table_info(self) -> float | None:
        """Both kinds of doubt, weighed by `w` and 1 - `w`: the method minimizes this."""
        return self.facts.get("table_info")

    @property
    def greedy_table_info(self) -> float | None:
        """With `search: beam`, the result of `search: greedy`."""
        return self.facts.get("greedy_table_info")

    @property
    def steps(self) -> int | None:
        """How many specializations were made."""
        return self.facts.get("steps")

    @property
    def cut(self) -> Mapping[str, int]:
        """How many different cells each quasi-identifier shows."""
        return self._mapping("cut")

    @property
    def residue(self) -> int | None:
        """How many records left their groups."""
        return self.facts.get("residue")

    @property
    def phase(self) -> int | None:
        """The phase in which the residue became eligible."""
        return self.facts.get("phase")

    @property
    def rounds(self) -> int | None:
        """How many rounds the third phase took."""
        return self.facts.get("rounds")


class Mechanism(Facts):
    """How sensitive values are hidden, or values are drawn anew; empty if they are not."""

    @property
    def columns(self) -> Mapping[str, Mapping[str, Any]]:
        """For each column whose values are hidden or drawn: its `values` (null: missing), and how they were drawn."""
        return self._mapping("columns")

    @property
    def groups(self) -> int | None:
        """How many groups the second table has."""
        return self.facts.get("groups")

    @property
    def second_sha256(self) -> str | None:
        """The digest of the second table's file."""
        return self.facts.get("second_sha256")

    @property
    def randomness(self) -> str | None:
        """Where the randomness came from: the operating system, or a seed, for tests."""
        return self.facts.get("randomness")

    @property
    def kind(self) -> str | None:
        """Whether matrices are `uniform` or `invariant`."""
        return self.facts.get("kind")

    @property
    def strata(self) -> Mapping[str, Any] | None:
        """The `columns` that strata are made of, and for each of its `cells` what was drawn there."""
        return self.facts.get("strata")

    @property
    def joint(self) -> list[Mapping[str, Any]] | None:
        """Groups of `columns` that were drawn together, each with the `rows` of its matrix."""
        return self.facts.get("joint")

    @property
    def calibration(self) -> Mapping[str, Any]:
        """How much of the values is kept (`p`, `retention`), and which condition allows no more (`binding`)."""
        return self._mapping("calibration")

    def with_second(self, digest: str) -> Mechanism:
        """Return the same mechanism with the digest of the second table."""
        return Mechanism({**self.facts, "second_sha256": digest})
