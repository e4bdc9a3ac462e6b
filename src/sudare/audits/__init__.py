"""The audit: proves every promise of a policy on a written release, from the file alone.

It shares no code with methods, models or renderers. The definitions are written here a second time, in SQL, so
that a mistake made once is not made twice; and it fails closed: what cannot be shown to hold does not hold.
"""

from sudare.audits.audit_report import AuditReport, AuditWarning, Guarantee
from sudare.audits.auditor_input import AuditorInput
from sudare.audits.parquet_folders import check_folder
from sudare.audits.release_columns import Alone, Elsewhere
from sudare.audits.run import audit_release

__all__ = [
    "Alone",
    "AuditReport",
    "AuditWarning",
    "AuditorInput",
    "Elsewhere",
    "Guarantee",
    "audit_release",
    "check_folder",
]
