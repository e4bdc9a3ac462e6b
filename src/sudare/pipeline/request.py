"""What is asked for when a release is to be made, and what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare.audits import AuditReport
from sudare.core.progress import Listener
from sudare.core.randomness import Entropy
from sudare.engines import Place, Remote, file_kind
from sudare.models import MODELS, Requirements
from sudare.pipeline.checks import Seen
from sudare.policy import Policy, Role
from sudare.releases.certificate import Figures, make_certificate
from sudare.releases.signatures import Signer
from sudare.releases.warnings import TIGHT, ReleaseWarning
from sudare.sources.encoded_table import Data, Unseen
from sudare.table import Recoding, Table

ROLES: tuple[Role, ...] = ("quasi", "sensitive", "insensitive", "subject", "identifier")


@dataclass(frozen=True, eq=False)
class Made:
    """A release that was made: its certificate, and its rows (and second table) if they went nowhere else."""

    certificate: dict[str, Any]
    data: Any = None
    second: Any = None


@dataclass(eq=False)
class Asked:
    """A release that is to be made: of what, under which policy, by which decision, and where it is to go.

    ``given`` is what the policy came from. ``seen`` is the policy as the method sees it, where that is another:
    quasi-identifiers may be carried along as they are, or encoded otherwise. ``target`` is a file, a table of a
    database, a folder that Spark reaches, or None for rows that come back in the kind of table that was given.
    ``origin`` is the table of a database that the data are, if they are one. ``spark`` says that it is to be made on
    Spark, at ``master`` if a session is begun.
    """

    data: Data = field(repr=False)  # an address may have a password in it
    given: Any
    policy: Policy
    method: Mapping[str, Any]
    decide: Callable[[Table, Requirements], Recoding]
    target: Path | Place | Remote | None
    origin: Place | None
    seen: Seen
    seed: int | None
    memory: int | None
    listener: Listener
    unseen: Unseen | None = None
    makes_classes: bool = True
    spark: bool = False
    master: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    signer: Signer | None = None
    """Whose key signs the certificate."""
    warnings: list[ReleaseWarning] = field(default_factory=list)
    """What the certificate is to warn of, besides what the audit finds."""

    @property
    def shows_rare(self) -> bool:
        """Whether ranges and sets may name values that few hold."""
        return self.makes_classes and self.policy.release.ranges == "tight"

    @property
    def requirements(self) -> Requirements:
        """What the release has to keep."""
        return requirements_of(self.policy)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Tell the listener of a stage, and note how long it takes."""
        self.listener(stage, 0, 0)
        started = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - started

    def certificate(self, figures: Figures, report: AuditReport) -> dict[str, Any]:
        """Return the certificate of the release."""
        certificate = make_certificate(
            figures=figures,
            order=self.policy.release.order,
            method=self.method,
            columns={role: self.policy.named(role) for role in ROLES},
            audit=report.to_dict(),
            seconds=self.seconds,
            policy_sha256=self.policy.sha256,
            randomness=Entropy(self.seed).source,
            warnings=[*self.warnings, *_of_the_method(self), *([TIGHT] if self.shows_rare else [])],
            about=self.policy.about.model_dump(exclude_none=True),
            source=self._source(),
        )
        return certificate if self.signer is None else self.signer.sign(certificate)

    def _source(self) -> str:
        """Say what kind of source there was: no name, no path and no digest of it, which could be guessed from."""
        if self.spark:
            return "Spark"
        if self.origin is not None:
            return {"duckdb": "DuckDB table", "postgres": "PostgreSQL table"}[self.origin.engine]
        if isinstance(self.data, str | Path):
            return f"{file_kind(Path(self.data))} file"
        return "table in memory"


def _of_the_method(asked: Asked) -> list[ReleaseWarning]:
    """Return what knowing the method may tell beyond what classes show (see :mod:`sudare.methods.topdown.blind`)."""
    columns = asked.requirements.columns
    if not asked.makes_classes or not columns or asked.method.get("sensitive") == "blind":
        return []
    named = " and ".join(f"'{name}'" for name in columns)
    text = (
        f"The method looked at {named} when it chose the classes. Someone who knows the method, the policy and "
        "everybody's quasi-identifiers may infer more than the classes show (minimality attack). "
        "The policy can prevent that: method: {name: top-down, sensitive: blind}."
    )
    return [ReleaseWarning("minimality", text, columns)]


def requirements_of(policy: Policy) -> Requirements:
    """Return what a policy requires, as methods read it."""
    models = tuple(MODELS[spec.model](**spec.parameters()) for spec in policy.require)
    return Requirements(models, policy.suppression.limit, policy.suppression.records == "masked")
