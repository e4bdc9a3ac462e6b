"""The audit: proves every promise of a policy on a written release, from the file alone.

It shares no code with methods, models or renderers. The definitions are written here a second time, in SQL, so
that a mistake made once is not made twice; and it fails closed: what cannot be shown to hold does not hold.
"""

from sudare.audits.certificate_read import Told
from sudare.audits.folders import check_folder
from sudare.audits.proof import audit_release
from sudare.audits.sources import Alone, Elsewhere
from sudare.audits.verdict import (
    AuditReport,
    AuditWarning,
    Guarantee,
)

__all__ = ["Alone", "AuditReport", "AuditWarning", "Elsewhere", "Guarantee", "Told", "audit_release", "check_folder"]
