"""The few marks that pictures are made of, as SVG text: words, boxes, lines, and colours for losses.

Marks carry their looks as attributes, and none has an id or a style sheet: a picture may be put into a page as it is,
next to others, without one changing the other. Names of columns are only ever the content of an element.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

Point = tuple[float, float]

FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
PAPER, INK, QUIET, FAINT, WARNING = "#fbfbf8", "#0b1118", "#52606d", "#d5dbe1", "#9a3412"

# it darkens steadily, so that it can be read without seeing hues, and ends where dark text can still be read
SCALE = ((255, 255, 204), (204, 235, 178), (138, 208, 186), (86, 184, 200), (76, 152, 203), (110, 132, 204))

EM = 0.64
"""What a letter takes of the font size in the widest of the fonts; bold ones take a tenth more."""
NARROW, SLIM, BROAD = frozenset("iljI.,:;'|!"), frozenset("trf-()[]/ "), frozenset("mwMW@%")


def words(
    x: float, y: float, content: str, *, size: float = 12, colour: str = INK, anchor: str = "start", bold: bool = False
) -> str:
    """Return a line of text; ``y`` is where its letters stand."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour}" text-anchor="{anchor}"{weight}>'
        f"{plain(content)}</text>"
    )


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str,
    stroke: str = "none",
    thickness: float = 1,
    radius: float = 0,
    dashed: bool = False,
) -> str:
    """Return a rectangle."""
    line = "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{thickness:g}"{_dashes(dashed)}'
    corner = f' rx="{radius:g}"' if radius else ""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{corner} fill="{fill}"{line}/>'


def thread(points: Sequence[Point], *, stroke: str, dashed: bool = False) -> str:
    """Return a line through points that leaves and reaches each of them upright."""
    path = f"M{points[0][0]:g} {points[0][1]:g}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) / 2
        path += f"C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y:g}"
    return f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="1.4"{_dashes(dashed)}/>'


def group(title: str, marks: Iterable[str]) -> str:
    """Return marks as one thing; browsers show its title when the pointer rests on it."""
    return f"<g><title>{plain(title)}</title>{''.join(marks)}</g>"


def plain(content: str) -> str:
    """Return text as it may stand in XML, which has no place for control characters and halves of characters."""
    return escape("".join(_allowed(letter) for letter in content))


def shorten(content: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return text that fits into so many pixels, with an ellipsis where something was cut off."""
    room /= size * EM * (1.1 if bold else 1)
    if sum(map(_ems, content)) <= room:
        return content
    kept, used = "", 1.0
    for letter in content:
        used += _ems(letter)
        if used > room:
            break
        kept += letter
    return kept.rstrip() + "…"


def shade(part: float) -> str:
    """Return the colour of a place on the scale, from 0 to 1."""
    place = min(max(part, 0.0), 1.0) * (len(SCALE) - 1)
    low = min(int(place), len(SCALE) - 2)
    mixed = (round(a + (b - a) * (place - low)) for a, b in zip(SCALE[low], SCALE[low + 1], strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def figure(value: float, rounding: Callable[[float], float] = round) -> str:
    """Return a loss with about four digits that say something; ``rounding`` is given the last of them as units."""
    if not math.isfinite(value):
        return "∞"
    if abs(value) >= 1e8:
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - 3)
        return f"{rounding(value / unit) * unit:.3e}"
    places = 4 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{rounding(value * 10**places) / 10**places:,.{places}f}"


def count(number: int) -> str:
    """Return a number of records that is short enough for a small box."""
    if number < 100_000:
        return f"{number:,}"
    return f"{number // 1000}k" if number < 1_000_000 else f"{number / 1e6:,.2f}M"


def _dashes(dashed: bool) -> str:
    return ' stroke-dasharray="5 3"' if dashed else ""


def _allowed(letter: str) -> str:
    if letter.isspace():
        return " "
    kind = unicodedata.category(letter)
    return "\ufffd" if kind in {"Cc", "Cs"} or ord(letter) in (0xFFFE, 0xFFFF) else letter


def _ems(letter: str) -> float:
    if letter in NARROW:
        return 0.55
    if letter in SLIM:
        return 0.7
    # letters of East Asia are as wide as they are high
    wide = letter in BROAD or unicodedata.east_asian_width(letter) in "WF"
    return 1.6 if wide else 1.1 if letter.isupper() else 1.0
