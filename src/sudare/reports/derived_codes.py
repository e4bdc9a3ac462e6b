"""Pseudonyms in a release: codes that are computed from values, and link records, whatever they look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PSEUDONYM = "pseudonym"


@dataclass(frozen=True)
class DerivedCode:
    """A column that shows pseudonyms.

    ``person`` says that the column names the person of a record, ``rare`` that few records share each value, or that
    nobody knows. ``bare`` says that nothing was done to the pseudonyms themselves.
    """

    name: str
    person: bool
    rare: bool
    bare: bool


def derived_codes(found: Mapping[str, Any]) -> dict[str, DerivedCode]:
    """Return the columns that show pseudonyms, by the policy and by the certificate.

    An identifier that is released as a pseudonym has another role then, so only its transformations tell.
    """
    steps: dict[str, list[str]] = {}
    for step in found["transformations"]:
        if step["column"] is not None:
            steps.setdefault(step["column"], []).append(step["transformation"])
    policy = {column["name"]: column for column in found["policy"]["columns"]}
    steps |= {name: list(column["steps"]) for name, column in policy.items() if column.get("steps")}
    rare = {column["name"]: bool(column.get("unique", True)) for column in found["columns"]}
    return {
        name: DerivedCode(
            name,
            person=policy.get(name, {}).get("role") == "subject",
            rare=rare.get(name, True),
            bare=done[-1] == PSEUDONYM,
        )
        for name, done in steps.items()
        if PSEUDONYM in done and name not in found["withheld"]
    }
