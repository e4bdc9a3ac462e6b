"""The page of ``pram.py`` and its figures: what is said about what was measured."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from page_parts import Figures, looks, save, table, wrapped

COLUMNS = ("income", "marital-status", "relationship", "race")
WAYS = ("raw", "inversion", "em")
WORDS = {1: "one column", 2: "two columns", 3: "three columns"}


class Case(NamedTuple):
    """A case of the paper: what is required, and what it found by each condition and by all of them."""

    sensitive: str
    k: int
    alpha: float
    gamma: float
    found: tuple[float, float, float, float]


CASES = (
    Case("income", 3, 0.8, 0.1, (0.3343, 0.4678, 0.8113, 0.3343)),
    Case("income", 3, 0.77, 0.22, (0.3343, 0.2476, 0.3397, 0.2476)),
    Case("income", 5, 0.77, 0.22, (0.3063, 0.2476, 0.3397, 0.2476)),
    Case("income", 10, 0.77, 0.22, (0.2738, 0.2476, 0.3397, 0.2476)),
    Case("relationship", 3, 0.5, 0.02, (0.3343, 0.3416, 0.7482, 0.3343)),
    Case("relationship", 3, 0.47, 0.025, (0.3343, 0.2756, 0.5416, 0.2756)),
    Case("relationship", 5, 0.47, 0.025, (0.3063, 0.2756, 0.5416, 0.2756)),
    Case("relationship", 10, 0.47, 0.025, (0.2738, 0.2756, 0.5416, 0.2738)),
)
BOUNDS = ("pk", "alpha", "gamma", "p")
EQUAL = 1.001
"""Errors whose ratio is up to this are the same but for rounding."""
# The colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart; each of colour,
# style and marker tells a line apart without the others.
LOOKS = {"raw": ("#009e73", ":", "^"), "inversion": ("#d55e00", "--", "s"), "em": ("#0072b2", "-", "o")}
SENSITIVE_LOOKS = {"income": ("#0072b2", "-"), "relationship": ("#d55e00", "--")}


# What the figures say


def shown(p: float) -> float:
    """Return a probability as the paper prints it: cut after four digits."""
    return math.floor(p * 10_000) / 10_000


def as_printed(kept: Figures) -> int:
    """Count the figures of the paper's table that come out as printed, of 32."""
    found = kept["cases"]["rounded"]
    return sum(
        shown(one[bound]) == printed
        for case, one in zip(CASES, found, strict=True)
        for bound, printed in zip(BOUNDS, case.found, strict=True)
    )


def by_width(kept: Figures, p: str, way: str, width: int) -> float:
    """Return the mean over all cells of all tables of so many columns: squared errors, or the share of intervals."""
    some = {name: one for name, one in kept["utility"][p].items() if name.count(", ") == width - 1}
    cells = [kept["cells"][name] for name in some]
    return float(np.average([one[way] for one in some.values()], weights=cells))


def gained(kept: Figures, width: int) -> dict[tuple[str, str], float]:
    """Return the mean squared error of em by that of inversion, for each p and table of so many columns."""
    return {
        (p, name): one["em"] / one["inversion"]
        for p, lines in kept["utility"].items()
        for name, one in lines.items()
        if name.count(", ") == width - 1
    }


def _ps(kept: Figures, *, of_cases: bool) -> list[str]:
    """Return the probabilities of the grid, or those of the paper's cases."""
    tenths = [p for p in kept["utility"] if float(p) * 10 == round(float(p) * 10)]
    return [p for p in kept["utility"] if p not in tenths] if of_cases else tenths


# The page


