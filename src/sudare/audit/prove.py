"""The audit itself: open the release, number its classes, prove one promise after the other."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sudare.audit.building import build_classes
from sudare.audit.classes import Classes
from sudare.audit.closeness import t_closeness
from sudare.audit.definitions import (
    alpha_k_anonymity,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    km_anonymity,
    l_diversity,
    subjects_apart,
)
from sudare.audit.hidden import APART, GROUP, SETS, count_rows, groups_of_l, second_table, sets_of_l
from sudare.audit.randomized import ALPHA_GAMMA, METHOD, PK, alpha_gamma, look_at, only_of_drawn_values, pk_anonymity
from sudare.audit.reading import open_file, open_release
from sudare.audit.sources import NO_ROOM, Release
from sudare.audit.uniqueness import kept_silent, look, of_the_release, parted
from sudare.audit.verdict import AuditReport, Guarantee
from sudare.errors import DataError, Problem
from sudare.policy import LDiversitySpec, Policy, UniquenessSpec

DEFINITIONS: dict[str, Callable[[Classes, Any], Guarantee]] = {
    "k-anonymity": k_anonymity,
    "l-diversity": l_diversity,
    "t-closeness": t_closeness,
    "alpha-k-anonymity": alpha_k_anonymity,
    "beta-likeness": beta_likeness,
    "delta-disclosure": delta_disclosure,
    "km-anonymity": km_anonymity,
    PK: only_of_drawn_values,
    ALPHA_GAMMA: only_of_drawn_values,
    "uniqueness": of_the_release,
}
"""How each model of the policy is proven."""


_TRUSTING = "statistics_propagation,compressed_materialization,join_filter_pushdown"
"""What of DuckDB rests on the statistics in a file, which are claims of whoever wrote it: nothing here may."""


def audit_release(
    release: str | Path | Any,
    policy: Policy,
    *,
    certificate: Mapping[str, Any] | None = None,
    method: str | None = None,
    mechanism: Mapping[str, Any] | None = None,
    scratch: Path | None = None,
    memory: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Prove every promise of a policy on a release, from the release alone.

    ``release`` is the path of a CSV, Parquet or Arrow file, or an Arrow table. With a ``certificate`` the file
    must also be the one it speaks of. ``method`` is what made it, if that is not what the certificate or the policy
    names; where it hides or draws values, that has to be proven otherwise. ``mechanism`` is how values were drawn,
    where there is no certificate yet to tell it. The report says what holds and what does not; only a release that
    cannot be read raises, as :class:`~sudare.errors.DataError`. What does not fit into memory, or into ``memory`` bytes
    of it, goes to the folder ``scratch``, or to a temporary one. ``progress`` is told each step in words.
    """
    started = time.perf_counter()
    say = progress or (lambda _: None)
    say("reading the release")
    maker = method or made_by(certificate) or policy.method.name
    policy, limits = parted(policy)
    if maker in (SETS, APART):
        return _hidden(release, policy, limits, maker, certificate, scratch, memory, say, started)
    if maker == METHOD:
        told = mechanism if mechanism is not None else (certificate or {}).get("mechanism")
        return _randomized(release, policy, limits, told, certificate, scratch, memory, say, started)
    guarantees = []
    with (
        closing(open_release(release, policy)) as opened,
        database(scratch, memory) as connection,
        no_values_in_errors(opened.where),
    ):
        classes = build_classes(connection, opened, policy)
        for spec in policy.require:
            say(f"proving {spec.model}")
            guarantees.append(DEFINITIONS[spec.model](classes, spec))
        if policy.counts_subjects and policy.release.subjects == "per-class":
            guarantees.append(subjects_apart(classes))
        rows, count = classes.rows, classes.count
        say("counting what is unique")
        found = look(connection, opened, policy, limits, rows, maker)
    guarantees += [*found.guarantees, *columns_kept_back(opened, policy)]
    problems = [] if certificate is None else integrity(opened, rows, certificate)
    problems += kept_silent(found.warnings, certificate)
    passed = not problems and all(guarantee.holds for guarantee in guarantees)
    return AuditReport(
        passed=passed,
        rows=rows,
        classes=count,
        guarantees=tuple(guarantees),
        release_sha256=opened.sha256,
        problems=tuple(problems),
        seconds=time.perf_counter() - started,
        notes=notes(policy, certificate),
        warnings=tuple(found.warnings),
    )


