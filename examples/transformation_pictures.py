"""Draws the pictures of docs/transformations.md: what each transformation does to a few made-up values.

The values go through sudare; only keys and random draws are fixed, so that the pictures stay the same. ``python
examples/transformation_pictures.py FOLDER`` writes them, and without a folder it prints what they show.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import sudare
from sudare.reports.svg.marks import INK, QUIET, box, disc, line, picture, words

KEY = {"env": "SUDARE_PICTURE_KEY"}
COLOURS = ("#2563a8", "#c2571a", "#2f7d4f", "#7a4bb0")
WIDTH, HEIGHT = 640, 190
LEFT, RIGHT = 110, 600
TOP, BOTTOM = 66, 142

Cells = Sequence[Any]


def after(columns: dict[str, Cells], transform: Any, beside: dict[str, Any] | None = None, **more: Any) -> pa.Table:
    """Return a release in which the column ``x`` is transformed; ``n`` numbers the records."""
    rows = len(columns["x"])
    named = {"n": list(range(rows)), "q": ["all"] * rows, **columns}
    policy = {
        "columns": {
            "n": {"role": "insensitive"},
            "q": {"role": "quasi"},
            "x": {"role": "insensitive", **({"transform": transform} if transform else {})},
            **(beside or {}),
        },
        "require": [{"model": "k-anonymity", "k": 2}],
        **more,
    }
    release = sudare.anonymize(pa.table(named), policy, seed=4)
    return release.data.sort_by("n")


def threads(name: str, text: str, values: Cells, found: dict[int, float], ticks: Sequence[float], **more: Any) -> str:
    """Return a picture with a thread from each value to what it becomes; values that are gone have none."""
    low, high = min(ticks), max(ticks)

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    groups, marked = more.get("groups") or [0] * len(values), more.get("labels", {})
    marks = [words(20, TOP + 5, "data", size=14, bold=True), words(20, BOTTOM + 5, "release", size=14, bold=True)]
    marks += [line((LEFT - 10, y), (RIGHT + 10, y), stroke="#aab4be") for y in (TOP, BOTTOM)]
    for tick in ticks:
        marks.append(words(x(tick), BOTTOM + 32, marked.get(tick, f"{tick:g}"), size=12, colour=QUIET, anchor="middle"))
        marks.append(line((x(tick), BOTTOM + 10), (x(tick), BOTTOM + 16), stroke="#aab4be"))
    for number, value in enumerate(values):
        colour = COLOURS[groups[number]]
        there = number in found
        if there:
            marks.append(line((x(value), TOP), (x(found[number]), BOTTOM), stroke=colour, thickness=1.2))
            marks.append(disc(x(found[number]), BOTTOM, 4.5, fill=colour, stroke="#ffffff", thickness=0.8))
        marks.append(disc(x(value), TOP, 4.5, fill=colour if there else "#d5dbe1", stroke="#ffffff", thickness=0.8))
    marks.append(words(20, 32, text, size=15))
    said = ", ".join(f"{value:g} becomes {found[at]:g}" for at, value in enumerate(values) if at in found)
    return picture(WIDTH, HEIGHT, f"{name}: values before and after", f"{text} {said}.", marks)


def rows(name: str, text: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a picture of a small table; the column behind the arrow is that of the release."""
    height = 84 + 26 * len(lines)
    wide = [max(len(each) for each in column) for column in zip(heads, *lines, strict=True)]
    places, at = [], 30.0
    for number, width in enumerate(wide):
        if number == len(wide) - 1:
            at += 44
        places.append(at)
        at += 8.6 * width + 26
    marks = [words(20, 32, text, size=15), box(14, 44, WIDTH - 28, 26, fill="#eef1ee", radius=4)]
    marks += [words(x, 62, head, size=13, colour=QUIET, bold=True) for x, head in zip(places, heads, strict=True)]
    for number, cells in enumerate(lines):
        y = 90 + 26 * number
        for place, cell in zip(places, cells, strict=True):
            last = place == places[-1]
            marks.append(words(place, y, cell, size=13, colour=COLOURS[0] if last else INK))
        marks.append(words(places[-1] - 36, y, "→", size=15, colour=QUIET))
    said = "; ".join(" ".join((*cells[:-1], "becomes", cells[-1] or "empty")) for cells in lines)
    return picture(WIDTH, height, f"{name}: cells before and after", f"{text} {said}.", marks)


def of_numbers(values: Cells, transform: Any, beside: dict[str, Any] | None = None, **more: Any) -> dict[int, float]:
    """Return what numbers become, by the number of their record."""
    columns = {"x": values, **more.pop("columns", {})}
    found = after(columns, transform, beside, **more)
    return dict(zip(found.column("n").to_pylist(), map(float, found.column("x").to_pylist()), strict=True))


