"""The verbs of sudare, and the one place that wires the rooms together."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sudare import engines, hierarchies
from sudare import memory as sizes
from sudare.audit import AuditReport, audit_release
from sudare.checking import Seen, check_classes, check_out, chosen_method, seen_by
from sudare.errors import (
    AuditFailedError,
    ParameterError,
    PolicyError,
    Problem,
    TargetError,
    UnsupportedError,
    did_you_mean,
)
from sudare.methods import METHODS
from sudare.models import MODELS, Requirements
from sudare.plan import Plan
from sudare.policy import Policy, SourceSpec
from sudare.progress import Listener, silent
from sudare.reading import Data, Unseen, encoder, needs
from sudare.reading import encode as encode  # both are of use by themselves, to whoever measures
from sudare.reading import read as read
from sudare.release import (
    certificate_path,
    check_folder,
    is_text,
    place,
    plain_type,
    private_folder,
    render,
    render_untouched,
    second_table,
    write_batches,
)
from sudare.release.certificate import make_certificate, measure, untouched_figures
from sudare.table import MEMORY, Partition, Recoding, Storage, Table, height

if TYPE_CHECKING:
    from sudare.calibrating import Calibrated
    from sudare.compare import Comparison
    from sudare.estimate import Answer, By
    from sudare.methods.exploring import Exploration


@dataclass(frozen=True)
class Release:
    """A finished, audited release: its rows (unless they went to a file), its certificate, and its plan.

    There is a plan where each value shows the same everywhere; it can be applied to other records. ``second`` is the
    table of sensitive values by group that belongs to a release by ``anatomy``: its rows, or its path.
    """

    certificate: dict[str, Any]
    data: Any = None
    path: Path | None = None
    plan: Plan | None = None
    second: Any = None

    @property
    def loss(self) -> dict[str, float]:
        """The loss figures, by metric."""
        return dict(self.certificate["loss"])

    def __repr__(self) -> str:
        facts = self.certificate
        where = f" at {self.path}" if self.path else ""
        classes = "" if facts["classes"] is None else f" in {facts['classes']} classes"
        return (
            f"<sudare.Release{where}: {facts['rows_out']} of {facts['rows_in']} records{classes}, "
            f"GCP {facts['loss']['gcp']:.4f}>"
        )


def load_policy(policy: Policy | Mapping[str, Any] | str | Path) -> Policy:
    """Return a checked policy, from a file, a mapping, or a policy itself; everything wrong is said at once."""
    if isinstance(policy, str | Path):
        return Policy.load(policy, methods=METHODS)
    return Policy.parse(policy, methods=METHODS)


def anonymize(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    out: str | Path | None = None,
    method: str | None = None,
    seed: int | None = None,
    memory: int | str | None = None,
    progress: Listener | None = None,
) -> Release:
    """Make a release of a table that keeps a policy, prove it from the written file, and only then hand it over.

    With ``out`` the release is placed there with its certificate beside it; without, it comes back in the kind of
    table that was given. ``method`` overrides the policy's. ``seed`` fixes the shuffling, for tests. ``memory`` is
    what may be used of it, in bytes or as "4GiB": what is larger is kept in files meanwhile. ``progress`` is a
    listener (see :mod:`sudare.progress`). The given data is never changed.
    """
    listener = progress or silent
    checked = load_policy(policy)
    entry, options = chosen_method(checked, method)

    def decide(table: Table, requirements: Requirements) -> Recoding:
        found: Recoding = entry.load()(table, requirements, **options, seed=seed, progress=listener)
        return found

    described = {"name": entry.name, **options}
    release = _make(
        data, policy, checked, described, decide, out=out, seed=seed, memory=memory, listener=listener,
        seen=seen_by(entry, options, checked),
    )  # fmt: skip
    if not entry.recodes_globally:
        return release
    return replace(release, plan=Plan.of(checked, described, release.certificate["search"]))


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
) -> Release:
    """Release other records as a plan says: the same level everywhere, audited anew against the plan's policy.

    Records with values that the plan's hierarchies do not have are an error, or left out, as its policy says under
    ``suppression.unseen``. What else is given is as in :func:`anonymize`.
    """
    listener = progress or silent
    given = plan if isinstance(plan, Plan) else Plan.load(plan)
    with private_folder() as folder:
        policy = given.policy_in(folder, METHODS)
        unseen = Unseen() if policy.suppression.unseen == "suppress" else None

        def decide(table: Table, requirements: Requirements) -> Partition:
            from sudare.methods.full_domain import at_levels

            given.check_heights({name: height(column) for name, column in table.single.items()})
            found = at_levels(table, requirements, given.levels, unusable=None if unseen is None else unseen.rows)
            return replace(found, facts={**found.facts, "unseen": {} if unseen is None else unseen.to_dict()})

        described = {**given.method, "applied": True}
        made = _make(
            data, plan, policy, described, decide, out=out, seed=seed, memory=memory, listener=listener, unseen=unseen
        )
    return replace(made, plan=given)


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
    from sudare.methods.exploring import explore as look

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
    return look(table, _requirements(checked), best=best, progress=listener, **options)


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
    from sudare.calibrating import calibrate as weigh

    return weigh(load_policy(policy), data, records=records, progress=progress)


def compare(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    target: str,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    progress: Listener | None = None,
) -> Comparison:
    """Compare methods by how well classifiers that learn from their releases predict the column ``target``.

    Each method makes releases of all records but a fold, whose records are then asked about; nothing is written. The
    policy's method keeps its options. Without ``methods`` all that this policy allows are compared. ``seed`` draws the
    folds, and what stands for cells of local recoding. Needs scikit-learn.
    """
    from sudare.compare import check_asked, check_installed, compare_ways, ways_for

    check_installed()
    checked = load_policy(policy)
    roles = {name: spec.role for name, spec in checked.columns.items()}
    check_asked(target, roles, folds, seed)
    own = (checked.method.name, checked.method.options)
    models = [spec.model for spec in checked.require]
    ways = ways_for(own, target, models=models, roles=roles, asked=methods)
    source, _ = read(data, checked)
    table = encode(source, checked, progress=progress or silent, target=target)
    return compare_ways(table, _requirements(checked), ways, target=target, folds=folds, seed=seed, progress=progress)


def _make(
    data: Data,
    given: Any,
    checked: Policy,
    method: Mapping[str, Any],
    decide: Callable[[Table, Requirements], Recoding],
    *,
    out: str | Path | None,
    seed: int | None,
    memory: int | str | None,
    listener: Listener,
    unseen: Unseen | None = None,
    seen: Seen | None = None,
) -> Release:
    """Make, prove and place a release, by whatever decides; ``given`` is what the policy came from.

    ``seen`` is the policy as the method sees it, where that is another: quasi-identifiers may be carried along as they
    are, or encoded otherwise.
    """
    limit = None if memory is None else sizes.parse_size(memory)
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
        raise ParameterError(Problem("seed", f"is a whole number from 0; got {type(seed).__name__} {seed}."))
    target = Path(out) if out is not None else None
    if target is not None:
        check_out(target, data, given, checked)
    seen = seen or Seen(checked)
    seconds: dict[str, float] = {}

    with private_folder(target.parent if target else None) as folder:
        with _timed("read", seconds, listener):
            source, give_back = read(data, checked, stream=limit is not None)
            storage = _storage(source, seen.policy, limit, folder, seen.also)
            # in a text file an empty field is a missing cell, so empty texts cannot be told from missing ones there
            text_out = target is not None and is_text(target)
            table = encode(
                source, seen.policy, blanks_are_missing=text_out, storage=storage, progress=listener, unseen=unseen,
                also=seen.also,
            )  # fmt: skip
            requirements = _requirements(checked)
        with _timed("method", seconds, listener):
            recoding = decide(table, requirements)
        with _timed("render", seconds, listener):
            separators = _separators(checked) if text_out else None
            types = _typed(table, checked) if _is_text(data) and not text_out else None
            order, names = checked.release.order, checked.released
            shown, second = None, None
            if isinstance(recoding, Partition):
                subjects = checked.release.subjects if requirements.counts_subjects else None
                rows, shown = render(
                    table, recoding, names, order=order, subjects=subjects, separators=separators, types=types,
                    seed=seed,
                )  # fmt: skip
            else:
                rows, second = render_untouched(
                    table, recoding, names, order=order, separators=separators, types=types, seed=seed
                )
        with _timed("write", seconds, listener):
            written = folder / f"release{target.suffix if target else '.parquet'}"
            total = rows.count
            write_batches(rows.schema, rows.batches(), written, progress=lambda done: listener("write", done, total))
            beside = None
            if second is not None:
                beside = second_table(written)
                write_batches(second.schema, second.batches(), beside)
            figures = measure(shown) if shown is not None else untouched_figures(table, recoding)
            del table, recoding, rows, shown, second, source  # as large as the data, and the audit needs room
        with _timed("audit", seconds, listener):
            name = str(method["name"])
            report = audit_release(
                written, checked, method=name, mechanism=figures.mechanism, scratch=folder, memory=limit and limit // 2
            )
            report.raise_if_failed()
        if beside is not None:
            figures.mechanism["second_sha256"] = _digest(beside)
        certificate = make_certificate(
            figures=figures,
            order=checked.release.order,
            method=method,
            columns={
                role: checked.named(role) for role in ("quasi", "sensitive", "insensitive", "subject", "identifier")
            },
            audit=report.to_dict(),
            seconds=seconds,
            policy_sha256=checked.sha256,
        )
        if target is None:
            import pyarrow.parquet as pq

            apart = give_back(pq.read_table(beside)) if beside is not None else None
            return Release(certificate, give_back(pq.read_table(written)), second=apart)
        place(written, target, certificate, beside=beside)
    return Release(certificate, path=target, second=second_table(target) if beside is not None else None)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def audit(
    release: Data, policy: Policy | Mapping[str, Any] | str | Path, *, progress: Callable[[str], None] | None = None
) -> AuditReport:
    """Prove a release again, from the file alone (any tool may have made it).

    Where a certificate stands beside the file, the file must also be the one it speaks of.
    """
    checked = load_policy(policy)
    if not isinstance(release, str | Path):
        return audit_release(engines.adopt(release)[0], checked, progress=progress)
    path = Path(release)
    paper = certificate_path(path)
    certificate: Mapping[str, Any] | None = None
    if paper.exists():
        try:
            certificate = json.loads(paper.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise AuditFailedError(Problem(paper.name, "is not a certificate that can be read.")) from None
        if not isinstance(certificate, Mapping):
            raise AuditFailedError(Problem(paper.name, "is not a certificate."))
    return audit_release(path, checked, certificate=certificate, progress=progress)


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
    :mod:`sudare.estimate.sets`), ``level`` is that of the intervals. With a ``policy``, labels of its hierarchies are
    spread over their leaves; without, they count as they are.
    """
    from sudare.estimate import answer, ask, needed
    from sudare.released import leaves_of, open_released

    opened = open_released(release)
    question = ask(of, by, where, opened.names, hidden=opened.sealed)
    checked = None if policy is None else load_policy(policy)
    spec = None if checked is None else checked.columns.get(of)
    return answer(
        opened.read(needed(opened.certificate, question)), opened.certificate, question, second=opened.second(of),
        estimator=estimator, eps=eps, level=level, trees=leaves_of(checked, question.columns),
        separator=None if spec is None else spec.separator, progress=progress,
    )  # fmt: skip


