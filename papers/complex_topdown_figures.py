"""The figures of ``complex_topdown.py``, drawn from what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from complex_topdown_page import QUASI, SERIES, SETS, Run, ks_of, labels_of, percent, runs, size_of
from page_parts import Figures, looks, save


def draw(disclosed: Figures, times: Figures, folder: Path) -> None:
    """Draw the figures as SVG; the same figures give the same files."""
    with looks():
        _draw_disclosed(disclosed, folder / "disclosed.svg")
        _draw_loss(disclosed, folder / "loss.svg")
        found = [run for run in runs(times.get("end_to_end", {})) if run.worst]
        if len({run.rows for run in found}) > 1:
            _draw_times(found, folder / "times.svg")


def _lines(axes: Any, series: Figures, figure_of: Callable[[Figures], float]) -> None:
    """Draw one line per series; markers are hollow, so that lines on top of each other can be told apart."""
    for turn, one in enumerate(SERIES):
        if one.name not in series:
            continue
        colour, style, marker = one.look
        points = sorted((int(k), figure_of(figures)) for k, figures in series[one.name].items())
        axes.plot(
            *zip(*points, strict=True),
            color=colour, linestyle=style, marker=marker, label=one.name,
            markerfacecolor="none", markersize=8 - turn / 2, linewidth=1.6,
        )  # fmt: skip
    axes.set_xlabel("k (patients)")
    axes.set_xticks(ks_of(series))


def _draw_disclosed(figures: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(SETS), figsize=(9.5, 3.8), sharey=True, layout="constrained")
    for axes, name in zip(panels, SETS, strict=True):
        _lines(axes, figures["series"], partial(percent, name))
        axes.set_title(name)
        axes.set_ylim(0, 100)
    panels[0].set_ylabel("items disclosed, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)


def _draw_loss(figures: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.5, 4.2), layout="constrained")
    _lines(axes, figures["series"], lambda one: float(one["gcp"]))
    axes.set_ylabel("GCP")
    axes.set_ylim(bottom=0)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)


def _draw_times(found: Sequence[Run], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.5, 4.6), layout="constrained")
    of_quasi = {name: one.look for name, one in zip(QUASI, SERIES, strict=False)}
    for label in dict.fromkeys(labels_of(found)):
        mine = [run for run in found if run.label == label]
        colour, style, marker = of_quasi[mine[0].quasi]
        axes.plot(
            [run.rows for run in mine], [run.figures["seconds"] for run in mine],
            color=colour, linestyle=style, marker=marker, label=label.replace("`", ""),
            markerfacecolor=colour if mine[0].memory else "none", markersize=7, linewidth=1.6,
        )  # fmt: skip
    sizes = sorted({run.rows for run in found})
    lowest = min(run.figures["seconds"] for run in found if run.rows == sizes[0])
    in_proportion = [lowest * size / sizes[0] / 2 for size in sizes]
    axes.plot(sizes, in_proportion, color="#999999", linewidth=1, label="in proportion to the claims")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, labels=[size_of(size) for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("claims")
    axes.set_ylabel("seconds")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)
