"""The report of an audit: one guarantee per promise, and whether all hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from sudare.audits.signatures import Signature
from sudare.core.errors import AuditFailedError, Problem

Figure = int | float | None | Mapping[str, int | float]
"""A number, several named ones (for a model with two limits), or None where there is no finite one."""


@dataclass(frozen=True)
class Guarantee:
    """One promise: what was required, what the release achieves, and how many classes fall short.

    ``offending_classes`` counts equivalence classes; for km-anonymity combinations of items; for uniqueness records;
    for values that are drawn strata (one, if there are none); for transformations cells; for promises about columns the
    columns. ``achieved`` is None where no finite number describes the release. ``required`` is None, too, where a
    transformation leaves no form that a release could show.
    """

    model: str
    parameters: Mapping[str, Any]
    required: Figure
    achieved: Figure
    holds: bool
    offending_classes: int = 0
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain JSON types."""
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "required": _plain(self.required),
            "achieved": _plain(self.achieved),
            "holds": self.holds,
            "offending_classes": self.offending_classes,
            "note": self.note,
        }

    def problem(self) -> Problem:
        """Return the failure in one sentence, with numbers and no values."""
        column = self.parameters.get("column")
        where = f"{self.model} of '{column}'" if column else self.model
        what = f"required {_shown(self.required)}, achieved {_shown(self.achieved)}."
        if self.offending_classes:
            what += f" {self._offenders()}: {self.offending_classes}."
        return Problem(where, f"{what} {self.note}".rstrip())

    def _offenders(self) -> str:
        if self.model == "km-anonymity":
            return "Combinations of items that are too rare"
        if self.model in ("pk-anonymity", "alpha-gamma"):
            return "Strata that do not keep it"
        if self.model == "uniqueness":
            return "Records that are unique"
        if self.model == "transformation":
            return "Cells that do not have the form"
        if self.model.endswith("absent"):
            return "Columns that must be absent"
        return "Classes that do not keep it"


@dataclass(frozen=True)
class AuditWarning:
    """What breaks no promise, and a reader should know: which columns it is about, and shares of records, rounded."""

    kind: str
    text: str
    columns: tuple[str, ...] = ()
    figures: Mapping[str, int | float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as plain JSON types."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "figures": dict(self.figures),
            "text": self.text,
        }


@dataclass(frozen=True)
class AuditReport:
    """The outcome of an audit.

    Attributes: passed: whether every guarantee holds and the certificate, if there is one, belongs to this file. rows:
    how many records the release has. classes: how many classes it has; None if quasi-identifiers are unchanged.
    guarantees: one entry per promise, with what was required and achieved. release_sha256: the digest of the file; None
    for a table in memory. problems: where the release and its certificate disagree. seconds: how long the audit took.
    notes: what a reader should know, but which is not a failure. warnings: what the release gives away although it
    keeps its promises. verified: the keys of the certificate that were compared with the release and the policy.
    claimed: the keys that a release cannot show. They are as true as the person who made the certificate.
    claimed_warnings: the warnings among these, as they are worded. signature: who signed the certificate, if somebody
    did. proven_steps: for each transformed column, which of its steps the cells prove.
    """

    passed: bool
    rows: int
    classes: int | None
    guarantees: tuple[Guarantee, ...]
    release_sha256: str | None
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())
    warnings: tuple[AuditWarning, ...] = field(default=())
    verified: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()
    claimed_warnings: tuple[str, ...] = ()
    signature: Signature | None = None
    proven_steps: Mapping[str, Sequence[bool]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON types; what is said of a certificate only where there is one."""
        report: dict[str, Any] = {
            "passed": self.passed,
            "rows": self.rows,
            "classes": self.classes,
            "guarantees": [guarantee.to_dict() for guarantee in self.guarantees],
            "warnings": [warning.to_dict() for warning in self.warnings],
            "release_sha256": self.release_sha256,
            "problems": [str(problem) for problem in self.problems],
            "seconds": self.seconds,
        }
        if self.notes:
            report["notes"] = list(self.notes)
        if self.signature is not None:
            report["signature"] = self.signature.to_dict()
        if self.verified or self.claimed:
            report["certificate"] = {
                "verified": list(self.verified),
                "claimed": list(self.claimed),
                "warnings": list(self.claimed_warnings),
            }
        return report

    def _repr_html_(self) -> str:
        """Return the outcome as notebooks show it."""
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(one.model)}</td><td>{escape(_shown(one.required))}</td>"
            f"<td>{escape(_shown(one.achieved))}</td><td>{'holds' if one.holds else 'broken'}</td></tr>"
            for one in self.guarantees
        )
        warned_of = (*(warning.text for warning in self.warnings), *self.claimed_warnings)
        told = (*self.problems, *(f"Warning: {text}" for text in warned_of), *self.notes)
        lines = "".join(f"<p>{escape(str(line))}</p>" for line in told)
        classes = "" if self.classes is None else f" in {self.classes:,} classes"
        count = len(self.warnings) + len(self.claimed_warnings)
        warned = f", with {count} {'warning' if count == 1 else 'warnings'}" if count else ""
        outcome = f"{'passed' if self.passed else 'failed'}{warned}"
        return (
            f"<div><p><strong>The audit {outcome}</strong>: {self.rows:,} records{classes}."
            "</p><table><thead><tr><th style='text-align:left'>promise</th><th>required</th><th>achieved</th>"
            f"<th>verdict</th></tr></thead><tbody>{rows}</tbody></table>{lines}</div>"
        )

    def raise_if_failed(self) -> None:
        """Raise one :class:`AuditFailedError` with every failure, or return."""
        if self.passed:
            return
        broken = [guarantee.problem() for guarantee in self.guarantees if not guarantee.holds]
        raise AuditFailedError([*self.problems, *broken])


def _plain(figure: Figure) -> Any:
    """Return a figure for a report, with twelve digits: a database does not add up in the same order every time."""
    if isinstance(figure, Mapping):
        return {name: _plain(part) for name, part in figure.items()}
    return float(f"{figure:.12g}") if isinstance(figure, float) else figure


def _shown(figure: Figure) -> str:
    if figure is None:
        return "no finite value"
    if isinstance(figure, Mapping):
        return ", ".join(f"{name} = {_shown(value)}" for name, value in figure.items())
    return str(figure) if isinstance(figure, int) else f"{figure:.6g}"
