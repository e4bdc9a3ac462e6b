"""Small tables and policies for the tests of the audit."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.audits import AuditReport, Guarantee, audit_release
from sudare.audits.certificate_checks import MISSING, NO_LOSS, ORDERS, RANDOMNESS, ROLES, STAGES
from sudare.audits.class_tables import build_classes
from sudare.audits.losses import Losses, Records, losses
from sudare.audits.opened_release import open_release
from sudare.audits.run import database
from sudare.policy import Policy


def policy(
    *require: Mapping[str, Any],
    quasi: Iterable[str] = ("zone",),
    sensitive: Iterable[str] = ("illness",),
    **columns: Mapping[str, Any],
) -> Policy:
    """Return a policy with these requirements; ``columns`` adds columns or replaces their descriptions."""
    described: dict[str, Any] = {name: {"role": "quasi"} for name in quasi}
    described |= {name: {"role": "sensitive"} for name in sensitive}
    return Policy.parse({"columns": described | columns, "require": list(require)})


def classes(**groups: Sequence[Any]) -> pa.Table:
    """Return a table of one quasi-identifier, ``zone``, and the sensitive values of each of its classes."""
    rows = [(zone, value) for zone, values in groups.items() for value in values]
    return pa.table({"zone": [zone for zone, _ in rows], "illness": pa.array([value for _, value in rows])})


def prove(release: Any, spec: Mapping[str, Any], **columns: Mapping[str, Any]) -> Guarantee:
    """Return what the audit says about one requirement."""
    report = audit_release(release, policy(spec, **columns))
    return required(report)


def required(report: AuditReport) -> Guarantee:
    """Return the guarantee of the first requirement."""
    return next(guarantee for guarantee in report.guarantees if not guarantee.model.endswith("absent"))


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str = ",") -> Path:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return path


def paper(
    release: Path, rules: Policy, *, mechanism: Mapping[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """Return a certificate of a file that says of it what the audit finds, with some keys changed."""
    report = audit_release(release, rules, mechanism=mechanism)
    said = report.to_dict()
    loss, by_column = dict(NO_LOSS), {}
    if report.classes is not None:
        found = lost(release, rules, report.rows)
        loss = {name: figure.hull[0] for name, figure in found.totals.items()}
        loss |= {"discernibility": 0.0, "average_class_size": report.rows / report.classes}
        by_column = {
            column: {name: figure.hull[0] for name, figure in figures.items()}
            for column, figures in found.columns.items()
        }
    shuffled = report.classes is None and rules.release.order == "class"
    return {
        "certificate": 1,
        "rows_in": report.rows,
        "rows_out": report.rows,
        "suppressed": 0,
        "classes": report.classes,
        "guarantees": said["guarantees"],
        "warnings": said["warnings"] + _of_the_method(report, rules),
        "loss": loss,
        "loss_by_column": by_column,
        "item_sets": {},
        "spellings": {},
        "other": {},
        "seconds": dict.fromkeys(STAGES, 0.0),
        "method": {"name": rules.method.name, **rules.method.options},
        "search": {},
        "mechanism": dict(mechanism or {}),
        "columns": {role: rules.named(role) for role in ROLES},
        "order": ORDERS["shuffled" if shuffled else rules.release.order],
        "randomness": RANDOMNESS[0],
        "missing": MISSING,
        "versions": {"sudare": "1"},
        "date": "2026-01-01T00:00:00Z",
        "about": rules.about.model_dump(exclude_none=True),
        "source": {"kind": "text file"},
        "policy_sha256": rules.sha256,
        "release_sha256": report.release_sha256,
    } | changes


def lost(release: Path, rules: Policy, rows: int, *, left: int = 0, other: Mapping[str, int] | None = None) -> Losses:
    """Return what the audit finds that a release of so many rows has lost; more were ``left`` out."""
    with closing(open_release(release, rules)) as opened, database(None, None) as connection:
        shown = build_classes(connection, opened, rules).shown()
    return losses(shown, rules, other or {}, Records(rows + left, left, 0))


def _of_the_method(report: AuditReport, rules: Policy) -> list[dict[str, Any]]:
    """Return what whoever makes a release warns of where classes are made by looking at sensitive values."""
    looked_at = [spec.column for spec in rules.require if hasattr(spec, "column") and spec.model != "km-anonymity"]
    if report.classes is None or not looked_at:
        return []
    return [{"kind": "minimality", "columns": looked_at, "figures": {}, "text": "A method was known."}]
