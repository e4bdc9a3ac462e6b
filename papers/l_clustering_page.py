"""The page of ``l_clustering.py`` and its figures: what is said about what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from page_parts import Figures, looks, save, table, wrapped

QUASI = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass", "income")
"""In the order of the paper."""
SENSITIVE = "occupation"
WAYS = ("fast", "reference", "l-incognito")

# The colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart; each of colour,
# style and marker tells a line apart without the others.
LOOKS = {"fast": ("#0072b2", "-", "o"), "reference": ("#d55e00", "--", "s"), "l-incognito": ("#009e73", ":", "^")}


# What the figures say


def above(losses: Figures, more: str, less: str) -> tuple[int, int]:
    """Count the settings in which one way loses more than another, and all settings, over both measures."""
    each = [one for by_l in losses.values() for by_width in by_l.values() for one in by_width.values()]
    return sum(one[more] > one[less] for one in each), len(each)


def shares_of_mean(spread: Figures) -> dict[str, float]:
    """Return for each l the loss of the fast variant by the mean of the published steps."""
    return {need: float(one["fast"] / np.mean(one["reference"])) for need, one in spread.items()}


# The page


def page(kept: Figures) -> str:
    """Return the page, from the figures alone."""
    parts = [
        "# Experiment: l-clustering",
        wrapped(
            "*A clustering-based approach for data anonymization* (Journal of Software, in Chinese) keeps l-diversity "
            "by clustering records that are near each other. This page repeats its experiments with the method "
            "[l-clustering](../policy.md#method). It is written by `papers/l_clustering.py` from a file of figures."
        ),
        *_paper_part(),
        *_overview_part(kept),
        *_measured_part(kept),
        *_patients_part(kept["patients"]),
        *_losses_part(kept),
        *_relative_part(kept),
        *_levels_part(kept),
        *_spread_part(kept["spread"]),
        *_models_part(kept["models"]),
        *_times_part(kept["times"]),
        "## Run it again",
        "    pip install --group bench\n"
        "    python papers/l_clustering.py\n"
        "    python papers/l_clustering.py --resume\n"
        "    python papers/l_clustering.py --times\n"
        "    python papers/l_clustering.py --page",
        wrapped(
            "The first measures everything. `--resume` goes on where a run ended. `--times` measures the times alone, "
            "and keeps the rest. `--page` writes this page and its figures from what was kept."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _paper_part() -> list[str]:
    return [
        "## What the paper says",
        wrapped(
            "A fixed hierarchy generalizes more than necessary: for a class it can show only one of its nodes. "
            "Instead, a class shows the smallest interval of numbers and the smallest set of categories that covers "
            "its records. The loss of a record is the growth of its cells. The distance between two records or "
            "clusters is the loss that joining them would cause. While the records left have l different sensitive "
            "values, one of them is drawn and becomes a cluster. It takes in the nearest record with a value that it "
            "lacks, again and again, or is joined with a finished cluster if that is nearer. What is left over goes "
            "to the nearest cluster."
        ),
        wrapped(
            "On Adult this loses less than *L-incognito*, the same l-diversity by the full-domain search of Incognito, "
            "in every setting: up to 8,000 times less, at l = 2 with two quasi-identifiers. The paper also measures "
            "the loss relative to showing nothing, for all l; how much the random choices matter; and the time."
        ),
    ]


def _overview_part(kept: Figures) -> list[str]:
    """Return the table of the paper's figures and tables, with what became of each."""
    classes, losses = kept["patients"]["classes"], kept["losses"]
    more, settings = above(losses, "l-incognito", "fast")
    also, _ = above(losses, "l-incognito", "reference")
    (_, _), farthest = farthest_apart(losses["L"])
    rising = sum(grows(by_l, way) for by_l in kept["relative"].values() for way in ("fast", "reference"))
    spread = {
        measure: max(float(np.std(one["reference"], ddof=1) / np.mean(one["reference"])) for one in by_l.values())
        for measure, by_l in kept["spread"].items()
    }
    lines = [
        [
            "ten patients, 3-diverse",
            _patients_in_short(kept["patients"]),
        ],
        [
            "ten patients, 3-anonymous only",
            f"reproduced: one of its groups has {classes['the paper, 3-anonymous']['illnesses']} illness",
        ],
        [
            "ten patients with a fixed hierarchy",
            f"reproduced: one class of all, with an L of {classes['full-domain']['L']:,.0f}",
        ],
        [
            "L by the number of quasi-identifiers (2 to 8), at l = 2, 7 and 12",
            f"reproduced: L-incognito loses more than fast in {more} of {settings} settings, and more than the steps "
            f"of the paper in {also}; up to {farthest:,.0f} times, beside 8,000 times in the paper, whose hierarchies "
            "are others. [Loss](#loss-by-quasi-identifiers)",
        ],
        [
            "RL by l, with 2, 5 and 8 quasi-identifiers",
            f"reproduced: it grows with l in {rising} of {2 * len(kept['relative'])} curves of l-clustering. The "
            "values of the paper's curves cannot be read from our copy. [Relative loss](#relative-loss-by-l)",
        ],
        [
            "L-incognito with few and with many quasi-identifiers",
            "reproduced: its loss rises in steps, where it has to take a higher level for everybody. "
            "[Levels](#the-levels-of-l-incognito)",
        ],
        [
            "the spread by random choices",
            f"reproduced: the standard deviation of L is at most {100 * spread['L']:.1f}% of the mean, that of GCP "
            f"{100 * spread['GCP']:.1f}%. "
            "[Chance](#the-part-of-chance)",
        ],
        [
            "time by quasi-identifiers",
            f"reproduced; {_grows_in(kept['times']['columns'])}. [Time](#time)",
        ],
        [
            "time by l",
            "not possible to compare: the paper's curves cannot be read from our copy. Here "
            f"{_grows_in(kept['times']['l'])}. [Time](#time)",
        ],
        [
            "time by records",
            f"differs: with {_times_grow(kept['times']['records'])}, where the paper's time grows with the square of "
            "the records. A tree finds the nearest record here, and the paper compares all of them. [Time](#time)",
        ],
        [
            "the hierarchies of L-incognito",
            "not possible: they are not published. Ours are those that come with sudare",
        ],
    ]
    return ["## The paper and this page", table(["figure or table of the paper", "here"], lines)]


