"""The main commands: each reads its arguments, calls one function of ``sudare.api``, and shows the result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare import __version__
from sudare.cli.dry_run import check_dry_run, needed_place, show_preview
from sudare.cli.explanation_table import show_explanation
from sudare.cli.hierarchy_commands import generate_app, hierarchy_app
from sudare.cli.key_commands import key_app
from sudare.cli.reidentify_command import reidentify
from sudare.cli.runner import check_new, progress, reporting, say, stop_was_heard, write_new
from sudare.cli.shared_options import (
    DataArgument,
    EngineOption,
    JsonOption,
    MasterOption,
    MemoryOption,
    NewKeyOption,
    OutOption,
    OutsideOption,
    PlaceOption,
    PolicyOption,
    QuietOption,
    SignedByOption,
    SignOption,
    given,
)
from sudare.cli.terminal import (
    show_audit,
    show_calibration,
    show_estimated_figures,
    show_estimates,
    show_nodes,
    show_release,
    show_report,
)
from sudare.cli.view_command import view
from sudare.core.errors import ParameterError, Problem, printable

if TYPE_CHECKING:
    from sudare.policy import Policy

app = typer.Typer(
    name="sudare",
    help="Anonymize tables about people: keep as much detail as the policy allows, and prove the result.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback with local variables would show data
    rich_markup_mode=None,
)
app.add_typer(key_app, name="key")
app.add_typer(hierarchy_app, name="hierarchy")
app.add_typer(generate_app, name="generate")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sudare {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def init(
    data: DataArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; by default, print the draft.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="The encoding of a text file, such as cp1252; by default, detect it.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="The delimiter of a text file; by default, detect it.")] = None,
    sheet: Annotated[
        str | None,
        typer.Option(help="The name or the number of a workbook's sheet; by default, the first that has records."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Fill in transformations and promises for a purpose: hipaa-safe-harbor, survey or gdpr-research."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show a table of the columns: what is proposed, why, and its figures.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draft a policy from the columns of a table. Read every line before you use it."""
    with reporting(as_json):
        from sudare import api

        with progress(quiet or as_json) as listener:
            listener("look at the columns", 0, 0)
            found = None
            if explain:
                found = api.explain(data, encoding=encoding, delimiter=delimiter, sheet=sheet, preset=preset)
            if found:
                text, asked, told = found.policy, found.questions, found.notices
            else:
                text, notes = api.draft_with_notes(
                    data, encoding=encoding, delimiter=delimiter, sheet=sheet, preset=preset
                )
                asked, told = tuple(notes.questions), tuple(notes.notices)
        if out is not None:
            write_new(out, text)
        if as_json:
            facts = {
                "policy": text,
                "path": str(out) if out else None,
                "questions": list(asked),
                "notices": list(told),
            }
            say(json.dumps(facts | (found.to_dict() if found else {}), ensure_ascii=False))
            return
        if found is not None:
            show_explanation(found)
        elif out is None:
            say(text, nl=False)
        if out is not None and not quiet:
            say(f"Drafted {out}. Read every line before you use it.")
        for line in () if quiet else told:
            typer.echo(printable(line), err=True)  # beside the draft, which may go to a file


