"""A release in a few lines of HTML, as notebooks show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.releases.certificate import Certificate
from sudare.reports.markup import rendered

MEASURES = ("gcp", "arx", "entropy")


def release_summary(certificate: Certificate, title: str) -> str:
    """Return what a release promises, with verdicts, and what it lost."""
    loss = certificate.loss
    told = ", ".join(f"{name.upper()} {loss[name]:.4f}" for name in MEASURES if name in loss)
    classes = "" if certificate.classes is None else f" in {certificate.classes:,} classes"
    count = len(certificate.warnings)
    verdict = f" The policy's promises hold, with {count} {'warning' if count == 1 else 'warnings'}." if count else ""
    rows = [
        {
            "model": str(one.model),
            "required": _figure(one.required),
            "achieved": _figure(one.achieved),
            "verdict": "holds" if one.holds else "broken",
        }
        for one in certificate.guarantees
        if one.model != "transformation" or not one.holds
    ]
    done = certificate.transformed
    records = f"{certificate.rows_out:,} of {certificate.rows_in:,} records"
    about = f"{records}{classes}.{verdict} Loss: {told}." + (f" Transformed before: {done}." if done else "")
    warnings = [one.text for one in certificate.warnings]
    return str(rendered("summary.html", title=title, about=about, rows=rows, warnings=warnings))


def _figure(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_figure(part)}" for name, part in value.items())
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
