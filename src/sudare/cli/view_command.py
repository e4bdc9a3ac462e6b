"""The command ``view``: shows a release, or converts it."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.runner import check_new, reporting, say
from sudare.cli.shared_options import OutsideOption, QuietOption, given
from sudare.cli.terminal import word
from sudare.core.errors import ParameterError, Problem
from sudare.core.text_tables import TextColumn, text_table, text_width

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_ROWS = 10
"""Rows that are shown unless the user says otherwise."""
SHOWN_COLUMNS = 20
"""Columns that are shown, at most, unless the user names them."""
LONGEST = 30
"""The most letters of a cell that are shown."""


def view(
    release: Annotated[str, typer.Argument(metavar="R", help="A release, with its certificate beside it.")],
    form: Annotated[
        str | None,
        typer.Option("--as", help="Convert to this format: csv, tsv, parquet, arrow, feather, ipc, json or jsonl."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; without it, text formats are printed.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, help="How many rows; by default 10 are shown, and all converted.")
    ] = None,
    columns: Annotated[str | None, typer.Option("--columns", help="Only these columns, such as age,sex.")] = None,
    numeric: Annotated[bool, typer.Option("--numeric", help="Turn ranges and categories into numbers.")] = False,
    ranges: Annotated[
        str | None, typer.Option("--ranges", help="What a range becomes: middle (default), ends or draw.")
    ] = None,
    everything: Annotated[
        str | None, typer.Option("--everything", help="What * becomes: share (default) or missing.")
    ] = None,
    unchanged: Annotated[
        str | None, typer.Option("--unchanged", help="Whether to keep (default) or encode all other columns.")
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most-categories", help="At most so many categories of a column (256).")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Make draw repeatable.")] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", help="The policy, to divide labels among the leaves of hierarchies."),
    ] = None,
    outside: OutsideOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show the first rows of a release, or convert it: to another format, or to numbers."""
    chosen = {"ranges": ranges, "everything": everything, "unchanged": unchanged, "most_categories": most, "seed": seed}
    options: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    with reporting(form in ("json", "jsonl") and out is None):
        from sudare import api
        from sudare.releases import converted_files

        target, wanted = _format(form, out), _named(columns)
        idle = [*options, *([] if policy is None else ["policy"])]
        if idle and not numeric:
            what = "has an effect only with --numeric."
            raise ParameterError([Problem(f"--{name.replace('_', '-')}", what) for name in idle])
        if out is not None:
            check_new(out)
        if numeric:
            known = None if policy is None else given(policy, outside)
            table = api.numeric(release, policy=known, columns=wanted, **options)
        else:
            table = api.released_rows(release, wanted)
        every = table.num_rows
        if rows is not None:
            table = table.slice(0, rows)
        if target is None:
            if not quiet:
                _show(api.shown_place(release), table.slice(0, rows or SHOWN_ROWS), every, columns is None)
                if done := api.released_steps(release):
                    say(f"transformed before: {word(done)}")
        elif out is None:
            for piece in converted_files.converted_text(table, target):
                typer.echo(piece, nl=False)
        else:
            converted_files.write_converted(table, target, out)
            if not quiet:
                made = f"{out}: {table.num_rows} rows, {table.num_columns} columns."
                say(f"{made} It is not a release: it has no certificate.")


def _format(form: str | None, out: Path | None) -> str | None:
    """Return the format to convert to, None if the release is only shown; raise if it cannot be."""
    from sudare.releases import converted_files

    if form is None and out is None:
        return None
    wanted = form if form is not None or out is None else out.suffix.lower().removeprefix(".")
    assert wanted is not None
    converted_files.check_format(wanted, "--as" if form is not None else "--out")
    if out is None and wanted not in converted_files.TEXTS:
        raise ParameterError(Problem("--as", f"{wanted} cannot be printed.", "name a file: --out FILE."))
    return wanted


def _named(columns: str | None) -> list[str] | None:
    """Return the names between the commas, None if all columns are wanted; raise if there is none."""
    found = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    if found == []:
        raise ParameterError(Problem("--columns", "names no column.", "such as --columns age,sex; or leave it out."))
    return found


def _show(place: str, table: pa.Table, every: int, limited: bool) -> None:
    """Show rows as text, in blocks of columns that fit next to each other."""
    names = table.column_names[:SHOWN_COLUMNS] if limited else table.column_names
    say(f"{place}: {every} rows, {table.num_columns} columns")
    columns = [[name, *map(_cell, table.column(name).to_pylist())] for name in names]
    right = [_is_number(table.column(name).type) for name in names]
    room = shutil.get_terminal_size((100, 24)).columns
    begin = 0
    while begin < len(columns):
        end, width = begin, 0
        while end < len(columns):
            width += 2 + max(map(text_width, columns[end]))
            if end > begin and width > room:
                break
            end += 1
        looks = [TextColumn(right=each) for each in right[begin:end]]
        say("")
        for line in text_table(looks, list(zip(*columns[begin:end], strict=True))):
            say(line)
        begin = end
    more = [f"{every - table.num_rows} rows (--rows)"] if every > table.num_rows else []
    more += [f"{table.num_columns - len(names)} columns (--columns)"] if table.num_columns > len(names) else []
    if more:
        say(f"  ... and {' and '.join(more)} more")


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cell(value: Any) -> str:
    """Return a cell on one line, shortened, without what a terminal would obey."""
    if value is None:
        return "(missing)"
    if isinstance(value, float):
        return "(missing)" if math.isnan(value) else f"{value:.6g}"
    if isinstance(value, list):
        text = ", ".join(map(_cell, value)) or "(nothing)"
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
