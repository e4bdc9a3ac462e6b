"""What is checked before any work is done that would be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sudare.errors import PolicyError, Problem, TargetError
from sudare.policy import Policy
from sudare.release import certificate_path, check_target, second_table


def check_hidden(policy: Policy, method: str) -> None:
    """Raise if a sensitive column would be shown as it is beside quasi-identifiers that are as they were."""
    held = {getattr(spec, "column", None) for spec in policy.require}
    what = f"is sensitive, and nothing is promised about it; {method} would show it as it is."
    hint = "require l-diversity of it, or give it the role identifier."
    problems = [Problem(f"columns.{name}", what, hint) for name in policy.sensitive if name not in held]
    if method == "anatomy":
        taken = "is the name of a column that anatomy adds to a release."
        problems += [
            Problem(f"columns.{name}", taken, "rename it.") for name in ("group", "count") if name in policy.columns
        ]
    if problems:
        raise PolicyError(problems)


def check_out(target: Path, data: Any, policy: Any, checked: Policy) -> None:
    """Raise if a release cannot be written there, or would overwrite what it is made from."""
    check_target(target)
    given_trees = [spec.hierarchy.file for spec in checked.columns.values() if spec.hierarchy is not None]
    trees = [checked.folder / file for file in given_trees if file is not None]
    for path in (target, certificate_path(target), second_table(target)):
        for given in (data, policy, *trees):
            if isinstance(given, str | Path) and path.exists() and Path(given).exists() and path.samefile(given):
                what = "is the source itself." if given is data else "is part of the policy."
                raise TargetError(Problem(str(path), what, "choose another name for the release."))
