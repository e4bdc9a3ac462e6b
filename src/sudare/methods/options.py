"""Kinds of options of methods: each class checks one kind of value, and describes what it allows.

pydantic checks values, strictly: true is no number, and text is not read as one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Annotated, Any, Literal, Union

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError


def _python_number(value: object) -> object:
    """Return what a policy can hold, or raise: pydantic takes all that can become a float for one."""
    if not isinstance(value, int | float):
        raise ValueError("is not a number")
    return value


Float = Annotated[float, BeforeValidator(_python_number)]
Number = int | Float
Cell = str | bool | int | Float | datetime | date | None
"""What can stand for a cell in a policy; null is a missing one."""
LONGEST = 10**9
"""Seconds: some thirty years."""


@dataclass(frozen=True)
class Kind(ABC):
    """A kind of value: ``type`` is what pydantic checks, and its text is what messages say."""

    @property
    @abstractmethod
    def type(self) -> Any:
        """The values that are allowed, as a type."""

    def __contains__(self, value: object) -> bool:
        try:
            _checker(self).validate_python(value)
        except ValidationError:
            return False
        return True


@cache
def _checker(kind: Kind) -> TypeAdapter[Any]:
    return TypeAdapter(kind.type, config=ConfigDict(strict=True))


@dataclass(frozen=True)
class Share(Kind):
    """An option that is a number from 0, below 1."""

    type = Annotated[Number, Field(ge=0, lt=1)]

    def __str__(self) -> str:
        return "a number from 0, below 1"


@dataclass(frozen=True)
class Seconds(Kind):
    """An option that is a number of seconds, above 0."""

    type = Annotated[Number, Field(gt=0, le=LONGEST)]

    def __str__(self) -> str:
        return f"a number of seconds, above 0, {LONGEST:,} at most"


@dataclass(frozen=True)
class Weight(Kind):
    """An option that is a number from 0 to 1."""

    type = Annotated[Number, Field(ge=0, le=1)]

    def __str__(self) -> str:
        return "a number from 0 to 1"


@dataclass(frozen=True)
class Whole(Kind):
    """An option that is a whole number between two others."""

    least: int
    most: int

    @property
    def type(self) -> Any:
        """Whole numbers in these bounds."""
        return Annotated[int, Field(ge=self.least, le=self.most)]

    def __str__(self) -> str:
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True)
class Flag(Kind):
    """An option that is true or false."""

    type = bool

    def __str__(self) -> str:
        return "true or false"


@dataclass(frozen=True)
class ColumnName(Kind):
    """An option that names a column with one of some roles; it has to be given."""

    roles: tuple[str, ...]
    type = str

    def __str__(self) -> str:
        return f"the name of a column with role {' or '.join(self.roles)}"


@dataclass(frozen=True)
class Positive(Kind):
    """An option that is a number above 0."""

    type = Annotated[Number, Field(gt=0, lt=float("inf"))]

    def __str__(self) -> str:
        return "a number above 0"


@dataclass(frozen=True)
class ItemWeights(Kind):
    """An option that maps items to weights."""

    type = Annotated[Mapping[str | int, Positive.type], Field(min_length=1)]

    def __str__(self) -> str:
        return "{item: weight above 0}"


@dataclass(frozen=True)
class Words(Kind):
    """An option that is one of a few words."""

    words: tuple[str, ...]

    @property
    def type(self) -> Any:
        """These words."""
        return Literal[self.words]

    def __str__(self) -> str:
        return ", ".join(self.words)


@dataclass(frozen=True)
class ByColumn(Kind):
    """An option that maps columns with one of some roles to values of one kind."""

    roles: tuple[str, ...]
    each: Kind

    @property
    def type(self) -> Any:
        """Mappings that are not empty."""
        return Annotated[Mapping[str, self.each.type], Field(min_length=1)]  # type: ignore[name-defined]

    def __str__(self) -> str:
        return f"a mapping of columns with role {' or '.join(self.roles)}, each to {self.each}"

    def named(self, value: Any) -> Iterator[str]:
        """Yield the columns that a value names."""
        yield from value


@dataclass(frozen=True)
class Either(Kind):
    """An option that may be of several kinds."""

    kinds: tuple[Kind, ...]

    @property
    def type(self) -> Any:
        """What any of the kinds allows."""
        return Union[tuple(kind.type for kind in self.kinds)]  # noqa: UP007 - there are as many as there are

    def __str__(self) -> str:
        return ", or ".join(map(str, self.kinds))

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of columns that a value may name."""
        return next((kind.roles for kind in self.kinds if isinstance(kind, ByColumn)), ())

    def named(self, value: Any) -> Iterator[str]:
        """Yield the columns that a value names."""
        if isinstance(value, Mapping):
            yield from value


@dataclass(frozen=True)
class Transitions(Kind):
    """A matrix of transitions: from each value to others, with probabilities."""

    type = Annotated[Mapping[Cell, Mapping[Cell, Weight.type]], Field(min_length=2)]

    def __str__(self) -> str:
        return "{from value: {to value: probability}}"


def _each_once(names: Any) -> Any:
    """Return a list of names, or raise if one of them is there twice."""
    if len(set(names)) != len(names):
        raise ValueError("a name occurs twice")
    return names


def _in_one_group(groups: Any) -> Any:
    """Return groups of names, or raise if a name is in two of them."""
    _each_once([name for group in groups for name in group])
    return groups


def _listed(part: Any, least: int) -> Any:
    """Return the type of lists of so many parts at least; tuples are lists."""
    return Annotated[list[part] | tuple[part, ...], Field(min_length=least)]


@dataclass(frozen=True)
class ColumnNames(Kind):
    """An option that lists columns with one of some roles, each once."""

    roles: tuple[str, ...]
    type = Annotated[_listed(str, 1), AfterValidator(_each_once)]  # type: ignore[valid-type]

    def __str__(self) -> str:
        return f"a list of columns with role {' or '.join(self.roles)}"

    def named(self, value: Any) -> Iterator[str]:
        """Yield the columns that a value names."""
        yield from value


@dataclass(frozen=True)
class ColumnGroups(Kind):
    """An option that lists groups of columns with one of some roles; a column is in one of them at most."""

    roles: tuple[str, ...]
    type = Annotated[_listed(_listed(str, 2), 1), AfterValidator(_in_one_group)]  # type: ignore[valid-type]

    def __str__(self) -> str:
        return f"a list of lists of two or more columns with role {' or '.join(self.roles)}, no column twice"

    def named(self, value: Any) -> Iterator[str]:
        """Yield the columns that a value names."""
        for part in value:
            yield from part


@dataclass(frozen=True)
class Combinations(Kind):
    """An option that lists combinations of values of columns with one of some roles."""

    roles: tuple[str, ...]
    type = _listed(Annotated[Mapping[str, Cell], Field(min_length=2)], 1)

    def __str__(self) -> str:
        roles = f"{', '.join(self.roles[:-1])} or {self.roles[-1]}"
        return f"a list of mappings of two or more columns with role {roles}, each to a value"

    def named(self, value: Any) -> Iterator[str]:
        """Yield the columns that a value names."""
        for part in value:
            yield from part


Option = tuple[str | int, ...] | Kind
