"""sudare: safe, useful and proven releases of tables about people.

>>> import sudare
>>> release = sudare.anonymize("patients.csv", "policy.yaml", out="release.csv")  # doctest: +SKIP

Heavy modules load when they are used, so that importing this costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AuditReport": "sudare.audits",
    "Explanation": "sudare.drafts",
    "Plan": "sudare.releases.plans",
    "Policy": "sudare.policy",
    "Preview": "sudare.pipeline.preview",
    "Reidentification": "sudare.transformations.reidentification",
    "Release": "sudare.api",
    "Report": "sudare.reports.build",
    "SudareError": "sudare.core.errors",
    "anonymize": "sudare.api",
    "apply": "sudare.api",
    "audit": "sudare.api",
    "calibrate": "sudare.api",
    "compare": "sudare.api",
    "draft": "sudare.api",
    "estimate": "sudare.api",
    "explain": "sudare.api",
    "explore": "sudare.api",
    "load_policy": "sudare.api",
    "new_secret_key": "sudare.api",
    "new_signing_key": "sudare.api",
    "numeric": "sudare.api",
    "parse_cell": "sudare.releases.cell_reader",
    "preview": "sudare.api",
    "reidentify": "sudare.api",
    "report": "sudare.api",
    "risk": "sudare.api",
}
"""Where each public name lives."""

if TYPE_CHECKING:
    from sudare import datasets
    from sudare.api import (
        Release,
        anonymize,
        apply,
        audit,
        calibrate,
        compare,
        draft,
        estimate,
        explain,
        explore,
        load_policy,
        new_secret_key,
        new_signing_key,
        numeric,
        preview,
        reidentify,
        report,
        risk,
    )
    from sudare.audits import AuditReport
    from sudare.core.errors import SudareError
    from sudare.drafts import Explanation
    from sudare.pipeline.preview import Preview
    from sudare.policy import Policy
    from sudare.releases.cell_reader import parse_cell
    from sudare.releases.plans import Plan
    from sudare.reports.build import Report
    from sudare.transformations.reidentification import Reidentification

__all__ = [
    "AuditReport",
    "Explanation",
    "Plan",
    "Policy",
    "Preview",
    "Reidentification",
    "Release",
    "Report",
    "SudareError",
    "anonymize",
    "apply",
    "audit",
    "calibrate",
    "compare",
    "datasets",
    "draft",
    "estimate",
    "explain",
    "explore",
    "load_policy",
    "new_secret_key",
    "new_signing_key",
    "numeric",
    "parse_cell",
    "preview",
    "reidentify",
    "report",
    "risk",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("sudare.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'sudare' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