def _patients_in_short(found: Figures) -> str:
    """Return who finds the classes of the paper's example: its steps, by their weights, and our own variant."""
    classes, drawn = found["classes"], found["reference"]
    aim = classes["the paper"]["L"]
    always = [weights for weights, one in drawn.items() if one["min"] == one["max"] == aim]
    never = [weights for weights, one in drawn.items() if one["min"] > aim]
    told = [f"with `weights: {weights}` the paper's steps have its L of {aim:,.0f} every time" for weights in always]
    told += [
        f"with `weights: {weights}`, the units of its loss, never (from {drawn[weights]['min']:,.0f} to "
        f"{drawn[weights]['max']:,.0f})"
        if weights == "1"
        else f"with `weights: {weights}` never"
        for weights in never
    ]
    ours = [name for name in classes if name.startswith("fast") and classes[name]["L"] == aim]
    if ours:
        told.append(f"`fast`, which is not in the paper, has it with {len(ours)} of {len(drawn)} weights")
    verdict = "differs" if not always else "differs in part" if never else "reproduced"
    return f"{verdict}: {'; '.join(told)}. [Ten patients](#ten-patients)"


def exponent(by_records: Figures, way: str) -> float:
    """Return the power of the number of records that the time of a way grows with, from the first to the last."""
    first, *_, last = by_records
    return float(np.log(by_records[last][way] / by_records[first][way]) / np.log(int(last) / int(first)))


