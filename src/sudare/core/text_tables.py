"""Tables of plain text whose columns align on a terminal, also with letters that are two columns wide.

How wide a letter is, ``rich`` knows. Its tables are not used: they would break lines and take a second for two thousand
rows, and the text is to be the same on a terminal, in a pipe and in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_BREAKS = dict.fromkeys(map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"), " ")
"""What would begin another line inside a row, or has no width of its own."""


@dataclass(frozen=True)
class TextColumn:
    """How a column looks: on which side its cells stand, how wide it is at least, and the blanks before it."""

    right: bool = True
    least: int = 0
    gap: int = 2


def text_table(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, one for each row, without blanks at their ends."""
    cells = [[cell.translate(_BREAKS) for cell in row] for row in rows]
    widths = [[text_width(cell) for cell in row] for row in cells]
    room = [max([column.least, *(row[place] for row in widths)]) for place, column in enumerate(columns)]

    def line(row: Sequence[str], own: Sequence[int]) -> str:
        parts = []
        for column, cell, width, most in zip(columns, row, own, room, strict=True):
            blanks = " " * (most - width)
            parts.append(" " * column.gap + (blanks + cell if column.right else cell + blanks))
        return "".join(parts).rstrip()

    return [line(row, own) for row, own in zip(cells, widths, strict=True)]


def padded(text: str, width: int) -> str:
    """Return text with blanks behind it, so that it takes up so many columns of a terminal."""
    return text + " " * max(width - text_width(text), 0)


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes up."""
    from rich.cells import cell_len

    return cell_len(text)
