"""The run of an audit: open the release, find its classes, prove each promise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from sudare.audits.audit_report import AuditReport, Guarantee
from sudare.audits.auditor_input import AuditorInput
from sudare.audits.certificate_checks import Found
from sudare.audits.class_tables import build_classes
from sudare.audits.hidden_values import (
    APART,
    GROUP,
    SETS,
    count_rows,
    groups_of_l,
    second_table,
    sets_of_l,
    values_in_groups,
)
from sudare.audits.model_definitions import subjects_apart
from sudare.audits.model_proofs import PROOFS
from sudare.audits.opened_release import Opener, asked_layout, open_file, open_release
from sudare.audits.pram_proof import ALPHA_GAMMA, METHOD, PK, alpha_gamma, look_at, pk_anonymity
from sudare.audits.release_columns import NO_ROOM, Release
from sudare.audits.report_assembly import conclude
from sudare.audits.transformation_proofs import Forms, merged
from sudare.audits.uniqueness import look, parted, read_along
from sudare.core.errors import AuditFailedError, DataError, Problem
from sudare.core.private_folders import locked_private_folder
from sudare.policy import LDiversitySpec, Policy, TextLayout, UniquenessSpec

_TRUSTING = "statistics_propagation,compressed_materialization,join_filter_pushdown"
"""Optimizers of DuckDB that trust the statistics in a file, which its writer may have forged; they are off."""


def audit_release(
    release: str | Path | Any,
    policy: Policy,
    *,
    certificate: Mapping[str, Any] | None = None,
    method: str | None = None,
    other_policy: bool = False,
    told: AuditorInput | None = None,
    mechanism: Mapping[str, Any] | None = None,
    transformations: Sequence[Mapping[str, Any]] | None = None,
    layout: TextLayout | None = None,
    scratch: Path | None = None,
    memory: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Prove every promise of a policy on a release, from the release alone.

    ``release`` is the path of a file, or an Arrow table. With a ``certificate`` the file must
    also be its file, and every figure must agree. ``method`` made the release, if that is not the policy's; methods
    that hide or draw values need another proof. With ``other_policy`` it may have been made under another policy.
    ``told`` is all of these in one. ``mechanism`` is that of random draws, if there is no certificate yet;
    ``transformations`` are then its entries of that name, and ``layout`` is that of a text file. The report says what
    holds and what does not; only a release that cannot be read raises, as :class:`~sudare.core.errors.DataError`. What
    does not fit into memory, or into ``memory`` bytes of it, goes to the folder ``scratch``, or to a temporary one.
    ``progress`` receives each step in words.
    """
    told = (told or AuditorInput(certificate, method, other_policy)).about(policy)
    if transformations is not None:
        told = replace(told, transformed=transformations)
    file = Path(release) if isinstance(release, str | Path) else Path()
    opener = Opener.of(file, policy, told, layout, scratch)
    room = _Room(scratch, memory, progress or (lambda _: None), time.perf_counter(), opener)
    room.say("reading the release")
    with naming_other_method(told, policy):
        maker = told.maker(policy)
        policy, limits = parted(policy)
        if maker in (SETS, APART):
            return _hidden(release, policy, limits, told, mechanism, room)
        if maker == METHOD:
            return _randomized(release, policy, limits, told, mechanism, room)
        return _classes(release, policy, limits, told, room)


@dataclass(frozen=True)
class _Room:
    """The context of an audit: its database, its listener, and its start."""

    scratch: Path | None
    memory: int | None
    say: Callable[[str], None]
    started: float
    opener: Opener


@contextmanager
def naming_other_method(told: AuditorInput, policy: Policy) -> Iterator[None]:
    """Add a problem to a failed proof if the certificate names another method."""
    try:
        yield
    except DataError as error:
        other = told.method_problem(policy)
        if other is None:
            raise
        raise AuditFailedError([other, *error.problems]) from None


