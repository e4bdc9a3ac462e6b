"""The charts inside a report, as SVG that takes its colours from the page.

All are 360 units wide, which is about what a narrow screen has, so that their words stay readable there; wide windows
show several in a row. Marks have classes for colours, which a page gives for light and dark; names and labels are only
ever the content of an element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sudare.reports.svg.marks import box, group, line, page_picture, shorten, words

WIDTH = 360
LABEL, RIGHT = 128, 44
ROW, BAR = 27, 9
PLOT, LEFT, BELOW = 132, 34, 34
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
FORMS = {
    "single": "a single value",
    "generalized": "generalized",
    "hidden": "nothing shown",
    "drawn": "drawn at random",
    "left_out": "record suppressed",
}
"""What a cell may have become, in the order of the stacked bars."""


def percent(share: float | None) -> str:
    """Return a share in percent; one above nothing never shows as nothing."""
    if share is None:
        return "few"
    value = 100 * share
    if 0 < value < 0.1:
        return "<0.1%"
    return f"{value:.1f}%" if 0 < value < 100 else f"{value:.0f}%"


def bars(parts: Sequence[Mapping[str, Any]], *, title: str) -> Markup:
    """Return a row for each part, with a bar for its share before and one for its share after."""
    most = max([0.001, *(share for part in parts for share in (part["before"], part["after"]) if share is not None)])
    room = WIDTH - LABEL - RIGHT - 6
    marks = []
    for place, part in enumerate(parts):
        y = place * ROW + 4
        told = ", ".join(f"{percent(part[side])} {side}" for side in ("before", "after") if side_known(part, side))
        row = [words(LABEL - 8, y + 14, fitted(part["label"], LABEL - 10, 11), anchor="end", size=11, colour=None)]
        for number, side in enumerate(("before", "after")):
            if not side_known(part, side):
                continue
            share = part[side] or 0.0
            top = y + number * (BAR + 1)
            row.append(box(LABEL, top, room * share / most, BAR, style=side))
            row.append(words(WIDTH - 2, top + 8, percent(part[side]), anchor="end", size=9.5, style="q"))
        marks.append(group(f"{part['label']}: {told}", row))
    return page_picture(WIDTH, len(parts) * ROW + 6, title, marks)


def fitted(label: str, room: float, size: float) -> str:
    """Return a label that fits, with its begin and its end where it is too long: many differ in their ends alone."""
    if shorten(label, room, size) == label:
        return label
    end = shorten(label[::-1], room * 0.4, size).rstrip("…")[::-1].lstrip()
    return shorten(label, room * 0.6, size) + end


def side_known(part: Mapping[str, Any], side: str) -> bool:
    """Return whether a part has a share on a side; too few to tell is known, too."""
    return part[side] is not None or bool(part.get("few") and side == "before")


def histogram(parts: Sequence[Mapping[str, Any]], *, title: str) -> Markup:
    """Return upright bars for the bins of numbers or dates, before and after side by side."""
    most = max([0.001, *(share for part in parts for share in (part["before"], part["after"]) if share is not None)])
    step = next((each for each in STEPS if most / each <= 4), 1.0)
    top = 8.0
    slot = (WIDTH - LEFT - 4) / max(len(parts), 1)
    wide = min(max(slot * 0.42, 1.0), 16.0)
    marks = []
    for number in range(int(most / step) + 1):
        y = top + PLOT * (1 - number * step / most)
        marks.append(line((LEFT, y), (WIDTH, y), style="g"))
        marks.append(words(LEFT - 5, y + 3.5, f"{100 * number * step:g}%", anchor="end", size=9.5, style="q"))
    for place, part in enumerate(parts):
        x = LEFT + slot * (place + 0.5)
        told = ", ".join(f"{percent(part[side])} {side}" for side in ("before", "after") if part[side] is not None)
        row = [
            box(x + (number - 1) * wide, top + PLOT * (1 - share / most), wide - 0.6, PLOT * share / most, style=side)
            for number, side in enumerate(("before", "after"))
            if (share := part[side]) is not None
        ]
        marks.append(group(f"{part['label']}: {told}", row))
    marks += _below([part["label"] for part in parts], slot, top + PLOT)
    return page_picture(WIDTH, top + PLOT + BELOW, title, marks)


def _below(labels: Sequence[str], slot: float, y: float) -> list[Markup]:
    """Write as many labels below bins as there is room for, on two lines in turn: the first, the last, some between."""
    size = 9.5
    if not labels:
        return []
    longest = max(len(label) for label in labels) * size * 0.58 + 10
    stride = max(1, -(-int(longest) // max(int(2 * slot), 1)))
    chosen = [place for place in range(0, len(labels), stride) if place == 0 or len(labels) - 1 - place >= stride]
    chosen = list(dict.fromkeys([*chosen, len(labels) - 1]))
    marks = []
    for number, place in enumerate(chosen):
        x = LEFT + slot * (place + 0.5)
        half = len(labels[place]) * size * 0.29
        x = min(max(x, half + 2), WIDTH - half - 2)
        down = 12 + 12 * (number % 2)
        marks.append(line((x, y), (x, y + down - 8), style="g"))
        marks.append(words(x, y + down, labels[place], anchor="middle", size=size, style="q"))
    return marks


def matrix(names: Sequence[str], values: Sequence[Sequence[float | None]], *, title: str) -> Markup:
    """Return a square of cells, the darker the stronger two columns go together; columns are numbered."""
    side = (WIDTH - 24) / max(len(names), 1)
    side = min(side, 44.0)
    size = 9.5 if side >= 26 else 8.5
    marks = []
    for place, name in enumerate(names):
        at = 22 + side * (place + 0.5)
        marks.append(group(name, [words(at, 14, str(place + 1), anchor="middle", size=10, style="q")]))
        marks.append(group(name, [words(9, at + 4, str(place + 1), anchor="middle", size=10, style="q")]))
    for a, own in enumerate(values):
        for b, value in enumerate(own):
            x, y = 22 + side * b, 22 + side * a
            told = f"{names[a]} and {names[b]}: {'not known' if value is None else f'{value:.2f}'}"
            strength = 0.0 if value is None else abs(value)
            cell = box(x, y, side - 1.5, side - 1.5, style="cell", opacity=0.04 + 0.96 * strength)
            text = "–" if value is None else "1" if a == b else f"{value:.2f}".replace("0.", ".")
            # dark words stand out from the middle of the scale on both papers, light ones from its end on white
            style = "on" if strength > 0.85 else "mid" if strength > 0.6 else None
            row = [
                cell,
                words(x + side / 2 - 0.7, y + side / 2 + 3, text, anchor="middle", size=size, style=style, colour=None),
            ]
            marks.append(group(told, row))
    return page_picture(WIDTH, 24 + side * len(names), title, marks)


def shares(attributes: Sequence[Mapping[str, Any]], *, title: str) -> Markup:
    """Return a bar for each attribute, divided by the changes of its cells."""
    room = WIDTH - LABEL - 4
    marks = []
    for place, each in enumerate(attributes):
        y, x = place * 24 + 4, float(LABEL)
        told = [f"{percent(each['shares'][form])} {FORMS[form]}" for form in FORMS if each["shares"].get(form)]
        row = [words(LABEL - 8, y + 12, fitted(each["name"], LABEL - 10, 11), anchor="end", size=11, colour=None)]
        for form in FORMS:
            share = min(float(each["shares"].get(form) or 0.0), 1.0)
            if share > 0:
                row.append(box(x, y, room * share, 16, style=f"form-{form}"))
                if room * share > 40:
                    row.append(words(x + 5, y + 12, percent(share), size=9.5, style=f"on-{form}"))
                x += room * share
        marks.append(group(f"{each['name']}: {', '.join(told)}", row))
    return page_picture(WIDTH, len(attributes) * 24 + 6, title, marks)