def _grows_in(curves: Figures) -> str:
    """Tell in how many curves the last time of a variant is above the first one."""
    told = []
    for way in ("fast", "reference"):
        times = [[one[way] for one in curve.values()] for curve in curves.values()]
        told.append(f"{sum(each[-1] > each[0] for each in times)} of {len(times)} curves of {way}")
    return f"it grows in {' and '.join(told)}"


def _times_grow(by_records: Figures) -> str:
    """Tell how the times of both variants grow with the records."""
    first, *_, last = by_records
    told = [
        f"{way} takes {by_records[last][way] / by_records[first][way]:.1f} times as long (a power of "
        f"{exponent(by_records, way):.2f})"
        for way in ("fast", "reference")
    ]
    return f"{int(last) / int(first):.1f} times as many records {' and '.join(told)}"


def farthest_apart(losses: Figures) -> tuple[tuple[str, str], float]:
    """Return the l and the number of columns where l-incognito loses most by fast, and how many times as much."""
    return max(ratios(losses).items(), key=lambda item: item[1])


def ratios(losses: Figures) -> dict[tuple[str, str], float]:
    """Return how many times the loss of fast l-incognito has, by l and the number of columns."""
    return {
        (need, d): one["l-incognito"] / one["fast"]
        for need, by_width in losses.items()
        for d, one in by_width.items()
        if one["fast"] > 0
    }


def grows(by_l: Figures, way: str) -> bool:
    """Return whether a loss never falls from one l to the next."""
    curve = [one[way] for one in by_l.values()]
    return all(before <= after for before, after in pairwise(curve))


def _measured_part(kept: Figures) -> list[str]:
    return [
        "## What we measured",
        wrapped(
            f"*Adult* (UCI Machine Learning Repository), {kept['records']:,} complete records of both published parts, "
            f"{SENSITIVE} sensitive (14 values), and the first 2 to 8 of the paper's quasi-identifiers: "
            f"{', '.join(QUASI)}. Only age is ordered. Nothing else is required, and nothing is suppressed."
        ),
        "| way | what it is |\n|---|---|\n"
        "| fast | `l-clustering`: the cheapest clusters are made first, and records are moved afterwards while that "
        "loses less; nothing is drawn |\n"
        f"| reference | `l-clustering`, `variant: reference`: the steps of the paper; means over {kept['seeds']} seeds "
        "where nothing else is said |\n"
        "| l-incognito | the best levels of all, with the hierarchies that come with sudare |",
        "**L**, the loss of the paper, is a sum over all records and columns of:",
        "- for an interval of ages, its width in years;\n"
        "- for a set, how many values it has beyond one;\n"
        "- for a node of a hierarchy, how many leaves it has beyond one; a band of ages so has its width, within the "
        "ages\n  of the table.",
        wrapped(
            "**RL** is L by what it would be if every record showed everything. **GCP** is the mean, over records and "
            "columns, of the share of the domain that a cell covers: each column counts alike."
        ),
        wrapped(
            "Hierarchies have only values that are in the table (and all ages in its range), so that showing "
            "everything costs the same with and without them. Each way tries to lose little of what is measured: for L "
            "and RL, both variants have `weights: 1`, and l-incognito takes the levels with the least L there are; for "
            "GCP, they have `weights: domain`, and l-incognito takes the levels with the least GCP."
        ),
        "Ours differ from the paper in this:",
        "- In our copy of the paper the definition of L is damaged; this one fits its text and its figures.\n"
        "- Its hierarchies are not known. Others give l-incognito another loss.\n"
        "- Of equally near records the paper takes any; `reference` takes the first in the order of their content.\n"
        "- `reference` finds the nearest record in a tree rather than by looking at all of them. The classes are the "
        "same,\n  the time is not.\n"
        "- `fast` is not in the paper.",
    ]


