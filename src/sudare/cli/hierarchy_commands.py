"""The commands ``hierarchy`` and ``generate``: trees of values, and synthetic data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.runner import progress, reporting, say, write_new
from sudare.cli.shared_options import DataArgument, JsonOption, OutsideOption, PolicyOption, QuietOption, given

hierarchy_app = typer.Typer(help="Inspect hierarchies.", no_args_is_help=True)
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
