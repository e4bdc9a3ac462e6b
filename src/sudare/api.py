"""The verbs of sudare: each checks its arguments, calls one room, and wraps the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare import engines, hierarchies
from sudare.audits import AuditorInput, AuditReport
from sudare.core.errors import DataError, ParameterError, Problem
from sudare.core.progress import Listener, silent
from sudare.engines import shown_place as shown_place
from sudare.methods import METHODS
from sudare.pipeline import Request, Result, make, requirements_of
from sudare.pipeline.deciders import MethodDecider, PlanDecider
from sudare.pipeline.request import runs_on_spark
from sudare.pipeline.request_checks import check_classes, chosen_method, made_from_values
from sudare.pipeline.request_checks import check_plan as check_plan
from sudare.pipeline.request_checks import load_policy as load_policy
from sudare.policy import Policy, SourceSpec
from sudare.releases import private_folder, second_table
from sudare.releases.plans import Plan
from sudare.sources.column_hierarchies import column_hierarchy, values_without_place
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import Data, read
from sudare.sources.unknown_values import UnknownValues

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.comparisons import Comparison
    from sudare.drafts import Explanation, OpenQuestions, SourceNotes
    from sudare.estimates import Answer, By, FigureAnswer
    from sudare.methods.lattice.exploration import Exploration
    from sudare.pipeline.calibration_run import Calibrated
    from sudare.pipeline.preview import Preview
    from sudare.reports.build import Report
    from sudare.risks import Risk
    from sudare.transformations.reidentification import Reidentification


FIRST_ROWS = 10
"""How many rows of a release a dry run shows, if nobody says."""


@dataclass(frozen=True)
class Release:
    """A finished, audited release.

    Attributes:
        certificate: what was promised, achieved and lost, as a dictionary.
        data: the rows, in the kind of table that you passed; None if the release was written somewhere.
        path: the file of the release, if there is one.
        plan: the levels, if the method shows each value in the same way everywhere. You can apply it to other records.
        second: the second table of a release by `anatomy`: its rows, or its path.
        place: the database table of the release, or its address if only Spark reaches it.
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
        certificate, target = result.certificate.to_dict(), request.target
        if not isinstance(target, Path):
            return cls(certificate, result.data, second=result.second, place=target)
        has_second = result.certificate.mechanism.second_sha256 is not None
        return cls(certificate, path=target, second=second_table(target) if has_second else None)

    @property
    def loss(self) -> dict[str, float]:
        """The loss figures, by metric."""
        return dict(self.certificate["loss"])

    def to_numeric(self, **options: Any) -> Any:
        """Return the rows as numbers, for charts, statistics and models.

        Args:
            options: as in `numeric`: `ranges`, `everything`, `unchanged`, `columns`, `kinds`, `policy`,
                `most_categories`, `seed`.
        """
        return numeric(self, **options)

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
        from sudare.releases.certificate import Certificate
        from sudare.reports import release_summary

        title = str(self.path or (self.place and self.place.shown) or "Release")
        return release_summary(Certificate.from_dict(self.certificate), title)


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
    new_key: bool = False,
) -> Release:
    """Make a release of a table that keeps a policy. The release is proven before you get it.

    sudare writes the release under a private name, reads it back and proves every promise. If one fails, it raises an
    error and there is no release. It never changes the data that you pass.

    Args:
        data: the table: a path, an address of a database table, or a table of pandas, Polars, Arrow, DuckDB or Spark.
        policy: the policy: a path, a mapping, or the result of `load_policy`.
        out: where to put the release, with its certificate beside it: a file or an address. Without it, the release
            comes back in the kind of table that you passed.
        method: the method to use instead of the policy's.
        seed: makes the shuffling repeatable. It is for tests only.
        memory: how much memory to use, in bytes or as "4GiB". Larger arrays are kept in files during the run.
        progress: a function that receives the progress of the work.
        engine: "spark" to work on Spark. `data` is then Parquet or a table of Spark, and `out` is a folder of Parquet
            files or a table of Spark. A Spark DataFrame needs no `engine`.
        master: where Spark is, if there is no session yet.
        sign: the private key that signs the certificate; see `new_signing_key`.
        new_key: whether the secret keys of pseudonyms and shifted dates may differ from those of the last release.
    """
    checked = load_policy(policy)
    entry, options = chosen_method(checked, method)
    decider = MethodDecider(entry, options, seed)
    request = Request.of(
        data,
        checked,
        decider,
        out=out,
        memory=memory,
        engine=engine,
        sign=sign,
        policy_file=checked.file or policy,
        seed=seed,
        listener=progress or silent,
        master=master,
        new_key=new_key,
    )
    release = Release.of(request, make(request))
    if not entry.recodes_globally or made_from_values(checked):
        return release
    return replace(release, plan=Plan.of(checked, dict(decider.described), release.certificate["search"]))


