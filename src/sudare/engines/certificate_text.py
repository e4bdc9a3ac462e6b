"""The strict reader of certificates, which anyone may have written."""

from __future__ import annotations

import json
import math
from typing import Any

from sudare.core.errors import AuditFailedError, Problem, SudareError
from sudare.core.sizes import GIB

DEEPEST = 40
"""The deepest nesting of a certificate: matrices of a stratum have ten levels."""
LARGEST = GIB
"""The most characters of a certificate."""


def parse_certificate(text: object) -> dict[str, Any] | None:
    """Return the certificate in a text; None if it is not one, or if parsers would read it differently.

    Parsers differ in JSON with a key twice, with NaN, and with infinite numbers.
    """
    if not isinstance(text, str) or len(text) > LARGEST:
        return None
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "certificate" in found and not _is_deep(found) else None


def read_certificate(
    text: str | None, where: str, error: type[SudareError] = AuditFailedError
) -> dict[str, Any] | None:
    """Return the certificate in a text, None if there is no text; raise an error if it is something else."""
    if text is None:
        return None
    found = parse_certificate(text)
    if found is None:
        raise error(Problem(where, "is not a readable certificate."))
    return found


def _is_deep(found: Any) -> bool:
    """Whether something stands below more levels than a certificate has."""
    level = [found]
    for _ in range(DEEPEST):
        level = [
            each
            for part in level
            if isinstance(part, dict | list)
            for each in (part.values() if isinstance(part, dict) else part)
            if isinstance(each, dict | list)
        ]
        if not level:
            return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number
