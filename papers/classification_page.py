"""The page of ``classification.py`` and its figures: what is compared, and what is said about what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from page_parts import Figures, Look, looks, save, table, wrapped
from sudare.comparisons import CLASSIFIERS, Configuration

K_OF_WEIGHTS = 50
FOLDS = 5
DRAWS = 5
"""How often values are drawn for the cells of local recoding."""
QUASI = (
    "age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country",
)  # fmt: skip
OTHERS = ("hours-per-week", "capital-gain", "capital-loss")
PUBLISHED = {
    "raw values": ("0.4002", "3.2010", "0.4562"),
    "ANY; ANY; [1-99)": ("0.9596", "0.0000", "0.9404"),
    "T1": ("0.6012", "0.9366", "0.6079"),
    "T2": ("0.5912", "1.3792", "0.6070"),
    "T3": ("0.5046", "1.7251", "0.5290"),
    "T4": ("0.5046", "1.7251", "0.5290"),
    "T5": ("0.4750", "2.1763", "0.5090"),
    "Tfinal": ("0.4405", "2.5168", "0.4820"),
}
"""What the study prints, cut off after four digits."""


@dataclass(frozen=True)
class Series:
    """One way to make releases: its name, method and options, the records it may leave out, and how it is drawn."""

    name: str
    look: Look
    method: str
    options: dict[str, str] = field(default_factory=dict)
    limit: float = 0.0

    @property
    def way(self) -> Configuration:
        """The way to be compared."""
        target = {"target": "income"} if self.method == "tds" else {}
        return Configuration(self.name, self.method, target | self.options)


# The colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart.
SERIES = (
    Series("tds", ("#000000", "-", "o"), "tds"),
    Series("tds, beam", ("#0072b2", "--", "s"), "tds", {"search": "beam"}),
    Series("tds, least", ("#f0e442", "--", "*"), "tds", {"stop": "least"}),
    Series("tds, info-gain", ("#8c510a", ":", "<"), "tds", {"score": "info-gain"}),
    Series("tds, anony-loss", ("#5e3c99", "-.", ">"), "tds", {"score": "anony-loss"}),
    Series("tds, gain-ratio", ("#d55e00", "-.", "^"), "tds", {"score": "gain-ratio"}),
    Series("top-down", ("#009e73", ":", "D"), "top-down"),
    Series("mondrian", ("#cc79a7", (0, (1, 1)), "v"), "mondrian"),
    Series("full-domain", ("#e69f00", (0, (6, 2)), "P"), "full-domain", {"loss": "arx"}),
    Series("full-domain, 5%", ("#56b4e9", (0, (3, 1, 1, 1)), "X"), "full-domain", {"loss": "arx"}, 0.05),
)
PLAIN = [
    one.look
    for name in ("tds", "tds, beam", "tds, gain-ratio", "top-down", "mondrian")
    for one in SERIES
    if one.name == name
]
"""Five looks, for figures about something else than series."""
GLOBAL = tuple(one.name for one in SERIES if one.method in ("tds", "full-domain"))


def cut_off(figure: float) -> str:
    """Return a figure cut off after four digits, as the study prints it."""
    return f"{int(figure * 10_000 + (1e-6 if figure >= 0 else -1e-6)) / 10_000:.4f}"


# The page


def in_order(kept: Figures) -> Figures:
    """Return figures with the series in their order, whatever a run that was resumed kept first."""
    found = dict(kept)
    for setting in ("alone", "others"):
        series = kept[setting]["series"]
        by_name = {one.name: dict(sorted(series[one.name].items(), key=lambda item: int(item[0]))) for one in SERIES}
        found[setting] = kept[setting] | {"series": by_name}
    return found


def page(kept: Figures) -> str:
    """Return the page, from the figures alone."""
    kept = in_order(kept)
    parts = [
        "# Experiment: training data (tds)",
        wrapped(
            "A Japanese study extends the top-down specialization of Fung, Wang and Yu (ICDE 2005) by an objective for "
            "the whole table: how well can a classifier be trained on it? It leaves the evaluation open. This page "
            "repeats its example with the method [tds](../policy.md#method), and evaluates it. It is written by "
            "`papers/classification.py` from a file of figures."
        ),
        *_figures_part(kept),
        *_example_part(kept["example"]),
        *_run_part(kept["run"]),
        *_optimum_part(kept["optimum"]),
        *_adult_part(kept),
        *_weights_part(kept["weights"]),
        *_steps_part(kept["steps"]),
        "## Run it again",
        "    pip install --group bench\n"
        "    python papers/classification.py\n"
        "    python papers/classification.py --resume\n"
        "    python papers/classification.py --page",
        wrapped(
            "The first measures everything, and keeps each figure as it is found. `--resume` goes on where a run "
            "ended. `--page` writes this page and its figures from what was kept."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _example_part(rows: Figures) -> list[str]:
    found = {name: tuple(map(cut_off, figures)) for name, figures in rows.items()}
    same = sum(ours == theirs for ours, theirs in zip(found.values(), PUBLISHED.values(), strict=True))
    return [
        "## The worked example",
        wrapped(
            "34 records with sex, job and salary. *Class information* is the doubt about the class that is left when a "
            "record's group is known, *split information* the doubt about its group, both in bits; *table information* "
            "is w times the first and 1 - w times the second, here with w = 0.98. Figures are cut off after four "
            "digits, as in the study."
        ),
        table(["cut", "class", "split", "table"], [[name, *figures] for name, figures in found.items()]),
        wrapped(f"{same} of {len(found)} lines have the figures of the study."),
    ]


def _figures_part(kept: Figures) -> list[str]:
    found = {name: tuple(map(cut_off, figures)) for name, figures in kept["example"].items()}
    same = sum(ours == theirs for ours, theirs in zip(found.values(), PUBLISHED.values(), strict=True))
    run = kept["run"]
    first = run["study"][0]
    steps = sum(one["score"] >= one["best"] - 1e-9 for one in run["study"])
    own = run["runs"]["the tree of the study"]["end"]["table_info"]
    theirs = run["study"][-1]["table_info"]
    lines = [
        [
            "class, split and table information of eight cuts",
            "reproduced" if same == len(found) else "differs",
            f"[The worked example](#the-worked-example): {same} of {len(found)} lines, to the four digits printed",
        ],
        [
            "score of the first step, 0.3325",
            "reproduced" if cut_off(first["score"]) == "0.3325" else "differs",
            f"[The steps as a run](#the-steps-as-a-run): {cut_off(first['score'])}",
        ],
        [
            "the steps T1 to Tfinal",
            "differs",
            f"all {len(run['study'])} can be made, but {steps} have the best score at their time; taking the best each "
            f"time ends at {cut_off(own)} rather than {cut_off(theirs)}",
        ],
        [
            "the formula of the gain in split information",
            "differs",
            "its sign is printed the wrong way round; the difference of two cuts gives the study's figures",
        ],
        [
            "an experimental evaluation",
            "not possible to compare: the study leaves it open",
            "ours is under [What classifiers learn](#what-classifiers-learn)",
        ],
        [
            "tables held by several parties",
            "not possible: the study leaves it open, and sudare reads one table in one place",
            "",
        ],
    ]
    return ["## The figures and tables of the study", table(["in the study", "here", "where, and why"], lines)]


def _children(step: Figures) -> str:
    return " / ".join(", ".join(part) for part in step["children"])


def _run_part(run: Figures) -> list[str]:
    lines = [
        [
            f"T{number}" if number < len(run["study"]) else "Tfinal",
            step["column"],
            _children(step),
            cut_off(step["score"]),
            cut_off(step["best"]),
            cut_off(step["table_info"]),
        ]
        for number, step in enumerate(run["study"], 1)
    ]
    first = next((place for place, step in enumerate(run["study"], 1) if step["score"] < step["best"] - 1e-9), None)
    parts = [
        "### The steps as a run",
        wrapped(
            "First we let the method make the steps of the study, one by one, with the trees of the study and "
            f"{run['k']}-anonymity, which its last cut keeps. *Best* is the score of the best valid step at that time."
        ),
        table(["cut", "column", "children", "score", "best", "table"], lines),
    ]
    if first is not None:
        step = run["study"][first - 1]
        parts.append(
            wrapped(
                f"Step {first} of the study is not the best by its own score: {cut_off(step['score'])}, where "
                f"{cut_off(step['best'])} is possible. So the study's list shows how the figures are computed, and is "
                "not what its greedy search does. This is what the method does:"
            )
        )
    for words, one in run["runs"].items():
        lines = [
            [
                str(number),
                step["column"],
                _children(step),
                cut_off(step["score"]),
                cut_off(step["table_info"]),
                str(step["groups"]),
            ]
            for number, step in enumerate(one["steps"], 1)
        ]
        parts += [
            f"With {'a salary tree that grows' if words == 'grown tree' else words}:",
            table(["step", "column", "children", "score", "table", "groups"], lines),
            wrapped(
                f"`stop: end` ends at {cut_off(one['end']['table_info'])}, `stop: least` at "
                f"{cut_off(one['least']['table_info'])} after {one['least']['steps']} steps. The least of all "
                f"{one['optimum']['cuts']} cuts that keep {run['k']}-anonymity is "
                f"{cut_off(one['optimum']['table_info'])}."
            ),
        ]
    return parts


def above_optimum(found: Figures, way: str, w: float) -> list[float]:
    """Return by which share a way is above the optimum, in each setting with this weight."""
    return [one["table_info"][way] / one["optimum"]["table_info"] - 1 for one in found["settings"] if one["w"] == w]


def _optimum_part(found: Figures) -> list[str]:
    weights = list(dict.fromkeys(one["w"] for one in found["settings"]))
    lines = []
    for way in found["settings"][0]["table_info"]:
        line = [way]
        for w in weights:
            above = above_optimum(found, way, w)
            line += [f"{sum(share < 1e-6 for share in above)} of {len(above)}", f"{100 * np.mean(above):.1f}%"]
            line.append(f"{100 * max(above):.1f}%")
        lines.append(line)
    ks = ", ".join(str(k) for k in dict.fromkeys(one["k"] for one in found["settings"]))
    cuts = [one["optimum"]["cuts"] for one in found["settings"]]
    head = ["way", *(f"{what}, w = {w}" for w in weights for what in ("is the optimum", "mean above", "most above"))]
    return [
        "## The exact optimum as a yardstick",
        wrapped(
            f"On small tables one can look at every cut: {found['tables']} times {found['rows']} random records of "
            f"Adult, with {', '.join(found['quasi'])} and k = {ks}. There are up to {max(cuts):,} cuts that keep "
            "k-anonymity. How far is the table information of a release above the least that is possible?"
        ),
        table(head, lines),
        wrapped(
            "`stop: end` goes on where the table information rises, so it is not made to reach the optimum. It shows "
            "all detail that k allows. With a small w, groups count more, and `stop: least` ends much earlier."
        ),
    ]


def _adult_part(kept: Figures) -> list[str]:
    about, alone, others = kept["table"], kept["alone"], kept["others"]
    error = standard_error(about["test"])
    parts = [
        "## What classifiers learn",
        wrapped(
            f"*Adult* (UCI Machine Learning Repository), complete records, as published: {about['training']:,} to "
            f"learn from, {about['test']:,} to be asked about. The class is the income. Quasi-identifiers are "
            f"{', '.join(QUASI)}, with the hierarchies that come with sudare; age has none. k-anonymity is required, "
            "and nothing else. No other column is released."
        ),
        "| series | what it is |\n|---|---|\n"
        "| tds | the objective of the study (`score: table-info`), w = 0.98 |\n"
        "| tds, beam | the same, `search: beam` |\n"
        "| tds, least | the same, `stop: least` |\n"
        "| tds, info-gain | an older score: the information gain (`score: info-gain`) |\n"
        "| tds, anony-loss | the score of ICDE 2005: the gain by the loss of anonymity (`score: anony-loss`) |\n"
        "| tds, gain-ratio | an older score: the gain by split information (`score: gain-ratio`) |\n"
        "| top-down, mondrian | local recoding, which knows no class |\n"
        "| full-domain | one level per column, `loss: arx`, without suppression and with up to 5% |",
        wrapped(
            "tds and full-domain recode alike everywhere: training and test records are described by the cells that "
            "they show. Local recoding cannot be repeated on other records: each cell of a training record becomes a "
            "value drawn from those that it covers, and test records stay as they are. This is how `sudare compare` "
            "does it, too. The classifiers are those of scikit-learn: a decision tree with at least 20 records in a "
            "leaf, logistic regression on scaled columns, and histogram gradient boosting."
        ),
        wrapped(
            f"Figures of local recoding are means over {DRAWS} draws; the accuracies of single draws have standard "
            f"deviations of up to {100 * _largest_deviation(alone['series']):.1f} points. From the test records alone, "
            f"an accuracy of 82% has a standard error of {100 * error:.1f} points. A smaller difference between two "
            "series may be chance."
        ),
        "![Six panels: accuracy and AUC of three classifiers by k, a line per series](classification_k.svg)",
        _baselines(alone["baselines"]),
    ]
    for place, name in enumerate(CLASSIFIERS):
        parts += [f"**{name.capitalize()}**, accuracy (AUC)", _series_table(alone["series"], place)]
    return [
        *parts,
        _who_wins(alone["series"], error),
        _near_ones(error),
        _against_raw(alone),
        wrapped(_in_words(alone, error)),
        table(
            [
                "k",
                *(f"{name}, {what}" for name in ("tds", "top-down", "full-domain") for what in ("class info", "GCP")),
            ],
            [[k, *_information(alone["series"], k)] for k in alone["series"]["tds"]],
        ),
        wrapped(
            "Class information in bits; before anything is shown it is "
            f"{alone['baselines']['majority']['class_info']:.3f}, and {alone['baselines']['raw']['class_info']:.3f} in "
            "groups of equal raw records."
        ),
        "### With other columns",
        wrapped(
            f"The same setting, but {', '.join(OTHERS[:-1])} and {OTHERS[-1]} are released, too, unchanged, as "
            "insensitive columns. *No quasi-identifiers* learns from these three alone."
        ),
        _baselines(others["baselines"]),
        "**Gradient boosting**, accuracy (AUC)",
        _series_table(others["series"], 2),
        _who_wins(others["series"], error),
        _near_ones(error),
        _against_raw(others),
    ]


def _largest_deviation(series: Figures) -> float:
    return max(float(max(one.get("deviation", [0.0]))) for by_k in series.values() for one in by_k.values())


def _baselines(found: Figures) -> str:
    lines = [
        [name, *(f"{100 * a:.1f}% ({b:.3f})" for a, b in zip(one["accuracy"], one["auc"], strict=True))]
        for name, one in found.items()
    ]
    return table(["baseline, accuracy (AUC)", *CLASSIFIERS], lines)


def _series_table(series: Figures, place: int) -> str:
    """Return a table of one classifier, with a line per k and a column per series."""
    lines = [
        [k, *(f"{100 * one[k]['accuracy'][place]:.1f}% ({one[k]['auc'][place]:.3f})" for one in series.values())]
        for k in series["tds"]
    ]
    return table(["k", *series], lines)


def _information(series: Figures, k: str) -> list[str]:
    chosen = [series[name][k] for name in ("tds", "top-down", "full-domain")]
    return [text for one in chosen for text in (f"{one['class_info']:.3f}", f"{one['gcp']:.3f}")]


def wins(series: Figures, measure: str, names: Sequence[str]) -> dict[str, int]:
    """Count by series in how many pairs of a k and a classifier it is the best of some; equal ones count for each."""
    count = dict.fromkeys(names, 0)
    for k in series["tds"]:
        for place in range(len(CLASSIFIERS)):
            found = {name: round(series[name][k][measure][place], 4) for name in names}
            for name in names:
                count[name] += found[name] == max(found.values())
    return count


def near(series: Figures, error: float, names: Sequence[str]) -> dict[str, int]:
    """Count by series in how many pairs of a k and a classifier its accuracy is at most this far below the best."""
    count = dict.fromkeys(names, 0)
    for k in series["tds"]:
        for place in range(len(CLASSIFIERS)):
            found = {name: float(series[name][k]["accuracy"][place]) for name in names}
            for name in names:
                count[name] += found[name] >= max(found.values()) - error
    return count


def standard_error(test: int) -> float:
    """Return the standard error of an accuracy of 82% that this many test records have."""
    return float((0.82 * 0.18 / test) ** 0.5)


def _near_ones(error: float) -> str:
    return wrapped(
        f"*Near* counts the pairs in which a series is at most one standard error ({100 * error:.1f} points) below the "
        "best. Read this column first: which of two near ones is the best may be chance."
    )


def _who_wins(series: Figures, error: float) -> str:
    """Return a table of how often each series is the best, of all and of those that recode alike everywhere.

    Beside it, how often a series is near the best.
    """
    columns = []
    for names in (list(series), GLOBAL):
        columns += [wins(series, "accuracy", names), near(series, error, names), wins(series, "auc", names)]
    head = [f"best, of {len(CLASSIFIERS) * len(series['tds'])}"]
    head += [f"{what}{where}" for where in ("", ", alike everywhere") for what in ("accuracy", "accuracy, near", "AUC")]
    return table(head, [[name, *(str(column.get(name, "")) for column in columns)] for name in series])


def _against_raw(found: Figures) -> str:
    """Return a table of what each series loses against raw records, as a mean over the classifiers."""
    series, raw = found["series"], mean_of(found["baselines"]["raw"], "accuracy")
    ks = list(series["tds"])
    gaps = [[name, *(f"{100 * (mean_of(one[k], 'accuracy') - raw):+.1f}" for k in ks)] for name, one in series.items()]
    return table(["points of accuracy against raw, k =", *ks], gaps)


def _in_words(found: Figures, error: float) -> str:
    series = found["series"]
    close, close_alike = near(series, error, list(series)), near(series, error, GLOBAL)
    least, *_, most = series["tds"]
    best, alike = wins(series, "accuracy", list(series)), wins(series, "accuracy", GLOBAL)
    shares = {name: [100 * mean_of(one, "accuracy") for one in by_k.values()] for name, by_k in series.items()}
    mean = {name: float(np.mean(each)) for name, each in shares.items()}
    told = {name: float(np.mean([one["table_info"] for one in series[name].values()])) for name in GLOBAL}
    return (
        f"Of {len(CLASSIFIERS) * len(series['tds'])} pairs of a k and a classifier, tds has the best accuracy of all "
        f"in {best['tds']}, and the best of those that recode alike everywhere in {alike['tds']} (equal ones count for "
        f"each). It is near the best in {close['tds']} and {close_alike['tds']}; top-down is near the best of all in "
        f"{close['top-down']}. tds depends little on k: {shares['tds'][0]:.1f}% at k = {least} and "
        f"{shares['tds'][-1]:.1f}% at k = {most}, as means over the classifiers; top-down goes "
        f"from {shares['top-down'][0]:.1f}% to {shares['top-down'][-1]:.1f}%. With boosting the most accurate "
        f"are, by k, {', '.join(f'{k}: {_leader(series, k)}' for k in series['tds'])}. "
        f"As a mean over all k and classifiers, tds has {mean['tds']:.1f}%; "
        f"with the older scores it is {mean['tds, info-gain']:.1f}% (info-gain), {mean['tds, anony-loss']:.1f}% "
        f"(anony-loss) and {mean['tds, gain-ratio']:.1f}% (gain-ratio), and {mean['tds, least']:.1f}% with `stop: "
        f"least`; always saying the most frequent class has "
        f"{100 * mean_of(found['baselines']['majority'], 'accuracy'):.1f}%. A beam leaves a table information of "
        f"{told['tds, beam']:.4f} against {told['tds']:.4f}, and an accuracy of {mean['tds, beam']:.1f}%. full-domain "
        f"looks for the least loss and not at the class: it has from {min(shares['full-domain']):.1f}% to "
        f"{max(shares['full-domain']):.1f}%, in no order of k."
    )


def _leader(series: Figures, k: str) -> str:
    """Return the series with the best accuracy of the last classifier."""
    return max(series, key=lambda name: float(series[name][k]["accuracy"][-1]))


def mean_of(outcome: Figures, measure: str) -> float:
    """Return the mean over the classifiers."""
    return float(np.mean(outcome[measure]))


def by_weight_means(weights: Figures, measure: str) -> dict[str, float]:
    """Return for each search and weight the mean over all k and the classifiers, within the training records."""
    first = next(iter(weights["folds"].values()))
    return {
        name: float(np.mean([mean_of(found[name], measure) for found in weights["folds"].values()])) for name in first
    }


def _weights_part(weights: Figures) -> list[str]:
    accuracy, area = by_weight_means(weights, "accuracy"), by_weight_means(weights, "auc")
    names = [name for name in accuracy if name.startswith("greedy")]
    lines = []
    for name in names:
        other = name.replace("greedy", "beam")
        test = [f"{100 * a:.1f}%" for a in weights["test"][name]["accuracy"]]
        told = [f"{weights['test'][name][key]:.3f}" for key in ("class_info", "split_info")]
        means = [f"{100 * accuracy[each]:.2f}% ({area[each]:.4f})" for each in (name, other)]
        least = weights["least"][name.replace("greedy", "least")]
        means += [f"{100 * mean_of(least, 'accuracy'):.1f}%", f"{least['split_info']:.3f}"]
        lines.append([name.split()[1], *test, *told, *means])
    best = max(names, key=lambda name: (round(accuracy[name], 5), area[name]))
    now = "greedy 0.98"
    return [
        "## The weight",
        "![Two panels: accuracy and AUC by w](classification_w.svg)",
        wrapped(
            f"Columns on the left: `search: greedy`, k = {K_OF_WEIGHTS}, asked about the test records; the last two: "
            f"the same with `stop: least`, mean over the classifiers. Between them: "
            f"the mean over k = {', '.join(weights['folds'])} and the three classifiers, in {FOLDS} folds of the "
            "training records, so that the test records have no part in the choice."
        ),
        table(
            [
                "w",
                *CLASSIFIERS,
                "class info",
                "split info",
                "mean accuracy (AUC), greedy",
                "mean accuracy (AUC), beam",
                "mean accuracy, `stop: least`",
                "split info, `stop: least`",
            ],
            lines,
        ),
        wrapped(
            f"The best mean of the greedy search is that of w = {best.split()[1]}: {100 * accuracy[best]:.2f}%, "
            f"against {100 * accuracy[now]:.2f}% of w = 0.98, which the study uses. From 0.98 on the means are near "
            "each other; below 0.95 they fall. Specialization goes on as long as it is valid, so that w decides what "
            "comes first, and not when to stop (with `stop: least` it decides both). With a small w, the first steps "
            "are those that divide the records least. After them there is no room for steps that say more about the "
            f"class. With k = {K_OF_WEIGHTS} and {names[0].replace('greedy', 'w =')} the "
            f"release shows something of: {_listed(weights['shown'][names[0]])}. With {best.replace('greedy', 'w =')}: "
            f"{_listed(weights['shown'][best])}."
        ),
    ]


def _listed(shown: Figures) -> str:
    return ", ".join(f"{name} ({count} cells)" for name, count in shown.items()) or "nothing"


def _steps_part(found: Figures) -> list[str]:
    lines = []
    for name, run in found.items():
        made = np.array(run["steps"])
        touched = made[:, 0].sum() / (run["atoms"] * len(made))
        fixed, atom, *group = costs(made)
        figures = [f"{run['records']:,}", f"{run['atoms']:,}", str(len(made)), f"{100 * touched:.1f}%"]
        lines.append([name, *figures, f"{fixed:.2f}", f"{1e6 * atom:.0f}", f"{1e6 * group[0]:.0f}" if group else ""])
    return [
        "## Time per step",
        wrapped(
            "A specialization changes the groups that show its node, and no others; only these are split, and only "
            "what they add to the scores is found anew. An atom is a combination of values and class. *Adult* is the "
            "training part without a requirement, down to single values; *claims* are synthetic, k = 10, with the type "
            "of the claim as the class. Times are the least of three runs; finding the next valid step is not in them."
        ),
        "![Milliseconds of each step by atoms of the groups it changes, on logarithmic axes](classification_steps.svg)",
        table(
            [
                "table",
                "records",
                "atoms",
                "steps",
                "atoms touched by a step",
                "ms per step",
                "ns per atom",
                "ns per group",
            ],
            lines,
        ),
        wrapped(
            "The last three columns are fitted (least squares of relative errors): a step costs a fixed part, "
            "something for each atom of the groups that it changes, and something for each of these groups. Of the "
            "claims, nearly every step changes one large group; of Adult, later ones change hundreds of small groups."
        ),
    ]


def costs(made: NDArray[np.float64]) -> list[float]:
    """Return the milliseconds of a step, of an atom and of a group, from lines of atoms, groups and milliseconds.

    Where nearly all steps change one group, its cost cannot be told from that of the step, and is not returned.
    """
    parts = [np.ones(len(made)), made[:, 0], made[:, 1]][: 3 if np.median(made[:, 1]) > 1 else 2]
    asked = np.column_stack(parts) / made[:, 2:]
    found: list[float] = np.linalg.lstsq(asked, np.ones(len(made)), rcond=None)[0].tolist()
    return found


# The figures


def draw(kept: Figures, folder: Path) -> None:
    """Draw the figures as SVG; the same figures give the same files."""
    kept = in_order(kept)
    with looks():
        _draw_k(kept["alone"], folder / "classification_k.svg")
        _draw_weights(kept["weights"], folder / "classification_w.svg")
        _draw_steps(kept["steps"], folder / "classification_steps.svg")


def _line(axes: Any, xs: Sequence[float], ys: Sequence[float], look: Look, label: str) -> None:
    """Draw a line; markers are hollow, so that lines on top of each other can be told apart."""
    colour, style, marker = look
    axes.plot(
        xs, ys, color=colour, linestyle=style, marker=marker, label=label,
        markerfacecolor="none", markersize=6, linewidth=1.5,
    )  # fmt: skip


def _draw_k(found: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 3, figsize=(10.5, 6.6), sharex=True, sharey="row", layout="constrained")
    ks = [int(k) for k in found["series"]["tds"]]
    for row, (measure, factor, word) in enumerate((("accuracy", 100, "accuracy, %"), ("auc", 1, "AUC"))):
        for place, name in enumerate(CLASSIFIERS):
            axes = panels[row][place]
            for one in SERIES:
                ys = [factor * found["series"][one.name][str(k)][measure][place] for k in ks]
                _line(axes, ks, ys, one.look, one.name)
            # of the majority the AUC is 0.5, so far below that it would press all others together
            for baseline, style in (("raw", "-"), ("majority", "--"))[: 2 - row]:
                height = factor * found["baselines"][baseline][measure][place]
                axes.axhline(height, color="#888888", linestyle=style, linewidth=1, label=baseline)
            axes.set_xscale("log")
            axes.set_xticks(ks, labels=[str(k) for k in ks])
            axes.set_xticks([], minor=True)
            axes.set_title(name if row == 0 else "", fontsize=10)
            axes.set_xlabel("k" if row else "")
        panels[row][0].set_ylabel(word)
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    save(figure, path)


def _draw_weights(weights: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    names = [name for name in weights["test"] if name.startswith("greedy")]
    places = list(range(len(names)))
    for axes, (measure, factor, word) in zip(
        panels, (("accuracy", 100, "accuracy, %"), ("auc", 1, "AUC")), strict=True
    ):
        for one, look in zip(CLASSIFIERS, PLAIN[:3], strict=True):
            ys = [factor * weights["test"][name][measure][CLASSIFIERS.index(one)] for name in names]
            _line(axes, places, ys, look, f"{one}, k = {K_OF_WEIGHTS}")
        for search, look in (("greedy", PLAIN[3]), ("beam", PLAIN[4])):
            means = by_weight_means(weights, measure)
            ys = [factor * means[name.replace("greedy", search)] for name in names]
            _line(axes, places, ys, look, f"{search}, mean over all k in folds")
        axes.set_xticks(places, labels=[name.split()[1] for name in names])
        axes.set_xlabel("w")
        axes.set_ylabel(word)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)


def _draw_steps(found: Figures, path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.5, 4.2), layout="constrained")
    for (name, run), look in zip(found.items(), PLAIN[1:3], strict=False):
        made = np.array(run["steps"])
        colour, _, marker = look
        label = f"{name}, {run['atoms']:,} atoms"
        axes.plot(made[:, 0], made[:, 2], marker, color=colour, markerfacecolor="none", markersize=5, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("atoms of the groups that the step changes")
    axes.set_ylabel("milliseconds")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    save(figure, path)
