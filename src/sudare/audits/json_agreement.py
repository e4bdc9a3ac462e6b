"""Comparison of JSON values, and checks of their form, for text that anyone may have written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from sudare.core.errors import Problem


def differences(told: Any, found: Any, where: str, off: float = 0.0) -> Iterator[Problem]:
    """Return where two JSON values differ; messages never quote the claimed value, which could be anything."""
    if isinstance(found, Mapping):
        if not isinstance(told, Mapping):
            yield Problem(where, "does not have the expected form.")
            return
        lost = [key for key in found if key not in told]
        strange = len([key for key in told if key not in found])
        yield from (Problem(f"{where}.{key}", "is missing.") for key in lost)
        if strange:
            yield Problem(where, f"has {strange} keys that do not belong here.")
        for key, value in found.items():
            if key in told:
                yield from differences(told[key], value, f"{where}.{key}", off)
    elif isinstance(found, list | tuple):
        if not isinstance(told, list | tuple) or len(told) != len(found):
            yield Problem(where, f"does not have the {len(found)} entries that the audit finds.")
            return
        for number, (one, other) in enumerate(zip(told, found, strict=True)):
            yield from differences(one, other, f"{where}.{number}", off)
    elif not same(told, found, off):
        shown = f": {_shown(found)}" if found is None or isinstance(found, int | float) else ""
        yield Problem(where, f"does not agree with what the audit finds{shown}.")


def _shown(found: Any) -> str:
    return "nothing" if found is None else str(found).lower() if isinstance(found, bool) else f"{found:.12g}"


def same(told: Any, found: Any, off: float = 0.0) -> bool:
    """Whether two scalars of JSON are the same; numbers may differ in the last digits that were written."""
    if isinstance(found, bool) or found is None or isinstance(found, str):
        return type(told) is type(found) and bool(told == found)
    if not is_number(told) or not is_number(found):
        return False
    if isinstance(told, int) and isinstance(found, int):
        return told == found
    try:
        return math.isclose(told, found, rel_tol=1e-9, abs_tol=max(off, 1e-12))
    except OverflowError:
        return False


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether something is a finite number."""
    # by comparing: a whole number may be too large for what asks whether it is finite
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf


def is_count(value: object) -> TypeGuard[int]:
    """Whether something is a whole number from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def are_figures(told: Mapping[str, Any]) -> bool:
    """Whether there is, for each column, a mapping of names to numbers."""
    return all(isinstance(part, Mapping) and all(map(is_number, part.values())) for part in told.values())


def is_warning(told: Any) -> bool:
    """Whether something has the form of a warning."""
    return (
        isinstance(told, Mapping)
        and set(told) == {"kind", "columns", "figures", "text"}
        and isinstance(told["kind"], str)
        and isinstance(told["text"], str)
        and isinstance(told["columns"], list)
        and all(isinstance(name, str) for name in told["columns"])
        and isinstance(told["figures"], Mapping)
        and all(map(is_number, told["figures"].values()))
    )


def is_finite(told: Any) -> bool:
    """Whether no number of it is infinite, or none at all, however deep it stands."""
    waiting = [told]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, float) and not math.isfinite(part):
            return False
    return True


def plain(part: Any) -> Any:
    """Return a value as it reads back from JSON."""
    try:
        return json.loads(json.dumps(part, default=str))
    except TypeError:  # dates as keys, which no certificate has
        return part


def outside(seen: set[str | None], column: str, certificate: Mapping[str, Any] | None) -> list[Problem]:
    """Compare the values in sets with the domain in the certificate."""
    if certificate is None:
        return []
    try:
        domain = certificate["mechanism"]["columns"][column]["values"]
        strange = len(seen) > len(domain)
        if all(isinstance(value, str | None) for value in domain):
            strange = strange or not seen <= set(domain)
        elif all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in domain):
            # in few digits: text may have fewer of them than the numbers had
            told = {None if value is None else f"{float(value):.6g}" for value in domain}
            strange = strange or not {None if text is None else f"{float(text):.6g}" for text in seen} <= told
    except (KeyError, TypeError, ValueError, OverflowError):
        return [Problem(f"certificate.mechanism.columns.{column}", "does not list the values that sets are made of.")]
    what = "does not list all values that sets of the release show."
    return [Problem(f"certificate.mechanism.columns.{column}.values", what)] if strange else []
