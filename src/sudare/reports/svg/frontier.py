"""The chart of a comparison: privacy against utility, a point per configuration, a line per method over its sweep.

    utility | o---o more to the left is safer, higher up is more useful | o--/ a configuration on the frontier is
    filled: no other is both safer and more useful | / +------------- risk the mean risk of a record, on a logarithmic
    scale

Configurations that hide or draw values have no risk of classes. Empty marks show the probability that they promise not
to exceed, and they are not on the frontier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.reports.svg.marks import (
    FAINT,
    INK,
    QUIET,
    WARNING,
    box,
    disc,
    group,
    picture,
    polyline,
    shape,
    shorten,
    steps,
    words,
)

WIDTH, HEIGHT, MARGIN = 1000, 620, 20
LEFT, RIGHT, TOP, BOTTOM = 90, 270, 112, 76
# of about the same darkness, and told apart by their shapes as well
COLOURS = ("#0f766e", "#b45309", "#4338ca", "#be185d", "#4d7c0f", "#0369a1", "#7c3aed", "#9f1239")
SHAPES = ("circle", "square", "triangle", "diamond", "down")
RADIUS = 6.0
STEPS = (1.0, 2.0, 5.0)
MOST_LINES = 20
"""Lines of the legend, at most."""
FRONTIER = "#94a3b8"


@dataclass(frozen=True)
class _Mark:
    """A configuration in the chart; ``told`` are the values of the sweep beside it."""

    name: str
    line: str
    told: str
    risk: float
    utility: float
    frontier: bool
    bound: bool

    def __str__(self) -> str:
        limit = "at most " if self.bound else ""
        return f"{self.name}: risk {limit}{_percent(self.risk)}, utility {self.utility:.3f}"


def frontier_picture(found: Mapping[str, Any]) -> str:
    """Return an SVG picture of a comparison, as its ``to_dict`` gives it.

    It stands on its own: no scripts, no fonts or style sheets from elsewhere, and a background of its own. Utility is 1
    less the mean error of queries, or less the GCP if there are no queries.
    """
    marks = list(_marks(found))
    lines = list(dict.fromkeys(mark.line for mark in marks))
    left_out = len(found["ways"]) - len(marks)
    body = list(_heading(found, left_out))
    if marks:
        across, up = _Across(marks), _Up(marks)
        body += _axes(across, up, found)
        body += _frontier(marks, across, up)
        for number, line in enumerate(lines):
            own = sorted((mark for mark in marks if mark.line == line), key=lambda mark: (mark.risk, mark.utility))
            body += _line(own, number, across, up)
        body += _legend(lines, marks)
    else:
        body.append(words(LEFT, TOP + 40, "No configuration has both a risk and a utility.", colour=WARNING))
    told = ". ".join(map(str, marks))
    return picture(WIDTH, HEIGHT, _TITLE, told, body)


_TITLE = "Privacy against utility"


# -- what is shown -----------------------------------------------------------------------------------------------


def _marks(found: Mapping[str, Any]) -> Iterator[_Mark]:
    for way in found["ways"]:
        lost = way["query_error"] if found["queries"] else way["gcp"]
        risk = way["guarantee"] if way["risk"] is None else way["risk"]["mean"]
        if way["problem"] is not None or lost is None or not risk:
            continue
        numbers = {key: value for key, value in way["swept"].items() if _is_number(value)}
        line = [way["method"], *(f"{key}={_word(value)}" for key, value in way["swept"].items() if key not in numbers)]
        told = ", ".join(f"{key}={value:g}" for key, value in numbers.items())
        bound = way["risk"] is None
        yield _Mark(way["name"], ", ".join(line), told, risk, 1 - lost, way["frontier"] and not bound, bound)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


class _Across:
    """Where a risk stands, by its logarithm; there is room for a whole step on both sides."""

    def __init__(self, marks: Sequence[_Mark]) -> None:
        risks = [math.log10(mark.risk) for mark in marks]
        room = max((max(risks) - min(risks)) * 0.08, 0.1)
        self.low, self.high = min(risks) - room, max(risks) + room

    def __call__(self, risk: float) -> float:
        part = (math.log10(risk) - self.low) / (self.high - self.low)
        return LEFT + (WIDTH - LEFT - RIGHT) * part

    def ticks(self) -> Iterator[float]:
        """Yield the risks that are written below the axis: 1, 2 and 5 of each power, or powers alone if many."""
        steps = STEPS if self.high - self.low < 3 else STEPS[:1]
        for power in range(math.floor(self.low), math.ceil(self.high) + 1):
            for step in steps:
                if self.low <= math.log10(step) + power <= self.high:
                    yield step * 10.0**power


class _Up:
    """Where a utility stands."""

    def __init__(self, marks: Sequence[_Mark]) -> None:
        values = [mark.utility for mark in marks]
        room = max((max(values) - min(values)) * 0.08, 0.01)
        self.low, self.high = min(values) - room, min(max(values) + room, 1.0 + room / 2)

    def __call__(self, utility: float) -> float:
        part = (utility - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    def ticks(self) -> Iterator[float]:
        """Yield the utilities that are written beside the axis."""
        step = 10.0 ** math.floor(math.log10(self.high - self.low))
        step *= next(part for part in (1, 0.5, 0.2, 0.1) if (self.high - self.low) / (step * part) >= 4)
        for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            yield number * step


# -- how it is drawn ---------------------------------------------------------------------------------------------


def _heading(found: Mapping[str, Any], left_out: int) -> Iterator[str]:
    yield words(MARGIN, 34, _TITLE, size=20, bold=True)
    by = f"1 - mean relative error of {found['queries']} count queries" if found["queries"] else "1 - GCP"
    about = (
        f"{found['records']:,} records. Utility is {by}. Filled: no other configuration is both safer and more useful."
    )
    yield words(MARGIN, 58, about, size=13, colour=QUIET)
    said = [f"{left_out} configurations are not in the chart."] if left_out else []
    said += [found["stopped"]] if found["stopped"] else []
    if said:
        yield words(MARGIN, 78, " ".join(said), colour=WARNING)


def _axes(across: _Across, up: _Up, found: Mapping[str, Any]) -> Iterator[str]:
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    yield box(LEFT, TOP, wide, high, fill="#ffffff", stroke=FAINT)
    for risk in across.ticks():
        x = across(risk)
        yield box(x - 0.3, TOP, 0.6, high, fill=FAINT)
        yield words(x, TOP + high + 18, _percent(risk), size=11, colour=QUIET, anchor="middle")
    for utility in up.ticks():
        y = up(utility)
        yield box(LEFT, y - 0.3, wide, 0.6, fill=FAINT)
        yield words(LEFT - 8, y + 4, f"{utility:.4g}", size=11, colour=QUIET, anchor="end")
    people = any(way["risk"] is not None and way["risk"]["unit"] == "people" for way in found["ways"])
    unit = "person" if people else "record"
    yield words(LEFT + wide / 2, TOP + high + 44, f"mean risk of a {unit} (log scale)", colour=QUIET, anchor="middle")
    yield words(LEFT, TOP + high + 44, "← safer", colour=QUIET)
    yield words(LEFT, TOP - 8, "utility ↑", colour=QUIET)


def _frontier(marks: Sequence[_Mark], across: _Across, up: _Up) -> Iterator[str]:
    best = sorted((mark for mark in marks if mark.frontier), key=lambda mark: (mark.risk, mark.utility))
    if len(best) > 1:
        # in steps: between two ways nothing is known to be there
        places = [(across(mark.risk), up(mark.utility)) for mark in best]
        yield steps(places, stroke=FRONTIER, thickness=7, opacity=0.35)


def _line(own: Sequence[_Mark], number: int, across: _Across, up: _Up) -> Iterator[str]:
    colour = COLOURS[number % len(COLOURS)]
    if len(own) > 1:
        places = [(across(mark.risk), up(mark.utility)) for mark in own]
        yield polyline(places, stroke=colour, thickness=1.6, dashed=own[0].bound)
    for mark in own:
        x, y = across(mark.risk), up(mark.utility)
        drawn = [_shape(number, x, y, colour, filled=mark.frontier)]
        if mark.told:
            drawn.append(words(x + 9, y + 13, mark.told, size=10, colour=INK))
        yield group(str(mark), drawn)


def _shape(number: int, x: float, y: float, colour: str, *, filled: bool) -> str:
    fill = colour if filled else "#ffffff"
    form, r = SHAPES[number % len(SHAPES)], RADIUS
    if form == "circle":
        return disc(x, y, r, fill=fill, stroke=colour, thickness=1.8)
    if form == "square":
        return box(x - r, y - r, 2 * r, 2 * r, fill=fill, stroke=colour, thickness=1.8)
    corners = {
        "triangle": ((0, -r), (r, r), (-r, r)),
        "diamond": ((0, -1.3 * r), (1.3 * r, 0), (0, 1.3 * r), (-1.3 * r, 0)),
        "down": ((0, r), (r, -r), (-r, -r)),
    }[form]
    places = [(x + right, y + down) for right, down in corners]
    return shape(places, fill=fill, stroke=colour, thickness=1.8)


def _legend(lines: Sequence[str], marks: Sequence[_Mark]) -> Iterator[str]:
    left, top = WIDTH - RIGHT + 24, TOP + 10
    bounded = {mark.line for mark in marks if mark.bound}
    for number, line in enumerate(lines[:MOST_LINES]):
        y = top + 22 * number
        yield _shape(number, left, y, COLOURS[number % len(COLOURS)], filled=True)
        name = line + (" (promised)" if line in bounded else "")
        yield words(left + 16, y + 4, shorten(name, RIGHT - 60, 12))
    if len(lines) > MOST_LINES:
        yield words(left, top + 22 * MOST_LINES + 4, f"and {len(lines) - MOST_LINES} more", colour=QUIET)
    elif bounded:
        y = top + 22 * len(lines) + 12
        for part, text in enumerate(("promised: at most this probability,", "and not always of being recognised")):
            yield words(left, y + 15 * part, text, size=11, colour=QUIET)
