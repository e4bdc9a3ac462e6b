"""The commands ``hierarchy`` and ``generate``: trees of values, and synthetic data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sudare.cli.runner import check_new, progress, reporting, say, write_new
from sudare.cli.shared_options import DataArgument, JsonOption, OutsideOption, PolicyOption, QuietOption, given

hierarchy_app = typer.Typer(help="Make and inspect hierarchies.", no_args_is_help=True)
generate_app = typer.Typer(help="Generate data to try sudare on.", no_args_is_help=True)


@hierarchy_app.command("show")
def hierarchy_show(
    file: Annotated[Path, typer.Argument(help="A hierarchy: leaf-to-root CSV, or nested YAML.")],
    delimiter: Annotated[str | None, typer.Option(help="The delimiter of a CSV file; by default, detect it.")] = None,
    lines: Annotated[int, typer.Option(min=1, help="Print at most this many lines.")] = 60,
    as_json: JsonOption = False,
) -> None:
    """Print the levels of a hierarchy as a tree."""
    with reporting(as_json):
        from sudare import hierarchies
        from sudare.core.errors import ParameterError, Problem

        if delimiter is not None and len(delimiter) != 1:
            raise ParameterError(Problem("--delimiter", f"must be one character; got {len(delimiter)}."))
        tree = hierarchies.load(file, delimiter)
        if as_json:
            names = hierarchies.level_names(tree)
            levels = [
                {"name": name, "labels": count} for name, count in zip(names, hierarchies.levels(tree), strict=True)
            ]
            say(json.dumps({"levels": levels, "leaves": len(tree.leaves)}, ensure_ascii=False))
        else:
            say(hierarchies.show(tree, max_lines=lines))


@hierarchy_app.command("gaps")
def hierarchy_gaps(
    data: DataArgument,
    policy: PolicyOption,
    column: Annotated[str, typer.Option(help="The column whose hierarchy is incomplete.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file for the list; only you can read it.")],
    outside: OutsideOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the values of a column that are not in its hierarchy, in a private file."""
    with reporting(as_json):
        from sudare import api

        gaps = api.hierarchy_gaps(data, given(policy, outside), column)
        write_new(out, "".join(f"{value}\n" for value in gaps), private=True)
        say(
            json.dumps({"gaps": len(gaps), "path": str(out)})
            if as_json
            else f"{len(gaps)} values of '{column}' are not in its hierarchy; they are listed in {out}."
        )


@hierarchy_app.command("make")
def hierarchy_make(
    data: DataArgument,
    column: Annotated[str, typer.Option(help="The column whose values are the leaves.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The CSV file to write; only you can read it.")],
    builtin: Annotated[str | None, typer.Option(help="A hierarchy that comes with sudare, such as icd-10.")] = None,
    prefix: Annotated[str | None, typer.Option(help="Lengths of prefixes, such as 5,3,2.")] = None,
    bands: Annotated[str | None, typer.Option(help="Widths of bands of numbers, such as 5,10,20.")] = None,
    dates: Annotated[str | None, typer.Option(help="Levels of dates, such as month,year.")] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Make bands of numbers from the values.")] = False,
    separator: Annotated[str | None, typer.Option(help="What separates the items, if cells hold sets.")] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            help="A text that stands for a missing cell, may be given several times; by default, detect them."
        ),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="The encoding of a text file; by default, detect it.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="The delimiter of a text file; by default, detect it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the hierarchy of a column as a file, which you can change by hand."""
    with reporting(as_json):
        from sudare import api, hierarchies

        check_new(out)
        wanted = _one_source(builtin=builtin, prefix=prefix, bands=bands, dates=dates, auto=auto or None)
        tree, lost = api.make_hierarchy_with_missing(
            data, column, wanted, separator=separator, missing=missing or None, encoding=encoding, delimiter=delimiter
        )
        write_new(out, hierarchies.csv_text(tree), private=True)
        names = hierarchies.level_names(tree)
        say(
            json.dumps({"path": str(out), "leaves": len(tree.leaves), "levels": names}, ensure_ascii=False)
            if as_json
            else f"{out}: {len(tree.leaves)} values of '{column}', levels: {', '.join(names)}."
        )
        if lost:  # beside the result: a policy with this hierarchy has to say the same
            one = len(lost) == 1
            what = "1 text that usually means" if one else f"{len(lost)} texts that usually mean"
            leaf, them = ("is no leaf", "it") if one else ("are no leaves", "them")
            told = f"{what} a missing value {leaf}: the policy must list {them}, as source.missing of a draft does."
            typer.echo(told, err=True)


def _one_source(**given: str | bool | None) -> dict[str, Any]:
    """Return the one source of a hierarchy that is given, as a policy has it, or raise."""
    from sudare.core.errors import ParameterError, Problem

    found = {key: value for key, value in given.items() if value is not None}
    options = ", ".join(f"--{key}" for key in given)
    if len(found) != 1:
        got = " and ".join(f"--{key}" for key in found) or "none"
        raise ParameterError(Problem("hierarchy make", f"needs exactly one of {options}; got {got}."))
    [(key, value)] = found.items()
    if not isinstance(value, str) or key == "builtin":
        return {key: value}
    parts = [part.strip() for part in value.split(",")]
    if key == "dates":
        return {key: parts}
    try:
        return {key: [int(part) if key == "prefix" else float(part) for part in parts]}
    except ValueError:
        example = {"prefix": "5,3,2", "bands": "5,10,20"}[key]
        raise ParameterError(
            Problem(f"--{key}", f"must be numbers with commas between them, as in {example}.")
        ) from None


@generate_app.command("claims")
def generate_claims(
    rows: Annotated[int, typer.Option("--rows", "-n", help="The number of claims.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The Parquet file to write; it must not exist.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same claims.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Generate medical claims, any number of them, in bounded memory. They are not about real people."""
    with reporting(as_json):
        from sudare.datasets.claims import write_claims

        with progress(quiet or as_json) as listener:
            write_claims(out, rows, seed, listener)
        if as_json:
            say(json.dumps({"path": str(out), "rows": rows, "seed": seed}, ensure_ascii=False))
        elif not quiet:
            say(f"{out}: {rows} synthetic claims, seed {seed}.")