def of_texts(values: Cells, transform: Any, beside: dict[str, Any] | None = None, **columns: Cells) -> list[str]:
    """Return what cells become, as texts."""
    shown = after({"x": values, **columns}, transform, beside).column("x").to_pylist()
    return ["" if each is None else str(each) for each in shown]


def pictures() -> dict[str, str]:
    """Return all pictures by their names."""
    os.environ["SUDARE_PICTURE_KEY"] = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2
    ages = [3, 17, 24, 31, 38, 45, 52, 58, 63, 71, 79, 86, 91, 95, 99]
    incomes = [12.0, 18, 21, 24, 27, 31, 34, 38, 43, 47, 52, 58, 66, 75, 88]
    tens = list(range(0, 101, 20))
    groups = [0, 1] * 7 + [0]
    people = ["11", "11", "27", "27"]
    days = ["2024-03-05", "2024-03-12", "2024-03-05", "2024-06-30"]
    person = {"p": {"role": "identifier"}}
    found: dict[str, str] = {}

    def number(
        name: str, text: str, values: Cells, made: dict[int, float], ticks: Sequence[float], **more: Any
    ) -> None:
        found[name] = threads(name, text, values, made, ticks, **more)

    number("top", "Ages above 89 show 90.", ages, of_numbers(ages, {"top": {"at": 89, "shows": 90}}), tens)
    number("bottom", "Ages below 18 show 18.", ages, of_numbers(ages, {"bottom": 18}), tens)
    number("round", "Ages are rounded to tens.", ages, of_numbers(ages, {"round": 10}), list(range(0, 101, 10)))
    number("noise", "Each income moves by a random amount.", incomes, of_numbers(incomes, {"noise": 0.2}), tens)
    number("swap", "Incomes change places with near ones.", incomes, of_numbers(incomes, {"swap": 0.2}), tens)
    shuffled = of_numbers(incomes, {"shuffle": ["g"]}, {"g": {"role": "insensitive"}}, columns={"g": groups})
    text = "Incomes change places within each of two groups."
    number("shuffle", text, incomes, shuffled, tens, groups=groups)
    sampled = of_numbers(incomes, None, sample={"share": 0.5, "per": "record"})
    number("sample", "About half of the records are in the release.", incomes, sampled, tens)

    names = ["Anna Abel", "Bert Berg", "Anna Abel", "Carla Carl"]
    step: Any = {"pseudonym": {"key": KEY}}
    shown = of_texts(names, step)
    text = "Equal values have equal pseudonyms, under a secret key."
    found["pseudonym"] = rows("pseudonym", text, ["name", "pseudonym"], list(zip(names, shown, strict=True)))
    shown = of_texts(days, {"shift": {"days": 365, "per": "p", "key": KEY}}, person, p=people)
    lines = list(zip(people, days, shown, strict=True))
    found["shift"] = rows("shift", "All dates of a person move together.", ["patient", "visit", "shifted"], lines)
    shown = of_texts(days, {"truncate": "month"})
    text = "Of a date only the month is shown."
    found["truncate"] = rows("truncate", text, ["visit", "month"], list(zip(days, shown, strict=True)))
    values = ["17", "23", "41", "88"]
    shown = of_texts(values, {"band": {"edges": [18, 40, 65]}})
    found["band"] = rows(
        "band", "Of a number only its band is shown.", ["age", "band"], list(zip(values, shown, strict=True))
    )
    values = ["A-204-77", "B-118-03", "C-9"]
    shown = of_texts(values, {"mask": {"keep_first": 1}})
    found["mask"] = rows(
        "mask", "Only the first character is shown.", ["ward", "mask"], list(zip(values, shown, strict=True))
    )
    values = ["Berlin", "Potsdam", "Hamburg"]
    step = {"replace": {"values": {"Berlin": "East", "Potsdam": "East", "Hamburg": "North"}}}
    shown = of_texts(values, step)
    found["replace"] = rows(
        "replace", "Values are replaced by a list.", ["town", "region"], list(zip(values, shown, strict=True))
    )
    values = ["called twice", "see letter"]
    shown = of_texts(values, "redact")
    text = "The column stays, and its cells are empty."
    found["redact"] = rows("redact", text, ["remark", "(empty)"], list(zip(values, shown, strict=True)))
    return found


def main() -> None:
    """Write the pictures into the folder that is named; print what they show if there is none."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    for name, drawn in pictures().items():
        if folder is not None:
            folder.mkdir(exist_ok=True)
            (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
        print(f"{name}: {drawn.partition('<desc>')[2].partition('</desc>')[0]}")


if __name__ == "__main__":
    main()
