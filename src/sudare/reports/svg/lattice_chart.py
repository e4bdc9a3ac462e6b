"""The chart of a lattice around its best node.

    coarser nodes     one step less detail, in rows of at most eight
         best         what it loses, leaves out and forms; beside it what colours and boxes mean
     finer nodes      one step more detail
       levels         of the best node, per column

Boxes of nodes that keep the policy are filled with the colour of their loss. The others are hollow with a dashed line
and say why; a band in them has the colour.
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
    Point,
    box,
    count,
    figure,
    group,
    picture,
    shade,
    shorten,
    thread,
    words,
)

WIDTH, MARGIN = 1000, 20
CENTRE = WIDTH / 2
IN_A_ROW = 8
GAP, ROW_GAP, FAN = 10, 36, 64
BOX_HEIGHT, WIDEST = 88, 150
BEST_WIDTH, BEST_HEIGHT = 300, 112
TITLE_HEIGHT, SIDE_TITLE = 76, 26
LEVELS_IN_A_ROW, LEVEL_HEIGHT, LEVEL_BAR = 4, 24, 64


@dataclass(frozen=True)
class _Scale:
    """Where a loss is between the least and the most that are shown."""

    least: float
    most: float

    def __call__(self, loss: float) -> float:
        if not math.isfinite(loss):
            return 1.0
        return (loss - self.least) / (self.most - self.least) if self.most > self.least else 0.0


@dataclass(frozen=True)
class _Neighbour:
    """A node one step from the best: the column that changes, its levels, and what the node comes to."""

    column: str
    before: int
    after: int
    loss: float
    suppressed: int
    classes: int
    keeps: bool
    reason: str

    @property
    def step(self) -> str:
        return f"{self.before} → {self.after}"

    @property
    def outcome(self) -> str:
        if not self.keeps:
            return self.reason
        return f"{count(self.suppressed)} suppressed" if self.suppressed else "none suppressed"

    def __str__(self) -> str:
        verdict = "keeps the policy" if self.keeps else "does not keep the policy"
        left_out, classes = _number(self.suppressed, "record"), _number(self.classes, "class")
        return f"{self.column} {self.step}: {verdict}, loss {figure(self.loss)}, {left_out} suppressed, {classes}"


@dataclass(frozen=True)
class _Side:
    """The finer or the coarser nodes in rows, the nearest row first; ``edge`` is where the best node ends there."""

    rows: Sequence[Sequence[_Neighbour]]
    edge: float
    up: bool
    width: float

    def top(self, row: int) -> float:
        """Return where the boxes of a row begin."""
        away = FAN + row * (BOX_HEIGHT + ROW_GAP)
        return self.edge - away - BOX_HEIGHT if self.up else self.edge + away

    def ends(self, row: int) -> tuple[float, float]:
        """Return the edge of a row that faces the best node, and the other one."""
        top = self.top(row)
        return (top + BOX_HEIGHT, top) if self.up else (top, top + BOX_HEIGHT)

    def lefts(self, row: int) -> list[float]:
        """Return where each box of a row begins."""
        pitch = self.width + GAP
        first = CENTRE - (len(self.rows[row]) * pitch - GAP) / 2
        return [first + index * pitch for index in range(len(self.rows[row]))]

    def way(self, row: int, left: float) -> list[Point]:
        """Return the path of the line from the best node to a box, through the gaps between rows."""
        goal = left + self.width / 2
        points = [(CENTRE + (goal - CENTRE) * 0.28, self.edge)]
        for nearer in range(row):
            gap = self._gap(nearer, goal)
            points += [(gap, end) for end in self.ends(nearer)]
        return [*points, (goal, self.ends(row)[0])]

    def _gap(self, row: int, goal: float) -> float:
        gaps = [left - GAP / 2 for left in self.lefts(row)]
        gaps.append(gaps[-1] + self.width + GAP)
        return min(gaps, key=lambda gap: (round(abs(gap - goal), 3), abs(gap - CENTRE)))


def lattice_picture(found: Mapping[str, Any]) -> str:
    """Return an SVG picture of the best node and the nodes around it; ``found`` is what an exploration's to_dict gives.

    It stands on its own: no scripts, no fonts or style sheets from elsewhere, and a background of its own.
    """
    search, best = found["search"], found["best"][0]
    near = _neighbours(found)
    losses = [loss for loss in (best["loss"], *(node.loss for node in near)) if math.isfinite(loss)]
    scale = _Scale(min(losses, default=0.0), max(losses, default=0.0))
    finer = [node for node in near if node.after < node.before]
    coarser = [node for node in near if node.after > node.before]

    above, below = _in_rows(coarser, up=True), _in_rows(finer, up=False)
    longest = max((len(row) for row in (*above, *below)), default=1)
    width = min(WIDEST, (WIDTH - 2 * MARGIN - GAP * (longest - 1)) / longest)
    top = TITLE_HEIGHT + _depth(above)
    upper = _Side(above, top, True, width)
    lower = _Side(below, top + BEST_HEIGHT, False, width)
    end = lower.edge + _depth(below)

    marks = [
        *_heading(search),
        *_side(upper, scale),
        *_side(lower, scale),
        _best_box(best, top, scale),
        *_loss_key(top, scale, search, best["loss"]),
        *_box_key(top),
        *_levels(search, end),
    ]
    height = end + 46 + LEVEL_HEIGHT * math.ceil(len(search["heights"]) / LEVELS_IN_A_ROW)
    return picture(WIDTH, height, _title(search), _description(search, best, finer, coarser), marks)


# -- what is shown -----------------------------------------------------------------------------------------------


def _neighbours(found: Mapping[str, Any]) -> list[_Neighbour]:
    levels = found["best"][0]["levels"]
    kept = [node["suppressed"] for node in (*found["best"], *(node for node in found["around"] if node["keeps"]))]
    return [_neighbour(node, levels, max(kept)) for node in found["around"]]


def _neighbour(node: Mapping[str, Any], levels: Mapping[str, int], fine: int) -> _Neighbour:
    column = next(name for name, level in levels.items() if node["levels"][name] != level)
    left_out = node["suppressed"]
    # so many may be left out, as others show: something else is wrong with the node
    reason = f"suppresses {count(left_out)}" if left_out > fine else "breaks a limit"
    figures = (float(node["loss"]), left_out, node["classes"], node["keeps"])
    return _Neighbour(column, levels[column], node["levels"][column], *figures, reason)


def _in_rows(nodes: Sequence[_Neighbour], *, up: bool) -> list[Sequence[_Neighbour]]:
    """Return rows of about equal length, the nearest first; they read from top to bottom in the order of columns."""
    number = math.ceil(len(nodes) / IN_A_ROW)
    sizes = [len(nodes) // number + (row < len(nodes) % number) for row in range(number)]
    rows, start = [], 0
    for size in reversed(sizes) if up else sizes:
        rows.append(nodes[start : start + size])
        start += size
    return rows[::-1] if up else rows


def _depth(rows: Sequence[Sequence[_Neighbour]]) -> float:
    """Return how much height a side needs."""
    return SIDE_TITLE + (FAN + len(rows) * (BOX_HEIGHT + ROW_GAP) - ROW_GAP if rows else 14)


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 'es' if what.endswith('s') else 's'}"


def _title(search: Mapping[str, Any]) -> str:
    nodes = _number(search["nodes"], "node")
    if search["optimal"]:
        return f"Best of {nodes}, proven ({search['checked']:,} counted)"
    if search["at_least"] <= 0:
        return f"Best found of {nodes}, not proven ({search['checked']:,} counted)"
    # rounded down, since the sentence must stay true; a little more, lest 0.29 become 0.2899
    floor = figure(search["at_least"], lambda units: math.floor(units + 1e-4))
    return f"Best found of {nodes}; no node loses less than {floor}"


def _description(
    search: Mapping[str, Any], best: Mapping[str, Any], finer: Sequence[_Neighbour], coarser: Sequence[_Neighbour]
) -> str:
    """Return the picture in words, for those who do not see it."""
    levels = ", ".join(f"{name} {best['levels'][name]} of {height}" for name, height in search["heights"].items())
    sides = [
        f"One step {what} detail: {'; '.join(map(str, nodes)) or 'no node'}."
        for what, nodes in (("more", finer), ("less", coarser))
    ]
    left_out, classes = _number(best["suppressed"], "record"), _number(best["classes"], "class")
    figures = f"loss {figure(best['loss'])} ({search['loss']}), {left_out} suppressed, {classes}"
    return f"Best node: {figures}. Its levels: {levels}. {' '.join(sides)}"


# -- how it is drawn ---------------------------------------------------------------------------------------------


def _heading(search: Mapping[str, Any]) -> Iterator[str]:
    yield words(MARGIN, 36, _title(search), size=20, bold=True)
    ties = search["ties"]
    others = f"; {ties:,} other {'node loses' if ties == 1 else 'nodes lose'} as little" if ties else ""
    about = "The best node, and the nodes one step away in one column"
    yield words(MARGIN, 58, f"{about}. Loss: {search['loss']}{others}.", size=13, colour=QUIET)


def _side(side: _Side, scale: _Scale) -> Iterator[str]:
    # lines first: boxes lie on them
    for row, nodes in enumerate(side.rows):
        for node, left in zip(nodes, side.lefts(row), strict=True):
            way = side.way(row, left)
            yield thread(way, stroke="#7b8794" if node.keeps else "#aab4be", dashed=not node.keeps)
    for row, nodes in enumerate(side.rows):
        for node, left in zip(nodes, side.lefts(row), strict=True):
            yield _node_box(node, left, side.top(row), side.width, scale)
    yield _side_title(side)


def _side_title(side: _Side) -> str:
    what = "less" if side.up else "more"
    if side.rows:
        content, edge = f"one step {what} detail", side.ends(len(side.rows) - 1)[1]
    else:
        content, edge = f"no node has {what} detail", side.edge
    return words(CENTRE, edge - 10 if side.up else edge + 20, content, size=13, colour=QUIET, anchor="middle")


def _node_box(node: _Neighbour, x: float, y: float, width: float, scale: _Scale) -> str:
    part = scale(node.loss)
    middle = x + width / 2
    lines = [
        words(middle, y + 26, shorten(node.column, width - 8, 12, bold=True), bold=True, anchor="middle"),
        words(middle, y + 42, node.step, anchor="middle"),
        words(middle, y + 61, f"loss {figure(node.loss)}", anchor="middle"),
        words(middle, y + 77, node.outcome, size=11, colour=INK if node.keeps else WARNING, anchor="middle"),
    ]
    return group(str(node), [*_frame(x, y, width, BOX_HEIGHT, part, node.keeps), *lines])


def _frame(x: float, y: float, width: float, height: float, part: float, keeps: bool) -> list[str]:
    """Return the box of a node without its text: filled, or hollow with a band."""
    if keeps:
        return [box(x, y, width, height, fill=shade(part), stroke=QUIET, radius=6)]
    return [
        box(x, y, width, height, fill="#ffffff", stroke=QUIET, thickness=1.3, radius=6, dashed=True),
        box(x + 6, y + 5, width - 12, 6, fill=shade(part), stroke=QUIET, thickness=0.5, radius=2),
    ]


def _best_box(best: Mapping[str, Any], y: float, scale: _Scale) -> str:
    left_out = f"{_number(best['suppressed'], 'record')} suppressed" if best["suppressed"] else "no record suppressed"
    lines = [
        words(CENTRE, y + 24, "best node", size=13, anchor="middle"),
        words(CENTRE, y + 53, f"loss {figure(best['loss'])}", size=25, anchor="middle", bold=True),
        words(CENTRE, y + 77, left_out, size=13, anchor="middle"),
        words(CENTRE, y + 96, _classes(best), size=13, anchor="middle"),
    ]
    fill, x = shade(scale(best["loss"])), CENTRE - BEST_WIDTH / 2
    frame = box(x, y, BEST_WIDTH, BEST_HEIGHT, fill=fill, stroke=INK, thickness=3, radius=10)
    return group("best node", [frame, *lines])


def _classes(best: Mapping[str, Any]) -> str:
    smallest, largest = best["class_sizes"]["smallest"], best["class_sizes"]["largest"]
    sizes = count(largest) if smallest == largest else f"{count(smallest)} to {count(largest)}"
    return f"{_number(best['classes'], 'class')} of {sizes} records"


def _loss_key(top: float, scale: _Scale, search: Mapping[str, Any], best: float) -> Iterator[str]:
    """Draw what colours mean, left of the best node."""
    x, y, width, steps = MARGIN, top + 44, 240, 48
    yield words(x, y - 12, f"loss ({search['loss']})", colour=QUIET)
    if scale.least == scale.most:
        yield box(x, y, 44, 14, fill=shade(0), stroke=QUIET)
        yield words(x, y + 30, figure(scale.least), colour=QUIET)
        return
    for step in range(steps):
        # a little wider than its place, lest the paper shine through between two
        wide = width / steps + (0.6 if step < steps - 1 else 0)
        yield box(x + step * width / steps, y, wide, 14, fill=shade(step / (steps - 1)))
    yield box(x, y, width, 14, fill="none", stroke=QUIET)
    yield words(x, y + 30, figure(scale.least), colour=QUIET)
    yield words(x + width, y + 30, figure(scale.most), colour=QUIET, anchor="end")
    mark = x + scale(best) * width
    yield box(mark - 1.5, y - 4, 3, 22, fill=INK)
    yield words(min(max(mark, x + 15), x + width - 15), y + 46, "best", bold=True, anchor="middle")


def _box_key(top: float) -> Iterator[str]:
    """Draw what boxes mean, right of the best node."""
    x = CENTRE + BEST_WIDTH / 2 + 60
    for y, keeps, meaning in ((top + 24, True, "keeps the policy"), (top + 62, False, "does not keep it, and why")):
        yield from _frame(x, y, 44, 26, 0.35, keeps)
        yield words(x + 56, y + 17, meaning, colour=QUIET)


def _levels(search: Mapping[str, Any], top: float) -> Iterator[str]:
    """Draw the level of each column under everything else."""
    yield box(MARGIN, top + 8, WIDTH - 2 * MARGIN, 1, fill=FAINT)
    yield words(MARGIN, top + 30, "Levels of the best node (0: unchanged)", colour=QUIET)
    place = (WIDTH - 2 * MARGIN) / LEVELS_IN_A_ROW
    for index, (name, height) in enumerate(search["heights"].items()):
        row, column = divmod(index, LEVELS_IN_A_ROW)
        yield _level(name, search["levels"][name], height, MARGIN + column * place, top + 52 + row * LEVEL_HEIGHT)


def _level(name: str, level: int, height: int, x: float, y: float) -> str:
    bar = x + 112
    marks = [
        words(x, y, shorten(name, 106, 12)),
        *_segments(level, height, bar, y - 9),
        words(bar + LEVEL_BAR + 6, y, f"{level} of {height}", size=11, colour=QUIET),
    ]
    return group(f"{name}: level {level} of {height}", marks)


def _segments(level: int, height: int, x: float, y: float) -> Iterator[str]:
    if height > 12:  # too many to be told apart
        yield box(x, y, LEVEL_BAR, 10, fill=FAINT)
        yield box(x, y, LEVEL_BAR * level / height, 10, fill="#486581")
        return
    width = (LEVEL_BAR - 2 * (height - 1)) / max(height, 1)
    for index in range(height):
        yield box(x + index * (width + 2), y, width, 10, fill="#486581" if index < level else FAINT)
