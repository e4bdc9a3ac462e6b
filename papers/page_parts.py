"""What the pages of all papers are made of: tables and paragraphs in Markdown, and the looks of figures."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager


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