def draft(data: Data, *, name: str = "", encoding: str = "utf-8", delimiter: str | None = None) -> str:
    """Draft a policy by looking at the columns; read every line of it before use.

    ``encoding`` and ``delimiter`` say how a text file is written; the draft repeats them under ``source``.
    """
    from sudare.draft import draft_policy

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
    values = found.finish().values
    tree = hierarchies.given(where, checked.folder)
    return [str(value) for value in hierarchies.missing_values(tree, values).to_pylist()]


def _requirements(policy: Policy) -> Requirements:
    models = tuple(MODELS[spec.model](**spec.parameters()) for spec in policy.require)
    return Requirements(models, policy.suppression.limit, policy.suppression.records == "masked")


def _storage(source: engines.Source, policy: Policy, limit: int | None, folder: Path, also: Collection[str]) -> Storage:
    """Return where the arrays of a table are to be kept, or raise if it cannot be worked on in the memory there is."""
    demand = needs(source, policy, also)
    if limit is None:
        sizes.check_fits(demand, sizes.available())
        return MEMORY
    return Storage(sizes.storage_limit(demand, limit), folder)


def _is_text(data: Data) -> bool:
    return isinstance(data, str | Path) and engines.file_kind(Path(data)) == "text"


def _separators(policy: Policy) -> dict[str, str]:
    """Return what joins the items of each item set in a release in text, which the audit splits them by."""
    return {name: spec.separator or "," for name, spec in policy.columns.items()}


def _typed(table: Table, policy: Policy) -> dict[str, pa.DataType]:
    """Return the types that carried columns in text look like, for formats that have types.

    Not those that a promise was decided on: they are rendered as the values that were counted.
    """
    if table.carried is None:
        return {}
    return {
        name: plain_type(name, cells)
        for name, cells in zip(table.carried.column_names, table.carried.columns, strict=True)
        if pa.types.is_string(cells.type) and name not in table.sensitive and policy.columns[name].kind != "categorical"
    }


@contextmanager
def _timed(stage: str, seconds: dict[str, float], listener: Listener) -> Iterator[None]:
    listener(stage, 0, 0)
    started = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - started
