"""Parts of a certificate: guarantees, and the facts of a method's search and mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Annotated, Any, Self, get_origin, get_type_hints


@dataclass(frozen=True)
class Guarantee:
    """One promise, as the audit found it."""

    model: Annotated[
        str, "the model, or `identifiers absent`, `unnamed columns absent`, `subjects per class`, `transformation`"
    ] = ""
    parameters: Annotated[Mapping[str, Any], "what the policy asked for"] = field(default_factory=dict)
    required: Annotated[Any, "the limit; null for a transformation that leaves no form which cells could show"] = None
    achieved: Annotated[Any, "the worst figure over all classes; null where no finite number says it"] = None
    holds: Annotated[bool, "whether every class keeps the promise"] = False
    offending_classes: Annotated[
        int,
        "how many classes do not keep it (for km-anonymity: combinations of items; for uniqueness: records; for a "
        "transformation: cells; for absent columns: columns)",
    ] = 0
    note: Annotated[str, "what a reader should know, often empty"] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee in the form of a certificate."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return a guarantee from a certificate."""
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})


@dataclass(frozen=True)
class TransformationEntry:
    """One transformation of a column, or the sample of the table."""

    column: Annotated[str | None, "the column; null for the sample"] = None
    transformation: Annotated[str, "its name in the policy, or `sample`"] = ""
    parameters: Annotated[Mapping[str, Any], "what the policy asks for, without where a key is"] = field(
        default_factory=dict
    )
    key: Annotated[str | None, "the fingerprint of the secret key; null without one, or if it was forgotten"] = None
    proven: Annotated[bool, "whether the audit reads from the file that cells have this form"] = False
    guarantees: Annotated[str, "what it guarantees, in words"] = ""
    does_not: Annotated[str, "what it does not, in words"] = ""
    figures: Annotated[Mapping[str, Any], "what analysts need, such as the variance of noise"] = field(
        default_factory=dict
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in the form of a certificate."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return an entry from a certificate."""
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})


@dataclass(frozen=True)
class Facts:
    """The facts of a method about its decision, by key; methods differ in their keys.

    A class below names the keys that are documented, each with its type and what it means. Its objects have an
    attribute for each of them, which is None or empty if the key is not there. A file may hold anything, so users of a
    property must check its content.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.facts)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts of the method, in the form of a certificate."""
        return dict(self.facts)

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """Return what a certificate says; nothing, if that is no mapping."""
        return cls(given if isinstance(given, Mapping) else {})

    def __init_subclass__(cls) -> None:
        for key, kind in get_type_hints(cls).items():
            if key != "facts":
                setattr(cls, key, property(partial(_said, key=key, kind=get_origin(kind))))


def _said(said: Facts, *, key: str, kind: Any) -> Any:
    """Return what is said under a key; None or empty if nothing is."""
    found = said.facts.get(key)
    if kind is Mapping:
        return found if isinstance(found, Mapping) else {}
    return list(found or ()) if kind is list else found


class Search(Facts):
    """What a method says about how it decided; empty if it says nothing."""

    notes: Annotated[list[str], "what a reader should know"]
    loss: Annotated[str | None, "which loss was minimized"]
    value: Annotated[float | None, "what the chosen levels lose, with the weights of the columns"]
    at_least: Annotated[
        float | None, "what any levels that keep the policy lose at least; equal to `value` if that is the least"
    ]
    optimal: Annotated[bool | None, "whether it is proven that no other levels lose less"]
    levels: Annotated[Mapping[str, int], "the level of each quasi-identifier; 0 is unchanged"]
    heights: Annotated[Mapping[str, int], "the level at which each quasi-identifier shows nothing"]
    ties: Annotated[int | None, "how many other nodes lose as little"]
    nodes: Annotated[int | None, "how many nodes there are: ways to choose a level for each column"]
    checked: Annotated[int | None, "how many nodes were counted; bounds excluded the others"]
    unseen: Annotated[
        Mapping[str, Mapping[str, int]],
        "for each column with values that an applied plan does not know: these `values` and their `records`",
    ]
    target: Annotated[str | None, "the column whose values classes should predict"]
    w: Annotated[float | None, "the weight of what is said about the target"]
    class_info: Annotated[float | None, "bits of doubt about the target of a record whose group is known"]
    split_info: Annotated[float | None, "bits of doubt about the group of a record"]
    table_info: Annotated[float | None, "both kinds of doubt, weighed by `w` and 1 - `w`: the method minimizes this"]
    greedy_table_info: Annotated[float | None, "with `search: beam`, the result of `search: greedy`"]
    steps: Annotated[int | None, "how many specializations were made"]
    cut: Annotated[Mapping[str, int], "how many different cells each quasi-identifier shows"]
    classes_by: Annotated[str | None, "whether classes are grown `clusters`, or those of `top-down`, which lost less"]
    group_size: Annotated[int | None, "the least number of records of a group, whose numbers are aggregated"]
    aggregated: Annotated[
        Mapping[str, Mapping[str, Any]],
        "for each aggregated column: its `representative`, and if it has an axis whether its mean is kept "
        "(`mean_kept`) and which part of its variance (`variance_kept`)",
    ]
    information_loss: Annotated[
        float | None,
        "100 SSE / SST of the aggregated columns that have an axis: their squared distances to what is shown, by those "
        "to their means; 0 is unchanged",
    ]
    residue: Annotated[int | None, "how many records left their groups"]
    phase: Annotated[int | None, "the phase in which the residue became eligible"]
    rounds: Annotated[int | None, "how many rounds the third phase took"]


class Mechanism(Facts):
    """How sensitive values are hidden, or values are drawn at random; empty otherwise."""

    columns: Annotated[
        Mapping[str, Mapping[str, Any]],
        "for each column whose values are hidden or drawn: its `values` (null: missing), and how they were drawn",
    ]
    groups: Annotated[int | None, "how many groups the second table has"]
    second_sha256: Annotated[str | None, "the digest of the second table's file"]
    randomness: Annotated[str | None, "where the randomness came from: the operating system, or a seed, for tests"]
    kind: Annotated[str | None, "whether matrices are `uniform` or `invariant`"]
    strata: Annotated[
        Mapping[str, Any] | None,
        "the `columns` that strata are made of, and for each of its `cells` what was drawn there",
    ]
    joint: Annotated[
        list[Mapping[str, Any]] | None,
        "groups of `columns` that were drawn together, each with the `rows` of its matrix",
    ]
    together: Annotated[
        list[Mapping[str, Any]] | None,
        "frequent `combinations` of the values of `columns`, with numbers of records that are rounded down to a `unit`",
    ]
    calibration: Annotated[
        Mapping[str, Any],
        "how much of the values is kept (`p`, `retention`), and which condition allows no more (`binding`)",
    ]

    def with_second(self, digest: str) -> Mechanism:
        """Return the same mechanism with the digest of the second table."""
        return Mechanism({**self.facts, "second_sha256": digest})
