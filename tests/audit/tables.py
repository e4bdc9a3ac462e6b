"""Small tables and policies for the tests of the audit."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.audit import AuditReport, Guarantee, audit_release
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