@app.command()
def anonymize(
    data: DataArgument,
    policy: PolicyOption,
    out: PlaceOption = None,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="Use this method instead of the policy's.")
    ] = None,
    memory: MemoryOption = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Save the chosen levels to this file, for `sudare apply`.")
    ] = None,
    outside: OutsideOption = False,
    engine: EngineOption = None,
    master: MasterOption = None,
    sign: SignOption = None,
    new_key: NewKeyOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Make and prove the release, show figures and first rows, keep nothing.")
    ] = False,
    rows: Annotated[
        int | None,
        typer.Option("--preview", min=1, max=1000, help="A dry run that shows so many rows (without it, 10)."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a release, prove it from the written file, and place it with its certificate R.sudare.json."""
    with reporting(as_json):
        from sudare import api

        if dry_run or rows is not None:
            check_dry_run(plan=plan, sign=sign)
            with progress(quiet or as_json) as listener:
                preview = api.preview(
                    data,
                    given(policy, outside),
                    rows=api.FIRST_ROWS if rows is None else rows,
                    out=out,
                    method=method,
                    memory=memory,
                    progress=listener,
                    engine=engine,
                    master=master,
                )
            found = preview.to_dict()
            if as_json:
                say(json.dumps({"release": None} | found, ensure_ascii=False))
            elif not quiet:
                show_preview(found)
            return
        out = needed_place(out)
        if plan is not None:
            api.check_plan(given(policy, outside), method, plan)
            _check_apart(plan, data, given(policy, outside), out)
        with progress(quiet or as_json) as listener:
            release = api.anonymize(
                data,
                given(policy, outside),
                out=out,
                method=method,
                memory=memory,
                progress=listener,
                engine=engine,
                master=master,
                sign=sign,
                new_key=new_key,
            )
        if plan is not None and release.plan is not None:
            release.plan.save(plan)
        if as_json:
            say(json.dumps({"release": api.shown_place(out)} | release.certificate, ensure_ascii=False))
        elif not quiet:
            show_release(api.shown_place(out), release.certificate, table=release.place is not None)


@app.command()
def apply(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan, saved by `sudare anonymize --plan`.")],
    data: Annotated[str, typer.Argument(metavar="NEW", help="New records: a CSV, Parquet or Arrow file.")],
    out: OutOption,
    memory: MemoryOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    sign: SignOption = None,
    new_key: NewKeyOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Release new records at the levels of a plan, and prove the written file again."""
    with reporting(as_json):
        from sudare import api

        with progress(quiet or as_json) as listener:
            release = api.apply(
                plan,
                data,
                out=out,
                memory=memory,
                progress=listener,
                engine=engine,
                master=master,
                sign=sign,
                new_key=new_key,
            )
        if as_json:
            say(json.dumps({"release": api.shown_place(out)} | release.certificate, ensure_ascii=False))
        elif not quiet:
            show_release(api.shown_place(out), release.certificate, table=release.place is not None)


@app.command()
def explore(
    data: DataArgument,
    policy: PolicyOption,
    best: Annotated[int, typer.Option("--best", min=1, help="How many best and minimal nodes to list.")] = 10,
    loss: Annotated[str | None, typer.Option("--loss", help="The loss to minimize; by default, the policy's.")] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Stop searching after this many seconds.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the best node and its neighbours to this SVG file.")
    ] = None,
    outside: OutsideOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the levels of generalization that keep a policy: those that lose least, and the minimal ones."""
    with reporting(as_json):
        from sudare import api
        from sudare.reports import lattice_picture

        if picture is not None:
            check_new(picture)
        with progress(quiet or as_json) as listener:
            found = api.explore(
                data, given(policy, outside), loss=loss, best=best, time_limit=time_limit, progress=listener
            ).to_dict()
        if picture is not None:
            write_new(picture, lattice_picture(found))
        if as_json:
            finite = json.loads(json.dumps(found), parse_constant=lambda _: None)  # an endless loss is not JSON
            say(json.dumps(finite, ensure_ascii=False))
        elif not quiet:
            show_nodes(found, best)


@app.command()
def calibrate(
    policy: PolicyOption,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="CSV, Parquet or Arrow file; without it, use only the policy."),
    ] = None,
    records: Annotated[
        int | None, typer.Option("--records", help="The number of records, if there is no DATA.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the figures against p to this SVG file.")
    ] = None,
    outside: OutsideOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the largest probability of keeping a value where values are drawn at random (method pram)."""
    with reporting(as_json):
        from sudare import api
        from sudare.reports import calibration_picture

        if picture is not None:
            check_new(picture)
        with progress(quiet or as_json) as listener:
            found = api.calibrate(given(policy, outside), data, records=records, progress=listener)
        if picture is not None:
            write_new(picture, calibration_picture(found.to_dict(curves=True)))
        if as_json:
            say(json.dumps(found.to_dict(), ensure_ascii=False))
        elif not quiet:
            show_calibration(found.to_dict())


@app.command()
def compare(
    data: DataArgument,
    policy: PolicyOption,
    methods: Annotated[
        str | None, typer.Option("--methods", help="The methods, such as tds,top-down; by default, all that fit.")
    ] = None,
    sweep: Annotated[
        list[str] | None, typer.Option("--sweep", help="Try each of these values, such as k=2,5,10; may be repeated.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="A column to predict: compare classifiers, too.")
    ] = None,
    folds: Annotated[int, typer.Option("--folds", help="The number of folds for the classifiers.")] = 5,
    queries: Annotated[int, typer.Option("--queries", help="How many random count queries to run.")] = 200,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Start no other configuration after this many seconds.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw privacy against utility to this SVG file.")
    ] = None,
    outside: OutsideOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare methods and settings: loss, risk, query errors, classifiers, time and memory."""
    with reporting(as_json):
        from sudare import api
        from sudare.comparisons import parse_sweep, show
        from sudare.reports import frontier_picture

        if picture is not None:
            check_new(picture)
        asked = None if methods is None else [name.strip() for name in methods.split(",")]
        with progress(quiet or as_json) as listener:
            compared = api.compare(
                data,
                given(policy, outside),
                methods=asked,
                sweep=parse_sweep(sweep) if sweep else None,
                target=target,
                folds=folds,
                queries=queries,
                time_limit=time_limit,
                progress=listener,
            )
            stop_was_heard()  # what was finished by then is shown
        found = compared.to_dict(costs=True)
        if picture is not None:
            write_new(picture, frontier_picture(found))
        if as_json:
            say(json.dumps(found, ensure_ascii=False))
        elif not quiet:
            say("\n".join(show(found)))
        raise typer.Exit(0 if compared.finished else 1)


@app.command()
def risk(
    data: DataArgument,
    policy: PolicyOption,
    release: Annotated[
        str | None, typer.Option("--release", "-r", help="A release of DATA, with its certificate, to compare.")
    ] = None,
    population: Annotated[
        str | None, typer.Option("--population", help="The whole population, if DATA is a sample: a file or table.")
    ] = None,
    fraction: Annotated[
        float | None, typer.Option("--fraction", help="The share of the population in DATA; instead of --population.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="Released columns that the intruder knows, such as age,sex; by default, all quasi-identifiers.",
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="The column to infer; by default, every sensitive column.")
    ] = None,
    most_columns: Annotated[
        int, typer.Option("--most-columns", help="Check combinations of up to this many columns.")
    ] = 3,
    model: Annotated[bool, typer.Option("--model", help="Also infer by a classifier (needs scikit-learn).")] = False,
    outside: OutsideOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure how exposed the people of a table are, before and after a release."""
    with reporting(as_json):
        from sudare import api

        known = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
        with progress(quiet or as_json) as listener:
            found = api.risk(
                data,
                given(policy, outside),
                release=release,
                population=population,
                fraction=fraction,
                columns=known,
                target=target,
                most_columns=most_columns,
                model=model,
                progress=listener,
            )
        if as_json:
            say(json.dumps(found.to_dict(), ensure_ascii=False))
        elif not quiet:
            say(str(found))


@app.command()
def audit(
    release: Annotated[str, typer.Argument(metavar="R", help="The release: a file, or a table as for DATA.")],
    policy: PolicyOption,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="The method that made the release, if not the policy's.")
    ] = None,
    other_policy: Annotated[
        bool, typer.Option("--other-policy", help="Accept a release that was made under another policy.")
    ] = False,
    outside: OutsideOption = False,
    signed_by: SignedByOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Prove a release again, from the file alone; any tool may have made it."""
    with reporting(as_json):
        from sudare import api

        with progress(quiet or as_json) as listener:
            report = api.audit(
                release,
                given(policy, outside),
                method=method,
                other_policy=other_policy,
                signed_by=signed_by or (),
                progress=lambda step: listener(step, 0, 0),
                engine=engine,
                master=master,
            )
        if as_json:
            say(json.dumps(report.to_dict(), ensure_ascii=False))
            raise typer.Exit(0 if report.passed else 1)
        report.raise_if_failed()
        if not quiet:
            show_audit(api.shown_place(release), report.to_dict())


@app.command()
def report(
    release: Annotated[str, typer.Argument(metavar="R", help="A release, with its certificate beside it.")],
    data: Annotated[str, typer.Option("--data", help="The source of the release: a file or a table.")],
    policy: PolicyOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="The report, an HTML file.")],
    outside: OutsideOption = False,
    signed_by: SignedByOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Describe a release and its data on one HTML page, for people who approve or use it."""
    with reporting(as_json):
        from sudare import api

        with progress(quiet or as_json) as listener:
            made = api.report(
                release, data, given(policy, outside), out=out, signed_by=signed_by or (), progress=listener
            )
        if as_json:
            say(json.dumps({"report": str(out)} | dict(made.figures), ensure_ascii=False))
        elif not quiet:
            show_report(str(out), made.figures)


@app.command()
def estimate(
    release: Annotated[str, typer.Argument(metavar="R", help="A release, with its certificate beside it.")],
    of: Annotated[str | None, typer.Option("--of", help="The column whose values to count.")] = None,
    mean: Annotated[str | None, typer.Option("--mean", help="The column whose mean to estimate.")] = None,
    variance: Annotated[
        str | None, typer.Option("--variance", help="The column whose variance and standard deviation to estimate.")
    ] = None,
    correlation: Annotated[
        str | None, typer.Option("--correlation", help="Two columns whose correlation to estimate: height,weight.")
    ] = None,
    regress: Annotated[
        str | None, typer.Option("--regress", help="A line to estimate, the outcome first: 'weight ~ height'.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", help="Group by these columns, in bands or units of dates: sex,age:10,born:year."),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="Only records such as sex=F,M or age=20..39; may be repeated.")
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            help="For sets: em-shrunk, em, bayes or closed-form; for pram: em, ml, projection or inversion.",
        ),
    ] = None,
    eps: Annotated[float | None, typer.Option("--eps", help="The precision at which bayes stops (default 1).")] = None,
    level: Annotated[float, typer.Option("--level", help="The confidence level of the intervals.")] = 0.95,
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="The policy, to spread labels over the leaves of hierarchies.")
    ] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Draw the estimates to this SVG file.")] = None,
    lines: Annotated[int, typer.Option("--lines", min=1, help="Print at most this many lines.")] = 60,
    outside: OutsideOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Estimate counts from a release, or a mean, a variance, a correlation or a line, with intervals or bounds."""
    with reporting(as_json):
        from sudare import api

        if picture is not None and of is None:
            raise ParameterError(Problem("picture", "is drawn only of counts (--of)."))
        if picture is not None:
            check_new(picture)
        with progress(quiet or as_json) as listener:
            found = api.estimate(
                release,
                of=of,
                mean=mean,
                variance=variance,
                correlation=correlation,
                regress=regress,
                by=by or (),
                where=where,
                estimator=estimator,
                eps=eps,
                level=level,
                policy=None if policy is None else given(policy, outside),
                progress=listener,
            )
        if picture is not None:
            from sudare.reports import estimate_picture

            write_new(picture, estimate_picture(found.to_dict()))
        if as_json:
            say(json.dumps(found.to_dict(), ensure_ascii=False))
        elif not quiet and of is None:
            show_estimated_figures(found.to_dict(lines), len(found))
        elif not quiet:
            show_estimates(found.to_dict(lines), len(found))


app.command()(view)
app.command()(reidentify)


def _check_apart(plan: Path, data: str, policy: Policy, out: str) -> None:
    """Raise if a plan cannot be written, or would overwrite its source, its policy or the release."""
    from sudare.releases import certificate_path
    from sudare.releases.plans import check_room

    trees = [spec.hierarchy.file for spec in policy.columns.values() if spec.hierarchy is not None]
    taken = {
        "is the source itself.": [Path(data)],
        "is part of the policy.": [
            *([] if policy.file is None else [policy.file]),
            *(policy.folder / file for file in trees if file is not None),
        ],
        "is the path of the release.": [Path(out)],
        "is the path of the certificate.": [certificate_path(Path(out))],
    }
    check_room(plan, taken)
