"""The chart of estimated counts: a panel for each cell, in it a bar for each value.

    sex F, age [20, 29]       sex F, age [30, 39]       cells in the order of the answer, at most three in a row
    812 records               25 records, few
    asthma    ====|---        asthma    ==|-----        a bar is the share of the cell's records; the line across its
    flu       ==|--           flu       =|----          end reaches over the interval or bounds
              0  20%  40%               0  20%  40%     all panels have one scale

An unknown interval is a faint band over the whole width. If there are too many values, the chart shows those with the
largest shares, and says how many are missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.reports.svg.marks import FAINT, INK, PAPER, QUIET, WARNING, box, group, picture, shade, shorten, words

WIDTH, MARGIN, GAP = 1000, 20, 24
IN_A_ROW, MOST_PANELS, MOST_VALUES = 3, 12, 20
TITLE_HEIGHT, HEAD, FOOT, ROW, BAR = 78, 40, 26, 20, 11
LABELS = 0.42
"""What the names of values take of a panel's width."""
NUMBER = 46
"""What the shares in figures take of it."""
BARS = shade(0.75)
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
"""Between the marks of a scale."""


@dataclass(frozen=True)
class _Bar:
    """A value in a cell: its share, and that of its limits; None is unknown."""

    value: Any
    share: float | None
    low: float | None
    high: float | None
    few: bool = False

    @property
    def reach(self) -> float:
        """The largest share that has to be on the scale."""
        known = [each for each in (self.share, self.high) if each is not None]
        return max(known, default=0.0) if self.known else self.share or 0.0

    @property
    def known(self) -> bool:
        return self.low is not None and self.high is not None

    def __str__(self) -> str:
        limits = f", {_percent(self.low)} to {_percent(self.high)}" if self.known else ", unknown"
        return f"{_word(self.value)}: {_percent(self.share)}{limits}"


@dataclass(frozen=True)
class _Panel:
    """A cell: what it is called, how many records it has, if these are few, and its bars."""

    title: str
    records: float | None
    few: bool
    bars: Sequence[_Bar]

    @property
    def about(self) -> str:
        number = "?" if self.records is None else f"{self.records:,.0f}"
        return f"{number} {'record' if number == '1' else 'records'}{', few' if self.few else ''}"


@dataclass(frozen=True)
class _Place:
    """Where a panel stands, and how long the shares on it are."""

    left: float
    top: float
    width: float
    height: float
    most: float

    @property
    def begin(self) -> float:
        """Where shares begin."""
        return self.left + self.width * LABELS

    def at(self, share: float) -> float:
        """Return where a share is; one that is off the scale is at its end."""
        room = self.left + self.width - NUMBER - self.begin
        return self.begin + room * min(max(share / self.most, 0.0), 1.0)


