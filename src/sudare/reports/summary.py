"""A release in a few lines of HTML, as notebooks show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.reports.svg.marks import plain

MEASURES = ("gcp", "arx", "entropy")


def release_summary(certificate: Mapping[str, Any], title: str) -> str:
    """Return what a release promises, with verdicts, and what it lost."""
    rows = "".join(
        f"<tr><td style='text-align:left'>{plain(str(one['model']))}</td><td>{plain(_figure(one['required']))}</td>"
        f"<td>{plain(_figure(one['achieved']))}</td><td>{'holds' if one['holds'] else 'broken'}</td></tr>"
        for one in certificate["guarantees"]
    )
    loss = certificate["loss"]
    told = ", ".join(f"{name.upper()} {loss[name]:.4f}" for name in MEASURES if name in loss)
    classes = "" if certificate["classes"] is None else f" in {certificate['classes']:,} classes"
    count = len(certificate.get("warnings") or ())
    verdict = f" The policy's promises hold, with {count} {'warning' if count == 1 else 'warnings'}." if count else ""
    warned = "".join(f"<p>Warning: {plain(str(one['text']))}</p>" for one in certificate.get("warnings") or ())
    return (
        f"<div><p><strong>{plain(title)}</strong>: {certificate['rows_out']:,} of {certificate['rows_in']:,} records"
        f"{classes}.{verdict} Loss: {plain(told)}.</p><table><thead><tr><th "
        f"style='text-align:left'>promise</th><th>required</th>"
        f"<th>achieved</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table>{warned}</div>"
    )


def _figure(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_figure(part)}" for name, part in value.items())
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
