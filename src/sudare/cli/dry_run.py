"""The dry run of ``sudare anonymize``: what it refuses, and how its figures and first rows look on a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sudare.cli.runner import say
from sudare.cli.terminal import show_figures, word
from sudare.core.errors import ParameterError, Problem
from sudare.core.memory import show_size
from sudare.core.text_tables import TextColumn, text_table, text_width

PLAIN_WIDTH = 120
"""How wide the rows are where there is no terminal."""
WIDEST, NARROWEST = 40, 8
"""How wide a column may be at the most, and how far it is cut before others go below."""
_CUT = "…"


def check_dry_run(*, plan: Path | None, sign: Path | None) -> None:
    """Raise if a dry run is also to make something that stays."""
    given = {"--plan": plan, "--sign": sign}
    what = "has no effect in a dry run, which writes nothing."
    problems = [Problem(name, what, "remove it, or --dry-run and --preview.") for name, one in given.items() if one]
    if problems:
        raise ParameterError(problems)


def needed_place(out: str | None) -> str:
    """Return where a release goes, or raise if nobody says."""
    if out is None:
        hint = "name a file or a table for the release, or look at it first with --dry-run."
        raise ParameterError(Problem("--out", "is missing.", hint))
    return out


def show_preview(found: Mapping[str, Any]) -> None:
    """Show the figures of a release that was not kept, and its first rows; ``found`` is the JSON form."""
    width = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
    facts = {key: value for key, value in found.items() if key not in ("memory", "rows", "second")}
    seconds = show_figures("Dry run, nothing was written", facts)
    say(f"  suppressed: {found['suppressed']} of {found['rows_in']} records")
    memory = "" if found["memory"] is None else f"; {show_size(found['memory'])} of memory at the most"
    say(f"  {seconds:.2f} s{memory}")
    if found["loss_by_column"]:
        say("Loss by column:")
        _show(_losses(found["loss_by_column"]), width, right=True)
    for key, of in (("rows", "the release"), ("second", "its second table")):
        if key in found:
            rows = found[key]
            say(f"The first {len(rows)} rows of {of}:" if len(rows) > 1 else f"The first row of {of}:")
            _show([list(rows[0]), *([_cell(cell) for cell in row.values()] for row in rows)], width)
    if facts["mechanism"]:
        say("note: the release will draw its values anew. Do not give these rows to anyone beside it.")


def _losses(columns: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """Return a table of losses, a line for each column."""
    measures = list(dict.fromkeys(name for losses in columns.values() for name in losses))
    lines = [[name, *(f"{own[key]:.4f}" if key in own else "" for key in measures)] for name, own in columns.items()]
    return [["column", *measures], *lines]


def _cell(cell: Any) -> str:
    """Return a cell as text; a list of items as its items."""
    if isinstance(cell, list):
        return "[" + ", ".join(map(word, cell)) + "]"
    return word(cell)


def _show(rows: Sequence[Sequence[str]], width: int, *, right: bool = False) -> None:
    """Show a table, its first line the header, in as many parts below each other as the width requires."""
    safe = [[cut(word(cell), WIDEST) for cell in row] for row in rows]
    for part in parts(safe, width):
        columns = [TextColumn(right=right and place > 0) for place in range(len(part[0]))]
        for line in text_table(columns, part):
            say(line)


def parts(rows: Sequence[Sequence[str]], width: int) -> list[list[list[str]]]:
    """Return a table in parts, each of some columns, that are no wider than a terminal.

    If all columns fit when long cells are cut, there is one part. Otherwise columns that do not fit go below, uncut.
    """
    if not rows or not rows[0]:
        return []
    room = max(width, NARROWEST + 2)
    gap = 2
    wide = [max(text_width(row[place]) for row in rows) for place in range(len(rows[0]))]
    least = [min(one, NARROWEST) for one in wide]
    if sum(least) + gap * len(least) <= room:
        allowed = _shared(wide, least, room - gap * len(least))
        return [[[cut(cell, most) for cell, most in zip(row, allowed, strict=True)] for row in rows]]
    found: list[list[int]] = [[]]
    taken = 0
    for place, one in enumerate(wide):
        needed = min(one, room - gap) + gap
        if found[-1] and taken + needed > room:
            found.append([])
            taken = 0
        found[-1].append(place)
        taken += needed
    return [[[cut(row[place], room - gap) for place in some] for row in rows] for some in found]


def _shared(wide: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return how wide each column may be so that all fit: the widest ones give way first."""
    allowed = list(wide)
    while sum(allowed) > room:
        widest = max(range(len(allowed)), key=lambda place: allowed[place] - least[place])
        allowed[widest] -= 1
    return allowed


def cut(text: str, most: int) -> str:
    """Return as much of a text as so many columns of a terminal show, with a mark where it was cut."""
    text = text[: 8 * most + 1]  # letters without width of their own do not count, and there may be any number of them
    if text_width(text) <= most and len(text) <= 8 * most:
        return text
    while text and text_width(text) > most - 1:
        text = text[:-1]
    return text + _CUT
