"""The chart of a calibration: each figure against the retention probability p, with its limit and the best p.

    k         how many records anybody's could be, on a logarithmic scale
    alpha     how much is believed of the truth at most, for each limited column
    gamma     how much is believed of any value at least

Where a figure keeps its limit the panel is shaded. The upright line is the p that keeps all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sudare.reports.svg.marks import (
    FAINT,
    INK,
    QUIET,
    WARNING,
    box,
    figure,
    group,
    line,
    picture,
    polyline,
    shorten,
    words,
)

WIDTH, MARGIN = 1000, 20
LEFT, RIGHT = 96, 210
TOP, PANEL, GAP = 84, 190, 46
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
KEPT, CURVE = "#e3f1ec", "#0f766e"
WORDS = {"pk": "pk-anonymity", "alpha": "alpha", "gamma": "gamma"}


class _Axis:
    """Where a figure stands in a panel, by its size or by its logarithm."""

    def __init__(self, figures: Sequence[float], limit: float, top: float, *, logarithmic: bool) -> None:
        self.top, self.logarithmic = top, logarithmic
        shown = [self._scaled(value) for value in (*figures, limit)]
        low, high = min(shown), max(shown)
        room = (high - low) * 0.06 or 0.5
        self.low, self.high = low - room, high + room

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, 1.0)) if self.logarithmic else value

    def __call__(self, value: float) -> float:
        part = (self._scaled(value) - self.low) / (self.high - self.low)
        return self.top + PANEL * (1 - min(max(part, 0.0), 1.0))

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield the values that are written beside the axis."""
        if self.logarithmic:
            for power in range(math.floor(self.low) + 1, math.floor(self.high) + 1):
                if power >= 0:
                    yield 10.0**power, f"{10**power:,}"
            return
        step = 10.0 ** math.floor(math.log10(self.high - self.low))
        step *= next(part for part in (1, 0.5, 0.2, 0.1) if (self.high - self.low) / (step * part) >= 3)
        for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            value = number * step
            if 0 <= value <= 1:
                yield value, f"{value:.6g}"


def calibration_picture(found: Mapping[str, Any]) -> str:
    """Return an SVG picture of what a calibration's ``to_dict(curves=True)`` gives.

    It stands on its own: no scripts, no fonts or style sheets from elsewhere, and a background of its own.
    """
    curves = found["curves"]
    marks = list(_heading(found))
    for number, curve in enumerate(curves):
        marks.append(_panel(curve, found, TOP + number * (PANEL + GAP)))
    end = TOP + len(curves) * (PANEL + GAP)
    marks += [
        words(
            (LEFT + WIDTH - RIGHT) / 2,
            end - 4,
            "p: the probability that a value is kept",
            colour=QUIET,
            anchor="middle",
        )
    ]
    height = end + MARGIN
    return picture(WIDTH, height, _title(found), _description(found), marks)


def _title(found: Mapping[str, Any]) -> str:
    return f"Each value may be kept with probability p = {_shown(found['p'])}"


def _description(found: Mapping[str, Any]) -> str:
    """Return the picture in words, for those who do not see it."""
    limits = [
        f"{_name(curve)} has to be {'at most' if curve['condition'] == 'alpha' else 'at least'} {curve['limit']:g}; it "
        f"goes from {figure(curve['figure'][0])} where nothing is kept to {figure(curve['figure'][-1])} where all is."
        for curve in found["curves"]
    ]
    return " ".join([*limits, *(f"By {bound}." for bound in _bounds(found))])


def _bounds(found: Mapping[str, Any]) -> list[str]:
    return [f"{WORDS[name]} up to {_shown(bound)}" for name, bound in found["bounds"].items() if bound is not None]


def _name(curve: Mapping[str, Any]) -> str:
    name = WORDS[curve["condition"]]
    return name if curve["column"] is None else f"{name} of {curve['column']}"


def _shown(p: float) -> str:
    """Return a probability with four digits, never more than it is."""
    return f"{math.floor(p * 1e4 + 1e-9) / 1e4:.4f}"


def _heading(found: Mapping[str, Any]) -> Iterator[str]:
    yield words(MARGIN, 34, _title(found), size=18, bold=True)
    records = "" if found["records"] is None else f"{found['records']:,} records; "
    yield words(MARGIN, 58, f"{records}by {', '.join(_bounds(found))}", size=13, colour=QUIET)


def _panel(curve: Mapping[str, Any], found: Mapping[str, Any], top: float) -> str:
    wide = WIDTH - LEFT - RIGHT
    axis = _Axis(curve["figure"], curve["limit"], top, logarithmic=curve["condition"] == "pk")
    limit, upper = axis(curve["limit"]), curve["condition"] == "alpha"
    marks = [box(LEFT, top, wide, PANEL, fill="#ffffff", stroke=FAINT)]
    kept = (limit, top + PANEL - limit) if upper else (top, limit - top)
    marks.append(box(LEFT, kept[0], wide, max(kept[1], 0), fill=KEPT))
    for value, text in axis.ticks():
        y = axis(value)
        marks += [
            box(LEFT, y, wide, 0.6, fill=FAINT),
            words(LEFT - 8, y + 4, text, size=11, colour=QUIET, anchor="end"),
        ]
    for value in TICKS:
        x = LEFT + wide * value
        marks += [words(x, top + PANEL + 16, f"{value:g}", size=11, colour=QUIET, anchor="middle")]
    places = [(LEFT + wide * p, axis(value)) for p, value in zip(curve["p"], curve["figure"], strict=True)]
    marks.append(polyline(places, stroke=CURVE, thickness=2))
    marks.append(line((LEFT, limit), (LEFT + wide, limit), stroke=WARNING, dashed=True))
    sign = "≤" if upper else "≥"
    side = LEFT + wide + 12
    marks += [
        words(side, top + 18, WORDS[curve["condition"]], size=13, bold=True),
        words(side, max(limit + 4, top + 54), f"{sign} {curve['limit']:g}", colour=WARNING),
    ]
    if curve["column"] is not None:
        marks.append(words(side, top + 34, shorten(curve["column"], RIGHT - 24, 12), colour=QUIET))
    p = found["retention"].get(curve["column"], found["p"])  # which may differ by column
    at, late = LEFT + wide * p, p > 0.85  # lest the words run out of the panel
    marks.append(line((at, top), (at, top + PANEL), stroke=INK))
    place, anchor = (at - 6, "end") if late else (at + 6, "start")
    marks.append(words(place, top + 14, f"p = {_shown(p)}", size=11, anchor=anchor))
    return group(f"{_name(curve)} {sign} {curve['limit']:g}", marks)