def _hidden(
    release: str | Path | Any,
    policy: Policy,
    limits: Sequence[UniquenessSpec],
    maker: str,
    certificate: Mapping[str, Any] | None,
    scratch: Path | None,
    memory: int | None,
    say: Callable[[str], None],
    started: float,
) -> AuditReport:
    """Prove a release that leaves quasi-identifiers as they are and hides sensitive values."""
    asked = asked_of_sets(policy, maker)
    shown = policy
    if maker == APART:
        left = {name: spec for name, spec in policy.columns.items() if spec.role != "sensitive"}
        shown = policy.model_copy(update={"columns": left})
    guarantees, problems = [], []
    with ExitStack() as open_files:
        opened = open_files.enter_context(closing(open_release(release, shown)))
        connection = open_files.enter_context(database(scratch, memory))
        open_files.enter_context(no_values_in_errors(opened.where))
        second = None
        if maker == APART:
            if opened.path is None:
                raise DataError(
                    Problem("release", "has a second table, which is found beside a file.", "audit the file.")
                )
            second = open_files.enter_context(closing(open_file(second_table(opened.path), policy)))
        rows = count_rows(connection, opened)
        if not rows:
            raise DataError(Problem(opened.where, "has no rows, so there is nothing to prove anything about."))
        for spec in asked:
            say(f"proving {spec.model}")
            if second is not None:
                guarantees.append(groups_of_l(connection, opened, second, spec))
                continue
            guarantee, seen = sets_of_l(connection, opened, policy, spec)
            guarantees.append(guarantee)
            problems += outside(seen, spec.column, certificate)
        opened.check_read(rows)
        say("counting what is unique")
        found = look(connection, opened, policy, limits, rows, maker)
        guarantees += found.guarantees
        problems += kept_silent(found.warnings, certificate)
        guarantees += columns_kept_back(opened, policy, besides=(GROUP,) if second is not None else ())
        if certificate is not None:
            problems += integrity(opened, rows, certificate)
            if second is not None and _told_digest(certificate) != second.sha256:
                problems.append(Problem("certificate.mechanism.second_sha256", f"is not the digest of {second.where}."))
        digest = opened.sha256
    return AuditReport(
        passed=not problems and all(guarantee.holds for guarantee in guarantees),
        rows=rows,
        classes=None,
        guarantees=tuple(guarantees),
        release_sha256=digest,
        problems=tuple(problems),
        seconds=time.perf_counter() - started,
        notes=notes(policy, certificate),
        warnings=tuple(found.warnings),
    )


def asked_of_sets(policy: Policy, maker: str) -> list[LDiversitySpec]:
    """Return what is promised of hidden values; raise if that is not all that the policy asks for."""
    asked = [spec for spec in policy.require if isinstance(spec, LDiversitySpec) and spec.variant == "distinct"]
    if len(asked) < len(policy.require):
        what = f"{maker} proves l-diversity (variant: distinct) and nothing else: quasi-identifiers stay as they are."
        raise DataError(Problem("require", what, "use another method for other promises."))
    unheld = [name for name in policy.sensitive if name not in {spec.column for spec in asked}]
    if unheld:
        raise DataError(Problem("require", f"nothing is promised about column '{unheld[0]}', which is sensitive."))
    return asked


def _randomized(
    release: str | Path | Any,
    policy: Policy,
    limits: Sequence[UniquenessSpec],
    mechanism: Mapping[str, Any] | None,
    certificate: Mapping[str, Any] | None,
    scratch: Path | None,
    memory: int | None,
    say: Callable[[str], None],
    started: float,
) -> AuditReport:
    """Prove a release whose quasi-identifiers and sensitive values were drawn at random."""
    others = [spec.model for spec in policy.require if spec.model not in (PK, ALPHA_GAMMA)]
    if others:
        what = f"{METHOD} proves {PK} and {ALPHA_GAMMA} and nothing else; got {others[0]}."
        raise DataError(Problem("require", what, "use another method for other promises."))
    with (
        closing(open_release(release, policy)) as opened,
        database(scratch, memory) as connection,
        no_values_in_errors(opened.where),
    ):
        found = look_at(connection, opened, policy, mechanism)
        guarantees = []
        for spec in policy.require:
            say(f"proving {spec.model}")
            guarantees.append(pk_anonymity(found, policy, spec) if spec.model == PK else alpha_gamma(found, spec))
        say("counting what is unique")
        seen = look(connection, opened, policy, limits, found.rows, METHOD)
        guarantees += [*seen.guarantees, *columns_kept_back(opened, policy)]
        problems = [*found.problems, *kept_silent(seen.warnings, certificate)]
        if certificate is not None:
            problems += integrity(opened, found.rows, certificate)
        digest = opened.sha256
    return AuditReport(
        passed=not problems and all(guarantee.holds for guarantee in guarantees),
        rows=found.rows,
        classes=None,
        guarantees=tuple(guarantees),
        release_sha256=digest,
        problems=tuple(problems),
        seconds=time.perf_counter() - started,
        notes=notes(policy, certificate),
        warnings=tuple(seen.warnings),
    )