def _patients_part(found: Figures) -> list[str]:
    classes, drawn = found["classes"], found["reference"]
    lines = [
        [name, _listed(one["classes"]), str(one["illnesses"]), f"{one['L']:,.0f}", f"{one['GCP']:.3f}"]
        for name, one in classes.items()
    ]
    same = [name for name, one in classes.items() if one["classes"] == classes["the paper"]["classes"]]
    same.remove("the paper")
    told = f"The classes of the paper are also those of: {'; '.join(same)}. " if same else ""
    return [
        "## Ten patients",
        wrapped(
            "The paper's example: ages and zip codes of ten patients, t1 to t10, who are to have three different "
            "illnesses in every class. With its hierarchy, full-domain generalization shows all of them as `[50~55]` "
            "and `125**`, which counts here as the ages and zip codes from the least to the greatest of the ten."
        ),
        table(["", "classes", "fewest illnesses", "L", "GCP"], lines),
        wrapped(
            f"{told}The steps of the paper with {found['seeds']} seeds have an L {_ranges(drawn)}. With `weights: 1` "
            "a step of the zip code counts as much as a year of age, and zip codes range further; `weights: domain` "
            "counts both columns alike. Which of the two the paper used for its example cannot be told from our copy."
        ),
    ]


def _ranges(drawn: Figures) -> str:
    told = []
    for weights, one in drawn.items():
        ends = f"from {one['min']:,.0f} to {one['max']:,.0f}, in the mean {one['mean']:,.1f}"
        always = f"of {one['min']:,.0f} every time"
        told.append(f"{always if one['min'] == one['max'] else ends} (weights {weights})")
    return ", and ".join(told)


def _listed(classes: Sequence[Sequence[int]]) -> str:
    return " ".join(f"{{{', '.join(f't{number}' for number in one)}}}" for one in classes)


def _losses_part(kept: Figures) -> list[str]:
    losses = kept["losses"]
    first = losses["L"][next(iter(losses["L"]))]
    more, settings = above(losses, "l-incognito", "fast")
    also, _ = above(losses, "l-incognito", "reference")
    behind, _ = above(losses, "reference", "fast")
    (far_l, far_d), farthest = farthest_apart(losses["L"])
    (near_l, near_d), nearest = min(ratios(losses["L"]).items(), key=lambda item: item[1])
    parts = [
        "## Loss by quasi-identifiers",
        "![Three panels, one per l: L by the number of quasi-identifiers, a line per way](l_clustering_loss.svg)",
    ]
    for need, by_width in losses["L"].items():
        head = [f"l = {need}, L with columns:", *first]
        lines = [[way, *(f"{one[way]:,.0f}" for one in by_width.values())] for way in WAYS]
        ratio = [f"{one['l-incognito'] / one['fast']:,.1f}" if one["fast"] else "" for one in by_width.values()]
        parts.append(table(head, [*lines, ["l-incognito by fast", *ratio]]))
    for need, by_width in losses["GCP"].items():
        head = [f"l = {need}, GCP with columns:", *first]
        parts.append(table(head, [[way, *(f"{one[way]:.3g}" for one in by_width.values())] for way in WAYS]))
    return [
        *parts,
        wrapped(
            f"l-incognito loses more than fast in {more} of {settings} settings, and more than reference in {also}. "
            f"Its L is from {nearest:,.1f} times (l = {near_l}, {near_d} columns) to {farthest:,.0f} times (l = "
            f"{far_l}, {far_d} columns) that of fast. reference loses more than fast in {behind} of {settings}."
        ),
    ]