def estimate_picture(found: Mapping[str, Any]) -> str:
    """Return an SVG picture of an answer, as its ``to_dict`` gives it.

    It stands on its own: no scripts, no fonts or style sheets from elsewhere, and a background of its own.
    """
    every = _panels(found)
    values = _values(every)
    panels = [
        _Panel(each.title, each.records, each.few, [bar for bar in each.bars if _word(bar.value) in values])
        for each in every[:MOST_PANELS]
    ]
    most, step = _scale(max((bar.reach for each in panels for bar in each.bars), default=0.0))
    columns = min(IN_A_ROW, max(len(panels), 1))
    width = (WIDTH - 2 * MARGIN - GAP * (columns - 1)) / columns
    rows = max((len(each.bars) for each in panels), default=0)
    height = HEAD + rows * ROW + FOOT
    left_out = _left_out(
        len(every) - len(panels), len({_word(bar.value) for each in every for bar in each.bars}), values
    )
    top = TITLE_HEIGHT + 16 * len(left_out)
    marks = list(_heading(found, left_out))
    for number, panel in enumerate(panels):
        left = MARGIN + number % columns * (width + GAP)
        place = _Place(left, top + number // columns * (height + GAP), width, height, most)
        marks += _panel(panel, place, step)
    end = top + math.ceil(len(panels) / columns) * (height + GAP)
    notes = _wrapped(found["notes"])
    marks += [words(MARGIN, end + 4 + 18 * number, line, colour=QUIET) for number, line in enumerate(notes)]
    title = f"Estimated shares of {_title(found)}"
    return picture(WIDTH, end + 18 * len(notes) + 6, title, _description(panels), marks)


# -- what is shown -----------------------------------------------------------------------------------------------


def _panels(found: Mapping[str, Any]) -> list[_Panel]:
    few = {repr(cell) for cell in found["few"]}
    bars: dict[str, list[_Bar]] = {}
    about: dict[str, tuple[Mapping[str, Any], float | None]] = {}
    for row in found["rows"]:
        key = repr(row["cell"])
        about[key] = (row["cell"], row["records"])
        bars.setdefault(key, []).append(_bar(row, found["limits"] == "bounds"))
    return [_Panel(_title_of(cell), records, key in few, bars[key]) for key, (cell, records) in about.items()]


def _bar(row: Mapping[str, Any], bounds: bool) -> _Bar:
    records = row["records"]

    def part(count: float | None) -> float | None:
        return None if count is None or not records else count / records

    # bounds are certain, whatever the error is
    unknown = row["se"] is None and not bounds
    low, high = (None, None) if unknown else (part(row["low"]), part(row["high"]))
    return _Bar(row["value"], row["share"], low, high, bool(row.get("few")))


def _title_of(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_word(value)}" for name, value in cell.items()) or "all records"


def _values(panels: Sequence[_Panel]) -> set[str]:
    """Return the values that are shown: those with the largest shares anywhere, if there are too many."""
    largest: dict[str, float] = {}
    for panel in panels[:MOST_PANELS]:
        for bar in panel.bars:
            name = _word(bar.value)
            largest[name] = max(largest.get(name, 0.0), bar.share or 0.0)
    ordered = sorted(largest, key=lambda name: -largest[name])  # of equal ones the first stay first
    return set(ordered[:MOST_VALUES])


def _left_out(panels: int, values: int, shown: set[str]) -> list[str]:
    said = []
    if panels:
        said.append(f"{panels:,} more {'cell is' if panels == 1 else 'cells are'} not shown.")
    if values > len(shown):
        said.append(f"{values - len(shown):,} of {values:,} values, with the smallest shares, are not shown.")
    return said


def _scale(most: float) -> tuple[float, float]:
    """Return where the scale of shares ends, and the step between its marks; there are two to five of them."""
    most = min(most, 1.0) if most > 0 else 1.0
    step = next((step for step in STEPS if most / step <= 4 + 1e-9), STEPS[-1])
    return math.ceil(most / step - 1e-9) * step, step


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "(missing)" if value is None else str(value)


def _percent(share: float | None, digits: int = 1) -> str:
    return "?" if share is None else f"{100 * share:.{digits}f}%"


def _title(found: Mapping[str, Any]) -> str:
    return f"{found['of']} by {', '.join(found['by'])}" if found["by"] else str(found["of"])


# -- how it is drawn ---------------------------------------------------------------------------------------------


def _description(panels: Sequence[_Panel]) -> str:
    return " ".join(f"{panel.title} ({panel.about}): {'; '.join(map(str, panel.bars))}." for panel in panels)


def _heading(found: Mapping[str, Any], left_out: Sequence[str]) -> Iterator[str]:
    yield words(MARGIN, 36, shorten(_title(found), WIDTH - 2 * MARGIN, 20, bold=True), size=20, bold=True)
    about = f"Shares of the records of a cell, estimated by {found['estimator']}; lines"
    limited = ", subject to the note" if found["notes"] else ""
    if found["limits"] == "bounds":
        hold = "are bounds: the true count is always between them"
    else:
        hold = f"contain the true count in {100 * found['level']:g}% of cases{limited}"
    yield words(MARGIN, 58, f"{about} {hold}.", size=13, colour=QUIET)
    for number, line in enumerate(left_out):
        yield words(MARGIN, 76 + 16 * number, line, size=12, colour=WARNING)


def _panel(panel: _Panel, place: _Place, step: float) -> Iterator[str]:
    foot = place.top + HEAD + len(panel.bars) * ROW
    yield group(
        f"{panel.title}: {panel.about}",
        [
            words(place.left, place.top + 14, shorten(panel.title, place.width, 13, bold=True), size=13, bold=True),
            words(place.left, place.top + 30, panel.about, size=11, colour=WARNING if panel.few else QUIET),
        ],
    )
    for number in range(round(place.most / step) + 1):
        x = place.at(number * step)
        yield box(x - 0.5, place.top + HEAD, 1, foot - place.top - HEAD + 4, fill=FAINT)
        yield words(x, foot + 16, _mark(number * step), size=10, colour=QUIET, anchor="middle")
    for number, bar in enumerate(panel.bars):
        yield group(f"{panel.title}, {bar}", _row(bar, place, place.top + HEAD + number * ROW, panel.few or bar.few))


def _mark(share: float) -> str:
    return f"{round(100 * share, 6):g}%"


def _row(bar: _Bar, place: _Place, top: float, few: bool) -> Iterator[str]:
    middle = top + ROW / 2
    room = place.width * LABELS - 8
    name = shorten(_word(bar.value), room, 12)
    yield words(place.begin - 8, middle + 4, name, anchor="end", colour=QUIET if bar.value is None else INK)
    begin, end = place.begin, place.at(place.most)
    if not bar.known:
        yield box(begin, middle - BAR / 2, end - begin, BAR, fill=FAINT)
    if bar.share is not None:
        fill, stroke = (PAPER, BARS) if few or not bar.known else (BARS, None)
        yield box(begin, middle - BAR / 2, place.at(bar.share) - begin, BAR, fill=fill, stroke=stroke, dashed=few)
    if bar.low is not None and bar.high is not None:
        low, high = place.at(bar.low), place.at(bar.high)
        yield box(low, middle - 0.75, high - low, 1.5, fill=INK)
        for limit, share in ((low, bar.low), (high, bar.high)):
            if share <= place.most:  # a line that goes on has no end
                yield box(limit - 0.75, middle - 3.5, 1.5, 7, fill=INK)
    yield words(place.left + place.width, middle + 4, _percent(bar.share), size=11, colour=QUIET, anchor="end")


def _wrapped(notes: Sequence[str]) -> list[str]:
    """Return notes as lines that fit on the page."""
    lines = []
    for note in notes:
        line = ""
        for word in f"Note: {note}".split():
            longer = f"{line} {word}".strip()
            if line and shorten(longer, WIDTH - 2 * MARGIN, 12) != longer:
                lines.append(line)
                longer = word
            line = longer
        lines.append(shorten(line, WIDTH - 2 * MARGIN, 12))
    return lines
