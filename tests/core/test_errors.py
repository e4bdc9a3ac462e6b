"""The exception tree: one form, one message, and the exit codes that scripts rely on."""

from __future__ import annotations

import inspect

import pytest

from sudare.core import errors
from sudare.core.errors import (
    AuditFailedError,
    DataError,
    PolicyError,
    PolicyUnmetError,
    Problem,
    SudareError,
    did_you_mean,
)

TREE = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, SudareError)]


@pytest.mark.parametrize("kind", TREE)
def test_tree(kind):
    assert kind.exit_code == (1 if kind in (PolicyUnmetError, AuditFailedError) else 2)
    assert kind.subject
    assert kind.__doc__


def test_one_problem_is_one_line():
    error = PolicyError(Problem("require.0.k", "is missing."))
    assert str(error) == "require.0.k: is missing."
    assert error.problems == (Problem("require.0.k", "is missing."),)


def test_several_problems_are_numbered():
    error = PolicyError([Problem("a", "is wrong."), Problem("b", "is, too.", "mend it.")])
    assert str(error) == "2 problems in the policy:\n  1. a: is wrong.\n  2. b: is, too. Hint: mend it."


def test_problems_may_come_from_any_iterable():
    assert len(SudareError(dict.fromkeys([Problem("", "a"), Problem("", "a"), Problem("", "b")])).problems) == 2


def test_plain_text_with_a_hint():
    error = SudareError("no such thing.", hint="use another.")
    assert str(error) == "no such thing. Hint: use another."
    assert error.problems == (Problem("", "no such thing.", "use another."),)


def test_near_words_are_no_hints():
    assert str(Problem("x", "is wrong.", "Did you mean 'y'?")) == "x: is wrong. Did you mean 'y'?"


@pytest.mark.parametrize(
    ("got", "answer"),
    [("quazi", "Did you mean 'quasi'?"), ("sensitiv", "Did you mean 'sensitive'?"), ("zzz", ""), ("", "")],
)
def test_did_you_mean(got, answer):
    assert did_you_mean(got, (word for word in ("quasi", "sensitive", "subject"))) == answer


def test_a_message_shows_what_a_terminal_would_obey():
    said = str(DataError(Problem("a\x1b]0;x\x07b", "c\x9bd\u202ee", "f\x7f")))
    assert said == r"a\u001b]0;x\u0007b: c\u009bd\u202ee Hint: f\u007f"


def test_a_name_with_a_line_break_does_not_pose_as_a_line():
    assert str(DataError(Problem("a\nsudare: all is well", "is bad."))) == r"a\nsudare: all is well: is bad."