def _relative_part(kept: Figures) -> list[str]:
    every = [one for by_l in kept["relative"].values() for one in by_l.values()]
    more = sum(one["l-incognito"] > one["fast"] for one in every)
    share = [one["fast"] / one["reference"] for one in every]
    parts = []
    for width, by_l in kept["relative"].items():
        lines = [[need, *(_percent(one[way]) for way in WAYS)] for need, one in by_l.items()]
        parts += [f"With {width} quasi-identifiers:", table(["l", *(f"{way}, RL" for way in WAYS)], lines)]
    return [
        "## Relative loss by l",
        "![RL by l, a panel for each number of quasi-identifiers and a line per way](l_clustering_relative.svg)",
        *parts,
        wrapped(
            f"l-incognito loses more than fast in {more} of {len(every)} settings; fast has from "
            f"{100 * min(share):.0f}% to {100 * max(share):.0f}% of the loss of reference. The rarest occupation has "
            f"{kept['rarest']} records, so at most as many classes can have all 14 occupations."
        ),
    ]


def _levels_part(kept: Figures) -> list[str]:
    """Say what l-incognito does with few and with many columns."""
    found, relative = kept["levels"], kept["relative"]
    ls = list(next(iter(found.values())))
    lines = [[f"{width} columns", *(" ".join(map(str, by_l[need])) for need in ls)] for width, by_l in found.items()]
    told = []
    for width, by_l in found.items():
        kinds = len({tuple(levels) for levels in by_l.values()})
        first, last = (relative[width][need]["l-incognito"] for need in (ls[0], ls[-1]))
        least = min(sum(level > 0 for level in levels) for levels in by_l.values())
        told.append(
            f"With {width} columns it takes {kinds} different choices of levels for the {len(ls)} values of l, "
            f"generalizes at least {least} of the columns, and its RL goes from {_percent(first)} to {_percent(last)}."
        )
    return [
        "## The levels of l-incognito",
        wrapped(
            "The level of each quasi-identifier, in their order; 0 is unchanged. One level serves the whole table, so "
            "the rarest combination decides for everybody."
        ),
        table(["l", *ls], lines),
        wrapped(" ".join(told)),
    ]


def pairs_below(models: Figures) -> tuple[int, int]:
    """Count the pairs of table and model in which l-clustering loses no more than top-down with polish, and all."""
    each = [one for name, by_model in models.items() if name != "records" for one in by_model.values()]
    below = sum(one["l-clustering"]["GCP"] <= one["top-down, polish"]["GCP"] for one in each)
    return below, len(each)


def _models_part(models: Figures) -> list[str]:
    ways = ("l-clustering", "top-down, polish", "top-down")
    parts = []
    for name, by_model in models.items():
        if name == "records":
            continue
        lines = [
            [
                model,
                *(f"{one[way]['GCP']:.4f}" for way in ways),
                f"{one['l-clustering']['GCP'] / one['top-down, polish']['GCP']:.2f}",
                f"{one['l-clustering']['seconds']:.1f}",
                one["classes_by"],
            ]
            for model, one in by_model.items()
        ]
        parts += [
            f"{name}:",
            table(["model", *(f"{way}, GCP" for way in ways), "ratio", "seconds", "classes by"], lines),
        ]
    below, pairs = pairs_below(models)
    own = sum(
        one["classes_by"] == "clusters"
        for name, by_model in models.items()
        if name != "records"
        for one in by_model.values()
    )
    return [
        "## Other models",
        wrapped(
            "The paper knows distinct l-diversity alone. `fast` grows clusters until they keep whatever is promised. "
            f"These are {models['records']:,} records of each table, drawn always alike: Adult with the first columns "
            "of the list above (occupation sensitive), and hospital encounters of people with diabetes (race, gender, "
            "age and kind of admission; days in hospital sensitive). *ratio* is the loss of l-clustering by that of "
            "top-down with polish, *seconds* the time of l-clustering, and *classes by* what `search` in the "
            "certificate says: whether clusters were taken, or the classes of top-down."
        ),
        *parts,
        wrapped(
            f"l-clustering loses no more than top-down with polish in {below} of {pairs} pairs. This is so by "
            "construction: it makes those classes, too, and takes them where they lose less. What it gains is in the "
            f"{own} pairs where clusters were taken. No column has an `order` here: with one, classes show intervals, "
            "and may lose more than top-down, which shows none."
        ),
    ]


