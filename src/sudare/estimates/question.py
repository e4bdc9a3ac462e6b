"""The question of an analyst: counts of one column by others, by value or in bands, with conditions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sudare.core.errors import ParameterError, Problem, did_you_mean

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
        """The columns of the question, each once."""
        return tuple(dict.fromkeys((self.of, *(each.column for each in self.by), *self.where)))


def ask(of: str, by: Any, where: Any, released: Sequence[str], *, hidden: Sequence[str] = ()) -> Question:
    """Make a question from its text, or raise all problems.

    ``released`` are the columns of the release; columns with ``hidden`` values can be counted, but cannot form cells.

    ``by`` lists columns, each as its name, or with a width of bands ("age:10") or a unit of dates ("born:year"); in
    one text they have commas between them. ``where`` gives for a column the values that count, or a pair or ``Range``
    of two ends; in text "sex=F,M" or "age=20..39", and "sex=" for missing values.
    """
    problems: list[Problem] = []
    known, conditions = asked_cells(by, where, released, problems)
    if not isinstance(of, str) or of not in released:
        problems.append(unknown_column("of", of, released))
        raise ParameterError(problems)
    names = [each.column for each in known]
    if of in names:
        problems.append(Problem("by", f"column '{of}' is the counted column, so counts cannot be grouped by it."))
    if of in conditions:
        problems.append(Problem("where", f"column '{of}' is the counted column; the answer has all its values."))
    problems += [
        Problem(
            "by" if name in names else "where", f"column '{name}' has hidden values, so counts cannot be grouped by it."
        )
        for name in dict.fromkeys([*names, *conditions])
        if name in hidden and name != of
    ]
    if problems:
        raise ParameterError(problems)
    return Question(of, tuple(known), conditions)


def asked_cells(
    by: Any, where: Any, released: Sequence[str], problems: list[Problem]
) -> tuple[list[By], dict[str, Range | tuple[str | None, ...]]]:
    """Return the columns that cells are made of, and the conditions; note down what is wrong with them."""
    columns = [_by(each, released, problems) for each in listed(by, released, problems)]
    known = [each for each in columns if each is not None]
    names = [each.column for each in known]
    conditions = _conditions(where, released, problems)
    problems += [
        Problem("by", f"column '{name}' is named twice.") for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    return known, conditions


def listed(by: Any, released: Sequence[str], problems: list[Problem]) -> list[Any]:
    """Return the columns to count by, each by itself; a text is cut at commas, but never inside a column's name."""
    if by is None or isinstance(by, By):
        return [] if by is None else [by]
    if not isinstance(by, str):
        if not isinstance(by, Iterable):
            problems.append(Problem("by", f"must be a list of columns; got {type(by).__name__}."))
            return []
        return list(by)
    found, pieces = [], by.split(",")
    while pieces:
        size = len(pieces)
        while size > 1 and not _is_known(",".join(pieces[:size]).strip(), released):
            size -= 1
        found.append(",".join(pieces[:size]).strip())
        pieces = pieces[size:]
    return found


def _is_known(text: str, released: Sequence[str]) -> bool:
    name, mark, word = text.rpartition(":")
    return text in released or (bool(mark) and "," not in word and name in released)


def _by(given: Any, released: Sequence[str], problems: list[Problem]) -> By | None:
    if isinstance(given, By) and given.column in released:
        return given if _is_sound(given, problems) else None
    if isinstance(given, By):
        problems.append(unknown_column("by", given.column, released))
        return None
    if isinstance(given, str) and given in released:
        return By(given)
    name, mark, word = str(given).rpartition(":")
    if not mark or name not in released:
        problems.append(unknown_column("by", given, released))
        return None
    if word in UNITS:
        return By(name, unit=word)
    try:
        made = By(name, width=float(word))
    except ValueError:
        made = By(name, width=math.nan)
    return made if _is_sound(made, problems, word) else None


def _is_sound(by: By, problems: list[Problem], word: str | None = None) -> bool:
    """Return whether the bands of a column can be made, and note down what is wrong with them."""
    width = by.width
    number = width is None or (isinstance(width, int | float) and not isinstance(width, bool))
    if number and (width is None or (math.isfinite(width) and width > 0)) and by.unit in (None, *UNITS):
        return True
    told = by.unit if width is None else width
    what = (
        f"'{told if word is None else word}' is no width of bands: a number above 0, or {', '.join(UNITS)} for dates."
    )
    problems.append(Problem("by", what, f"write {by.column}:10, or {by.column} alone for each value."))
    return False


def _conditions(where: Any, released: Sequence[str], problems: list[Problem]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, wanted in _pairs(where, released, problems):
        if wanted is None:
            problems.append(Problem("where", f"'{name}' is not a condition.", "write column=value, or column=20..39."))
        elif name not in released:
            problems.append(unknown_column("where", name, released))
        elif name in found:
            problems.append(Problem("where", f"column '{name}' is named twice."))
        else:
            found[name] = _wanted(wanted)
    return found


def _pairs(where: Any, released: Sequence[str], problems: list[Problem]) -> Iterable[tuple[Any, Any]]:
    if where is None:
        return []
    if isinstance(where, Mapping):
        return list(where.items())
    if not isinstance(where, Iterable):
        problems.append(Problem("where", f"must be a mapping or a list of texts; got {type(where).__name__}."))
        return []
    return [_pair(str(text), released) for text in ([where] if isinstance(where, str) else where)]


def _pair(text: str, released: Sequence[str]) -> tuple[str, str | None]:
    """Cut a condition where its column ends; names may hold an equals sign, and the longest that is known counts."""
    known = [name for name in released if text.startswith(f"{name}=")]
    if known:
        name = max(known, key=len)
        return name, text[len(name) + 1 :]
    name, mark, wanted = text.partition("=")
    return name.strip(), wanted if mark else None


def _wanted(given: Any) -> Range | tuple[str | None, ...]:
    if isinstance(given, Range):
        return given
    if isinstance(given, str):
        ends = _RANGE.match(given)
        if ends is not None:
            return Range(*(end.strip() or None for end in ends.groups()))
        # nobody can write a missing value as text: nothing at all is the nearest
        words = [word for each in given.split(",") for word in ((each, each.strip()) if each else ("", None))]
        return tuple(dict.fromkeys(words))
    if isinstance(given, tuple) and len(given) == 2 and not any(isinstance(end, str | bool) for end in given):
        return Range(*given)
    if isinstance(given, Iterable):
        return tuple(_text(each) for each in given)
    return (_text(given),)


def _text(value: Any) -> str | None:
    """Return a value as the text that it is compared by."""
    if value is None or value != value:
        return None
    text = str(value)
    return text.lower() if not isinstance(value, str) and text in ("True", "False") else text


def unknown_column(where: str, name: Any, released: Sequence[str]) -> Problem:
    """Return what to say about a name that is not a column of the release."""
    what = f"'{name}' is not a column of this release."
    return Problem(where, what, did_you_mean(str(name), released) or f"it has {', '.join(released)}.")