def _classes(
    release: str | Path | Any, policy: Policy, limits: Sequence[UniquenessSpec], told: AuditorInput, room: _Room
) -> AuditReport:
    """Prove a release with classes of equal records."""
    guarantees = []
    with (
        closing(open_release(release, policy, room.opener)) as opened,
        database(room.scratch, room.memory) as connection,
        no_values_in_errors(opened.where),
    ):
        maker = told.maker(policy)
        forms = Forms.of(policy, told)
        loaded, cells = read_along(opened, policy, maker), forms.beside(opened)
        classes = build_classes(connection, opened, policy, beside=loaded | cells)
        for spec in policy.require:
            room.say(f"proving {spec.model}")
            guarantees.append(PROOFS[spec.model].prove(classes, spec))
        if policy.numbers_subjects == "per-class":
            guarantees.append(subjects_apart(classes))
        room.say("counting what is unique")
        unique = look(connection, opened, policy, limits, classes.rows, maker, classes, loaded)
        guarantees += unique.guarantees
        if forms.columns:
            room.say("looking at transformed columns")
            guarantees += forms.guarantees(forms.look(connection, opened, classes, cells), opened.names)
        guarantees += columns_kept_back(opened, policy)
        shown = classes.shown() if told.has_figures_of(policy) else None
        found = Found(
            classes.rows,
            guarantees,
            opened.sha256,
            classes.sizes(),
            warnings=unique.warnings,
            shown=shown,
            asked=asked_layout(opened, policy),
            transformed=forms.proven,
        )
    return conclude(policy, told, found, classes=classes.count, problems=(), started=room.started)


def _hidden(
    release: str | Path | Any,
    policy: Policy,
    limits: Sequence[UniquenessSpec],
    told: AuditorInput,
    mechanism: Mapping[str, Any] | None,
    room: _Room,
) -> AuditReport:
    """Prove a release that keeps quasi-identifiers unchanged and hides sensitive values."""
    maker = told.maker(policy)
    asked = set_requirements(policy, maker)
    shown = policy
    if maker == APART:
        left = {name: spec for name, spec in policy.columns.items() if spec.role != "sensitive"}
        shown = policy.model_copy(update={"columns": left})
    guarantees, seen, groups, problems = [], dict[str, set[str | None]](), None, list[Problem]()
    drawn = told.mechanism() if mechanism is None else mechanism
    with ExitStack() as open_files:
        opened = open_files.enter_context(closing(open_release(release, shown, room.opener)))
        connection = open_files.enter_context(database(room.scratch, room.memory))
        open_files.enter_context(no_values_in_errors(opened.where))
        second = None
        if maker == APART:
            if opened.path is None:
                raise DataError(
                    Problem("release", "has a second table, which is a file beside the release.", "audit the file.")
                )
            second = open_files.enter_context(closing(open_file(second_table(opened.path), policy, room.opener)))
        rows = count_rows(connection, opened)
        if not rows:
            raise DataError(Problem(opened.where, "has no rows, so there is nothing to prove."))
        for spec in asked:
            room.say(f"proving {spec.model}")
            if second is not None:
                guarantees.append(groups_of_l(connection, opened, second, policy, spec))
                groups, seen[spec.column] = values_in_groups(connection, second, spec.column)
                continue
            guarantee, seen[spec.column], doubts = sets_of_l(connection, opened, policy, spec, drawn)
            guarantees.append(guarantee)
            problems += doubts
        opened.check_read(rows)
        room.say("counting what is unique")
        unique = look(connection, opened, policy, limits, rows, maker)
        guarantees += unique.guarantees
        forms = Forms.of(policy, told)
        if forms.columns:
            room.say("looking at transformed columns")
            seen_in = [opened] if second is None else [opened, second]
            found_cells = merged(forms.look(connection, each) for each in seen_in)
            guarantees += forms.guarantees(found_cells, [name for each in seen_in for name in each.names])
        guarantees += columns_kept_back(opened, policy, besides=(GROUP,) if second is not None else ())
        beside = None if second is None else second.sha256
        found = Found(
            rows,
            guarantees,
            opened.sha256,
            seen=seen,
            warnings=unique.warnings,
            groups=groups,
            second_sha256=beside,
            asked=asked_layout(opened, policy),
            transformed=forms.proven,
        )
    return conclude(policy, told, found, classes=None, problems=problems, started=room.started)


