"""The command line: thin, over the Python verbs.

Exit codes: 0 done; 1 the policy cannot be met, or the audit failed; 2 bad input or usage. Progress goes to the
standard error, and only if that is a terminal; results go to the standard output.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from sudare import __version__
from sudare.errors import SudareError

app = typer.Typer(
    name="sudare",
    help="Make a table about people safe to hand over, as useful as it can be, and proven so.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback with local variables would show data
    rich_markup_mode=None,
)
hierarchy_app = typer.Typer(help="Look at hierarchies.", no_args_is_help=True)
app.add_typer(hierarchy_app, name="hierarchy")
generate_app = typer.Typer(help="Make up data to try sudare on.", no_args_is_help=True)
app.add_typer(generate_app, name="generate")

DataArgument = Annotated[str, typer.Argument(metavar="DATA", help="CSV, Parquet or Arrow file.")]
PolicyOption = Annotated[Path, typer.Option("--policy", "-p", help="The policy (YAML or JSON).")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="The release: CSV, Parquet or Arrow, by its ending.")]
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Use about this much, such as 4GiB; files hold the rest.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def main() -> None:
    """Run the command line."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, _terminate)
    try:
        app()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    else:
        code = 0
    # everything is written and closed; taking the compiled libraries down piece by piece would only take time
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


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
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write it; else it is printed.")] = None,
    encoding: Annotated[str, typer.Option(help="How a text file is written, such as cp1252.")] = "utf-8",
    delimiter: Annotated[str | None, typer.Option(help="What separates its fields; else it is told.")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draft a policy by looking at the columns. Read every line of it before use."""
    with _reporting(as_json):
        from sudare import api

        with _progress(quiet or as_json) as listener:
            listener("look at the columns", 0, 0)
            text = api.draft(data, encoding=encoding, delimiter=delimiter)
        if out is not None:
            _write_new(out, text)
        if as_json:
            _say(json.dumps({"policy": text, "path": str(out) if out else None}, ensure_ascii=False))
        elif out is None:
            _say(text, nl=False)
        elif not quiet:
            _say(f"Drafted {out}. Read every line before you use it.")


@app.command()
def anonymize(
    data: DataArgument,
    policy: PolicyOption,
    out: OutOption,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="Use this method instead of the policy's.")
    ] = None,
    memory: MemoryOption = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Save the levels that were found here, for `sudare apply`.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a release, prove it from the written file, and place it with its certificate R.sudare.json."""
    with _reporting(as_json):
        from sudare import api

        if plan is not None:
            api.check_plan(policy, method, plan)
        with _progress(quiet or as_json) as listener:
            release = api.anonymize(data, policy, out=out, method=method, memory=memory, progress=listener)
        if plan is not None and release.plan is not None:
            release.plan.save(plan)
        if as_json:
            _say(json.dumps({"release": str(out)} | release.certificate, ensure_ascii=False))
        elif not quiet:
            _show_release(out, release.certificate)


@app.command()
def apply(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="What `sudare anonymize --plan` saved.")],
    data: Annotated[str, typer.Argument(metavar="NEW", help="Other records: CSV, Parquet or Arrow file.")],
    out: OutOption,
    memory: MemoryOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Release other records at the levels of a plan, proven anew from the written file."""
    with _reporting(as_json):
        from sudare import api

        with _progress(quiet or as_json) as listener:
            release = api.apply(plan, data, out=out, memory=memory, progress=listener)
        if as_json:
            _say(json.dumps({"release": str(out)} | release.certificate, ensure_ascii=False))
        elif not quiet:
            _show_release(out, release.certificate)


@app.command()
def explore(
    data: DataArgument,
    policy: PolicyOption,
    best: Annotated[int, typer.Option("--best", min=1, help="How many of the best and of the minimal to list.")] = 10,
    loss: Annotated[str | None, typer.Option("--loss", help="What the best lose least of; else as the policy.")] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds after which to tell what was found so far.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the lattice around the best into this SVG file.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the levels of generalization that keep a policy: those that lose least, and the minimal ones."""
    with _reporting(as_json):
        from sudare import api
        from sudare.report import lattice_picture

        with _progress(quiet or as_json) as listener:
            found = api.explore(data, policy, loss=loss, best=best, time_limit=time_limit, progress=listener).to_dict()
        if picture is not None:
            _write_new(picture, lattice_picture(found))
        if as_json:
            _say(json.dumps(found, ensure_ascii=False))
        elif not quiet:
            _show_nodes(found, best)


