"""The exceptions: every error that a user can cause, in one form.

An error carries one or more :class:`Problem`: where it is, what was wrong (with what was got and what is
allowed), and a hint. Configuration errors are collected and shown together. A message never holds a value
of a person: columns, counts and row numbers are named, cells are not.

``exit_code`` is what the command line returns: 2 for bad input or usage, 1 where the input is fine but the
policy cannot be met or a release does not keep it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

_COMMANDS = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Characters that a terminal obeys instead of showing them: controls, and what turns the direction of text."""


def printable(text: str) -> str:
    """Return a text that shows what a terminal would obey, such as the colours and titles that a name may set.

    Names of columns and files come from others. In JSON the text says the same as before.
    """
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@dataclass(frozen=True)
class Problem:
    """One problem: its place, its description, and a hint."""

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return printable(self._text().replace("\n", "\\n"))  # a name with a line break may not pose as a line

    def _text(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if not self.hint:
            return text
        return f"{text} {self.hint}" if self.hint.startswith("Did you mean") else f"{text} Hint: {self.hint}"


class SudareError(Exception):
    """Every error that sudare raises on purpose. Catch this to catch all of them.

    `problems` has everything that is wrong, each with `where`, `what` and `hint`. `exit_code` is the exit code of the
    command line.
    """

    exit_code = 2
    subject = "the input"

    def __init__(self, problems: Problem | str | Iterable[Problem], *, hint: str = "") -> None:
        if isinstance(problems, str):
            problems = Problem("", problems, hint)
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = [f"{len(self.problems)} problems in {self.subject}:"]
        lines += [f"  {number}. {problem}" for number, problem in enumerate(self.problems, 1)]
        return "\n".join(lines)


class PolicyError(SudareError):
    """The policy is not well formed, or does not fit the table."""

    subject = "the policy"


class DataError(SudareError):
    """The table cannot be read, or holds what the policy does not allow."""

    subject = "the data"


class HierarchyError(SudareError):
    """A hierarchy is not a tree, or does not cover its column."""

    subject = "the hierarchies"


class ParameterError(SudareError):
    """A parameter of a model, method or function is outside what it allows."""

    subject = "the parameters"


class TargetError(SudareError):
    """The release cannot be written to its target."""

    subject = "the target"


class UnsupportedError(SudareError):
    """A combination that does not exist; the hint names the alternative."""

    subject = "the request"


class MissingExtraError(SudareError):
    """An optional dependency is not installed; the hint is the command that installs it."""

    subject = "the installation"


class PolicyUnmetError(SudareError):
    """No release of this table can keep this policy."""

    exit_code = 1
    subject = "meeting the policy"


class AuditFailedError(SudareError):
    """A release does not keep its policy, or is not the file its certificate speaks of."""

    exit_code = 1
    subject = "the release"


def did_you_mean(got: str, allowed: Iterable[str]) -> str:
    """Return a sentence that names the nearest allowed word, or an empty string."""
    near = difflib.get_close_matches(got, list(allowed), n=1, cutoff=0.6)
    return f"Did you mean '{near[0]}'?" if near else ""
