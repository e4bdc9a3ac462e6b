"""The audit of a release by its address: finds the release and its certificate, and chooses who proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sudare import engines
from sudare.audits import AuditorInput, AuditReport, audit_release, check_folder
from sudare.audits.signatures import PublicKey, load_public, look_at
from sudare.core.errors import AuditFailedError
from sudare.pipeline.targets import counted
from sudare.policy import Policy
from sudare.releases import certificate_beside
from sudare.releases.opened_release import open_released
from sudare.sources.opened_source import Data

Say = Callable[[str], None]


def audit_of(
    release: Data, policy: Policy, told: AuditorInput, *, spark: bool, master: str | None, progress: Say | None
) -> AuditReport:
    """Prove a release where it is, with the certificate that stands beside it."""
    if spark:
        return _on_spark(release, policy, told, progress or (lambda _: None), master)
    found = release if isinstance(release, engines.Place) else engines.find_place(release)
    if found is not None:
        with engines.open_database(found) as database:
            table = counted(database, found, found.shown)
            return audit_release(
                table, policy, told=replace(told, certificate=database.certificate(found)), progress=progress
            )
    if not isinstance(release, str | Path):
        return audit_release(engines.adopt(release)[0], policy, told=told, progress=progress)
    path = Path(release)
    return audit_release(path, policy, told=replace(told, certificate=certificate_beside(path)), progress=progress)


def public_keys(given: str | Path | Sequence[str | Path]) -> tuple[PublicKey, ...]:
    """Return public keys that are named by their files."""
    return tuple(map(load_public, [given] if isinstance(given, str | Path) else given))


def signature_of(release: Any, keys: Sequence[PublicKey]) -> dict[str, Any] | None:
    """Return the signer of a certificate, or None; raise if keys are given and none of them signed it."""
    signature, problems = look_at(open_released(release).paper, keys)
    if problems:
        raise AuditFailedError(problems)
    return None if signature is None else signature.to_dict()


def _on_spark(release: Data, policy: Policy, told: AuditorInput, say: Say, master: str | None) -> AuditReport:
    from sudare.engines.spark.spark import Spark, beside, is_path
    from sudare.pipeline.spark.spark_audit import prove
    from sudare.pipeline.spark.spark_targets import certificate_there

    named = isinstance(release, str | Path)
    certificate: Mapping[str, Any] | None = None
    with Spark.of(release, master) as spark:
        frame = spark.open(release)
        if engines.find_remote(release):
            certificate = certificate_there(spark, str(release))
        elif named and is_path(str(release)):
            certificate = certificate_beside(Path(release))
            check_folder(Path(release))
        elif named:
            paper = beside(str(release), engines.CERTIFICATE)
            certificate = engines.read_certificate(spark.noted(paper), paper)
        where = str(release) if named else "release"
        return prove(spark, frame, where, policy, told=replace(told, certificate=certificate), say=say).report