def _spread_part(spread: Figures) -> list[str]:
    lines = []
    for measure, by_l in spread.items():
        for need, one in by_l.items():
            drawn = np.array(one["reference"])
            figures = [drawn.min(), drawn.mean(), drawn.max(), drawn.std(ddof=1), one["fast"]]
            told = [f"{figure:,.0f}" if measure == "L" else f"{figure:.3g}" for figure in figures]
            relative = [f"{100 * drawn.std(ddof=1) / drawn.mean():.2f}%", f"{100 * one['fast'] / drawn.mean():.1f}%"]
            lines.append([measure, need, *told, *relative])
    count = len(next(iter(spread["L"].values()))["reference"])
    shares = ", ".join(f"{100 * share:.0f}% (l = {need})" for need, share in shares_of_mean(spread["GCP"]).items())
    below = all(one["fast"] < min(one["reference"]) for by_l in spread.values() for one in by_l.values())
    return [
        "## The part of chance",
        "![Two panels: loss by that of fast, for each seed and l](l_clustering_spread.svg)",
        wrapped(
            f"reference with {count} seeds, all records and {len(QUASI)} quasi-identifiers. Nothing is drawn by fast: "
            "it has one figure."
        ),
        table(
            [
                "measure",
                "l",
                "least",
                "mean",
                "greatest",
                "standard deviation",
                "fast",
                "deviation by mean",
                "fast by mean",
            ],
            lines,
        ),
        wrapped(
            f"fast loses {'less than the best of the seeds everywhere' if below else 'more than some of the seeds'}. "
            f"Its GCP is {shares} of the mean of reference."
        ),
    ]


def _times_part(times: Figures) -> list[str]:
    panels = [
        *((f"Quasi-identifiers, at l = {need}:", "columns", found) for need, found in times["columns"].items()),
        *((f"l, with {width} quasi-identifiers:", "l", found) for width, found in times["l"].items()),
        (f"Records, at l = 7 with {len(QUASI)} quasi-identifiers:", "records", times["records"]),
    ]
    parts = []
    for word, key, found in panels:
        head = [key, *(f"{int(number):,}" for number in found)]
        parts += [word, table(head, [[way, *(f"{one[way]:.2f}" for one in found.values())] for way in WAYS])]
    runs = "one run" if times["runs"] == 1 else f"the least of {times['runs']} runs"
    return [
        "## Time",
        "![Panels: seconds by quasi-identifiers, by l, and by records, a line per way](l_clustering_times.svg)",
        wrapped(
            f"Seconds from encoded columns to classes, {runs}, on {times['cores']} cores; `weights: domain`, and "
            "l-incognito with `loss: gcp`. `fast` includes top-down with polish, which runs beside it. Nothing else "
            f"ran on the machine.{_same_setting(times)}"
        ),
        *parts,
        wrapped(f"With {_times_grow(times['records'])}."),
    ]