@app.command()
def audit(
    release: Annotated[str, typer.Argument(metavar="R", help="The release: CSV, Parquet or Arrow file.")],
    policy: PolicyOption,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Prove a release again, from the file alone; any tool may have made it."""
    with _reporting(as_json):
        from sudare import api

        with _progress(quiet or as_json) as listener:
            report = api.audit(release, policy, progress=lambda step: listener(step, 0, 0))
        if as_json:
            _say(json.dumps(report.to_dict(), ensure_ascii=False))
            raise typer.Exit(0 if report.passed else 1)
        report.raise_if_failed()
        if not quiet:
            _say(f"{release} keeps its policy: {report.rows} records in {report.classes} classes.")
            _show_guarantees(report.to_dict()["guarantees"])
            for note in report.notes:
                _say(f"Note: {note}")


@hierarchy_app.command("show")
def hierarchy_show(
    file: Annotated[Path, typer.Argument(help="A hierarchy: leaf-to-root CSV, or nested YAML.")],
    delimiter: Annotated[str | None, typer.Option(help="The delimiter of a CSV file; else it is told.")] = None,
    lines: Annotated[int, typer.Option(min=1, help="How many lines to print at the most.")] = 60,
    as_json: JsonOption = False,
) -> None:
    """Print the levels of a hierarchy as a tree."""
    with _reporting(as_json):
        from sudare import hierarchies
        from sudare.errors import ParameterError, Problem

        if delimiter is not None and len(delimiter) != 1:
            raise ParameterError(Problem("--delimiter", f"is one character; got {len(delimiter)}."))
        tree = hierarchies.load(file, delimiter)
        if as_json:
            names = hierarchies.level_names(tree)
            levels = [
                {"name": name, "labels": count} for name, count in zip(names, hierarchies.levels(tree), strict=True)
            ]
            _say(json.dumps({"levels": levels, "leaves": len(tree.leaves)}, ensure_ascii=False))
        else:
            _say(hierarchies.show(tree, max_lines=lines))


@hierarchy_app.command("gaps")
def hierarchy_gaps(
    data: DataArgument,
    policy: PolicyOption,
    column: Annotated[str, typer.Option(help="The column whose hierarchy is incomplete.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to list the values (only you can read it).")],
    as_json: JsonOption = False,
) -> None:
    """List the values of a column that its hierarchy lacks, into a private file."""
    with _reporting(as_json):
        from sudare import api

        gaps = api.hierarchy_gaps(data, policy, column)
        _write_new(out, "".join(f"{value}\n" for value in gaps), private=True)
        _say(
            json.dumps({"gaps": len(gaps), "path": str(out)})
            if as_json
            else f"{len(gaps)} values of '{column}' are not in its hierarchy; they are listed in {out}."
        )


@generate_app.command("claims")
def generate_claims(
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many claims.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write them: a new Parquet file.")],
    seed: Annotated[int, typer.Option(help="Another seed gives other claims, the same one the same.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make up medical claims, as many as wanted, in bounded memory. No person stands behind them."""
    with _reporting(as_json):
        from sudare.datasets.claims import write_claims

        with _progress(quiet or as_json) as listener:
            write_claims(out, rows, seed, listener)
        if as_json:
            _say(json.dumps({"path": str(out), "rows": rows, "seed": seed}, ensure_ascii=False))
        elif not quiet:
            _say(f"{out}: {rows} synthetic claims, seed {seed}.")


_received: list[int] = []
"""The signals that asked this process to stop."""

_NOT_WITHIN = ("importlib", "llvmlite")
"""Whose code is not to be left by an exception out of nowhere."""


def _terminate(number: int, frame: FrameType | None) -> None:
    """End in order, so that temporary files are removed.

    Not in the middle of an import: an exception there may leave the interpreter's lock on imports taken for good, and
    other threads would wait for it. Nor while LLVM loads compiled code: it asks for the code by a call into Python that
    loses exceptions; the function would be left without code, and using it would end the process. The alarm clock then
    rings again a little later.
    """
    if number != signal.SIGALRM:
        _received.append(number)
        sys.unraisablehook = lambda _: None  # what is lost on the way is raised again by the next step of progress
    while frame is not None:
        if any(name in frame.f_code.co_filename for name in _NOT_WITHIN):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            return
        frame = frame.f_back
    _stop_if_asked()


def _stop_if_asked() -> None:
    if _received:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt if _received[0] == signal.SIGINT else SystemExit(128 + _received[0])


def _say(text: str, nl: bool = True) -> None:
    """Print a result. Whoever stopped listening, or has no room for it, does not undo what was done."""
    try:
        typer.echo(text, nl=nl)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_new(path: Path, text: str, *, private: bool = False) -> None:
    from sudare.errors import Problem, TargetError

    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(path, flags, 0o600 if private else 0o666), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise TargetError(Problem(str(path), "is there already.", "choose another name, or remove it.")) from None
    except OSError as error:
        raise TargetError(Problem(str(path), f"cannot be written: {error.strerror}.")) from None


@contextmanager
def _reporting(as_json: bool) -> Iterator[None]:
    """Turn errors into one message and an exit code; never a traceback, never a value of a person."""
    try:
        yield
    except BaseException as error:
        if _received or isinstance(error, KeyboardInterrupt):
            # a library that was interrupted may have turned the signal into an error of its own
            number = _received[0] if _received else signal.SIGINT
            _fail("Stopped", "stopped; nothing was left behind.", 128 + number, as_json)
        if isinstance(error, SystemExit | typer.Exit):
            raise
        if isinstance(error, SudareError):
            _fail(type(error).__name__, str(error), error.exit_code, as_json, [vars(p) for p in error.problems])
        if os.environ.get("SUDARE_DEBUG"):
            raise
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "an unknown place"
        # the text of an unforeseen error may quote data, so only its kind and place are shown
        what = f"unforeseen {type(error).__name__} in {place}; please report it (SUDARE_DEBUG=1 shows the details)."
        _fail("Unforeseen", what, 2, as_json)


def _fail(kind: str, text: str, code: int, as_json: bool, problems: list[dict[str, Any]] | None = None) -> NoReturn:
    if as_json:
        error = {"kind": kind, "exit_code": code, "message": text, "problems": problems or []}
        _say(json.dumps({"error": error}, ensure_ascii=False))
    typer.echo(f"sudare: {text}", err=True)
    raise typer.Exit(code)


@contextmanager
def _progress(silenced: bool) -> Iterator[Callable[[str, float, float], None]]:
    """Show one line per stage on the terminal: a bar where the end is known, a pulse where it is not."""
    if silenced or not sys.stderr.isatty():
        yield lambda stage, done, total: _stop_if_asked()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bars:
        tasks: dict[str, Any] = {}

        def listen(stage: str, done: float, total: float) -> None:
            _stop_if_asked()  # where the signal's own exception was lost on the way
            if stage not in tasks:
                for task in tasks.values():
                    bars.update(task, total=1, completed=1)
                label = "prepare (first run compiles)" if stage == "prepare kernels" else stage
                tasks[stage] = bars.add_task(label, total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield listen


def _show_release(out: Path, certificate: dict[str, Any]) -> None:
    facts = certificate
    _say(f"{out}: {facts['rows_out']} of {facts['rows_in']} records in {facts['classes']} classes.")
    _show_guarantees(facts["guarantees"])
    loss = facts["loss"]
    _say(f"  loss: GCP {loss['gcp']:.4f}, ARX {loss['arx']:.4f}, entropy {loss['entropy']:.4f}")
    if facts["search"].get("levels"):
        _show_search(facts["search"])
    _say(f"  {sum(facts['seconds'].values()):.2f} s; certificate {out}.sudare.json")


def _show_search(search: dict[str, Any]) -> None:
    """Say which levels were chosen, and how sure it is that no others lose less."""
    _say(f"  levels: {_levels(search['levels'])}")
    for name, count in search.get("unseen", {}).items():
        what = f"{count['values']} values that the plan does not know, in {count['records']} records: left out"
        _say(f"  column '{name}' has {what}")
    if "optimal" not in search:
        return
    ties = f"; {search['ties']} other nodes lose as little" if search["ties"] else ""
    if search["optimal"]:
        _say(f"  least {search['loss']} loss of all {search['nodes']} nodes, {search['checked']} of them counted{ties}")
    else:
        _say(f"  best found in time; no node has a {search['loss']} loss below {search['at_least']:.4f}{ties}")


def _levels(levels: dict[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def _show_nodes(found: dict[str, Any], most: int) -> None:
    def show(nodes: list[dict[str, Any]]) -> None:
        for node in nodes[:most]:
            sizes = node["class_sizes"]
            _say(
                f"  {node['loss']:<10.6g} {node['suppressed']:>10} {node['classes']:>8} "
                f"{sizes['smallest']:>9} {sizes['average']:>9.1f} {sizes['largest']:>9}  {_levels(node['levels'])}"
            )
        if len(nodes) > most:
            _say(f"  ... and {len(nodes) - most} more")

    header = f"  {'loss':<10} {'suppressed':>10} {'classes':>8} {'smallest':>9} {'average':>9} {'largest':>9}  levels"
    _show_search(found["search"])
    _say(f"The best:\n{header}")
    show(found["best"])
    if found["minimal"] is None:
        _say("Minimal nodes were not looked for to the end: there are too many nodes, or too little time.")
    else:
        _say(f"Minimal, {len(found['minimal'])} in all:\n{header}")
        show(found["minimal"])


def _show_guarantees(guarantees: list[dict[str, Any]]) -> None:
    for one in guarantees:
        asked = ", ".join(f"{key} = {value}" for key, value in one["parameters"].items() if value)
        achieved = f"; achieved {_figure(one['achieved'])}" if one["required"] else ""
        note = f" Note: {one['note']}" if one["note"] else ""
        _say(f"  proven: {one['model']}{f' ({asked})' if asked else ''}{achieved}{note}")


def _figure(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_figure(part)}" for key, part in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
