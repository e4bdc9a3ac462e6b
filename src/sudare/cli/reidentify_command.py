"""The command ``reidentify``: from pseudonyms back to values, for anyone who has the key and a table of the values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.runner import check_new, reporting, say
from sudare.cli.shared_options import JsonOption, OutsideOption, PolicyOption, QuietOption, given
from sudare.core.errors import ParameterError, Problem


def reidentify(
    policy: PolicyOption,
    column: Annotated[str, typer.Option("--column", help="The column of the release with the pseudonyms.")],
    ids: Annotated[str, typer.Option("--ids", help="A table of all values that may be meant: a file or a table.")],
    asked: Annotated[
        list[str],
        typer.Option("--pseudonyms", help="A pseudonym, or a file with one in each line; may be repeated."),
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why people have to be identified; it is logged.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The CSV file for the values; only you can read it.")],
    id_column: Annotated[
        str | None, typer.Option("--id-column", help="The column of --ids, if it has another name than --column.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option("--log", help="The log; by default sudare-reidentify.jsonl in the folder of the policy."),
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", help="A release; its certificate tells whether this is its key.")
    ] = None,
    outside: OutsideOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the values behind pseudonyms, with the secret key and a table of the values. Every use is logged."""
    with reporting(as_json):
        from sudare import api

        check_new(out)
        found = api.reidentify(
            given(policy, outside),
            column=column,
            ids=ids,
            pseudonyms=_asked(asked),
            reason=reason,
            out=out,
            id_column=id_column,
            log=log,
            release=release,
        )
        if as_json:
            say(json.dumps(found.to_dict(), ensure_ascii=False))
        elif found.path is None:
            typer.echo("sudare: none of the pseudonyms stands for a value of this table.", err=True)
            typer.echo("  Check the key (with --release), the column and the table.", err=True)
        elif not quiet:
            say(f"{found.path}: the values of {found.found:,} of {found.asked:,} pseudonyms. Only you can read it.")
            say(f"  {found.log}: this use, with your name and reason")
        if found.path is None:
            raise typer.Exit(1)


def _asked(given_texts: list[str]) -> list[str] | Path:
    """Return the pseudonyms, or the one file that has them."""
    files = [text for text in given_texts if Path(text).is_file()]
    if not files:
        return given_texts
    if len(given_texts) > 1:
        what = "names a file beside something else."
        raise ParameterError(Problem("--pseudonyms", what, "name one file, or pseudonyms."))
    return Path(files[0])
