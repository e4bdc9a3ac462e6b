"""A request for a release, and its result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sudare import engines
from sudare.audits import AuditReport
from sudare.core import memory as sizes
from sudare.core.errors import ParameterError, Problem, did_you_mean
from sudare.core.progress import Listener, silent
from sudare.core.randomness import Entropy
from sudare.engines import Place, Remote, file_format
from sudare.methods import BLIND_TO, Method, method_of
from sudare.models import MODELS, Requirements
from sudare.pipeline.deciders import Decider
from sudare.pipeline.request_checks import PolicyView
from sudare.policy import Policy, Role, TextLayout
from sudare.releases.certificate import Certificate, make_certificate
from sudare.releases.release_figures import Figures
from sudare.releases.signatures import Signer, load_signer
from sudare.releases.warnings import TIGHT, ReleaseWarning, about_figures, about_one_class, about_transformations
from sudare.sources.opened_source import Data, check_source
from sudare.sources.unknown_values import UnknownValues
from sudare.table import Recoding, Table

ROLES: tuple[Role, ...] = ("quasi", "sensitive", "insensitive", "subject", "identifier")


@dataclass(frozen=True, eq=False)
class Result:
    """A finished release: its certificate, and its rows (and second table) if they were not written elsewhere.

    Of a dry run, these are the first rows.
    """

    certificate: Certificate
    data: Any = None
    second: Any = None


@dataclass(kw_only=True, eq=False)
class Request:
    """A request for a release: of which data, under which policy, by whose decision, and where it is to go.

    ``policy_file`` is where the policy came from. ``target`` is a file, a table of a database, a folder that Spark
    reaches, or None for rows that come back in the kind of table that was given. ``origin`` is the database table that
    the data are, if they are one. ``spark`` says that Spark does the work, at ``master`` if a session has to begin.
    ``warnings`` are those that the certificate shows besides what the audit finds, and ``transformations`` what it
    says of transformed columns. ``preview`` asks for a dry run: the
    release is made and proven, but not placed, and so many of its first rows come back. ``new_key`` says that secret
    keys may differ from those of the last release.
    """

    data: Data = field(repr=False)  # an address may have a password in it
    policy: Policy
    decider: Decider
    policy_file: Any = None
    target: Path | Place | Remote | None = None
    origin: Place | None = None
    seed: int | None = None
    memory: int | None = None
    listener: Listener = silent
    spark: bool = False
    master: str | None = None
    signer: Signer | None = None
    preview: int | None = None
    new_key: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[ReleaseWarning] = field(default_factory=list)
    transformations: list[Mapping[str, Any]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        data: Data,
        policy: Policy,
        decider: Decider,
        *,
        out: str | Path | None,
        memory: int | str | None = None,
        engine: str | None = None,
        sign: str | Path | None = None,
        **rest: Any,
    ) -> Request:
        """Return a request from what a user gives, or raise if some of it cannot be."""
        limit = None if memory is None else sizes.parse_size(memory)
        check_seed(rest.get("seed"))
        signer = None if sign is None else load_signer(Path(sign))
        spark = runs_on_spark(data, engine)
        check_source(data, policy, spark=spark)
        origin, table = ((spark and engines.find_remote(each)) or engines.find_place(each) for each in (data, out))
        return cls(
            data=str(data) if isinstance(data, Path) and spark else data,
            policy=policy,
            decider=decider,
            target=table or (Path(out) if out is not None else None),
            origin=origin if isinstance(origin, Place) else None,
            memory=limit,
            spark=spark,
            signer=signer,
            **rest,
        )

    @property
    def method(self) -> Mapping[str, Any]:
        """The method and its options, as the certificate names them."""
        return self.decider.described

    @property
    def entry(self) -> Method:
        """What the registry says about the method."""
        return method_of(str(self.method["name"]))

    @property
    def makes_classes(self) -> bool:
        """Whether records become equivalence classes."""
        return self.decider.makes_classes

    @property
    def unknown(self) -> UnknownValues | None:
        """Where values are recorded that a plan does not know."""
        return self.decider.unknown

    @cached_property
    def view(self) -> PolicyView:
        """The policy as the method reads it."""
        return self.decider.view(self.policy)

    @cached_property
    def requirements(self) -> Requirements:
        """What the release has to keep."""
        return requirements_of(self.policy)

    def decide(self, table: Table) -> Recoding:
        """Return what becomes of the records of a table."""
        return self.decider.decide(table, self.requirements, self.listener)

    @property
    def shows_rare(self) -> bool:
        """Whether ranges and sets may name values that few hold."""
        return self.makes_classes and self.policy.release.ranges == "tight"

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Report a stage to the listener, and record how long it takes."""
        self.listener(stage, 0, 0)
        started = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - started

    def certificate(self, figures: Figures, report: AuditReport, layout: TextLayout | None = None) -> Certificate:
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
            warnings=[
                *self.warnings,
                *about_transformations(self.policy),
                *about_figures(self.transformations),
                *_minimality(self),
                *([TIGHT] if self.shows_rare else []),
                *(_one_class(figures, report) if self.makes_classes else []),
            ],
            about=self.policy.about.model_dump(exclude_none=True),
            source=self._source(),
            layout=None if layout is None else layout.to_dict(),
            transformations=_with_proofs(self.transformations, report),
        )
        if self.signer is None:
            return certificate
        return Certificate.from_dict(self.signer.sign(certificate.to_dict()))

    def _source(self) -> str:
        """Return the kind of the source: no name, no path and no digest of it, which could be guessed from."""
        if self.spark:
            return "Spark"
        if self.origin is not None:
            return {"duckdb": "DuckDB table", "postgres": "PostgreSQL table"}[self.origin.engine]
        if isinstance(self.data, str | Path):
            return f"{file_format(Path(self.data)).name} file"
        return "table in memory"