def _same_setting(times: Figures) -> str:
    """Tell how far two times of one setting differ: the one in the tables by columns and by l, and that by records."""
    widest = str(len(QUASI))
    one = times["columns"].get("7", {}).get(widest)
    two = list(times["records"].values())[-1]
    if one is None:
        return ""
    told = " and ".join(f"{one[way]:.2f} and {two[way]:.2f} s ({way})" for way in ("fast", "reference"))
    return f" The setting l = 7 with {widest} columns and all records was run twice, with {told}."


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%" if share >= 0.01 else f"{100 * share:#.2g}%"


# The figures


def draw(kept: Figures, folder: Path) -> None:
    """Draw the figures as SVG; the same figures give the same files."""
    with looks():
        _draw_losses(kept["losses"]["L"], folder / "l_clustering_loss.svg")
        _draw_relative(kept["relative"], folder / "l_clustering_relative.svg")
        _draw_spread(kept["spread"], folder / "l_clustering_spread.svg")
        _draw_times(kept["times"], folder / "l_clustering_times.svg")


def _lines(axes: Any, found: Figures, what: str, factor: float = 1.0) -> None:
    """Draw a line per way over the keys of some figures; markers are hollow, so that all can be seen."""
    xs = [int(key) for key in found]
    for way in WAYS:
        colour, style, marker = LOOKS[way]
        ys = [factor * one[way] for one in found.values()]
        axes.plot(xs, ys, color=colour, linestyle=style, marker=marker, label=way, markerfacecolor="none")
    axes.set_xlabel(what)


def _finish(figure: Any, axes: Any, path: Path) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS), frameon=False)
    save(figure, path)


def _draw_losses(found: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(found), figsize=(10.5, 3.8), sharey=True, layout="constrained")
    for axes, (need, by_width) in zip(panels, found.items(), strict=True):
        _lines(axes, by_width, "quasi-identifiers")
        axes.set_yscale("log")
        axes.set_title(f"l = {need}", fontsize=10)
    panels[0].set_ylabel("L")
    _finish(figure, panels[0], path)


def _draw_relative(found: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(found), figsize=(10.5, 3.8), sharey=True, layout="constrained", squeeze=False
    )
    for axes, (width, by_l) in zip(panels[0], found.items(), strict=True):
        _lines(axes, by_l, "l", 100)
        axes.set_title(f"{width} quasi-identifiers", fontsize=10)
    panels[0][0].set_ylabel("RL, %")
    panels[0][0].set_ylim(bottom=0)
    _finish(figure, panels[0][0], path)


def _draw_spread(spread: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(spread), figsize=(9.5, 3.8), sharey=True, layout="constrained")
    colour, _, marker = LOOKS["reference"]
    for axes, (measure, by_l) in zip(panels, spread.items(), strict=True):
        for place, one in enumerate(by_l.values()):
            heights = [100 * loss / one["fast"] for loss in one["reference"]]
            # side by side, as equal ones would hide each other
            across = place + np.linspace(-0.25, 0.25, len(heights))
            axes.plot(across, heights, marker, color=colour, markerfacecolor="none", label="reference, a seed each")
        axes.axhline(100, color=LOOKS["fast"][0], label="fast")
        axes.set_xticks(range(len(by_l)), labels=[f"l = {need}" for need in by_l])
        axes.set_title(measure, fontsize=10)
    panels[0].set_ylabel("loss, % of fast")
    panels[0].set_ylim(bottom=0)
    handles, labels = panels[0].get_legend_handles_labels()
    told = dict(zip(labels, handles, strict=True))
    figure.legend(told.values(), told.keys(), loc="outside lower center", ncols=2, frameon=False)
    save(figure, path)


def _draw_times(times: Figures, path: Path) -> None:
    from matplotlib import pyplot

    drawn = [
        *(("quasi-identifiers", f"l = {need}", found) for need, found in times["columns"].items()),
        *(("l", f"{width} quasi-identifiers", found) for width, found in times["l"].items()),
        ("records", f"l = 7, {len(QUASI)} quasi-identifiers", times["records"]),
    ]
    across = 4
    down = -(-len(drawn) // across)
    figure, panels = pyplot.subplots(
        down, across, figsize=(13, 3.3 * down), sharey=True, layout="constrained", squeeze=False
    )
    for axes in panels.flat[len(drawn) :]:
        axes.set_visible(False)
    for axes, (what, title, found) in zip(panels.flat, drawn, strict=False):
        _lines(axes, found, what)
        axes.set_title(title, fontsize=10)
        axes.set_yscale("log")
    panels[0][0].set_ylabel("seconds")
    _finish(figure, panels[0][0], path)
