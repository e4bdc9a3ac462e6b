"""What the options of methods may be: one class is one kind of value, which says itself what it allows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Share:
    """An option that is a number from 0, below 1."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1

    def __str__(self) -> str:
        return "a number from 0, below 1"


LONGEST = 10**9
"""Seconds: some thirty years."""


@dataclass(frozen=True)
class Seconds:
    """An option that is a number of seconds, above 0."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LONGEST

    def __str__(self) -> str:
        return f"a number of seconds, above 0, {LONGEST:,} at most"


@dataclass(frozen=True)
class Weight:
    """An option that is a number from 0 to 1."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1

    def __str__(self) -> str:
        return "a number from 0 to 1"


@dataclass(frozen=True)
class Whole:
    """An option that is a whole number between two others."""

    least: int
    most: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True)
class Flag:
    """An option that is true or false."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, bool)

    def __str__(self) -> str:
        return "true or false"


@dataclass(frozen=True)
class ColumnName:
    """An option that names a column with one of some roles; it has to be given."""

    roles: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str)

    def __str__(self) -> str:
        return f"the name of a column with role {' or '.join(self.roles)}"


@dataclass(frozen=True)
class Positive:
    """An option that is a number above 0."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf

    def __str__(self) -> str:
        return "a number above 0"


@dataclass(frozen=True)
class Words:
    """An option that is one of a few words."""

    words: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        return ", ".join(self.words)


@dataclass(frozen=True)
class ByColumn:
    """An option that maps columns with one of some roles to values of one kind."""

    roles: tuple[str, ...]
    each: Any

    def __contains__(self, value: object) -> bool:
        return (
            isinstance(value, Mapping)
            and len(value) > 0
            and all(isinstance(name, str) and part in self.each for name, part in value.items())
        )

    def __str__(self) -> str:
        return f"a mapping of columns with role {' or '.join(self.roles)}, each to {self.each}"

    def named(self, value: Any) -> Iterator[str]:
        """Give the columns that a value names."""
        yield from value


@dataclass(frozen=True)
class Either:
    """An option that may be of several kinds."""

    kinds: tuple[Any, ...]

    def __contains__(self, value: object) -> bool:
        return any(value in kind for kind in self.kinds)

    def __str__(self) -> str:
        return ", or ".join(map(str, self.kinds))

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of columns that a value may name."""
        return next((kind.roles for kind in self.kinds if isinstance(kind, ByColumn)), ())

    def named(self, value: Any) -> Iterator[str]:
        """Give the columns that a value names."""
        if isinstance(value, Mapping):
            yield from value


@dataclass(frozen=True)
class Transitions:
    """What a value may be shown as: from each value to others, with probabilities."""

    def __contains__(self, value: object) -> bool:
        return (
            isinstance(value, Mapping)
            and len(value) > 1
            and all(
                _is_cell(truth) and isinstance(line, Mapping) and all(_is_cell(shown) for shown in line)
                and all(share in Weight() for share in line.values())
                for truth, line in value.items()
            )
        )  # fmt: skip

    def __str__(self) -> str:
        return "{from value: {to value: probability}}"


@dataclass(frozen=True)
class ColumnNames:
    """An option that lists columns with one of some roles, each once."""

    roles: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return _is_list_of_names(value, 1)

    def __str__(self) -> str:
        return f"a list of columns with role {' or '.join(self.roles)}"

    def named(self, value: Any) -> Iterator[str]:
        """Give the columns that a value names."""
        yield from value


@dataclass(frozen=True)
class ColumnGroups:
    """An option that lists groups of columns with one of some roles; a column is in one of them at most."""

    roles: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, list | tuple) or not value or not all(_is_list_of_names(part, 2) for part in value):
            return False
        names = [name for part in value for name in part]
        return len(set(names)) == len(names)

    def __str__(self) -> str:
        return f"a list of lists of two or more columns with role {' or '.join(self.roles)}, no column twice"

    def named(self, value: Any) -> Iterator[str]:
        """Give the columns that a value names."""
        for part in value:
            yield from part


@dataclass(frozen=True)
class Combinations:
    """An option that lists combinations of values of columns with one of some roles."""

    roles: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return (
            isinstance(value, list | tuple)
            and len(value) > 0
            and all(
                isinstance(part, Mapping)
                and len(part) > 1
                and all(isinstance(name, str) and _is_cell(cell) for name, cell in part.items())
                for part in value
            )
        )

    def __str__(self) -> str:
        roles = f"{', '.join(self.roles[:-1])} or {self.roles[-1]}"
        return f"a list of mappings of two or more columns with role {roles}, each to a value"

    def named(self, value: Any) -> Iterator[str]:
        """Give the columns that a value names."""
        for part in value:
            yield from part


def _is_list_of_names(value: object, least: int) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) >= least
        and all(isinstance(name, str) for name in value)
        and len(set(value)) == len(value)
    )


def _is_cell(value: object) -> bool:
    """Say whether a value of a policy can stand for a cell; null is a missing one."""
    return value is None or isinstance(value, str | int | float | bool | date)


Option = (
    tuple[str | int, ...]
    | Share
    | Seconds
    | Weight
    | Whole
    | Flag
    | ColumnName
    | Positive
    | ByColumn
    | Either
    | ColumnNames
    | ColumnGroups
    | Combinations
)
