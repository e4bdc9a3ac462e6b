"""Questions about columns of numbers: a mean, a variance, a correlation, or a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sudare.core.errors import ParameterError, Problem, UnsupportedError
from sudare.estimates.question import By, Question, Range, asked_cells, listed, unknown_column

Asked = Literal["mean", "variance", "correlation", "regress"]
ASKED: tuple[Asked, ...] = get_args(Asked)


@dataclass(frozen=True)
class FigureQuestion:
    """A figure of some columns, in every cell of ``by``, of the records that ``where`` allows.

    ``columns`` of a regression are the outcome, and then the regressors.
    """

    asked: Asked
    columns: tuple[str, ...]
    by: tuple[By, ...] = ()
    where: Mapping[str, Range | tuple[str | None, ...]] = field(default_factory=dict)

    @property
    def cells(self) -> Question:
        """The question for the records of each cell."""
        return Question(self.columns[0], self.by, self.where)

    @property
    def grouping(self) -> tuple[str, ...]:
        """The columns that say which records are in which cell."""
        return tuple(dict.fromkeys((*(each.column for each in self.by), *self.where)))


def ask_figure(given: Mapping[Asked, Any], by: Any, where: Any, released: Sequence[str]) -> FigureQuestion:
    """Make a question from its text, or raise all problems; exactly one figure is ``given``."""
    [(asked, wanted)] = given.items()
    problems: list[Problem] = []
    known, conditions = asked_cells(by, where, released, problems)
    if asked == "regress":
        columns = _formula(wanted, released, problems)
    elif asked == "correlation":
        columns = _pair(wanted, released, problems)
    else:
        columns = _known(asked, [wanted], released, problems)
    problems += [
        Problem(asked, f"column '{name}' is named twice.") for name in dict.fromkeys(columns) if columns.count(name) > 1
    ]
    problems += [
        Problem("by", f"column '{each.column}' is the one that the question is about.")
        for each in known
        if each.column in columns
    ]
    if problems:
        raise ParameterError(problems)
    return FigureQuestion(asked, tuple(columns), tuple(known), conditions)


def _known(where: str, names: Sequence[Any], released: Sequence[str], problems: list[Problem]) -> list[str]:
    found = [name for name in names if isinstance(name, str) and name in released]
    problems += [unknown_column(where, name, released) for name in names if name not in found]
    return found


def _pair(given: Any, released: Sequence[str], problems: list[Problem]) -> list[str]:
    """Return the two columns of a correlation; in text there is a comma between them."""
    names = listed(given, released, []) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != 2:
        problems.append(Problem("correlation", "needs two columns.", "write height,weight."))
        return []
    return _known("correlation", names, released, problems)


def _formula(given: Any, released: Sequence[str], problems: list[Problem]) -> list[str]:
    """Return the outcome and the regressors of a formula such as ``y ~ x``; names may hold any of its signs."""
    hint = "write the outcome, ~ and the regressor: weight ~ height."
    if not isinstance(given, str) or "~" not in given:
        problems.append(Problem("regress", "must be a text with one ~ between two columns.", hint))
        return []
    parts = [(given[: sign.start()].strip(), given[sign.end() :].strip()) for sign in re.finditer("~", given)]
    read = [(outcome, _added(rest, released)) for outcome, rest in parts]
    outcome, regressors = next((each for each in read if {each[0], *each[1]} <= set(released)), read[0])
    found = _known("regress", [outcome, *regressors], released, problems)
    if len(regressors) > 1 and not problems:
        what = "has several regressors; lines with one regressor can be estimated."
        raise UnsupportedError(Problem("regress", what, hint))
    return found


def _added(text: str, released: Sequence[str]) -> list[str]:
    """Return the names between plus signs; the longest name that is known counts."""
    found, pieces = [], text.split("+")
    while pieces:
        size = len(pieces)
        while size > 1 and "+".join(pieces[:size]).strip() not in released:
            size -= 1
        found.append("+".join(pieces[:size]).strip())
        pieces = pieces[size:]
    return found