def _with_proofs(entries: Sequence[Mapping[str, Any]], report: AuditReport) -> list[dict[str, Any]]:
    """Return what a certificate says of transformations; the audit knows which of them the cells prove."""
    waiting = {name: iter(steps) for name, steps in report.proven_steps.items()}
    return [{**entry, "proven": next(waiting.get(entry["column"], iter(())), False)} for entry in entries]


def _one_class(figures: Figures, report: AuditReport) -> list[ReleaseWarning]:
    """Warn if all records show the same; the audit groups by all columns, also by those outside of classes."""
    return about_one_class(report.classes, {name: losses["gcp"] for name, losses in figures.by_column.items()})


def _minimality(request: Request) -> list[ReleaseWarning]:
    """Warn if knowing the method may reveal more than the classes show (see
    :mod:`sudare.methods.topdown.blind_splits`).
    """
    limited = request.requirements.columns
    target = request.method.get("target")
    columns = (*limited, *(name for name in request.policy.sensitive if name == target and name not in limited))
    if not request.makes_classes or not columns or request.method.get("sensitive") == "blind":
        return []
    named = " and ".join(f"'{name}'" for name in columns)
    text = (
        f"The method looked at {named} when it chose the classes. Someone who knows the method, the policy and "
        "everybody's quasi-identifiers may infer more than the classes show (minimality attack)."
    )
    of_classes = {model.name for model in request.requirements.of_groups}
    if limited and of_classes <= set(BLIND_TO) and not request.policy.sensitive_sets:
        text += " The policy can prevent that: method: {name: top-down, sensitive: blind}."
    return [ReleaseWarning("minimality", text, columns)]


def check_seed(seed: Any) -> None:
    """Raise if this is no seed."""
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
        raise ParameterError(Problem("seed", f"must be a whole number from 0; got {type(seed).__name__} {seed}."))


def runs_on_spark(data: Data, engine: str | None) -> bool:
    """Return whether Spark does the work: by the engine option, or because the data is on Spark."""
    if engine not in (None, "spark"):
        near = did_you_mean(engine, ["spark"])
        raise ParameterError(Problem("engine", f"got {engine!r}. Allowed: spark, or none.", near))
    return engine == "spark" or engines.is_spark(data)


def requirements_of(policy: Policy) -> Requirements:
    """Return what a policy requires, as methods read it."""
    models = tuple(MODELS[spec.model](**spec.parameters()) for spec in policy.require)
    return Requirements(models, policy.suppression.limit, policy.suppression.records == "masked")
