"""The audit: proves every promise of a policy on a written release, from the file alone.

It shares no code with methods, models or renderers. The definitions are written here a second time, in SQL, so
that a mistake made once is not made twice; and it fails closed: what cannot be shown to hold does not hold.
"""

from sudare.audit.folders import check_folder
from sudare.audit.prove import audit_release
from sudare.audit.sources import Alone, Elsewhere
from sudare.audit.told import Told
from sudare.audit.verdict import AuditReport, AuditWarning, Guarantee

__all__ = ["Alone", "AuditReport", "AuditWarning", "Elsewhere", "Guarantee", "Told", "audit_release", "check_folder"]