def made_by(certificate: Mapping[str, Any] | None) -> str | None:
    """Return the method that a certificate names."""
    method = certificate.get("method") if certificate is not None else None
    name = method.get("name") if isinstance(method, Mapping) else None
    return name if isinstance(name, str) else None


def _told_digest(certificate: Mapping[str, Any]) -> Any:
    told = certificate.get("mechanism")
    return told.get("second_sha256") if isinstance(told, Mapping) else None


def outside(seen: set[str | None], column: str, certificate: Mapping[str, Any] | None) -> list[Problem]:
    """Compare the values that sets show with the domain that the certificate tells an analyst."""
    if certificate is None:
        return []
    try:
        domain = certificate["mechanism"]["columns"][column]["values"]
        strange = len(seen) > len(domain)
        if all(isinstance(value, str | None) for value in domain):
            strange = strange or not seen <= set(domain)
        elif all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in domain):
            # in few digits: text may have fewer of them than the numbers had
            told = {None if value is None else f"{float(value):.6g}" for value in domain}
            strange = strange or not {None if text is None else f"{float(text):.6g}" for text in seen} <= told
    except (KeyError, TypeError, ValueError):
        return [Problem(f"certificate.mechanism.columns.{column}", "does not tell the values that sets are made of.")]
    what = "does not have all values that sets of the release show."
    return [Problem(f"certificate.mechanism.columns.{column}.values", what)] if strange else []


@contextmanager
def database(scratch: Path | None, memory: int | None) -> Iterator[Any]:
    """Open an empty database in memory that reaches for nothing outside, and leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="sudare-audit-", dir=scratch) as folder:
        config = {
            "temp_directory": folder,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        if memory is not None:
            config["memory_limit"] = f"{memory}B"
        connection = duckdb.connect(config=config)
        try:
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET python_enable_replacements = false")
            connection.execute(f"SET disabled_optimizers = '{_TRUSTING}'")
            yield connection
        finally:
            connection.close()


@contextmanager
def no_values_in_errors(where: str) -> Iterator[None]:
    """Keep DuckDB's own messages, which may quote cells, from leaving the audit."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise DataError(Problem(where, NO_ROOM, "give it more.")) from None
    except duckdb.Error as error:
        raise DataError(Problem(where, f"could not be audited ({type(error).__name__}).")) from None


def columns_kept_back(release: Release, policy: Policy, besides: tuple[str, ...] = ()) -> list[Guarantee]:
    """Show that no identifier is in the release, and no column that the policy does not name.

    A subject that no promise counts is an identifier.
    """
    identifiers = policy.named("identifier")
    found = [name for name in identifiers if name in release.names]
    unnamed = [name for name in release.names if name not in policy.columns and name not in besides]
    if policy.subject in release.names and not policy.counts_subjects:
        found.append(str(policy.subject))
    return [
        Guarantee(
            model="identifiers absent",
            parameters={"columns": identifiers},
            required=0,
            achieved=len(found),
            holds=not found,
            offending_classes=len(found),
            note=f"In the release: {', '.join(found)}." if found else "",
        ),
        Guarantee(
            model="unnamed columns absent",
            parameters={},
            required=0,
            achieved=len(unnamed),
            holds=not unnamed,
            offending_classes=len(unnamed),
            note="The policy does not name them, so it says nothing about what they tell." if unnamed else "",
        ),
    ]


def integrity(release: Release, rows: int, certificate: Mapping[str, Any]) -> list[Problem]:
    """Compare the release with what its certificate says of it; what the certificate leaves out does not agree."""
    problems = []
    if release.sha256 is None:
        problems.append(
            Problem("certificate", "speaks of a file; a table in memory has no digest to compare.", "audit the file.")
        )
    elif certificate.get("release_sha256") != release.sha256:
        problems.append(Problem("certificate.release_sha256", "is not the digest of this file."))
    if certificate.get("rows_out") != rows:
        problems.append(Problem("certificate.rows_out", f"does not agree with the {rows} rows of the release."))
    return problems


def notes(policy: Policy, certificate: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return what a reader of the report should know."""
    if certificate is None or certificate.get("policy_sha256") in (None, policy.sha256):
        return ()
    return ("The release was made under another policy than the one it is audited against.",)