def set_requirements(policy: Policy, maker: str) -> list[LDiversitySpec]:
    """Return what is promised of hidden values; raise if that is not all that the policy asks for."""
    asked = [spec for spec in policy.require if isinstance(spec, LDiversitySpec) and spec.variant == "distinct"]
    if len(asked) < len(policy.require):
        what = f"{maker} proves only l-diversity (variant: distinct), because quasi-identifiers stay unchanged."
        raise DataError(Problem("require", what, "use another method for other promises."))
    unheld = [name for name in policy.sensitive if name not in {spec.column for spec in asked}]
    if unheld:
        raise DataError(Problem("require", f"no promise is about column '{unheld[0]}', which is sensitive."))
    return asked


def _randomized(
    release: str | Path | Any,
    policy: Policy,
    limits: Sequence[UniquenessSpec],
    told: AuditorInput,
    mechanism: Mapping[str, Any] | None,
    room: _Room,
) -> AuditReport:
    """Prove a release whose quasi-identifiers and sensitive values were drawn at random."""
    others = [spec.model for spec in policy.require if spec.model not in (PK, ALPHA_GAMMA)]
    if others:
        what = f"{METHOD} proves only {PK} and {ALPHA_GAMMA}; got {others[0]}."
        raise DataError(Problem("require", what, "use another method for other promises."))
    with (
        closing(open_release(release, policy, room.opener)) as opened,
        database(room.scratch, room.memory) as connection,
        no_values_in_errors(opened.where),
    ):
        drawn = look_at(connection, opened, policy, told.mechanism() if mechanism is None else mechanism)
        guarantees = []
        for spec in policy.require:
            room.say(f"proving {spec.model}")
            guarantees.append(pk_anonymity(drawn, policy, spec) if spec.model == PK else alpha_gamma(drawn, spec))
        room.say("counting what is unique")
        unique = look(connection, opened, policy, limits, drawn.rows, METHOD)
        guarantees += unique.guarantees
        forms = Forms.of(policy, told)
        if forms.columns:
            room.say("looking at transformed columns")
            guarantees += forms.guarantees(forms.look(connection, opened), opened.names)
        guarantees += columns_kept_back(opened, policy)
        found = Found(
            drawn.rows,
            guarantees,
            opened.sha256,
            warnings=unique.warnings,
            asked=asked_layout(opened, policy),
            transformed=forms.proven,
        )
    return conclude(policy, told, found, classes=None, problems=drawn.problems, started=room.started)


@contextmanager
def database(scratch: Path | None, memory: int | None) -> Iterator[Any]:
    """Open an empty database in memory that reaches for nothing outside, and leaves nothing behind."""
    with locked_private_folder(scratch) as folder:
        config = {
            "temp_directory": str(folder),
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
        raise DataError(Problem(where, NO_ROOM, "give it more memory or disk space.")) from None
    except duckdb.Error as error:
        raise DataError(Problem(where, f"could not be audited ({type(error).__name__}).")) from None


def columns_kept_back(release: Release, policy: Policy, besides: tuple[str, ...] = ()) -> list[Guarantee]:
    """Show that no identifier is in the release, and no column that the policy does not name.

    A subject that no promise counts is an identifier, unless the release shows pseudonyms of it.
    """
    identifiers = policy.named("identifier")
    found = [name for name in identifiers if name in release.names]
    unnamed = [name for name in release.names if name not in policy.columns and name not in besides]
    subject = policy.subject
    if subject in release.names and not policy.counts_subjects and not policy.shows_pseudonym(str(subject)):
        found.append(str(subject))
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
            note="The policy does not name them, so it does not protect what they reveal." if unnamed else "",
        ),
    ]
