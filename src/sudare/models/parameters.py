"""Checks of model parameters: all that is wrong with a model in one error, each problem in one form.

A check returns a :class:`~sudare.core.errors.Problem` that says where, what was got and what is allowed, or None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from sudare.core.errors import ParameterError, Problem, did_you_mean


def require(*checks: Problem | None) -> None:
    """Raise one error that lists every check that found a problem."""
    problems = [problem for problem in checks if problem is not None]
    if problems:
        raise ParameterError(problems)


def whole(where: str, got: object, least: int) -> Problem | None:
    """Check for a whole number of at least ``least``; a truth value is not a number."""
    if not isinstance(got, bool) and isinstance(got, Integral) and int(got) >= least:
        return None
    return refusal(where, got, f"a whole number of at least {least}")


def number(
    where: str, got: object, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> Problem | None:
    """Check for a finite number within limits: greater than ``above``, from ``least``, up to ``most``."""
    allowed = "a number"
    for limit, words in ((above, "above"), (least, "from"), (most, "up to")):
        if limit is not None:
            allowed += f" {words} {limit:g}"
    fits = (
        not isinstance(got, bool)
        and isinstance(got, Real)
        and math.isfinite(got)
        and (above is None or float(got) > above)
        and (least is None or float(got) >= least)
        and (most is None or float(got) <= most)
    )
    return None if fits else refusal(where, got, allowed)


def word(where: str, got: object, allowed: Iterable[str]) -> Problem | None:
    """Check for one of a few words, and point to the nearest."""
    words = list(allowed)
    if isinstance(got, str) and got in words:
        return None
    return refusal(where, got, ", ".join(words), did_you_mean(str(got), words))


def column(where: str, got: object) -> Problem | None:
    """Check for the name of a column."""
    return None if isinstance(got, str) else refusal(where, got, "the name of a column")


def texts(where: str, got: object) -> Problem | None:
    """Check for a list of at least one text, or nothing at all."""
    fits = got is None or (isinstance(got, list | tuple) and got and all(isinstance(text, str) for text in got))
    return None if fits else refusal(where, got, "a list of at least one text")


def refusal(where: str, got: object, allowed: str, hint: str = "") -> Problem:
    """Return the problem in its one form: what was got, and what is allowed."""
    shown = repr(got) if got is None or isinstance(got, str | bool | Real) else f"a {type(got).__name__}"
    return Problem(where, f"got {shown}. Allowed: {allowed}.", hint)