def preview(
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    rows: int = FIRST_ROWS,
    out: str | Path | None = None,
    method: str | None = None,
    seed: int | None = None,
    memory: int | str | None = None,
    progress: Listener | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Preview:
    """Make a release without keeping it: a dry run. You get its figures and its first rows.

    It is made and proven like a release of `anonymize`, in a private folder that is removed at the end, or in temporary
    tables of the database. If it cannot be made, or a promise fails, you get the same error. Nothing is written.

    Args:
        data: the table, as in `anonymize`.
        policy: the policy: a path, a mapping, or the result of `load_policy`.
        rows: how many of the first rows you get, at most 1000.
        out: where the release would go, as in `anonymize`. It says in which form the release is made, and sudare checks
            that it could be written there.
        method: as in `anonymize`.
        seed: as in `anonymize`.
        memory: as in `anonymize`.
        progress: as in `anonymize`.
        engine: as in `anonymize`.
        master: as in `anonymize`.
    """
    from sudare.pipeline.preview import preview_of

    checked = load_policy(policy)
    entry, options = chosen_method(checked, method)
    return preview_of(
        data,
        checked,
        MethodDecider(entry, options, seed),
        rows=rows,
        out=out,
        memory=memory,
        engine=engine,
        policy_file=checked.file or policy,
        seed=seed,
        listener=progress or silent,
        master=master,
    )


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
    new_key: bool = False,
) -> Release:
    """Release other records at the levels of a plan. The release is proven like any other.

    The policy of the plan says under `suppression.unseen` what happens to values that its hierarchies do not have: they
    are an error, or their records are suppressed.

    Args:
        plan: the plan, or its file.
        data: the table: a path, an address of a database table, or a table of pandas, Polars, Arrow, DuckDB or Spark.
        out: as in `anonymize`.
        seed: as in `anonymize`.
        memory: as in `anonymize`.
        progress: as in `anonymize`.
        engine: as in `anonymize`.
        master: as in `anonymize`.
        sign: as in `anonymize`.
        new_key: as in `anonymize`.
    """
    given = plan if isinstance(plan, Plan) else Plan.load(plan)
    with private_folder() as folder:
        # a plan has no secret keys: a relative path to one starts at the plan
        keys = Path() if isinstance(plan, Plan) else Path(plan).parent
        policy = given.policy_in(folder, METHODS, keys)
        decider = PlanDecider(given, UnknownValues() if policy.suppression.unseen == "suppress" else None)
        request = Request.of(
            data,
            policy,
            decider,
            out=out,
            memory=memory,
            engine=engine,
            sign=sign,
            policy_file=plan,
            seed=seed,
            listener=progress or silent,
            master=master,
            new_key=new_key,
        )
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
    """List the levels of generalization that keep a policy: the best ones, the minimal ones, and those around the best.

    Args:
        data: the table: a path, an address of a database table, or a table of pandas, Polars, Arrow, DuckDB or Spark.
        policy: the policy: a path, a mapping, or the result of `load_policy`.
        loss: which loss to minimize. Without it, the one of the policy's method, or "arx".
        best: how many levels to list.
        time_limit: the number of seconds after which the search stops. The answer may then be incomplete, and says so.
        progress: a function that receives the progress of the work.
    """
    from sudare.methods.lattice.exploration import explore as look

    listener = progress or silent
    checked = load_policy(policy)
    options: dict[str, Any] = {"loss": checked.method.options.get("loss", "arx") if loss is None else loss}
    options |= {} if time_limit is None else {"time_limit": time_limit}
    problems = METHODS["full-domain"].problems(options)
    if not isinstance(best, int) or isinstance(best, bool) or best < 1:
        problems.append(Problem("best", "must be a whole number from 1."))
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
    """Find how many values `pram` may keep under a policy. Nothing is drawn or written.

    Args:
        policy: the policy: a path, a mapping, or the result of `load_policy`. Without data it has to give the
            `prior` of columns that alpha-gamma limits, and an `order` or a hierarchy of all others.
        data: the table, as in `anonymize`.
        records: how many records there will be, if there is no data.
        progress: a function that receives the progress of the work.
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
    """Run several methods and settings on one table, and compare loss, risk, errors of counts, and cost.

    A configuration is a method with one combination of the values in `sweep`. A configuration that cannot make a
    release is listed with the reason. Nothing is written. After Ctrl-C you get the finished configurations.

    Args:
        data: the table: a path, an address of a database table, or a table of pandas, Polars, Arrow, DuckDB or Spark.
        policy: the policy: a path, a mapping, or the result of `load_policy`.
        methods: the methods to compare; without it, all that the policy allows. The policy's own method keeps its
            options.
        sweep: values for parameters and options, such as `{"k": [2, 5, 10]}`. A parameter is set in all requirements
            that have it. Any other key is an option of methods.
        target: a column to predict. Classifiers learn from the releases and are tested on unchanged records. This needs
            scikit-learn.
        folds: into how many folds the records are divided for that.
        queries: how many random counts to ask for.
        seed: draws the queries, the folds, and what methods draw.
        time_limit: the number of seconds after which no further way begins.
        progress: a function that receives the progress of the work.
    """
    from sudare.comparisons.run import compare_of

    return compare_of(
        data,
        load_policy(policy),
        methods=methods,
        sweep=sweep,
        target=target,
        folds=folds,
        queries=queries,
        seed=seed,
        time_limit=time_limit,
        progress=progress,
    )


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
    """Measure how exposed the people of a table are, before and after a release.

    Args:
        data: the table: a path, an address of a database table, or a table of pandas, Polars, Arrow, DuckDB or Spark.
        policy: the policy: a path, a mapping, or the result of `load_policy`.
        release: the release: a path, or the result of `anonymize`. It has to be made from this data, under this policy.
        population: a table of everybody, if the data is a sample.
        fraction: the share of the population that the data is, if there is no such table.
        columns: what an intruder knows about a person; without it, all quasi-identifiers.
        target: the column that the intruder wants to infer; without it, every sensitive one.
        most_columns: the largest combination of columns to look at.
        model: whether to infer by a classifier, too. This needs scikit-learn.
        seed: draws whom to attack, if there are many.
        progress: a function that receives the progress of the work.
    """
    from sudare.risks.run import risk_of

    return risk_of(
        data,
        load_policy(policy),
        release=release,
        population=population,
        fraction=fraction,
        columns=columns,
        target=target,
        most_columns=most_columns,
        model=model,
        seed=seed,
        progress=progress,
    )


def audit(
    release: Data | Release,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    method: str | None = None,
    other_policy: bool = False,
    signed_by: str | Path | Sequence[str | Path] = (),
    progress: Callable[[str], None] | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> AuditReport:
    """Prove a release again, from the file alone. Any tool may have made it.

    If there is a certificate beside the file, it has to belong to the file, and every figure that the audit can compute
    has to agree. The report lists what is only claimed. The policy's method decides how a release is proven, never the
    certificate.

    Args:
        release: the release: a path, an address, a table, or the result of `anonymize`. The certificate of rows in
            memory is not compared, because it has no digest of them. What Spark wrote needs `engine`, as below.
        policy: the policy: a path, a mapping, or the result of `load_policy`.
        method: the method that made the release, if it is not the policy's.
        other_policy: whether the release may have a certificate of another policy. Otherwise that is a failure.
        signed_by: public keys. One of them must have signed the certificate.
        progress: a function that receives the progress of the work.
        engine: "spark" if the release is a folder of Parquet files or a table of Spark. A DataFrame needs no `engine`.
        master: where Spark is, if there is no session yet.
    """
    checked = load_policy(policy)
    if method is not None:
        chosen_method(checked, method)
    from sudare.pipeline.audit_run import audit_of, public_keys

    drawn = None
    if isinstance(release, Release):  # is read from where it was written; rows in memory have no digest
        written = release.path or (
            release.place.address if isinstance(release.place, engines.Remote) else release.place
        )
        drawn = None if written else release.certificate.get("mechanism")
        release = written or release.data
    told = AuditorInput(method=method, other_policy=other_policy, keys=public_keys(signed_by), drawn=drawn)
    return audit_of(release, checked, told, spark=runs_on_spark(release, engine), master=master, progress=progress)


def new_signing_key(path: str | Path, *, name: str, passphrase: str | None = None) -> str:
    """Make a key pair to sign certificates with, and return its fingerprint. This needs PyCA cryptography.

    Args:
        path: the file of the private key, which only you can read. The public key goes to the same name with `.pub`.
        name: whose key it is, a person or an office.
        passphrase: encrypts the private key. To sign with it, set the environment variable SUDARE_KEY_PASSPHRASE.
    """
    from sudare.releases.signatures import new_key

    return new_key(Path(path), name, passphrase)


def new_secret_key(path: str | Path) -> str:
    """Make a secret key of 256 bits for pseudonyms and shifted dates, and return its fingerprint.

    Args:
        path: the file of the key, which only you can read. It may not exist already: a key is never replaced.
    """
    from sudare.transformations.secret_keys import new_key

    return new_key(Path(path))


def reidentify(
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    column: str,
    ids: Data,
    pseudonyms: str | Path | Sequence[str],
    reason: str,
    out: str | Path,
    id_column: str | None = None,
    log: str | Path | None = None,
    release: Any = None,
) -> Reidentification:
    """Find the values behind some pseudonyms. This needs the secret key, and a table of all values that may be meant.

    The values are written to a file that only you can read. Before that, a line about the use goes to a log: when, who,
    why, and how many, without values and pseudonyms. If the log cannot be written, nothing is.

    Args:
        policy: the policy that the pseudonyms were made by. It says where the key is.
        column: the column of the release.
        ids: a table with the values, as in `anonymize`. It is read as the policy says under `source`.
        pseudonyms: the pseudonyms, or a `Path` of a file with one in each line.
        reason: why people have to be identified; it is written to the log, so it should not name them.
        out: the file for the values, as CSV. It may not exist already.
        id_column: the column of `ids`, if it is called otherwise than the column of the release.
        log: the log; by default `sudare-reidentify.jsonl` in the folder of the policy.
        release: a release with these pseudonyms. Its certificate tells whether this is its key.
    """
    from sudare.pipeline.reidentification_run import reidentify_from

    return reidentify_from(
        load_policy(policy),
        column,
        ids,
        pseudonyms,
        reason=reason,
        out=out,
        id_column=id_column,
        log=log,
        release=release,
    )


def estimate(
    release: Any,
    *,
    of: str | None = None,
    mean: str | None = None,
    variance: str | None = None,
    correlation: str | Sequence[str] | None = None,
    regress: str | None = None,
    by: str | By | Sequence[str | By] = (),
    where: Any = None,
    estimator: str | None = None,
    eps: float | None = None,
    level: float = 0.95,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    progress: Listener | None = None,
) -> Answer | FigureAnswer:
    """Estimate how many records of a release have each value of a column, or a figure of columns of numbers.

    Exactly one of `of`, `mean`, `variance`, `correlation` and `regress` says what is asked. Figures are corrected for
    noise and rounding. Everything has intervals or bounds.

    Args:
        release: the release: a path, or the result of `anonymize`. Its certificate has to be there.
        of: the column whose values are counted.
        mean: the column of numbers whose mean is estimated.
        variance: the column whose variance and standard deviation are estimated.
        correlation: the two columns whose correlation is estimated.
        regress: the line that is estimated, outcome first: "weight ~ height".
        by: columns to count by: each value ("sex"), bands ("age:10"), or units of dates ("born:year").
        where: which records to count: some values ("sex=F"), a range ("age=20..39"), or a mapping.
        estimator: the estimator for hidden or perturbed values, if not the default.
        eps: when the estimator "bayes" stops.
        level: how surely the intervals hold the true count.
        policy: the policy of the release. With it, labels of hierarchies are spread over their leaves.
        progress: a function that receives the progress of the work.
    """
    from sudare.estimates import ASKED, answer, answer_figure, ask, ask_figure, columns_needed, needed, with_notes
    from sudare.releases.opened_release import leaves_of, open_released

    wanted = dict(zip(ASKED, (mean, variance, correlation, regress), strict=True))
    figure = {name: each for name, each in wanted.items() if each is not None}
    if len(figure) + (of is not None) != 1:
        what = "needs exactly one of of, mean, variance, correlation and regress."
        raise ParameterError(Problem("question", what, "on the command line: --of, --mean, --variance, ..."))
    if of is None:
        counting = {"estimator": estimator, "eps": eps, "policy": policy}
        useless = [name for name, each in counting.items() if each is not None]
        if useless:
            raise ParameterError([Problem(name, "has an effect only on counts (of).") for name in useless])
    opened = open_released(release)
    if of is None:
        asked = ask_figure(figure, by, where, opened.names)
        table = opened.read(columns_needed(opened.certificate, asked, opened.names))
        return answer_figure(table, opened.certificate, asked, level=level)
    question = ask(of, by, where, opened.names, hidden=opened.sealed)
    checked = None if policy is None else load_policy(policy)
    spec = None if checked is None else checked.columns.get(of)
    found = answer(
        opened.read(needed(opened.certificate, question)),
        opened.certificate,
        question,
        second=opened.second(of),
        estimator=estimator,
        eps=eps,
        level=level,
        trees=leaves_of(checked, question.columns),
        separator=None if spec is None else spec.separator or ",",
        progress=progress,
    )
    return with_notes(found, opened.certificate)


def released_rows(release: Any, columns: Sequence[str] | None = None) -> Any:
    """Return the rows of a release, or some of its columns, as an Arrow table; its certificate has to be there."""
    from sudare.releases.opened_release import chosen, open_released

    opened = open_released(release)
    table = opened.rows(opened.columns)
    return table if columns is None else chosen(table, columns)


def released_steps(release: Any) -> str:
    """Return what was done to the columns of a release before everything else, in short; empty if nothing was."""
    from sudare.releases import certificate_beside
    from sudare.releases.certificate import Certificate
    from sudare.releases.opened_release import open_released

    if engines.find_place(release) is not None or not isinstance(release, str | Path):
        return open_released(release).certificate.transformed
    found = certificate_beside(Path(release), DataError)  # whose file has just been read
    return "" if found is None else Certificate.from_dict(found).transformed


def numeric(
    release: Any,
    certificate: Mapping[str, Any] | str | Path | None = None,
    *,
    ranges: str = "middle",
    everything: str = "share",
    unchanged: str = "keep",
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    most_categories: int = 256,
    seed: int | None = None,
) -> Any:
    """Return a release as numbers, for charts, statistics and models.

    Dates become days from 1970-01-01, times of the day and durations become seconds. Each category becomes a column
    `NAME=category` with its share, each item of a set a column `NAME=item`. Missing cells and masked records are
    missing. The rows come in the kind of table that you pass; those of a path come as an Arrow table.

    Args:
        release: the release: a path, the result of `anonymize`, or its rows as a table.
        certificate: the certificate of rows that you pass as a table: a mapping or its file. The table needs all
            columns of the release. Without a certificate, every column counts as a quasi-identifier, and decimal commas
            are not read.
        ranges: what a range becomes: "middle", "ends" (two columns, `NAME_low` and `NAME_high`), or "draw", a random
            number within it. Whole numbers are drawn where the column shows only whole numbers.
        everything: what a cell becomes that shows nothing: "share" divides it evenly among all values of the column,
            "missing" leaves it missing.
        unchanged: whether to "keep" columns that are no quasi-identifiers, or to "encode" them, too.
        columns: the columns of the release to return; without it, all.
        kinds: what columns hold, if it cannot be seen: "numeric", "dates", "categorical" or "items" for each column.
        policy: the policy of the release. With it, labels of hierarchies are divided among their leaves, and years are
            dates where the column holds dates.
        most_categories: the largest number of categories or items of a column.
        seed: makes "draw" repeatable.
    """
    from sudare.releases.numeric.run import numeric_release

    return numeric_release(
        release,
        certificate,
        columns=columns,
        policy=None if policy is None else load_policy(policy),
        seed=seed,
        ranges=ranges,
        everything=everything,
        unchanged=unchanged,
        kinds=kinds,
        most=most_categories,
    )


def report(
    release: Any,
    data: Data,
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    out: str | Path | None = None,
    signed_by: str | Path | Sequence[str | Path] = (),
    progress: Listener | None = None,
) -> Report:
    """Describe a release beside its data as one HTML page, for the people who approve it or use it.

    The page shows promises, distributions, risk and checklists. It shows no value that only few records share.

    Args:
        release: the release: a path, or the result of `anonymize`. It has to be made from this data, under this policy.
        data: the data of the release, as in `anonymize`.
        policy: the policy: a path, a mapping, or the result of `load_policy`.
        out: where to write the page.
        signed_by: public keys. The page says whether one of them signed the certificate.
        progress: a function that receives the progress of the work.
    """
    from sudare.pipeline.audit_run import public_keys, signature_of
    from sudare.reports.build import report_of

    checked = load_policy(policy)

    def attacks(table: Data) -> Risk:
        return risk(table, checked, release=release, progress=progress)

    keys = public_keys(signed_by)
    return report_of(
        release,
        data,
        checked,
        checked.file or policy,
        out=out,
        risk=attacks,
        signature=lambda: signature_of(release, keys),
        progress=progress,
    )


def draft(
    data: Data,
    *,
    name: str = "",
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    preset: str | None = None,
) -> str:
    """Draft a policy from the columns of a table. Read every line of it before you use it.

    Args:
        data: the table: a path, an address of a database table, or a table of pandas, Polars, Arrow, DuckDB or Spark.
        name: what to call the table in the draft.
        encoding: the encoding of a text file; detected if not given. The draft repeats it under `source`.
        delimiter: what separates the fields of a text file; detected if not given.
        sheet: the name or the number of a sheet of a workbook; if not given, the first one that has records.
        preset: a purpose that fills in transformations and promises: hipaa-safe-harbor, survey or gdpr-research.
    """
    return draft_with_notes(data, name=name, encoding=encoding, delimiter=delimiter, sheet=sheet, preset=preset)[0]


def draft_with_notes(
    data: Data,
    *,
    name: str = "",
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    preset: str | None = None,
) -> tuple[str, OpenQuestions]:
    """Return a draft, as `draft` does, and what only a person can decide."""
    from sudare.drafts import draft_with_questions, find_preset

    checked = None if preset is None else find_preset(preset).name
    arrow, title, source = _draft_source(data, name, encoding, delimiter, sheet)
    return draft_with_questions(arrow, name=title, source=source, preset=checked)


def explain(
    data: Data,
    *,
    name: str = "",
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    preset: str | None = None,
) -> Explanation:
    """Draft a policy and explain it: why each column is treated so, how much it singles out, and what it costs.

    Args:
        data: as in `draft`.
        name: as in `draft`.
        encoding: as in `draft`.
        delimiter: as in `draft`.
        sheet: as in `draft`.
        preset: as in `draft`.
    """
    from sudare.drafts import explain_policy, find_preset

    checked = None if preset is None else find_preset(preset).name
    arrow, title, source = _draft_source(data, name, encoding, delimiter, sheet)
    return explain_policy(arrow, name=title, source=source, preset=checked)


def _draft_source(
    data: Data, name: str, encoding: str | None, delimiter: str | None, sheet: str | int | None
) -> tuple[pa.Table, str, SourceNotes]:
    """Return the table that a draft looks at, what to call it, and how it was read."""
    from sudare.drafts import SourceNotes
    from sudare.drafts.header_row import check_header
    from sudare.sources.detected_source import detect_source

    found = detect_source(data, encoding=encoding, delimiter=delimiter, sheet=sheet)
    if found.spec.sheet is not None:  # a table alone does not say which sheet it is from; the message must
        check_header(found.table, sheet=found.spec.sheet)
    return found.table, name or found.name, SourceNotes(found.spec, found.reasons, found.questions)


def make_hierarchy(
    data: Data,
    column: str,
    hierarchy: Mapping[str, Any] | str,
    *,
    separator: str | None = None,
    missing: Sequence[str] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> hierarchies.Hierarchy:
    """Return the hierarchy of a column, as a policy would have it. Its leaves are values: they are data about people.

    Args:
        data: the table: a path, an address of a database table, or a table of pandas, Polars, Arrow, DuckDB or Spark.
        column: the column.
        hierarchy: what a policy would say, such as "icd-10", "auto" or {"prefix": [5, 3]}.
        separator: what separates the items of a cell, if the column holds item sets in text.
        missing: texts that stand for a missing cell, besides an empty one; if not given, those that `draft` lists.
        encoding: the encoding of a text file; like everything that `draft` finds out, it is detected if not given.
        delimiter: what separates the fields of a text file; detected if not given.
    """
    return make_hierarchy_with_missing(
        data, column, hierarchy, separator=separator, missing=missing, encoding=encoding, delimiter=delimiter
    )[0]


def make_hierarchy_with_missing(
    data: Data,
    column: str,
    hierarchy: Mapping[str, Any] | str,
    *,
    separator: str | None = None,
    missing: Sequence[str] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> tuple[hierarchies.Hierarchy, Sequence[str]]:
    """Return the hierarchy of a column, as `make_hierarchy` does, and the texts that were found to mean missing."""
    sets = {} if separator is None else {"kind": "items", "separator": separator}
    policy = Policy.parse(
        {
            "columns": {column: {"role": "quasi", "hierarchy": hierarchy, **sets}},
            "require": [{"model": "k-anonymity", "k": 2}],
            "source": {"missing": ["", *(missing or ())]},
        }
    )
    found: Sequence[str] = ()
    if missing is None:
        from sudare.drafts.facts import look
        from sudare.sources.detected_source import detect_source

        table = detect_source(data, encoding=encoding, delimiter=delimiter).table
        if column in table.column_names:  # if not, the error below says so
            found = [text for text in look(column, table[column]).tokens if text]
            policy = policy.model_copy(update={"source": SourceSpec(missing=["", *found])})
            if engines.find_place(data) is None:  # what is read need not be read again; of a database it is a part
                data, encoding, delimiter = table.select([column]), None, None
    return column_hierarchy(data, policy, column, encoding=encoding, delimiter=delimiter), found


def hierarchy_gaps(data: Data, policy: Policy | Mapping[str, Any] | str | Path, column: str) -> list[str]:
    """Return the values of a column that its hierarchy does not have.

    These values are data about people: look at them, but do not log them.
    """
    return values_without_place(data, load_policy(policy), column)
