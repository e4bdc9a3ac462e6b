"""The stages that all three variants share: rare values, the check of the proof, and the certificate."""

from __future__ import annotations

from sudare.audits import AuditReport
from sudare.core.errors import DataError, Problem
from sudare.pipeline.request import Request
from sudare.policy import TextLayout
from sudare.releases.certificate import Certificate
from sudare.releases.release_figures import Figures, merged_spellings
from sudare.releases.warnings import about_spellings
from sudare.sources.rare_value_limits import without_rare
from sudare.table import Table


def protect_rare_values(request: Request, table: Table) -> Table:
    """Return the table as it may be shown: without values that few hold, where classes are made."""
    return without_rare(table, request.policy) if request.makes_classes else table


def note_spellings(request: Request, figures: Figures, table: Table) -> Figures:
    """Return figures that say how many spellings were merged, and warn of those that quasi-identifiers show."""
    figures.spellings.update(merged_spellings(table))
    request.warnings += about_spellings(table)
    return figures


def check_proof(report: AuditReport, figures: Figures, where: str, hint: str) -> None:
    """Raise if the audit failed, or if it found another number of records than were released."""
    report.raise_if_failed()
    if report.rows != figures.rows_out:
        what = f"has {report.rows} records where {figures.rows_out} were expected."
        raise DataError(Problem(where, what, hint))


def certify(
    request: Request,
    figures: Figures,
    report: AuditReport,
    where: str,
    hint: str,
    *,
    layout: TextLayout | None = None,
) -> Certificate:
    """Return the certificate of what was written, or raise if the audit failed or records are missing."""
    check_proof(report, figures, where, hint)
    return request.certificate(figures, report, layout)
