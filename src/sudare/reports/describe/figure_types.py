"""The figures of a report, as the types that JSON has: what ``describe`` makes, and templates and checklists read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict


class Part(TypedDict):
    """A part of a column's distribution: its share of the data, and of the release; None where that cannot be told."""

    label: str
    before: float | None
    after: float | None


class Leads(TypedDict, total=False):
    """Whether the values of a column lead to people: see ``Described._leads``."""

    unique: bool
    own: bool
    ends: bool
    whole: bool


class Checked(TypedDict, total=False):
    """What checklists ask of a column: see ``Described._figures``."""

    finest: str | None
    old: str
    rare: bool
    small: bool
    width: float | None
    general: bool
    exact: bool


class Step(TypedDict):
    """A transformation, or the sample (``column`` is None), as the certificate has it, without values of the data.

    ``beyond`` is the share of the records that had a value beyond a limit: None if they are few. ``proof`` is what the
    audit says of the cells after the last step.
    """

    column: str | None
    transformation: str
    parameters: dict[str, Any]
    key: str | None
    proven: bool
    guarantees: str
    does_not: str
    figures: dict[str, Any]
    beyond: NotRequired[float | None]
    proof: NotRequired[str]


class ColumnFigures(Leads, Checked):
    """The figures of a column; optional ones are there where they may be published.

    ``steps`` are the names of its transformations, ``done`` its shares before and after them, where both have an axis.
    """

    name: str
    role: str
    treatment: str
    kind: str
    notes: list[str]
    parts: list[Part] | None
    distance: float | None
    shares: dict[str, float] | None
    codes: NotRequired[bool]
    steps: NotRequired[list[str]]
    done: NotRequired[list[Part] | None]


class Records(TypedDict):
    """How many records came, left, and were left out; ``sampled`` is how many of them the release was made of."""

    released: int
    source: int
    source_is_rounded: bool
    sampled: int | None
    left_out: dict[str, int]
    left_out_share: float | None
    masked: bool
    classes: int | None


class Bin(TypedDict):
    """The share of records in classes of some sizes; ``few`` stands for too few to be told."""

    label: str
    before: float
    few: bool
    after: float | None


class ClassFigures(TypedDict):
    """The quasi-identifiers that classes are made of, those that stand outside, and the sizes of classes."""

    columns: list[str]
    outside: list[str]
    bins: list[Bin]


class Relations(TypedDict):
    """How columns go together, before and after: a matrix each."""

    names: list[str]
    before: list[list[float | None]]
    after: list[list[float | None]]
    left_out: list[str]
    drawn: int | None


class Finding(TypedDict):
    """What cells of a column hold, and in how many records; it is ``sure`` if hardly anything else looks like it."""

    kind: str
    column: str
    records: int
    sure: bool


class Contents(TypedDict):
    """What was found in the cells of the release, and how many were read.

    ``understood`` says what all values of a column are, where that was asked. ``beyond`` are columns of numbers from 91
    to 120 whose names say nothing of ages.
    """

    cells: int
    columns: int
    found: list[Finding]
    understood: dict[str, str]
    beyond: list[str]


class Figures(TypedDict):
    """Everything that a report tells; ``unmatched`` says which transformations could not be done to the data again."""

    names: dict[str, str]
    threshold: int
    people: bool
    method: str
    records: Records
    guarantees: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    columns: list[ColumnFigures]
    contents: Contents
    transformations: list[Step]
    unmatched: list[str]
    withheld: list[str]
    relations: Relations | None
    classes: ClassFigures | None
    exposure: Mapping[str, Any] | None
    smallest_class: int | None
    risk: Mapping[str, Any] | None
    policy: Mapping[str, Any]
    certificate: Mapping[str, Any]
