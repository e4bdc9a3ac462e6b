"""The certificate: what was promised, what was proven, and what it cost, without a value of any person."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from sudare.metrics import METRICS, item_figures
from sudare.table import Generalized

FORMAT = 1
MISSING = (
    "A missing value is a value of its own: missing values form classes with each other, match nothing else, "
    "and are never dropped. A class that mixes missing and present values shows '*' for numbers and hierarchies, "
    "and a set that lists null for categories."
)
ORDERS = {
    "class": "class by class, shuffled within each class",
    "keep": "as in the source, which the policy asked for",
}


def loss_figures(shown: Generalized) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return every loss metric in total, and per quasi-identifier where the metric has such figures."""
    found = {name: metric(shown) for name, metric in METRICS.items()}
    totals = {name: round(loss.total, 9) for name, loss in found.items()}
    attributes: dict[str, dict[str, float]] = {}
    for name, loss in found.items():
        for column, figure in loss.attributes.items():
            attributes.setdefault(column, {})[name] = round(figure, 9)
    return totals, attributes


def make_certificate(
    *,
    shown: Generalized,
    order: str,
    method: Mapping[str, Any],
    columns: Mapping[str, Iterable[str]],
    audit: Mapping[str, Any],
    seconds: Mapping[str, float],
    policy_sha256: str,
) -> dict[str, Any]:
    """Put the certificate together; guarantees and digests are those that the audit found."""
    totals, attributes = loss_figures(shown)
    return {
        "certificate": FORMAT,
        "rows_in": shown.rows,
        "rows_out": int(shown.sizes.sum()),
        "suppressed": shown.suppressed,
        "classes": audit["classes"],
        "guarantees": audit["guarantees"],
        "loss": totals,
        "loss_by_column": attributes,
        "item_sets": item_figures(shown),
        "seconds": {stage: round(spent, 4) for stage, spent in seconds.items()},
        "method": dict(method),
        "columns": {role: list(names) for role, names in columns.items()},
        "order": ORDERS[order],
        "missing": MISSING,
        "versions": {name: version(name) for name in ("sudare", "numpy", "numba", "pyarrow", "duckdb")}
        | {"python": platform.python_version()},
        "policy_sha256": policy_sha256,
        "release_sha256": audit["release_sha256"],
    }