def page(kept: Figures) -> str:
    """Return the page, from the figures alone."""
    parts = [
        "# Experiment: PRAM",
        wrapped(
            "A Japanese paper bounds what anybody can infer about a person's sensitive value from both sides, and "
            "re-identification by Pk-anonymity (D. Ikarashi, K. Chida, K. Takahashi, 2009), with one mechanism: PRAM, "
            "which draws some of the values anew. This page repeats its cases, and measures what its releases are good "
            "for. It is written by `papers/pram.py` from a file of figures."
        ),
        *_contents_part(kept),
        *_paper_part(),
        *_cases_part(kept),
        *_against_part(kept["against"]),
        *_curves_part(),
        *_utility_part(kept),
        *_beside_part(kept["beside"]),
        *_times_part(kept["times"]),
        "## Run it again",
        "    pip install --group bench\n"
        "    python papers/pram.py\n"
        "    python papers/pram.py --times\n"
        "    python papers/pram.py --page",
        wrapped(
            "The first measures what is not kept yet, and `--again` everything anew. `--times` measures the times "
            "alone, and keeps the rest. `--page` writes this page and its figures from what was kept."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _contents_part(kept: Figures) -> list[str]:
    """Return what of the paper is here."""
    pairs = zip(kept["cases"]["rounded"], kept["cases"]["exact"], strict=True)
    moved = max(abs(one["p"] - other["p"]) for one, other in pairs)
    number, worst = max(
        kept["against"].items(),
        key=lambda item: item[1]["column"]["reached"]["alpha"] - CASES[int(item[0]) - 1].alpha,
    )
    lines = [
        [
            "the eight cases: p by Pk, alpha and gamma, and p",
            f"reproduced: {as_printed(kept)} of 32 figures as printed",
            "[The eight cases](#the-eight-cases)",
        ],
        [
            "the priors of Census Income, with three digits",
            f"reproduced: exact ones move p by {moved:.4f} at most",
            "[The eight cases](#the-eight-cases)",
        ],
        [
            "the conditions of Pk, alpha and gamma as functions of p",
            "reproduced; drawn here, as formulas in the paper",
            "[The conditions against p](#the-conditions-against-p)",
        ],
        [
            "sensitive attributes that correlate",
            "differs: the paper asks for care; here the promise holds against all columns. With the paper's p an "
            f"intruder reaches {worst['column']['reached']['alpha']:.3f} in case {number}, where "
            f"{CASES[int(number) - 1].alpha:g} is promised",
            "[Against all columns](#against-all-columns)",
        ],
        [
            "what releases are good for",
            "not possible to compare: the paper measures nothing; the figures here are ours",
            "[What can be estimated](#what-can-be-estimated), [beside generalization](#beside-generalization)",
        ],
    ]
    return [
        "## What of the paper is here",
        table(["in the paper", "here", "where"], lines),
    ]


def _against_part(found: Figures) -> list[str]:
    """Return what an intruder who uses all columns reaches, and what is kept against it."""
    promised, kept, mean = [], [], {}
    for number, one in found.items():
        case = CASES[int(number) - 1]
        column = one["column"]
        promised.append([
            number, case.sensitive, f"{case.alpha:g}", f"{column['p'][0]:.4f}", f"{column['certified']['alpha']:.4f}",
            f"**{column['reached']['alpha']:.4f}**", f"{column['certified']['one value']:.3f}",
            f"{column['reached']['record']:.3f}",
        ])  # fmt: skip
        for name, words in (("all columns", "one p"), ("all columns, per column", "one p for each")):
            line = one[name]
            mean[number, name] = math.exp(float(np.mean(np.log(line["p"]))))
            kept.append([
                number, words, " / ".join(f"{p:.3f}" for p in line["p"]), f"{mean[number, name]:.3f}",
                f"{line['certified']['alpha']:.4f}", f"{line['reached']['alpha']:.4f}",
                f"{line['certified']['gamma']:.4f}", f"{line['certified']['one value']:.3f}",
                f"{line['certified']['one record']:.3f}",
            ])  # fmt: skip
    ratios = [mean[number, "all columns, per column"] / mean[number, "all columns"] for number in found]
    exact = ", ".join(f"{one['exact p']:.4f} in case {number}" for number, one in found.items())
    return [
        "## Against all columns",
        wrapped(
            "The paper's alpha is about an intruder who looks at the sensitive column alone. Here the intruder sees "
            "all released columns of a record and knows the whole table. With the p for the column alone, more than "
            "alpha is believed of a true value:"
        ),
        table(
            [
                "case",
                "sensitive",
                "alpha",
                "p",
                "reached by the column",
                "by all columns",
                "most for one value",
                "most for one record",
            ],
            promised,
        ),
        wrapped(
            "The last two columns are the largest beliefs if one particular value of the column, or one particular "
            "record, is shown. The p here is what sudare calibrates from shares that it rounds for the certificate, so "
            "it is a little smaller than the printed one. By default, sudare promises alpha against all columns "
            "(`against: all-columns`). *Certified* is "
            "what the audit proves from the published combinations, and *reached* what the intruder has with the "
            "exact table; p stands for " + ", ".join(COLUMNS) + "."
        ),
        table(
            [
                "case",
                "",
                "p",
                "geometric mean",
                "alpha certified",
                "alpha reached",
                "gamma certified",
                "most for one value",
                "most for one record",
            ],
            kept,
        ),
        wrapped(
            f"One p of the exact table would be {exact}, by alpha alone. One p for each column keeps more where "
            f"it reveals little: the geometric mean is {min(ratios):.2f} to {max(ratios):.2f} times as large."
        ),
    ]


def _beside_part(found: Figures) -> list[str]:
    """Return the errors of PRAM and of generalization at equal risk."""
    lines: list[list[str]] = []
    times: dict[str, float] = {}
    for key, one in found.items():
        sensitive, alpha = key.split(", ")
        shown_line = [sensitive, alpha]
        shown_line += [
            f"{_rounded(one[name]['2'])} / {_rounded(one[name]['3'])}" for name in ("calibrated", "per-column")
        ]
        other = one["generalized"]
        if other is None:
            shown_line += ["no table", "", "", ""]
        else:
            times[key] = other["2"] / min(one["calibrated"]["2"], one["per-column"]["2"])
            errors = f"{_rounded(other['2'])} / {_rounded(other['3'])}"
            way = f"{other['method']}, {other['promise']} {other['setting']:g}"
            shown_line += [errors, way, f"{other['alpha']:.3f}", f"{other['classes']:,}"]
        lines.append(shown_line)
    better = [ratio for ratio in times.values() if ratio > 1]
    return [
        "## Beside generalization",
        "![Two panels: root mean squared error of counts of two columns against alpha, by method](pram_beside.svg)",
        wrapped(
            "The same risk, two kinds of release. The risk is alpha: the average belief of an intruder in a true "
            "value, for the value that is believed most. For PRAM the intruder knows which record is the person's and "
            "uses all columns; alpha is the certified limit. For generalization the intruder knows the person's class "
            "and believes the shares of the class. Both keep k = 3. Generalization is the best of many releases whose "
            "risk is at most alpha: those of `top-down` and `l-clustering`, under t-closeness and (alpha, k)-anonymity "
            "with up to 45 settings each, and of these the one with the smallest error of two columns. A class counts "
            "as if it had all combinations of the values that it shows equally often. PRAM is estimated by em. This "
            "may still favour PRAM: only this even spread was tried, which is how "
            "`sudare estimate` counts in classes. Figures are root mean squared errors in "
            "records, over all cells of all tables of two / three columns:"
        ),
        table(
            [
                "sensitive",
                "alpha",
                "pram, one p",
                "pram, one p for each",
                "generalization",
                "by",
                "its risk",
                "its classes",
            ],
            lines,
        ),
        wrapped(
            f"In {len(better)} of {len(times)} settings, counts of two columns from PRAM are nearer to the truth: "
            f"the errors of generalization are {min(better):.1f} to {max(better):.1f} times as large as those of the "
            f"better PRAM. {_worse_part(times)}{_bound_part(found)}This is about counts. Single records of PRAM are "
            "not true. Those of generalization are, where they show something. One p for each column weighs all "
            "columns alike; which counts become better depends on the columns."
        ),
    ]


def _bound_part(found: Figures) -> str:
    """Return from which alpha on k decides p, so that PRAM has less risk than it may have, as a sentence."""
    said = []
    for sensitive in dict.fromkeys(key.split(", ")[0] for key in found):
        some = {float(key.split(", ")[1]): one for key, one in found.items() if key.startswith(sensitive)}
        ps = {alpha: one["calibrated"]["p"][sensitive] for alpha, one in some.items()}
        first = min(alpha for alpha, p in ps.items() if p == ps[max(ps)])
        if first < max(ps):
            said.append(f"{first:g} for {sensitive}")
    if not said:
        return ""
    return f"From alpha = {' and '.join(said)} on, k decides p: there PRAM has less risk than generalization may have. "


def _worse_part(times: dict[str, float]) -> str:
    """Return where generalization is nearer to the truth, as a sentence."""
    worse = {key: ratio for key, ratio in times.items() if ratio <= 1}
    if not worse:
        return ""
    where = "; ".join(worse)
    return (
        f"In the others ({where}) generalization is better, by up to {1 / min(worse.values()):.1f} times: there "
        "small classes keep alpha already, and generalize little. "
    )


def _rounded(error: float) -> str:
    return f"{error:,.0f}" if error >= 99.5 else f"{error:.1f}"


def _paper_part() -> list[str]:
    return [
        "## What the paper says",
        wrapped(
            "Every value is kept with the retention probability p. Otherwise it is drawn evenly from all values of "
            "its column, its own included. Three conditions limit p:"
        ),
        "- **Pk**: nobody connects a released record with its person with a probability above 1/k.\n"
        "- **alpha**: on average, an intruder who knows the distribution of the sensitive column gives a person's\n"
        "  true value a probability of at most alpha.\n"
        "- **gamma**: the same intruder gives every value a probability of at least gamma: none is ruled out.",
        wrapped(
            "The largest p that keeps all of them is used. The paper computes it for eight cases of *Census Income* "
            "(UCI Machine Learning Repository, known as Adult), whose columns income, marital status, relationship and "
            "race have 2, 7, 6 and 5 values and are all perturbed."
        ),
    ]


def _cases_part(kept: Figures) -> list[str]:
    head = [
        "case",
        "sensitive",
        "k",
        "alpha, gamma",
        "p by Pk",
        "p by alpha",
        "p by gamma",
        "p",
        "data: alpha",
        "gamma",
        "p",
    ]
    lines = []
    both = zip(CASES, kept["cases"]["rounded"], kept["cases"]["exact"], strict=True)
    for number, (case, rounded, exact) in enumerate(both, 1):
        told = [f"{shown(rounded[bound]):.4f}" for bound in BOUNDS]
        told[BOUNDS.index(rounded["binding"])] = f"**{told[BOUNDS.index(rounded['binding'])]}**"
        data = [f"{shown(exact[bound]):.4f}" for bound in BOUNDS[1:]]
        lines.append([str(number), case.sensitive, str(case.k), f"{case.alpha:g}, {case.gamma:g}", *told, *data])
    pairs = zip(kept["cases"]["rounded"], kept["cases"]["exact"], strict=True)
    moved = max(abs(one["p"] - other["p"]) for one, other in pairs)
    return [
        "## The eight cases",
        wrapped(
            f"{kept['records']:,} records. The paper has priors of three digits, and cuts its results after four; so "
            "do we here. The last three columns are with priors that are not rounded. The limit that decides p is bold."
        ),
        table(head, lines),
        wrapped(
            f"{as_printed(kept)} of the 32 figures of the paper come out as printed. The priors of the data move p by "
            f"{moved:.4f} at most."
        ),
    ]


def _curves_part() -> list[str]:
    return [
        "## The conditions against p",
        "![Three panels: k, alpha and gamma that are kept, against p, with the limits of the cases](pram_bounds.svg)",
        wrapped(
            "What is kept at each p, with the paper's priors; dotted lines are the limits of its cases. k may not fall "
            "below its limit, nor gamma below its own, and alpha may not rise above it. At p = 0 nothing is released "
            "but noise: alpha is then the largest share of the prior, gamma the smallest, and k the number of records."
        ),
    ]


def _utility_part(kept: Figures) -> list[str]:
    parts = []
    for width, word in WORDS.items():
        tables = [name for name in kept["cells"] if name.count(", ") == width - 1]
        cells = sum(kept["cells"][name] for name in tables)
        mean = kept["records"] * len(tables) / cells
        head = [f"{word}: p", *(f"{float(p):g}" for p in _ps(kept, of_cases=False))]
        lines = [[way, *(_root(kept, p, way, width) for p in _ps(kept, of_cases=False))] for way in WAYS]
        tables_word = "1 table" if len(tables) == 1 else f"{len(tables)} tables"
        parts += [
            f"{word.capitalize()}, {tables_word} with {cells} cells, {mean:,.0f} records each on average:",
            table(head, lines),
        ]
    return [
        "## What can be estimated",
        "![Three panels: root mean squared error of counts of one, two and three columns, against p](pram_utility.svg)",
        wrapped(
            f"All four columns are perturbed with the same p, {kept['repeats']} times. Counts of one, two and three "
            "columns are then told in three ways: as they are in the release (**raw**), which is what is read from it "
            "without an estimator; by **inversion** of the matrix, the unbiased estimate; and by **em**, which is "
            "what `sudare estimate` does: the counts that make the release most likely, drawn towards the nearest ones "
            "to the unbiased estimate as far as their error is estimated to be smaller; they are never negative. "
            "Figures are root mean squared errors in records, over all cells of all tables and all repetitions."
        ),
        *parts,
        *_claims(kept),
        *_at_cases(kept),
        *_pairs_part(kept["pairs"]),
    ]


def _claims(kept: Figures) -> list[str]:
    two, ps = gained(kept, 2), list(kept["utility"])
    whole = {
        width: [by_width(kept, p, "em", width) / by_width(kept, p, "inversion", width) for p in ps] for width in (2, 3)
    }
    behind = [p for p, ratio in zip(ps, whole[2], strict=True) if ratio > 1]
    told = "smaller than that of inversion at every p" if not behind else f"larger at p = {', '.join(behind)}"
    beyond = {setting: ratio for setting, ratio in two.items() if ratio > EQUAL}
    single = "and in none of them is it larger"
    if beyond:
        (p, table), most = max(beyond.items(), key=lambda item: item[1])
        times = "one of them" if len(beyond) == 1 else f"{len(beyond)} of them"
        single = f"and in {times} it is larger: {most:.3f} times at most (p = {p}; {table})"
    raw = [math.sqrt(by_width(kept, p, "raw", 2) / by_width(kept, p, "em", 2)) for p in ps]
    inside = [by_width(kept, p, "inside", width) for p in ps for width in (1, 2, 3)]
    return [
        wrapped(
            f"Over all tables of two columns, the mean squared error of em is {told}: {min(whole[2]):.2f} to "
            f"{max(whole[2]):.2f} of it; of three columns, {min(whole[3]):.3f} to {max(whole[3]):.2f}. Table by table "
            f"there are {len(two)} settings of two columns (a table, and a p of the curves or of a case), {single}; "
            "differences below a thousandth are rounding, and do not count. Where no estimate is negative, both are "
            "the same. Raw counts of two columns are off by "
            f"{min(raw):.1f} to {max(raw):.1f} times as much as em."
        ),
        wrapped(
            f"The 95% intervals hold the true count in {100 * min(inside):.1f}% to {100 * max(inside):.1f}% of the "
            f"cells, by p and number of columns, and {100 * float(np.mean(inside)):.1f}% on average."
        ),
    ]


def _at_cases(kept: Figures) -> list[str]:
    lines = []
    for p in _ps(kept, of_cases=True):
        numbers = [str(n) for n, one in enumerate(kept["cases"]["rounded"], 1) if shown(one["p"]) == float(p)]
        lines.append(
            [p, ", ".join(numbers), *(" / ".join(_root(kept, p, way, width) for way in WAYS) for width in WORDS)]
        )
    return [
        "With the p of the paper's cases (raw / inversion / em):",
        table(["p", "cases", *WORDS.values()], lines),
    ]


def _pairs_part(pairs: Figures) -> list[str]:
    """Return what the estimators do on all tables of two categorical columns, the most likely counts alone included."""
    words = {"em": "em", "ml": "the most likely counts alone", "projection": "the nearest counts"}
    lines, worst = [], {}
    for way, word in words.items():
        ratios = {p: {name: one[way] / one["inversion"] for name, one in some.items()} for p, some in pairs.items()}
        means = [f"{math.exp(float(np.mean(np.log(list(some.values()))))):.2f}" for some in ratios.values()]
        most = [max(some.values()) for some in ratios.values()]
        worst[way] = max(most), sum(ratio > EQUAL for some in ratios.values() for ratio in some.values())
        lines += [[word, *means], [f"{word}, the worst table", *(f"{each:.2f}" for each in most)]]
    some = list(next(iter(pairs.values())))
    tables, extra = len(some), "education, education-num"
    columns = len({name for pair in some if pair != extra for name in pair.split(", ")})
    besides = ", and education with the number of the education, which say the same" if extra in some else ""
    return [
        wrapped(
            f"{tables} tables of two columns of Adult: every two of its {columns} categorical columns{besides}. "
            "Figures are mean squared errors by that of inversion, the geometric mean over tables and the largest. "
            f"Em is above inversion in {worst['em'][1]} of {tables * len(pairs)} settings. The most likely counts "
            f"alone are above it in {worst['ml'][1]} settings, by a factor of at most {worst['ml'][0]:.2f}. If most "
            "combinations are empty, this estimator gives some records to the empty ones by chance, and these records "
            "are then missing in the others."
        ),
        table(["by inversion: p", *pairs], lines),
    ]


def _root(kept: Figures, p: str, way: str, width: int) -> str:
    error = math.sqrt(by_width(kept, p, way, width))
    return f"{error:,.0f}" if error >= 99.5 else f"{error:.1f}"


def _times_part(times: Figures) -> list[str]:
    cells, values = times["cells"], times["values"]
    runs = "one run" if times["runs"] == 1 else f"the least of {times['runs']} runs"
    lines = [
        [f"perturb {cells:,} cells of 7 values, p = 0.3343: the kernel alone", f"{times['uniform']:.2f}"],
        ["the same by a matrix", f"{times['matrix']:.2f}"],
        ["the same with random words from the operating system", f"{times['with randomness']:.2f}"],
        [f"calibrate for a sensitive column of {values:,} values (and three others)", f"{times['calibration']:.3f}"],
    ]
    return ["## Time", f"Seconds on one core, {runs}:", table(["", "seconds"], lines)]


# The figures


def draw(kept: Figures, folder: Path) -> None:
    """Draw the figures as SVG; the same figures give the same files."""
    with looks():
        _draw_bounds(kept["curves"], folder / "pram_bounds.svg")
        _draw_utility(kept, folder / "pram_utility.svg")
        _draw_beside(kept["beside"], folder / "pram_beside.svg")


def _finish(figure: Any, axes: Any, count: int, path: Path) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=count, frameon=False)
    save(figure, path)


def _draw_bounds(curves: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(10.5, 3.8), layout="constrained")
    panels[0].plot(curves["pk"]["p"], curves["pk"]["figure"], color="#000000")
    panels[0].set_yscale("log")
    for limit in sorted({case.k for case in CASES}):
        panels[0].axhline(limit, color="#000000", linestyle=":", linewidth=0.8)
    for axes, condition in zip(panels[1:], ("alpha", "gamma"), strict=True):
        for name, (colour, style) in SENSITIVE_LOOKS.items():
            curve = curves[f"{condition}, {name}"]
            axes.plot(curve["p"], curve["figure"], color=colour, linestyle=style, label=name)
            for limit in sorted({getattr(case, condition) for case in CASES if case.sensitive == name}):
                axes.axhline(limit, color=colour, linestyle=":", linewidth=0.8)
        axes.set_ylim(0, 1 if condition == "alpha" else None)
    for axes, title in zip(panels, ("k", "alpha", "gamma"), strict=True):
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("p")
    _finish(figure, panels[1], len(SENSITIVE_LOOKS), path)


def _draw_utility(kept: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(10.5, 3.8), sharey=True, layout="constrained")
    ps = _ps(kept, of_cases=False)
    for axes, (width, word) in zip(panels, WORDS.items(), strict=True):
        for way in WAYS:
            colour, style, marker = LOOKS[way]
            ys = [math.sqrt(by_width(kept, p, way, width)) for p in ps]
            xs = [float(p) for p in ps]
            axes.plot(xs, ys, color=colour, linestyle=style, marker=marker, label=way, markerfacecolor="none")
        axes.set_yscale("log")
        axes.set_title(word, fontsize=10)
        axes.set_xlabel("p")
    panels[0].set_ylabel("root mean squared error, records")
    _finish(figure, panels[0], len(WAYS), path)


BESIDE_LOOKS = {
    "calibrated": ("pram, one p", "#0072b2", "-", "o"),
    "per-column": ("pram, one p for each", "#009e73", ":", "^"),
    "generalized": ("generalization", "#d55e00", "--", "s"),
}


def _draw_beside(found: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
    for axes, sensitive in zip(panels, ("relationship", "income"), strict=True):
        some = {float(key.split(", ")[1]): one for key, one in found.items() if key.startswith(sensitive)}
        for name, (label, colour, style, marker) in BESIDE_LOOKS.items():
            there = {alpha: one[name]["2"] for alpha, one in some.items() if one[name] is not None}
            axes.plot(
                list(there), list(there.values()), color=colour, linestyle=style, marker=marker, label=label,
                markerfacecolor="none",
            )  # fmt: skip
        axes.set_yscale("log")
        axes.set_title(sensitive, fontsize=10)
        axes.set_xlabel("alpha")
    panels[0].set_ylabel("root mean squared error, records")
    _finish(figure, panels[0], len(BESIDE_LOOKS), path)
