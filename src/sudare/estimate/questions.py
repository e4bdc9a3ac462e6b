"""What an analyst asks: counts of one column by others, as they are or in bands, of all records or of some."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sudare.errors import ParameterError, Problem, did_you_mean

Unit = Literal["year", "month", "day"]
UNITS: tuple[Unit, ...] = ("year", "month", "day")
_RANGE = re.compile(r"^(.*?)\.\.(.*)$", re.S)


@dataclass(frozen=True)
class By:
    """A column to count by: each value by itself, in bands of a width, or by a unit of dates."""

    column: str
    width: float | None = None
    unit: Unit | None = None


@dataclass(frozen=True)
class Range:
    """Numbers or dates between two ends, both included; None is no end."""

    low: Any = None
    high: Any = None


@dataclass(frozen=True)
class Question:
    """Counts of the values of ``of``, in every cell of ``by``, of the records that ``where`` allows."""

    of: str
    by: tuple[By, ...] = ()
    where: Mapping[str, Range | tuple[str | None, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are looked at, each once."""
        return tuple(dict.fromkeys((self.of, *(each.column for each in self.by), *self.where)))


def ask(of: str, by: Any, where: Any, released: Sequence[str], *, hidden: Sequence[str] = ()) -> Question:
    """Make a question of what was written, or raise everything that is wrong with it.

    ``released`` are the columns that there are; those with ``hidden`` values can be asked for, and not counted by.

    ``by`` lists columns, each as its name, or with a width of bands ("age:10") or a unit of dates ("born:year").
    ``where`` gives for a column the values that count, or a pair or ``Range`` of two ends; in text "F,M" or "20..39".
    """
    problems: list[Problem] = []
    asked = [by] if isinstance(by, str | By) else list(by or ())
    columns = [_by(each, released, problems) for each in asked]
    known = [each for each in columns if each is not None]
    conditions = _conditions(where, released, problems)
    if not isinstance(of, str) or of not in released:
        problems.append(_unknown("of", of, released))
    names = [each.column for each in known]
    problems += [
        Problem("by", f"column '{name}' is named twice.") for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    if of in names:
        problems.append(Problem("by", f"column '{of}' is what is asked for, and cannot be what it is counted by."))
    if of in conditions:
        problems.append(Problem("where", f"column '{of}' is what is asked for; its values are all told."))
    problems += [
        Problem("by" if name in names else "where", f"column '{name}' has hidden values, and cannot be counted by.")
        for name in dict.fromkeys([*names, *conditions])
        if name in hidden and name != of
    ]
    if problems:
        raise ParameterError(problems)
    return Question(of, tuple(known), conditions)


def _by(given: Any, released: Sequence[str], problems: list[Problem]) -> By | None:
    if isinstance(given, By):
        given = given if given.column in released else given.column
    if isinstance(given, By):
        return given
    if isinstance(given, str) and given in released:
        return By(given)
    name, mark, word = str(given).rpartition(":")
    if not mark or name not in released:
        problems.append(_unknown("by", name if mark and name not in released else given, released))
        return None
    if word in UNITS:
        return By(name, unit=word)
    try:
        width = float(word)
    except ValueError:
        width = math.nan
    if not (math.isfinite(width) and width > 0):
        what = f"'{word}' is no width of bands: a number above 0, or {', '.join(UNITS)} for dates."
        problems.append(Problem("by", what, f"write {name}:10, or {name} alone for each value."))
        return None
    return By(name, width=width)


def _conditions(where: Any, released: Sequence[str], problems: list[Problem]) -> dict[str, Any]:
    if isinstance(where, str):
        where = [where]
    found: dict[str, Any] = {}
    pairs: Iterable[Any] = where.items() if isinstance(where, Mapping) else (_pair(text) for text in where or ())
    for name, wanted in pairs:
        if wanted is None:
            problems.append(Problem("where", f"'{name}' is no condition.", "write column=value, or column=20..39."))
        elif name not in released:
            problems.append(_unknown("where", name, released))
        elif name in found:
            problems.append(Problem("where", f"column '{name}' is named twice."))
        else:
            found[name] = _wanted(wanted)
    return found


def _pair(text: Any) -> tuple[str, str | None]:
    name, mark, wanted = str(text).partition("=")
    return name, wanted if mark else None


def _wanted(given: Any) -> Range | tuple[str | None, ...]:
    if isinstance(given, Range):
        return given
    if isinstance(given, str):
        ends = _RANGE.match(given)
        if ends is not None:
            return Range(*(end.strip() or None for end in ends.groups()))
        return tuple(given.split(","))
    if isinstance(given, tuple) and len(given) == 2 and all(not isinstance(end, str) for end in given):
        return Range(*given)
    if isinstance(given, Iterable):
        return tuple(None if each is None else str(each) for each in given)
    return (str(given),)


def _unknown(where: str, name: Any, released: Sequence[str]) -> Problem:
    what = f"'{name}' is not a column of this release."
    return Problem(where, what, did_you_mean(str(name), released) or f"it has {', '.join(released)}.")
