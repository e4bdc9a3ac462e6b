"""Reading the text of a certificate, which anybody may have written: strictly, and never with a traceback."""

from __future__ import annotations

import json
import math
from typing import Any

from sudare.core.errors import AuditFailedError, Problem, SudareError
from sudare.core.sizes import GIB

DEEPEST = 40
"""As deep a certificate stands, at the most: matrices of a stratum, the deepest that there are, have ten levels."""
LARGEST = GIB
"""The characters that a certificate has at the most."""


def parse_certificate(text: object) -> dict[str, Any] | None:
    """Return the certificate that a text is; None if it is none, or none that all readers read alike.

    JSON that names a key twice is read in different ways, and so are numbers that are none, or are without bounds.
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
    """Return the certificate that a text is, None if there is no text; raise an error if it is something else."""
    if text is None:
        return None
    found = parse_certificate(text)
    if found is None:
        raise error(Problem(where, "is not a certificate that can be read."))
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
        raise ValueError("a key is there twice")
    return found


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number
