"""The verbs of sudare: each checks its arguments, calls one room, and wraps the answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare import engines, hierarchies
from sudare.audits import AuditReport, Told
from sudare.core.errors import (
    ParameterError,
    PolicyError,
    Problem,
    TargetError,
    UnsupportedError,
    did_you_mean,
)
from sudare.core.progress import Listener, silent
from sudare.engines import shown_place as shown_place
from sudare.methods import METHODS
from sudare.pipeline import Request, Result, make, requirements_of
from sudare.pipeline.checks import (
    check_classes,
    chosen_method,
)
from sudare.pipeline.checks import load_policy as load_policy
from sudare.pipeline.deciders import MethodDecider, PlanDecider
from sudare.pipeline.request import runs_on_spark
from sudare.policy import Policy, SourceSpec
from sudare.releases import (
    check_folder,
    private_folder,
    second_table,
)
from sudare.releases.plans import Plan
from sudare.sources.encoded_table import (
    Data,
    UnknownValues,
    as_in_tree,
    encoder,
)
from sudare.sources.encoded_table import encode as encode  # both are of use by themselves, to whoever measures
from sudare.sources.encoded_table import read as read

if TYPE_CHECKING:
    from sudare.comparisons import Comparison
    from sudare.estimates import Answer, By
    from sudare.methods.lattice.exploration import Exploration
    from sudare.pipeline.calibration_run import Calibrated
    from sudare.reports.build import Report
    from sudare.risks import Risk


LOOKED_AT = 1_000_000
"""As many records of a database are looked at, at the most, to draft a policy."""


@dataclass(frozen=True)
class Release:
    """A finished, audited release: its rows (unless they went to a file), its certificate, and its plan.

    There is a plan where each value shows the same everywhere; it can be applied to other records. ``second`` is the
    table of sensitive values by group that belongs to a release by ``anatomy``: its rows, or its path. ``place`` is the
    table of a database that the release is, or its address where only Spark reaches it.
    """

    certificate: dict[str, Any]
    data: Any = None
    path: Path | None = None
    plan: Plan | None = None
    second: Any = None
    place: engines.Place | engines.Remote | None = None

    @classmethod
    def of(cls, request: Request, result: Result) -> Release:
        """Return what came of a request."""
        certificate, target = result.certificate, request.target
        if not isinstance(target, Path):
            return cls(certificate, result.data, second=result.second, place=target)
        has_second = "second_sha256" in (certificate.get("mechanism") or {})
        return cls(certificate, path=target, second=second_table(target) if has_second else None)

    @property
    def loss(self) -> dict[str, float]:
        """The loss figures, by metric."""
        return dict(self.certificate["loss"])

    def __repr__(self) -> str:
        facts = self.certificate
        found = self.path or (self.place and self.place.shown)
        where = f" at {found}" if found else ""
        classes = "" if facts["classes"] is None else f" in {facts['classes']} classes"
        return (
            f"<sudare.Release{where}: {facts['rows_out']} of {facts['rows_in']} records{classes}, "
            f"GCP {facts['loss']['gcp']:.4f}>"
        )

    def _repr_html_(self) -> str:
        from sudare.reports import release_summary

        return release_summary(self.certificate, str(self.path or (self.place and self.place.shown) or "Release"))


def anonymize(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    out: str | Path | None = None,
    method: str | None = None,
    seed: int | None = None,
    memory: int | str | None = None,
    progress: Listener | None = None,
    engine: str | None = None,
    master: str | None = None,
    sign: str | Path | None = None,
) -> Release:
    """Make a release of a table that keeps a policy, prove it from the written file, and only then hand it over.

    With ``out`` the release is placed there with its certificate beside it; without, it comes back in the kind of
    table that was given. ``method`` overrides the policy's. ``seed`` fixes the shuffling, for tests. ``memory`` is
    what may be used of it, in bytes or as "4GiB": what is larger is kept in files meanwhile. ``progress`` is a
    listener (see :mod:`sudare.core.progress`). The given data is never changed.

    With the ``engine`` "spark", which a DataFrame of Spark has by itself, ``data`` may also be a table of Spark or
    Parquet that Spark reads, and the work is done there; ``out`` is then a folder of Parquet files, or a table of
    Spark. ``master`` says where a session is to begin if there is none. ``sign`` is a private key that signs the
    certificate (see :func:`new_signing_key`).
    """
    checked = load_policy(policy)
    entry, options = chosen_method(checked, method)
    decider = MethodDecider(entry, options, seed)
    request = Request.of(
        data, checked, decider, out=out, memory=memory, engine=engine, sign=sign, policy_file=checked.file or policy,
        seed=seed, listener=progress or silent, master=master,
    )  # fmt: skip
    release = Release.of(request, make(request))
    if not entry.recodes_globally:
        return release
    return replace(release, plan=Plan.of(checked, dict(decider.described), release.certificate["search"]))


def check_plan(policy: Policy | Mapping[str, Any] | str | Path, method: str | None, path: Path) -> None:
    """Raise if the method makes no plan, or if it cannot be saved there."""
    entry, _ = chosen_method(load_policy(policy), method)
    if not entry.recodes_globally:
        able = ", ".join(name for name, other in METHODS.items() if other.recodes_globally)
        what = f"{entry.name} decides for each class of a table anew, so that there is no plan to save."
        raise UnsupportedError(what, hint=f"these recode alike everywhere: {able}.")
    check_folder(path.parent)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where a name is too long
        raise TargetError(Problem(str(path), "is a folder.", "name a file."))


def apply(
    plan: Plan | str | Path,
    data: Data,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    memory: int | str | None = None,
    progress: Listener | None = None,
    engine: str | None = None,
    master: str | None = None,
    sign: str | Path | None = None,
) -> Release:
    """Release other records as a plan says: the same level everywhere, audited anew against the plan's policy.

    Records with values that the plan's hierarchies do not have are an error, or left out, as its policy says under
    ``suppression.unseen``. What else is given is as in :func:`anonymize`.
    """
    given = plan if isinstance(plan, Plan) else Plan.load(plan)
    with private_folder() as folder:
        policy = given.policy_in(folder, METHODS)
        decider = PlanDecider(given, UnknownValues() if policy.suppression.unseen == "suppress" else None)
        request = Request.of(
            data, policy, decider, out=out, memory=memory, engine=engine, sign=sign, policy_file=plan,
            seed=seed, listener=progress or silent, master=master,
        )  # fmt: skip
        release = Release.of(request, make(request))
    return replace(release, plan=given)


def explore(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    loss: str | None = None,
    best: int = 10,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> Exploration:
    """Look at the levels of generalization that keep a policy: the best ones, the minimal ones, and what is around.

    ``loss`` is what the best lose least of (else what the policy's method says, or "arx"), ``best`` how many are
    wanted. With a ``time_limit`` in seconds the answer may be incomplete, and says so.
    """
    from sudare.methods.lattice.exploration import explore as look

    listener = progress or silent
    checked = load_policy(policy)
    options: dict[str, Any] = {"loss": checked.method.options.get("loss", "arx") if loss is None else loss}
    options |= {} if time_limit is None else {"time_limit": time_limit}
    problems = METHODS["full-domain"].problems(options)
    if not isinstance(best, int) or isinstance(best, bool) or best < 1:
        problems.append(Problem("best", "is a whole number from 1."))
    if problems:
        raise ParameterError([Problem(p.where.removeprefix("method."), p.what, p.hint) for p in problems])
    check_classes(checked)
    source, _ = read(data, checked)
    table = encode(source, checked, progress=listener)
    return look(table, requirements_of(checked), best=best, progress=listener, **options)


def calibrate(
    policy: Policy | Mapping[str, Any] | str | Path,
    data: Data | None = None,
    *,
    records: int | None = None,
    progress: Listener | None = None,
) -> Calibrated:
    """Find how much of the values ``pram`` may keep under a policy; nothing is drawn or written.

    Without ``data`` the policy has to tell the distribution of columns that alpha-gamma limits (``prior``), and how
    many values the others have; ``records`` is how many there will be.
    """
    from sudare.pipeline.calibration_run import calibrate as weigh

    return weigh(load_policy(policy), data, records=records, progress=progress)


def compare(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    methods: Sequence[str] | None = None,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    target: str | None = None,
    folds: int = 5,
    queries: int = 200,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> Comparison:
    """Compare ways to make a release: what is lost, how exposed people are, how wrong queries are, and what it costs.

    A way is a method with a combination of the values of ``sweep``, such as ``{"k": [2, 5, 10]}``: parameters stand for
    all requirements that have them, other keys are options of methods. Without ``methods`` all that the policy allows
    are compared; the policy's own keeps its options. Nothing is written. A way that cannot make a release is listed
    with the reason.

    With a ``target`` also by how well classifiers that learn from a release of all records but a fold predict that
    column for the others; this needs scikit-learn. ``queries`` is how many random counts are asked for. ``seed`` draws
    these, the folds, and what methods draw. After ``time_limit`` seconds no other way begins; then, and after Ctrl-C,
    those that are finished come back.
    """
    from sudare.comparisons.run import compare_of

    return compare_of(
        data, load_policy(policy), methods=methods, sweep=sweep, target=target, folds=folds, queries=queries,
        seed=seed, time_limit=time_limit, progress=progress,
    )  # fmt: skip


def risk(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    release: Any = None,
    population: Data | None = None,
    fraction: float | None = None,
    columns: Sequence[str] | None = None,
    target: str | None = None,
    most_columns: int = 3,
    model: bool = False,
    seed: int = 0,
    progress: Listener | None = None,
) -> Risk:
    """Measure how exposed the people of a table are, and with a ``release`` of it, what is left of that.

    ``columns`` are what an intruder knows of a person, all quasi-identifiers if not given. ``release`` is a path, or
    what :func:`anonymize` gave back; it has to be of this data, under this policy. The table may be a sample of a
    ``population``, given as a table, or of which it is a ``fraction``. ``target`` is the column that the intruder wants
    to infer, else every sensitive one is; with ``model`` also by a classifier (needs scikit-learn). Combinations of up
    to ``most_columns`` columns are looked at. ``seed`` draws who is attacked where there are many.
    """
    from sudare.risks.run import risk_of

    return risk_of(
        data, load_policy(policy), release=release, population=population, fraction=fraction, columns=columns,
        target=target, most_columns=most_columns, model=model, seed=seed, progress=progress,
    )  # fmt: skip


def audit(
    release: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    method: str | None = None,
    other_policy: bool = False,
    signed_by: str | Path | Sequence[str | Path] = (),
    progress: Callable[[str], None] | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> AuditReport:
    """Prove a release again, from the file alone (any tool may have made it).

    Where a certificate stands beside the file, the file must also be the one it speaks of, and everything in it that
    can be found anew has to be as it is found; the report tells what is only claimed. How a release is proven follows
    from the policy's method, or from ``method``, if that made it; never from the certificate. A certificate of another
    policy is a failure, unless ``other_policy`` says that it may be. ``signed_by`` are public keys, one of which has to
    have signed the certificate. With the ``engine`` "spark" the release is a
    folder of Parquet files, a table of Spark or a DataFrame, and is proven there.
    """
    checked = load_policy(policy)
    if method is not None:
        chosen_method(checked, method)
    from sudare.pipeline.audit_run import audit_of, public_keys

    told = Told(method=method, other_policy=other_policy, keys=public_keys(signed_by))
    return audit_of(release, checked, told, spark=runs_on_spark(release, engine), master=master, progress=progress)


def new_signing_key(path: str | Path, *, name: str, passphrase: str | None = None) -> str:
    """Make a key pair to sign certificates with, and return its fingerprint.

    The private key is written to ``path``, which only you can read, and the public one to ``path`` with ``.pub`` after
    it. ``name`` says whose key it is. With a ``passphrase`` the private key is encrypted; to sign with it, the
    environment variable SUDARE_KEY_PASSPHRASE has to hold it. Needs PyCA cryptography (``sudare[sign]``).
    """
    from sudare.releases.signatures import new_key

    return new_key(Path(path), name, passphrase)


def estimate(
    release: Any,
    *,
    of: str,
    by: str | By | Sequence[str | By] = (),
    where: Any = None,
    estimator: str | None = None,
    eps: float | None = None,
    level: float = 0.95,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    progress: Listener | None = None,
) -> Answer:
    """Estimate how many records of a release have each value of a column, in every cell of others.

    ``release`` is a path, or what :func:`anonymize` gave back; its certificate has to be there. ``by`` names columns
    as they are, in bands ("age:10"), or by a unit of dates ("born:year"); ``where`` keeps to records with some values,
    or in a range ("sex=F", "age=20..39", or a mapping). ``estimator`` and ``eps`` are for hidden values (see
    :mod:`sudare.estimates.set_counts`), ``level`` is that of the intervals. With a ``policy``, labels of its
    hierarchies are spread over their leaves; without, they count as they are.
    """
    from sudare.estimates import (
        answer,
        ask,
        needed,
    )
    from sudare.releases.opened import leaves_of, open_released

    opened = open_released(release)
    question = ask(of, by, where, opened.names, hidden=opened.sealed)
    checked = None if policy is None else load_policy(policy)
    spec = None if checked is None else checked.columns.get(of)
    return answer(
        opened.read(needed(opened.certificate, question)), opened.certificate, question, second=opened.second(of),
        estimator=estimator, eps=eps, level=level, trees=leaves_of(checked, question.columns),
        separator=None if spec is None else spec.separator, progress=progress,
    )  # fmt: skip


def report(
    release: Any,
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    out: str | Path | None = None,
    signed_by: str | Path | Sequence[str | Path] = (),
    progress: Listener | None = None,
) -> Report:
    """Describe a release beside its data as one HTML page: promises, distributions, risk, checklists, how to use it.

    ``release`` is a path, or what :func:`anonymize` gave back; it has to be of this data, under this policy. With
    ``out`` the page is written there. It shows no value of a person: what few records share is blurred. The page says
    who signed the certificate; with ``signed_by``, public keys, also whether one of them did, and else there is none.
    """
    from sudare.pipeline.audit_run import public_keys, signature_of
    from sudare.reports.build import report_of

    checked = load_policy(policy)

    def attacks() -> Risk:
        return risk(data, checked, release=release, progress=progress)

    keys = public_keys(signed_by)
    return report_of(
        release, data, checked, checked.file or policy, out=out, risk=attacks,
        signature=lambda: signature_of(release, keys), progress=progress,
    )  # fmt: skip


def draft(data: Data, *, name: str = "", encoding: str = "utf-8", delimiter: str | None = None) -> str:
    """Draft a policy by looking at the columns; read every line of it before use.

    ``encoding`` and ``delimiter`` say how a text file is written; the draft repeats them under ``source``.
    """
    from sudare.drafts import draft_policy

    place = engines.find_place(data)
    if place is not None:
        with engines.open_database(place) as database:
            arrow = database.source(place, database.columns(place).names, most=LOOKED_AT).table()
        return draft_policy(arrow, name=name or place.shown)
    if isinstance(data, str | Path):
        path, source = Path(data), SourceSpec.checked(encoding=encoding, delimiter=delimiter)
        form = engines.TextForm(source.delimiter, source.encoding)
        arrow = engines.read_file(path, engines.file_columns(path, form), form)
        return draft_policy(arrow, name=name or path.name, source=source)
    return draft_policy(engines.adopt(data)[0], name=name)


def hierarchy_gaps(data: Data, policy: Policy | Mapping[str, Any] | str | Path, column: str) -> list[str]:
    """Return the values of a column that its hierarchy lacks (these are data: look at them, do not log them)."""
    checked = load_policy(policy)
    spec = checked.columns.get(column)
    if spec is None:
        raise PolicyError(
            Problem("columns", f"'{column}' is not a column of this policy.", did_you_mean(column, checked.columns))
        )
    where = spec.hierarchy
    if where is None or (where.file is None and where.tree is None) or spec.role == "identifier":
        raise PolicyError(Problem(f"columns.{column}", "has no hierarchy from a file or a tree."))
    source, _ = read(data, checked, only=[column])
    found = encoder(column, spec, source, checked.source.missing)
    for batch in source.batches([column]):
        found.add(batch.column(column))
    values = as_in_tree(found.finish(), spec, checked.folder)
    tree = hierarchies.given(where, checked.folder)
    return [str(value) for value in hierarchies.missing_values(tree, values).to_pylist()]
