"""The marks of all charts, as SVG: text, boxes, lines and shapes, groups of them, and colours for losses.

Pictures that stand alone carry their looks as attributes, and none has an id or a style sheet: one may be put into a
page as it is, next to others, without one changing the other. Those of a report take their colours from the page, by
classes. Names of columns are only ever the content of an element.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from markupsafe import Markup

from sudare.reports.markup import rendered, safe

Point = tuple[float, float]

FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
PAPER, INK, QUIET, FAINT, WARNING = "#fbfbf8", "#0b1118", "#52606d", "#d5dbe1", "#9a3412"

# it darkens steadily, so that it can be read without seeing hues, and ends where dark text can still be read
SCALE = ((255, 255, 204), (204, 235, 178), (138, 208, 186), (86, 184, 200), (76, 152, 203), (110, 132, 204))

EM = 0.64
"""What a letter takes of the font size in the widest of the fonts; bold ones take a tenth more."""
NARROW, SLIM, BROAD = frozenset("iljI.,:;'|!"), frozenset("trf-()[]/ "), frozenset("mwMW@%")


def element(tag: str, *content: str, **attributes: float | str | None) -> Markup:
    """Return an element of SVG. What is in it and in its attributes is escaped, but for other elements.

    An attribute of None is omitted; ``_`` in a name stands for ``-``.
    """
    named = Markup("").join(
        Markup(' {}="{}"').format(name.strip("_").replace("_", "-"), safe(_number(value)))
        for name, value in attributes.items()
        if value is not None
    )
    if not content:
        return Markup(f"<{tag}{named}/>")
    return Markup(f"<{tag}{named}>{Markup('').join(map(safe, content))}</{tag}>")


def _number(value: float | str) -> str:
    """Return a number as text, with six digits."""
    return value if isinstance(value, str) else f"{value:g}"


def words(
    x: float,
    y: float,
    content: str,
    *,
    size: float = 12,
    colour: str | None = INK,
    anchor: str = "start",
    bold: bool = False,
    style: str | None = None,
) -> Markup:
    """Return a line of text; ``y`` is where its letters stand, ``style`` the class by which a page colours it."""
    return element(
        "text",
        content,
        class_=style,
        x=x,
        y=y,
        font_size=size,
        fill=None if style is not None else colour,
        text_anchor=anchor,
        font_weight="bold" if bold else None,
    )


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str | None = None,
    stroke: str | None = None,
    thickness: float = 1,
    radius: float = 0,
    dashed: bool = False,
    style: str | None = None,
    opacity: float | None = None,
) -> Markup:
    """Return a rectangle; ``style`` is the class of a page that gives a colour."""
    return element(
        "rect",
        class_=style,
        x=x,
        y=y,
        width=max(width, 0.0),
        height=max(height, 0.0),
        rx=radius or None,
        fill=fill,
        fill_opacity=opacity,
        **_outline(stroke, thickness, dashed),
    )


def line(
    start: Point,
    end: Point,
    *,
    stroke: str | None = None,
    thickness: float = 1.4,
    dashed: bool = False,
    style: str | None = None,
) -> Markup:
    """Return a straight line."""
    return element(
        "line", class_=style, x1=start[0], y1=start[1], x2=end[0], y2=end[1], **_outline(stroke, thickness, dashed)
    )


def polyline(points: Sequence[Point], *, stroke: str, thickness: float, dashed: bool = False) -> Markup:
    """Return straight lines from point to point."""
    return element("polyline", points=_places(points), fill="none", **_outline(stroke, thickness, dashed))


def shape(points: Sequence[Point], *, fill: str, stroke: str, thickness: float) -> Markup:
    """Return an area with these corners."""
    return element("polygon", points=_places(points), fill=fill, **_outline(stroke, thickness, dashed=False))


def disc(x: float, y: float, radius: float, *, fill: str, stroke: str, thickness: float) -> Markup:
    """Return a circle."""
    return element("circle", cx=x, cy=y, r=radius, fill=fill, **_outline(stroke, thickness, dashed=False))


def steps(points: Sequence[Point], *, stroke: str, thickness: float, opacity: float) -> Markup:
    """Return a line that goes across and then up or down from point to point."""
    path = f"M{_number(points[0][0])} {_number(points[0][1])}"
    path += "".join(f"H{_number(x)}V{_number(y)}" for x, y in points[1:])
    return element(
        "path",
        d=path,
        fill="none",
        stroke=stroke,
        stroke_width=thickness,
        stroke_opacity=opacity,
        stroke_linejoin="round",
    )


def thread(points: Sequence[Point], *, stroke: str, dashed: bool = False) -> Markup:
    """Return a line through points that leaves and reaches each of them upright."""
    path = f"M{_number(points[0][0])} {_number(points[0][1])}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) / 2
        path += "C" + " ".join(map(_number, (x, middle, to_x, middle, to_x, to_y)))
    return element("path", d=path, fill="none", **_outline(stroke, 1.4, dashed))


def group(title: str, marks: Iterable[str]) -> Markup:
    """Return marks as one thing; browsers show its title when the pointer rests on it."""
    return element("g", element("title", title), *marks)


def picture(width: float, height: float, title: str, description: str, marks: Iterable[str]) -> str:
    """Return a picture that stands alone: no scripts, no fonts or style sheets from elsewhere, and its own paper.

    ``description`` is the picture in words, for those who do not see it.
    """
    paper = box(0, 0, width, height, fill=PAPER, radius=8)
    return str(_svg(width, height, title, marks, alone=True, description=description, paper=paper))


def page_picture(width: float, height: float, title: str, marks: Iterable[str]) -> Markup:
    """Return a picture inside a page, whose styles give it its colours."""
    return _svg(width, height, title, marks, alone=False)


def _svg(width: float, height: float, title: str, marks: Iterable[str], **more: object) -> Markup:
    size = {"width": _number(width), "height": _number(height)}
    return rendered("picture.svg", **size, font=Markup(FONT), title=title, marks=list(marks), **more)


def _outline(stroke: str | None, thickness: float, dashed: bool) -> dict[str, float | str | None]:
    if stroke is None:
        return {}
    return {"stroke": stroke, "stroke_width": thickness, "stroke_dasharray": "5 3" if dashed else None}


def _places(points: Sequence[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


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


def _ems(letter: str) -> float:
    if letter in NARROW:
        return 0.55
    if letter in SLIM:
        return 0.7
    # letters of East Asia are as wide as they are high
    wide = letter in BROAD or unicodedata.east_asian_width(letter) in "WF"
    return 1.6 if wide else 1.1 if letter.isupper() else 1.0
