"""What the pages of all papers are made of: tables and paragraphs in Markdown, and the looks of figures."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Figures = dict[str, Any]
"""What a JSON file holds."""
Look = tuple[str, str | tuple[int, tuple[int, ...]], str]
"""How a line is drawn: its colour, style and marker; each of them tells it apart without the others."""


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def wrapped(text: str) -> str:
    """Return a paragraph in lines of at most 120 characters."""
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


def listed(points: Iterable[str]) -> str:
    """Return a list, in lines of at most 120 characters."""
    fill = textwrap.TextWrapper(120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False).fill
    return "\n".join(fill(f"- {point}") for point in points)


@contextmanager
def looks() -> Iterator[None]:
    """Draw figures as SVG within; the same figures give the same files."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        sys.exit("Drawing needs matplotlib: pip install --group bench")
    matplotlib.use("svg")
    settings = {"svg.hashsalt": "sudare", "font.size": 10, "axes.grid": True, "grid.color": "#dddddd"}
    # a white ground of its own keeps a figure readable on a dark page
    with matplotlib.rc_context(settings | {"figure.facecolor": "white", "savefig.facecolor": "white"}):
        yield


def save(figure: Any, path: Path) -> None:
    """Write a figure as SVG, and close it."""
    from matplotlib import pyplot

    figure.savefig(path, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    # matplotlib leaves blanks at the ends of some lines
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines), encoding="utf-8")
