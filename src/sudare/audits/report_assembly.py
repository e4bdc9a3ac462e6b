"""The end of every audit: findings are compared with the certificate and become a report."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sudare.audits.audit_report import AuditReport
from sudare.audits.auditor_input import AuditorInput
from sudare.audits.certificate_checks import Found, compare
from sudare.core.errors import Problem
from sudare.policy import Policy

OTHER_POLICY = (
    "The release was made under another policy than this one, so the audit does not compare the guarantees in its "
    "certificate."
)


def conclude(
    policy: Policy,
    told: AuditorInput,
    found: Found,
    *,
    classes: int | None,
    problems: Sequence[Problem],
    started: float,
) -> AuditReport:
    """Return the report; ``problems`` are those that were found already, and the clock began at ``started``."""
    compared = compare(told, policy, found)
    wrong = (*problems, *compared.problems)
    return AuditReport(
        passed=not wrong and all(guarantee.holds for guarantee in found.guarantees),
        rows=found.rows,
        classes=classes,
        guarantees=tuple(found.guarantees),
        release_sha256=found.sha256,
        problems=wrong,
        seconds=time.perf_counter() - started,
        notes=(OTHER_POLICY,) if told.is_of_other_policy(policy) else (),
        warnings=tuple(found.warnings),
        signature=compared.signature,
        verified=tuple(compared.verified),
        claimed=tuple(compared.claimed),
        claimed_warnings=tuple(compared.warnings),
        proven_steps=found.transformed,
    )
