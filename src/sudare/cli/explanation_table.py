"""The explanation of a draft on a terminal: reasons are wrapped in their column, so that no line is cut."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from sudare.cli.runner import say
from sudare.core.text_tables import TextColumn, text_table, text_width

if TYPE_CHECKING:
    from sudare.drafts import Explanation

_NARROWEST = 30  # room for a reason, however narrow the terminal is
_LONGEST_NAME = 32
_PIPE = 160  # how wide a table is that goes to a file
_LAYOUT = [TextColumn(right=False, gap=0), TextColumn(right=False), *[TextColumn()] * 5, TextColumn(right=False)]


def show_explanation(found: Explanation) -> None:
    """Show a line for each column, and what the figures mean."""
    rows = [[_short(row[0]), *row[1:]] for row in found.rows]
    for line in text_table(_LAYOUT, _wrapped(rows)):
        say(line)
    say("")
    for note in found.notes:
        say(note)
    unchanged = found.named("sensitive")
    if unchanged:
        from sudare.drafts.draft_text import percent

        many = len(unchanged) > 1
        count = f"{len(unchanged)} columns are" if many else "one column is"
        by = "together they single" if many else "it singles"
        say(f"{count} released unchanged; {by} out {percent(found.unchanged)} of the records")


def _wrapped(rows: list[list[str]]) -> list[list[str]]:
    """Return rows with the reason, which stands last, on as many lines as it needs."""
    before = sum(max(text_width(row[place]) for row in rows) + _LAYOUT[place].gap for place in range(len(_LAYOUT) - 1))
    room = max(shutil.get_terminal_size((_PIPE, 24)).columns - before - _LAYOUT[-1].gap, _NARROWEST)
    found = []
    for row in rows:
        first, *more = textwrap.wrap(row[-1], room, break_on_hyphens=False) or [""]
        found.append([*row[:-1], first])
        found += [[""] * (len(row) - 1) + [line] for line in more]
    return found


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
