"""The figures of ``keep_qid.py``, drawn from what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keep_qid_claims import EARLY, KINDS, METHODS, OURS, PAPER, ordered, possible
from keep_qid_queries import ESTIMATORS, OTHERS
from page_parts import Figures, looks, save

# The colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart; each of colour,
# style and marker tells a line apart without the others.
LOOKS = {
    "dummies": ("#0072b2", "-", "o"),
    "em-shrunk": ("#0072b2", "-", "o"),
    "em": ("#56b4e9", "--", "v"),
    "closed-form": ("#f0e442", ":", "D"),
    "bayes, eps 1": ("#000000", "-.", "x"),
    "bayes, converged": ("#999999", "-", "+"),
    "anatomy": ("#d55e00", "--", "s"),
    "mondrian": ("#009e73", ":", "^"),
    "mondrian, distinct": ("#cc79a7", "-.", "d"),
    "three-phase": ("#e69f00", "--", "P"),
}
SHOWN = (OURS, EARLY, PAPER, *OTHERS)
WORDS = {"g": "g", "l": "l", "s": "s", "d": "d, quasi-identifiers"}


def draw(kept: Figures, folder: Path) -> None:
    """Draw the figures as SVG; the same figures give the same files."""
    with looks():
        _draw_possible(kept["adult"], folder / "keep_qid_possible.svg")
        _draw_adult(kept["adult"], folder / "keep_qid_adult.svg")
        if "OCC" in kept["predicates"]:
            _draw_predicates(kept["predicates"], folder / "keep_qid_predicates.svg")
        if "census" in kept:
            _draw_census(kept["census"], folder / "keep_qid_census.svg")
        _draw_picture(kept["picture"], folder / "keep_qid_picture.svg")


def _finish(figure: Any, axes: Any, path: Path, columns: int) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)
    save(figure, path)


def _line(axes: Any, way: str, xs: list[Any], ys: list[float]) -> None:
    """Draw a line; markers are hollow, so that all can be seen."""
    colour, style, marker = LOOKS[way]
    axes.plot(xs, ys, color=colour, linestyle=style, marker=marker, label=way, markerfacecolor="none")


def _draw_possible(adult: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.5, 4.2), layout="constrained")
    for way, by_l in possible(adult).items():
        _line(axes, way, list(by_l), list(by_l.values()))
    axes.set_xlabel("l")
    axes.set_ylabel("columns of Adult that can be sensitive")
    axes.set_ylim(0, len(adult["sets"]) + 0.5)
    _finish(figure, axes, path, 3)


def _draw_adult(adult: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10.5, 4.4), layout="constrained")
    found = adult["headline"]
    for way in ESTIMATORS:
        colour, _, marker = LOOKS[way]
        heights = [one["mse"][way] / one["mse"][PAPER] for one in found.values()]
        axes.plot(range(len(found)), heights, marker, color=colour, label=way, markeredgecolor="#000000")
    labels = [f"{name}\nl = {one['l']}" for name, one in found.items()]
    axes.set_xticks(range(len(found)), labels=labels, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_ylabel("error, by that of the paper's, converged")
    axes.set_yscale("log")
    least = min(one["mse"][way] / one["mse"][PAPER] for one in found.values() for way in ESTIMATORS)
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2) if tick >= least / 2]
    axes.set_yticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    _finish(figure, axes, path, len(ESTIMATORS))


def _draw_predicates(predicates: Figures, path: Path) -> None:
    from matplotlib import pyplot

    names = [name for name in ("OCC", "SAL") if name in predicates]
    series: list[tuple[str, tuple[str, ...]]] = [(f"g, d = {d}", ("grid", d)) for d in predicates["OCC"]["grid"]]
    series += [(f"{key}, d = 5", (key,)) for key in ("l", "s")]
    figure, panels = pyplot.subplots(
        len(names), len(series), figsize=(12.5, 6.8), sharey="row", sharex="col", layout="constrained", squeeze=False
    )
    for line, name in zip(panels, names, strict=True):
        for axes, (words, keys) in zip(line, series, strict=True):
            by_setting = predicates[name]
            for key in keys:
                by_setting = by_setting[key]
            for way in SHOWN:
                found = ordered(by_setting).items()
                errors = {float(key): one["mse"][way] for key, one in found if way in one["mse"]}
                _line(axes, way, list(errors), list(errors.values()))
            axes.set_yscale("log")
            if not words.startswith("s"):
                axes.xaxis.get_major_locator().set_params(integer=True)
        line[0].set_ylabel(f"error, {name}", fontsize=9)
    for axes, (words, _) in zip(panels[-1], series, strict=True):
        axes.set_xlabel(words)
    _finish(figure, panels[0][0], path, 4)


def _draw_census(census: Figures, path: Path) -> None:
    from matplotlib import pyplot

    drawn = [what for what in WORDS if what in census]
    figure, panels = pyplot.subplots(
        2, len(drawn), figsize=(10.5, 6.8), sharey="row", sharex="col", layout="constrained", squeeze=False
    )
    for line, (kind, which) in zip(panels, KINDS.items(), strict=True):
        for axes, what in zip(line, drawn, strict=True):
            for way in SHOWN:
                errors = {float(key): one[kind][way] for key, one in ordered(census[what]).items() if way in one[kind]}
                _line(axes, way, list(errors), list(errors.values()))
            axes.set_yscale("log")
            if what != "s":
                axes.xaxis.get_major_locator().set_params(integer=True)
        line[0].set_ylabel(f"error, {which}", fontsize=9)
    for axes, what in zip(panels[1], drawn, strict=True):
        axes.set_xlabel(WORDS[what])
    _finish(figure, panels[0][0], path, 4)


def _draw_picture(found: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(found["sexes"]), figsize=(10.5, 4.2), sharey=True, layout="constrained")
    ways = [way for way in ("truth", *METHODS) if way in found["shares"]]
    width = 0.8 / len(ways)
    hatches = ("", "//", "..", "\\\\", "xx", "--")
    for axes, at in zip(panels, range(len(found["sexes"])), strict=True):
        for place, way in enumerate(ways):
            colour = "#000000" if way == "truth" else LOOKS[way][0]
            across = [number + (place - (len(ways) - 1) / 2) * width for number in range(len(found["relationships"]))]
            heights = [100 * share for share in found["shares"][way][at]]
            axes.bar(
                across, heights, width, color=colour, label=way, hatch=hatches[place], edgecolor="white", linewidth=0.3
            )
        axes.set_xticks(range(len(found["relationships"])), labels=found["relationships"], rotation=30, fontsize=9)
        axes.set_title(found["sexes"][at], fontsize=10)
    panels[0].set_ylabel("share, %")
    _finish(figure, panels[0], path, len(ways))
